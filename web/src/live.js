// What is known of a run while it runs: when it is expected to end, and warnings.

import { element, quoted } from "./dom.js";
import { formatTime, formatTimeOfDay } from "./figures.js";

/**
 * "between 14:02:11 and 14:07:30"; with the day, if that is another one.
 * @param {{earliest_unix_ns: number, latest_unix_ns: number}} end
 */
export function endWords({ earliest_unix_ns, latest_unix_ns }) {
  const today = formatTime(Date.now() * 1e6).slice(0, 10);
  const words = [earliest_unix_ns, latest_unix_ns].map((time) => (formatTime(time).startsWith(today) ? formatTimeOfDay(time) : formatTime(time).slice(0, 16)));
  return words[0] === words[1] ? `at ${words[0]}` : `between ${words[0]} and ${words[1]}`;
}

/**
 * @param {any[]} warnings of the API
 * @param {(warning: any) => import("./dom.js").Child} [of] which run it is about
 */
export function warningList(warnings, of = () => null) {
  if (warnings.length === 0) return null;
  return element("ul", { class: "warnings" }, ...warnings.map((warning) => element("li", {},
    element("b", { class: "warning" }, String(warning.warning).replaceAll("_", " ")), " ", of(warning), " ", quoted(warning.sentence, 400),
    warning.advice ? element("span", { class: "dim" }, " → ", quoted(warning.advice, 400)) : null)));
}
