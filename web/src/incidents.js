// What `tracer failed` answered, and failed tasks about which it has nothing.

import { idOfTask } from "./rows.js";
import { FAILED, severities } from "./select.js";

/** @typedef {import("./data.js").Run} Run */

/**
 * @param {Run} run
 * @param {"fatal" | "retried" | "harmless"} effect
 * @returns {any[]}
 */
export const failuresOf = (run, effect) =>
  (run.facts.failures ?? []).filter((/** @type {any} */ failure) => failure.effect === effect);

/**
 * What made the run fail; if nothing did that is known, what failed in it.
 * @param {Run} run
 */
export function fatalFailures(run) {
  const known = failuresOf(run, "fatal");
  return known.length > 0 ? known : unexplained(run);
}

/**
 * Failed tasks, as failures of which nothing else is known: there may be no incident about what failed.
 * @param {Run} run
 * @returns {any[]}
 */
function unexplained(run) {
  const { name, label, kind, status, exit_code, signal, begin_us, wall_us } = run.tasks.columns;
  const failures = [];
  const explained = new Set((run.facts.failures ?? []).map((/** @type {any} */ failure) => failure.task?.id));
  for (const [task, severity] of severities(run).entries()) {
    if (severity !== FAILED || run.text(kind[task]) === "main" || explained.has(idOfTask(run, task))) continue;
    failures.push({
      effect: "failed", sentence: "", unix_ns: run.facts.run.started_unix_ns + (begin_us[task] + wall_us[task]) * 1000,
      task: {
        id: idOfTask(run, task), name: run.text(name[task]), label: run.text(label[task]), status: run.text(status[task]),
        exit_code: exit_code[task], signal: signal[task], wall_ns: wall_us[task] * 1000,
      },
    });
  }
  return failures;
}

/**
 * The sentence without the task, which is above it.
 * @param {string} sentence
 */
export function bareSentence(sentence) {
  if (!/^(task|run) /.test(sentence)) return sentence;
  return sentence.replace(/^.*?(?: failed: | was killed: | was interrupted: )/s, "");
}
