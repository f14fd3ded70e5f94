// The page of a run as it is served: its data are asked for, again and again while it runs.

import { takeToken } from "./api.js";
import { unpack } from "./data.js";
import { element } from "./dom.js";
import { visible } from "./figures.js";
import { applyStoredTheme, find, showRun } from "./page.js";
import { mountConnection, watch } from "./watch.js";

const EVERY_MS = 1000;
/** What ended last is stored a little later than the run's end. */
const LAST_MS = 5000;

function mountBar() {
  const connection = element("span", { role: "status" });
  find("#bar").prepend(element("a", { class: "home", href: "/" }, "Runs"));
  find("#theme").before(connection);
  find("main").before(element("div", { id: "notice" }));
  mountConnection(connection, find("#notice"));
  return connection;
}

function start() {
  applyStoredTheme();
  takeToken();
  const connection = mountBar();
  /** @type {((run: import("./data.js").Run) => Promise<void>) | null} */
  let update = null;
  let hasEnded = false;

  const stop = () => {
    asked.stop();
    connection.className = "dim";
    connection.title = "The run has ended: it is not asked for any more.";
    connection.textContent = "ended";
  };
  const asked = watch(`/api/v1/runs/${location.pathname.split("/").pop()}/page`, {
    read: (response) => unpack(/** @type {ReadableStream<Uint8Array>} */ (response.body)),
    every_ms: EVERY_MS,
    draw: async (run) => {
      if (update) await update(run);
      else update = await showRun(run);
      if (hasEnded || run.facts.run.status === "running") return;
      hasEnded = true;
      setTimeout(stop, LAST_MS);
    },
    refuse: ({ message }) => {
      const place = document.querySelector("#loading") ?? find("#notice");
      place.textContent = `${visible(message)}.`;
    },
  });
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
