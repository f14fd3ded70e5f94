// Asks for something again and again while the page is seen, and says whether the server answers. An answer that has not
// changed costs a status of 304.

import { Refusal, ask, takeToken } from "./api.js";
import { element } from "./dom.js";
import { brief, formatTimeOfDay, visible } from "./figures.js";

/** @type {{since_ms: number, message: string, needsToken: boolean}} NaN: it answers */
const connection = { since_ms: NaN, message: "", needsToken: false };
/** @type {Set<() => void>} */
const listeners = new Set();

const ANSWER_LIMIT_MS = 60000;
const MESSAGE_LENGTH = 60;
const RETRY_MOST_MS = 30000;
/** After an answer that took long to make, the server rests so long, as a share of that time. */
const REST_SHARE = 0.1;

function tell() {
  for (const listener of listeners) listener();
}

function succeed() {
  if (Number.isNaN(connection.since_ms)) return;
  Object.assign(connection, { since_ms: NaN, message: "", needsToken: false });
  tell();
}

/** @param {unknown} problem */
function fail(problem) {
  if (Number.isNaN(connection.since_ms)) connection.since_ms = Date.now();
  connection.needsToken = problem instanceof Refusal && problem.status === 401;
  connection.message = problem instanceof Refusal ? problem.message : "";
  tell();
}

/**
 * Says in `place` whether the server answers; and in `notice`, how to get a token if one is needed.
 * @param {HTMLElement} place
 * @param {HTMLElement} notice
 */
export function mountConnection(place, notice) {
  const show = () => {
    const { since_ms, message, needsToken } = connection;
    const isLost = !Number.isNaN(since_ms);
    place.className = `connection ${isLost ? "bad" : "dim"}`;
    place.title = isLost ? visible(message) : "Asked again every few seconds while this page is seen.";
    place.textContent = !isLost ? "live" : needsToken ? "no access" : `${brief(message || "not connected", MESSAGE_LENGTH)} since ${formatTimeOfDay(since_ms * 1e6)}`;
    notice.replaceChildren(...(needsToken ? [element("p", { class: "notice", role: "alert" },
      "This server wants a token. Open the link that ", element("code", {}, "tracer serve"), " printed when it started: it ends with ",
      element("code", {}, "#token=…"), ". It is kept until this tab is closed.")] : []));
  };
  listeners.add(show);
  show();
}

/**
 * @template T
 * @typedef {Object} Wanted
 * @property {(response: Response) => Promise<T>} read
 * @property {(answer: T) => void | Promise<void>} draw
 * @property {(refusal: Refusal) => void} refuse the server has no such answer
 * @property {number} every_ms from one question to the next
 */

/**
 * @typedef {Object} Watch
 * @property {(path: string) => void} set asks for something else, at once
 * @property {() => void} stop
 */

/**
 * @template T
 * @param {string} path
 * @param {Wanted<T>} wanted
 * @returns {Watch}
 */
export function watch(path, { read, draw, refuse, every_ms }) {
  let etag = "";
  let failures = 0;
  let isDue = true;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {AbortController | null} */
  let asking = null;
  let isStopped = false;
  /** The next answer is made meanwhile. */
  let drawing = Promise.resolve();

  /** @param {number} ms */
  const plan = (ms) => {
    isDue = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isDue = true;
      void turn();
    }, ms);
  };

  /** @param {T} answer */
  const drawn = async (answer) => {
    try {
      await draw(answer);
    } catch (problem) {
      console.error(problem); /* no fault of the server */
    }
  };

  /** @param {AbortController} controller */
  const once = async (controller) => {
    const limit = setTimeout(() => controller.abort(), ANSWER_LIMIT_MS);
    try {
      const found = await ask(path, etag, controller.signal);
      const answer = found.isNew ? await read(found.response) : null;
      await drawing;
      if (controller !== asking) return;
      succeed();
      failures = 0;
      etag = found.etag;
      if (found.isNew) drawing = drawn(/** @type {T} */ (answer));
    } finally {
      clearTimeout(limit);
    }
  };

  async function turn() {
    if (isStopped || document.hidden || asking || !isDue) return;
    const begin = performance.now();
    const mine = (asking = new AbortController());
    let wait = NaN;
    try {
      await once(mine);
    } catch (problem) {
      if (mine === asking) wait = handle(problem);
    }
    if (mine !== asking) return;
    asking = null;
    const took_ms = performance.now() - begin;
    if (!isStopped) plan(wait || Math.max(every_ms - took_ms, REST_SHARE * took_ms));
  }

  /**
   * @param {unknown} problem
   * @returns how long to wait
   */
  function handle(problem) {
    if (problem instanceof Refusal && problem.status < 500 && problem.status !== 401) {
      succeed();
      refuse(problem);
      return RETRY_MOST_MS;
    }
    if (!(problem instanceof Refusal || problem instanceof TypeError || problem instanceof DOMException)) console.error(problem);
    fail(problem);
    return Math.min(every_ms * 2 ** failures++, RETRY_MOST_MS);
  }

  const now = () => {
    isDue = true;
    void turn();
  };
  const wake = () => {
    if (!document.hidden) void turn();
  };
  const takeAndTurn = () => {
    if (takeToken()) now();
  };
  document.addEventListener("visibilitychange", wake);
  addEventListener("hashchange", takeAndTurn);
  addEventListener("online", now);
  void turn();
  return {
    set(next) {
      path = next;
      etag = "";
      failures = 0;
      asking?.abort();
      asking = null;
      now();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      asking?.abort();
      document.removeEventListener("visibilitychange", wake);
      removeEventListener("hashchange", takeAndTurn);
      removeEventListener("online", now);
    },
  };
}
