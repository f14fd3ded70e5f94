// The mouse: zoom, pan, ranges, clicks, and what is under the pointer.

const CLICK_PIXELS = 4;
/** How much a wheel's unit zooms: a notch of a wheel is 100 to 120. */
const WHEEL_ZOOM = 0.0022;
const LINE_PIXELS = 16;

/**
 * @typedef {Object} Actions
 * @property {() => import("./view.js").View} getView
 * @property {(x: number, factor: number) => void} zoomAt around a pixel right of the gutter
 * @property {(pixels: number) => void} panBy
 * @property {(from: number, to: number) => void} setRange
 * @property {() => void} showAll
 * @property {(x: number, y: number) => void} click in the rows
 * @property {(where: HTMLElement, x: number, y: number) => void} hover
 * @property {() => void} leave
 */

/**
 * @param {HTMLElement} area rows or tracks
 * @param {HTMLElement} marked the range that is being drawn
 * @param {Actions} actions
 */
export function listenPointer(area, marked, actions) {
  /** @type {{x: number, y: number, last: number, pan: boolean, moved: boolean} | null} */
  let drag = null;
  /** @param {MouseEvent} event */
  const place = (event) => {
    const box = area.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  /** @param {number} x0 @param {number} x1 */
  const mark = (x0, x1) => {
    const { gutter, width } = actions.getView();
    const left = Math.max(Math.min(x0, x1), gutter);
    const right = Math.min(Math.max(x0, x1), gutter + width);
    marked.hidden = false;
    marked.style.left = `${left}px`;
    marked.style.width = `${Math.max(right - left, 0)}px`;
    return { left, right };
  };

  area.addEventListener(
    "wheel",
    (event) => {
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
      const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        actions.zoomAt(place(event).x - actions.getView().gutter, Math.exp(event.deltaY * unit * WHEEL_ZOOM));
      } else if (event.shiftKey || Math.abs(across) > Math.abs(event.deltaY)) {
        actions.panBy(across * unit);
      } else {
        return;
      }
      event.preventDefault();
    },
    { passive: false },
  );

  area.addEventListener("pointerdown", (event) => {
    const { x, y } = place(event);
    if (event.button > 1 || x > actions.getView().gutter + actions.getView().width) return;
    if (event.button === 1) event.preventDefault();
    drag = { x, y, last: x, pan: event.shiftKey || event.button === 1, moved: false };
  });
  area.addEventListener("pointermove", (event) => {
    const { x, y } = place(event);
    if (!drag) {
      actions.hover(area, x, y);
      return;
    }
    if (!drag.moved && Math.abs(x - drag.x) < CLICK_PIXELS) return;
    if (!drag.moved) area.setPointerCapture(event.pointerId);
    drag.moved = true;
    actions.leave();
    if (drag.pan) actions.panBy(drag.last - x);
    else if (drag.x >= actions.getView().gutter) mark(drag.x, x);
    drag.last = x;
  });
  area.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { x, y, pan, moved } = drag;
    drag = null;
    marked.hidden = true;
    if (!moved) {
      actions.click(x, y);
    } else if (!pan && x >= actions.getView().gutter) {
      const { gutter, from_us, scale } = actions.getView();
      const { left, right } = mark(x, place(event).x);
      marked.hidden = true;
      actions.setRange(from_us + (left - gutter) / scale, from_us + (right - gutter) / scale);
    }
  });
  area.addEventListener("pointercancel", () => {
    drag = null;
    marked.hidden = true;
  });
  area.addEventListener("pointerleave", () => actions.leave());
  area.addEventListener("dblclick", (event) => {
    if (place(event).x >= actions.getView().gutter) actions.showAll();
  });
}
