// The hosts: what they are, and how busy they are now.

import { nowNs } from "../api.js";
import { element, quoted } from "../dom.js";
import { formatBytes, formatCount, formatNanoseconds, formatShare, isKnown, plural } from "../figures.js";
import { Choice, textField } from "./choice.js";
import { LiveTable } from "./live_table.js";
import { aside, filters, follow, section } from "./view.js";
import { shareBar, textCell } from "./words.js";

const EVERY_MS = 2000;
/** Two samples are needed for what is used now. */
const SAMPLES_SINCE = "2m";
const SILENT_NS = 60e9;

/** @typedef {Record<string, any>} Row of the API */

const BUSY = ["cpu_user_ns", "cpu_system_ns", "cpu_steal_ns"];
const TIMES = [...BUSY, "cpu_idle_ns", "cpu_iowait_ns"];

/**
 * What was used between the last two samples, for a second of time or of processors.
 * @param {Row} item
 */
function usageOf({ host, samples }) {
  const [last, before] = samples;
  if (!last) return {};
  const memory = isKnown(last.memory_available_bytes) && isKnown(host.memory_bytes) ? host.memory_bytes - last.memory_available_bytes : null;
  if (!before) return { memory };
  const grown = (/** @type {string} */ name) => (isKnown(last[name]) && isKnown(before[name]) ? last[name] - before[name] : NaN);
  const sum = (/** @type {string[]} */ names) => names.reduce((all, name) => all + (grown(name) || 0), 0);
  const all = sum(TIMES);
  const seconds = grown("boot_ns") / 1e9;
  return {
    memory, busy: sum(BUSY) / all, waiting: grown("cpu_iowait_ns") / all,
    read: grown("disk_read_bytes") / seconds, written: grown("disk_write_bytes") / seconds,
    received: grown("network_received_bytes") / seconds, sent: grown("network_sent_bytes") / seconds,
  };
}

const perSecond = (/** @type {number | null | undefined} */ bytes) => (isKnown(bytes) ? `${formatBytes(bytes)}/s` : null);

/** @param {Row} row */
function heardOf({ host }) {
  const silent = nowNs() - host.last_seen_unix_ns;
  return silent < SILENT_NS ? "now" : `${formatNanoseconds(silent)} ago`;
}

/** @type {import("./live_table.js").Column<Row>[]} */
const COLUMNS = [
  { title: "host", isText: true, cell: ({ host }) => quoted(host.hostname, 40), sort: ({ host }) => host.hostname },
  { title: "heard of", isText: true, definition: "When its probe was last heard of.", cell: heardOf, sort: ({ host }) => host.last_seen_unix_ns,
    kind: ({ host }) => (nowNs() - host.last_seen_unix_ns < SILENT_NS ? "" : "warning") },
  { title: "processors", definition: "Logical processors.", cell: ({ host }) => formatCount(host.cpu_count), sort: ({ host }) => host.cpu_count },
  { title: "busy", isText: true, definition: "Share of the processors' time in user and kernel mode, between the last two samples.",
    cell: ({ usage }) => shareBar(usage.busy), sort: ({ usage }) => usage.busy },
  { title: "idle for storage", definition: "Share of the processors' time in which they were idle while a thread waited for storage.",
    cell: ({ usage }) => formatShare(usage.waiting), sort: ({ usage }) => usage.waiting },
  { title: "memory", cell: ({ host }) => formatBytes(host.memory_bytes), sort: ({ host }) => host.memory_bytes },
  { title: "used", isText: true, definition: "Memory that is not available for new programs.",
    cell: ({ host, usage }) => shareBar(isKnown(usage.memory) ? usage.memory / host.memory_bytes : null, usage.memory > 0.95 * host.memory_bytes ? "--bad" : "--accent"),
    sort: ({ host, usage }) => usage.memory / host.memory_bytes },
  { title: "disk reads", cell: ({ usage }) => perSecond(usage.read), sort: ({ usage }) => usage.read },
  { title: "disk writes", cell: ({ usage }) => perSecond(usage.written), sort: ({ usage }) => usage.written },
  { title: "received", cell: ({ usage }) => perSecond(usage.received), sort: ({ usage }) => usage.received },
  { title: "sent", cell: ({ usage }) => perSecond(usage.sent), sort: ({ usage }) => usage.sent },
  { title: "machine", isText: true, cell: ({ host }) => textCell(host.cloud_instance_type ?? host.product, 28), sort: ({ host }) => host.cloud_instance_type ?? host.product },
  { title: "cluster", isText: true, cell: ({ host }) => textCell(host.cluster, 24), sort: ({ host }) => host.cluster },
  { title: "kernel", isText: true, cell: ({ host }) => textCell(host.kernel, 24), sort: ({ host }) => host.kernel },
  { title: "probe", isText: true, definition: "Version of tracer on the host.", cell: ({ host }) => textCell(host.probe_version, 16), sort: ({ host }) => host.probe_version },
];

/** @param {HTMLElement} place */
export function mount(place) {
  const choice = new Choice(["host"]);
  const count = aside();
  const table = new LiveTable({ caption: "Hosts", isFull: true, columns: COLUMNS, key: (/** @type {Row} */ row) => row.host.id });
  place.append(element("h1", { class: "hidden" }, "Hosts"), filters(textField(choice, "host", "host", { size: "24" })), section(["Hosts ", count], table.element));
  const path = () => choice.path("/api/v1/hosts", { since: SAMPLES_SINCE });
  const asked = follow(place, path(), EVERY_MS, ({ hosts }) => {
    const silent = hosts.filter((/** @type {Row} */ { host }) => nowNs() - host.last_seen_unix_ns >= SILENT_NS).length;
    count.textContent = `${plural(hosts.length, "host")}${silent > 0 ? `, ${formatCount(silent)} not heard of for a minute or longer` : ""}`;
    table.update(hosts.map((/** @type {Row} */ item) => ({ ...item, usage: usageOf(item) })));
  });
  choice.changed = () => asked.set(path());
}
