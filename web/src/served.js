// The page of a run as it is served: its data are asked for.

import { ask, takeToken } from "./api.js";
import { unpack } from "./data.js";
import { applyStoredTheme, find, showRun } from "./page.js";

async function start() {
  applyStoredTheme();
  takeToken();
  const id = location.pathname.split("/").pop();
  try {
    const { response } = await ask(`/api/v1/runs/${id}/page`, "");
    await showRun(await unpack(/** @type {ReadableStream<Uint8Array>} */ (response.body)));
  } catch (problem) {
    find("#loading").textContent = problem instanceof Error ? problem.message : String(problem);
  }
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
