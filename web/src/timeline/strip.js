// Draws closed rows.

import { STRIP_HEIGHT, upperBound } from "./layout.js";
import { RANK_FAILED, RANK_RETRIED, RANKS, STYLE_COUNT } from "./palette.js";

/** @typedef {import("./view.js").View} View */

/** However short, a failure is so many pixels wide. */
export const FAILURE_WIDTH = 2;

/* Of a strip: for each style and pixel how much time of tasks is in it, and its change to the next pixel. */
let area = new Float32Array(0);
let step = new Float32Array(0);
let touched = new Uint8Array(0);
let marks = new Uint8Array(0);
const used = new Uint8Array(STYLE_COUNT);

/** @param {number} width */
function clearStrip(width) {
  if (touched.length !== width + 2) {
    area = new Float32Array(STYLE_COUNT * (width + 2));
    step = new Float32Array(STYLE_COUNT * (width + 2));
    touched = new Uint8Array(width + 2);
    marks = new Uint8Array(width + 2);
    used.fill(0);
  }
  for (let style = 0; style < STYLE_COUNT; style++) {
    if (!used[style]) continue;
    area.fill(0, style * (width + 2), (style + 1) * (width + 2));
    step.fill(0, style * (width + 2), (style + 1) * (width + 2));
    used[style] = 0;
  }
  touched.fill(0);
  marks.fill(0);
}

/**
 * A closed row: the tasks that run, by colour; and a mark over the whole height where one failed.
 * @param {View} view
 * @param {import("./layout.js").Row} row
 * @param {number} y
 */
export function drawStrip(view, row, y) {
  const { width } = view;
  clearStrip(width);
  for (let lane = row.firstLane; lane < row.firstLane + row.laneCount; lane++) addLaneToStrip(view, lane);
  const size = width + 2;
  const unit = (STRIP_HEIGHT - 2) / row.laneCount;
  const bottom = y + STRIP_HEIGHT;
  for (let style = 0; style < STYLE_COUNT; style++) {
    if (!used[style]) continue;
    for (let x = 1; x < width; x++) step[style * size + x] += step[style * size + x - 1];
  }
  for (let x = 0; x < width; x++) {
    let sum = 0;
    let from = bottom;
    for (let style = STYLE_COUNT - 1; style >= 0; style--) {
      if (!used[style]) continue;
      sum += area[style * size + x] + step[style * size + x];
      const to = Math.round(bottom - sum * unit);
      if (to < from) view.raster.fill(x, to, x + 1, from, view.palette.pixels[style]);
      from = to;
    }
    if (touched[x] && from === bottom) view.raster.fill(x, bottom - 1, x + 1, bottom, view.palette.pixels[touched[x] - 1]);
  }
  for (let x = 0; x < width; x++) {
    if (!marks[x]) continue;
    const failed = RANKS[marks[x] - 1] === RANK_FAILED;
    view.raster.fill(x, failed ? y : y + STRIP_HEIGHT / 2, x + FAILURE_WIDTH, bottom, view.palette.pixels[marks[x] - 1]);
  }
}

/**
 * @param {View} view
 * @param {number} lane
 */
function addLaneToStrip(view, lane) {
  const { layout, width, from_us, scale, styles } = view;
  const { begins, ends, order, laneFirst } = layout;
  const size = width + 2;
  const after = laneFirst[lane + 1];
  for (let at = upperBound(ends, laneFirst[lane], after, from_us); at < after && begins[at] < view.to_us; at++) {
    const style = styles[order[at]];
    const x0 = Math.max((begins[at] - from_us) * scale, 0);
    const x1 = Math.min((ends[at] - from_us) * scale, width);
    const first = Math.floor(x0);
    const last = Math.floor(x1);
    const base = style * size;
    used[style] = 1;
    if (first === last) {
      area[base + first] += x1 - x0;
    } else {
      area[base + first] += first + 1 - x0;
      area[base + last] += x1 - last;
      step[base + first + 1]++;
      step[base + last]--;
    }
    if (touched[first] === 0 || RANKS[style] > RANKS[touched[first] - 1]) touched[first] = style + 1;
    if (RANKS[style] < RANK_RETRIED) continue;
    const mark = Math.min(Math.max(last - 1, first), width - FAILURE_WIDTH);
    if (marks[mark] === 0 || RANKS[style] > RANKS[marks[mark] - 1]) marks[mark] = style + 1;
  }
}
