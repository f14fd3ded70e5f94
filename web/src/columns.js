// The columns of the page's tables: of tasks, tools and processes, and of what they sum up to by a key.

import { figures, formatCount, isKnown } from "./figures.js";
import { resultOf, taskTitle } from "./rows.js";
import { FAILED, RETRIED, efficiency, hostName, pseudoTasks, severities } from "./select.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./table.js").Column} Column
 * @typedef {import("./table.js").Model} Model
 */

const WIDTH = 86;

/**
 * @param {string} key
 * @param {(row: number) => number} value
 * @param {Partial<Column>} [other]
 * @returns {Column}
 */
function figureColumn(key, value, other) {
  const figure = figures[key];
  return {
    key, title: figure.title, unit: figure.unit, definition: figure.definition, width: WIDTH, isText: false, value,
    text: (row) => figure.format(value(row)), csv: (row) => figure.csv(value(row)), ...other,
  };
}

/**
 * @param {string} key
 * @param {string} title
 * @param {number} width
 * @param {string} definition
 * @param {(row: number) => string} text
 * @returns {Column}
 */
const textColumn = (key, title, width, definition, text) =>
  ({ key, title, unit: "", definition, width, isText: true, value: text, text, csv: text });

/**
 * Without those of which nothing is known.
 * @param {number} count
 * @param {Column[]} columns
 */
function knownColumns(count, columns) {
  return columns.filter((column, at) => {
    if (at === 0) return true;
    for (let row = 0; row < count; row++) {
      const value = column.value(row);
      if (column.isText ? value !== "" : isKnown(/** @type {number} */ (value))) return true;
    }
    return false;
  });
}

/**
 * @param {Run} run
 * @param {"tasks" | "tools" | "processes"} table
 * @param {string[]} names
 */
const figuresOf = (run, table, names) => names.map((name) => figureColumn(name, (row) => run[table].columns[name][row]));

/**
 * The column of the user, if there are several.
 * @param {import("./data.js").Table} table
 */
const usersOf = ({ columns }) => (new Set(columns.user_id).size > 1 ? ["user_id"] : []);

/** @param {string} result */
const kindOfResult = (result) => (result === "ok" || result === "succeeded" ? "" : result === "running" ? "warning" : "bad");

/**
 * @param {Run} run
 * @returns {Model}
 */
export function taskModel(run) {
  const { name, label, sample, bound_by, host, cpu_us, wall_us, cgroup_peak_bytes, peak_rss_bytes, memory_limit_bytes } = run.tasks.columns;
  /** @param {number} row */
  const memoryShare = (row) => (isKnown(cgroup_peak_bytes[row]) ? cgroup_peak_bytes[row] : peak_rss_bytes[row]) / memory_limit_bytes[row];
  const severity = severities(run);
  const ended = textColumn("ended", "ended", 126, "How its root process ended: ok, an exit code, a signal, or out of memory.", (row) => resultOf(run, "tasks", row));
  ended.kind = (row) => (severity[row] === FAILED ? "bad" : severity[row] === RETRIED ? "warning" : kindOfResult(ended.text(row)));
  const columns = [
    textColumn("name", "task", 230, "What it does. Tasks that do the same have the same name.", (row) => run.text(name[row])),
    textColumn("label", "label", 130, "Distinguishes it from tasks of the same name: the engine's id, or the argument that differs.", (row) => run.text(label[row])),
    textColumn("sample", "sample", 116, "The sample that it worked on, found in command lines.", (row) => run.text(sample[row])),
    ended,
    ...figuresOf(run, "tasks", ["begin_us", "wall_us", "cpu_us"]),
    figureColumn("cores", (row) => cpu_us[row] / wall_us[row]),
    figureColumn("efficiency", (row) => efficiency(run, row)),
    ...figuresOf(run, "tasks", ["wait_us", "peak_rss_bytes", "memory_limit_bytes"]),
    figureColumn("memory_share", memoryShare),
    ...figuresOf(run, "tasks", ["gpu_busy_us", "gpu_peak_bytes", "read_bytes", "write_bytes", "process_count", "failed_count", "concurrent_memory_bytes",
      "cgroup_peak_bytes", "storage_us", "memory_wait_us", "sent_bytes", "received_bytes", "core_limit_milli", "requested_thread_count",
      "engine_wall_us", "engine_cpu_us", "engine_peak_rss_bytes"]),
    textColumn("bound_by", "bound by", 96, "What the threads of all tasks of its name did most of the time.", (row) => run.text(bound_by[row])),
    ...figuresOf(run, "tasks", ["critical", "lost_count", "partial_count", ...usersOf(run.tasks)]),
    ...((run.facts.hosts ?? []).length > 1 ? [textColumn("host", "host", 110, "The host that it ran on.", (row) => hostName(run, host[row]))] : []),
  ];
  const hasTasks = run.tasks.columns.kind.some((kind) => run.text(kind) !== "main");
  const words = hasTasks ? { one: "task", many: "tasks" } : { one: "task: the run's own part", many: "tasks: the run's own parts" };
  return { name: "tasks", ...words, count: run.tasks.count, left: pseudoTasks(run), columns: knownColumns(run.tasks.count, columns) };
}

/**
 * @param {Run} run
 * @returns {Model}
 */
export function toolModel(run) {
  const { task, name, role, cpu_us, wall_us } = run.tools.columns;
  const columns = [
    textColumn("name", "tool", 180, "The program, with interpreters unwrapped.", (row) => run.text(name[row])),
    textColumn("task", "task", 230, "The task that used it.", (row) => taskTitle(run, task[row])),
    textColumn("role", "role", 90, "tool, shell, wrapper, helper, orchestrator …", (row) => run.text(role[row])),
    ...figuresOf(run, "tools", ["begin_us", "wall_us", "cpu_us"]),
    figureColumn("cores", (row) => cpu_us[row] / wall_us[row]),
    ...figuresOf(run, "tools", ["wait_us", "peak_rss_bytes", "gpu_busy_us", "gpu_peak_bytes", "read_bytes", "write_bytes", "sent_bytes", "received_bytes", "process_count", "failed_count"]),
  ];
  return { name: "tools-of-tasks", one: "tool of a task", many: "tools of tasks", count: run.tools.count, columns: knownColumns(run.tools.count, columns) };
}

/**
 * @param {Run} run
 * @returns {Model}
 */
export function processModel(run) {
  const { tool, program, command } = run.processes.columns;
  const { task } = run.tools.columns;
  const ended = textColumn("ended", "ended", 126, "How it ended: ok, an exit code, a signal, or out of memory.", (row) => resultOf(run, "processes", row));
  ended.kind = (row) => (run.processes.columns.failed[row] === 1 ? "bad" : "");
  const columns = [
    textColumn("program", "program", 130, "The file that it executes, without its directory.", (row) => run.text(program[row])),
    textColumn("command", "command", 330, "Its command line.", (row) => run.text(command[row])),
    textColumn("task", "task", 180, "The task that it belongs to.", (row) => taskTitle(run, task[tool[row]])),
    ended,
    ...figuresOf(run, "processes", ["begin_us", "wall_us", "cpu_us", "wait_us", "peak_rss_bytes", "gpu_busy_us", "gpu_peak_bytes", "read_bytes", "write_bytes", "sent_bytes", "received_bytes", "doubtful", "pid", ...usersOf(run.processes)]),
  ];
  return { name: "processes", one: "process", many: "processes", count: run.processes.count, columns: knownColumns(run.processes.count, columns) };
}

/**
 * Rows with the same key.
 * @typedef {Object} Group
 * @property {string} key
 * @property {number[]} rows
 */

/**
 * @param {number} count
 * @param {(row: number) => string} key
 * @returns {Group[]}
 */
export function groupRows(count, key) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (let row = 0; row < count; row++) {
    const name = key(row);
    const rows = groups.get(name);
    if (rows) rows.push(row);
    else groups.set(name, [row]);
  }
  return [...groups].map(([name, rows]) => ({ key: name, rows }));
}

/**
 * The sum of what is known; NaN if nothing is.
 * @param {Float64Array} column
 * @param {number[]} rows
 */
export function sumOf(column, rows) {
  let sum = NaN;
  for (const row of rows) if (!Number.isNaN(column[row])) sum = (Number.isNaN(sum) ? 0 : sum) + column[row];
  return sum;
}

/**
 * @param {Float64Array} column
 * @param {number[]} rows
 */
export function largestOf(column, rows) {
  let largest = NaN;
  for (const row of rows) if (!(largest >= column[row]) && !Number.isNaN(column[row])) largest = column[row];
  return largest;
}

/**
 * @param {Float64Array} column
 * @param {number[]} rows
 */
function medianOf(column, rows) {
  const known = Float64Array.from(rows, (row) => column[row]).filter((value) => !Number.isNaN(value)).sort();
  const middle = Math.floor(known.length / 2);
  return known.length % 2 === 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

/**
 * @param {Group[]} groups
 * @param {Record<string, Float64Array>} columns
 */
function groupFigures(groups, columns) {
  /** @type {(name: string, compute: (column: Float64Array, rows: number[]) => number) => Float64Array} */
  const each = (name, compute) => Float64Array.from(groups, ({ rows }) => compute(columns[name], rows));
  const wall = { sum: each("wall_us", sumOf), median: each("wall_us", medianOf), largest: each("wall_us", largestOf) };
  const cpu = each("cpu_us", sumOf);
  /** @param {string} name */
  const sums = (name) => {
    const values = each(name, sumOf);
    return figureColumn(name, (row) => values[row]);
  };
  /** @param {string} name */
  const largest = (name) => {
    const values = each(name, largestOf);
    return figureColumn(name, (row) => values[row]);
  };
  return {
    wall: [
      figureColumn("wall_us", (row) => wall.median[row], { key: "median", title: "median wall time", definition: "Half took longer, half less." }),
      figureColumn("wall_us", (row) => wall.largest[row], { key: "longest", title: "longest", definition: "Wall time of the one that took longest." }),
      figureColumn("wall_us", (row) => wall.sum[row], { title: "sum of wall times", definition: "Tasks overlap, so it can be more than the wall time of the run.", width: 100 }),
    ],
    cpu: [figureColumn("cpu_us", (row) => cpu[row]), figureColumn("cores", (row) => cpu[row] / wall.sum[row])],
    sums, largest,
  };
}

/**
 * @param {Group[]} groups
 * @param {string} title
 * @param {string} definition
 */
const keyColumn = (groups, title, definition) => textColumn("name", title, 262, definition, (row) => groups[row].key);

/**
 * @param {Group[]} groups
 * @param {string} title
 * @param {string} definition
 */
function countColumn(groups, title, definition) {
  return figureColumn("task_count", (row) => groups[row].rows.length, { key: "count", title, definition });
}

/**
 * What each of the run's task names or tools costs, in billionths.
 * @param {any} cost an answer of tracer cost
 * @param {"task" | "tool"} by
 * @returns {Map<string, number>}
 */
export const costsOf = (cost, by) => new Map((cost?.rows ?? []).map((/** @type {any} */ row) => [row[by], row.cost_micros * 1000]));

/**
 * @param {Group[]} groups
 * @param {Map<string, number>} costs by key
 */
const costColumn = (groups, costs) => figureColumn("cost_nanos", (row) => costs.get(groups[row].key) ?? NaN);

/**
 * Tasks that have a key in common, such as their name.
 * @param {Run} run
 * @param {Group[]} groups
 * @param {Map<string, number>} costs by key
 * @param {{name: string, title: string, definition: string, one: string, many: string}} words
 * @returns {Model}
 */
export function taskGroupModel(run, groups, costs, words) {
  const figuresOfGroups = groupFigures(groups, run.tasks.columns);
  const severity = severities(run);
  const failed = groups.map(({ rows }) => rows.reduce((count, row) => count + (severity[row] === FAILED || severity[row] === RETRIED ? 1 : 0), 0));
  const columns = [
    keyColumn(groups, words.title, words.definition),
    countColumn(groups, "tasks", "Every attempt counts."),
    figureColumn("failed_count", (row) => failed[row], {
      key: "failed", title: "failed", definition: "Failed tasks; those that were retried, too.", text: (row) => formatCount(failed[row]), kind: (row) => (failed[row] > 0 ? "bad" : "dim"),
    }),
    ...figuresOfGroups.wall, ...figuresOfGroups.cpu,
    ...["wait_us", "storage_us", "memory_wait_us"].map(figuresOfGroups.sums),
    ...["peak_rss_bytes", "memory_limit_bytes"].map(figuresOfGroups.largest),
    figuresOfGroups.sums("gpu_busy_us"), figuresOfGroups.largest("gpu_peak_bytes"),
    ...["read_bytes", "write_bytes", "sent_bytes", "received_bytes", "process_count"].map(figuresOfGroups.sums),
    costColumn(groups, costs),
  ];
  return { ...words, count: groups.length, columns: knownColumns(groups.length, columns) };
}

/**
 * Tools of the same name.
 * @param {Run} run
 * @param {Group[]} groups
 * @returns {Model}
 */
export function toolGroupModel(run, groups) {
  const figuresOfGroups = groupFigures(groups, run.tools.columns);
  const columns = [
    keyColumn(groups, "tool", "The program, with interpreters unwrapped."),
    countColumn(groups, "in tasks", "Tasks that used it."),
    ...figuresOfGroups.wall, ...figuresOfGroups.cpu, figuresOfGroups.sums("wait_us"), figuresOfGroups.largest("peak_rss_bytes"),
    figuresOfGroups.sums("gpu_busy_us"), figuresOfGroups.largest("gpu_peak_bytes"),
    ...["read_bytes", "write_bytes", "sent_bytes", "received_bytes", "process_count", "failed_count"].map(figuresOfGroups.sums),
    costColumn(groups, costsOf(run.facts.cost_by_tool, "tool")),
  ];
  return { name: "tools", one: "tool", many: "tools", count: groups.length, columns: knownColumns(groups.length, columns) };
}
