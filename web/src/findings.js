// What would make the run faster or cheaper, with the evidence: as `tracer tune` found it. Where the time and the
// processors went.

import { bar, button, element, goTo, plainRow, plainTable, quoted } from "./dom.js";
import { formatCores, formatCount, formatHours, formatMoney, formatNanoseconds, formatShare, plural } from "./figures.js";
import { endOf } from "./select.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./state.js").State} State
 */

const PATH_NAMES = 12;
const SHOWN_COUNT = 8;
const LISTED_COUNT = 60;

const BOUND_DEFINITION = "What the threads of its tasks did most of the time: compute, wait for storage, memory, a network filesystem or a processor, or sleep: for a pipe, a lock, a socket or a timer.";

/**
 * "saves up to 4.27 s, 1.2 core-hours, 0.0042 USD": nothing for sure is "up to".
 * @param {any} finding
 */
function savingWords(finding) {
  const { saved_wall_low_ns: low, saved_wall_high_ns: high, saved_cpu_ns, saved_gpu_ns, saved_byte_seconds, saved_micros, saved_micros_high } = finding;
  const parts = [];
  if (high > 0) {
    const [from, to] = [formatNanoseconds(low), formatNanoseconds(high)];
    parts.push(low > 0 ? (from === to ? `at least ${from}` : `${from} to ${to}`) : `up to ${to}`);
  }
  if (saved_cpu_ns > 0) parts.push(`up to ${formatHours(saved_cpu_ns / 3.6e12)} core-hours`);
  if (saved_gpu_ns > 0) parts.push(`up to ${formatHours(saved_gpu_ns / 3.6e12)} GPU-hours`);
  if (saved_byte_seconds > 0) parts.push(`up to ${formatHours(saved_byte_seconds / 2 ** 30 / 3600)} GiB-hours`);
  if (parts.length === 0) return "saving unknown";
  if (saved_micros > 0) parts.push(`at least ${formatMoney(saved_micros * 1000)}`);
  else if (saved_micros_high > 0) parts.push(`up to ${formatMoney(saved_micros_high * 1000)}`);
  return `saves ${parts.join(", ")}`;
}

/**
 * The name of tasks in the subject of a finding: "NAME", "3 × NAME" or "NAME and 2 other tasks".
 * @param {Run} run
 * @param {string} subject
 */
function nameIn(run, subject) {
  const { name } = run.tasks.columns;
  const names = [subject, subject.replace(/^\d+ × /, ""), subject.replace(/ and \d+ other tasks?$/, "")];
  return names.find((text) => name.some((index) => run.text(index) === text)) ?? "";
}

/**
 * All tasks of a name, and their time.
 * @param {Run} run
 * @param {string} title
 */
function tasksOf(run, title) {
  const { name, begin_us } = run.tasks.columns;
  let count = 0;
  let from = Infinity;
  let to = 0;
  for (let task = 0; task < run.tasks.count; task++) {
    if (run.text(name[task]) !== title) continue;
    count++;
    from = Math.min(from, begin_us[task]);
    to = Math.max(to, endOf(run, "tasks", task));
  }
  return { count, from, to };
}

/**
 * The longest time without a task, if there was one.
 * @param {Run} run
 */
function longestGap(run) {
  const gaps = (run.facts.tune.critical_path ?? []).filter((/** @type {any} */ part) => part.owner === "gap");
  const times = gaps.map((/** @type {any} */ gap) => ({
    from: (gap.begin_boot_ns - run.facts.run.begin_boot_ns) / 1000,
    to: (gap.end_boot_ns - run.facts.run.begin_boot_ns) / 1000,
  }));
  return times.reduce((/** @type {any} */ a, /** @type {any} */ b) => (!a || b.to - b.from > a.to - a.from ? b : a), null);
}

/**
 * @param {Run} run
 * @param {State} state
 * @param {any} finding
 */
function evidenceButton(run, state, finding) {
  const name = nameIn(run, String(finding.subject));
  const tasks = tasksOf(run, name);
  const gap = finding.finding === "gaps_between_tasks" ? longestGap(run) : null;
  if (tasks.count === 0 && !gap) return null;
  const { from, to } = gap ?? tasks;
  const title = gap ? "Show the longest gap in the timeline"
    : tasks.count === 1 ? "Show the task in the timeline" : `Show the ${plural(tasks.count, "task")} of this name in the timeline`;
  return button(title, () => {
    const around = Math.max((to - from) / 20, 1000);
    state.set({ highlight: gap ? "" : name, from_us: from - around, to_us: to + around });
    goTo("timeline");
  });
}

/**
 * @param {Run} run
 * @param {State} state
 * @param {any} finding
 */
function findingItem(run, state, finding) {
  const evidence = evidenceButton(run, state, finding);
  return element("li", { class: "finding" },
    element("p", { class: "finding-head" }, element("b", {}, String(finding.finding).replaceAll("_", " ")), element("span", { class: "good" }, savingWords(finding))),
    element("p", {}, quoted(finding.sentence, 400)),
    element("p", { class: "advice" }, quoted(finding.advice, 400)),
    evidence ? element("p", { class: "actions" }, evidence) : null);
}

/**
 * @typedef {Object} Part
 * @property {string} title
 * @property {number} ns
 * @property {string} colour
 * @property {string} note
 */

/**
 * A sum and its parts: one bar, and a table that says the same.
 * @param {string} title
 * @param {string} note
 * @param {number} whole
 * @param {Part[]} parts
 * @param {string} [doubt]
 */
function partsOf(title, note, whole, parts, doubt) {
  const shown = parts.filter(({ ns }) => ns > 0);
  const stack = element("div", { class: "stack", "aria-hidden": "true" }, ...shown.map(({ ns, colour }) => {
    const piece = element("span", {});
    piece.style.width = `${(ns / whole) * 100}%`;
    piece.style.background = `var(${colour})`;
    return piece;
  }));
  const rows = shown.map(({ title: name, ns, colour, note: meaning }) => {
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = `var(${colour})`;
    return plainRow(element("span", {}, swatch, name), element("td", { class: "number" }, formatNanoseconds(ns)),
      element("td", { class: "number" }, formatShare(ns / whole)), element("td", { class: "dim" }, meaning));
  });
  return element("div", { class: "parts" }, element("h3", {}, title, " ", element("span", { class: "dim" }, note)), stack,
    plainTable(title, [{ text: "part", hidden: true }, { text: "time", number: true }, { text: "share", number: true }, { text: "meaning", hidden: true }], rows),
    doubt ? element("p", { class: "dim" }, doubt) : null);
}

/** @param {Run} run */
function wallParts(run) {
  const { tune } = run.facts;
  const { wall_ns, task_ns, gap_ns, queue_ns, driver_ns, driver_cpu_ns } = tune.wall;
  /* A notebook's kernel, or a script that computes by itself, is not an engine. */
  const computes = !run.facts.run.engine && driver_cpu_ns > (gap_ns + driver_ns) / 2;
  const unsure = tune.path_unsure_count > 0
    ? ` Uncertain for ${formatCount(tune.path_unsure_count)} of ${plural(tune.path_task_count, "task")} on the path: several others had just ended.` : "";
  return partsOf("Where the wall time went", formatNanoseconds(wall_ns), wall_ns, [
    { title: "tasks", ns: task_ns, colour: "--c0", note: "on the critical path" },
    { title: "gaps", ns: gap_ns, colour: "--c1", note: computes ? "no task ran: the script itself computed" : "no task ran: the next one on the path had not begun" },
    { title: "queue", ns: queue_ns, colour: "--c4", note: "others ran: the next one on the path had not begun" },
    { title: computes ? "script" : "engine", ns: driver_ns, colour: "--c7", note: computes ? "itself, before the first task and after the last" : "before the first task and after the last" },
  ], `What waited for what is inferred from times and files.${unsure}`);
}

/** @param {any} tune */
function processorParts(tune) {
  const { held_ns, used_ns, storage_ns, memory_ns, processor_ns, idle_ns } = tune.processors;
  if (!(held_ns > 0)) return null;
  return partsOf("Where the processors went", `${Number((held_ns / tune.wall.wall_ns).toFixed(2))} allowed × the wall time`, held_ns, [
    { title: "used", ns: used_ns, colour: "--c0", note: "CPU time" },
    { title: "idle: storage", ns: storage_ns, colour: "--c1", note: "threads waited for storage" },
    { title: "idle: memory", ns: memory_ns, colour: "--c4", note: "reclaim, swap" },
    { title: "taken", ns: processor_ns, colour: "--c3", note: "threads waited for a processor: other work, quotas" },
    { title: "idle", ns: idle_ns, colour: "--idle", note: "held, but nothing to do" },
  ]);
}

/**
 * Which names of tasks are on the critical path, and what bounds them.
 * @param {any} tune
 */
function pathTable(tune) {
  const names = (tune.names ?? []).filter((/** @type {any} */ name) => name.path_ns > 0);
  if (names.length === 0) return null;
  const { wall_ns } = tune.wall;
  const rows = names.slice(0, PATH_NAMES).map((/** @type {any} */ name) => plainRow(
    quoted(name.name, 60),
    element("td", { class: "number" }, formatNanoseconds(name.path_ns)),
    element("td", { class: "with-bar" }, bar(name.path_ns / wall_ns, "--c0"), element("span", { class: "number" }, formatShare(name.path_ns / wall_ns))),
    element("td", { class: "number" }, formatCount(name.task_count)),
    element("td", { class: "number" }, formatNanoseconds(name.wall_ns)),
    element("td", { class: "number" }, formatNanoseconds(name.cpu_ns)),
    element("td", { class: "number" }, formatCores(name.cpu_ns / name.wall_ns)),
    String(name.bound_by)));
  const left = names.length - PATH_NAMES;
  return element("div", {}, element("h3", {}, "Tasks on the critical path"),
    plainTable("Tasks on the critical path", [
      { text: "name" },
      { text: "on the path", number: true, title: "Part of the wall time in which a task of this name was on the critical path." },
      { text: "of the wall time", title: "Only shortening tasks on the path makes the run shorter." },
      { text: "tasks", number: true, title: "All of this name, also those that are not on the path." },
      { text: "all tasks", number: true, title: "Sum of their wall times." },
      { text: "CPU time", number: true },
      { text: "processors", number: true, title: "CPU time divided by wall time." },
      { text: "bound by", title: BOUND_DEFINITION },
    ], rows),
    left > 0 ? element("p", { class: "dim" }, `${PATH_NAMES} of ${plural(names.length, "name")} are listed here; all are in the table of task names.`) : null);
}

/**
 * What makes the conclusions less sure.
 * @param {any} tune
 */
function doubtsOf(tune) {
  const { lost_count, lower_bound_count, default_price_count, no_price_count, may_be_spot_count, status } = tune;
  const doubts = [
    status === "running" ? "The run has not ended: this is how it looks so far." : "",
    lost_count > 0 ? `${plural(lost_count, "record was", "records were")} lost while it ran: where nothing seems to have run, something may have.` : "",
    lower_bound_count > 0 ? `The figures of ${plural(lower_bound_count, "process are", "processes are")} lower bounds.` : "",
    default_price_count > 0 ? `No price is known for ${plural(default_price_count, "host")}: OpenCost's defaults were used.` : "",
    no_price_count > 0 ? `${plural(no_price_count, "host has", "hosts have")} no price in this currency.` : "",
    may_be_spot_count > 0 ? `${plural(may_be_spot_count, "host")} may be spot, at the price on demand.` : "",
  ].filter((doubt) => doubt !== "");
  return doubts.length > 0 ? element("p", { class: "dim" }, doubts.join(" ")) : null;
}

/**
 * @param {Run} run
 * @param {State} state
 */
function listOf(run, state) {
  const findings = /** @type {any[]} */ (run.facts.tune.findings);
  /** @param {number} from @param {number} to */
  const list = (from, to) => element("ol", { class: "findings", start: String(from + 1) },
    ...findings.slice(from, to).map((finding) => findingItem(run, state, finding)));
  const left = findings.length - SHOWN_COUNT;
  return [
    list(0, SHOWN_COUNT),
    left > 0 ? element("details", { class: "fold", "data-key": "more" }, element("summary", {}, plural(left, "more finding")), list(SHOWN_COUNT, LISTED_COUNT)) : null,
    element("p", { class: "dim" }, "What can save most is first. Each saving is of that finding alone: they do not add up.",
      findings.length > LISTED_COUNT ? ` ${LISTED_COUNT} of ${plural(findings.length, "finding")} are listed: tracer tune has all.` : ""),
  ];
}

/**
 * @param {HTMLElement} place
 * @param {Run} run
 * @param {State} state
 */
export function mount(place, run, state) {
  const { tune } = run.facts;
  if (!tune) {
    place.append(element("p", { class: "dim" }, "Not known: this run was not searched for findings."));
    return;
  }
  const found = tune.findings.length === 0
    ? [element("p", {}, "Nothing found that would make this run faster or cheaper.")] : listOf(run, state);
  const went = tune.wall?.wall_ns > 0
    ? element("div", { class: "beside" }, wallParts(run), processorParts(tune)) : null;
  place.append(element("div", {}, ...found, doubtsOf(tune), went, pathTable(tune)));
}
