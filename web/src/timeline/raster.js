// Rectangles, as pixels: the time to draw them hardly depends on their number.

/** @typedef {ReturnType<typeof createRaster>} Raster */

export function createRaster() {
  const canvas = document.createElement("canvas");
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  let image = context.createImageData(1, 1);
  let pixels = new Uint32Array(image.data.buffer);
  let width = 1;
  let height = 1;

  return {
    /**
     * Clears it.
     * @param {number} nextWidth
     * @param {number} nextHeight
     */
    begin(nextWidth, nextHeight) {
      if (nextWidth === width && nextHeight === height) {
        pixels.fill(0);
        return;
      }
      width = canvas.width = nextWidth;
      height = canvas.height = nextHeight;
      image = context.createImageData(width, height);
      pixels = new Uint32Array(image.data.buffer);
    },

    /**
     * All in whole pixels.
     * @param {number} x0
     * @param {number} y0
     * @param {number} x1
     * @param {number} y1
     * @param {number} colour see packColour()
     */
    fill(x0, y0, x1, y1, colour) {
      const left = x0 < 0 ? 0 : x0;
      const right = x1 > width ? width : x1;
      const bottom = y1 > height ? height : y1;
      if (right <= left) return;
      for (let y = y0 < 0 ? 0 : y0; y < bottom; y++) {
        const row = y * width;
        if (right - left === 1) pixels[row + left] = colour;
        else pixels.fill(colour, row + left, row + right);
      }
    },

    /**
     * @param {CanvasRenderingContext2D} target
     * @param {number} x
     */
    drawTo(target, x) {
      context.putImageData(image, 0, 0);
      target.imageSmoothingEnabled = false;
      target.drawImage(canvas, x, 0);
    },
  };
}
