// Small pictures in tables: intervals and series.

import { isKnown } from "../figures.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 */
export function svg(tag, attributes, ...children) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

const RATIO_WIDTH = 132;
const RATIO_HEIGHT = 12;
const RATIO_MOST = 4;

/**
 * A ratio and its interval, on a logarithmic axis; the numbers beside it say the same.
 * @param {Record<string, any>} step of the API
 * @param {string} kind a class
 */
export function ratioPicture({ ratio, ratio_low, ratio_high }, kind) {
  const at = (/** @type {number} */ value) => {
    const share = Math.log(Math.min(Math.max(value, 1 / RATIO_MOST), RATIO_MOST)) / Math.log(RATIO_MOST);
    return ((share + 1) / 2) * RATIO_WIDTH;
  };
  const middle = RATIO_HEIGHT / 2;
  const picture = svg("svg", { width: RATIO_WIDTH, height: RATIO_HEIGHT, class: `ratio ${kind}`, "aria-hidden": "true" },
    svg("line", { x1: RATIO_WIDTH / 2, x2: RATIO_WIDTH / 2, y1: 0, y2: RATIO_HEIGHT, class: "axis" }));
  if (!isKnown(ratio)) return picture;
  picture.append(svg("line", { x1: at(ratio_low ?? 0), x2: at(ratio_high ?? Infinity), y1: middle, y2: middle, class: "interval" }));
  picture.append(svg("circle", { cx: at(ratio), cy: middle, r: 3 }));
  return picture;
}

/**
 * A point for each run, by time; what failed is a cross.
 * @param {{x: number, y: number, isBad: boolean}[]} points
 * @param {number} width
 * @param {number} height
 */
export function seriesPicture(points, width, height) {
  const margin = 4;
  const xs = points.map(({ x }) => x);
  const most = Math.max(...points.map(({ y }) => y));
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const left = (/** @type {number} */ x) => margin + (last > first ? (x - first) / (last - first) : 0.5) * (width - 2 * margin);
  const top = (/** @type {number} */ y) => height - margin - (most > 0 ? y / most : 0) * (height - 2 * margin);
  const line = points.filter(({ isBad }) => !isBad).map(({ x, y }) => `${left(x).toFixed(1)},${top(y).toFixed(1)}`).join(" ");
  return svg("svg", { width, height, class: "series", "aria-hidden": "true" },
    svg("line", { x1: 0, x2: width, y1: height - margin, y2: height - margin, class: "axis" }),
    svg("polyline", { points: line }),
    ...points.map(({ x, y, isBad }) => svg("circle", { cx: left(x).toFixed(1), cy: top(y).toFixed(1), r: 2, class: isBad ? "failed" : "" })));
}
