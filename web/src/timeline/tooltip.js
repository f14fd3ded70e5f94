// The box beside the pointer.

import { brief, formatCount, plural, visible } from "../figures.js";
import { element } from "../dom.js";
import { briefFigures, detailsOfTask, endingOf, kindOf, nameOf } from "./words.js";

const DISTANCE_PIXELS = 14;
const TEXT_LENGTH = 80;

/** @param {HTMLElement} parent */
export function createTooltip(parent) {
  const box = parent.appendChild(element("div", { class: "timeline-tooltip", "aria-hidden": "true" }));
  box.hidden = true;
  let shown = "";

  /**
   * @param {string} key what is shown, to build it once
   * @param {() => Node[]} build
   * @param {number} x
   * @param {number} y
   */
  const show = (key, build, x, y) => {
    if (key !== shown || box.hidden) {
      box.replaceChildren(...build());
      shown = key;
      box.hidden = false;
    }
    const flipX = x + DISTANCE_PIXELS + box.offsetWidth > parent.clientWidth;
    const left = flipX ? Math.max(x - DISTANCE_PIXELS - box.offsetWidth, 0) : x + DISTANCE_PIXELS;
    const bottom = document.documentElement.clientHeight - parent.getBoundingClientRect().top;
    const top = Math.max(Math.min(y + DISTANCE_PIXELS, bottom - box.offsetHeight - 4), 0);
    box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  };
  return {
    show,
    hide() {
      box.hidden = true;
    },
    /** What is shown has other figures now. */
    renew() {
      shown = "";
    },
  };
}

/**
 * @param {import("../data.js").Run} run
 * @param {import("../state.js").Selected} selected
 * @returns {Node[]}
 */
export function describePart(run, selected) {
  const { table, row } = selected;
  const details = table === "tasks" ? detailsOfTask(run, row) : [];
  const command = table === "tools" ? "" : run.text(run[table].columns.command[row]);
  const ending = endingOf(run, selected);
  const words = [...details, ...briefFigures(run, selected)];
  return [
    element("b", {}, brief(nameOf(run, selected), TEXT_LENGTH)),
    element("span", { class: "dim" }, ` ${kindOf(selected)}`),
    ending ? element("p", { class: /failed|killed/.test(ending) && !ending.endsWith("retried") ? "bad" : "" }, ending) : "",
    element("dl", {}, ...words.flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, brief(text, TEXT_LENGTH))])),
    command ? element("code", {}, brief(command, 3 * TEXT_LENGTH)) : "",
  ].map((part) => (typeof part === "string" ? document.createTextNode(part) : part));
}

/**
 * @param {import("./layout.js").Row} row
 * @returns {Node[]}
 */
export function describeRow(row) {
  const parts = row.taskCount > 0 ? [`${plural(row.taskCount, "task")}, at most ${formatCount(row.laneCount)} at once`] : ["what drives the run"];
  if (row.failedCount) parts.push(`${formatCount(row.failedCount)} failed`);
  if (row.retriedCount) parts.push(`${formatCount(row.retriedCount)} failed and were tried again`);
  return [
    element("b", {}, visible(row.key.slice(0, 400))),
    element("p", {}, parts.join("; ")),
    element("p", { class: "dim" }, row.open ? "Click to close" : "Click to open"),
  ];
}
