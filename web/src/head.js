// The top of the page: which run, how it ended, its main figures, and how complete the data are.

import { element, quoted } from "./dom.js";
import { figures, formatBytes, formatCoreLimit, formatCores, formatCount, formatMoney, formatNanoseconds, formatShare, formatSignal, formatTime, isKnown, plural } from "./figures.js";
import { fatalFailures } from "./incidents.js";
import { endWords, warningList } from "./live.js";
import { FAILED, RETRIED, RUNNING, severities } from "./select.js";
import { runEnd } from "./state.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./dom.js").Child} Child
 */

/** Sampling tools look once in this time, or less often. */
const SHORT_US = 1e6;

/** @param {Run} run */
const wallNs = (run) => run.facts.run.wall_ns ?? runEnd(run) * 1000;

/**
 * "succeeded in 12.4 s", as `tracer show` says it.
 * @param {Run} run
 * @returns {{text: string, kind: string}}
 */
export function statusOf(run) {
  const { status, signal, exit_code } = run.facts.run;
  const wall = formatNanoseconds(wallNs(run));
  if (status === "running") return { text: `running for ${wall}`, kind: "warning" };
  if (status === "succeeded") return { text: `succeeded in ${wall}`, kind: "good" };
  if (signal > 0) return { text: `killed by ${formatSignal(signal)} after ${wall}`, kind: "bad" };
  if (isKnown(exit_code)) return { text: `${status === "failed" ? "failed" : "ended"} with exit code ${exit_code} after ${wall}`, kind: "bad" };
  return { text: `ended after ${wall}, exit status unknown`, kind: "warning" };
}

/** @param {Run} run */
function originOf(run) {
  const { user, user_id, working_directory, started_unix_ns, engine, kind, id } = run.facts.run;
  const hosts = run.facts.hosts ?? [];
  const hostname = hosts[0]?.hostname;
  /** @type {Child[]} */
  const where = hosts.length > 1 ? [` on ${plural(hosts.length, "host")}`] : hostname ? [" on ", quoted(hostname, 60)] : [];
  /** @type {Child[][]} */
  const words = [
    [formatTime(started_unix_ns)],
    user ? ["by ", quoted(user, 40), ...where] : isKnown(user_id) ? [`by uid ${user_id}`, ...where] : where,
    working_directory ? ["in ", quoted(working_directory, 80)] : [],
    [engine ? `${kind}, ${engine}` : kind],
    ["run ", element("code", {}, id)],
  ];
  return element("ul", { class: "words dim" }, ...words.filter((word) => word.length > 0).map((word) => element("li", {}, ...word)));
}

/**
 * @param {string} title
 * @param {Child[]} value
 * @param {Child[]} notes
 * @param {string} [definition]
 */
const fact = (title, value, notes, definition) =>
  element("div", definition ? { title: definition } : {}, element("dt", {}, title), element("dd", { class: "value" }, ...value),
    ...notes.map((note) => element("dd", { class: "dim" }, note)));

/** @param {Run} run */
function tasksFact(run) {
  const severity = severities(run);
  const { status, kind } = run.tasks.columns;
  const counts = { ok: 0, failed: 0, retried: 0, running: 0, "end unknown": 0 };
  let all = 0;
  for (let task = 0; task < run.tasks.count; task++) {
    if (run.text(kind[task]) === "main") continue;
    all++;
    if (severity[task] === FAILED) counts.failed++;
    else if (severity[task] === RETRIED) counts.retried++;
    else if (severity[task] === RUNNING) counts.running++;
    else if (run.text(status[task]) === "succeeded") counts.ok++;
    else counts["end unknown"]++;
  }
  const words = Object.entries(counts).filter(([, count]) => count > 0).map(([word, count], at) =>
    element("span", { class: word === "failed" ? "bad" : word === "retried" ? "warning" : "" }, `${at > 0 ? ", " : ""}${formatCount(count)} ${word}`));
  return fact("Tasks", [formatCount(all)], [
    words.length > 0 ? element("span", {}, ...words) : "all work is the run's own",
    plural(run.facts.run.process_count, "process", "processes"),
  ], figures.task_count.definition);
}

/** @param {Run} run */
function cpuFact(run) {
  const { cpu_ns, run_delay_ns, core_limit_milli, host_core_milli } = run.facts.run;
  const used = cpu_ns / wallNs(run);
  const allowed = core_limit_milli ?? host_core_milli;
  const average = Number.isFinite(used) ? `${formatCores(used)} ${isKnown(allowed) ? `of ${formatCoreLimit(allowed)} ` : ""}cores on average` : "";
  return fact("CPU time", [formatNanoseconds(cpu_ns)], [average, `${formatNanoseconds(run_delay_ns)} waiting for a core`], figures.cpu_us.definition);
}

/** @param {Run} run */
function memoryFact(run) {
  const { concurrent_memory_bytes, unattributed_memory_bytes, peak_rss_bytes, memory_limit_bytes, cgroup_peak_bytes } = run.facts.run;
  const peak = cgroup_peak_bytes ?? concurrent_memory_bytes;
  const largest = `${formatBytes(peak_rss_bytes)} in the largest process`;
  const perhaps = unattributed_memory_bytes > 0 ? `up to ${formatBytes(unattributed_memory_bytes)} more if files in memory of its cgroup are its own` : "";
  const limit = isKnown(memory_limit_bytes)
    ? `${isKnown(peak) ? `its cgroup used ${formatShare(peak / memory_limit_bytes)} of its` : ""} limit of ${formatBytes(memory_limit_bytes)}`
    : "no limit known";
  return isKnown(concurrent_memory_bytes)
    ? fact("Memory at once", [formatBytes(concurrent_memory_bytes)], [perhaps, largest, limit].filter(Boolean), figures.concurrent_memory_bytes.definition)
    : fact("Peak memory", [formatBytes(peak_rss_bytes)], ["in the largest process", limit], figures.peak_rss_bytes.definition);
}

/** @param {Run} run */
function storageFact(run) {
  const { read_bytes, write_bytes, sent_bytes, received_bytes } = run.facts.run;
  const network = isKnown(sent_bytes) || isKnown(received_bytes)
    ? [`${formatBytes(sent_bytes)} sent, ${formatBytes(received_bytes)} received`] : [];
  return fact("Read from storage", [formatBytes(read_bytes)], [`${formatBytes(write_bytes)} written`, ...network], figures.read_bytes.definition);
}

/** @param {Run} run */
function gpuFact(run) {
  const { gpu_busy_ns, gpu_peak_bytes, gpu_energy_uj, gpu_throttled_ns } = run.facts.run;
  if (!isKnown(gpu_busy_ns) && !isKnown(gpu_peak_bytes)) return null;
  const wattHours = gpu_energy_uj / 3.6e9;
  const energy = isKnown(gpu_energy_uj) ? [`${wattHours.toFixed(wattHours < 1 ? 3 : 1)} Wh while held alone`] : [];
  const throttled = gpu_throttled_ns > 0 ? [`clocks lowered for ${formatShare(gpu_throttled_ns / gpu_busy_ns)} of it`] : [];
  return fact("GPU time", [formatNanoseconds(gpu_busy_ns)], [`${formatBytes(gpu_peak_bytes)} in the largest process`, ...throttled, ...energy], figures.gpu_busy_us.definition);
}

/** @param {Run} run */
function costFact(run) {
  const { cost } = run.facts;
  if (!(cost?.bill_micros > 0)) return null;
  return fact("Cost of its work", [formatMoney(cost.work_micros * 1000)],
    [`of ${formatMoney(cost.bill_micros * 1000)} for its hosts`, cost.default_price_count > 0 ? "by default prices" : ""], figures.cost_nanos.definition);
}

/** @param {Run} run */
function shortFact(run) {
  const { cpu_us, wall_us } = run.processes.columns;
  let short = 0;
  let all = 0;
  let count = 0;
  for (let process = 0; process < run.processes.count; process++) {
    const used = cpu_us[process] || 0;
    all += used;
    if (!(wall_us[process] < SHORT_US)) continue;
    short += used;
    count++;
  }
  if (all === 0) return null;
  return fact("In short processes", [formatShare(short / all)],
    ["of the CPU time", `${formatCount(count)} of ${formatCount(run.processes.count)} ran for less than 1 s`],
    "Share of the CPU time that was used by processes that ran for less than a second: what tools miss that look once a second or less often.");
}

/**
 * What is known while it runs: when it is expected to end, and warnings.
 * @param {Run} run
 */
function liveWords(run) {
  const { expected_end: end, warnings = [] } = run.facts;
  const basis = end?.basis === "file" ? "with the file that it reads" : `as ${plural(end?.earlier_count, "earlier run")} of it did`;
  const words = end ? `Expected to end ${endWords(end)}, ${basis}.` : "";
  const list = warningList(warnings);
  return [...(words ? [element("p", {}, words)] : []), ...(list ? [list] : [])];
}

/**
 * How complete the data are, in one line.
 * @param {Run} run
 */
function completeness(run) {
  const { lost_count } = run.facts.run;
  const { unfinished_count = 0, found_count = 0, partial_count = 0, is_partial = false } = run.facts.lower_bounds ?? {};
  const { shown = 0, known = 0 } = run.facts.commands ?? {};
  const doubts = is_partial ? ["recorded without a probe. CPU time in total and the largest peak of memory are right; processes too short to be seen are summed up as (not seen), other figures are lower bounds"] : [
    lost_count > 0 ? `${plural(lost_count, "record")} of its hosts were lost while it ran, so figures are too low` : "",
    unfinished_count > 0 ? `the last record of ${plural(unfinished_count, "process", "processes")} is missing` : "",
    found_count > 0 ? `${plural(found_count, "process", "processes")} ran before the probe` : "",
    partial_count > 0 ? `I/O and waits of ${plural(partial_count, "process", "processes")} are lower bounds` : "",
  ].filter((doubt) => doubt !== "");
  const left = known - shown;
  const seen = run.facts.run.status === "running" ? "so far, and every process was seen since its start." : "and every process was seen from its start to its end.";
  const words = doubts.length > 0 ? `${doubts.join("; ")}.` : `no record was lost ${seen}`;
  return element("p", {},
    lost_count > 0 ? element("strong", { class: "bad" }, "Incomplete: ") : element("strong", { class: doubts.length > 0 ? "warning" : "good" },
      is_partial ? "Partial: " : doubts.length > 0 ? "Complete, with lower bounds: " : "Complete: "),
    words, left > 0 ? ` Command lines of ${formatCount(left)} of ${formatCount(known)} processes were left out of this page.` : "");
}

/**
 * The bar that stays: the run's name and end, and how much there is in each part.
 * @param {Run} run
 * @param {{text: string, kind: string}} status
 */
function fillBar(run, status) {
  const counts = { failures: fatalFailures(run).length, findings: run.facts.tune?.findings.length ?? 0 };
  for (const [part, count] of Object.entries(counts)) {
    const link = document.querySelector(`#bar nav a[href="#${part}"]`);
    link?.querySelector(".count")?.remove();
    link?.append(element("span", { class: `count ${part === "failures" && count > 0 ? "bad" : "dim"}` }, formatCount(count)));
  }
  document.querySelector("#bar .run-name")?.replaceChildren(quoted(run.facts.run.name, 48), " ", element("span", { class: status.kind }, status.text));
}

/**
 * @param {HTMLElement} place
 * @param {Run} run
 */
export function mount(place, run) {
  const status = statusOf(run);
  const facts = [tasksFact(run), cpuFact(run), memoryFact(run), storageFact(run), gpuFact(run), costFact(run), shortFact(run)];
  place.append(
    element("div", { class: "title" }, element("h1", {}, quoted(run.facts.run.name, 160)), element("p", { class: `status ${status.kind}` }, status.text)),
    originOf(run),
    element("dl", { class: "facts" }, ...facts),
    ...liveWords(run),
    completeness(run),
  );
  if (run.facts.shared) {
    place.append(element("p", { class: "notice" }, "This copy is for sharing: names are replaced by other words, the same ones throughout; arguments, paths, hosts and users are left out."));
  }
  fillBar(run, status);
}
