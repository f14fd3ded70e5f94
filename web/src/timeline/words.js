// A task, tool or process in words: for the tooltip, the screen reader and the details.

import { figures, formatCount, formatDuration, formatResult, isKnown, brief } from "../figures.js";
import { hostName, severities, userName, RETRIED } from "../select.js";

/**
 * @typedef {import("../data.js").Run} Run
 * @typedef {import("../state.js").Selected} Selected
 */

const KINDS = { tasks: "task", tools: "tool", processes: "process" };

/** @param {Selected} selected */
export const kindOf = (selected) => KINDS[selected.table];

/**
 * @param {Run} run
 * @param {Selected} selected
 */
export function nameOf(run, { table, row }) {
  if (table === "tools") return run.text(run.tools.columns.name[row]) || "(no name)";
  if (table === "processes") return run.text(run.processes.columns.program[row]) || "(no program)";
  return run.text(run.tasks.columns.name[row]) || "(no name)";
}

/**
 * What it belongs to, the task first; with it as the last.
 * @param {Run} run
 * @param {Selected} selected
 * @returns {Selected[]}
 */
export function ownersOf(run, selected) {
  if (selected.table === "tasks") return [selected];
  const tool = selected.table === "tools" ? selected.row : run.processes.columns.tool[selected.row];
  const owners = [
    { table: /** @type {const} */ ("tasks"), row: run.tools.columns.task[tool] },
    { table: /** @type {const} */ ("tools"), row: tool },
  ];
  return selected.table === "tools" ? owners : [...owners, selected];
}

/**
 * How it ended: "succeeded", "killed (SIGKILL, out of memory), retried", "exit 1", "running".
 * @param {Run} run
 * @param {Selected} selected
 */
export function endingOf(run, { table, row }) {
  const columns = run[table].columns;
  if (table === "tools") {
    const failed = columns.failed_count[row];
    return failed > 0 ? `${formatCount(failed)} of ${formatCount(columns.process_count[row])} processes failed` : "";
  }
  const result = formatResult(columns.exit_code[row], columns.signal[row]);
  if (table === "processes") {
    const ending = Number.isNaN(columns.wall_us[row]) ? "has not ended" : result || "exit status unknown";
    return [ending, columns.failed[row] === 1 ? "failed" : "", columns.oom_killed[row] === 1 ? "out of memory" : ""].filter(Boolean).join(", ");
  }
  const status = run.text(columns.status[row]);
  const reasons = [result === "ok" ? "" : result, columns.out_of_memory[row] === 1 ? "out of memory" : ""].filter(Boolean);
  const retried = severities(run)[row] === RETRIED ? ", retried" : "";
  return `${status}${reasons.length > 0 ? ` (${reasons.join(", ")})` : ""}${retried}`;
}

/**
 * What a figure is called and how it is written; null if it is unknown.
 * @param {string} name
 * @param {number} value
 * @returns {[string, string] | null}
 */
const figureWords = (name, value) => (isKnown(value) ? [figures[name].title, figures[name].format(value)] : null);

/**
 * The figures of which one wants to know at a glance.
 * @param {Run} run
 * @param {Selected} selected
 * @returns {[title: string, text: string][]}
 */
export function briefFigures(run, { table, row }) {
  const columns = run[table].columns;
  const { wall_us, cpu_us, peak_rss_bytes, read_bytes, write_bytes } = columns;
  const memory = figureWords("peak_rss_bytes", peak_rss_bytes[row]);
  const limit = table === "tasks" ? columns.memory_limit_bytes[row] : NaN;
  if (memory && isKnown(limit)) memory[1] += ` (limit ${figures.memory_limit_bytes.format(limit)})`;
  const words = [
    figureWords("begin_us", columns.begin_us[row]),
    figureWords("wall_us", wall_us[row]),
    figureWords("cpu_us", cpu_us[row]),
    figureWords("cores", cpu_us[row] / wall_us[row]),
    figureWords("wait_us", columns.wait_us[row]),
    memory,
    figureWords("read_bytes", read_bytes[row]),
    figureWords("write_bytes", write_bytes[row]),
    table === "processes" ? null : figureWords("process_count", columns.process_count[row]),
  ];
  return /** @type {[string, string][]} */ (words.filter((word) => word !== null));
}

/**
 * What tells a task from others of its name.
 * @param {Run} run
 * @param {number} task
 */
export function detailsOfTask(run, task) {
  const { label, sample, host, bound_by, user_id } = run.tasks.columns;
  /** @type {[string, string][]} */
  const words = [
    ["label", run.text(label[task])],
    ["sample", run.text(sample[task]).replace(/^\(no sample\)$/, "")],
    ["bound by", run.text(bound_by[task])],
    ["user", user_id[task] === run.facts.run.user_id ? "" : userName(run, task)],
    ["host", (run.facts.hosts ?? []).length > 1 ? hostName(run, host[task]) : ""],
  ];
  return words.filter(([, text]) => text !== "");
}

/**
 * A sentence for a screen reader.
 * @param {Run} run
 * @param {number} task
 */
export function sayTask(run, task) {
  const selected = { table: /** @type {const} */ ("tasks"), row: task };
  const { begin_us, wall_us, label } = run.tasks.columns;
  const parts = [
    `${brief(nameOf(run, selected), 60)} ${brief(run.text(label[task]), 60)}`.trim(),
    endingOf(run, selected),
    `began at ${formatDuration(begin_us[task])}`,
    Number.isNaN(wall_us[task]) ? "has not ended" : `took ${formatDuration(wall_us[task])}`,
    ...briefFigures(run, selected)
      .slice(2)
      .map(([title, text]) => `${title} ${text}`),
  ];
  return `${parts.join(", ")}.`;
}
