// Two runs, or the runs of two names, step by step: which differ, by how much, and how sure that is.

import { element, quoted } from "../dom.js";
import { formatBytes, formatCount, formatNanoseconds, isKnown, plural, visible } from "../figures.js";
import { Choice, selectField, textField } from "./choice.js";
import { LiveTable } from "./live_table.js";
import { aside, filters, follow, section } from "./view.js";
import { ratioPicture } from "./pictures.js";

const EVERY_MS = 10000;

/** @typedef {Record<string, any>} Row of the API */

/** @param {Row} step */
const kindOf = (step) => ({ slower: "bad", faster: "good" }[/** @type {"slower"} */ (step.result)] ?? "dim");

const formatRatio = (/** @type {number | null} */ ratio) => (isKnown(ratio) ? ratio.toFixed(2) : null);
const formatP = (/** @type {number | null} */ p) => (isKnown(p) ? (p < 0.001 ? "< 0.001" : p.toFixed(3)) : null);

/** @param {Row} step */
const interval = (step) => (isKnown(step.ratio_low) || isKnown(step.ratio_high) ? `${formatRatio(step.ratio_low) ?? "?"}–${formatRatio(step.ratio_high) ?? "?"}` : null);

/**
 * @param {string} title
 * @param {"a" | "b"} side
 * @param {string} name
 * @param {(value: any) => string} write
 * @returns {import("./live_table.js").Column<Row>}
 */
const median = (title, side, name, write) => ({ title, definition: `Median of the runs of ${side.toUpperCase()}.`, cell: (step) => write(step[side][name]), sort: (step) => step[side][name] });

/** @type {import("./live_table.js").Column<Row>[]} */
const COLUMNS = [
  { title: "step", isText: true, cell: (step) => quoted(step.name, 48), sort: (step) => step.name, kind: (step) => (step.name === "(whole run)" ? "whole" : "") },
  { title: "result", isText: true, definition: "Whether B is slower or faster than A, tested on wall times.", cell: (step) => step.result, sort: (step) => step.result, kind: kindOf },
  median("wall A", "a", "wall_ns", formatNanoseconds), median("wall B", "b", "wall_ns", formatNanoseconds),
  { title: "B to A", definition: "Ratio of the wall times.", cell: (step) => formatRatio(step.ratio), sort: (step) => step.ratio },
  { title: "¼ to 4", isText: true, definition: "The ratio and its 95 % interval, from a quarter to four times; the line in the middle is no difference.", cell: (step) => ratioPicture(step, kindOf(step)) },
  { title: "95 %", definition: "The interval that has the ratio with 95 % confidence.", cell: interval },
  { title: "p", definition: "Adjusted for the number of steps.", cell: (step) => formatP(step.adjusted_p), sort: (step) => step.adjusted_p },
  median("CPU A", "a", "cpu_ns", formatNanoseconds), median("CPU B", "b", "cpu_ns", formatNanoseconds),
  median("memory A", "a", "peak_rss_bytes", formatBytes), median("memory B", "b", "peak_rss_bytes", formatBytes),
  median("read A", "a", "read_bytes", formatBytes), median("read B", "b", "read_bytes", formatBytes),
  { title: "runs", definition: "In which the step ran, of A and of B.", cell: (step) => `${formatCount(step.a.run_count)}, ${formatCount(step.b.run_count)}` },
  { title: "tested", isText: true, cell: (step) => step.tested },
];

/**
 * @param {string} letter
 * @param {Row} side
 */
function describe(letter, side) {
  const omitted = [
    side.omitted_run_count > 0 ? `${plural(side.omitted_run_count, "earlier run")} left out` : "",
    side.omitted_task_count > 0 ? `${plural(side.omitted_task_count, "task")} left out (failed, or recorded incompletely)` : "",
  ].filter(Boolean).map((words) => `, ${words}`).join("");
  const ids = side.run_ids.slice(0, 3).flatMap((/** @type {string} */ id) => [" ", element("a", { href: `/runs/${encodeURIComponent(id)}` }, element("code", {}, id))]);
  return element("p", {}, element("b", {}, letter), " ", quoted(side.name, 80), element("span", { class: "dim" }, `: ${plural(side.run_ids.length, "run")}${omitted}`),
    ...ids, side.run_ids.length > 3 ? " …" : "");
}

/** @param {HTMLElement} place */
export function mount(place) {
  const choice = new Choice(["by"]);
  const count = aside();
  const table = new LiveTable({ caption: "Steps", isFull: true, columns: COLUMNS, key: (/** @type {Row} */ step) => step.name });
  const sides = element("div");
  const body = section(["Steps ", count], table.element);
  place.append(element("h1", { class: "hidden" }, "Compare"), filters(
    textField(choice, "a", "A", { size: "28", placeholder: "a run's id, or a name" }),
    textField(choice, "b", "B", { size: "28", placeholder: "a run's id, or a name" }),
    selectField(choice, "by", "in pairs", [["", "no"], ["sample", "by sample"]])), sides, body,
  element("p", { class: "dim" }, "Tick runs in ", element("a", { href: "/" }, "the list"), " to compare them. A name stands for its last 50 runs: the more there are, the smaller the difference that is found."));
  const path = () => choice.path(`/api/v1/compare/${encodeURIComponent(choice.get("a"))}/${encodeURIComponent(choice.get("b"))}`);
  const isAsked = () => choice.get("a") !== "" && choice.get("b") !== "";
  /** @type {import("../watch.js").Watch | null} */
  let asked = null;
  const draw = (/** @type {Row} */ { a, b, steps }) => {
    document.title = `${visible(a.name)} and ${visible(b.name)} – Tracer`;
    sides.replaceChildren(describe("A", a), describe("B", b));
    count.textContent = plural(steps.length, "step");
    table.update(steps);
  };
  choice.changed = () => {
    body.hidden = sides.hidden = !isAsked();
    if (!isAsked()) return;
    if (asked) asked.set(path());
    else asked = follow(place, path(), EVERY_MS, draw);
  };
  choice.changed();
}
