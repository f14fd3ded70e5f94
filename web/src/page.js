// The page of a run: mounts its parts.

import { mount as mountAbout } from "./about.js";
import { element, goTo, pause } from "./dom.js";
import { mount as mountFailures } from "./failures.js";
import { setCurrency, visible } from "./figures.js";
import { mount as mountFindings } from "./findings.js";
import { mount as mountHead } from "./head.js";
import { createState } from "./state.js";
import { mount as mountTables } from "./tables.js";
import { THEMES, applyTheme, readTheme } from "./theme.js";
import { mount as mountTimeline } from "./timeline/index.js";
import { mount as mountTotals } from "./totals.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./state.js").State} State
 */

/** @type {[string, (element: HTMLElement, run: Run, state: State) => void][]} in the order in which they are looked at */
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
export async function showRun(run) {
  document.title = `${visible(run.facts.run.name)} – ${run.facts.run.status}`;
  setCurrency(run.facts.cost?.currency ?? "");
  const state = createState(run);
  applyTheme(state.get().theme);
  state.subscribe((now) => applyTheme(now.theme));
  followLinks();
  unfoldForPrint();
  find("#loading").remove();
  for (const [selector, mount] of PARTS) {
    try {
      mount(find(selector), run, state);
    } catch (problem) {
      sayProblem(find(selector), problem);
    }
    await pause();
  }
}
