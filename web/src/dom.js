// Makes elements. Texts from traced programs become text nodes and attributes only, never markup.

import { UNKNOWN, brief, isKnown, visible } from "./figures.js";

/** @typedef {Node | string | null} Child null: nothing */

/** What a title may show; longer ones are cut by browsers, too. */
const TITLE_LENGTH = 2000;

/**
 * Attributes, and listeners by their event (`onclick`).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | ((event: any) => void)>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice("on".length), value);
    else made.setAttribute(name, value);
  }
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

/**
 * A text from a traced program; cut if it is long, whole in the title.
 * @param {string | null | undefined} text
 * @param {number} [length]
 */
export function quoted(text, length = 120) {
  if (!text) return element("span", { class: "dim" }, text === "" ? "(empty)" : UNKNOWN);
  const shown = brief(text, length);
  const whole = visible(text.slice(0, TITLE_LENGTH));
  return element("bdi", shown === whole ? {} : { title: whole }, shown);
}

/**
 * A figure with its definition at hand; "–" if it is unknown.
 * @param {import("./figures.js").Figure} figure
 * @param {number | null | undefined} value
 */
export function figureCell(figure, value) {
  return element("td", { class: "number" }, isKnown(value) ? figure.format(value) : unknownMark());
}

export const unknownMark = () =>
  element("span", { class: "dim", title: UNKNOWN }, element("span", { "aria-hidden": "true" }, "–"), element("span", { class: "hidden" }, UNKNOWN));

/**
 * @typedef {Object} Head
 * @property {string} text
 * @property {string} [title] definition
 * @property {boolean} [number] aligned as numbers are
 * @property {boolean} [hidden] plain to see, and only to be read out
 */

/** What does not fit is scrolled: by keyboard, too. */
const overflows = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});

/**
 * A table of few rows, which can be scrolled sideways where it is too wide.
 * @param {string} caption
 * @param {Head[]} heads
 * @param {HTMLTableRowElement[]} rows
 */
export function plainTable(caption, heads, rows) {
  const head = element("tr", {}, ...heads.map(({ text, title, number, hidden }) =>
    element("th", { scope: "col", ...(title ? { title } : {}), ...(number ? { class: "number" } : {}) }, hidden ? element("span", { class: "hidden" }, text) : text)));
  const wide = element("div", { class: "wide", role: "group", "aria-label": caption },
    element("table", { class: "plain" }, element("caption", { class: "hidden" }, caption), element("thead", {}, head), element("tbody", {}, ...rows)));
  overflows.observe(wide);
  return wide;
}

/**
 * @param {...(Child | HTMLTableCellElement)} cells the first is the row's head
 */
export function plainRow(...cells) {
  return element("tr", {}, ...cells.map((cell, at) => {
    if (cell instanceof HTMLTableCellElement) return cell;
    return at === 0 ? element("th", { scope: "row" }, cell) : element("td", {}, cell);
  }));
}

/**
 * A bar for a share of 0 to 1; the number beside it says the same.
 * @param {number} share
 * @param {string} [colour] CSS variable
 */
export function bar(share, colour = "--accent") {
  const filled = element("span", {});
  filled.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
  filled.style.background = `var(${colour})`;
  return element("span", { class: "bar", "aria-hidden": "true" }, filled);
}

/**
 * @param {string} text
 * @param {() => void} act
 * @param {string} [title]
 */
export const button = (text, act, title) => element("button", { type: "button", onclick: act, ...(title ? { title } : {}) }, text);

/**
 * Brings a part of the page into view, and the keyboard's focus with it. The fragment of the URL has the state.
 * @param {string} id
 */
export function goTo(id) {
  const part = document.getElementById(id);
  part?.scrollIntoView();
  part?.focus({ preventScroll: true });
}

/** Lets the browser draw. */
export const pause = () => new Promise((resolve) => setTimeout(resolve));
