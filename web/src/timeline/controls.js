// The choices above the timeline, and the legend.

import { element, button } from "../dom.js";
import { formatCount, plural, visible } from "../figures.js";
import { colourOf, isPattern, selectTasks, severities, pseudoTasks, FAILED, RETRIED } from "../select.js";
import { COLOURS, GROUPS } from "../state.js";

const GROUP_NAMES = { name: "name", sample: "sample", host: "host", status: "status", none: "nothing" };
const COLOUR_NAMES = { bound_by: "what bounds it", status: "status", tool: "main tool", efficiency: "CPU efficiency", user: "user", name: "name" };
const TYPING_MS = 150;
const PATTERN_HELP = "Text, or a /regular expression/. Looked for in names, labels, samples, commands, statuses and tools.";

/**
 * @typedef {import("../data.js").Run} Run
 * @typedef {import("../state.js").State} State
 */

/**
 * @param {State} state
 * @param {"group" | "colour"} name
 * @param {string} title
 * @param {string[]} values
 * @param {Record<string, string>} names
 */
function createSelect(state, name, title, values, names) {
  const select = element("select", {}, ...values.map((value) => element("option", { value }, names[value])));
  const read = () => {
    select.value = state.get()[name];
  };
  select.addEventListener("change", () => state.set({ [name]: select.value }));
  state.subscribe(read);
  read();
  return element("label", {}, element("span", {}, title), select);
}

/**
 * @param {State} state
 * @param {"search" | "highlight" | "hide"} name
 * @param {string} title
 */
function createPattern(state, name, title) {
  const input = element("input", { type: "search", title: PATTERN_HELP, spellcheck: "false", autocomplete: "off", size: "14" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const write = () => {
    clearTimeout(timer);
    state.set({ [name]: input.value });
  };
  const read = () => {
    if (document.activeElement !== input || input.value.trim() !== state.get()[name].trim()) input.value = state.get()[name];
    input.setAttribute("aria-invalid", String(!isPattern(input.value)));
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(write, TYPING_MS);
  });
  input.addEventListener("change", write);
  state.subscribe((now, before) => {
    if (now[name] !== before[name]) read();
  });
  read();
  return element("label", {}, element("span", {}, title), input);
}

/**
 * @param {State} state
 * @param {() => void} showAll
 */
export function createControls(state, showAll) {
  const count = element("output", { class: "timeline-count", "aria-live": "polite" });
  const write = () => {
    const { count: shown, of } = selectTasks(state.run(), state.get());
    count.textContent = `${formatCount(shown)} of ${plural(of, "task")}`;
  };
  state.subscribe((now, before) => {
    if (now.search !== before.search || now.hide !== before.hide) write();
  });
  write();
  const controls = element("div", { class: "timeline-controls", role: "group", "aria-label": "What the timeline shows" },
    createSelect(state, "group", "Rows by", GROUPS, GROUP_NAMES),
    createSelect(state, "colour", "Colour by", COLOURS, COLOUR_NAMES),
    createPattern(state, "search", "Search"),
    count,
    createPattern(state, "highlight", "Highlight"),
    createPattern(state, "hide", "Hide"),
    button("Show all", showAll, "The whole run: 0, or a double click"));
  return { controls, write };
}

/**
 * @param {Run} run
 * @param {State} state
 * @param {HTMLElement} list
 * @param {import("./palette.js").Palette} palette
 */
export function drawLegend(run, state, list, palette) {
  const { colour } = state.get();
  const pseudo = pseudoTasks(run);
  const ends = severities(run).filter((_, task) => !pseudo[task]);
  const failed = ends.filter((severity) => severity === FAILED).length;
  const retried = ends.filter((severity) => severity === RETRIED).length;
  const critical = run.tasks.columns.critical.filter((value, task) => value === 1 && !pseudo[task]).length;
  /** @type {(label: string, number: number, fill: string, kind?: string) => HTMLElement[]} */
  const item = (label, number, fill, kind = "") => {
    if (number === 0) return [];
    const swatch = element("span", { class: `timeline-swatch ${kind}`, "aria-hidden": "true" });
    swatch.style.background = fill;
    return [element("li", {}, swatch, visible(label.slice(0, 40)), " ", element("span", { class: "dim" }, formatCount(number)))];
  };
  list.replaceChildren(
    ...colourOf(run, colour).legend.flatMap(({ label, count }, at) => (isFailure(colour, label) ? [] : item(label, count, palette.legend[at]))),
    ...item("failed", failed, palette.bad),
    ...item("failed, then retried", retried, palette.warning),
    ...item("on the critical path", critical, "transparent", "timeline-outlined"),
  );
}

/**
 * Failures are red in every colouring, and have their own place in the legend.
 * @param {string} colour
 * @param {string} label
 */
const isFailure = (colour, label) => colour === "status" && (label === "failed" || label === "killed");
