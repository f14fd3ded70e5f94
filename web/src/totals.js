// What costs most in sum, by task name and by tool: processors, memory, GPUs, money.

import { costsOf, groupRows, sumOf } from "./columns.js";
import { bar, element, figureCell, plainRow, plainTable, quoted, unknownMark } from "./dom.js";
import { figures, formatCount, formatPartsOf, formatShare, isKnown, plural } from "./figures.js";
import { endOf } from "./select.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./columns.js").Group} Group
 */

/** The others are summed up in one row. */
const ROWS_MOST = 12;
const HOUR_US = 3.6e9;

/**
 * @typedef {Object} Sum
 * @property {string} key
 * @property {number} count NaN: does not apply
 * @property {Record<string, number>} of what: cost in the currency, core-hours, GiB-hours, GPU-hours
 */

/**
 * @param {Run} run
 * @param {"tasks" | "tools"} table
 * @param {Group[]} groups
 * @param {Map<string, number>} costs
 * @returns {Sum[]}
 */
function sumsOf(run, table, groups, costs) {
  const { begin_us, cpu_us, gpu_busy_us, peak_rss_bytes, concurrent_memory_bytes } = run[table].columns;
  const held = Float64Array.from(begin_us, (begin, row) => {
    const memory = concurrent_memory_bytes?.[row];
    return ((isKnown(memory) ? memory : peak_rss_bytes[row]) * (endOf(run, table, row) - begin)) / 2 ** 30 / HOUR_US;
  });
  const sums = groups.map(({ key, rows }) => ({
    key,
    count: rows.length,
    of: { core_hours: sumOf(cpu_us, rows) / HOUR_US, gib_hours: sumOf(held, rows), gpu_hours: sumOf(gpu_busy_us, rows) / HOUR_US, cost: (costs.get(key) ?? NaN) / 1e9 },
  }));
  /* What is in the bill, but of no tool: what was requested and not used. */
  const keys = new Set(groups.map(({ key }) => key));
  const others = [...costs].filter(([key, nanos]) => nanos > 0 && !keys.has(key));
  return [...sums, ...others.map(([key, nanos]) => ({ key, count: NaN, of: { core_hours: NaN, gib_hours: NaN, gpu_hours: NaN, cost: nanos / 1e9 } }))];
}

/**
 * @param {Sum[]} sums
 * @param {string} key
 * @returns {Sum}
 */
function together(sums, key) {
  /** @type {Sum} */
  const sum = { key, count: 0, of: {} };
  for (const { count, of } of sums) {
    sum.count += count || 0;
    for (const [name, value] of Object.entries(of)) if (isKnown(value)) sum.of[name] = (sum.of[name] ?? 0) + value;
  }
  return sum;
}

/** @type {Record<string, string>} */
const COLOURS = { cost: "--c0", core_hours: "--c2", gib_hours: "--c3", gpu_hours: "--c5" };

/** @type {Record<string, import("./figures.js").Figure>} */
const FIGURES = { cost: figures.cost_nanos, core_hours: figures.core_hours, gib_hours: figures.gib_hours, gpu_hours: figures.gpu_hours };

/**
 * The cells of one figure: the number, a bar compared with the largest, and its share of all.
 * @param {string} name
 * @param {(value: number) => string} format
 * @param {number} value
 * @param {number} largest
 * @param {number} all
 */
const sumCells = (name, format, value, largest, all) => [
  element("td", { class: "number" }, isKnown(value) ? format(value) : unknownMark()),
  element("td", { class: "with-bar" }, bar((value || 0) / largest, COLOURS[name]), element("span", { class: "number dim" }, isKnown(value) ? formatShare(value / all) : "")),
];

/**
 * @param {string} title
 * @param {string} counted
 * @param {Sum[]} sums
 */
function sumTable(title, counted, sums) {
  const all = together(sums, "all");
  const names = ["cost", "core_hours", "gib_hours", "gpu_hours"].filter((name) => all.of[name] > 0);
  if (names.length === 0) return element("p", { class: "dim" }, "Nothing was used.");
  const order = [...sums].sort((a, b) => (b.of[names[0]] || 0) - (a.of[names[0]] || 0));
  const rest = order.length > ROWS_MOST + 1 ? order.splice(ROWS_MOST) : [];
  const others = rest.length > 0 ? [together(rest, `${formatCount(rest.length)} others`)] : [];
  const formats = names.map((name) => formatPartsOf(all.of[name], name === "cost" ? 2 : 0));
  const largest = names.map((name) => Math.max(...[...order, ...others].map((sum) => sum.of[name] || 0)));
  /** @type {(sum: Sum, head: Node | string) => HTMLTableRowElement} */
  const row = (sum, head) => plainRow(head, figureCell(figures.task_count, sum.count),
    ...names.flatMap((name, at) => sumCells(name, formats[at], sum.of[name], largest[at], all.of[name])));
  const whole = element("tr", { class: "sum" }, element("th", { scope: "row" }, "all"), element("td", { class: "number" }, formatCount(all.count)),
    ...names.flatMap((name, at) => [element("td", { class: "number" }, formats[at](all.of[name])), element("td")]));
  return element("div", { class: names.length > 3 ? "narrow" : "" }, element("h3", {}, title), plainTable(title, [{ text: "name" }, { text: counted, number: true },
    ...names.flatMap((name) => {
      const { title: head, unit, definition } = FIGURES[name];
      return [{ text: name === "cost" ? `${head} (${unit})` : head, title: definition, number: true }, { text: "share", title: "of all" }];
    })], [...order.map((sum) => row(sum, quoted(sum.key, 60))), ...others.map((sum) => row(sum, sum.key)), whole]));
}

/**
 * What the hosts cost while the run ran, and whose that is.
 * @param {Run} run
 */
function billOf(run) {
  const { cost } = run.facts;
  if (!cost || !(cost.bill_micros > 0)) return null;
  const { work_micros, other_runs_micros, system_micros, idle_micros, bill_micros, host_count, no_price_count, default_price_count, unobserved_ms, currency } = cost;
  const format = formatPartsOf(bill_micros / 1e6, 2);
  const rows = [["this run", work_micros], ["other runs", other_runs_micros], ["the system", system_micros], ["idle", idle_micros]]
    .filter(([, micros]) => micros > 0)
    .map(([title, micros]) => plainRow(String(title), element("td", { class: "number" }, format(micros / 1e6)),
      element("td", { class: "with-bar" }, bar(micros / bill_micros, title === "idle" ? "--idle" : "--c0"), element("span", { class: "number" }, formatShare(micros / bill_micros)))));
  rows.push(element("tr", { class: "sum" }, element("th", { scope: "row" }, "the bill"), element("td", { class: "number" }, format(bill_micros / 1e6)), element("td")));
  const doubts = [
    default_price_count > 0 ? `No price is known for ${plural(default_price_count, "host")}: OpenCost's defaults were used.` : "",
    no_price_count > 0 ? `${plural(no_price_count, "host")} without a price in this currency ${no_price_count === 1 ? "is" : "are"} not in it.` : "",
    unobserved_ms > 0 ? "Time in which a host was not watched is not in it." : "",
  ].filter((doubt) => doubt !== "");
  return element("div", {}, element("h3", {}, "The bill ", element("span", { class: "dim" }, `of ${plural(host_count, "host")} while the run ran`)),
    plainTable("The bill", [{ text: "whose", hidden: true }, { text: `cost (${currency})`, number: true }, { text: "share" }], rows),
    doubts.length > 0 ? element("p", { class: "dim" }, doubts.join(" ")) : null);
}

/**
 * @param {HTMLElement} place
 * @param {Run} run
 */
export function mount(place, run) {
  const { tasks, tools } = run;
  const names = groupRows(tasks.count, (row) => run.text(tasks.columns.name[row]));
  const toolNames = groupRows(tools.count, (row) => run.text(tools.columns.name[row]));
  const bill = billOf(run);
  place.append(
    sumTable("By task name", "tasks", sumsOf(run, "tasks", names, costsOf(run.facts.cost, "task"))),
    sumTable("By tool", "in tasks", sumsOf(run, "tools", toolNames, costsOf(run.facts.cost_by_tool, "tool"))),
    ...(bill ? [bill] : []),
    element("p", { class: "dim" }, "The run's own part is among them, under the name of what drives it. Core-hours are CPU time. GiB-hours are memory times wall time: of a task the most memory at once, of a tool its largest process."));
}
