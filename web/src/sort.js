// Sorts the rows of a table of any size, in slices that leave the browser time to draw.

import { pause } from "./dom.js";

const SLICE_MS = 12;

/** "sample 10" comes after "sample 9". */
const collator = new Intl.Collator("en", { numeric: true });

/** Gives the browser time, when a slice is over. */
function slicer() {
  let begin = performance.now();
  return async () => {
    if (performance.now() - begin < SLICE_MS) return;
    await pause();
    begin = performance.now();
  };
}

/**
 * A stable merge sort of indices.
 * @param {number} count
 * @param {(a: number, b: number) => number} compare
 * @param {() => Promise<void>} rest
 */
async function sortIndices(count, compare, rest) {
  let from = new Uint32Array(count);
  let to = new Uint32Array(count);
  for (let i = 0; i < count; i++) from[i] = i;
  for (let width = 1; width < count; width *= 2) {
    for (let low = 0; low < count; low += 2 * width) {
      const middle = Math.min(low + width, count);
      const high = Math.min(low + 2 * width, count);
      let left = low;
      let right = middle;
      for (let at = low; at < high; at++) {
        to[at] = left < middle && (right >= high || compare(from[left], from[right]) <= 0) ? from[left++] : from[right++];
        if (at % 4096 === 4095) await rest();
      }
      if (low % 4096 === 0) await rest();
    }
    [from, to] = [to, from];
  }
  return from;
}

/**
 * Numbers that are ordered as the texts are; NaN for an empty text.
 * @param {number} count
 * @param {(row: number) => string} text
 * @param {() => Promise<void>} rest
 */
async function ranksOf(count, text, rest) {
  /** @type {Map<string, number>} */
  const index = new Map();
  const of = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const value = text(row);
    let known = index.get(value);
    if (known === undefined) {
      known = index.size;
      index.set(value, known);
    }
    of[row] = known;
    if (row % 4096 === 4095) await rest();
  }
  const texts = [...index.keys()];
  const order = await sortIndices(texts.length, (a, b) => collator.compare(texts[a], texts[b]), rest);
  const ranks = new Float64Array(texts.length);
  order.forEach((at, rank) => {
    ranks[at] = texts[at] === "" ? NaN : rank;
  });
  return of.map((at) => ranks[at]);
}

/**
 * The rows in order. What is unknown is last, whatever the direction.
 * @param {number} count
 * @param {(row: number) => number | string} value
 * @param {boolean} isText
 * @param {boolean} descending
 */
export async function sortRows(count, value, isText, descending) {
  const rest = slicer();
  const keys = isText ? await ranksOf(count, /** @type {(row: number) => string} */ (value), rest) : new Float64Array(count);
  if (!isText) for (let row = 0; row < count; row++) keys[row] = Number(value(row));
  const last = descending ? -Infinity : Infinity;
  for (let row = 0; row < count; row++) if (Number.isNaN(keys[row])) keys[row] = last;
  return sortIndices(count, descending ? (a, b) => keys[b] - keys[a] || 0 : (a, b) => keys[a] - keys[b] || 0, rest);
}
