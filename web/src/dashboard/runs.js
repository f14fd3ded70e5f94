// The runs: those that run now, with what they use now, and all, filtered by the API before its limit.

import { button, element, quoted } from "../dom.js";
import { figures, formatBytes, formatCores, formatCount, formatNanoseconds, formatTime, isKnown, plural, visible } from "../figures.js";
import { endWords, warningList } from "../live.js";
import { Choice, flagField, selectField, textField } from "./choice.js";
import { LiveTable } from "./live_table.js";
import { aside, filters, follow, section, watchJson } from "./view.js";
import { formatWhen, runLink } from "./words.js";

const FIRST_LIMIT = 100;
const MORE = 5;
const RUNNING_LIMIT = 200;
const EVERY_MS = 1500;
const BUSIEST = 3;
/* Of a run of several hosts the list has the latest figures of each. */
const FILTERS = ["name", "user", "host", "status", "since", "all"];

/** @typedef {Record<string, any>} Row of the API */

/** @param {Row} run */
const failedCount = (run) => (isKnown(run.failed_count) ? formatCount(run.failed_count) : null);

const STATUS_KINDS = { succeeded: "good", failed: "bad", killed: "bad", running: "running", ended: "warning" };

/** @param {Row} run */
const isIncomplete = (run) => run.lost_count > 0;

/**
 * Recorded without a probe.
 * @param {Row} run
 */
const isPartial = (run) => String(run.reason ?? "").includes(", partial:");

/** @param {Row} run */
const userOf = (run) => (run.user ?? run.user_id ?? null) === null ? null : quoted(String(run.user ?? run.user_id), 24);

/** @param {Row} run */
function hostOf(run) {
  const parts = new Set((run.parts ?? []).map((/** @type {Row} */ part) => part.host));
  return parts.size > 1 ? element("span", { title: [...parts].map((host) => visible(String(host))).join("\n") }, plural(parts.size, "host")) : quoted(run.host, 32);
}

/** @type {Record<string, import("./live_table.js").Column<Row>>} */
const COLUMNS = {
  name: { title: "run", isText: true, cell: (run) => runLink(run.id, run.name), sort: (run) => run.name },
  user: { title: "user", isText: true, cell: userOf, sort: (run) => String(run.user ?? run.user_id ?? "") },
  host: { title: "host", isText: true, cell: hostOf, sort: (run) => run.host },
  began: { title: "began", isText: true, cell: (run) => formatWhen(run.started_unix_ns), sort: (run) => run.started_unix_ns },
  status: { title: "status", isText: true, definition: "How its first process ended; incomplete: records were lost, its figures are lower bounds; partial: recorded without a probe.",
    cell: (run) => element("span", isIncomplete(run) ? { title: `${plural(run.lost_count, "record")} lost while it ran` } : {}, `${run.status}${isIncomplete(run) ? ", incomplete" : isPartial(run) ? ", partial" : ""}`),
    sort: (run) => run.status, kind: (run) => STATUS_KINDS[/** @type {"failed"} */ (run.status)] ?? "" },
  wall: { title: "wall time", definition: figures.wall_us.definition, cell: (run) => formatNanoseconds(run.elapsed_ns), sort: (run) => run.elapsed_ns },
  cpu: { title: "CPU time", definition: figures.cpu_us.definition, cell: (run) => formatNanoseconds(run.cpu_ns), sort: (run) => run.cpu_ns },
  cores: { title: "cores used", definition: figures.cores.definition, cell: (run) => formatCores(run.cpu_ns / (run.elapsed_ns ?? NaN)), sort: (run) => run.cpu_ns / (run.elapsed_ns ?? NaN) },
  memory: { title: "peak memory", definition: figures.peak_rss_bytes.definition, cell: (run) => formatBytes(run.peak_rss_bytes), sort: (run) => run.peak_rss_bytes },
  read: { title: "read", definition: figures.read_bytes.definition, cell: (run) => formatBytes(run.read_bytes), sort: (run) => run.read_bytes },
  written: { title: "written", definition: figures.write_bytes.definition, cell: (run) => formatBytes(run.write_bytes), sort: (run) => run.write_bytes },
  gpu: { title: "GPU time", definition: figures.gpu_busy_us.definition, cell: (run) => formatNanoseconds(run.gpu_busy_ns), sort: (run) => run.gpu_busy_ns, has: (run) => isKnown(run.gpu_busy_ns) },
  gpuMemory: { title: "GPU memory", definition: figures.gpu_peak_bytes.definition, cell: (run) => formatBytes(run.gpu_peak_bytes), sort: (run) => run.gpu_peak_bytes, has: (run) => isKnown(run.gpu_peak_bytes) },
  tasks: { title: "tasks", definition: figures.task_count.definition, cell: (run) => formatCount(run.task_count), sort: (run) => run.task_count },
  processes: { title: "processes", definition: figures.process_count.definition, cell: (run) => formatCount(run.process_count), sort: (run) => run.process_count },
  failed: { title: "failed", definition: figures.failed_count.definition, cell: failedCount, sort: (run) => run.failed_count, kind: (run) => (run.failed_count > 0 ? "bad" : "") },
};

const USED = ["cores", "memory_bytes", "gpus", "gpu_memory_bytes", "read_bytes_per_second", "write_bytes_per_second"];

/**
 * What the tools of each run use now; unknown where it is of all.
 * @param {Row[]} tools of `tracer top`
 */
function usageOf(tools) {
  /** @type {Map<string, Row>} */
  const usage = new Map();
  for (const tool of tools) {
    const sum = usage.get(tool.run_id) ?? { tools: new Map() };
    for (const name of USED) if (isKnown(tool[name])) sum[name] = (sum[name] ?? 0) + tool[name];
    sum.tools.set(tool.tool, (sum.tools.get(tool.tool) ?? 0) + (tool.cores ?? 0));
    usage.set(tool.run_id, sum);
  }
  return usage;
}

class Runs {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.choice = new Choice(FILTERS);
    this.choice.changed = () => this.ask();
    /** @type {Map<string, Row>} */
    this.usage = new Map();
    /** @type {Map<string, Row>} */
    this.ticked = new Map();
    this.limit = FIRST_LIMIT;
    /** @type {{runs: Row[], run_count: number, left_out_count: number} | null} */
    this.answer = null;
    this.running = new LiveTable({ caption: "Runs that run now", isFull: true, key: (run) => run.id, columns: this.runningColumns() });
    this.all = new LiveTable({ caption: "All runs", isFull: true, key: (run) => run.id, head: 1, columns: [
      { title: "compare", isHidden: true, isText: true, cell: (run) => this.tick(run) },
      ...["name", "status", "failed", "user", "host", "began", "wall", "cpu", "cores", "memory", "gpu", "gpuMemory", "read", "written", "tasks", "processes"].map((name) => COLUMNS[name])] });
    this.runningCount = aside();
    this.warnings = element("div");
    this.count = aside();
    this.more = button("Show more", () => this.showMore());
    this.compare = element("div", { class: "compare-bar", role: "region", "aria-label": "Runs to compare" });
    this.compare.hidden = true;
    this.noUsage = element("p", { class: "dim" }, "What runs use now is shown of one host at a time: choose a host above.");
    this.noUsage.hidden = this.running.element.hidden = true;
    this.nothing = element("p", { class: "dim" }, "Loading.");
    place.append(
      element("h1", { class: "hidden" }, "Runs"), this.filters(),
      section(["Running ", this.runningCount], this.nothing, this.running.element, this.noUsage, this.warnings),
      section(["All runs ", this.count], this.all.element, element("p", { class: "actions" }, this.more)),
      this.compare);
    this.all.element.addEventListener("click", () => this.say());
    const [all, running] = this.paths();
    this.asked = [
      follow(place, all, EVERY_MS, (answer) => this.drawAll(answer)),
      watchJson(running, EVERY_MS, (answer) => this.drawRunning(answer)),
    ];
    this.askedUsage = watchJson(this.usagePath(), EVERY_MS, (answer) => this.drawUsage(answer.tools), () => this.drawUsage(null));
  }

  filters() {
    const { choice } = this;
    return filters(
      textField(choice, "name", "name contains", { size: "24" }),
      textField(choice, "user", "user", { size: "10" }),
      textField(choice, "host", "host", { size: "14" }),
      selectField(choice, "status", "status", [["", "any"], ["running", "running"], ["succeeded", "succeeded"], ["failed", "failed"], ["killed", "killed"], ["ended", "ended, unknown how"]]),
      selectField(choice, "since", "began in the last", [["", "any time"], ["1h", "hour"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"]]),
      flagField(choice, "all", "system's own", "Also services of the system and login sessions"));
  }

  /** @returns {import("./live_table.js").Column<Row>[]} */
  runningColumns() {
    const now = (/** @type {Row} */ run, /** @type {string} */ name) => this.usage.get(run.id)?.[name];
    /** @type {(title: string, definition: string, name: string, write: (value: any) => string) => import("./live_table.js").Column<Row>} */
    const used = (title, definition, name, write) => ({ title, definition, cell: (run) => write(now(run, name)), sort: (run) => now(run, name) });
    /** @type {typeof used} */
    const usedIfKnown = (title, definition, name, write) => ({ ...used(title, definition, name, write), has: (run) => isKnown(now(run, name)) });
    const perSecond = (/** @type {number | undefined} */ bytes) => (isKnown(bytes) ? `${formatBytes(bytes)}/s` : formatBytes(bytes));
    return [
      COLUMNS.name, COLUMNS.user, COLUMNS.host, COLUMNS.began,
      { ...COLUMNS.wall, title: "for" },
      used("cores now", "Processors used, on average of the last few seconds.", "cores", formatCores),
      used("memory now", "Anonymous and shared memory of its processes: what they share counts once.", "memory_bytes", formatBytes),
      usedIfKnown("GPUs now", "GPUs that worked for it, on average of the last few seconds, as a sampler reported them.", "gpus", formatCores),
      usedIfKnown("GPU memory now", "Memory of its processes on GPUs, added up.", "gpu_memory_bytes", formatBytes),
      used("reads", "Read from storage now.", "read_bytes_per_second", perSecond),
      used("writes", "Written to storage now.", "write_bytes_per_second", perSecond),
      { title: "busy now", isText: true, definition: "The tools that use most processors now, and how many.", cell: (run) => this.busiest(run) },
      { title: "expected end", isText: true, definition: "As earlier runs of the same name and work ended; of one process without such, when the file that it reads ends.", cell: (run) => (run.expected_end ? endWords(run.expected_end) : null), sort: (run) => run.expected_end?.earliest_unix_ns },
      COLUMNS.tasks, COLUMNS.failed,
    ];
  }

  /** @param {Row} run */
  busiest(run) {
    const tools = this.usage.get(run.id)?.tools;
    if (!tools) return null;
    const first = [...tools].sort((a, b) => b[1] - a[1]).slice(0, BUSIEST);
    return element("span", {}, ...first.flatMap(([tool, cores], at) => [at > 0 ? ", " : "", quoted(tool, 20), ` ${formatCores(cores)}`]),
      tools.size > BUSIEST ? `, ${formatCount(tools.size - BUSIEST)} more` : "");
  }

  /** @param {Row} run */
  tick(run) {
    const box = element("input", {
      type: "checkbox", "aria-label": `compare ${visible(run.name)}, ${formatTime(run.started_unix_ns)}`,
      onchange: () => {
        if (box.checked) this.ticked.set(run.id, run);
        else this.ticked.delete(run.id);
        this.drawTicked();
      },
    });
    box.checked = this.ticked.has(run.id);
    return box;
  }

  paths() {
    const status = this.choice.get("status");
    return [
      this.choice.path("/api/v1/runs", { limit: String(this.limit) }),
      this.choice.path("/api/v1/runs", { limit: status === "" || status === "running" ? String(RUNNING_LIMIT) : "1", status: "running" }),
    ];
  }

  usagePath() {
    return `/api/v1/top?${new URLSearchParams({ all: "true", ...(this.choice.get("host") && { host: this.choice.get("host") }) })}`;
  }

  ask() {
    this.limit = FIRST_LIMIT;
    this.askedUsage.set(this.usagePath());
    this.paths().forEach((path, at) => this.asked[at].set(path));
  }

  showMore() {
    this.limit *= MORE;
    this.asked[0].set(this.paths()[0]);
  }

  /** @param {any} answer */
  drawAll(answer) {
    this.answer = answer;
    this.all.update(answer.runs);
    this.say();
  }

  /** @param {any} answer */
  drawRunning(answer) {
    const status = this.choice.get("status");
    const runs = status === "" || status === "running" ? answer.runs : [];
    this.nothing.textContent = "No run that matches is running.";
    this.nothing.hidden = runs.length > 0;
    this.running.element.hidden = runs.length === 0;
    this.runningCount.textContent = runs.length === 0 ? "" : answer.run_count > runs.length
      ? `the latest ${formatCount(runs.length)} of ${plural(answer.run_count, "run")}` : plural(runs.length, "run");
    this.running.update(runs);
    const warnings = runs.flatMap((/** @type {Row} */ run) => run.warnings ?? []);
    const list = warningList(warnings, ({ run_id, run }) => runLink(run_id, run));
    if (!list || !this.warnings.firstChild?.isEqualNode(list)) this.warnings.replaceChildren(...(list ? [list] : []));
  }

  /** @param {Row[] | null} tools null: of several hosts */
  drawUsage(tools) {
    this.usage = usageOf(tools ?? []);
    this.noUsage.hidden = tools !== null;
    this.running.update(this.running.rows);
  }

  say() {
    if (!this.answer) return;
    const { runs, run_count, left_out_count } = this.answer;
    const order = this.all.order();
    const isCut = run_count > runs.length;
    const left = left_out_count > 0 ? `; ${formatCount(left_out_count)} of the system's own not counted` : "";
    this.count.textContent = `${isCut ? "the latest " : ""}${formatCount(runs.length)} of ${plural(run_count, "run")}${order ? `, ${isCut ? "of these " : ""}${order}` : ", newest first"}${left}`;
    this.more.hidden = !isCut;
  }

  drawTicked() {
    const runs = [...this.ticked.values()];
    const names = [...new Set(runs.map((run) => run.name))];
    this.compare.hidden = runs.length === 0;
    this.compare.replaceChildren(
      element("span", {}, `${formatCount(runs.length)} ticked: `),
      ...runs.slice(-4).map((run) => element("span", { class: "ticked" }, quoted(run.name, 30), " ", element("code", {}, run.id.slice(0, 4)))),
      element("span", { class: "actions" }, this.compareLink(runs, names), button("Untick all", () => this.untick())));
  }

  /**
   * Two runs are compared with each other; more, by name: all runs of a name, up to the last 50.
   * @param {Row[]} runs
   * @param {string[]} names
   */
  compareLink(runs, names) {
    const link = (/** @type {string} */ a, /** @type {string} */ b, /** @type {string} */ text) =>
      element("a", { class: "button", href: `/compare?${new URLSearchParams({ a, b })}` }, text);
    const byStart = [...runs].sort((a, b) => a.started_unix_ns - b.started_unix_ns);
    if (runs.length === 2) return link(byStart[0].id, byStart[1].id, "Compare these two");
    if (runs.length > 2 && names.length === 2) return link(byStart[0].name, names.find((name) => name !== byStart[0].name) ?? "", "Compare all runs of these two names");
    if (runs.length > 2 && names.length === 1) return element("a", { class: "button", href: `/trends?${new URLSearchParams({ name: names[0] })}` }, "Show all runs of this name");
    return element("span", { class: "dim" }, runs.length === 1 ? "tick another one to compare" : "two runs, or runs of two names, can be compared");
  }

  untick() {
    this.ticked.clear();
    for (const box of this.all.body.querySelectorAll("input")) box.checked = false;
    this.drawTicked();
  }
}

/** @param {HTMLElement} place */
export function mount(place) {
  new Runs(place);
}
