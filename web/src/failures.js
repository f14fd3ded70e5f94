// What failed and why, before anything else: as `tracer failed` says it, with the figures of what was killed.

import { bar, button, element, figureCell, goTo, plainRow, plainTable, quoted, unknownMark } from "./dom.js";
import { UNKNOWN, brief, figures, formatBytes, formatCount, formatNanoseconds, formatResult, formatShare, formatTimeOfDay, isKnown, plural, visible } from "./figures.js";
import { statusOf } from "./head.js";
import { bareSentence, failuresOf, fatalFailures } from "./incidents.js";
import { attemptsOf, processesOf, resultOf, taskById, taskTitle } from "./rows.js";
import { FAILED, endOf, severities } from "./select.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./state.js").State} State
 */

/** So many failures are shown in full, so many in a line, and so many more when asked for: all are in the table of tasks. */
const OPEN_COUNT = 3;
const LINE_COUNT = 8;
const LISTED_COUNT = 50;
const COMMAND_LENGTH = 2000;
const NEAR_LIMIT = 0.95;
const KEY_LENGTH = 200;

/**
 * A command line as a shell would read it.
 * @param {string[]} words
 */
const shellLine = (words) =>
  words.map((word) => (/^[\w\-./=:,+@%[\]]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

/**
 * The process that an incident is about: its sentence has the pid. An exec begins a new row with the same pid, and
 * pids are used again, so of several it is the one that ended at that time.
 * @param {Run} run
 * @param {any} failure
 * @param {number} task
 */
function processOf(run, failure, task) {
  const { begin_us, wall_us, pid } = run.processes.columns;
  const at = (failure.unix_ns - run.facts.run.started_unix_ns) / 1000;
  let best = -1;
  let least = Infinity;
  for (const row of processesOf(run, task)) {
    const apart = Math.abs(begin_us[row] + (wall_us[row] || 0) - at);
    if (failure.sentence.includes(`(pid ${pid[row]})`) && apart < least) {
      best = row;
      least = apart;
    }
  }
  return best;
}

/**
 * @param {any} failure
 * @returns {string} "exit 3 after 45.0 ms"
 */
function endWords(failure) {
  const { task } = failure;
  if (!task) return "";
  const result = failure.kind === "oom-kill" && task.signal > 0 ? "out of memory" : formatResult(task.exit_code, task.signal);
  return `${result}${isKnown(task.wall_ns) ? ` after ${formatNanoseconds(task.wall_ns)}` : ""}`;
}

/** @param {any} failure */
function titleOf(failure) {
  const { task } = failure;
  return element("span", { class: "what" }, ...(task ? [element("b", {}, quoted(task.name, 80))] : ["a process"]),
    task?.label ? " " : null, task?.label ? quoted(task.label, 60) : null);
}

const FIGURE_COLUMNS = ["wall_us", "cpu_us", "cores", "peak_rss_bytes", "memory_limit_bytes", "read_bytes", "write_bytes"];

/**
 * @param {Run} run
 * @param {"tasks" | "processes"} table
 * @param {number} row
 * @param {string} title
 */
function figuresRow(run, table, row, title) {
  const columns = run[table].columns;
  const { cpu_us, wall_us } = columns;
  const cells = FIGURE_COLUMNS.map((name) =>
    figureCell(figures[name], name === "cores" ? cpu_us[row] / wall_us[row] : columns[name]?.[row]));
  return plainRow(title, resultOf(run, table, row) || unknownMark(), ...cells);
}

/**
 * What the killed process, its task and the attempts before used.
 * @param {Run} run
 * @param {number} task
 * @param {number} process -1: unknown
 */
function figuresTable(run, task, process) {
  const attempts = attemptsOf(run, task);
  const { program, pid } = run.processes.columns;
  const rows = process < 0 ? [] : [figuresRow(run, "processes", process, `process ${brief(run.text(program[process]), 30)} (pid ${pid[process]})`)];
  for (const [at, attempt] of attempts.entries()) {
    rows.push(figuresRow(run, "tasks", attempt, attempts.length === 1 ? "its task" : `attempt ${at + 1} of ${attempts.length}`));
  }
  return plainTable("Figures of what failed", [
    { text: "what", hidden: true }, { text: "ended" },
    ...FIGURE_COLUMNS.map((name) => ({ text: figures[name].title, title: figures[name].definition, number: true })),
  ], rows);
}

/**
 * The peak against the limit; null if there is none.
 * @param {Run} run
 * @param {number} task
 */
function memoryField(run, task) {
  const { memory_limit_bytes, cgroup_peak_bytes } = run.tasks.columns;
  const limit = memory_limit_bytes[task];
  const peak = cgroup_peak_bytes[task];
  if (!isKnown(limit)) return null;
  const share = peak / limit;
  const words = `${formatBytes(peak)}${isKnown(share) ? ` (${formatShare(share)})` : ""} of the limit of ${formatBytes(limit)} `;
  return element("span", { title: figures.cgroup_peak_bytes.definition }, words, isKnown(share) ? bar(share, share > NEAR_LIMIT ? "--bad" : "--accent") : null);
}

/** @param {Run} run */
function effectWords(run) {
  const { engine, name, status } = run.facts.run;
  const { kind } = run.tasks.columns;
  const severity = severities(run);
  let began = 0;
  let failed = 0;
  for (let task = 0; task < run.tasks.count; task++) {
    if (run.text(kind[task]) === "main") continue;
    began++;
    failed += severity[task] === FAILED ? 1 : 0;
  }
  const end = statusOf(run).text;
  const words = status === "running" ? "is running" : end.startsWith("killed") ? `was ${end}` : end;
  return `${brief(engine || name, 60)} ${words}${began > 0 ? `; of ${plural(began, "task")} that began, ${formatCount(failed)} failed` : ""}`;
}

/**
 * Shows a task, with some time around it.
 * @param {State} state
 * @param {string} id
 */
function showTask(state, id) {
  const run = state.run();
  const task = taskById(run, id);
  if (task < 0) return;
  const begin = run.tasks.columns.begin_us[task];
  const end = endOf(run, "tasks", task);
  const around = Math.max((end - begin) / 2, 1000);
  state.set({ selected: { table: "tasks", row: task }, from_us: begin - around, to_us: end + around });
  goTo("timeline");
}

/**
 * @param {Run} run
 * @param {State} state
 * @param {any} failure
 * @returns {HTMLElement[]}
 */
function detailsOf(run, state, failure) {
  const task = taskById(run, failure.task?.id);
  const process = task < 0 ? -1 : processOf(run, failure, task);
  const attempts = task < 0 ? [] : attemptsOf(run, task);
  const memory = task < 0 ? null : memoryField(run, task);
  /** @type {[string, Node | string | null][]} */
  const fields = [
    ["cause", failure.sentence ? quoted(bareSentence(failure.sentence), 400) : "unknown"],
    ["", failure.cause ? quoted(failure.cause, 400) : null],
    ["command", failure.command ? element("code", { class: "command" }, brief(shellLine(failure.command), COMMAND_LENGTH)) : null],
    ["memory", memory],
    ["attempts", attempts.length > 1 ? `${attempts.length}, ${failure.effect === "retried" ? "the last one succeeded" : "all failed"}` : null],
  ];
  const list = element("dl", { class: "fields" });
  for (const [name, value] of fields) if (value !== null) list.append(element("dt", {}, name), element("dd", {}, value));
  if (task < 0) return [list];
  return [list, element("div", { class: "evidence" }, figuresTable(run, task, process),
    button("Show in the timeline", () => showTask(state, failure.task?.id), visible(taskTitle(run, task).slice(0, 200))))];
}

/**
 * A failure that can be unfolded; its details are made when they are wanted.
 * @param {Run} run
 * @param {State} state
 * @param {any} failure
 * @param {boolean} open
 */
function failureItem(run, state, failure, open) {
  const word = failure.kind === "interrupted" && failure.effect === "fatal" ? failure.kind : failure.effect;
  const kind = { retried: "warning", harmless: "dim" }[/** @type {"retried"} */ (failure.effect)] ?? "bad";
  const summary = element("summary", {}, element("span", { class: `effect ${kind}` }, word), titleOf(failure),
    element("span", { class: "end" }, endWords(failure), failure.effect === "retried" ? element("span", { class: "good" }, ", then ok") : null),
    element("span", { class: "why dim" }, brief(bareSentence(failure.sentence), 200)),
    element("time", { class: "dim" }, isKnown(failure.unix_ns) ? formatTimeOfDay(failure.unix_ns) : UNKNOWN));
  const item = element("details", { class: "failure", "data-key": `${failure.unix_ns} ${failure.sentence}`.slice(0, KEY_LENGTH) }, summary);
  const fill = () => {
    if (item.open && item.childElementCount === 1) item.append(...detailsOf(run, state, failure));
  };
  item.addEventListener("toggle", fill);
  item.open = open;
  fill();
  return item;
}

/**
 * @param {Run} run
 * @param {State} state
 * @param {any[]} failures
 * @param {string} key
 * @param {string} title
 */
function folded(run, state, failures, key, title) {
  if (failures.length === 0) return null;
  const items = failures.slice(0, LISTED_COUNT).map((failure) => failureItem(run, state, failure, false));
  const rest = failures.length <= LISTED_COUNT ? null : element("p", { class: "actions" },
    `${LISTED_COUNT} of these ${formatCount(failures.length)} are listed.`,
    button("Show all failed tasks in the table", () => {
      state.set({ table: "tasks", search: "/^(failed|killed)$/" });
      goTo("tables");
    }));
  return element("details", { class: "fold", "data-key": key }, element("summary", {}, title), ...items, rest);
}

/**
 * The effect on the run, before what caused it.
 * @param {Run} run
 * @param {number} fatalCount
 */
function effectOf(run, fatalCount) {
  const { status } = run.facts.run;
  const hasFailed = status === "failed" || status === "killed";
  if (hasFailed && fatalCount === 0) return element("p", { class: "effect" }, `${effectWords(run)}. `, element("strong", { class: "bad" }, "The cause is unknown."));
  if (hasFailed || fatalCount > 0) return element("p", { class: "effect" }, `${effectWords(run)}.`);
  const words = status === "running" ? "Nothing has failed so far." : "Nothing failed.";
  const hasHarmless = (run.facts.failures ?? []).length > 0;
  return element("p", { class: "dim" }, hasHarmless ? "Nothing that failed made the run fail." : words);
}

/**
 * @param {HTMLElement} place
 * @param {Run} run
 * @param {State} state
 */
export function mount(place, run, state) {
  const known = failuresOf(run, "fatal");
  const fatal = fatalFailures(run);
  const retried = failuresOf(run, "retried");
  const harmless = failuresOf(run, "harmless");
  const openCount = known.length > 0 ? OPEN_COUNT : 1;
  place.append(element("div", {},
    effectOf(run, known.length),
    ...fatal.slice(0, LINE_COUNT).map((failure, at) => failureItem(run, state, failure, at < openCount)),
    folded(run, state, fatal.slice(LINE_COUNT), "more", `${plural(fatal.length - LINE_COUNT, "more failure")}`),
    folded(run, state, retried, "retried", `${plural(retried.length, "failure was", "failures were")} retried, then ok`),
    folded(run, state, harmless, "harmless", `${plural(harmless.length, "failure", "failures")} without effect on the run`)));
}
