// What the user has chosen. All of it but the theme is in the URL's fragment, so that a link shows the same.

import { rowInLater } from "./rows.js";
import { THEMES, readTheme, writeTheme } from "./theme.js";

/**
 * @typedef {Object} Selected
 * @property {"tasks" | "tools" | "processes"} table
 * @property {number} row
 */

/**
 * @typedef {Object} Choice
 * @property {number} from_us visible range of time
 * @property {number} to_us
 * @property {string} group
 * @property {string} colour
 * @property {string} search patterns: text, or /regular expression/
 * @property {string} highlight
 * @property {string} hide
 * @property {Readonly<Selected> | null} selected
 * @property {string} table which table is open
 * @property {string} sort a column; with "-" before it: the largest first
 * @property {string} theme
 */

/** @typedef {(now: Readonly<Choice>, before: Readonly<Choice>) => void} Listener */

/**
 * @typedef {Object} State
 * @property {() => Readonly<Choice>} get
 * @property {(changes: Partial<Choice>) => void} set
 * @property {(listener: Listener) => void} subscribe
 * @property {() => import("./data.js").Run} run the latest data
 * @property {(next: import("./data.js").Run) => void} replace takes later data: what is chosen stays, and a range that
 *   reached the run's end still does. Listeners are not told: the parts of the page are given the data, too.
 */

export const GROUPS = ["name", "sample", "host", "status", "none"];
export const COLOURS = ["bound_by", "status", "tool", "efficiency", "user", "name"];
const SELECTABLE = ["tasks", "tools", "processes"];
const TEXT_CHOICES = /** @type {const} */ (["search", "highlight", "hide", "table", "sort"]);

/** The shortest range of time that can be shown. */
export const SHORTEST_US = 10;

/* Browsers refuse more than a few hundred changes of the URL in some seconds. */
const URL_DELAY_MS = 300;

/** @type {WeakMap<import("./data.js").Run, number>} */
const runEnds = new WeakMap();

/**
 * When the run ended; if it runs, when its host was last heard of.
 * @param {import("./data.js").Run} run
 */
export function runEnd(run) {
  let end = runEnds.get(run);
  if (end !== undefined) return end;
  end = SHORTEST_US;
  for (const table of [run.tasks, run.processes]) {
    const { begin_us, wall_us } = table.columns;
    for (let row = 0; row < table.count; row++) end = Math.max(end, begin_us[row] + (wall_us[row] || 0));
  }
  if (run.facts.run?.status === "running") end = Math.max(end, run.facts.now_us || 0);
  runEnds.set(run, end);
  return end;
}

/**
 * Moves a range into the run's time, and keeps its length if possible.
 * @param {number} from
 * @param {number} to
 * @param {number} end
 */
function clampRange(from, to, end) {
  if (!(to > from)) return { from_us: 0, to_us: end };
  const length = Math.min(Math.max((to === Infinity ? end : to) - from, SHORTEST_US), end);
  const begin = Math.min(Math.max(from, 0), end - length);
  return { from_us: begin, to_us: begin + length };
}

/**
 * @param {import("./data.js").Run} run
 * @param {string} fragment
 * @returns {Partial<Choice>}
 */
function readFragment(run, fragment) {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @type {Partial<Choice>} */
  const changes = { selected: null };
  for (const name of TEXT_CHOICES) changes[name] = words.get(name) ?? "";
  changes.group = words.get("group") ?? GROUPS[0];
  changes.colour = words.get("colour") ?? COLOURS[0];
  changes.from_us = Number(words.get("from") ?? 0);
  changes.to_us = Number(words.get("to") ?? Infinity);
  const [table, row] = (words.get("selected") ?? "").split(".");
  if (SELECTABLE.includes(table)) changes.selected = { table: /** @type {any} */ (table), row: Number(row) };
  return changes;
}

/**
 * What is not as it is at first.
 * @param {Readonly<Choice>} now
 * @param {number} end
 */
function writeFragment(now, end) {
  const words = new URLSearchParams();
  if (now.from_us > 0 || now.to_us < end) {
    words.set("from", String(Math.round(now.from_us)));
    if (now.to_us < end) words.set("to", String(Math.round(now.to_us)));
  }
  if (now.group !== GROUPS[0]) words.set("group", now.group);
  if (now.colour !== COLOURS[0]) words.set("colour", now.colour);
  for (const name of TEXT_CHOICES) if (now[name] !== "") words.set(name, now[name]);
  if (now.selected) words.set("selected", `${now.selected.table}.${now.selected.row}`);
  return words.toString();
}

/**
 * Selecting the same row again changes nothing.
 * @param {Readonly<Selected> | null} now
 * @param {Readonly<Selected> | null | undefined} next
 */
function sameSelected(now, next) {
  return now && next && now.table === next.table && now.row === next.row ? { selected: now } : {};
}

/**
 * A range that reaches the run's end moves with it; the whole run stays the whole run.
 * @param {Readonly<Choice>} now
 * @param {number} end
 * @param {number} next
 */
function followEnd({ from_us, to_us }, end, next) {
  if (to_us < end) return {};
  return { from_us: from_us > 0 ? from_us + next - end : 0, to_us: next };
}

/**
 * @param {import("./data.js").Run} run
 * @returns {State}
 */
export function createState(run) {
  let end = runEnd(run);
  /** @type {Listener[]} */
  const listeners = [];
  /** @type {[Readonly<Choice>, Readonly<Choice>][]} */
  const changed = [];
  let telling = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @type {(choice: Choice) => Readonly<Choice>} */
  const checked = (choice) => {
    Object.assign(choice, clampRange(choice.from_us, choice.to_us, end));
    if (!GROUPS.includes(choice.group)) choice.group = GROUPS[0];
    if (!COLOURS.includes(choice.colour)) choice.colour = COLOURS[0];
    if (!THEMES.includes(choice.theme)) choice.theme = THEMES[0];
    if (choice.selected && !(run[choice.selected.table].columns.begin_us[choice.selected.row] >= 0)) choice.selected = null;
    return Object.freeze(choice);
  };

  const first = { ...readFragment(run, location.hash), theme: readTheme() ?? THEMES[0] };
  let now = checked(/** @type {Choice} */ (first));

  /* A change that a listener makes is told after the one that it is told of. */
  const tell = () => {
    if (telling) return;
    telling = true;
    for (let change = changed.shift(); change; change = changed.shift()) {
      for (const listener of listeners) listener(...change);
    }
    telling = false;
  };

  const writeUrl = () => {
    const fragment = writeFragment(now, end);
    if (fragment === location.hash.replace(/^#/, "")) return;
    try {
      history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    } catch {
      /* A page within another one may have no URL of its own. */
    }
  };

  /** @param {Partial<Choice>} changes */
  const set = (changes) => {
    const before = now;
    const next = checked({ ...now, ...changes, ...sameSelected(now.selected, changes.selected) });
    const names = /** @type {(keyof Choice)[]} */ (Object.keys(next));
    if (names.every((name) => next[name] === before[name])) return;
    now = next;
    if (now.theme !== before.theme) writeTheme(now.theme);
    clearTimeout(timer);
    timer = setTimeout(writeUrl, URL_DELAY_MS);
    changed.push([now, before]);
    tell();
  };

  /** @param {import("./data.js").Run} next */
  const replace = (next) => {
    const row = now.selected ? rowInLater(run, next, now.selected.table, now.selected.row) : -1;
    const selected = now.selected && row >= 0 ? { ...now.selected, row } : null;
    const range = followEnd(now, end, runEnd(next));
    run = next;
    end = runEnd(next);
    now = checked({ ...now, ...range, selected });
    clearTimeout(timer);
    timer = setTimeout(writeUrl, URL_DELAY_MS);
  };

  addEventListener("hashchange", () => set(readFragment(run, location.hash)));
  return { get: () => now, set, subscribe: (listener) => void listeners.push(listener), run: () => run, replace };
}
