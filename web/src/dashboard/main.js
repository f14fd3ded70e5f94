// The dashboard.

import { ask, takeToken } from "../api.js";
import { element } from "../dom.js";

async function start() {
  takeToken();
  const { response } = await ask("/api/v1/runs", "");
  const { runs } = await response.json();
  document.querySelector("main")?.append(...runs.map((/** @type {any} */ run) => element("p", {}, element("a", { href: `/runs/${run.id}` }, run.name))));
}

void start();
