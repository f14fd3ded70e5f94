// The whole run: tasks that run, processors, memory; and a brush for what is seen of it.

import { pseudoTasks, severities, FAILED } from "../select.js";
import { runEnd } from "../state.js";

const PART_HEIGHT = 22;
export const MINIMAP_HEIGHT = 3 * PART_HEIGHT;
const EDGE_PIXELS = 6;
const LEAST_PIXELS = 3;

/**
 * The most tasks that run at one time, in each pixel.
 * @param {import("../data.js").Run} run
 * @param {number} width
 */
function tasksRunning(run, width) {
  const { begin_us, wall_us } = run.tasks.columns;
  const pseudo = pseudoTasks(run);
  const end = runEnd(run);
  const shown = Array.from(pseudo.keys()).filter((task) => !pseudo[task]);
  const begins = Float64Array.from(shown, (task) => begin_us[task]).sort();
  const ends = Float64Array.from(shown, (task) => (Number.isNaN(wall_us[task]) ? end : begin_us[task] + wall_us[task])).sort();
  const most = new Float64Array(width);
  let running = 0;
  for (let x = 0, begun = 0, ended = 0; x < width; x++) {
    const until = (end * (x + 1)) / width;
    most[x] = running;
    while (begun < begins.length && begins[begun] < until) {
      while (ended < ends.length && ends[ended] <= begins[begun]) {
        running--;
        ended++;
      }
      running++;
      begun++;
      most[x] = Math.max(most[x], running);
    }
    while (ended < ends.length && ends[ended] <= until) {
      running--;
      ended++;
    }
  }
  return most;
}

/**
 * The most of a series' values in each pixel.
 * @param {Float64Array} values
 * @param {number} width
 */
function mostPerPixel(values, width) {
  const most = new Float64Array(width);
  for (let x = 0; x < width; x++) {
    const last = Math.max(Math.ceil(((x + 1) * values.length) / width), 1);
    for (let at = Math.floor((x * values.length) / width); at < last; at++) if (values[at] > most[x]) most[x] = values[at];
  }
  return most;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./view.js").View} view
 * @param {import("./raster.js").Raster} raster
 * @param {import("./tracks.js").Track[]} tracks
 */
export function drawMinimap(context, view, raster, tracks) {
  const { run, width, palette, gutter } = view;
  const [processors, memory] = tracks;
  const allowed = processors.limits[0]?.value ?? 0;
  const parts = [
    { values: tasksRunning(run, width), limit: 0 },
    { values: mostPerPixel(processors.curves[0].values, width), limit: allowed },
    { values: mostPerPixel(memory.curves[0].values, width), limit: 0 },
  ];
  raster.begin(width, MINIMAP_HEIGHT);
  parts.forEach(({ values, limit }, index) => {
    const bottom = (index + 1) * PART_HEIGHT - 1;
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const scale = (PART_HEIGHT - 4) / Math.max(most, limit <= 4 * most ? limit : 0, 1e-9);
    for (let x = 0; x < width; x++) raster.fill(x, bottom - Math.ceil(values[x] * scale), x + 1, bottom, palette.usedPixels[1]);
    if (limit > 0 && limit <= 4 * most) {
      const y = bottom - Math.round(limit * scale);
      for (let x = 0; x < width; x += 6) raster.fill(x, y, x + 3, y + 1, palette.dimPixel);
    }
    raster.fill(0, bottom, width, bottom + 1, palette.linePixel);
  });
  drawFailures(view, raster);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, gutter + width, MINIMAP_HEIGHT);
  raster.drawTo(context, gutter);
}

/**
 * @param {import("./view.js").View} view
 * @param {import("./raster.js").Raster} raster
 */
function drawFailures({ run, width, palette }, raster) {
  const { begin_us, wall_us } = run.tasks.columns;
  const pseudo = pseudoTasks(run);
  severities(run).forEach((severity, task) => {
    if (severity !== FAILED || pseudo[task]) return;
    const x = Math.min(Math.floor(((begin_us[task] + (wall_us[task] || 0)) * width) / runEnd(run)), width - 2);
    raster.fill(x, 0, x + 2, PART_HEIGHT - 1, palette.badPixel);
  });
}

/**
 * The brush: what is seen; it can be moved, its edges too, and another range can be drawn beside it.
 * @param {HTMLElement} element over the minimap
 * @param {() => import("./view.js").View} getView
 * @param {(from: number, to: number) => void} setRange
 */
export function createBrush(element, getView, setRange) {
  const before = element.appendChild(document.createElement("div"));
  const seen = element.appendChild(document.createElement("div"));
  const after = element.appendChild(document.createElement("div"));
  before.className = after.className = "timeline-unseen";
  seen.className = "timeline-seen";

  /** @type {{how: "move" | "from" | "to" | "new", x: number, from: number, to: number} | null} */
  let drag = null;
  /** @type {(event: PointerEvent) => number} */
  const xOf = (event) => event.clientX - element.getBoundingClientRect().left;

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { from_us, to_us, width, run } = getView();
    const scale = width / runEnd(run);
    const x = xOf(event);
    const whole = (to_us - from_us) * scale > width - 1;
    /** @type {"move" | "from" | "to" | "new"} */
    let how = x > from_us * scale && x < to_us * scale ? "move" : "new";
    if (Math.abs(x - to_us * scale) <= EDGE_PIXELS) how = "to";
    if (Math.abs(x - from_us * scale) <= EDGE_PIXELS) how = "from";
    if (whole && how === "move") how = "new";
    drag = { how, x, from: from_us, to: to_us };
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const { width, run } = getView();
    const unit = runEnd(run) / width;
    const x = xOf(event);
    const moved = (x - drag.x) * unit;
    if (drag.how === "move") setRange(drag.from + moved, drag.to + moved);
    else if (drag.how === "from") setRange(Math.min(drag.from + moved, drag.to - unit), drag.to);
    else if (drag.how === "to") setRange(drag.from, Math.max(drag.to + moved, drag.from + unit));
    else if (Math.abs(x - drag.x) >= LEAST_PIXELS) setRange(Math.min(x, drag.x) * unit, Math.max(x, drag.x) * unit);
  });
  element.addEventListener("pointerup", () => (drag = null));
  element.addEventListener("pointercancel", () => (drag = null));

  return () => {
    const { from_us, to_us, width, run } = getView();
    const scale = width / runEnd(run);
    const left = from_us * scale;
    const right = to_us * scale;
    before.style.width = `${left}px`;
    seen.style.left = `${left}px`;
    seen.style.width = `${Math.max(right - left, LEAST_PIXELS)}px`;
    after.style.left = `${right}px`;
    after.style.width = `${Math.max(width - right, 0)}px`;
  };
}
