// The tables: tasks, their names and samples, tools, processes. A row that is selected here is selected in the
// timeline, and the other way round.

import { costsOf, groupRows, processModel, taskGroupModel, taskModel, toolGroupModel, toolModel } from "./columns.js";
import { button, element } from "./dom.js";
import { isKnown } from "./figures.js";
import { rowInLater } from "./rows.js";
import { SHOWN, selectTasks } from "./select.js";
import { Grid } from "./table.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Choice} Choice
 * @typedef {import("./table.js").Model} Model
 */

/**
 * @typedef {Object} Tab
 * @property {string} key in the state
 * @property {string} title
 * @property {() => Model} model
 * @property {((row: number) => number) | null} taskOf what the search decides about; null: about groups
 * @property {import("./columns.js").Group[]} [groups]
 */

const SEARCH_DELAY_MS = 120;

/**
 * @param {Run} run
 * @returns {Tab[]}
 */
function tabsOf(run) {
  const { name, sample } = run.tasks.columns;
  const { task, name: toolName } = run.tools.columns;
  const names = groupRows(run.tasks.count, (row) => run.text(name[row]));
  const tools = groupRows(run.tools.count, (row) => run.text(toolName[row]));
  const hasSamples = sample.some(isKnown);
  const samples = hasSamples ? groupRows(run.tasks.count, (row) => run.text(sample[row]) || "(no sample)") : [];
  /** @type {Tab[]} */
  const tabs = [
    { key: "tasks", title: "Tasks", model: () => taskModel(run), taskOf: (row) => row },
    { key: "names", title: "Task names", groups: names, taskOf: null,
      model: () => taskGroupModel(run, names, costsOf(run.facts.cost, "task"), { name: "task-names", title: "task name", definition: "Tasks that do the same have the same name.", one: "name", many: "names" }) },
    { key: "samples", title: "Samples", groups: samples, taskOf: null,
      model: () => taskGroupModel(run, samples, new Map(), { name: "samples", title: "sample", definition: "Found in command lines; (shared): work for several.", one: "sample", many: "samples" }) },
    { key: "tool-names", title: "Tools", groups: tools, taskOf: null, model: () => toolGroupModel(run, tools) },
    { key: "tools", title: "Tools of tasks", model: () => toolModel(run), taskOf: (row) => task[row] },
    { key: "processes", title: "Processes", model: () => processModel(run), taskOf: (row) => task[run.processes.columns.tool[row]] },
  ];
  return tabs.filter((tab) => tab.key !== "samples" || hasSamples);
}

/**
 * Which rows of a tab the search leaves; null: all.
 * @param {Run} run
 * @param {Tab} tab
 * @param {Readonly<Choice>} now
 */
function filterOf(run, tab, now) {
  if (now.search === "" && now.hide === "") return null;
  const { matches } = selectTasks(run, now);
  const { taskOf, groups, key } = tab;
  if (taskOf) return (/** @type {number} */ row) => matches[taskOf(row)] === SHOWN;
  const { task } = run.tools.columns;
  const isOfTask = key !== "tool-names";
  return (/** @type {number} */ row) => /** @type {any} */ (groups)[row].rows.some((/** @type {number} */ member) => matches[isOfTask ? member : task[member]] === SHOWN);
}

/**
 * @param {Model} before
 * @param {Model} after
 */
const hasSameColumns = (before, after) =>
  before.columns.length === after.columns.length && before.columns.every(({ key }, at) => key === after.columns[at].key);

/**
 * Where a row of a tab is in the same tab of later data.
 * @param {Run} before
 * @param {Tab} tabBefore
 * @param {Run} after
 * @param {Tab} tabAfter
 * @returns {(row: number) => number}
 */
function laterRow(before, tabBefore, after, tabAfter) {
  const { groups } = tabBefore;
  if (groups) return (row) => /** @type {any[]} */ (tabAfter.groups).findIndex(({ key }) => key === groups[row].key);
  return (row) => rowInLater(before, after, /** @type {"tasks"} */ (tabBefore.key), row);
}

class Tables {
  /**
   * @param {Run} run
   * @param {State} state
   */
  constructor(run, state) {
    this.run = run;
    this.state = state;
    this.tabs = tabsOf(run);
    /** @type {Map<string, Grid>} made when they are looked at */
    this.grids = new Map();
    this.open = "";
    this.panel = element("div", { role: "tabpanel", id: "table-panel" });
    this.counts = element("span", { class: "counts" });
    this.note = element("span", { class: "dim" });
    this.search = this.searchField();
    this.list = element("div", { class: "tabs", role: "tablist", "aria-label": "Tables", onkeydown: (event) => this.keydown(event) });
    this.buttons = this.makeButtons();
  }

  makeButtons() {
    const buttons = this.tabs.map((tab) => element("button", {
      type: "button", role: "tab", id: `tab-${tab.key}`, "aria-controls": "table-panel", onclick: () => this.choose(tab.key),
    }, tab.title));
    this.list.replaceChildren(...buttons);
    return buttons;
  }

  searchField() {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    return element("input", {
      type: "search", "aria-label": "Search tasks: text or /regular expression/", placeholder: "Search: text or /regular expression/", spellcheck: "false",
      oninput: () => {
        clearTimeout(timer);
        timer = setTimeout(() => this.state.set({ search: this.search.value }), SEARCH_DELAY_MS);
      },
    });
  }

  /** @param {HTMLElement} place */
  mount(place) {
    const tools = element("div", { class: "table-tools" }, this.search, this.counts, this.note,
      element("span", { class: "actions" },
        button("Copy row", () => this.copy(), "Copies the selected row, or rows, with a head: Ctrl+C in the table does the same, Shift and the arrows select several"),
        button("Save as CSV", () => void this.grid()?.save(), "Saves all rows that are shown, as plain numbers")));
    place.append(this.list, tools, this.panel);
    this.state.subscribe((now, before) => this.update(now, before));
    this.update(this.state.get(), null);
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.panel.querySelectorAll(".printed").forEach((printed) => printed.remove()));
  }

  /** The tab in the state, else the first. */
  tab() {
    const { table } = this.state.get();
    return this.tabs.find((tab) => tab.key === table) ?? this.tabs[0];
  }

  grid() {
    return this.grids.get(this.tab().key);
  }

  /** @param {string} key */
  choose(key) {
    this.state.set({ table: key, sort: "" });
  }

  /** @param {KeyboardEvent} event */
  keydown(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = (this.tabs.indexOf(this.tab()) + step + this.tabs.length) % this.tabs.length;
    this.choose(this.tabs[at].key);
    this.buttons[at].focus();
  }

  copy() {
    this.grid()?.table.focus();
    document.execCommand("copy"); /* what a page on a disk may do, too */
  }

  /** @param {Tab} tab */
  gridOf(tab) {
    let grid = this.grids.get(tab.key);
    if (!grid) {
      grid = new Grid(tab.model(), { sort: (sort) => this.state.set({ sort }), select: (row) => this.select(this.tab(), row) });
      this.grids.set(tab.key, grid);
    }
    return grid;
  }

  /**
   * @param {Tab} tab
   * @param {number | null} row
   */
  select(tab, row) {
    if (tab.groups) {
      const key = row === null ? "" : tab.groups[row].key;
      this.state.set({ highlight: this.state.get().highlight === key ? "" : key });
    } else this.state.set({ selected: row === null ? null : { table: /** @type {any} */ (tab.key), row } });
  }

  /**
   * @param {Readonly<Choice>} now
   * @param {Readonly<Choice> | null} before null: at first
   */
  update(now, before) {
    if (before && now.selected !== before.selected && now.selected && now.selected.table !== this.tab().key) {
      this.state.set({ table: now.selected.table, sort: "" });
      return;
    }
    const tab = this.tab();
    const isOther = tab.key !== this.open;
    const grid = this.gridOf(tab);
    if (isOther) this.show(tab, grid);
    if (this.search.value !== now.search) this.search.value = now.search;
    if (isOther || !before || now.search !== before.search || now.hide !== before.hide) grid.setFilter(filterOf(this.run, tab, now));
    void grid.setSort(now.sort);
    if (isOther || !before || now.selected !== before.selected || now.highlight !== before.highlight) grid.setSelected(this.selectedRow(tab, now));
    this.remark(tab, grid, now);
  }

  /**
   * @param {Tab} tab
   * @param {Readonly<Choice>} now
   */
  selectedRow(tab, now) {
    if (tab.groups) {
      const at = now.highlight === "" ? -1 : tab.groups.findIndex(({ key }) => key === now.highlight);
      return at < 0 ? null : at;
    }
    return now.selected?.table === tab.key ? now.selected.row : null;
  }

  /**
   * @param {Tab} tab
   * @param {Grid} grid
   */
  show(tab, grid) {
    this.open = tab.key;
    this.tabs.forEach((each, at) => {
      this.buttons[at].setAttribute("aria-selected", String(each === tab));
      this.buttons[at].tabIndex = each === tab ? 0 : -1;
    });
    this.panel.setAttribute("aria-labelledby", `tab-${tab.key}`);
    this.panel.replaceChildren(grid.element);
    this.counts.replaceChildren(grid.count);
    grid.draw();
  }

  /**
   * Later data: the open table stays as it is; the others are made again when they are looked at.
   * @param {Run} run
   */
  async prepare(run) {
    const tabs = tabsOf(run);
    const tab = tabs.find(({ key }) => key === this.open) ?? tabs[0];
    const model = tab.model();
    const order = await this.gridOf(this.tab()).orderOf(model);
    return () => this.replace(run, tabs, tab, model, order);
  }

  /**
   * @param {Run} run
   * @param {Tab[]} tabs
   * @param {Tab} tab
   * @param {Model} model of that tab
   * @param {Uint32Array} order
   */
  replace(run, tabs, tab, model, order) {
    const now = this.state.get();
    const [oldRun, oldTab, grid] = [this.run, this.tab(), this.grid()];
    this.run = run;
    this.tabs = tabs;
    if (this.buttons.length !== tabs.length) this.buttons = this.makeButtons();
    const isSame = grid && oldTab.key === tab.key && this.open === tab.key && hasSameColumns(grid.model, model);
    for (const [key, each] of this.grids) {
      if (isSame && key === tab.key) continue;
      each.gone.abort();
      this.grids.delete(key);
    }
    if (isSame) grid.setModel(model, order, filterOf(run, tab, now), this.selectedRow(tab, now), laterRow(oldRun, oldTab, run, tab));
    else this.open = "";
    this.update(now, now);
  }

  /**
   * What the number of rows does not say.
   * @param {Tab} tab
   * @param {Grid} grid
   * @param {Readonly<Choice>} now
   */
  remark(tab, grid, now) {
    const row = this.selectedRow(tab, now);
    const isHidden = row !== null && !tab.groups && filterOf(this.run, tab, now)?.(row) === false;
    this.note.textContent = isHidden ? "The selected row is not among those that the search finds." : "";
  }

  /** On paper, the first rows of every table. */
  print() {
    for (const tab of this.tabs) {
      const grid = this.gridOf(tab);
      if (tab.key !== this.open) grid.setFilter(filterOf(this.run, tab, this.state.get()));
      const printed = grid.printed();
      printed.prepend(element("h3", {}, tab.title));
      this.panel.append(printed);
    }
  }
}

/**
 * @param {HTMLElement} place
 * @param {Run} run
 * @param {State} state
 * @returns {import("./page.js").Part}
 */
export function mount(place, run, state) {
  const tables = new Tables(run, state);
  tables.mount(place);
  return { prepare: (next) => tables.prepare(next) };
}
