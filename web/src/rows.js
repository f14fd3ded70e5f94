// Finds rows: by id, by what they belong to, and how they are called.

import { formatResult } from "./figures.js";

/** @typedef {import("./data.js").Run} Run */

/** @type {WeakMap<Run, Map<string, number>>} */
const taskIds = new WeakMap();

/**
 * The task with an id of 16 hexadecimal digits; -1 if there is none.
 * @param {Run} run
 * @param {string | null | undefined} id
 */
export function taskById(run, id) {
  let ids = taskIds.get(run);
  if (!ids) {
    ids = new Map();
    for (let task = 0; task < run.tasks.count; task++) ids.set(idOfTask(run, task), task);
    taskIds.set(run, ids);
  }
  return ids.get(id ?? "") ?? -1;
}

/**
 * @param {Run} run
 * @param {number} task
 */
export function idOfTask(run, task) {
  const { id_high, id_low } = run.tasks.columns;
  return `${hex(id_high[task])}${hex(id_low[task])}`;
}

/** @param {number} half */
const hex = (half) => half.toString(16).padStart(8, "0");

/**
 * A row in later data of the same run; -1 if it is not there.
 * @param {Run} before
 * @param {Run} after
 * @param {"tasks" | "tools" | "processes"} table
 * @param {number} row
 * @returns {number}
 */
export function rowInLater(before, after, table, row) {
  if (table === "tasks") return taskById(after, idOfTask(before, row));
  const [old, now] = [before[table].columns, after[table].columns];
  if (table === "processes") return now.pid.findIndex((pid, at) => pid === old.pid[row] && now.begin_us[at] === old.begin_us[row]);
  const task = rowInLater(before, after, "tasks", old.task[row]);
  const name = before.text(old.name[row]);
  return now.task.findIndex((of, at) => of === task && after.text(now.name[at]) === name);
}

/**
 * "bwa mem s3"
 * @param {Run} run
 * @param {number} task
 */
export function taskTitle(run, task) {
  const { name, label } = run.tasks.columns;
  return [run.text(name[task]), run.text(label[task])].filter((text) => text !== "").join(" ");
}

/**
 * How a task or process ended: "ok", "exit 1", "SIGKILL", "out of memory", "running".
 * @param {Run} run
 * @param {"tasks" | "processes"} table
 * @param {number} row
 */
export function resultOf(run, table, row) {
  const { status, exit_code, signal, out_of_memory, oom_killed, wall_us } = run[table].columns;
  if ((out_of_memory ?? oom_killed)[row] === 1) return "out of memory";
  const result = formatResult(exit_code[row], signal[row]);
  if (result !== "") return result;
  if (status) return run.text(status[row]);
  return Number.isNaN(wall_us[row]) ? "running" : "";
}

/**
 * All attempts at the work of a task, the first one first, as far as they are known.
 * @param {Run} run
 * @param {number} task
 */
export function attemptsOf(run, task) {
  const { retried_by } = run.tasks.columns;
  const attempts = [task];
  for (let next = retried_by[task]; next > attempts[attempts.length - 1]; next = retried_by[next]) attempts.push(next);
  for (let at = attempts[0] - 1; at >= 0; at--) if (retried_by[at] === attempts[0]) attempts.unshift(at);
  return attempts;
}

/**
 * The processes of a task, as rows.
 * @param {Run} run
 * @param {number} task
 */
export function processesOf(run, task) {
  const { task: taskOf } = run.tools.columns;
  const { tool } = run.processes.columns;
  const isOfTask = new Uint8Array(run.tools.count);
  const rows = [];
  for (let at = 0; at < isOfTask.length; at++) isOfTask[at] = taskOf[at] === task ? 1 : 0;
  for (let row = 0; row < run.processes.count; row++) if (isOfTask[tool[row]]) rows.push(row);
  return rows;
}
