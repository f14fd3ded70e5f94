// Light, dark, or as the system is. The choice is kept in the browser, not in the URL.

import { element } from "./dom.js";

export const THEMES = ["auto", "light", "dark"];
const TITLES = { auto: "Auto", light: "Light", dark: "Dark" };
const KEY = "tracer-theme";

/* A page on a disk may not be allowed to store anything. */
export function readTheme() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} theme */
export function writeTheme(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* Then it lasts as long as the page. */
  }
}

/** @param {string} theme */
export function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

/**
 * @param {(theme: string) => void} choose
 */
export function themeButtons(choose) {
  const buttons = THEMES.map((theme) =>
    element("button", { type: "button", onclick: () => choose(theme) }, TITLES[/** @type {"auto"} */ (theme)]));
  return {
    buttons,
    /** @param {string} chosen */
    mark: (chosen) => THEMES.forEach((theme, at) => buttons[at].setAttribute("aria-pressed", String(chosen === theme))),
  };
}
