// Where the tools and processes of a task are below it: a band for a tool, under it bands for its processes.

import { runEnd } from "../state.js";
import { Lanes } from "./lanes.js";

/** What needs more bands shares the last one. */
export const MOST_BANDS = 14;
/** The process of a tool that has no other: its figures are the tool's. */
export const NO_BAND = 255;

const SLICE_MS = 8;

/**
 * @typedef {Object} Nest
 * @property {Uint32Array} firstTool of each task; and their number
 * @property {Uint32Array} firstProcess of each tool; and their number
 * @property {Uint8Array} toolBand
 * @property {Uint8Array} processBand
 * @property {Uint8Array} depths bands of each task
 */

/**
 * Rows that are sorted by what they belong to: where those of each owner begin.
 * @param {Float64Array} owners
 * @param {number} count of owners
 */
function firstOf(owners, count) {
  const first = new Uint32Array(count + 1);
  for (const owner of owners) first[owner + 1]++;
  for (let at = 0; at < count; at++) first[at + 1] += first[at];
  return first;
}

/**
 * Computes in slices, so that the page stays responsive.
 * @param {import("../data.js").Run} run
 * @returns {Promise<Nest>}
 */
export async function createNest(run) {
  const nest = {
    firstTool: firstOf(run.tools.columns.task, run.tasks.count),
    firstProcess: firstOf(run.processes.columns.tool, run.tools.count),
    toolBand: new Uint8Array(run.tools.count),
    processBand: new Uint8Array(run.processes.count),
    depths: new Uint8Array(run.tasks.count),
  };
  const nestTask = taskNester(run, nest);
  let began = performance.now();
  for (let task = 0; task < run.tasks.count; task++) {
    nestTask(task);
    if (performance.now() - began > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      began = performance.now();
    }
  }
  return nest;
}

/**
 * @param {import("../data.js").Run} run
 * @param {Nest} nest
 */
function taskNester(run, nest) {
  const { firstTool, firstProcess, toolBand, processBand, depths } = nest;
  const tools = run.tools.columns;
  const processes = run.processes.columns;
  const end = runEnd(run);
  const toolLanes = new Lanes();
  const processLanes = new Lanes();
  /** @type {number[]} */
  const heights = [];

  /** @param {number} tool */
  const nestProcesses = (tool) => {
    const first = firstProcess[tool];
    const after = firstProcess[tool + 1];
    if (after - first === 1) {
      processBand[first] = NO_BAND;
      return 1;
    }
    processLanes.clear();
    for (let process = first; process < after; process++) {
      const begin = processes.begin_us[process];
      const wall = processes.wall_us[process];
      processBand[process] = Math.min(processLanes.add(begin, Number.isNaN(wall) ? end : begin + wall), MOST_BANDS);
    }
    return 1 + Math.min(processLanes.count, MOST_BANDS);
  };

  return (/** @type {number} */ task) => {
    toolLanes.clear();
    heights.length = 0;
    for (let tool = firstTool[task]; tool < firstTool[task + 1]; tool++) {
      const begin = tools.begin_us[tool];
      const wall = tools.wall_us[tool];
      const lane = toolLanes.add(begin, Number.isNaN(wall) ? end : begin + wall);
      toolBand[tool] = Math.min(lane, NO_BAND - 1);
      heights[lane] = Math.max(heights[lane] ?? 0, nestProcesses(tool));
    }
    const tops = [0];
    heights.forEach((height, lane) => tops.push(tops[lane] + height));
    for (let tool = firstTool[task]; tool < firstTool[task + 1]; tool++) {
      const top = tops[toolBand[tool]];
      toolBand[tool] = Math.min(top, MOST_BANDS - 1);
      for (let process = firstProcess[tool]; process < firstProcess[tool + 1]; process++) {
        if (processBand[process] !== NO_BAND) processBand[process] = Math.min(top + 1 + processBand[process], MOST_BANDS - 1);
      }
    }
    depths[task] = Math.min(tops[heights.length], MOST_BANDS);
  };
}
