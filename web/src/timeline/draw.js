// Draws the rows: bars in lanes, tools and processes of tasks that are near, the names, and what is selected.

import { formatCount } from "../figures.js";
import { drawGrid, drawHeader, drawRestartLines, headerHeight } from "./header.js";
import { BAND_HEIGHT, BAR_HEIGHT, rowAt, ROW_PADDING, STRIP_HEIGHT, upperBound } from "./layout.js";
import { MOST_BANDS, NO_BAND } from "./nest.js";
import { processStyle, RANK_COUNT, RANK_RETRIED, RANKS, toolStyle } from "./palette.js";
import { drawStrip, FAILURE_WIDTH } from "./strip.js";
import { addLabel, clearLabels, drawLabels, drawText, FONT, LABEL_LEAST, shortText, widthOf } from "./text.js";

/** @typedef {import("./view.js").View} View */

/* Up to which pixel bars of each rank or a higher one are. */
const covered = new Int32Array(RANK_COUNT * (MOST_BANDS + 1));

/**
 * Draws a bar, unless there is one of its rank or a higher one at its pixels.
 * @param {View} view
 * @param {number} begin
 * @param {number} end
 * @param {number} y
 * @param {number} height
 * @param {number} style
 * @param {number} band whose pixels
 * @returns {number} its last pixel, and -1 if it is not drawn
 */
function drawBar(view, begin, end, y, height, style, band) {
  const rank = RANKS[style];
  const least = rank >= RANK_RETRIED ? FAILURE_WIDTH : 1;
  const x0 = Math.floor((begin - view.from_us) * view.scale);
  let x1 = Math.floor((end - view.from_us) * view.scale);
  if (x1 - x0 < least) x1 = x0 + least;
  const last = x1 - x0 > 3 ? x1 - 1 : x1;
  const at = band * RANK_COUNT;
  const start = Math.max(x0, covered[at + rank]);
  if (start >= x1) return -1;
  for (let lower = at; lower <= at + rank; lower++) if (covered[lower] < x1) covered[lower] = x1;
  view.raster.fill(start, y, last, y + height, view.palette.pixels[style]);
  return last;
}

/**
 * What tells a task from the others of its row.
 * @param {View} view
 * @param {number} task
 */
function taskText({ run, group }, task) {
  const { name, label } = run.tasks.columns;
  return (group === "name" && run.text(label[task])) || run.text(name[task]);
}

/**
 * @param {View} view
 * @param {number} lane
 * @param {number} y
 */
function drawLane(view, lane, y) {
  const { layout, run, raster, palette, styles, highlighted } = view;
  const { begins, ends, order } = layout;
  const { critical } = run.tasks.columns;
  const after = layout.laneFirst[lane + 1];
  const bands = layout.laneBands[lane];
  let outlined = -1;
  covered.fill(-1);
  for (let at = upperBound(ends, layout.laneFirst[lane], after, view.from_us); at < after && begins[at] < view.to_us; at++) {
    const task = order[at];
    const style = styles[task];
    const last = drawBar(view, begins[at], ends[at], y, BAR_HEIGHT, style, 0);
    const x0 = Math.floor((begins[at] - view.from_us) * view.scale);
    if (highlighted[task] || critical[task] === 1) {
      const x1 = Math.max(last, x0 + 2);
      if (x1 > outlined) {
        const pixel = highlighted[task] ? palette.accentPixel : palette.textPixel;
        drawOutline(raster, x0, y, x1, y + BAR_HEIGHT, pixel, highlighted[task] ? 2 : 1);
        outlined = x1;
      }
    }
    if (last - x0 < LABEL_LEAST) continue;
    addLabel(view, taskText(view, task), x0, last, y + BAR_HEIGHT / 2, style, 0);
    if (bands > 0 && view.nest) {
      drawNested(view, view.nest, task, y + BAR_HEIGHT + 1, bands);
      covered.fill(-1, RANK_COUNT);
    }
  }
}

/**
 * One of a few pixels is a line at the bottom.
 * @param {import("./raster.js").Raster} raster
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {number} pixel
 * @param {number} thickness
 */
function drawOutline(raster, x0, y0, x1, y1, pixel, thickness) {
  raster.fill(x0, y1 - Math.max(thickness, 2), x1, y1, pixel);
  if (x1 - x0 < 5) return;
  raster.fill(x0, y0, x1, y0 + thickness, pixel);
  raster.fill(x0, y0, x0 + thickness, y1, pixel);
  raster.fill(x1 - thickness, y0, x1, y1, pixel);
}

/**
 * The end of a row of a table; what still runs ends after all that is seen.
 * @param {Record<string, Float64Array>} columns
 * @param {number} row
 */
const endIn = (columns, row) => (Number.isNaN(columns.wall_us[row]) ? Infinity : columns.begin_us[row] + columns.wall_us[row]);

/**
 * The tools and processes of a task.
 * @param {View} view
 * @param {import("./nest.js").Nest} nest
 * @param {number} task
 * @param {number} y
 * @param {number} bands for which there is place: it is made when the view stands still
 */
function drawNested(view, nest, task, y, bands) {
  const { run } = view;
  const tools = run.tools.columns;
  const end = endOfTask(view, task);
  for (let tool = nest.firstTool[task]; tool < nest.firstTool[task + 1]; tool++) {
    if (tools.begin_us[tool] > view.to_us) break;
    const toolEnd = Math.min(endIn(tools, tool), end);
    if (toolEnd < view.from_us) continue;
    const style = toolStyle(view.styles[task], tools.failed_count[tool] > 0);
    const band = nest.toolBand[tool];
    if (band >= bands) continue;
    const top = y + band * BAND_HEIGHT;
    const last = drawBar(view, tools.begin_us[tool], toolEnd, top, BAND_HEIGHT - 1, style, band + 1);
    const x0 = Math.floor((tools.begin_us[tool] - view.from_us) * view.scale);
    if (last - x0 >= LABEL_LEAST) addLabel(view, run.text(tools.name[tool]), x0, last, top + BAND_HEIGHT / 2, style, 1);
    drawProcesses(view, nest, task, tool, y, toolEnd, bands);
  }
}

/**
 * @param {View} view
 * @param {import("./nest.js").Nest} nest
 * @param {number} task
 * @param {number} tool
 * @param {number} y
 * @param {number} end of the tool
 * @param {number} bands
 */
function drawProcesses(view, nest, task, tool, y, end, bands) {
  const { run } = view;
  const processes = run.processes.columns;
  for (let process = nest.firstProcess[tool]; process < nest.firstProcess[tool + 1]; process++) {
    const begin = processes.begin_us[process];
    if (begin > view.to_us) break;
    const band = nest.processBand[process];
    const processEnd = Math.min(endIn(processes, process), end);
    if (band >= bands || processEnd < view.from_us) continue;
    const style = processStyle(view.styles[task], processes.failed[process] === 1);
    const top = y + band * BAND_HEIGHT;
    const last = drawBar(view, begin, processEnd, top, BAND_HEIGHT - 1, style, band + 1);
    const x0 = Math.floor((begin - view.from_us) * view.scale);
    if (last - x0 >= LABEL_LEAST) addLabel(view, run.text(processes.program[process]), x0, last, top + BAND_HEIGHT / 2, style, 1);
  }
}

/**
 * @param {View} view
 * @param {number} task
 */
function endOfTask(view, task) {
  const end = endIn(view.run.tasks.columns, task);
  return end === Infinity ? view.path.end_us : end;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
export function drawRows(context, view) {
  const { layout, raster, palette } = view;
  const headHeight = headerHeight(view);
  clearLabels();
  raster.begin(view.width, view.height);
  drawGrid(view, raster, view.height);
  drawRestartLines(view);
  const firstRow = rowAt(layout, view.top);
  let row = firstRow;
  for (; row < layout.rows.length && layout.rowTop[row] < view.top + view.height; row++) {
    drawRow(view, layout.rows[row], headHeight - view.top);
  }
  context.fillStyle = palette.background;
  context.fillRect(0, 0, view.gutter + view.width, view.height);
  raster.drawTo(context, view.gutter);
  drawLabels(context, view);
  drawSelection(context, view);
  for (let at = firstRow; at < row; at++) drawRowName(context, view, layout.rows[at], at, headHeight - view.top);
  drawHeader(context, view, headHeight);
}

/**
 * @param {View} view
 * @param {import("./layout.js").Row} row
 * @param {number} offset
 */
function drawRow(view, row, offset) {
  const { layout } = view;
  if (!row.open) {
    drawStrip(view, row, Math.round(layout.laneTop[row.firstLane] + offset));
    return;
  }
  const afterLane = row.firstLane + row.laneCount;
  const firstLane = Math.max(row.firstLane, upperBound(layout.laneTop, row.firstLane, afterLane, view.top) - 1);
  for (let lane = firstLane; lane < afterLane && layout.laneTop[lane] < view.top + view.height; lane++) {
    if (layout.laneHeight[lane] > 0) drawLane(view, lane, Math.round(layout.laneTop[lane] + offset));
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 * @param {import("./layout.js").Row} row
 * @param {number} at
 * @param {number} offset
 */
function drawRowName(context, view, row, at, offset) {
  const { palette, gutter, layout } = view;
  const top = Math.round(layout.rowTop[at] + offset);
  const bottom = Math.round(layout.rowTop[at + 1] + offset);
  context.fillStyle = palette.background;
  context.fillRect(0, top, gutter, bottom - top);
  context.fillStyle = palette.line;
  context.fillRect(0, bottom - 1, gutter + view.width, 1);
  context.font = FONT;
  context.textBaseline = "middle";
  const y = Math.min(Math.max(top, headerHeight(view)) + ROW_PADDING + BAR_HEIGHT / 2, bottom - BAR_HEIGHT / 2) + 0.5;
  context.fillStyle = palette.dim;
  context.fillText(row.open ? "▾" : "▸", 4, y);
  const count = row.taskCount > 0 ? formatCount(row.taskCount) : "";
  const countWidth = widthOf(context, count);
  context.fillText(count, gutter - 8 - countWidth, y);
  let right = gutter - 16 - countWidth;
  if (row.failedCount > 0) {
    const failed = `${formatCount(row.failedCount)} ✕`;
    const failedWidth = widthOf(context, failed);
    context.fillStyle = palette.bad;
    context.fillText(failed, right - failedWidth, y);
    right -= failedWidth + 8;
  }
  context.fillStyle = row.seenCount > 0 ? palette.text : palette.dim;
  drawText(context, shortText(row.key), 18, y, right - 18);
}

/**
 * The task, tool or process that is selected, and the task that the keyboard is at.
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
function drawSelection(context, view) {
  if (view.selected) {
    const box = boxOf(view, view.selected.table, view.selected.row);
    if (box) {
      context.lineWidth = 2;
      context.strokeStyle = view.palette.accent;
      context.strokeRect(view.gutter + box.x0 - 1, box.y0 - 1, box.x1 - box.x0 + 2, box.y1 - box.y0 + 2);
    }
  }
  const box = view.cursor >= 0 ? boxOf(view, "tasks", view.cursor) : null;
  if (!box) return;
  context.lineWidth = 1;
  context.setLineDash([3, 2]);
  context.strokeStyle = view.palette.text;
  context.strokeRect(view.gutter + box.x0 - 2.5, box.y0 - 2.5, box.x1 - box.x0 + 5, box.y1 - box.y0 + 5);
  context.setLineDash([]);
}

/**
 * Where something is on the canvas of the rows, right of the gutter; null if it is hidden.
 * @param {View} view
 * @param {"tasks" | "tools" | "processes"} table
 * @param {number} row
 */
export function boxOf(view, table, row) {
  const { run, layout, nest } = view;
  const tool = table === "processes" ? run.processes.columns.tool[row] : row;
  const task = table === "tasks" ? row : run.tools.columns.task[tool];
  const lane = layout.laneOf[task];
  if (lane < 0) return null;
  const open = layout.rows[layout.rowOf[lane]].open;
  const nested = table !== "tasks" && open && layout.laneBands[lane] > 0 && nest !== null;
  const columns = nested ? run[table].columns : run.tasks.columns;
  const at = nested ? row : task;
  const x0 = Math.max((columns.begin_us[at] - view.from_us) * view.scale, -4);
  const x1 = Math.min((Math.min(endIn(columns, at), view.path.end_us) - view.from_us) * view.scale, view.width + 4);
  if (x1 < 0 || x0 > view.width) return null;
  let y0 = Math.round(layout.laneTop[lane] + headerHeight(view) - view.top);
  let height = open ? BAR_HEIGHT : STRIP_HEIGHT;
  if (nested && nest) {
    const ownBand = table === "processes" && nest.processBand[row] !== NO_BAND;
    y0 += BAR_HEIGHT + 1 + (ownBand ? nest.processBand[row] : nest.toolBand[tool]) * BAND_HEIGHT;
    height = BAND_HEIGHT - 1;
  }
  return { x0: Math.floor(x0), x1: Math.max(Math.ceil(x1), Math.floor(x0) + 2), y0, y1: y0 + height };
}
