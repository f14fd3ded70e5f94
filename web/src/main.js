// The page of a run as one file: its data are in it.

import { decodeBase64, unpack } from "./data.js";
import { applyStoredTheme, find, showRun } from "./page.js";

async function start() {
  applyStoredTheme();
  const data = find("#data");
  /** @type {import("./data.js").Run} */
  let run;
  try {
    run = await unpack(decodeBase64((data.textContent ?? "").trim()));
  } catch (problem) {
    find("#loading").textContent = "The data in this file are damaged, perhaps cut off: write it again with tracer report, or " +
      "open it in a current Chromium or Firefox.";
    console.error(problem);
    return;
  }
  data.remove(); /* the text would stay in memory */
  await showRun(run);
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
