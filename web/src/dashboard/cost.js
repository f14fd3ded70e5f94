// What the hosts cost, by who or what used them. The rows and what is in no row add up to the bill.

import { bar, element, quoted } from "../dom.js";
import { formatCount, formatNanoseconds, formatShare, formatTime, plural, setCurrency } from "../figures.js";
import { Choice, SPANS, selectField, textField } from "./choice.js";
import { LiveTable } from "./live_table.js";
import { aside, filters, follow, section } from "./view.js";
import { formatMicros, runLink } from "./words.js";

const EVERY_MS = 60000;
const LIMIT = "200";

/** @typedef {Record<string, any>} Row of the API */

/** @type {[string, string][]} */
const BY = [["run", "run"], ["user", "user"], ["centre", "cost centre"], ["host", "host"], ["day", "day"]];

/** @param {Row} row */
const nameOf = (row) => row.run ?? row.user ?? row.user_id ?? row.centre ?? row.host ?? row.day;

/**
 * @param {string} by
 * @param {() => number} bill
 * @returns {import("./live_table.js").Column<Row>[]}
 */
function columns(by, bill) {
  const money = (/** @type {string} */ title, /** @type {string} */ name, /** @type {string} */ definition) =>
    /** @type {import("./live_table.js").Column<Row>} */ ({ title, definition, cell: (row) => formatMicros(row[name]), sort: (row) => row[name] });
  const own = by === "host" || by === "day" ? [money("of it: system", "system_micros", "What the host's own services used."), money("of it: idle", "idle_micros", "What was used by none.")] : [];
  return [
    { title: BY.find(([value]) => value === by)?.[1] ?? by, isText: true, cell: (row) => (row.run_id ? runLink(row.run_id, row.run) : quoted(String(nameOf(row)), 48)), sort: (row) => String(nameOf(row)) },
    money("cost", "cost_micros", "Its part of the price of the hosts: what it used or had reserved, whichever is more."),
    { title: "of the bill", definition: "Share of all that the hosts cost.", cell: (row) => formatShare(row.cost_micros / bill()), sort: (row) => row.cost_micros },
    { title: "share", isHidden: true, isText: true, cell: (row) => bar(row.cost_micros / bill()) },
    money("processors", "cpu_micros", "Of the cost, for processors."), money("memory", "memory_micros", "Of the cost, for memory."),
    { ...money("GPUs", "gpu_micros", "Of the cost, for GPUs that it held."), has: (row) => row.gpu_micros > 0 },
    { ...money("GPUs unused", "gpu_unused_micros", "Of the cost, for GPUs that it held and that did not work for it."), has: (row) => row.gpu_micros > 0 },
    money("used", "used_micros", "Of the cost, what was used."), money("unused", "unused_micros", "Of the cost, what was reserved and not used."),
    ...own,
    { title: "tasks", cell: (row) => formatCount(row.task_count), sort: (row) => row.task_count },
  ];
}

/** @param {Row} answer */
function parts(answer) {
  const list = [["work", "what is in the rows, also those beyond the limit", answer.work_micros], ["other runs", "runs that the filter leaves out", answer.other_runs_micros],
    ["system", "services of the hosts", answer.system_micros], ["idle", "used by none", answer.idle_micros]].filter(([, , micros]) => micros > 0);
  return element("dl", { class: "facts" },
    element("div", {}, element("dt", {}, "bill"), element("dd", { class: "value" }, formatMicros(answer.bill_micros)), element("dd", { class: "dim" }, plural(answer.host_count, "host"))),
    ...list.map(([title, definition, micros]) => element("div", { title: definition }, element("dt", {}, title), element("dd", { class: "value" }, formatMicros(micros)),
      element("dd", { class: "dim" }, formatShare(micros / answer.bill_micros)))));
}

/** @param {Row} answer */
function doubts(answer) {
  return [
    `from ${formatTime(answer.since_unix_ns).slice(0, 16)} to ${formatTime(answer.until_unix_ns).slice(0, 16)}`,
    `hosts were watched for ${formatNanoseconds(answer.observed_ms * 1e6)} in all`,
    answer.unobserved_ms > 0 ? `${formatNanoseconds(answer.unobserved_ms * 1e6)} in which they were not are not in the bill` : "",
    answer.default_price_count > 0 ? `default prices for ${plural(answer.default_price_count, "host")} without a price` : "",
    answer.no_price_count > 0 ? `${plural(answer.no_price_count, "host")} without a price in ${answer.currency} left out` : "",
    answer.may_be_spot_count > 0 ? `${plural(answer.may_be_spot_count, "host")} may be spot, at the price on demand` : "",
  ].filter(Boolean).join("; ");
}

/** @param {HTMLElement} place */
export function mount(place) {
  const choice = new Choice(["by", "since", "user", "host"], { by: "run", since: "7d" });
  let bill = 0;
  const count = aside();
  const total = element("div");
  const doubt = element("p", { class: "dim" });
  const body = element("div");
  place.append(element("h1", { class: "hidden" }, "Cost"), filters(
    selectField(choice, "by", "by", BY), selectField(choice, "since", "of the last", SPANS),
    textField(choice, "user", "user", { size: "10" }), textField(choice, "host", "host", { size: "14" })), total, section(["Cost ", count], body, doubt));
  const makeTable = () => {
    const table = new LiveTable({ caption: "Cost", columns: columns(choice.get("by"), () => bill), key: (/** @type {Row} */ row) => String(row.run_id ?? row.host_id ?? nameOf(row)) });
    body.replaceChildren(table.element);
    return table;
  };
  let table = makeTable();
  const path = () => choice.path("/api/v1/cost", { limit: LIMIT });
  const asked = follow(place, path(), EVERY_MS, (answer) => {
    if (answer.by !== choice.get("by")) return;
    setCurrency(answer.currency);
    bill = answer.bill_micros;
    total.replaceChildren(parts(answer));
    doubt.textContent = `${doubts(answer)}.`;
    count.textContent = plural(answer.rows.length, "row");
    table.update(answer.rows);
  });
  choice.changed = () => {
    table = makeTable();
    asked.set(path());
  };
}
