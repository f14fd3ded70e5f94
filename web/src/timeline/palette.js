// The page's colours, as a canvas needs them. They change with the theme.

import { RETRIED, FAILED, DIMMED } from "../select.js";

/** @typedef {[red: number, green: number, blue: number]} Rgb */

/* How a bar looks: one of the legend's colours, or that of failures, in one of four shades. */
const LEGEND_STYLES = 10;
const RETRIED_STYLE = 10;
const FAILED_STYLE = 11;
const STYLES_OF_SHADE = 12;
export const STYLE_COUNT = 4 * STYLES_OF_SHADE;
const SHADES = [1, 0.18, 0.62, 0.38];
const SHADE_DIMMED = 1;
const SHADE_TOOL = 2;
const SHADE_PROCESS = 3;

/** What of several bars in one pixel is seen: that of the highest rank. */
export const RANKS = Uint8Array.from({ length: STYLE_COUNT }, (_, style) => {
  const failure = Math.max(0, (style % STYLES_OF_SHADE) - LEGEND_STYLES + 1);
  return Math.floor(style / STYLES_OF_SHADE) === SHADE_DIMMED ? (failure ? 1 : 0) : 2 + failure;
});
export const RANK_COUNT = 5;
export const RANK_RETRIED = 3;
export const RANK_FAILED = 4;

/**
 * @param {number} legend index in the legend
 * @param {number} severity
 * @param {number} match
 */
export function taskStyle(legend, severity, match) {
  const style = severity === FAILED ? FAILED_STYLE : severity === RETRIED ? RETRIED_STYLE : legend;
  return match === DIMMED ? style + SHADE_DIMMED * STYLES_OF_SHADE : style;
}

/**
 * Those of a task that is dimmed are dimmed, too.
 * @param {number} style of the task
 * @param {boolean} failed
 * @param {number} shade
 */
function partStyle(style, failed, shade) {
  const dimmed = style >= STYLES_OF_SHADE;
  if (failed) return FAILED_STYLE + (dimmed ? SHADE_DIMMED * STYLES_OF_SHADE : 0);
  return dimmed ? style : style + shade * STYLES_OF_SHADE;
}

/** @type {(style: number, failed: boolean) => number} */
export const toolStyle = (style, failed) => partStyle(style, failed, SHADE_TOOL);
/** @type {(style: number, failed: boolean) => number} */
export const processStyle = (style, failed) => partStyle(style, failed, SHADE_PROCESS);

/**
 * @param {Rgb} over
 * @param {Rgb} under
 * @param {number} share
 * @returns {Rgb}
 */
function mix(over, under, share) {
  /** @type {(at: number) => number} */
  const part = (at) => Math.round(over[at] * share + under[at] * (1 - share));
  return [part(0), part(1), part(2)];
}

/** @param {Rgb} rgb */
const css = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

/**
 * As a pixel of the raster: the bytes are red, green, blue, opaque.
 * @param {Rgb} rgb
 */
const packColour = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/**
 * Relative luminance, of WCAG 2.
 * @param {Rgb} rgb
 */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @typedef {ReturnType<typeof readPalette>} Palette */

const VARIABLES = ["--background", "--text", "--text-dim", "--line", "--accent", "--good", "--bad", "--warning",
  ...Array.from({ length: LEGEND_STYLES }, (_, at) => `--c${at}`)];

/**
 * The values of the variables; all are asked for before the first is read, so that styles are computed once.
 * @param {Element} element
 * @returns {Map<string, Rgb>}
 */
function readVariables(element) {
  const probe = document.createElement("span");
  for (const variable of VARIABLES) probe.appendChild(document.createElement("span")).style.color = `var(${variable})`;
  element.append(probe);
  const values = Array.from(probe.children, (child) => {
    const numbers = (getComputedStyle(child).color.match(/[\d.]+/g) ?? []).map(Number);
    return /** @type {Rgb} */ ([numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0]);
  });
  probe.remove();
  return new Map(values.map((value, at) => [VARIABLES[at], value]));
}

/**
 * @param {Element} element
 * @param {import("../select.js").Legend[]} legend
 */
export function readPalette(element, legend) {
  const values = readVariables(element);
  /** @type {(variable: string) => Rgb} */
  const read = (variable) => /** @type {Rgb} */ (values.get(variable));
  const background = read("--background");
  const text = read("--text");
  const legendColours = legend.map(({ colour, share }) => mix(read(colour), background, share));
  const bases = Array.from({ length: LEGEND_STYLES }, (_, at) => legendColours[at] ?? text);
  bases.push(read("--warning"), read("--bad"));
  const fills = SHADES.flatMap((share) => bases.map((base) => mix(base, background, share)));
  return {
    background: css(background),
    text: css(text),
    dim: css(read("--text-dim")),
    line: css(read("--line")),
    accent: css(read("--accent")),
    bad: css(read("--bad")),
    warning: css(read("--warning")),
    legend: legendColours.map(css),
    textPixel: packColour(text),
    dimPixel: packColour(read("--text-dim")),
    warningPixel: packColour(mix(read("--warning"), background, 0.5)),
    badPixel: packColour(read("--bad")),
    accentPixel: packColour(read("--accent")),
    linePixel: packColour(mix(read("--line"), background, 0.5)),
    /** Of each style: as a pixel, and for a text on it. */
    pixels: Uint32Array.from(fills, packColour),
    labels: fills.map((fill, style) => {
      if (Math.floor(style / STYLES_OF_SHADE) === SHADE_DIMMED) return css(read("--text-dim"));
      return luminance(fill) > 0.18 ? "#000" : "#fff";
    }),
    /** Of what was used, and where it varies in a pixel. */
    usedPixels: [packColour(read("--c0")), packColour(mix(read("--c0"), background, 0.45))],
    secondPixels: [packColour(read("--c9")), packColour(mix(read("--c9"), background, 0.45))],
  };
}
