// A table of any number of rows, of which only those on the screen exist. It is a grid for keyboards and screen
// readers: one place in the tab order, arrows inside, Enter sorts by a column or selects a row.

import { element, pause } from "./dom.js";
import { UNKNOWN, brief, formatCount, visible } from "./figures.js";
import { sortRows } from "./sort.js";

/**
 * @typedef {Object} Column
 * @property {string} key what sorts by it
 * @property {string} title
 * @property {string} unit of `csv`; "" if it has none
 * @property {string} definition
 * @property {number} width in pixels, at least
 * @property {boolean} isText
 * @property {(row: number) => number | string} value what is sorted: a text, or a number; "" and NaN are unknown
 * @property {(row: number) => string} text as it is shown
 * @property {(row: number) => string} csv as it is written to files
 * @property {(row: number) => string} [kind] a class of the cell
 */

/**
 * @typedef {Object} Model
 * @property {string} name in the names of files
 * @property {string} one
 * @property {string} many
 * @property {number} count
 * @property {Uint8Array} [left] 1: not a row of this table
 * @property {Column[]} columns the first names the row
 */

/**
 * @typedef {Object} Events
 * @property {(sort: string) => void} sort
 * @property {(row: number | null) => void} select
 */

const ROW_HEIGHT = 24;
const HEAD_HEIGHT = 40;
const SCROLLBAR_HEIGHT = 18; /* and the frame */
const ROWS_MOST = 18;
/** Browsers draw nothing below some 17 million pixels. */
const HEIGHT_MOST = 12e6;
/** More than fits into a cell. */
const CELL_LENGTH = 160;
const TITLE_LENGTH = 1000;
const SAVED_AT_ONCE = 1000;
const PRINTED_ROWS = 200;
const PRINTED_COLUMNS = 14;
const PRINTED_LENGTH = 60;

let tableCount = 0;

/**
 * A cell of a file: programs of offices take what begins with these characters for a formula.
 * @param {string} text
 * @param {boolean} isText
 */
function csvCell(text, isText) {
  const safe = isText && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {Column} column */
const titleWithUnit = (column) => (column.unit ? `${column.title} (${column.unit})` : column.title);

/**
 * @param {Model} model
 * @param {string} id
 */
function makeHeads(model, id) {
  return model.columns.map((column, at) => element("th", {
    role: "columnheader", id: `${id}-h${at}`, class: column.isText ? "" : "number", title: column.definition, "aria-sort": "none", "aria-colindex": String(at + 1),
  }, element("span", { class: "head-text" }, column.title)));
}

/**
 * @param {Model} model
 * @param {string} id
 * @param {HTMLElement[]} heads
 * @param {HTMLElement} body
 */
function makeTable({ columns, many }, id, heads, body) {
  const cols = columns.map((column) => {
    const col = element("col");
    col.style.width = `${column.width}px`;
    return col;
  });
  return element("table", {
    role: "grid", tabindex: "0", "aria-label": many, "aria-colcount": String(columns.length), "aria-describedby": `${id}-count`,
  }, element("colgroup", {}, ...cols), element("thead", { role: "rowgroup" }, element("tr", { role: "row", "aria-rowindex": "1" }, ...heads)), body);
}

/** @param {number} count */
const rowsAsTheyAre = (count) => Uint32Array.from({ length: count }, (_, row) => row);

/** @param {Model} model */
const totalOf = (model) => model.count - (model.left?.reduce((sum, left) => sum + left, 0) ?? 0);

export class Grid {
  /**
   * @param {Model} model
   * @param {Events} events
   */
  constructor(model, events) {
    this.model = model;
    this.events = events;
    this.id = `grid${tableCount++}`;
    this.sort = "";
    this.sorting = 0;
    /** @type {Uint32Array} all rows, sorted */
    this.order = rowsAsTheyAre(model.count);
    this.total = totalOf(model);
    /** @type {Uint32Array} those that are shown */
    this.view = this.order;
    /** @type {((row: number) => boolean) | null} */
    this.filter = null;
    /** @type {number | null} */
    this.selected = null;
    /** The cell that the keyboard is at, in the view; row -1 is the head. */
    this.active = { row: -1, column: 0 };
    /** Ends when the table does. */
    this.gone = new AbortController();
    /** The other end of a range of rows to copy. */
    this.anchor = -1;
    this.heads = makeHeads(model, this.id);
    this.body = element("tbody", { role: "rowgroup" });
    this.table = makeTable(model, this.id, this.heads, this.body);
    this.space = element("div", { class: "grid-space" }, this.table);
    this.space.style.minWidth = `${model.columns.reduce((sum, column) => sum + column.width, 0)}px`;
    this.scroller = element("div", { class: "grid-scroller" }, this.space);
    this.count = element("span", { id: `${this.id}-count`, role: "status" });
    this.definition = element("p", { class: "dim definition" });
    this.element = element("div", { class: "grid" }, this.scroller, this.definition);
    /** How many rows fit. */
    this.rowsShown = 0;
    this.setHeight(Math.max(Math.min(this.total, ROWS_MOST), 1));
    this.follow();
    this.refilter();
  }

  /** @param {number} count of rows that fit */
  pool(count) {
    while (this.body.rows.length > count) this.body.deleteRow(-1);
    for (let at = this.body.rows.length; at < count; at++) {
      this.body.append(element("tr", { role: "row" }, ...this.model.columns.map((column, index) => element("td", {
        role: index === 0 ? "rowheader" : "gridcell", id: `${this.id}-${at}-${index}`, class: column.isText ? "text" : "number", "aria-colindex": String(index + 1),
      }))));
    }
  }

  follow() {
    this.scroller.addEventListener("scroll", () => this.draw());
    this.table.addEventListener("click", (event) => this.click(event));
    this.table.addEventListener("keydown", (event) => this.keydown(event));
    document.addEventListener("copy", (event) => this.copy(event), { signal: this.gone.signal });
    this.table.addEventListener("focus", () => this.draw());
    this.table.addEventListener("blur", () => this.draw());
    this.table.addEventListener("pointermove", (event) => {
      const cell = event.target instanceof Element ? event.target.closest("td, th") : null;
      if (cell instanceof HTMLTableCellElement) this.define(cell.cellIndex);
    });
    new ResizeObserver(() => {
      const fit = Math.floor((this.scroller.clientHeight - HEAD_HEIGHT) / ROW_HEIGHT);
      if (fit < 1) return;
      this.rowsShown = fit;
      this.pool(fit);
      this.stretch();
      this.draw();
    }).observe(this.scroller);
  }

  /**
   * @param {((row: number) => boolean) | null} filter
   */
  setFilter(filter) {
    this.filter = filter;
    this.refilter();
  }

  refilter() {
    const { filter } = this;
    const { left } = this.model;
    this.view = filter || left ? this.order.filter((row) => !left?.[row] && (!filter || filter(row))) : this.order;
    this.anchor = -1;
    this.active.row = Math.min(this.active.row, this.view.length - 1);
    this.stretch();
    this.table.setAttribute("aria-rowcount", String(this.view.length + 1));
    this.say();
    this.draw();
  }

  /** Makes room to scroll, until the last row is the last on the screen. */
  stretch() {
    const rest = Math.max(this.view.length - this.rowsShown, 0);
    this.space.style.height = `${this.scroller.clientHeight + Math.min(rest * ROW_HEIGHT, HEIGHT_MOST)}px`;
  }

  say() {
    const { one, many } = this.model;
    const column = this.sortColumn();
    const direction = column && this.sort.startsWith("-") ? "largest first" : "smallest first";
    const order = column ? `, by ${column.title}${column.isText ? "" : `, ${direction}`}` : "";
    this.count.textContent = `${formatCount(this.view.length)} of ${formatCount(this.total)} ${this.total === 1 ? one : many}${order}`;
  }

  sortColumn() {
    const key = this.sort.replace(/^-/, "");
    return this.model.columns.find((column) => column.key === key);
  }

  /** @param {string} sort a column's key; with "-" before it: the largest first */
  async setSort(sort) {
    if (sort === this.sort) return;
    this.sort = sort;
    const column = this.sortColumn();
    const turn = ++this.sorting;
    this.model.columns.forEach((each, at) => this.heads[at].setAttribute("aria-sort",
      each !== column ? "none" : sort.startsWith("-") ? "descending" : "ascending"));
    this.count.textContent = "Sorting …";
    let model;
    let order;
    do { /* again, if later data have come */
      model = this.model;
      order = await this.orderOf(model);
      if (turn !== this.sorting) return; /* another one was asked for */
    } while (model !== this.model);
    this.order = order;
    this.refilter();
    if (this.selected !== null) this.reveal(this.selected);
  }

  /** @param {Model} model */
  async orderOf(model) {
    const column = model.columns.find(({ key }) => key === this.sort.replace(/^-/, ""));
    return column ? await sortRows(model.count, column.value, column.isText, this.sort.startsWith("-")) : rowsAsTheyAre(model.count);
  }

  /**
   * Shows later data: what is scrolled to, sorted by and active stays.
   * @param {Model} model with the same columns
   * @param {Uint32Array} order of its rows, as `orderOf` gave it
   * @param {((row: number) => boolean) | null} filter
   * @param {number | null} selected
   * @param {(row: number) => number} later where a row is now; -1: nowhere
   */
  setModel(model, order, filter, selected, later) {
    const [active, anchor] = [this.view[this.active.row], this.view[this.anchor]].map((row) => (row === undefined ? -1 : later(row)));
    this.model = model;
    this.order = order;
    this.total = totalOf(model);
    this.filter = filter;
    this.selected = selected;
    this.refilter();
    if (active >= 0) this.active.row = this.view.indexOf(active);
    if (anchor >= 0) this.anchor = this.view.indexOf(anchor);
    const fit = Math.min(this.total, ROWS_MOST);
    if (fit > this.rowsShown) this.setHeight(fit);
    this.draw();
  }

  /** @param {number} rows that fit */
  setHeight(rows) {
    this.rowsShown = rows;
    this.scroller.style.height = `${rows * ROW_HEIGHT + HEAD_HEIGHT + SCROLLBAR_HEIGHT}px`;
    this.pool(rows);
    this.stretch();
  }

  /** @param {number | null} row */
  setSelected(row) {
    this.selected = row;
    if (row !== null) this.reveal(row);
    this.draw();
  }

  /** @param {number} row */
  reveal(row) {
    const at = this.view.indexOf(row);
    if (at < 0) return;
    this.active.row = at;
    this.anchor = at;
    this.scrollTo(at);
  }

  /** To scroll by one row: less than its height if all rows together would be too high for a browser. */
  pixelsPerRow() {
    return Math.min(ROW_HEIGHT, HEIGHT_MOST / Math.max(this.view.length - this.rowsShown, 1));
  }

  /** The row at the top of the screen. */
  firstRow() {
    const rest = this.view.length - this.rowsShown;
    return rest <= 0 ? 0 : Math.min(Math.round(this.scroller.scrollTop / this.pixelsPerRow()), rest);
  }

  /** @param {number} at in the view */
  scrollTo(at) {
    const first = this.firstRow();
    if (at >= first && at < first + this.rowsShown) return;
    const rest = this.view.length - this.rowsShown;
    const wanted = Math.max(Math.min(at < first ? at : at - this.rowsShown + 1, rest), 0);
    this.scroller.scrollTop = wanted * this.pixelsPerRow();
  }

  draw() {
    const first = this.firstRow();
    const hasFocus = document.activeElement === this.table;
    const [low, high] = this.range();
    for (let at = 0; at < this.body.rows.length; at++) {
      const line = this.body.rows[at];
      const index = first + at;
      const isEmpty = index >= this.view.length;
      line.hidden = isEmpty;
      if (isEmpty) continue;
      this.fill(line, this.view[index]);
      line.setAttribute("aria-rowindex", String(index + 2));
      line.setAttribute("aria-selected", String(this.view[index] === this.selected || (high > low && index >= low && index <= high)));
    }
    this.mark(first, hasFocus);
  }

  /**
   * Only what differs is written: a scrolled table is laid out anew for each frame.
   * @param {HTMLTableRowElement} line
   * @param {number} row
   */
  fill(line, row) {
    this.model.columns.forEach((column, index) => {
      const cell = line.cells[index];
      const text = column.text(row);
      const isUnknown = text === "" || text === UNKNOWN;
      const shown = isUnknown ? "–" : column.isText ? brief(text, CELL_LENGTH) : text;
      const kind = `${column.isText ? "text" : "number"} ${isUnknown ? "dim" : column.kind?.(row) ?? ""}`;
      if (cell.textContent !== shown) cell.textContent = shown;
      if (cell.className !== kind) cell.className = kind;
      if (!isUnknown) cell.removeAttribute("aria-label");
      else if (!cell.hasAttribute("aria-label")) cell.setAttribute("aria-label", UNKNOWN);
      if (column.isText) cell.title = isUnknown ? "" : visible(text.slice(0, TITLE_LENGTH));
    });
  }

  /**
   * Shows where the keyboard is.
   * @param {number} first
   * @param {boolean} hasFocus
   */
  mark(first, hasFocus) {
    const { row, column } = this.active;
    const cell = row < 0 ? this.heads[column] : this.body.rows[row - first]?.cells[column];
    this.table.querySelector(".active")?.classList.remove("active");
    if (cell && hasFocus) {
      cell.classList.add("active");
      this.table.setAttribute("aria-activedescendant", cell.id);
      this.define(column);
    } else this.table.removeAttribute("aria-activedescendant");
  }

  /** @param {number} column */
  define(column) {
    const { definition } = this.model.columns[column];
    const title = titleWithUnit(this.model.columns[column]);
    this.definition.replaceChildren(element("b", {}, title), `: ${definition}`);
  }

  /** The rows to copy, in the view. */
  range() {
    const { anchor, active } = this;
    return anchor < 0 || active.row < 0 ? [active.row, active.row] : [Math.min(anchor, active.row), Math.max(anchor, active.row)];
  }

  /** @param {MouseEvent} event */
  click(event) {
    const cell = event.target instanceof Element ? event.target.closest("td, th") : null;
    if (!(cell instanceof HTMLTableCellElement)) return;
    this.active.column = cell.cellIndex;
    if (cell.closest("thead")) {
      this.active.row = -1;
      this.sortBy(cell.cellIndex);
      return;
    }
    const line = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    this.active.row = this.firstRow() + line.sectionRowIndex;
    if (!event.shiftKey) this.anchor = this.active.row;
    if (event.shiftKey) this.draw();
    else this.selectActive();
  }

  /** @param {number} at */
  sortBy(at) {
    const column = this.model.columns[at];
    const [first, second] = column.isText ? [column.key, `-${column.key}`] : [`-${column.key}`, column.key];
    this.events.sort(this.sort === first ? second : first);
    this.draw();
  }

  selectActive() {
    const row = this.view[this.active.row];
    if (row !== undefined) this.events.select(row);
  }

  /** @param {KeyboardEvent} event */
  keydown(event) {
    const { active, view } = this;
    const last = view.length - 1;
    const isCommand = event.ctrlKey || event.metaKey;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => active.row++,
      ArrowUp: () => active.row--,
      ArrowRight: () => active.column++,
      ArrowLeft: () => active.column--,
      PageDown: () => (active.row += this.rowsShown),
      PageUp: () => (active.row -= this.rowsShown),
      Home: () => (isCommand ? (active.row = 0) : (active.column = 0)),
      End: () => (isCommand ? (active.row = last) : (active.column = this.heads.length - 1)),
      Enter: () => (active.row < 0 ? this.sortBy(active.column) : this.selectActive()),
      " ": () => (active.row < 0 ? this.sortBy(active.column) : this.selectActive()),
      Escape: () => this.events.select(null),
    };
    const act = keys[event.key];
    if (!act || event.altKey || (isCommand && !["Home", "End"].includes(event.key))) return;
    event.preventDefault();
    const before = active.row;
    act();
    active.row = Math.max(Math.min(active.row, last), -1);
    active.column = Math.max(Math.min(active.column, this.heads.length - 1), 0);
    if (active.row !== before && !event.shiftKey) this.anchor = active.row;
    if (active.row >= 0) this.scrollTo(active.row);
    this.showColumn();
    this.draw();
  }

  /** Scrolls sideways to the column of the keyboard; the first one is always in view. */
  showColumn() {
    const head = this.heads[this.active.column];
    const { scroller } = this;
    const first = this.active.column === 0 ? 0 : this.heads[0].offsetWidth;
    if (head.offsetLeft < scroller.scrollLeft + first) scroller.scrollLeft = head.offsetLeft - first;
    const over = head.offsetLeft + head.offsetWidth - scroller.scrollLeft - scroller.clientWidth;
    if (over > 0) scroller.scrollLeft += over;
  }

  /**
   * Copies the row or rows, with a head, unless a text is selected.
   * @param {ClipboardEvent} event
   */
  copy(event) {
    const [low, high] = this.range();
    if (document.activeElement !== this.table || low < 0 || !event.clipboardData || String(getSelection()) !== "") return;
    const { columns } = this.model;
    const lines = [columns.map(titleWithUnit)];
    for (let at = low; at <= high; at++) lines.push(columns.map((column) => column.csv(this.view[at]).replace(/[\t\r\n]/g, " ")));
    event.clipboardData.setData("text/plain", lines.map((line) => line.join("\t")).join("\n"));
    event.preventDefault();
  }

  /** What is shown, as a file: plain numbers, units in the head. */
  async save() {
    const { columns, name } = this.model;
    const parts = [`${columns.map((column) => csvCell(titleWithUnit(column), false)).join(",")}\n`];
    for (let from = 0; from < this.view.length; from += SAVED_AT_ONCE) {
      const lines = [];
      for (const row of this.view.subarray(from, from + SAVED_AT_ONCE)) {
        lines.push(`${columns.map((column) => csvCell(column.csv(row), column.isText)).join(",")}\n`);
      }
      parts.push(lines.join(""));
      await pause();
    }
    const url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    element("a", { href: url, download: `${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }

  /** The first rows and columns, for paper. */
  printed() {
    const { one, many } = this.model;
    const columns = this.model.columns.slice(0, PRINTED_COLUMNS);
    const shown = Math.min(this.view.length, PRINTED_ROWS);
    const rows = [...this.view.subarray(0, shown)].map((row) => element("tr", {}, ...columns.map((column) => {
      const text = column.text(row);
      return element("td", { class: column.isText ? "" : "number" }, text === UNKNOWN || text === "" ? "–" : brief(text, PRINTED_LENGTH));
    })));
    const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col", class: column.isText ? "" : "number" }, column.title)));
    const found = this.filter ? ` that the search finds, of ${formatCount(this.total)}` : "";
    const left = this.model.columns.length - columns.length;
    return element("div", { class: "printed" },
      element("p", {}, `The first ${formatCount(shown)} of ${formatCount(this.view.length)} ${this.view.length === 1 ? one : many}${found}${left > 0 ? `, with ${columns.length} of ${this.model.columns.length} columns` : ""}.`),
      element("table", { class: "plain" }, element("thead", {}, head), element("tbody", {}, ...rows)));
  }
}
