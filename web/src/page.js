// The page of a run: mounts its parts.

import { mount as mountAbout } from "./about.js";
import { element, goTo, pause } from "./dom.js";
import { mount as mountFailures } from "./failures.js";
import { setCurrency, visible } from "./figures.js";
import { mount as mountFindings } from "./findings.js";
import { mount as mountHead } from "./head.js";
import { redraw } from "./redraw.js";
import { createState } from "./state.js";
import { mount as mountTables } from "./tables.js";
import { THEMES, applyTheme, readTheme, themeButtons } from "./theme.js";
import { mount as mountTimeline } from "./timeline/index.js";
import { mount as mountTotals } from "./totals.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./state.js").State} State
 */

/**
 * What a part does with later data of the run: it prepares what takes long, and returns what shows them at once.
 * @typedef {Object} Part
 * @property {(next: Run) => Promise<() => void>} prepare
 */

/** @type {[string, (element: HTMLElement, run: Run, state: State) => Part | void][]} in the order in which they are looked at */
const PARTS = [
  ["#head", mountHead],
  ["#failures .part", mountFailures],
  ["#findings .part", mountFindings],
  ["#timeline .part", mountTimeline],
  ["#tables .part", mountTables],
  ["#totals .part", mountTotals],
  ["#about .part", mountAbout],
];

/** @param {string} selector */
export const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

/** Links to parts: the URL's fragment is the state's. */
function followLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
    if (!link) return;
    event.preventDefault();
    goTo(/** @type {string} */ (link.getAttribute("href")).slice(1));
  });
}

/** Paper has no folds. */
function unfoldForPrint() {
  /** @type {HTMLDetailsElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details")].filter((details) => !details.open);
    for (const details of opened) {
      details.open = true;
      details.dispatchEvent(new Event("toggle")); /* the browser's own comes too late */
    }
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

/** Where a part or the data cannot be shown, the others still are. */
function sayProblem(/** @type {HTMLElement} */ where, /** @type {unknown} */ problem) {
  console.error(problem);
  where.append(element("p", { class: "bad", role: "alert" },
    `This part cannot be shown: ${problem instanceof Error ? visible(problem.message) : "unknown error"}.`));
}

/** Before there are data: to read them takes a while. */
export const applyStoredTheme = () => applyTheme(readTheme() ?? THEMES[0]);

/** @param {Run} run */
function showTitle(run) {
  document.title = `${visible(run.facts.run.name)} – ${run.facts.run.status}`;
  setCurrency(run.facts.cost?.currency ?? "");
}

/** @param {State} state */
function mountTheme(state) {
  const { buttons, mark } = themeButtons((theme) => state.set({ theme }));
  const apply = () => {
    applyTheme(state.get().theme);
    mark(state.get().theme);
  };
  state.subscribe(apply);
  apply();
  find("#theme").append(...buttons);
}

/**
 * @param {Run} run
 * @returns what shows later data of the run
 */
export async function showRun(run) {
  showTitle(run);
  const state = createState(run);
  mountTheme(state);
  followLinks();
  unfoldForPrint();
  find("#loading").remove();
  /** @type {[place: HTMLElement, mount: (element: HTMLElement, run: Run, state: State) => Part | void, part: Part | void][]} */
  const parts = [];
  for (const [selector, mount] of PARTS) {
    try {
      parts.push([find(selector), mount, mount(find(selector), run, state)]);
    } catch (problem) {
      sayProblem(find(selector), problem);
    }
    await pause();
  }
  return async (/** @type {Run} */ next) => {
    const changes = [];
    for (const [, , part] of parts) if (part) changes.push(await part.prepare(next));
    showTitle(next);
    state.replace(next); /* rows have other numbers now: what shows them changes in the same moment */
    for (const change of changes) change();
    for (const [place, mount, part] of parts) {
      await pause();
      if (!part) redraw(place, (fresh) => mount(fresh, next, state));
    }
  };
}
