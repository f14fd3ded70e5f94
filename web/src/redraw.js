// Draws a part of the page anew where its data come again and again, and keeps what the reader has done in it: what is
// open, scrolled and focused.

/** @type {EventTarget | null} what the pointer is pressed on */
let pressed = null;
addEventListener("pointerdown", ({ target }) => (pressed = target), true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => (pressed = null)), true);

/**
 * A click or a selection of text would be lost: it is drawn the next time.
 * @param {HTMLElement} place
 */
function isInUse(place) {
  const selection = getSelection();
  const hasText = selection && !selection.isCollapsed && place.contains(selection.anchorNode);
  return hasText || (pressed instanceof Node && place.contains(pressed));
}

/**
 * @param {ParentNode} place
 * @returns {Map<string, HTMLDetailsElement>}
 */
const detailsOf = (place) =>
  new Map([.../** @type {NodeListOf<HTMLDetailsElement>} */ (place.querySelectorAll("details[data-key]"))].map((details) => [details.dataset.key ?? "", details]));

/**
 * @param {HTMLElement} place
 * @param {HTMLElement} fresh
 */
function keepOpen(place, fresh) {
  const before = detailsOf(place);
  for (const [key, details] of detailsOf(fresh)) {
    const open = before.get(key)?.open;
    if (open === undefined || open === details.open) continue;
    details.open = open;
    details.dispatchEvent(new Event("toggle")); /* the browser's own comes too late */
  }
}

/** @param {Element} element which of those that can have the focus it is */
const nameOf = (element) => [element.tagName, element.closest("[data-key]")?.getAttribute("data-key"), element.getAttribute("aria-label") ?? element.textContent].join();

const FOCUSABLE = "a, button, summary, input, [tabindex]";
const SCROLLABLE = ".wide, pre, code";

/** @param {HTMLElement} place */
const scrolledIn = (place) => [...place.querySelectorAll(SCROLLABLE)];

/**
 * @param {HTMLElement} place
 * @param {(fresh: HTMLElement) => void} draw into an empty copy of the place
 */
export function redraw(place, draw) {
  if (isInUse(place)) return;
  const fresh = /** @type {HTMLElement} */ (place.cloneNode(false));
  draw(fresh);
  keepOpen(place, fresh);
  if (fresh.isEqualNode(place)) return;
  const { activeElement } = document;
  const focused = activeElement && activeElement !== place && place.contains(activeElement) ? nameOf(activeElement) : null;
  const scrolled = scrolledIn(place).map(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop]);
  place.replaceChildren(...fresh.childNodes);
  scrolledIn(place).forEach((element, at) => {
    if (scrolled[at]?.some((offset) => offset > 0)) [element.scrollLeft, element.scrollTop] = scrolled[at];
  });
  if (focused === null) return;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll(FOCUSABLE))) {
    if (nameOf(element) === focused) element.focus({ preventScroll: true });
  }
}
