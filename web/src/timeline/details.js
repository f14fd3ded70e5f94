// What is selected, with all its figures: at the bottom of the window, above whatever part of the page is seen.

import { element, button, quoted } from "../dom.js";
import { redraw } from "../redraw.js";
import { brief, figures, formatCount, formatTime, isKnown, plural, visible } from "../figures.js";
import { attemptsOf } from "../rows.js";
import { efficiency } from "../select.js";
import { detailsOfTask, endingOf, kindOf, nameOf, ownersOf } from "./words.js";

/**
 * @typedef {import("../data.js").Run} Run
 * @typedef {import("../state.js").Selected} Selected
 */

/** Tools of a task and processes of a tool that are listed; the tables have all. */
const MOST_PARTS = 12;
const COMMAND_LENGTH = 8000;

/** @type {[string, string[]][]} */
const FIGURE_GROUPS = [
  ["Time", ["begin_us", "wall_us", "engine_wall_us"]],
  ["Processors", ["cpu_us", "engine_cpu_us", "cores", "efficiency", "core_limit_milli", "requested_thread_count", "wait_us"]],
  ["Memory", ["peak_rss_bytes", "engine_peak_rss_bytes", "concurrent_memory_bytes", "cgroup_peak_bytes", "memory_limit_bytes", "memory_wait_us"]],
  ["GPU", ["gpu_busy_us", "gpu_peak_bytes"]],
  ["Storage and network", ["read_bytes", "write_bytes", "storage_us", "sent_bytes", "received_bytes"]],
  ["Processes", ["pid", "process_count", "failed_count", "lost_count", "partial_count", "doubtful"]],
];

/**
 * @param {Run} run
 * @param {Selected} selected
 * @param {string} name
 */
function valueOf(run, { table, row }, name) {
  const { columns } = run[table];
  if (name === "cores") return columns.cpu_us[row] / columns.wall_us[row];
  if (name === "efficiency") return table === "tasks" ? efficiency(run, row) : undefined;
  return columns[name]?.[row];
}

/**
 * Columns that the table does not have are left out; what is unknown is said.
 * @param {Run} run
 * @param {Selected} selected
 */
function figureLists(run, selected) {
  return FIGURE_GROUPS.map(([title, names]) => {
    const list = element("dl", {});
    for (const name of names) {
      const value = valueOf(run, selected, name);
      if (value === undefined || !figures[name]) continue;
      const { title: label, definition, format } = figures[name];
      const known = isKnown(value);
      if (!known && /^(engine|gpu)_/.test(name)) continue; /* as a rule no engine was asked, and there is no GPU */
      list.append(element("dt", { title: definition }, label), element("dd", known ? {} : { class: "dim" }, format(value)));
    }
    return list.childElementCount > 0 ? element("div", {}, element("h4", {}, title), list) : null;
  });
}

/**
 * @param {Run} run
 * @param {import("../state.js").State} state
 * @param {HTMLElement} parent
 * @param {(selected: Selected) => void} zoomTo
 */
export function createDetails(run, state, parent, zoomTo) {
  const panel = parent.appendChild(element("aside", { class: "timeline-details", "aria-label": "Details", tabindex: "-1" }));
  panel.hidden = true;
  /** @type {Element | null} */
  let focused = null;

  /** @param {Selected} selected @param {string} [text] */
  const link = (selected, text) =>
    button(text ?? brief(nameOf(run, selected), 60), () => state.set({ selected }), `${kindOf(selected)} ${brief(nameOf(run, selected), 200)}`);

  const close = () => {
    if (!state.get().selected) return false;
    state.set({ selected: null });
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    return true;
  };

  /** @param {Selected} selected */
  const heading = (selected) => {
    const owners = ownersOf(run, selected);
    const ending = endingOf(run, selected);
    const bad = /failed|killed/.test(ending) && !ending.endsWith("retried");
    return element("header", {},
      element("h3", {}, quoted(nameOf(run, selected), 90)),
      element("span", { class: "dim" }, kindOf(selected)),
      ...(owners.length > 1 ? [element("span", { class: "dim" }, "of"), ...owners.slice(0, -1).map((owner) => link(owner))] : []),
      element("span", { class: bad ? "bad" : "dim" }, ending),
      element("span", { class: "timeline-space" }),
      button("Show in the timeline", () => zoomTo(selected), "Zoom to it"),
      button("Close", close, "Esc"));
  };

  /** @param {number} task */
  const attemptList = (task) => {
    const attempts = attemptsOf(run, task);
    if (attempts.length < 2) return null;
    return element("div", {}, element("h4", {}, plural(attempts.length, "attempt")),
      element("ol", {}, ...attempts.map((attempt) => {
        const selected = { table: /** @type {const} */ ("tasks"), row: attempt };
        const { begin_us, wall_us } = run.tasks.columns;
        const text = `${endingOf(run, selected)}, began ${figures.begin_us.format(begin_us[attempt])}, took ${figures.wall_us.format(wall_us[attempt])}`;
        return element("li", {}, attempt === task ? element("b", {}, text) : link(selected, text));
      })));
  };

  /**
   * The tools of a task, or the processes of a tool, those with most CPU time first.
   * @param {Selected} selected
   */
  const partList = ({ table, row }) => {
    if (table === "processes") return null;
    const part = table === "tasks" ? /** @type {const} */ ("tools") : /** @type {const} */ ("processes");
    const { columns } = run[part];
    const owner = table === "tasks" ? columns.task : columns.tool;
    const rows = [];
    for (let at = 0; at < owner.length; at++) if (owner[at] === row) rows.push(at);
    if (rows.length === 0) return null;
    rows.sort((a, b) => (columns.cpu_us[b] || 0) - (columns.cpu_us[a] || 0));
    const shown = rows.slice(0, MOST_PARTS);
    const word = part === "tools" ? "tool" : "process";
    const many = part === "tools" ? "tools" : "processes";
    const title = shown.length < rows.length ? `${shown.length} of ${formatCount(rows.length)} ${many}, by CPU time` : plural(rows.length, word, many);
    return element("div", {}, element("h4", {}, title),
      element("ul", {}, ...shown.map((at) => {
        const failed = part === "tools" ? columns.failed_count[at] > 0 : columns.failed[at] === 1;
        return element("li", {}, link({ table: part, row: at }), " ",
          element("span", { class: failed ? "bad" : "dim" }, `${figures.cpu_us.format(columns.cpu_us[at])} CPU${failed ? ", failed" : ""}`));
      })));
  };

  /** @param {Selected} selected */
  const commandOf = ({ table, row }) => {
    const text = table === "tools" ? "" : run.text(run[table].columns.command[row]);
    if (text === "") return null;
    const shown = visible(text.slice(0, COMMAND_LENGTH)) + (text.length > COMMAND_LENGTH ? "…" : "");
    return element("div", { class: "timeline-command" }, element("h4", {}, "Command"), element("pre", { tabindex: "0" }, shown));
  };

  /** @param {Selected} selected */
  const began = ({ table, row }) => {
    const started = run.facts.run?.started_unix_ns;
    const text = isKnown(started) ? `began ${formatTime(started + run[table].columns.begin_us[row] * 1000)}` : null;
    const words = table === "tasks" ? detailsOfTask(run, row).map(([title, word]) => `${title} ${brief(word, 90)}`) : [];
    if (table === "tasks" && run.tasks.columns.critical[row] === 1) words.push("on the critical path");
    return element("p", { class: "dim" }, [text, ...words].filter(Boolean).join(" · "));
  };

  /** @param {Selected} selected */
  const contentOf = (selected) => [
    heading(selected), began(selected),
    element("div", { class: "timeline-figures" },
      ...figureLists(run, selected),
      ...[selected.table === "tasks" ? attemptList(selected.row) : null, partList(selected)].filter((part) => part !== null)),
    commandOf(selected) ?? ""];

  const show = () => {
    const { selected } = state.get();
    panel.hidden = selected === null;
    document.documentElement.style.setProperty("--details-height", selected ? "min(42vh, 340px)" : "0px");
    if (selected) panel.replaceChildren(...contentOf(selected));
    panel.scrollTop = 0;
  };

  state.subscribe((now, before) => {
    if (now.selected !== before.selected) show();
  });
  show();
  return {
    /** @param {Run} next */
    update(next) {
      const { selected } = state.get();
      run = next;
      if (selected) redraw(panel, (fresh) => fresh.append(...contentOf(selected)));
      else show();
    },
    /** Moves the keyboard's focus to it, and back when it is closed. */
    focus() {
      focused = document.activeElement;
      panel.focus({ preventScroll: true });
    },
    close,
  };
}
