// Asks the server that the page came from.

const TOKEN_KEY = "tracer-token";

/** The token that `tracer serve` prints is in the fragment of the first visit: it does not stay in the URL. */
export function takeToken() {
  const words = new URLSearchParams(location.hash.slice(1));
  const token = words.get("token");
  if (token === null) return;
  sessionStorage.setItem(TOKEN_KEY, token);
  words.delete("token");
  const rest = words.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
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

/**
 * @param {string} path
 * @param {string} etag of the answer that is known; "": none
 * @param {AbortSignal} [signal]
 */
export async function ask(path, etag, signal) {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers = new Headers();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  if (etag) headers.set("If-None-Match", etag);
  const response = await fetch(path, { headers, signal, cache: "no-store", credentials: "same-origin", redirect: "error" });
  if (response.status !== 304 && !response.ok) throw new Refusal(response.status, await messageOf(response));
  return { response, isNew: response.status !== 304, etag: response.headers.get("ETag") ?? "" };
}

/** @param {Response} response */
async function messageOf(response) {
  try {
    return String((await response.json()).error);
  } catch {
    return `The server answered with status ${response.status}.`;
  }
}
