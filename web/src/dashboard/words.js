// How the views of the dashboard write times, links, shares and money.

import { bar, element, quoted } from "../dom.js";
import { formatMoney, formatShare, formatTime, formatTimeOfDay, isKnown } from "../figures.js";

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
export const runLink = (id, name) => element("a", { href: `/runs/${encodeURIComponent(id)}` }, quoted(name, 36));

/**
 * @param {string | null | undefined} text
 * @param {number} length
 */
export const textCell = (text, length) => (text ? quoted(text, length) : null);

/** @param {number | null | undefined} micros of the currency */
export const formatMicros = (micros) => formatMoney(isKnown(micros) ? micros * 1000 : micros);

/**
 * A share as a number and a bar.
 * @param {number | null | undefined} share
 * @param {string} [colour] CSS variable
 */
export const shareBar = (share, colour) =>
  (isKnown(share) ? element("span", { class: "with-bar" }, element("span", { class: "number" }, formatShare(share)), " ", bar(share, colour)) : null);
