// Packs spans of time that overlap into lanes: each goes to the first lane that is free.

/** The smallest key first. */
class Heap {
  constructor() {
    /** @type {number[]} */
    this.keys = [];
    /** @type {number[]} */
    this.values = [];
  }

  get size() {
    return this.keys.length;
  }

  clear() {
    this.keys.length = 0;
    this.values.length = 0;
  }

  /**
   * @param {number} key
   * @param {number} value
   */
  push(key, value) {
    const { keys, values } = this;
    let at = keys.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (keys[parent] <= key) break;
      keys[at] = keys[parent];
      values[at] = values[parent];
      at = parent;
    }
    keys[at] = key;
    values[at] = value;
  }

  /** @returns {number} the value of the smallest key */
  pop() {
    const { keys, values } = this;
    const first = values[0];
    const key = /** @type {number} */ (keys.pop());
    const value = /** @type {number} */ (values.pop());
    const size = keys.length;
    if (size === 0) return first;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && keys[child + 1] < keys[child]) child++;
      if (keys[child] >= key) break;
      keys[at] = keys[child];
      values[at] = values[child];
      at = child;
    }
    keys[at] = key;
    values[at] = value;
    return first;
  }
}

export class Lanes {
  constructor() {
    this.busy = new Heap();
    this.free = new Heap();
    this.count = 0;
  }

  clear() {
    this.busy.clear();
    this.free.clear();
    this.count = 0;
  }

  /**
   * The lane of the next span; they come by begin.
   * @param {number} begin
   * @param {number} end
   */
  add(begin, end) {
    while (this.busy.size > 0 && this.busy.keys[0] <= begin) {
      const lane = this.busy.pop();
      this.free.push(lane, lane);
    }
    const lane = this.free.size > 0 ? this.free.pop() : this.count++;
    this.busy.push(Math.max(end, begin + 1), lane);
    return lane;
  }
}
