// The time axis: where its ticks are, and how they are written.

const SECOND_US = 1e6;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;
const LONG_STEPS_US = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND_US),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE_US),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR_US),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((count) => count * DAY_US),
];

/**
 * The shortest round step that is at least so long.
 * @param {number} least_us
 */
export function tickStep(least_us) {
  if (least_us > SECOND_US / 2) return LONG_STEPS_US.find((step) => step >= least_us) ?? least_us;
  const power = 10 ** Math.floor(Math.log10(Math.max(least_us, 1)));
  return [1, 2, 5, 10].map((count) => count * power).find((step) => step >= least_us) ?? power;
}

/**
 * "2h05m", "3m07s", "12s", "12.34s", "1m02.5s": with as many decimals as the step has.
 * @param {number} us
 * @param {number} step
 */
export function tickText(us, step) {
  const decimals = step >= SECOND_US ? 0 : Math.round(6 - Math.floor(Math.log10(step) + 1e-9));
  const days = Math.floor(us / DAY_US);
  const hours = Math.floor((us % DAY_US) / HOUR_US);
  const minutes = Math.floor((us % HOUR_US) / MINUTE_US);
  const seconds = (us % MINUTE_US) / SECOND_US;
  const parts = [];
  if (days) parts.push(`${days}d`);
  if (hours) parts.push(`${hours}h`);
  if (minutes) parts.push(`${minutes}m`);
  if (seconds || parts.length === 0 || decimals > 0) parts.push(`${seconds.toFixed(decimals)}s`);
  return parts.join(" ");
}
