// The page of a run as it is served: its data are asked for, again and again while it runs.

import { takeToken } from "./api.js";
import { unpack } from "./data.js";
import { element } from "./dom.js";
import { visible } from "./figures.js";
import { applyStoredTheme, find, showRun } from "./page.js";
import { mountConnection, watch } from "./watch.js";

/** @typedef {import("./data.js").Run} Run */

const EVERY_MS = 750;
/** What ended last is stored a little later than the run's end. */
const LAST_MS = 5000;
/** Of a run with more processes, findings take too long to be asked for with all the rest. */
const FINDINGS_PROCESSES_MOST = 10000;
const FINDINGS_EVERY_MS = 10000;

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
  const run_path = `/api/v1/runs/${location.pathname.split("/").pop()}`;
  const whole_path = `${run_path}/page`;
  const short_path = `${whole_path}?no-findings=true`;
  let path = whole_path;
  /** @type {((run: Run) => Promise<void>) | null} */
  let update = null;
  /** @type {any[]} of an earlier answer */
  let findings = [];
  /** @type {import("./watch.js").Watch | null} */
  let findingsAsked = null;
  let hasEnded = false;

  /** @param {Run} run */
  const plan = ({ facts, processes }) => {
    const isRunning = facts.run.status === "running";
    const next = isRunning && processes.count > FINDINGS_PROCESSES_MOST ? short_path : whole_path;
    if (next === short_path) findingsAsked ??= watchFindings();
    if (next !== path) asked.set(path = next);
    if (hasEnded || isRunning) return;
    hasEnded = true;
    setTimeout(stop, LAST_MS);
  };
  const watchFindings = () => watch(`${run_path}/tune`, {
    read: (response) => response.json(),
    every_ms: FINDINGS_EVERY_MS,
    draw: (tune) => {
      findings = tune.findings;
    },
    refuse: () => {},
  });
  const stop = () => {
    asked.stop();
    connection.className = "dim";
    connection.title = "The run has ended: it is not asked for any more.";
    connection.textContent = "ended";
  };
  const asked = watch(path, {
    read: (response) => unpack(/** @type {ReadableStream<Uint8Array>} */ (response.body)),
    every_ms: EVERY_MS,
    draw: async (run) => {
      const { tune } = run.facts;
      if (tune.findings) ({ findings } = tune);
      else tune.findings = findings;
      if (update) await update(run);
      else update = await showRun(run);
      if (run.facts.run.status !== "running") findingsAsked?.stop();
      plan(run);
    },
    refuse: ({ message }) => {
      const place = document.querySelector("#loading") ?? find("#notice");
      place.textContent = `${visible(message)}.`;
    },
  });
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
