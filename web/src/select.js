// Which tasks a search finds, and how tasks are grouped and coloured.

import { runEnd } from "./state.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./state.js").Choice} Choice
 */

/**
 * @typedef {Object} Selection
 * @property {Uint8Array} matches of each task: HIDDEN, DIMMED or SHOWN
 * @property {Uint8Array} highlighted 0 or 1
 * @property {number} count tasks that are shown
 * @property {number} of all tasks; neither has the run's pseudo-task if there are others
 */

export const HIDDEN = 0;
export const DIMMED = 1;
export const SHOWN = 2;

export const SUCCEEDED = 0;
export const RUNNING = 1;
export const RETRIED = 2;
export const FAILED = 3;

/** The columns of a task in which a pattern is looked for; and in the names of its tools. */
const SEARCHED = ["name", "label", "sample", "command", "status"];
/** Of the names with most work; all others have one colour. None is like that of failures. */
const NAME_COLOURS = ["--c0", "--c4", "--c2", "--c3", "--c5", "--c6", "--c9"];

/**
 * Keeps the last result, as long as what it depends on is the same.
 * @template T
 * @param {(run: Run, ...keys: string[]) => T} compute
 * @returns {(run: Run, ...keys: string[]) => T}
 */
function keepLast(compute) {
  /** @type {{run: Run, key: string, result: T} | undefined} */
  let last;
  return (run, ...keys) => {
    const key = JSON.stringify(keys);
    if (!last || last.run !== run || last.key !== key) last = { run, key, result: compute(run, ...keys) };
    return last.result;
  };
}

/**
 * @param {Run} run
 * @param {"tasks" | "tools" | "processes"} table
 * @param {number} row
 */
export function endOf(run, table, row) {
  const { begin_us, wall_us } = run[table].columns;
  return Number.isNaN(wall_us[row]) ? Math.max(runEnd(run), begin_us[row]) : begin_us[row] + wall_us[row];
}

/**
 * 1 for the run's own pseudo-task, if there are others: it does not count as a task.
 * @type {(run: Run) => Uint8Array}
 */
export const pseudoTasks = keepLast((run) => {
  const { kind } = run.tasks.columns;
  const pseudo = new Uint8Array(run.tasks.count);
  for (let task = 0; task < pseudo.length; task++) pseudo[task] = run.text(kind[task]) === "main" ? 1 : 0;
  return pseudo.includes(0) ? pseudo : pseudo.fill(0);
});

/**
 * How bad each task's end is: SUCCEEDED (also: unknown), RUNNING, RETRIED (it failed, and was tried again) or FAILED.
 * @type {(run: Run) => Uint8Array}
 */
export const severities = keepLast((run) => {
  const { status, retried_by } = run.tasks.columns;
  const severity = new Uint8Array(run.tasks.count);
  for (let task = 0; task < run.tasks.count; task++) {
    const text = run.text(status[task]);
    if (text === "running") severity[task] = RUNNING;
    else if (text === "failed" || text === "killed") severity[task] = Number.isNaN(retried_by[task]) ? FAILED : RETRIED;
  }
  return severity;
});

/**
 * A test for a pattern: text in any case, or /regular expression/; null if it is empty or no regular expression.
 * @param {string} pattern
 * @returns {((text: string) => boolean) | null}
 */
function patternTest(pattern) {
  const expression = /^\/(.+)\/$/.exec(pattern);
  const source = expression ? expression[1] : pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (source === "") return null;
  try {
    const compiled = new RegExp(source, "iu");
    return (text) => compiled.test(text);
  } catch {
    return null;
  }
}

/**
 * False for an invalid /regular expression/.
 * @param {string} pattern
 */
export const isPattern = (pattern) => pattern === "" || patternTest(pattern) !== null;

/**
 * Which tasks have a text with the pattern; null for an empty one. Each text is looked at once.
 * @param {Run} run
 * @param {string} pattern
 */
function findTasks(run, pattern) {
  const test = patternTest(pattern);
  const found = new Uint8Array(run.tasks.count);
  if (!test) return null;
  /** @type {Map<number, number>} */
  const known = new Map();
  /** @param {number} text */
  const matches = (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = test(run.text(text)) ? 1 : 0;
      known.set(text, result);
    }
    return result;
  };
  for (const name of SEARCHED) {
    const column = run.tasks.columns[name];
    for (let task = 0; task < found.length; task++) found[task] |= matches(column[task]);
  }
  const { task, name } = run.tools.columns;
  for (let tool = 0; tool < run.tools.count; tool++) found[task[tool]] |= matches(name[tool]);
  return found;
}

const findSearched = keepLast(findTasks);
const findHighlighted = keepLast(findTasks);
const findHidden = keepLast(findTasks);

const combine = keepLast((run, search, highlight, hide) => {
  const found = findSearched(run, search);
  const hidden = findHidden(run, hide);
  const pseudo = pseudoTasks(run);
  const matches = new Uint8Array(run.tasks.count).fill(SHOWN);
  let count = 0;
  let of = 0;
  for (let task = 0; task < matches.length; task++) {
    if (hidden?.[task]) matches[task] = HIDDEN;
    else if (found && !found[task]) matches[task] = DIMMED;
    if (pseudo[task]) continue;
    of++;
    if (matches[task] === SHOWN) count++;
  }
  const highlighted = findHighlighted(run, highlight) ?? new Uint8Array(matches.length);
  return { matches, highlighted, count, of };
});

/**
 * @param {Run} run
 * @param {Readonly<Choice>} now
 * @returns {Selection}
 */
export function selectTasks(run, now) {
  return combine(run, now.search, now.highlight, now.hide);
}

/**
 * @param {Run} run
 * @param {number} host
 */
export function hostName(run, host) {
  return String(run.facts.hosts?.[host]?.hostname ?? "unknown");
}

/**
 * The user of a task's first process: the name that the run's user has here, else the number.
 * @param {Run} run
 * @param {number} task
 */
export function userName(run, task) {
  const id = run.tasks.columns.user_id[task];
  if (Number.isNaN(id)) return "unknown";
  return id === run.facts.run.user_id && run.facts.run.user ? String(run.facts.run.user) : `user ${id}`;
}

/**
 * The group that a task belongs to, as a text.
 * @param {Run} run
 * @param {string} group
 * @returns {(task: number) => string}
 */
export function groupKey(run, group) {
  const { host, name, sample, status } = run.tasks.columns;
  switch (group) {
    case "sample":
      return (task) => run.text(sample[task]) || "(no sample)";
    case "host":
      return (task) => hostName(run, host[task]);
    case "status":
      return (task) => run.text(status[task]);
    case "none":
      return () => "all tasks";
    default:
      return (task) => run.text(name[task]) || "(no name)";
  }
}

/**
 * CPU time used of that of the threads that a task asked for, or else of the processors that it was allowed, 0 to 1; NaN if
 * unknown. Most tasks are allowed all processors of their host: that says nothing about them.
 * @param {Run} run
 * @param {number} task
 */
export function efficiency(run, task) {
  const { cpu_us, wall_us, requested_thread_count, core_limit_milli } = run.tasks.columns;
  const allowed = core_limit_milli[task] / 1000;
  const cores = Math.min(requested_thread_count[task] || allowed, allowed || Infinity);
  const share = cpu_us[task] / (wall_us[task] * cores);
  return Number.isFinite(share) ? Math.min(share, 1) : NaN;
}

/**
 * @typedef {Object} Legend
 * @property {string} label
 * @property {string} colour a CSS variable
 * @property {number} share how much of the colour is over the background
 * @property {number} count tasks
 */

/**
 * @typedef {Object} Colouring
 * @property {Legend[]} legend
 * @property {Uint8Array} of index in the legend, of each task
 */

/** @typedef {[label: string, colour: string, share?: number]} Entry */

/** @type {Entry[]} */
const BOUND_BY = [
  ["compute", "--c0"],
  ["gpu", "--c5"],
  ["storage", "--c2"],
  ["network filesystem", "--c4"],
  ["processor wait", "--c3"],
  ["memory", "--c6"],
  ["sleep", "--c7"],
  ["unknown", "--text-dim", 0.5],
];
/** @type {Entry[]} */
const STATUSES = [
  ["succeeded", "--good"],
  ["running", "--accent"],
  ["failed", "--bad"],
  ["killed", "--bad"],
  ["ended", "--text-dim", 0.5],
];
/** @type {Entry[]} */
const EFFICIENCIES = [
  ["below 20 %", "--c0", 0.3],
  ["20 to 40 %", "--c0", 0.45],
  ["40 to 60 %", "--c0", 0.62],
  ["60 to 80 %", "--c0", 0.8],
  ["above 80 %", "--c0", 1],
  ["unknown", "--text-dim", 0.35],
];
/** @type {Entry} */
const OTHERS = ["others", "--text-dim", 0.5];

/**
 * @param {Run} run
 * @param {Entry[]} entries
 * @param {Uint8Array} of
 * @returns {Colouring}
 */
function colouring(run, entries, of) {
  const pseudo = pseudoTasks(run);
  const legend = entries.map(([label, colour, share = 1]) => ({ label, colour, share, count: 0 }));
  for (let task = 0; task < of.length; task++) legend[of[task]].count += 1 - pseudo[task];
  return { legend, of };
}

/**
 * Colours for given texts; the last one is also for all that are not among them.
 * @param {Run} run
 * @param {Entry[]} entries
 * @param {(task: number) => string} text
 */
function colourByTexts(run, entries, text) {
  const index = new Map(entries.map(([label], at) => [label, at]));
  const of = new Uint8Array(run.tasks.count);
  for (let task = 0; task < of.length; task++) of[task] = index.get(text(task)) ?? entries.length - 1;
  return colouring(run, entries, of);
}

/**
 * Colours for the texts with most work.
 * @param {Run} run
 * @param {(task: number) => string} text
 */
function colourByNames(run, text) {
  const { wall_us } = run.tasks.columns;
  const pseudo = pseudoTasks(run);
  /** @type {Map<string, number>} */
  const work = new Map();
  for (let task = 0; task < run.tasks.count; task++) {
    const name = text(task);
    if (!pseudo[task]) work.set(name, (work.get(name) ?? 0) + (wall_us[task] || 0));
  }
  const names = [...work].sort((a, b) => b[1] - a[1]).slice(0, NAME_COLOURS.length);
  return colourByTexts(run, [...names.map(([name], at) => /** @type {Entry} */ ([name, NAME_COLOURS[at]])), OTHERS], text);
}

/**
 * The tool that used most CPU time, of each task.
 * @type {(run: Run) => Int32Array}
 */
const mainTools = keepLast((run) => {
  const main = new Int32Array(run.tasks.count).fill(-1);
  const { task, cpu_us } = run.tools.columns;
  for (let tool = 0; tool < run.tools.count; tool++) {
    const known = main[task[tool]];
    if (known < 0 || cpu_us[tool] > cpu_us[known]) main[task[tool]] = tool;
  }
  return main;
});

/** @param {Run} run */
function colourByEfficiency(run) {
  const of = new Uint8Array(run.tasks.count);
  for (let task = 0; task < of.length; task++) {
    const share = efficiency(run, task);
    of[task] = Number.isNaN(share) ? 5 : Math.min(Math.floor(share * 5), 4);
  }
  return colouring(run, EFFICIENCIES, of);
}

/**
 * @type {(run: Run, colour: string) => Colouring}
 */
export const colourOf = keepLast((run, colour) => {
  const { bound_by, name, status } = run.tasks.columns;
  const tools = run.tools.columns;
  switch (colour) {
    case "status":
      return colourByTexts(run, STATUSES, (task) => run.text(status[task]));
    case "tool":
      return colourByNames(run, (task) => (mainTools(run)[task] < 0 ? "(no tool)" : run.text(tools.name[mainTools(run)[task]])));
    case "efficiency":
      return colourByEfficiency(run);
    case "user":
      return colourByNames(run, (task) => userName(run, task));
    case "name":
      return colourByNames(run, (task) => run.text(name[task]) || "(no name)");
    default:
      return colourByTexts(run, BOUND_BY, (task) => run.text(bound_by[task]));
  }
});
