// What the run used over time, on the axis of the rows: processors, memory, storage, network, waiting.

import { formatBytes, formatCores, formatCount, isKnown } from "../figures.js";
import { drawGrid } from "./header.js";
import { SMALL_FONT } from "./text.js";

export const TRACK_HEIGHT = 48;
const PADDING = 4;
/** A limit that is so many times the highest value is not drawn: it would flatten the values. */
const LIMIT_SHOWN = 4;
/** What is asked for is cut off there: so many times the highest value or limit. */
const ASKED_SHOWN = 1.6;

/**
 * @typedef {Object} Curve
 * @property {string} name
 * @property {Float64Array} values of each part of the run's time
 * @property {number} most
 */

/**
 * @typedef {Object} Track
 * @property {string} title
 * @property {string} definition
 * @property {Curve[]} curves one, or one that is drawn upwards and one downwards
 * @property {{name: string, value: number}[]} limits
 * @property {Curve | null} asked what the tasks that run asked for
 * @property {(value: number) => string} format
 */

/**
 * @param {string} name
 * @param {Float64Array} values
 * @returns {Curve}
 */
function curve(name, values) {
  let most = NaN;
  for (const value of values) if (!(value <= most) && !Number.isNaN(value)) most = value;
  return { name, values, most };
}

/** @param {number} value */
const formatNumber = (value) => (Number.isInteger(value) ? formatCount(value) : formatCores(value));

/** @type {(values: number[]) => number} */
const sum = (values) => values.reduce((all, value) => all + value, 0);

/**
 * The threads that the tasks which run have asked for, on average in each part of time.
 * @param {import("../data.js").Run} run
 * @param {number} step
 */
function askedThreads(run, step) {
  const { begin_us, wall_us, requested_thread_count } = run.tasks.columns;
  const asked = new Float64Array(run.series.count);
  const change = new Float64Array(run.series.count + 1);
  for (let task = 0; task < run.tasks.count; task++) {
    const threads = requested_thread_count[task];
    if (Number.isNaN(threads)) continue;
    const from = Math.min(begin_us[task] / step, asked.length);
    const to = Math.min(from + (wall_us[task] || 0) / step, asked.length);
    const first = Math.min(Math.floor(from), asked.length - 1);
    const last = Math.min(Math.floor(to), asked.length - 1);
    if (first === last) asked[first] += threads * (to - from);
    else {
      asked[first] += threads * (first + 1 - from);
      asked[last] += threads * (to - last);
      change[first + 1] += threads;
      change[last] -= threads;
    }
  }
  for (let at = 0, running = 0; at < asked.length; at++) {
    running += change[at];
    asked[at] += running;
  }
  const result = curve("asked for", asked);
  return result.most > 0 ? result : null;
}

/**
 * @param {import("../data.js").Run} run
 * @returns {Track[]}
 */
export function createTracks(run) {
  const { columns } = run.series;
  const step = run.facts.series?.step_us ?? 1;
  const facts = run.facts;
  /** @type {(column: Float64Array, unit: number) => Float64Array} */
  const perSecond = (column, unit) => column.map((value) => (value / step) * unit);
  const rate = (/** @type {number} */ value) => `${formatBytes(value)}/s`;
  const { core_limit_milli: allowed, host_core_milli: ofHosts, memory_limit_bytes: memoryLimit } = facts.run;
  const hostMemory = (facts.hosts ?? []).map((/** @type {any} */ host) => host.memory_limit_bytes ?? host.memory_bytes ?? NaN);
  /** @type {(name: string, value: number) => {name: string, value: number}[]} */
  const limit = (name, value) => (value > 0 ? [{ name, value }] : []);
  return [
    {
      title: "processors",
      definition: "Processors used on average in each part of the run's time. Lines: what the run was allowed, what its hosts have, and the threads that running tasks asked for.",
      curves: [curve("used", perSecond(columns.cpu_us, 1))],
      limits: [...limit("allowed", allowed / 1000), ...(ofHosts > allowed ? limit("of the hosts", ofHosts / 1000) : [])],
      asked: askedThreads(run, step),
      format: formatNumber,
    },
    {
      title: "memory",
      definition: "The most anonymous and shared memory that all processes had at one time, as process scans found it; one that no scan has seen counts with its peak memory, but all with no more than the run's memory at one time. Lines: the run's limit, and the memory of its hosts.",
      curves: [curve("used", columns.memory_bytes)],
      limits: [...limit("limit", memoryLimit), ...limit("of the hosts", sum(hostMemory))],
      asked: null,
      format: formatBytes,
    },
    {
      title: "storage",
      definition: "Read from storage (upwards) and written to it (downwards).",
      curves: [curve("read", perSecond(columns.read_bytes, 1e6)), curve("written", perSecond(columns.write_bytes, 1e6))],
      limits: [],
      asked: null,
      format: rate,
    },
    {
      title: "network",
      definition: "Received (upwards) and sent (downwards) by TCP and UDP.",
      curves: [curve("received", perSecond(columns.received_bytes, 1e6)), curve("sent", perSecond(columns.sent_bytes, 1e6))],
      limits: [],
      asked: null,
      format: rate,
    },
    ...(isKnown(facts.run.gpu_busy_ns) ? [{
      title: "GPUs",
      definition: "GPUs that worked for it, on average, as a sampler reported them.",
      curves: [curve("used", perSecond(columns.gpu_us, 1))],
      limits: [],
      asked: null,
      format: formatNumber,
    }] : []),
    ...(isKnown(facts.run.gpu_peak_bytes) ? [{
      title: "GPU memory",
      definition: "The most memory that all processes had on GPUs at one time, as a sampler reported it.",
      curves: [curve("used", columns.gpu_memory_bytes)],
      limits: [],
      asked: null,
      format: formatBytes,
    }] : []),
    {
      title: "waiting",
      definition: "Threads that waited for a processor, on average (upwards), and threads in uninterruptible sleep: as a rule they wait for storage or a network file system (downwards).",
      curves: [curve("for processors", perSecond(columns.wait_us, 1)), curve("blocked", perSecond(columns.blocked_us, 1))],
      limits: [],
      asked: null,
      format: formatNumber,
    },
  ];
}

/**
 * The value of a curve that the top of its track stands for.
 * @param {Track} track
 * @param {Curve} shown
 */
function scaleOf(track, shown) {
  let most = shown.most || 0;
  for (const { value } of track.limits) if (value <= LIMIT_SHOWN * (shown.most || 0)) most = Math.max(most, value);
  return Math.max(most, Math.min(track.asked?.most ?? 0, ASKED_SHOWN * most));
}

/**
 * A curve, with the least and the most in each pixel: no peak vanishes.
 * @param {import("./raster.js").Raster} raster
 * @param {Float64Array} values
 * @param {number} width
 * @param {number} from index of the first pixel's begin; may be a fraction
 * @param {number} perPixel
 * @param {number} base
 * @param {number} unit pixels of a value, negative: downwards
 * @param {number} colour
 * @param {number} lightColour
 */
function drawCurve(raster, values, width, from, perPixel, base, unit, colour, lightColour) {
  for (let x = 0; x < width; x++) {
    const first = Math.max(Math.floor(from + x * perPixel), 0);
    const last = Math.min(Math.ceil(from + (x + 1) * perPixel), values.length);
    let least = Infinity;
    let most = -Infinity;
    for (let at = first; at < last; at++) {
      const value = values[at];
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (!(most > 0)) continue;
    const high = Math.max(Math.round(most * Math.abs(unit)), 1);
    const low = Math.round(least * Math.abs(unit));
    if (unit > 0) {
      raster.fill(x, base - high, x + 1, base - low, lightColour);
      raster.fill(x, base - low, x + 1, base, colour);
    } else {
      raster.fill(x, base + low, x + 1, base + high, lightColour);
      raster.fill(x, base, x + 1, base + low, colour);
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./view.js").View} view
 * @param {import("./raster.js").Raster} raster
 * @param {Track[]} tracks
 */
export function drawTracks(context, view, raster, tracks) {
  const { palette, gutter, width } = view;
  const step = view.run.facts.series?.step_us ?? 1;
  const perPixel = 1 / (view.scale * step);
  const height = tracks.length * TRACK_HEIGHT;
  raster.begin(width, height);
  drawGrid(view, raster, height);
  tracks.forEach((track, at) => {
    const top = at * TRACK_HEIGHT + PADDING;
    const bottom = (at + 1) * TRACK_HEIGHT - 1;
    const mirrored = track.curves.length === 2;
    const base = mirrored ? Math.round((top + bottom) / 2) : bottom;
    track.curves.forEach((shown, index) => {
      const scale = scaleOf(track, shown);
      const unit = ((base - top - (mirrored ? 1 : 0)) / (scale || 1)) * (index ? -1 : 1);
      const colours = index ? palette.secondPixels : palette.usedPixels;
      drawCurve(raster, shown.values, width, view.from_us / step, perPixel, base, unit, colours[0], colours[1]);
    });
    raster.fill(0, base, width, base + 1, palette.linePixel);
  });
  context.fillStyle = palette.background;
  context.fillRect(0, 0, gutter + width, height);
  raster.drawTo(context, gutter);
  tracks.forEach((track, at) => drawLimits(context, view, track, at * TRACK_HEIGHT));
}

/**
 * Lines for the limits of a track, and what its tasks asked for.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./view.js").View} view
 * @param {Track} track
 * @param {number} top
 */
function drawLimits(context, view, track, top) {
  const { gutter, width, palette } = view;
  const scale = scaleOf(track, track.curves[0]);
  const bottom = top + TRACK_HEIGHT - 1;
  const unit = (TRACK_HEIGHT - 1 - PADDING) / (scale || 1);
  context.fillStyle = palette.line;
  context.fillRect(0, bottom, gutter + width, 1);
  context.lineWidth = 1;
  context.font = SMALL_FONT;
  context.textBaseline = "top";
  if (track.asked) drawStairs(context, view, track.asked.values, bottom, unit, scale);
  let right = gutter + width - 4;
  for (const { name, value } of track.limits) {
    if (value > scale) continue;
    const y = Math.round(bottom - value * unit) + 0.5;
    context.strokeStyle = palette.dim;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(gutter, y);
    context.lineTo(gutter + width, y);
    context.stroke();
    context.setLineDash([]);
    const text = `${name} ${track.format(value)}`;
    const textWidth = context.measureText(text).width;
    const textTop = Math.min(y + 2.5, bottom - 12);
    right -= textWidth;
    context.fillStyle = palette.background;
    context.fillRect(right - 3, textTop - 1, textWidth + 6, 12);
    context.fillStyle = palette.dim;
    context.fillText(text, right, textTop);
    right -= 12;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./view.js").View} view
 * @param {Float64Array} values
 * @param {number} bottom
 * @param {number} unit
 * @param {number} most
 */
function drawStairs(context, view, values, bottom, unit, most) {
  const step = view.run.facts.series?.step_us ?? 1;
  context.strokeStyle = view.palette.text;
  context.beginPath();
  for (let x = 0; x < view.width; x++) {
    const at = Math.floor((view.from_us + x / view.scale) / step);
    context.lineTo(view.gutter + x, Math.round(bottom - Math.min(values[at] || 0, most) * unit) + 0.5);
  }
  context.stroke();
}

/**
 * What a track says beside its name: its values at a time, or the highest ones.
 * @param {Track} track
 * @param {number} at the part of the run's time; NaN: none
 */
export function trackText(track, at) {
  const curves = track.asked ? [...track.curves, track.asked] : track.curves;
  return curves
    .map(({ name, values, most }) => {
      const value = Number.isNaN(at) ? most : values[at];
      return `${name} ${Number.isNaN(value) || value === undefined ? "unknown" : track.format(value)}`;
    })
    .join("\n");
}
