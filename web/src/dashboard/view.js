// What the views share: a place for problems, tables in sections, and the asking.

import { element } from "../dom.js";
import { visible } from "../figures.js";
import { watch } from "../watch.js";

/** @param {Response} response */
const json = (response) => response.json();

/**
 * @param {string} path
 * @param {number} everyMs
 * @param {(answer: any) => void} draw
 * @param {(message: string) => void} [refuse]
 */
export const watchJson = (path, everyMs, draw, refuse = () => {}) =>
  watch(path, { read: json, every_ms: everyMs, draw, refuse: (refusal) => refuse(visible(refusal.message)) });

/**
 * Asks for a path, and draws what comes; a refusal is said, above what was drawn before.
 * @param {HTMLElement} place
 * @param {string} path
 * @param {number} everyMs
 * @param {(answer: any) => void} draw
 */
export function follow(place, path, everyMs, draw) {
  const problem = element("p", { role: "alert" });
  const body = [...place.children].filter((child) => !child.classList.contains("filters"));
  const form = place.querySelector(".filters");
  if (form) form.after(problem);
  else place.prepend(problem);
  let isDrawn = false;
  /** @param {string} message */
  const show = (message) => {
    problem.className = "bad";
    problem.textContent = message && `${message[0].toUpperCase()}${message.slice(1)}.`;
    for (const child of body) {
      child.classList.toggle("old", message !== "");
      child.classList.toggle("undrawn", !isDrawn);
    }
  };
  show("loading");
  problem.className = "dim";
  return watchJson(path, everyMs, (answer) => {
    isDrawn = true;
    show("");
    draw(answer);
  }, show);
}

/**
 * @param {import("../dom.js").Child[]} title
 * @param {...import("../dom.js").Child} children
 */
export const section = (title, ...children) => element("section", {}, element("h2", {}, ...title), ...children);

/** What is said beside a heading, and changes. */
export const aside = () => element("span", { class: "dim", role: "status" });

/**
 * @param {...HTMLElement} fields
 */
export const filters = (...fields) =>
  element("form", { class: "filters", role: "search", "aria-label": "What is shown", onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, ...fields);
