// The critical path: what owned each moment of the run, as `tracer tune` found it.

import { runEnd } from "../state.js";

/**
 * @typedef {Object} Path
 * @property {number} count
 * @property {Float64Array} begins
 * @property {Float64Array} ends
 * @property {string[]} owners task, gap, queue or driver
 * @property {number} end_us of the run
 */

/**
 * @param {import("../data.js").Run} run
 * @returns {Path}
 */
export function createPath(run) {
  const parts = run.facts.tune?.critical_path ?? [];
  const began = run.facts.run?.begin_boot_ns ?? 0;
  /** @type {(ns: number) => number} */
  const toRun = (ns) => (ns - began) / 1000;
  return {
    count: parts.length,
    begins: Float64Array.from(parts, (/** @type {any} */ part) => toRun(part.begin_boot_ns)),
    ends: Float64Array.from(parts, (/** @type {any} */ part) => toRun(part.end_boot_ns)),
    owners: parts.map((/** @type {any} */ part) => String(part.owner)),
    end_us: runEnd(run),
  };
}

/**
 * What owned a moment; "" if that is unknown.
 * @param {Path} path
 * @param {number} us
 */
export function ownerAt(path, us) {
  for (let at = 0; at < path.count; at++) if (path.begins[at] <= us && us < path.ends[at]) return path.owners[at];
  return "";
}
