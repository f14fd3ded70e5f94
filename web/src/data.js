// Unpacks the data of the page: docs/page.md describes the format.

/**
 * Columns by name. NaN is unknown.
 * @typedef {Object} Table
 * @property {number} count
 * @property {Record<string, Float64Array>} columns
 */

/**
 * @typedef {Object} Run
 * @property {any} facts answers of commands
 * @property {Table} tasks
 * @property {Table} tools
 * @property {Table} processes
 * @property {Table} series
 * @property {(index: number) => string} text a text of the tables; "" if unknown
 */

const CHUNK_CHARACTERS = 1 << 20;
const COLUMNS_AT_ONCE_MS = 25;

/** Lets the browser draw. */
const pause = () => new Promise((resolve) => setTimeout(resolve));

/**
 * @param {string} text base64
 * @returns {ReadableStream<Uint8Array>}
 */
export function decodeBase64(text) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= text.length) {
        controller.close();
        return;
      }
      const part = atob(text.slice(at, at + CHUNK_CHARACTERS));
      at += CHUNK_CHARACTERS;
      const bytes = new Uint8Array(part.length);
      for (let i = 0; i < part.length; i++) bytes[i] = part.charCodeAt(i);
      controller.enqueue(bytes);
    },
  });
}

/** @param {number} zigzag NaN is unknown */
const signed = (zigzag) => (zigzag % 2 === 1 ? -(zigzag + 1) / 2 : zigzag / 2);

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 * @param {{bytes: number, delta?: boolean, rest?: boolean}} column
 */
function unpackColumn(bytes, count, column) {
  const values = new Float64Array(count);
  for (let plane = column.bytes - 1; plane >= 0; plane--) {
    const from = plane * count;
    for (let i = 0; i < count; i++) values[i] = values[i] * 256 + bytes[from + i];
  }
  if (column.delta) {
    let last = 0;
    for (let i = 0; i < count; i++) values[i] = last += signed(values[i]);
  } else {
    for (let i = 0; i < count; i++) values[i] = values[i] === 0 ? NaN : values[i] - 1;
  }
  if (column.rest) for (let i = 0; i < count; i++) values[i] = signed(values[i]);
  return values;
}

/**
 * Adds the sums of the parts of each row, which were left out.
 * @param {Float64Array} values
 * @param {Float64Array} of the row that a part belongs to
 * @param {Float64Array} parts
 */
function addParts(values, of, parts) {
  for (let i = 0; i < parts.length; i++) values[of[i]] += parts[i] || 0;
}

/**
 * @param {Uint8Array} bytes the texts, one after the other
 * @param {Float64Array} lengths
 */
function textsOf(bytes, lengths) {
  const offsets = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) offsets[i + 1] = offsets[i] + lengths[i];
  const decoder = new TextDecoder();
  /** @type {Map<number, string>} */
  const known = new Map();
  return (/** @type {number} */ index) => {
    if (Number.isNaN(index)) return "";
    let text = known.get(index);
    if (text === undefined) {
      text = decoder.decode(bytes.subarray(offsets[index], offsets[index + 1]));
      if (known.size < 100000) known.set(index, text);
    }
    return text;
  };
}

/**
 * @param {ReadableStream<Uint8Array>} compressed
 * @returns {Promise<Run>}
 */
export async function unpack(compressed) {
  /* The checker's library does not know it. */
  const { DecompressionStream } = /** @type {any} */ (globalThis);
  const stream = compressed.pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const jsonLength = new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + jsonLength)));
  /** @type {Record<string, Table>} */
  const tables = {};
  let at = 4 + jsonLength;
  let begin = performance.now();
  for (const [name, table] of Object.entries(head.tables)) {
    tables[name] = { count: table.count, columns: {} };
    for (const [title, column] of Object.entries(table.columns)) {
      const size = table.count * column.bytes;
      tables[name].columns[title] = unpackColumn(bytes.subarray(at, at + size), table.count, column);
      at += size;
      if (performance.now() - begin > COLUMNS_AT_ONCE_MS) {
        await pause();
        begin = performance.now();
      }
    }
  }
  /* Parts come after what they are parts of, and are complete first. */
  for (const [name, table] of Object.entries(head.tables).reverse()) {
    for (const [title, column] of Object.entries(table.columns)) {
      if (!column.rest) continue;
      const [parts, of] = table.parts;
      addParts(tables[name].columns[title], tables[parts].columns[of], tables[parts].columns[title]);
    }
  }
  return {
    facts: head.facts,
    tasks: tables.tasks,
    tools: tables.tools,
    processes: tables.processes,
    series: tables.series,
    text: textsOf(bytes.subarray(at), tables.texts.columns.length),
  };
}
