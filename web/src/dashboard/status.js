// Whether collection works: what is checked, what was lost, how far behind each part is.

import { element, quoted } from "../dom.js";
import { formatBytes, formatCount, formatNanoseconds, formatTime, isKnown, plural } from "../figures.js";
import { LiveTable } from "./live_table.js";
import { aside, follow, section } from "./view.js";

const EVERY_MS = 3000;
const LEVELS = { ok: "good", limited: "warning", missing: "bad" };

/** @typedef {Record<string, any>} Row of the API */

/** @type {import("./live_table.js").Column<Row>[]} */
const CHECKS = [
  { title: "what", isText: true, cell: (row) => quoted(row.topic, 40) },
  { title: "level", isText: true, cell: (row) => row.level, kind: (row) => LEVELS[/** @type {"ok"} */ (row.level)] ?? "" },
  { title: "what was found", isText: true, kind: () => "sentence", cell: (row) => quoted(row.text, 400) },
  { title: "what to do", isText: true, kind: () => "sentence", cell: (row) => (row.fix ? quoted(row.fix, 400) : "") },
];

/** @type {import("./live_table.js").Column<Row>[]} */
const LOSSES = [
  { title: "kind of record", isText: true, cell: (row) => quoted(row.kind, 40), sort: (row) => row.kind },
  { title: "lost", cell: (row) => formatCount(row.lost_count), sort: (row) => row.lost_count, kind: () => "bad" },
  { title: "the last at", isText: true, cell: (row) => formatTime(row.last_unix_ns), sort: (row) => row.last_unix_ns },
];

/** @type {import("./live_table.js").Column<Row>[]} */
const HOSTS = [
  { title: "host", isText: true, cell: (row) => quoted(row.hostname, 40), sort: (row) => row.hostname },
  { title: "silent for", definition: "How long nothing has come from it.", cell: (row) => formatNanoseconds(row.silent_ns), sort: (row) => row.silent_ns },
  { title: "version", isText: true, cell: (row) => quoted(row.probe_version, 16), sort: (row) => row.probe_version },
  { title: "kernel", isText: true, cell: (row) => quoted(row.kernel, 32), sort: (row) => row.kernel },
];

/**
 * @param {string} title
 * @param {string} value
 * @param {...(string | null)} notes
 */
const fact = (title, value, ...notes) => element("div", {}, element("dt", {}, title), element("dd", { class: "value" }, value), ...notes.filter(Boolean).map((note) => element("dd", { class: "dim" }, /** @type {string} */ (note))));

/** @param {Row} answer */
function facts({ stream, store, shipper, daemons = [] }) {
  return element("dl", { class: "facts" },
    stream ? fact("Behind the kernel", formatNanoseconds(stream.lag_ns), `last stored ${formatTime(stream.committed_unix_ns)}`) : null,
    store ? fact("Store", formatBytes(store.size_bytes), `${plural(store.rows?.runs, "run")}, ${plural(store.rows?.processes, "process", "processes")}`) : null,
    shipper ? fact("Behind the store", formatNanoseconds(shipper.lag_ns), `${formatCount(shipper.lag_revs)} changes not sent`, isKnown(shipper.failing_since_unix_ns) ? `failing since ${formatTime(shipper.failing_since_unix_ns)}` : null) : null,
    ...daemons.map((/** @type {Row} */ daemon) => fact(daemon.name, formatBytes(daemon.rss_bytes), daemon.stopped ? "stopped by a signal" : "resident memory")));
}

/** @param {HTMLElement} place */
export function mount(place) {
  const [checkCount, lossCount, hostCount] = [aside(), aside(), aside()];
  const checks = new LiveTable({ caption: "Checks", isFull: true, columns: CHECKS, key: (/** @type {Row} */ row) => `${row.topic} ${row.text}` });
  const losses = new LiveTable({ caption: "Losses", columns: LOSSES, key: (/** @type {Row} */ row) => row.kind });
  const hosts = new LiveTable({ caption: "Hosts", columns: HOSTS, key: (/** @type {Row} */ row) => row.id });
  const summary = element("div");
  const hostSection = section(["Hosts ", hostCount], hosts.element);
  place.append(element("h1", { class: "hidden" }, "Status"), summary, section(["Checks ", checkCount], checks.element), section(["Lost records ", lossCount], losses.element), hostSection);
  follow(place, "/api/v1/status", EVERY_MS, (answer) => {
    const wrong = answer.checks.filter((/** @type {Row} */ check) => check.level !== "ok").length;
    const versions = new Set((answer.hosts ?? []).map((/** @type {Row} */ host) => host.probe_version));
    summary.replaceChildren(facts(answer));
    checkCount.textContent = wrong === 0 ? `all ${formatCount(answer.checks.length)} are fine` : `${formatCount(wrong)} of ${formatCount(answer.checks.length)} need attention`;
    lossCount.textContent = answer.losses.length === 0 ? "none was lost" : "";
    losses.element.hidden = answer.losses.length === 0;
    hostSection.hidden = !answer.hosts;
    hostCount.textContent = `${plural(answer.hosts?.length ?? 0, "host")}, ${plural(versions.size, "version")} of tracer`;
    checks.update(answer.checks);
    losses.update(answer.losses);
    hosts.update(answer.hosts ?? []);
  });
}
