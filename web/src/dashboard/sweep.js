// What is wasted: whose hours the hosts' hours were, and what was found, the most expensive first.

import { element, quoted } from "../dom.js";
import { formatCount, formatHours, formatTime, isKnown, plural, setCurrency } from "../figures.js";
import { Choice, SPANS, selectField, textField } from "./choice.js";
import { LiveTable } from "./live_table.js";
import { aside, filters, follow, section, watchJson } from "./view.js";
import { formatMicros, formatWhen, runLink } from "./words.js";

const EVERY_MS = 60000;
const LIMIT = "100";

/** @typedef {Record<string, any>} Row of the API */

/** Who owned an hour of a host; the last three are wasted. */
const OWNERS = /** @type {const} */ ([
  ["work", "--c0", "runs worked"],
  ["system", "--c7", "services of the host worked"],
  ["gap", "--c4", "a run was there, and did nothing"],
  ["idle", "--c1", "nothing ran"],
  ["too_large", "--c3", "the host was larger than what ran on it needed"],
]);

const hours = (/** @type {number | null} */ ms) => formatHours(isKnown(ms) ? ms / 3.6e6 : ms);

/** @param {Row} row of hosts, or the total */
function stack(row) {
  const parts = OWNERS.filter(([name]) => row[`${name}_ms`] > 0).map(([name, colour]) => {
    const part = element("span", { title: name.replace("_", " ") });
    part.style.width = `${(row[`${name}_ms`] / row.all_ms) * 100}%`;
    part.style.background = `var(${colour})`;
    return part;
  });
  return element("span", { class: "stack", "aria-hidden": "true" }, ...parts);
}

/** @param {Row} total */
function legend(total) {
  return element("dl", { class: "facts" }, ...OWNERS.map(([name, colour, definition]) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = `var(${colour})`;
    return element("div", { title: definition }, element("dt", {}, swatch, name.replace("_", " ")), element("dd", { class: "value" }, `${hours(total[`${name}_ms`])} h`),
      element("dd", { class: "dim" }, isKnown(total[`${name}_micros`]) ? formatMicros(total[`${name}_micros`]) : "no price"));
  }));
}

/** @type {import("./live_table.js").Column<Row>[]} */
const FINDINGS = [
  { title: "what", isText: true, cell: (row) => row.finding.replaceAll("_", " "), sort: (row) => row.finding },
  { title: "what was found, and what to do", isText: true, kind: () => "sentence",
    cell: (row) => element("span", {}, quoted(row.sentence, 400), " ", element("span", { class: "dim" }, "→ ", quoted(row.advice, 400))) },
  { title: "host", isText: true, cell: (row) => quoted(row.hostname, 32), sort: (row) => row.hostname },
  { title: "run", isText: true, cell: (row) => (row.run_id ? runLink(row.run_id, row.run) : null), sort: (row) => row.run },
  { title: "since", isText: true, cell: (row) => formatWhen(row.since_unix_ns), sort: (row) => row.since_unix_ns },
  { title: "now", isText: true, cell: (row) => (row.is_now ? "yes" : "no"), sort: (row) => Number(row.is_now), kind: (row) => (row.is_now ? "warning" : "dim") },
  { title: "an hour", cell: (row) => formatMicros(row.cost_per_hour_micros), sort: (row) => row.cost_per_hour_micros },
  { title: "so far", cell: (row) => formatMicros(row.cost_micros), sort: (row) => row.cost_micros },
  { title: "how sure", isText: true, cell: (row) => row.certainty, sort: (row) => row.certainty },
];

/** @type {import("./live_table.js").Column<Row>[]} */
const HOSTS = [
  { title: "host", isText: true, cell: (row) => quoted(row.hostname, 40), sort: (row) => row.hostname },
  { title: "hours", cell: (row) => hours(row.all_ms), sort: (row) => row.all_ms },
  { title: "whose hours", isHidden: true, isText: true, cell: stack },
  ...OWNERS.map(([name, , definition]) => /** @type {import("./live_table.js").Column<Row>} */ ({ title: name.replace("_", " "), definition, cell: (row) => hours(row[`${name}_ms`]), sort: (row) => row[`${name}_ms`] })),
  { title: "cost", cell: (row) => formatMicros(row.bill_micros), sort: (row) => row.bill_micros },
  { title: "wasted", cell: (row) => formatMicros(row.wasted_micros), sort: (row) => row.wasted_micros },
];

/** @type {import("./live_table.js").Column<Row>[]} */
const USERS = [
  { title: "user", isText: true, cell: (row) => quoted(row.user, 24), sort: (row) => row.user },
  { title: "core-hours", definition: "All that counts as wasted; 9 GiB for an hour are one.", cell: (row) => formatHours(row.wasted_core_hours), sort: (row) => row.wasted_core_hours },
  { title: "unused cores", definition: "Core-hours asked for and not used.", cell: (row) => formatHours(row.unused_core_hours), sort: (row) => row.unused_core_hours },
  { title: "unused memory", definition: "GiB-hours asked for and not used.", cell: (row) => formatHours(row.unused_gib_hours), sort: (row) => row.unused_gib_hours },
  { title: "failed", definition: "Core-hours of what failed.", cell: (row) => formatHours(row.failed_core_hours), sort: (row) => row.failed_core_hours },
  { title: "runs", cell: (row) => formatCount(row.run_count), sort: (row) => row.run_count },
  { title: "what would change it", isText: true, kind: () => "sentence", cell: (row) => quoted(row.change, 300) },
];

/**
 * @param {number} shown
 * @param {number} all
 * @param {string} one
 */
const shownOf = (shown, all, one) => (all > shown ? `the first ${formatCount(shown)} of ${plural(all, one)}` : plural(all, one));

/** @param {HTMLElement} place */
export function mount(place) {
  const choice = new Choice(["since", "user", "host"], { since: "7d" });
  const [findingCount, hostCount, userCount] = [aside(), aside(), aside()];
  const findings = new LiveTable({ caption: "Findings", isFull: true, columns: FINDINGS, key: (/** @type {Row} */ row) => [row.finding, row.host_id, row.run_id, row.since_unix_ns].join() });
  const hosts = new LiveTable({ caption: "Hosts", columns: HOSTS, key: (/** @type {Row} */ row) => row.host_id });
  const users = new LiveTable({ caption: "Users", columns: USERS, key: (/** @type {Row} */ row) => String(row.user_id) });
  const total = element("div");
  const period = element("p", { class: "dim" });
  users.element.hidden = true;
  const byUser = section(["Users ", userCount], users.element);
  place.append(element("h1", { class: "hidden" }, "Sweep"), filters(
    selectField(choice, "since", "of the last", SPANS), textField(choice, "user", "user", { size: "10" }), textField(choice, "host", "host", { size: "14" })),
  total, period, section(["Findings ", findingCount], findings.element), section(["Hosts ", hostCount], hosts.element), byUser);
  const path = () => choice.path("/api/v1/sweep", { limit: LIMIT });
  const userPath = () => choice.path("/api/v1/sweep", { limit: LIMIT, by: "user" });
  const asked = follow(place, path(), EVERY_MS, (answer) => {
    setCurrency(answer.currency);
    total.replaceChildren(legend(answer.total), stack(answer.total));
    period.textContent = `Hours of hosts, from ${formatTime(answer.since_unix_ns).slice(0, 16)} to ${formatTime(answer.until_unix_ns).slice(0, 16)}.`;
    findingCount.textContent = shownOf(answer.findings.length, answer.finding_count, "finding");
    hostCount.textContent = shownOf(answer.hosts.length, answer.host_count, "host");
    findings.update(answer.findings);
    hosts.update(answer.hosts);
  });
  const askedUsers = watchJson(userPath(), EVERY_MS, (answer) => {
    userCount.textContent = answer.user_count === 0 ? "none wastes more than the thresholds" : shownOf(answer.users.length, answer.user_count, "user");
    users.element.hidden = answer.user_count === 0;
    users.update(answer.users);
  });
  choice.changed = () => {
    asked.set(path());
    askedUsers.set(userPath());
  };
}
