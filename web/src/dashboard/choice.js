// What is chosen in a view: it is in the query of the URL, under the names that the API has for it, so that a link shows
// the same, and the API filters.

import { element } from "../dom.js";

const TYPING_MS = 250;

export class Choice {
  /**
   * @param {string[]} names
   * @param {Record<string, string>} [defaults]
   */
  constructor(names, defaults = {}) {
    this.names = names;
    this.defaults = defaults;
    this.words = new URLSearchParams(location.search);
    /** @type {() => void} */
    this.changed = () => {};
  }

  /** @param {string} name */
  get(name) {
    return this.words.get(name) ?? this.defaults[name] ?? "";
  }

  /** @param {Record<string, string>} changes "": none */
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === (this.defaults[name] ?? "")) this.words.delete(name);
      else this.words.set(name, value);
    }
    const query = this.words.toString();
    history.replaceState(null, "", location.pathname + (query ? `?${query}` : ""));
    this.changed();
  }

  /**
   * The path of the API for what is chosen.
   * @param {string} path
   * @param {Record<string, string>} [more] "": left out
   */
  path(path, more = {}) {
    const words = new URLSearchParams();
    for (const name of this.names) if (this.get(name) !== "") words.set(name, this.get(name));
    for (const [name, value] of Object.entries(more)) {
      if (value === "") words.delete(name);
      else words.set(name, value);
    }
    const query = words.toString();
    return query ? `${path}?${query}` : path;
  }
}

/**
 * @param {string} text
 * @param {HTMLElement} field
 */
const labelled = (text, field) => element("label", { class: "field" }, element("span", {}, text), field);

/**
 * @param {Choice} choice
 * @param {string} name
 * @param {string} label
 * @param {Record<string, string>} [attributes]
 */
export function textField(choice, name, label, attributes = {}) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const input = element("input", {
    type: "search", spellcheck: "false", autocomplete: "off", ...attributes,
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => choice.set({ [name]: input.value.trim() }), TYPING_MS);
    },
  });
  input.value = choice.get(name);
  return labelled(label, input);
}

/**
 * @param {Choice} choice
 * @param {string} name
 * @param {string} label
 * @param {[value: string, title: string][]} options
 */
export function selectField(choice, name, label, options) {
  const now = choice.get(name);
  const all = options.some(([value]) => value === now) ? options : [.../** @type {[string, string][]} */ ([[now, now]]), ...options];
  /** @type {HTMLSelectElement} */
  const field = element("select", { onchange: () => choice.set({ [name]: field.value }) },
    ...all.map(([value, title]) => element("option", { value }, title)));
  field.value = now;
  return labelled(label, field);
}

/**
 * @param {Choice} choice
 * @param {string} name
 * @param {string} label
 * @param {string} title
 */
export function flagField(choice, name, label, title) {
  /** @type {HTMLInputElement} */
  const field = element("input", { type: "checkbox", onchange: () => choice.set({ [name]: field.checked ? "true" : "" }) });
  field.checked = choice.get(name) === "true";
  return element("label", { class: "field", title }, field, element("span", {}, label));
}

/** @type {[string, string][]} */
export const SPANS = [["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"]];
