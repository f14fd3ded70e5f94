// Draws what is above the rows: the axis, the critical path, and where attempts began; and the lines that lead down from it.

import { tickStep, tickText } from "./axis.js";
import { drawText, FONT, widthOf } from "./text.js";

/** @typedef {import("./view.js").View} View */

export const AXIS_HEIGHT = 22;
const PATH_HEIGHT = 14;
const TICK_LEAST = 90;
const MOST_RESTART_LINES = 24;

/** @param {View} view */
export const headerHeight = (view) => AXIS_HEIGHT + (view.path.count > 0 ? PATH_HEIGHT : 0);

/**
 * Vertical lines at the ticks of the axis.
 * @param {View} view
 * @param {import("./raster.js").Raster} raster
 * @param {number} height
 */
export function drawGrid(view, raster, height) {
  const tick = tickStep(TICK_LEAST / view.scale);
  for (let us = Math.ceil(view.from_us / tick) * tick; us < view.to_us; us += tick) {
    const x = Math.floor((us - view.from_us) * view.scale);
    raster.fill(x, 0, x + 1, height, view.palette.linePixel);
  }
}

/**
 * The axis, the critical path, and lines where attempts began.
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 * @param {number} height
 */
export function drawHeader(context, view, height) {
  const { gutter, palette } = view;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, gutter + view.width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = palette.dim;
  const tick = tickStep(TICK_LEAST / view.scale);
  for (let us = Math.ceil(view.from_us / tick) * tick; us < view.to_us; us += tick) {
    const x = gutter + Math.floor((us - view.from_us) * view.scale);
    context.fillRect(x, AXIS_HEIGHT - 5, 1, 5);
    const text = tickText(us, tick);
    if (x + 4 + widthOf(context, text) < gutter + view.width) context.fillText(text, x + 4, AXIS_HEIGHT / 2);
  }
  drawRestarts(context, view);
  drawAttempts(context, view);
  if (height > AXIS_HEIGHT) drawPath(context, view);
  context.fillStyle = palette.line;
  context.fillRect(0, height - 1, gutter + view.width, 1);
}

/**
 * Where attempts began; if there are many of tasks, the marks on the axis say enough.
 * @param {View} view
 */
export function drawRestartLines({ restarts, attempts, from_us, scale, raster, height, palette }) {
  for (const us of restarts.length > MOST_RESTART_LINES ? [] : restarts) {
    const x = Math.floor((us - from_us) * scale);
    raster.fill(x, 0, x + 1, height, palette.warningPixel);
  }
  for (const us of attempts) {
    const x = Math.floor((us - from_us) * scale);
    raster.fill(x, 0, x + 2, height, palette.dimPixel);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
function drawAttempts(context, view) {
  view.attempts.forEach((us, at) => {
    const x = view.gutter + Math.floor((us - view.from_us) * view.scale);
    if (us < view.from_us || us > view.to_us) return;
    const text = `attempt ${at + 1}`;
    context.fillStyle = view.palette.text;
    context.fillRect(x, 0, 2, AXIS_HEIGHT);
    context.fillRect(x, 2, widthOf(context, text) + 8, AXIS_HEIGHT - 7);
    context.fillStyle = view.palette.background;
    context.fillText(text, x + 5, AXIS_HEIGHT / 2 - 1);
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
function drawRestarts(context, view) {
  context.fillStyle = view.palette.warning;
  let last = -1;
  for (const us of view.restarts) {
    const x = view.gutter + Math.floor((us - view.from_us) * view.scale);
    if (us < view.from_us || us > view.to_us || x === last) continue;
    context.fillRect(x, AXIS_HEIGHT - 7, 2, 7);
    last = x;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
function drawPath(context, view) {
  const { gutter, palette, path } = view;
  context.fillStyle = palette.dim;
  drawText(context, "critical path", 18, AXIS_HEIGHT + PATH_HEIGHT / 2, gutter - 26);
  for (let at = 0; at < path.count; at++) {
    const x0 = Math.max(Math.floor((path.begins[at] - view.from_us) * view.scale), 0);
    const x1 = Math.min(Math.ceil((path.ends[at] - view.from_us) * view.scale), view.width);
    if (x1 <= x0) continue;
    const ofTask = path.owners[at] === "task";
    context.fillStyle = ofTask ? palette.text : palette.line;
    const inset = ofTask ? 5 : 6;
    context.fillRect(gutter + x0, AXIS_HEIGHT + inset, Math.max(x1 - x0 - 1, 1), PATH_HEIGHT - 2 * inset);
  }
}
