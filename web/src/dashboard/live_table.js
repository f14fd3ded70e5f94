// A table whose rows come again and again: only what differs is written, so that focus, selection and scroll position stay.

import { element, unknownMark } from "../dom.js";
import { UNKNOWN } from "../figures.js";

/**
 * @template Row
 * @typedef {Object} Column
 * @property {string} title
 * @property {boolean} [isHidden] the title is only to be read out
 * @property {string} [definition]
 * @property {boolean} [isText] else a number, aligned at the right
 * @property {(row: Row) => import("../dom.js").Child} cell "unknown" or null: unknown
 * @property {(row: Row) => number | string | null | undefined} [sort] what it is sorted by; none: it is not
 * @property {(row: Row) => string} [kind] a class of the cell
 * @property {(row: Row) => boolean} [has] a column that no row has is not shown
 */

const collator = new Intl.Collator("en", { numeric: true });

/**
 * What is unknown is last, whatever the direction.
 * @param {any} a
 * @param {any} b
 * @param {number} direction
 */
function compare(a, b, direction) {
  const isUnknown = (/** @type {any} */ value) => value === null || value === undefined || value === "" || Number.isNaN(value);
  if (isUnknown(a) || isUnknown(b)) return Number(isUnknown(a)) - Number(isUnknown(b));
  return direction * (typeof a === "string" ? collator.compare(a, b) : a - b);
}

/** @template Row */
export class LiveTable {
  /**
   * @param {Object} options
   * @param {string} options.caption
   * @param {Column<Row>[]} options.columns the first names the row, unless it is a tick
   * @param {(row: Row) => string} options.key
   * @param {number} [options.head] which column names the row
   * @param {boolean} [options.isFull] takes the whole width
   */
  constructor({ caption, columns, key, head = 0, isFull = false }) {
    this.columns = columns;
    this.key = key;
    this.head = head;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, HTMLTableRowElement>} */
    this.lines = new Map();
    /** @type {boolean[]} by column */
    this.shown = [];
    this.sorted = -1;
    this.direction = -1;
    this.heads = columns.map((column, at) => this.makeHead(column, at));
    this.body = element("tbody");
    this.element = element("div", { class: `wide live ${isFull ? "full" : ""}`, role: "group", "aria-label": caption, tabindex: "0" },
      element("table", { class: "plain" }, element("caption", { class: "hidden" }, caption), element("thead", {}, element("tr", {}, ...this.heads)), this.body));
  }

  /**
   * @param {Column<Row>} column
   * @param {number} at
   */
  makeHead(column, at) {
    const attributes = { scope: "col", class: column.isText ? "" : "number", ...(column.definition ? { title: column.definition } : {}) };
    if (!column.sort) return element("th", attributes, column.isHidden ? element("span", { class: "hidden" }, column.title) : column.title);
    return element("th", { ...attributes, "aria-sort": "none" }, element("button", { type: "button", class: "sort", onclick: () => this.sortBy(at) }, column.title));
  }

  /** @param {number} at once: the largest first, or texts from A; twice: the other way; three times: as they came */
  sortBy(at) {
    const first = this.columns[at].isText ? 1 : -1;
    if (this.sorted !== at) [this.sorted, this.direction] = [at, first];
    else if (this.direction === first) this.direction = -first;
    else this.sorted = -1;
    this.heads.forEach((head, index) => {
      if (this.columns[index].sort) head.setAttribute("aria-sort", index !== this.sorted ? "none" : this.direction > 0 ? "ascending" : "descending");
    });
    this.update(this.rows);
  }

  /** How the rows are sorted, as words; "": as they came. */
  order() {
    if (this.sorted < 0) return "";
    const column = this.columns[this.sorted];
    return `by ${column.title}${column.isText ? "" : this.direction < 0 ? ", largest first" : ", smallest first"}`;
  }

  /** @param {Row[]} rows */
  update(rows) {
    this.rows = rows;
    const sort = this.columns[this.sorted]?.sort;
    this.shown = this.columns.map(({ has }) => !has || rows.some(has));
    this.heads.forEach((head, at) => (head.hidden = !this.shown[at]));
    const ordered = sort ? [...rows].sort((a, b) => compare(sort(a), sort(b), this.direction)) : rows;
    const gone = new Set(this.lines.keys());
    /** @type {Element | null} */
    let place = this.body.firstElementChild;
    for (const row of ordered) {
      const key = this.key(row);
      gone.delete(key);
      let line = this.lines.get(key);
      if (!line) {
        line = element("tr", {}, ...this.columns.map((_, at) => (at === this.head ? element("th", { scope: "row" }) : element("td"))));
        this.lines.set(key, line);
      }
      this.fill(line, row);
      if (line === place) place = place.nextElementSibling;
      else this.body.insertBefore(line, place);
    }
    for (const key of gone) {
      this.lines.get(key)?.remove();
      this.lines.delete(key);
    }
  }

  /**
   * @param {HTMLTableRowElement} line
   * @param {Row} row
   */
  fill(line, row) {
    this.columns.forEach((column, at) => {
      const cell = line.cells[at];
      cell.hidden = !this.shown[at];
      const content = column.cell(row);
      const shown = content === null || content === UNKNOWN ? unknownMark() : typeof content === "string" ? document.createTextNode(content) : content;
      const kind = `${column.isText ? "" : "number"} ${column.kind?.(row) ?? ""}`.trim();
      if (cell.className !== kind) cell.className = kind;
      if (!cell.firstChild?.isEqualNode(shown)) cell.replaceChildren(shown);
    });
  }
}
