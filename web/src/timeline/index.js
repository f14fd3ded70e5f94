// The timeline: minimap, rows of tasks, and tracks of what the run used, on one axis. Everything is drawn on canvases, in
// an animation frame, and only if something has changed.

import { element } from "../dom.js";
import { formatDuration, plural } from "../figures.js";
import { rowInLater } from "../rows.js";
import { colourOf, pseudoTasks, selectTasks, severities, SUCCEEDED } from "../select.js";
import { runEnd, SHORTEST_US } from "../state.js";
import { previousRuns, restartsOf } from "./attempts.js";
import { createControls, drawLegend } from "./controls.js";
import { createDetails } from "./details.js";
import { drawRows } from "./draw.js";
import { headerHeight } from "./header.js";
import { hitAt } from "./hit.js";
import { listenKeys } from "./keys.js";
import { createLayout, place, rowAt, ROW_PADDING, STRIP_HEIGHT, upperBound } from "./layout.js";
import { createBrush, drawMinimap, MINIMAP_HEIGHT } from "./minimap.js";
import { createNest } from "./nest.js";
import { readPalette, taskStyle } from "./palette.js";
import { createPath, ownerAt } from "./path.js";
import { listenPointer } from "./pointer.js";
import { createRaster } from "./raster.js";
import { createTooltip, describePart, describeRow } from "./tooltip.js";
import { createTracks, drawTracks, TRACK_HEIGHT, trackText } from "./tracks.js";
import { ownersOf, sayTask } from "./words.js";

const GUTTER = 216;
const NARROW_GUTTER = 120;
const NARROW = 800;
const LEAST_HEIGHT = 80;
const MOST_HEIGHT_SHARE = 0.52;
const SETTLE_MS = 160;
/* Of A4 or Letter on its side; the first page has a heading, too. */
const PRINT_WIDTH = 960;
const FIRST_PRINT_HEIGHT = 490;
const PRINT_HEIGHT = 650;
const MOST_PRINT_PAGES = 12;

const OWNERS = {
  task: "a task on the critical path ran",
  gap: "no task ran: the engine or script had not begun the next one on the critical path",
  queue: "other tasks ran, but the next one on the critical path had not begun",
  driver: "before the first task or after the last one",
};

/**
 * @param {HTMLElement} parent
 * @param {import("../data.js").Run} run
 * @param {import("../state.js").State} state
 * @returns {import("../page.js").Part}
 */
export function mount(parent, run, state) {
  let tracks = createTracks(run);
  let end = runEnd(run);
  /** @type {Map<string, boolean>} */
  const opened = new Map();

  // The elements.
  const canvas = () => element("canvas", { "aria-hidden": "true" });
  const [minimapCanvas, rowsCanvas, tracksCanvas] = [canvas(), canvas(), canvas()];
  const brushPlace = element("div", { class: "timeline-brush" });
  const minimap = element("div", { class: "timeline-minimap" }, minimapCanvas,
    element("div", { class: "timeline-names", "aria-hidden": "true" }, ...["tasks running", "processors", "memory"].map((name) => element("span", {}, name))),
    brushPlace);
  const spacer = element("div", { class: "timeline-spacer" });
  const rows = element("div", {
    class: "timeline-rows", role: "application", tabindex: "0",
    "aria-label": "Timeline of tasks. Arrow keys move between tasks, Enter shows the details of one, Escape closes them; plus and minus open and close a row; W and S zoom, A and D move, 0 shows all.",
  }, rowsCanvas, spacer);
  /** @type {HTMLElement[]} */
  let trackValues = [];
  const trackNames = element("div", { class: "timeline-names" });
  const tracksPlace = element("div", { class: "timeline-tracks" }, tracksCanvas, trackNames);
  const marked = element("div", { class: "timeline-marked" });
  const cursorLine = element("div", { class: "timeline-cursor" });
  const cursorTime = element("span", {});
  cursorLine.append(cursorTime);
  marked.hidden = cursorLine.hidden = true;
  const printed = element("div", { class: "timeline-printed" });
  const picture = element("div", { class: "timeline-picture" }, minimap, rows, printed, tracksPlace, marked, cursorLine);
  const said = element("p", { class: "hidden", "aria-live": "assertive" });
  const legend = element("ul", { class: "timeline-legend", "aria-label": "Colours" });
  const help = element("p", { class: "timeline-help dim" },
    "Drag: a range · Ctrl + wheel or W S: zoom · Shift + wheel or A D: move · 0: all · arrows, Enter, Esc: tasks");
  const { controls, write: writeCount } = createControls(state, showAll);
  parent.append(controls, legend, picture, help, previousRuns(run) ?? "", said);
  const tooltip = createTooltip(picture);
  const details = createDetails(run, state, parent, zoomTo);

  // What is seen.
  const rowsRaster = createRaster();
  const tracksRaster = createRaster();
  const minimapRaster = createRaster();
  const view = /** @type {import("./view.js").View} */ (/** @type {unknown} */ ({
    ...contentOf(run),
    nest: null,
    raster: rowsRaster,
    highlighted: new Uint8Array(run.tasks.count),
    group: state.get().group,
    gutter: GUTTER,
    width: 1,
    height: 1,
    top: 0,
    from_us: 0,
    to_us: end,
    scale: 1,
    selected: state.get().selected,
    cursor: -1,
  }));
  let contentHeight = 0;
  let placedScale = 0;
  let pointerX = -1;
  let pointerY = -1;
  let frame = 0;
  let revealed = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let settling;
  /* Whether the size or the colours have changed. */
  let isStale = true;
  let tracksFrom = NaN;
  let tracksScale = NaN;
  let printing = false;
  const drawBrush = createBrush(brushPlace, () => view, setRange);

  /**
   * What of the view follows from the data.
   * @param {import("../data.js").Run} data
   */
  function contentOf(data) {
    return {
      run: data,
      layout: createLayout(data, state.get().group, selectTasks(data, state.get()).matches, opened),
      styles: new Uint8Array(data.tasks.count),
      path: createPath(data),
      restarts: restartsOf(data),
      attempts: (data.facts.attempts ?? []).map((/** @type {any} */ attempt) => attempt.begin_us),
    };
  }

  /** What of the view follows from the state. */
  function readState() {
    const now = state.get();
    const from = printing ? 0 : now.from_us;
    const to = printing ? end : now.to_us;
    view.selected = now.selected;
    view.group = now.group;
    view.scale = view.width / (to - from);
    /* Bars move by whole pixels, so that what shares a pixel stays the same while the view moves. */
    view.from_us = Math.round(from * view.scale) / view.scale;
    view.to_us = view.from_us + view.width / view.scale;
  }

  function setStyles() {
    const now = state.get();
    const { matches, highlighted } = selectTasks(run, now);
    const { of } = colourOf(run, now.colour);
    const severity = severities(run);
    const pseudo = pseudoTasks(run);
    for (let task = 0; task < view.styles.length; task++) {
      view.styles[task] = taskStyle(of[task], pseudo[task] ? SUCCEEDED : severity[task], matches[task]);
    }
    view.highlighted = highlighted;
  }

  function setLayout() {
    const now = state.get();
    view.layout = createLayout(run, now.group, selectTasks(run, now).matches, opened);
    setHeight(LEAST_HEIGHT);
  }

  /* Where lanes come, go and open, one stays where it is: that of the keyboard, at the pointer, or in the middle. */
  function placeRows() {
    const anchor = anchorLane();
    const before = view.layout.laneTop[anchor] - view.top;
    placeLanes();
    if (view.top > 0 || pointerY >= 0) scrollTo(view.layout.laneTop[anchor] - before);
  }

  function placeLanes() {
    contentHeight = place(view.layout, view.from_us, view.to_us, view.scale, view.nest?.depths);
    placedScale = view.scale;
    setSpacer();
  }

  function setSpacer() {
    spacer.style.height = `${Math.max(contentHeight + headerHeight(view) - view.height, 0)}px`;
  }

  function anchorLane() {
    const { layout } = view;
    if (view.cursor >= 0 && layout.laneOf[view.cursor] >= 0) return layout.laneOf[view.cursor];
    const y = view.top + (pointerY >= 0 ? pointerY : view.height / 2) - headerHeight(view);
    return Math.max(upperBound(layout.laneTop, 0, layout.laneTop.length, y) - 1, 0);
  }

  /** @param {number} top */
  function scrollTo(top) {
    rows.scrollTop = top;
    view.top = rows.scrollTop;
  }

  /**
   * The rows become higher where they need it and there is place, but not lower: what is below would move.
   * @param {number} least
   */
  function setHeight(least, placeAll = placeRows) {
    readState();
    placeAll();
    const needed = contentHeight + headerHeight(view);
    const most = Math.round(innerHeight * MOST_HEIGHT_SHARE);
    const height = Math.max(Math.min(needed, most), least);
    if (height === view.height && rowsCanvas.width === tracksCanvas.width) return;
    view.height = height;
    rows.style.height = `${view.height}px`;
    setSpacer();
    resizeCanvas(rowsCanvas, view.height);
  }

  /**
   * @param {HTMLCanvasElement} target
   * @param {number} height
   */
  function resizeCanvas(target, height) {
    const density = printing ? 2 : devicePixelRatio;
    target.width = Math.round((view.gutter + view.width) * density);
    target.height = Math.round(height * density);
    target.style.width = `${view.gutter + view.width}px`;
    target.style.height = `${height}px`;
    contextOf(target).setTransform(density, 0, 0, density, 0, 0);
  }

  /** @param {HTMLCanvasElement} target */
  function contextOf(target) {
    return /** @type {CanvasRenderingContext2D} */ (target.getContext("2d", { alpha: false }));
  }

  /* The height of the rows, which changes too, is no reason. */
  function resize() {
    const width = printing ? PRINT_WIDTH : rows.clientWidth;
    if (width === 0 || width === view.gutter + view.width) return;
    view.gutter = width < NARROW ? NARROW_GUTTER : GUTTER;
    view.width = Math.max(width - view.gutter, 1);
    picture.style.setProperty("--gutter", `${view.gutter}px`);
    picture.style.setProperty("--width", `${view.width}px`);
    resizeCanvas(minimapCanvas, MINIMAP_HEIGHT);
    resizeCanvas(tracksCanvas, tracks.length * TRACK_HEIGHT);
    setHeight(LEAST_HEIGHT);
    isStale = true;
    change();
  }

  function setPalette() {
    view.palette = readPalette(parent, colourOf(run, state.get().colour).legend);
    drawLegend(run, state, legend, view.palette);
    isStale = true;
  }

  /* While the view moves, lanes stay; when it stands still, they get the place that they need. */
  function settle() {
    setHeight(view.height);
    change();
  }

  /** Draws in the next frame. */
  function change() {
    if (frame === 0) frame = requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    readState();
    if (view.scale !== placedScale) setHeight(view.height);
    if (revealed >= 0) reveal(revealed);
    revealed = -1;
    view.top = rows.scrollTop;
    if (isStale) {
      drawMinimap(contextOf(minimapCanvas), view, minimapRaster, tracks);
      tracksScale = NaN;
      isStale = false;
    }
    drawBrush();
    drawRows(contextOf(rowsCanvas), view);
    if (tracksFrom !== view.from_us || tracksScale !== view.scale) drawTracks(contextOf(tracksCanvas), view, tracksRaster, tracks);
    tracksFrom = view.from_us;
    tracksScale = view.scale;
    drawCursor();
  }

  /* Later data may have other tracks, such as of GPUs. */
  function nameTracks() {
    if (trackValues.length === tracks.length) return;
    trackValues = tracks.map(() => element("span", { class: "dim" }));
    trackNames.replaceChildren(...tracks.map((track, at) => element("div", { title: track.definition }, element("b", {}, track.title), trackValues[at])));
    resizeCanvas(tracksCanvas, tracks.length * TRACK_HEIGHT);
  }

  /* The line at the pointer, its time, and the values of the tracks there. */
  function drawCursor() {
    const x = pointerX - view.gutter;
    const seen = x >= 0 && x < view.width && !printing;
    cursorLine.hidden = !seen;
    const us = view.from_us + x / view.scale;
    if (seen) {
      cursorLine.style.transform = `translateX(${pointerX}px)`;
      cursorLine.classList.toggle("timeline-flipped", x > view.width - 90);
      cursorTime.textContent = formatDuration(us);
    }
    const part = seen ? Math.floor(us / (run.facts.series?.step_us ?? 1)) : NaN;
    tracks.forEach((track, at) => {
      const text = trackText(track, part);
      if (trackValues[at].textContent !== text) trackValues[at].textContent = text;
    });
  }

  // What the user does.
  /** @param {number} from @param {number} to */
  function setRange(from, to) {
    state.set({ from_us: from, to_us: to });
  }

  function showAll() {
    setRange(0, end);
  }

  /** @param {number} x @param {number} factor */
  function zoomAt(x, factor) {
    const { from_us, to_us } = state.get();
    const at = from_us + (Math.min(Math.max(x, 0), view.width) / view.width) * (to_us - from_us);
    const length = Math.min(Math.max((to_us - from_us) * factor, SHORTEST_US), end);
    const from = Math.min(Math.max(at - ((at - from_us) / (to_us - from_us)) * length, 0), end - length);
    setRange(from, from + length);
  }

  /** @param {number} pixels */
  function panBy(pixels) {
    const { from_us, to_us } = state.get();
    const moved = (pixels / view.width) * (to_us - from_us);
    const from = Math.min(Math.max(from_us + moved, 0), end - (to_us - from_us));
    setRange(from, from + to_us - from_us);
  }

  /** @param {number} at @param {boolean} open */
  function setOpen(at, open) {
    const row = view.layout.rows[at];
    row.open = row.chosen = open;
    opened.set(row.key, open);
    setHeight(view.height);
    change();
  }

  /** @param {number} x @param {number} y */
  function click(x, y) {
    rows.focus({ preventScroll: true });
    const hit = hitAt(view, x, y);
    tooltip.hide();
    if (hit?.kind === "row") setOpen(hit.row, !view.layout.rows[hit.row].open);
    else if (hit?.kind === "part") {
      view.cursor = -1;
      state.set({ selected: hit.selected });
    } else if (!hit) state.set({ selected: null });
  }

  /** @param {HTMLElement} where @param {number} x @param {number} y */
  function hover(where, x, y) {
    pointerX = x;
    pointerY = where === rows ? y : -1;
    const hit = where === rows ? hitAt(view, x, y) : null;
    const top = where.offsetTop;
    if (hit?.kind === "part") {
      const { selected } = hit;
      tooltip.show(`${selected.table} ${selected.row}`, () => describePart(run, selected), x, y + top);
    } else if (hit?.kind === "row") {
      const row = view.layout.rows[hit.row];
      tooltip.show(`row ${row.key} ${row.open}`, () => describeRow(row), x, y + top);
    } else if (hit?.kind === "header" && x > view.gutter) {
      showMoment(x, y + top);
    } else {
      tooltip.hide();
    }
    requestAnimationFrame(drawCursor);
  }

  /** @param {number} x @param {number} y */
  function showMoment(x, y) {
    const us = view.from_us + (x - view.gutter) / view.scale;
    const owner = ownerAt(view.path, us);
    const near = view.restarts.filter((restart) => Math.abs(restart - us) * view.scale < 4).length;
    const words = [OWNERS[/** @type {keyof typeof OWNERS} */ (owner)] ?? "", near ? `${near === 1 ? "another attempt" : `${near} other attempts`} began` : ""].filter(Boolean);
    if (words.length === 0) tooltip.hide();
    else tooltip.show(words.join(), () => words.map((word) => element("p", {}, word)), x, y);
  }

  function leave() {
    pointerX = pointerY = -1;
    tooltip.hide();
    requestAnimationFrame(drawCursor);
  }

  /**
   * The keyboard moves to a task: it is brought into view and said.
   * @param {number} task
   */
  function moveTo(task) {
    if (task < 0) return;
    view.cursor = task;
    show(task);
    said.textContent = sayTask(run, task);
    change();
  }

  /**
   * Brings a task into view, in the next frame.
   * @param {number} task
   */
  function show(task) {
    const { begin_us, wall_us } = run.tasks.columns;
    const { from_us, to_us } = state.get();
    const last = begin_us[task] + (wall_us[task] || 0);
    revealed = task;
    if (last < from_us || begin_us[task] > to_us) {
      const length = to_us - from_us;
      const from = Math.min(Math.max(begin_us[task] - length / 4, 0), end - length);
      setRange(from, from + length);
    }
    change();
  }

  /** @param {number} task */
  function reveal(task) {
    const lane = view.layout.laneOf[task];
    if (lane < 0) return;
    setHeight(view.height);
    const top = view.layout.laneTop[lane];
    const seen = view.height - headerHeight(view);
    if (top < view.top) scrollTo(top - ROW_PADDING);
    else if (top > view.top + seen - STRIP_HEIGHT) scrollTo(top - seen / 2);
  }

  /** @param {import("../state.js").Selected} selected */
  function zoomTo(selected) {
    const { begin_us, wall_us } = run[selected.table].columns;
    const begin = begin_us[selected.row];
    const last = Number.isNaN(wall_us[selected.row]) ? end : begin + wall_us[selected.row];
    const around = Math.max((last - begin) * 0.1, 50);
    const [{ row: task }] = ownersOf(run, selected);
    const row = view.layout.rowOf[view.layout.laneOf[task]];
    if (row !== undefined) setOpen(row, true);
    setRange(begin - around, last + around);
    show(task);
    picture.scrollIntoView({ block: "nearest" });
  }

  const actions = {
    getView: () => view, zoomAt, panBy, setRange, showAll, click, hover, leave, moveTo,
    /** @param {number} factor */
    zoom: (factor) => zoomAt(pointerX >= view.gutter ? pointerX - view.gutter : view.width / 2, factor),
    open() {
      if (view.cursor < 0) return;
      state.set({ selected: { table: "tasks", row: view.cursor } });
      details.focus();
    },
    close() {
      tooltip.hide();
      return details.close();
    },
    /** @param {boolean} open */
    openRow(open) {
      if (view.cursor >= 0) setOpen(view.layout.rowOf[view.layout.laneOf[view.cursor]], open);
    },
  };
  listenPointer(rows, marked, actions);
  listenPointer(tracksPlace, marked, { ...actions, click: () => {} });
  listenKeys(rows, actions);
  rows.addEventListener("scroll", () => {
    tooltip.hide();
    change();
  });

  state.subscribe((now, before) => {
    if (now.hide !== before.hide || now.group !== before.group) setLayout();
    if (now.hide !== before.hide || now.search !== before.search || now.highlight !== before.highlight || now.colour !== before.colour) setStyles();
    if (now.colour !== before.colour || now.theme !== before.theme) setPalette();
    if (now.selected && now.selected !== before.selected && view.cursor < 0) show(ownersOf(run, now.selected)[0].row);
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLE_MS);
    change();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    setPalette();
    change();
  });
  new ResizeObserver(resize).observe(rows);

  // A print has the whole run, on pages that are cut between rows.
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
  /** @param {boolean} on */
  function setPrinting(on) {
    printing = on;
    /* Paper is light, whatever the screen is. */
    const { dataset } = document.documentElement;
    const { theme } = dataset;
    if (on) dataset.theme = "light";
    setPalette();
    dataset.theme = theme;
    resize();
    if (on) draw();
    printed.replaceChildren(...(on ? drawPages() : []));
  }

  function drawPages() {
    const { layout } = view;
    const head = headerHeight(view);
    /** @type {HTMLElement[]} */
    const pages = [];
    for (let top = 0, at = 0; at < layout.rows.length && pages.length < MOST_PRINT_PAGES; ) {
      const most = top + (pages.length === 0 ? FIRST_PRINT_HEIGHT : PRINT_HEIGHT) - head;
      at = most >= contentHeight ? layout.rows.length : Math.max(rowAt(layout, most), at + 1);
      const page = canvas();
      view.top = top;
      view.height = layout.rowTop[at] - top + head;
      resizeCanvas(page, view.height);
      drawRows(contextOf(page), view);
      pages.push(page);
      top = layout.rowTop[at];
      if (pages.length === MOST_PRINT_PAGES && at < layout.rows.length) {
        pages.push(element("p", {}, `The first ${at} of ${plural(layout.rows.length, "row")}.`));
      }
    }
    return pages;
  }

  /**
   * Later data: the row at the top stays where it is.
   * @param {import("../data.js").Run} next
   */
  async function prepare(next) {
    const nest = await createNest(next);
    return () => {
      const { rows: old, rowTop } = view.layout;
      const at = Math.min(rowAt(view.layout, view.top), old.length - 1);
      const offset = view.top - rowTop[at];
      if (view.cursor >= 0) view.cursor = rowInLater(run, next, "tasks", view.cursor);
      run = next;
      end = runEnd(run);
      tracks = createTracks(run);
      nameTracks();
      Object.assign(view, contentOf(run), { nest });
      setStyles();
      setHeight(view.height, placeLanes);
      const row = view.layout.rows.findIndex(({ key }) => key === old[at]?.key);
      if (view.top > 0 && row >= 0) scrollTo(view.layout.rowTop[row] + offset);
      setPalette();
      writeCount();
      details.update(run);
      tooltip.renew();
      change();
    };
  }

  nameTracks();
  setStyles();
  setPalette();
  resize();
  const { selected } = state.get();
  if (selected) revealed = ownersOf(run, selected)[0].row;
  createNest(run).then((nest) => {
    if (view.nest) return; /* of later data */
    view.nest = nest;
    settle();
  });
  return { prepare };
}
