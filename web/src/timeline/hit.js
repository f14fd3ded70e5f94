// What is at a point of the rows.

import { BAND_HEIGHT, BAR_HEIGHT, laneAt, rowAt, upperBound } from "./layout.js";
import { headerHeight } from "./header.js";
import { NO_BAND } from "./nest.js";
import { RANKS } from "./palette.js";

/** A bar is hit that far beside it, too. */
const SLACK_PIXELS = 2;

/**
 * @typedef {{kind: "row", row: number} | {kind: "header"} | {kind: "part", selected: import("../state.js").Selected}} Hit
 */

/**
 * @param {import("./view.js").View} view
 * @param {number} x in the canvas
 * @param {number} y
 * @returns {Hit | null}
 */
export function hitAt(view, x, y) {
  const { layout } = view;
  const head = headerHeight(view);
  if (y < head) return { kind: "header" };
  const contentY = y - head + view.top;
  const at = rowAt(layout, contentY);
  const row = layout.rows[at];
  if (!row || contentY >= layout.rowTop[layout.rows.length]) return null;
  if (x < view.gutter) return { kind: "row", row: at };
  const us = view.from_us + (x - view.gutter) / view.scale;
  if (!row.open) return part("tasks", taskInLanes(view, row.firstLane, row.firstLane + row.laneCount, us));
  const lane = laneAt(layout, row, contentY);
  if (lane < row.firstLane) return null;
  const task = taskInLanes(view, lane, lane + 1, us);
  const below = contentY - layout.laneTop[lane] - BAR_HEIGHT - 1;
  if (task < 0 || below < 0 || layout.laneBands[lane] === 0 || !view.nest) return part("tasks", task);
  return partOfTask(view, view.nest, task, Math.floor(below / BAND_HEIGHT), us);
}

/**
 * @param {"tasks" | "tools" | "processes"} table
 * @param {number} row
 * @returns {Hit | null}
 */
const part = (table, row) => (row < 0 ? null : { kind: "part", selected: { table, row } });

/**
 * The worst of the tasks at a time, and of these the longest; -1 if there is none.
 * @param {import("./view.js").View} view
 * @param {number} firstLane
 * @param {number} afterLane
 * @param {number} us
 */
function taskInLanes(view, firstLane, afterLane, us) {
  const { layout, styles } = view;
  const slack = SLACK_PIXELS / view.scale;
  let best = -1;
  let bestScore = -1;
  for (let lane = firstLane; lane < afterLane; lane++) {
    const after = layout.laneFirst[lane + 1];
    for (let at = upperBound(layout.ends, layout.laneFirst[lane], after, us - slack); at < after && layout.begins[at] <= us + slack; at++) {
      const inside = layout.begins[at] <= us && us < layout.ends[at];
      const length = 1 - 1 / (2 + layout.ends[at] - layout.begins[at]);
      const score = 4 * RANKS[styles[layout.order[at]]] + (inside ? 2 : 0) + length;
      if (score > bestScore) {
        best = layout.order[at];
        bestScore = score;
      }
    }
  }
  return best;
}

/**
 * The tool or process of a task in a band.
 * @param {import("./view.js").View} view
 * @param {import("./nest.js").Nest} nest
 * @param {number} task
 * @param {number} band
 * @param {number} us
 * @returns {Hit | null}
 */
function partOfTask(view, nest, task, band, us) {
  const { run } = view;
  const slack = SLACK_PIXELS / view.scale;
  /** @type {(columns: Record<string, Float64Array>, row: number) => boolean} */
  const isAt = ({ begin_us, wall_us }, row) => begin_us[row] <= us + slack && !(begin_us[row] + wall_us[row] < us - slack);
  for (let tool = nest.firstTool[task]; tool < nest.firstTool[task + 1]; tool++) {
    if (!isAt(run.tools.columns, tool)) continue;
    if (nest.toolBand[tool] === band) return part("tools", tool);
    for (let process = nest.firstProcess[tool]; process < nest.firstProcess[tool + 1]; process++) {
      if (nest.processBand[process] === NO_BAND || nest.processBand[process] !== band) continue;
      if (isAt(run.processes.columns, process)) return part("processes", process);
    }
  }
  return null;
}
