// Asks the server that the page came from.

const TOKEN_KEY = "tracer-token";
/** How long other tabs may take to hand over the token. */
const HANDOVER_MS = 300;
/** Less is the second that the header is rounded to. */
const CLOCK_DIFFERENCE_MS = 2000;

const tabs = new BroadcastChannel("tracer-token");

/** A tab that was opened beside one that has the token gets it from there. */
tabs.addEventListener("message", ({ data }) => {
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (data?.wanted && token) tabs.postMessage({ token });
  else if (typeof data?.token === "string" && !token) sessionStorage.setItem(TOKEN_KEY, data.token);
});

async function askOtherTabs() {
  tabs.postMessage({ wanted: true });
  await new Promise((resolve) => setTimeout(resolve, HANDOVER_MS));
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/**
 * The token that `tracer serve` prints is in the fragment of the first visit: it does not stay in the URL.
 * @returns whether there was one
 */
export function takeToken() {
  const words = new URLSearchParams(location.hash.slice(1));
  const token = words.get("token");
  if (token === null) return false;
  sessionStorage.setItem(TOKEN_KEY, token);
  words.delete("token");
  const rest = words.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
  return true;
}

/** The server has answered, but not with what was asked for. */
export class Refusal extends Error {
  /**
   * @param {number} status of HTTP
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let clockDifferenceMs = 0;

/** The server's time. */
export const nowNs = () => (Date.now() + clockDifferenceMs) * 1e6;

/** @param {Response} response */
function setClock(response) {
  const difference = Date.parse(response.headers.get("Date") ?? "") - Date.now();
  clockDifferenceMs = Math.abs(difference) > CLOCK_DIFFERENCE_MS ? difference : 0;
}

/** @param {Response} response */
async function messageOf(response) {
  try {
    return String((await response.json()).error).replace(/^tracer[^:]*: /, "");
  } catch {
    return `the server answered with status ${response.status}`;
  }
}

/**
 * @param {string} path
 * @param {string} etag
 * @param {AbortSignal} [signal]
 */
function request(path, etag, signal) {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers = new Headers();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  if (etag) headers.set("If-None-Match", etag);
  return fetch(path, { headers, signal, cache: "no-store", credentials: "same-origin", redirect: "error" });
}

/**
 * @param {string} path
 * @param {string} [etag] of the answer that is known
 * @param {AbortSignal} [signal]
 * @throws {Refusal}
 */
export async function ask(path, etag = "", signal) {
  let response = await request(path, etag, signal);
  if (response.status === 401 && sessionStorage.getItem(TOKEN_KEY) === null && await askOtherTabs()) response = await request(path, etag, signal);
  setClock(response);
  if (response.status !== 304 && !response.ok) throw new Refusal(response.status, await messageOf(response));
  return { response, isNew: response.status !== 304, etag: response.headers.get("ETag") ?? "" };
}
