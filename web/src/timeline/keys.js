// The keyboard: W and S zoom, A and D pan, 0 shows all; arrows move between tasks.

import { upperBound } from "./layout.js";

/** In a second by so much: a factor's logarithm, and a share of what is seen. */
const ZOOM_SPEED = 2.4;
const PAN_SPEED = 1.1;
/** What a short press does at least. */
const FIRST_SECONDS = 0.06;
const LONGEST_FRAME_SECONDS = 0.1;

/**
 * @typedef {Object} KeyActions
 * @property {() => import("./view.js").View} getView
 * @property {(factor: number) => void} zoom at the pointer
 * @property {(pixels: number) => void} panBy
 * @property {() => void} showAll
 * @property {(task: number) => void} moveTo
 * @property {() => void} open the details of the task that the keyboard is at
 * @property {() => boolean} close the details; false if there are none
 * @property {(open: boolean) => void} openRow of the task that the keyboard is at
 */

/** @param {EventTarget | null} target */
const isTyped = (target) => target instanceof Element && target.closest("input, select, textarea, [contenteditable]") !== null;

/**
 * @param {HTMLElement} area the rows
 * @param {KeyActions} actions
 */
export function listenKeys(area, actions) {
  /** @type {Set<string>} */
  const held = new Set();
  let last = 0;

  /** @param {number} seconds */
  const move = (seconds) => {
    const { width } = actions.getView();
    const zoom = Number(held.has("s")) - Number(held.has("w"));
    const pan = Number(held.has("d")) - Number(held.has("a"));
    if (zoom) actions.zoom(Math.exp(zoom * seconds * ZOOM_SPEED));
    if (pan) actions.panBy(pan * seconds * PAN_SPEED * width);
  };
  /** @param {number} now */
  const frame = (now) => {
    if (held.size === 0) return;
    move(Math.min((now - last) / 1000, LONGEST_FRAME_SECONDS));
    last = now;
    requestAnimationFrame(frame);
  };

  document.addEventListener("keydown", (event) => {
    const inside = area.contains(/** @type {Node} */ (event.target));
    if (event.key === "Escape" && !isTyped(event.target)) {
      if (actions.close()) event.preventDefault();
      return;
    }
    if (isTyped(event.target) || !(inside || event.target === document.body)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key.length === 1 && "wasd".includes(key)) {
      if (held.size === 0) {
        last = performance.now();
        requestAnimationFrame(frame);
      }
      if (!held.has(key)) {
        held.add(key);
        move(FIRST_SECONDS);
      }
    } else if (key === "0") {
      actions.showAll();
    } else if (!inside || !moveByArrow(event.key, actions)) {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
  addEventListener("blur", () => held.clear());
}

/**
 * @param {string} key
 * @param {KeyActions} actions
 * @returns {boolean} whether it is one of these keys
 */
function moveByArrow(key, actions) {
  const view = actions.getView();
  switch (key) {
    case "ArrowLeft":
      actions.moveTo(besideTask(view, -1));
      return true;
    case "ArrowRight":
      actions.moveTo(besideTask(view, 1));
      return true;
    case "ArrowUp":
      actions.moveTo(taskInNextLane(view, -1));
      return true;
    case "ArrowDown":
      actions.moveTo(taskInNextLane(view, 1));
      return true;
    case "Enter":
      actions.open();
      return true;
    case "+":
    case "-":
      actions.openRow(key === "+");
      return true;
    default:
      return false;
  }
}

/**
 * The task that the keyboard begins at: the selected one, else the first one that is seen.
 * @param {import("./view.js").View} view
 */
function firstTask(view) {
  const { layout } = view;
  const task = view.selected?.table === "tasks" ? view.selected.row : -1;
  if (task >= 0 && layout.laneOf[task] >= 0) return task;
  for (let lane = 0; lane < layout.rowOf.length; lane++) {
    const at = upperBound(layout.ends, layout.laneFirst[lane], layout.laneFirst[lane + 1], view.from_us);
    if (at < layout.laneFirst[lane + 1] && layout.begins[at] < view.to_us) return layout.order[at];
  }
  return layout.order.length > 0 ? layout.order[0] : -1;
}

/** @param {import("./view.js").View} view */
const hasCursor = (view) => view.cursor >= 0 && view.layout.laneOf[view.cursor] >= 0;

/**
 * The next or previous task of its lane.
 * @param {import("./view.js").View} view
 * @param {number} direction
 */
function besideTask(view, direction) {
  if (!hasCursor(view)) return firstTask(view);
  const { layout } = view;
  const lane = layout.laneOf[view.cursor];
  const at = layout.indexOf[view.cursor] + direction;
  return at >= layout.laneFirst[lane] && at < layout.laneFirst[lane + 1] ? layout.order[at] : view.cursor;
}

/**
 * The task of the next or previous lane that is nearest in time.
 * @param {import("./view.js").View} view
 * @param {number} direction
 */
function taskInNextLane(view, direction) {
  if (!hasCursor(view)) return firstTask(view);
  const { layout } = view;
  const lane = layout.laneOf[view.cursor] + direction;
  if (lane < 0 || lane >= layout.rowOf.length) return view.cursor;
  const at = upperBound(layout.ends, layout.laneFirst[lane], layout.laneFirst[lane + 1], view.run.tasks.columns.begin_us[view.cursor]);
  return layout.order[Math.min(at, layout.laneFirst[lane + 1] - 1)];
}
