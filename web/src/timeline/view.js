// What the parts of the timeline share.

/**
 * What is seen; one object for as long as the page is open.
 * @typedef {Object} View
 * @property {import("../data.js").Run} run
 * @property {import("./layout.js").Layout} layout
 * @property {import("./nest.js").Nest | null} nest
 * @property {import("./palette.js").Palette} palette
 * @property {import("./raster.js").Raster} raster
 * @property {Uint8Array} styles of each task
 * @property {Uint8Array} highlighted of each task
 * @property {string} group
 * @property {number} gutter width of the names at the left
 * @property {number} width of what is right of these
 * @property {number} height of the rows' canvas
 * @property {number} top of what is seen of the rows
 * @property {number} from_us
 * @property {number} to_us
 * @property {number} scale pixels of a microsecond
 * @property {import("./path.js").Path} path
 * @property {Readonly<import("../state.js").Selected> | null} selected
 * @property {number} cursor the task that the keyboard is at; -1: none
 * @property {number[]} restarts when tasks began that tried the work of another one again
 * @property {number[]} attempts when the attempts at the work of the run began, if there are several on the page
 */

export {};
