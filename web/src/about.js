// Earlier runs, attempts, hosts, what is missing, and what every figure means.

import { groupRows, largestOf, sumOf } from "./columns.js";
import { element, figureCell, plainRow, plainTable, quoted } from "./dom.js";
import { figures, formatBytes, formatCount, formatNanoseconds, formatTime, isKnown, plural } from "./figures.js";
import { FAILED, RETRIED, severities } from "./select.js";
import { runEnd } from "./state.js";

/** @typedef {import("./data.js").Run} Run */

const LISTED = 20;

/** @param {string} text */
const number = (text) => element("td", { class: "number" }, text);

/**
 * @param {string} title
 * @param {...(Node | null)} content
 */
const block = (title, ...content) => element("div", {}, element("h3", {}, title), ...content);

/**
 * This run and those before it: each begins anew.
 * @param {Run} run
 */
function attempts(run) {
  const { previous = [], run: own } = run.facts;
  if (previous.length === 0) return null;
  const { started_unix_ns, status, wall_ns, task_count, failed_count, id } = own;
  const all = [{ id, started_unix_ns, status, wall_ns: wall_ns ?? runEnd(run) * 1000, task_count, failed_count }, ...previous];
  const rows = all.slice(0, LISTED + 1).map((each, at) => plainRow(
    formatTime(each.started_unix_ns), element("td", { class: ["failed", "killed"].includes(each.status) ? "bad" : "" }, `${each.status}${at === 0 ? " (this run)" : ""}`),
    number(formatNanoseconds(each.wall_ns)), number(formatCount(each.task_count)), number(formatCount(each.failed_count)), element("code", {}, each.id)));
  return block("This run and earlier ones of the same work",
    plainTable("This run and earlier ones", [{ text: "began" }, { text: "status" }, { text: "wall time", number: true }, { text: "tasks", number: true }, { text: "failed processes", number: true }, { text: "run" }], rows),
    element("p", { class: "dim" }, `Same name, user and working directory; ${Math.min(previous.length, LISTED)} of ${plural(previous.length, "earlier run")}. `,
      "tracer compare tells whether one took longer."));
}

/** @param {Run} run */
function retries(run) {
  const severity = severities(run);
  const { cpu_us, kind, wall_us } = run.tasks.columns;
  let count = 0;
  let cpu = 0;
  let wall = 0;
  for (let task = 0; task < severity.length; task++) {
    if (severity[task] !== RETRIED) continue;
    count++;
    cpu += cpu_us[task] || 0;
    wall += wall_us[task] || 0;
  }
  const failed = severity.reduce((sum, each, task) => sum + (each === FAILED && run.text(kind[task]) !== "main" ? 1 : 0), 0);
  if (count === 0) return null;
  return block("Attempts", element("p", {}, `${plural(count, "task")} failed and ${count === 1 ? "was" : "were"} tried again; they used ${figures.cpu_us.format(cpu)} of CPU time in ${figures.wall_us.format(wall)} of wall time.${failed > 0 ? ` ${formatCount(failed)} failed in the end.` : ""}`));
}

/**
 * What the engine reported about its tasks, and what the kernel counted for the same ones.
 * @param {Run} run
 */
function engineReports(run) {
  const { name, cpu_us, wall_us, peak_rss_bytes, engine_wall_us, engine_cpu_us, engine_peak_rss_bytes } = run.tasks.columns;
  const pairs = /** @type {const} */ ([["wall_us", engine_wall_us, wall_us], ["cpu_us", engine_cpu_us, cpu_us], ["peak_rss_bytes", engine_peak_rss_bytes, peak_rss_bytes]]);
  const groups = groupRows(run.tasks.count, (task) => run.text(name[task]))
    .map(({ key, rows }) => ({ key, rows: rows.filter((row) => pairs.some(([, reported]) => isKnown(reported?.[row]))) }))
    .filter(({ rows }) => rows.length > 0);
  if (groups.length === 0) return null;
  const compute = (/** @type {string} */ figure) => (figure === "peak_rss_bytes" ? largestOf : sumOf);
  const rows = groups.slice(0, LISTED).map(({ key, rows: tasks }) => plainRow(quoted(key, 60), number(formatCount(tasks.length)),
    ...pairs.flatMap(([figure, reported, counted]) => [reported, counted].map((column) => figureCell(figures[figure], compute(figure)(column, tasks))))));
  return block("What the engine reported, and what the kernel counted", plainTable("Engine and kernel", [
    { text: "name" }, { text: "tasks", number: true },
    ...pairs.flatMap(([figure]) => ["engine", "kernel"].map((who) => ({ text: `${figures[figure].title}: ${who}`, number: true }))),
  ], rows), element("p", { class: "dim" }, `Sums, of memory the largest, of tasks about which the engine reported something. ${Math.min(groups.length, LISTED)} of ${plural(groups.length, "name")}.`));
}

/** @param {Run} run */
function hosts(run) {
  const all = run.facts.hosts ?? [];
  if (all.length === 0) return null;
  /* A run on one host has no parts. */
  const parts = new Map((run.facts.parts ?? []).map((/** @type {any} */ part) => [part.host_id, part]));
  const rows = all.slice(0, LISTED).map((/** @type {any} */ host) => {
    return plainRow(quoted(host.hostname, 60), number(formatCount(host.cpu_count)), number(formatBytes(host.memory_bytes)),
      quoted(host.cpu_model || host.product, 60), quoted(host.os, 60), quoted(host.kernel, 40),
      number(formatCount((parts.get(host.id) ?? run.facts.run).task_count)));
  });
  return block(all.length === 1 ? "Host" : "Hosts", plainTable("Hosts", [
    { text: "name" }, { text: "processors", number: true }, { text: "memory", number: true }, { text: "model" }, { text: "system" }, { text: "kernel" }, { text: "tasks", number: true },
  ], rows), all.length > LISTED ? element("p", { class: "dim" }, `${LISTED} of ${plural(all.length, "host")} are listed.`) : null);
}

/** @param {Run} run */
function containers(run) {
  const all = run.facts.containers ?? [];
  if (all.length === 0) return null;
  const rows = all.slice(0, LISTED).map((/** @type {any} */ each) =>
    plainRow(quoted(each.name || each.runtime_id, 60), quoted(each.image, 80), quoted(each.runtime, 20), quoted(each.runtime_id, 20)));
  return block("Containers", plainTable("Containers", [{ text: "name" }, { text: "image" }, { text: "runtime" }, { text: "id" }], rows),
    all.length > LISTED ? element("p", { class: "dim" }, `${LISTED} of ${plural(all.length, "container")} are listed.`) : null);
}

/** @param {Run} run */
function missing(run) {
  const losses = run.facts.losses ?? [];
  const rows = losses.slice(0, LISTED).map((/** @type {any} */ loss) => plainRow(
    formatTime(loss.unix_ns), String(loss.kind), number(formatCount(loss.lost_count)), loss.cgroup_path ? quoted(loss.cgroup_path, 80) : "unknown"));
  const { unfinished_count = 0, found_count = 0, partial_count = 0, is_partial = false } = run.facts.lower_bounds ?? {};
  const table = losses.length === 0 ? element("p", {}, "No records were lost.") : plainTable("Lost records", [
    { text: "time" }, { text: "kind of record" }, { text: "lost", number: true }, { text: "cgroup" },
  ], rows);
  return block("What is missing", table,
    losses.length > LISTED ? element("p", { class: "dim" }, `${LISTED} of ${plural(losses.length, "loss", "losses")} are listed.`) : null,
    is_partial ? element("p", {}, "The run was recorded without a probe, by an ordinary user: what lived between two looks at /proc is known only in the sum, other figures are lower bounds.") : element("p", {}, `Lower bounds: ${plural(unfinished_count, "process", "processes")} whose last record is missing, ${formatCount(found_count)} that ran before the probe, ${formatCount(partial_count)} with more threads than could be tracked. Column “lower bounds” of the processes marks them.`));
}

function definitionList() {
  const list = element("dl", { class: "definitions" });
  const shown = new Set();
  for (const { title, unit, definition } of Object.values(figures)) {
    if (shown.has(title)) continue;
    shown.add(title);
    list.append(element("dt", {}, unit ? `${title} (${unit})` : title), element("dd", {}, definition));
  }
  return list;
}

/** What every figure means, for reading one after the other; made when it is wanted. */
function definitions() {
  const fold = element("details", { class: "fold", "data-key": "figures" }, element("summary", {}, "What every figure means"));
  fold.addEventListener("toggle", () => {
    if (!fold.open || fold.childElementCount > 1) return;
    fold.append(definitionList(), element("p", { class: "dim" }, "The unit is that of saved files. Unknown is never written as 0."));
  });
  return fold;
}

/** @param {Run} run */
function origin(run) {
  const { run: own, version, commands } = run.facts;
  const words = [
    version ? `Written by tracer ${version}.` : "",
    own.reason ? `What belongs to the run: ${own.reason}.` : "",
    isKnown(commands?.known) ? `Command lines in this page: ${formatCount(commands.shown)} of ${formatCount(commands.known)}.` : "",
  ].filter((word) => word !== "");
  return element("p", { class: "dim" }, words.join(" "));
}

/**
 * @param {HTMLElement} place
 * @param {Run} run
 */
export function mount(place, run) {
  place.append(element("div", {}, attempts(run), retries(run), engineReports(run), hosts(run), containers(run), missing(run), definitions(), origin(run)));
}
