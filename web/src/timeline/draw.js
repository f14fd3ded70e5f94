// Draws the rows: bars in lanes, strips of closed rows, tools and processes of tasks that are near, and the axis.

import { BAND_HEIGHT, BAR_HEIGHT, rowAt, ROW_PADDING, STRIP_HEIGHT, upperBound } from "./layout.js";
import { NO_BAND, MOST_BANDS } from "./nest.js";
import { processStyle, RANK_COUNT, RANK_FAILED, RANK_RETRIED, RANKS, STYLE_COUNT, toolStyle } from "./palette.js";
import { tickStep, tickText } from "./axis.js";
import { brief, formatCount } from "../figures.js";

export const AXIS_HEIGHT = 22;
export const PATH_HEIGHT = 14;

const FAILURE_WIDTH = 2;
const LABEL_LEAST = 28;
const LABEL_LENGTH = 80;
const MOST_RESTART_LINES = 24;
const TICK_LEAST = 90;
const FONT = "11px system-ui, sans-serif";
const SMALL_FONT = "10px system-ui, sans-serif";

/**
 * What is seen; one object for as long as the page is open.
 * @typedef {Object} View
 * @property {import("../data.js").Run} run
 * @property {import("./layout.js").Layout} layout
 * @property {import("./nest.js").Nest | null} nest
 * @property {import("./palette.js").Palette} palette
 * @property {import("./raster.js").Raster} raster
 * @property {Uint8Array} styles of each task
 * @property {Uint8Array} highlighted of each task
 * @property {string} group
 * @property {number} gutter width of the names at the left
 * @property {number} width of what is right of these
 * @property {number} height of the rows' canvas
 * @property {number} top of what is seen of the rows
 * @property {number} from_us
 * @property {number} to_us
 * @property {number} scale pixels of a microsecond
 * @property {import("./path.js").Path} path
 * @property {Readonly<import("../state.js").Selected> | null} selected
 * @property {number} cursor the task that the keyboard is at; -1: none
 * @property {number[]} restarts when tasks began that tried the work of another one again
 * @property {number[]} attempts when the attempts at the work of the run began, if there are several on the page
 */

/* Labels of bars, collected while bars are drawn; as many as can be on a screen. */
const MOST_LABELS = 4096;
const labels = {
  count: 0,
  text: /** @type {string[]} */ (new Array(MOST_LABELS)),
  x: new Int32Array(MOST_LABELS),
  y: new Int32Array(MOST_LABELS),
  width: new Int32Array(MOST_LABELS),
  style: new Uint8Array(MOST_LABELS),
  small: new Uint8Array(MOST_LABELS),
};

/**
 * @param {View} view
 * @param {string} text
 * @param {number} x0
 * @param {number} x1
 * @param {number} y
 * @param {number} style
 * @param {number} small 0 or 1
 */
function addLabel(view, text, x0, x1, y, style, small) {
  const left = Math.max(x0, 0);
  const width = Math.min(x1, view.width) - left;
  if (width < LABEL_LEAST || labels.count === MOST_LABELS || text === "") return;
  labels.text[labels.count] = shortText(text);
  labels.x[labels.count] = left + 4;
  labels.y[labels.count] = y;
  labels.width[labels.count] = width - 7;
  labels.style[labels.count] = style;
  labels.small[labels.count] = small;
  labels.count++;
}

const MOST_TEXTS = 20000;
/** @type {Map<string, string>} */
const shortTexts = new Map();

/**
 * A text of a bar; once for each, as it is drawn in many frames.
 * @param {string} text
 */
function shortText(text) {
  let short = shortTexts.get(text);
  if (short === undefined) {
    short = brief(text, LABEL_LENGTH);
    if (shortTexts.size < MOST_TEXTS) shortTexts.set(text, short);
  }
  return short;
}

/** @type {Map<string, number>} */
const widths = new Map();

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 */
function widthOf(context, text) {
  const key = context.font + text;
  let width = widths.get(key);
  if (width === undefined) {
    width = context.measureText(text).width;
    if (widths.size < MOST_TEXTS) widths.set(key, width);
  }
  return width;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
export function drawText(context, text, x, y, width) {
  const whole = widthOf(context, text);
  if (whole <= width) {
    context.fillText(text, x, y);
    return;
  }
  const fits = Math.floor((text.length * (width - 8)) / whole);
  if (fits > 1) context.fillText(`${text.slice(0, fits)}…`, x, y);
}

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
function drawStrip(view, row, y) {
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

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
export function drawRows(context, view) {
  const { layout, raster, palette } = view;
  const headHeight = headerHeight(view);
  labels.count = 0;
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

/** @param {View} view */
export const headerHeight = (view) => AXIS_HEIGHT + (view.path.count > 0 ? PATH_HEIGHT : 0);

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
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
function drawLabels(context, view) {
  context.textBaseline = "middle";
  for (let small = 0; small < 2; small++) {
    context.font = small ? SMALL_FONT : FONT;
    for (let at = 0; at < labels.count; at++) {
      if (labels.small[at] !== small) continue;
      context.fillStyle = view.palette.labels[labels.style[at]];
      drawText(context, labels.text[at], view.gutter + labels.x[at], labels.y[at] + 0.5, labels.width[at]);
    }
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
  context.fillStyle = palette.text;
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

/**
 * The axis, the critical path, and lines where attempts began.
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 * @param {number} height
 */
function drawHeader(context, view, height) {
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
function drawRestartLines({ restarts, attempts, from_us, scale, raster, height, palette }) {
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
