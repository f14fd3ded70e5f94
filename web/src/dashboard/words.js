// How the views of the dashboard write times, links and shares.

import { element, quoted } from "../dom.js";
import { formatTime, formatTimeOfDay, isKnown } from "../figures.js";

/** @param {Response} response */
export const json = (response) => response.json();

/**
 * The time of day if it is today's, else the date and the minute; whole in the title.
 * @param {number | null} unixNs
 */
export function formatWhen(unixNs) {
  if (!isKnown(unixNs)) return null;
  const whole = formatTime(unixNs);
  const isToday = whole.slice(0, 10) === formatTime(Date.now() * 1e6).slice(0, 10);
  return element("time", { title: whole }, isToday ? formatTimeOfDay(unixNs) : whole.slice(0, 16));
}

/**
 * @param {string} id
 * @param {string | null} name
 */
export const runLink = (id, name) => element("a", { href: `/runs/${encodeURIComponent(id)}` }, quoted(name, 48));
