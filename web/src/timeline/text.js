// Texts on canvases: cut to the place that they have, and the labels of bars.

import { brief } from "../figures.js";

/** @typedef {import("./view.js").View} View */

export const FONT = "11px system-ui, sans-serif";
export const SMALL_FONT = "10px system-ui, sans-serif";
/** Narrower bars have no label. */
export const LABEL_LEAST = 28;
const LABEL_LENGTH = 80;

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
export function addLabel(view, text, x0, x1, y, style, small) {
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
export function shortText(text) {
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
export function widthOf(context, text) {
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

export function clearLabels() {
  labels.count = 0;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {View} view
 */
export function drawLabels(context, view) {
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
