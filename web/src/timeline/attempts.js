// Earlier runs of the same work, and tasks that tried the work of another one again.

import { element } from "../dom.js";
import { brief, formatDuration, formatTime, plural } from "../figures.js";

/**
 * When tasks began that tried the work of another one again.
 * @param {import("../data.js").Run} run
 */
export function restartsOf(run) {
  const { retried_by, begin_us } = run.tasks.columns;
  const begins = [];
  for (const next of retried_by) if (!Number.isNaN(next)) begins.push(begin_us[next]);
  return begins.sort((a, b) => a - b);
}

/**
 * A sentence on earlier runs of the same work; null if there is none.
 * @param {import("../data.js").Run} run
 */
export function previousRuns(run) {
  const previous = run.facts.previous ?? [];
  if (previous.length === 0) return null;
  const [last] = previous;
  const ended = (last.started_unix_ns + (last.wall_ns ?? 0) - (run.facts.run?.started_unix_ns ?? NaN)) / -1000;
  const before = ended > 0 ? `, and ended ${formatDuration(ended)} before` : "";
  return element("p", { class: "timeline-previous dim" },
    `${plural(previous.length, "earlier run")} of the same name, user and directory; the last one began ${formatTime(last.started_unix_ns)}, ${brief(String(last.status), 20)}${before}.`);
}
