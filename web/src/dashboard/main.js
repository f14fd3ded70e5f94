// The dashboard: each view has a path of its own, and is a page of its own for the browser.

import { takeToken } from "../api.js";
import { THEMES, applyTheme, readTheme, themeButtons, writeTheme } from "../theme.js";
import { mountConnection } from "../watch.js";
import { mount as mountCompare } from "./compare.js";
import { mount as mountCost } from "./cost.js";
import { mount as mountHosts } from "./hosts.js";
import { mount as mountRuns } from "./runs.js";
import { mount as mountStatus } from "./status.js";
import { mount as mountSweep } from "./sweep.js";
import { mount as mountTrends } from "./trends.js";

/** @type {[path: string, title: string, mount: (place: HTMLElement) => void][]} */
const VIEWS = [
  ["/", "Runs", mountRuns],
  ["/compare", "Compare", mountCompare],
  ["/hosts", "Hosts", mountHosts],
  ["/sweep", "Sweep", mountSweep],
  ["/cost", "Cost", mountCost],
  ["/trends", "Trends", mountTrends],
  ["/status", "Status", mountStatus],
];

/** @param {string} selector */
const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

function mountTheme() {
  const theme = readTheme() ?? THEMES[0];
  const { buttons, mark } = themeButtons((chosen) => {
    writeTheme(chosen);
    applyTheme(chosen);
    mark(chosen);
  });
  applyTheme(theme);
  mark(theme);
  find("#theme").append(...buttons);
}

function start() {
  takeToken();
  mountTheme();
  mountConnection(find("#connection"), find("#notice"));
  const [, title, mount] = VIEWS.find(([path]) => path === location.pathname) ?? VIEWS[0];
  document.title = `${title} – Tracer`;
  for (const link of document.querySelectorAll("#bar nav a")) {
    if (link.getAttribute("href") === location.pathname) link.setAttribute("aria-current", "page");
  }
  mount(find("main"));
}

start();
