// How long the runs of each name take, over time; of one name, which steps became slower or faster, and since when.

import { element, quoted } from "../dom.js";
import { formatCount, formatNanoseconds, formatTime, isKnown, plural, visible } from "../figures.js";
import { Choice, selectField, textField } from "./choice.js";
import { LiveTable } from "./live_table.js";
import { ratioPicture, seriesPicture } from "./pictures.js";
import { aside, filters, follow, section } from "./view.js";
import { formatWhen, runLink } from "./words.js";

const EVERY_MS = 15000;
/** So many of the latest runs are summed up by name here. */
const LIMIT = 1000;
const SMALL = /** @type {const} */ ([220, 26]);
const LARGE = /** @type {const} */ ([900, 160]);

/** @typedef {Record<string, any>} Row of the API */

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length === 0 ? NaN : sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

const hasFailed = (/** @type {Row} */ run) => run.status === "failed" || run.status === "killed";

/** @param {Row[]} runs */
function namesOf(runs) {
  /** @type {Map<string, Row[]>} */
  const names = new Map();
  for (const run of runs) names.set(run.name, [...(names.get(run.name) ?? []), run]);
  return [...names].map(([name, of]) => {
    const ended = of.filter((run) => isKnown(run.wall_ns));
    return { name, runs: of, ended, last: of[0], failed: of.filter(hasFailed).length, median: median(ended.filter((run) => !hasFailed(run)).map((run) => run.wall_ns)) };
  }).sort((a, b) => b.runs.length - a.runs.length);
}

/** @param {Row[]} runs */
const pointsOf = (runs) => runs.filter((run) => isKnown(run.wall_ns)).map((run) => ({ x: run.started_unix_ns, y: run.wall_ns, isBad: run.succeeded === false || hasFailed(run) }));

/** @type {import("./live_table.js").Column<Row>[]} */
const NAMES = [
  { title: "name", isText: true, cell: (row) => element("a", { href: `/trends?${new URLSearchParams({ name: row.name })}` }, quoted(row.name, 60)), sort: (row) => row.name },
  { title: "runs", cell: (row) => formatCount(row.runs.length), sort: (row) => row.runs.length },
  { title: "failed", cell: (row) => formatCount(row.failed), sort: (row) => row.failed, kind: (row) => (row.failed > 0 ? "bad" : "dim") },
  { title: "wall time of each run", isText: true, definition: "From the first to the last of these runs, from 0 to the longest; red: failed.", cell: (row) => (row.ended.length > 0 ? seriesPicture(pointsOf([...row.ended].reverse()), ...SMALL) : null) },
  { title: "median", definition: "Of those that did not fail.", cell: (row) => formatNanoseconds(row.median), sort: (row) => row.median },
  { title: "last", cell: (row) => formatNanoseconds(row.last.elapsed_ns), sort: (row) => row.last.elapsed_ns },
  { title: "to median", cell: (row) => (row.last.elapsed_ns / row.median > 0 ? (row.last.elapsed_ns / row.median).toFixed(2) : null), sort: (row) => row.last.elapsed_ns / row.median },
  { title: "last began", isText: true, cell: (row) => formatWhen(row.last.started_unix_ns), sort: (row) => row.last.started_unix_ns },
  { title: "last ended", isText: true, cell: (row) => element("a", { href: `/runs/${encodeURIComponent(row.last.id)}` }, row.last.status), kind: (row) => (hasFailed(row.last) ? "bad" : "") },
];

/** @param {Row} step */
const kindOf = (step) => (!step.changed_run_id ? "dim" : step.ratio > 1 ? "bad" : "good");

/** @type {import("./live_table.js").Column<Row>[]} */
const STEPS = [
  { title: "step", isText: true, cell: (step) => quoted(step.name, 48), sort: (step) => step.name, kind: (step) => (step.name === "(whole run)" ? "whole" : "") },
  { title: "change", isText: true, cell: (step) => (step.changed_run_id ? (step.ratio > 1 ? "slower" : "faster") : step.missing_run_count > 0 ? `${plural(step.missing_run_count, "more run")} needed` : "none found"),
    kind: kindOf },
  { title: "since run", isText: true, cell: (step) => (step.changed_run_id ? runLink(step.changed_run_id, step.changed_run_id) : null) },
  { title: "after to before", cell: (step) => (isKnown(step.ratio) ? step.ratio.toFixed(2) : null), sort: (step) => step.ratio },
  { title: "¼ to 4", isText: true, definition: "The ratio and its 95 % interval.", cell: (step) => ratioPicture(step, kindOf(step)) },
  { title: "p", definition: "Adjusted for the number of steps.", cell: (step) => (isKnown(step.adjusted_p) ? step.adjusted_p.toFixed(3) : null), sort: (step) => step.adjusted_p },
  { title: "runs", cell: (step) => formatCount(step.run_count), sort: (step) => step.run_count },
];

/** @type {import("./live_table.js").Column<Row>[]} */
const RUNS = [
  { title: "run", isText: true, cell: (run) => runLink(run.id, run.id) },
  { title: "began", isText: true, cell: (run) => element("time", {}, formatTime(run.started_unix_ns)), sort: (run) => run.started_unix_ns },
  { title: "wall time", cell: (run) => formatNanoseconds(run.wall_ns), sort: (run) => run.wall_ns },
  { title: "to median", definition: "After what its input explains.", cell: (run) => (isKnown(run.relative) ? run.relative.toFixed(2) : null), sort: (run) => run.relative },
  { title: "ended", isText: true, cell: (run) => (run.succeeded ? "succeeded" : "failed"), kind: (run) => (run.succeeded ? "good" : "bad") },
];

/**
 * @param {HTMLElement} place
 * @param {Choice} choice
 */
function mountNames(place, choice) {
  const count = aside();
  const table = new LiveTable({ caption: "Names", columns: NAMES, key: (/** @type {Row} */ row) => row.name });
  place.append(filters(textField(choice, "contains", "name contains", { size: "24" }), textField(choice, "user", "user", { size: "10" }),
    selectField(choice, "since", "began in the last", [["", "any time"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"]])),
  section(["Names ", count], table.element));
  const path = () => choice.path("/api/v1/runs", { limit: String(LIMIT), name: choice.get("contains") });
  const asked = follow(place, path(), EVERY_MS, ({ runs, run_count }) => {
    const names = namesOf(runs);
    count.textContent = `${plural(names.length, "name")} of ${run_count > runs.length ? `the latest ${formatCount(runs.length)} of ` : ""}${plural(run_count, "run")}`;
    table.update(names);
  });
  choice.changed = () => asked.set(path());
}

/** @param {Row[]} runs by start */
function chart(runs) {
  const longest = Math.max(...runs.map((run) => run.wall_ns ?? 0));
  return [seriesPicture(pointsOf(runs), ...LARGE), element("p", { class: "dim" },
    `Wall time of each run, from 0 to ${formatNanoseconds(longest)}; ${formatTime(runs[0].started_unix_ns).slice(0, 16)} to ${formatTime(runs[runs.length - 1].started_unix_ns).slice(0, 16)}; red: failed.`)];
}

/**
 * @param {HTMLElement} place
 * @param {string} name
 */
function mountName(place, name) {
  const [stepCount, runCount] = [aside(), aside()];
  const picture = element("div", { class: "wide" });
  const steps = new LiveTable({ caption: "Steps", columns: STEPS, key: (/** @type {Row} */ step) => step.name });
  const runs = new LiveTable({ caption: "Runs", columns: RUNS, key: (/** @type {Row} */ run) => run.id });
  document.title = `${visible(name)} – Tracer`;
  place.append(element("p", { class: "back" }, element("a", { href: "/trends" }, "all names")), element("div", { class: "title" }, element("h1", {}, quoted(name, 120))),
    picture, section(["Steps ", stepCount], steps.element), section(["Runs ", runCount], runs.element));
  follow(place, `/api/v1/trends/${encodeURIComponent(name)}`, EVERY_MS, (answer) => {
    const changed = answer.steps.filter((/** @type {Row} */ step) => step.changed_run_id).length;
    picture.replaceChildren(...(answer.runs.length > 0 ? chart(answer.runs) : [element("p", { class: "dim" }, "No run of that name has ended.")]));
    stepCount.textContent = changed > 0 ? `${formatCount(changed)} of ${plural(answer.steps.length, "step")} changed` : "no change found";
    runCount.textContent = `${plural(answer.runs.length, "run")}${answer.omitted_run_count > 0 ? `, ${formatCount(answer.omitted_run_count)} earlier ones left out` : ""}`;
    steps.update(answer.steps);
    runs.update([...answer.runs].reverse());
  });
}

/** @param {HTMLElement} place */
export function mount(place) {
  const choice = new Choice(["user", "since"]);
  const name = choice.get("name");
  if (name !== "") mountName(place, name);
  else {
    place.append(element("h1", { class: "hidden" }, "Trends"));
    mountNames(place, choice);
  }
}
