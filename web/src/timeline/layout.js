// Where tasks are: rows by group, lanes within a row, and their heights.

import { groupKey, HIDDEN, pseudoTasks, severities, FAILED, RETRIED } from "../select.js";
import { runEnd } from "../state.js";
import { Lanes } from "./lanes.js";

export const BAR_HEIGHT = 15;
const LANE_HEIGHT = 17;
export const BAND_HEIGHT = 13;
export const STRIP_HEIGHT = 30;
export const ROW_PADDING = 4;
/** Rows with more lanes in what is seen are closed, unless the user has opened them. */
const OPEN_LANES = 6;
/** A lane shows tools and processes if its tasks are so wide on average. */
const NEAR_PIXELS = 120;
/** That of the run's pseudo-task, if all others are so many times as wide: it has the driver's processes, often many. */
const PSEUDO_TASK_FACTOR = 4;
/** Tasks that far beside what is seen have their place, too: a share of it. */
const MARGIN = 0.1;

/**
 * @typedef {Object} Row
 * @property {string} key
 * @property {number} firstLane
 * @property {number} laneCount
 * @property {number} taskCount
 * @property {number} failedCount
 * @property {number} retriedCount
 * @property {boolean} open lanes, else a strip
 * @property {boolean | undefined} chosen what the user has made of it
 * @property {number} seenCount lanes with tasks near what is seen
 */

/**
 * @typedef {Object} Layout
 * @property {Row[]} rows
 * @property {Uint32Array} order tasks, by lane, then by begin
 * @property {Float64Array} begins of these
 * @property {Float64Array} ends
 * @property {Uint32Array} laneFirst index in these of each lane's first; and their number
 * @property {Int32Array} laneOf of each task; -1: hidden
 * @property {Uint32Array} indexOf of each task, in the order
 * @property {Uint32Array} rowOf of each lane
 * @property {Float64Array} laneHeight 0: none of its tasks is near what is seen
 * @property {Uint8Array} laneBands for the tools and processes of its tasks; 0: these are not shown
 * @property {Float64Array} laneWall average wall time of its tasks; of the run's pseudo-task: part of that of all others
 * @property {Float64Array} rowTop and the whole height
 * @property {Float64Array} laneTop
 */

/**
 * Tasks by group, each in order of their begin. Groups are in the order of their first task.
 * @param {import("../data.js").Run} run
 * @param {string} group
 * @param {Uint8Array} matches
 */
function groupTasks(run, group, matches) {
  const { begin_us } = run.tasks.columns;
  const key = groupKey(run, group);
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (let task = 0; task < run.tasks.count; task++) {
    if (matches[task] === HIDDEN) continue;
    const name = key(task);
    const tasks = groups.get(name);
    if (tasks) tasks.push(task);
    else groups.set(name, [task]);
  }
  for (const tasks of groups.values()) tasks.sort((a, b) => begin_us[a] - begin_us[b]);
  return groups;
}

/**
 * @param {import("../data.js").Run} run
 * @param {string} group
 * @param {Uint8Array} matches
 * @param {ReadonlyMap<string, boolean>} opened what the user has opened and closed
 * @returns {Layout}
 */
export function createLayout(run, group, matches, opened) {
  const { begin_us, wall_us } = run.tasks.columns;
  const end = runEnd(run);
  const severity = severities(run);
  const pseudo = pseudoTasks(run);
  const groups = groupTasks(run, group, matches);
  const laneOf = new Int32Array(run.tasks.count).fill(-1);
  const lanes = new Lanes();
  /** @type {Row[]} */
  const rows = [];
  let laneCount = 0;
  for (const [key, tasks] of groups) {
    const row = { key, firstLane: laneCount, laneCount: 0, taskCount: 0, failedCount: 0, retriedCount: 0, open: false, chosen: opened.get(key), seenCount: 0 };
    lanes.clear();
    for (const task of tasks) {
      const wall = wall_us[task];
      laneOf[task] = laneCount + lanes.add(begin_us[task], Number.isNaN(wall) ? end : begin_us[task] + wall);
      if (pseudo[task]) continue;
      row.taskCount++;
      if (severity[task] === FAILED) row.failedCount++;
      if (severity[task] === RETRIED) row.retriedCount++;
    }
    laneCount += lanes.count;
    row.laneCount = lanes.count;
    rows.push(row);
  }
  const ordered = orderByLane(run, groups, laneOf, laneCount);
  return { rows, laneOf, ...ordered, ...rowsOfLanes(rows, laneCount), laneWall: wallsOfLanes(ordered, pseudo) };
}

/**
 * @param {{order: Uint32Array, begins: Float64Array, ends: Float64Array, laneFirst: Uint32Array}} ordered
 * @param {Uint8Array} pseudo
 */
function wallsOfLanes({ order, begins, ends, laneFirst }, pseudo) {
  const walls = new Float64Array(laneFirst.length - 1);
  let all = 0;
  let count = 0;
  for (let lane = 0; lane < walls.length; lane++) {
    if (pseudo[order[laneFirst[lane]]]) continue;
    let sum = 0;
    for (let at = laneFirst[lane]; at < laneFirst[lane + 1]; at++) sum += ends[at] - begins[at];
    walls[lane] = sum / (laneFirst[lane + 1] - laneFirst[lane]);
    all += sum;
    count += laneFirst[lane + 1] - laneFirst[lane];
  }
  return walls.map((wall) => wall || all / Math.max(count, 1) / PSEUDO_TASK_FACTOR);
}

/**
 * @param {import("../data.js").Run} run
 * @param {Map<string, number[]>} groups
 * @param {Int32Array} laneOf
 * @param {number} laneCount
 */
function orderByLane(run, groups, laneOf, laneCount) {
  const { begin_us, wall_us } = run.tasks.columns;
  const runs = runEnd(run);
  const laneFirst = new Uint32Array(laneCount + 1);
  for (const lane of laneOf) if (lane >= 0) laneFirst[lane + 1]++;
  for (let lane = 0; lane < laneCount; lane++) laneFirst[lane + 1] += laneFirst[lane];
  const next = laneFirst.slice();
  const order = new Uint32Array(laneFirst[laneCount]);
  const begins = new Float64Array(order.length);
  const ends = new Float64Array(order.length);
  const indexOf = new Uint32Array(run.tasks.count);
  for (const tasks of groups.values()) {
    for (const task of tasks) {
      const at = next[laneOf[task]]++;
      order[at] = task;
      indexOf[task] = at;
      begins[at] = begin_us[task];
      ends[at] = Number.isNaN(wall_us[task]) ? runs : begin_us[task] + wall_us[task];
    }
  }
  return { order, begins, ends, laneFirst, indexOf };
}

/**
 * @param {Row[]} rows
 * @param {number} laneCount
 */
function rowsOfLanes(rows, laneCount) {
  const rowOf = new Uint32Array(laneCount);
  rows.forEach((row, at) => rowOf.fill(at, row.firstLane, row.firstLane + row.laneCount));
  return {
    rowOf,
    laneHeight: new Float64Array(laneCount),
    laneBands: new Uint8Array(laneCount),
    rowTop: new Float64Array(rows.length + 1),
    laneTop: new Float64Array(laneCount),
  };
}

/**
 * Places rows and lanes one below the other. Lanes without tasks near what is seen take no place, and those with wide
 * tasks have place for their tools and processes.
 * @param {Layout} layout
 * @param {number} from what is seen
 * @param {number} to
 * @param {number} scale pixels of a microsecond
 * @param {Uint8Array | undefined} depths bands of each task, if they are known
 * @returns {number} the height of all
 */
export function place(layout, from, to, scale, depths) {
  const margin = (to - from) * MARGIN;
  let y = 0;
  layout.rows.forEach((row, at) => {
    layout.rowTop[at] = y;
    y += ROW_PADDING;
    const top = y;
    row.seenCount = countLanes(layout, row, from - margin, to + margin);
    row.open = row.chosen ?? row.seenCount <= OPEN_LANES;
    for (let lane = row.firstLane; lane < row.firstLane + row.laneCount; lane++) {
      layout.laneTop[lane] = y;
      if (!row.open) continue;
      measureLane(layout, lane, from - margin, to + margin, scale, depths);
      y += layout.laneHeight[lane];
    }
    y = Math.max(y, top + (row.open ? LANE_HEIGHT : STRIP_HEIGHT)) + ROW_PADDING;
  });
  layout.rowTop[layout.rows.length] = y;
  return y;
}

/**
 * The lanes of a row with tasks in a range of time.
 * @param {Layout} layout
 * @param {Row} row
 * @param {number} from
 * @param {number} to
 */
function countLanes({ begins, ends, laneFirst }, row, from, to) {
  let count = 0;
  for (let lane = row.firstLane; lane < row.firstLane + row.laneCount; lane++) {
    const first = upperBound(ends, laneFirst[lane], laneFirst[lane + 1], from);
    if (first < laneFirst[lane + 1] && begins[first] < to) count++;
  }
  return count;
}

/**
 * @param {Layout} layout
 * @param {number} lane
 * @param {number} from
 * @param {number} to
 * @param {number} scale
 * @param {Uint8Array | undefined} depths
 */
function measureLane(layout, lane, from, to, scale, depths) {
  const { begins, ends, laneFirst, order } = layout;
  const after = laneFirst[lane + 1];
  const first = upperBound(ends, laneFirst[lane], after, from);
  let bands = 0;
  if (depths && layout.laneWall[lane] * scale >= NEAR_PIXELS) {
    for (let at = first; at < after && begins[at] < to; at++) bands = Math.max(bands, depths[order[at]]);
  }
  layout.laneBands[lane] = bands;
  layout.laneHeight[lane] = first < after && begins[first] < to ? LANE_HEIGHT + bands * BAND_HEIGHT : 0;
}

/**
 * The first index from `low` to before `high` whose value is larger than `value`; `high` if none is.
 * @param {Float64Array} values ascending
 * @param {number} low
 * @param {number} high
 * @param {number} value
 */
export function upperBound(values, low, high, value) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The row at a height; the last one if it is below all.
 * @param {Layout} layout
 * @param {number} y
 */
export function rowAt(layout, y) {
  return Math.max(0, upperBound(layout.rowTop, 0, layout.rows.length, y) - 1);
}

/**
 * The lane of an open row at a height; -1 beside all.
 * @param {Layout} layout
 * @param {Row} row
 * @param {number} y
 */
export function laneAt(layout, row, y) {
  return upperBound(layout.laneTop, row.firstLane, row.firstLane + row.laneCount, y) - 1;
}
