// Every figure of the page: its name, its unit, what it means, and how it is written. Numbers are written as
// `tracer show` writes them (analysis/query/units.c, common/duration.c): three significant digits and a unit.

/**
 * @typedef {Object} Figure
 * @property {string} title head of a column
 * @property {string} unit of what `csv` returns; "" for texts and plain counts
 * @property {string} definition
 * @property {(value: number | null | undefined) => string} format "unknown" for what is unknown
 * @property {(value: number | null | undefined) => string} csv a plain number in `unit`; "" for what is unknown
 */

export const UNKNOWN = "unknown";

/**
 * @param {number | null | undefined} value
 * @returns {value is number}
 */
export const isKnown = (value) => value !== null && value !== undefined && !Number.isNaN(value);

/**
 * @param {(value: number) => string} write
 * @returns {(value: number | null | undefined) => string}
 */
const orUnknown = (write) => (value) => (isKnown(value) ? write(value) : UNKNOWN);

/**
 * 1.23, 12.3, 123: a value that rounds up to 10 or 100 has one decimal less.
 * @param {number} value
 */
const threeDigits = (value) => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);

/** @param {number} value */
const twoDigits = (value) => String(value).padStart(2, "0");

/** "0 s", "420 µs", "1.23 ms", "12.4 s", "3m07s", "2h05m", "4d03h", from microseconds. */
export const formatDuration = orUnknown((us) => {
  const seconds = Math.round(us / 1e6);
  if (us <= 0) return "0 s";
  if (us < 999.5) return `${threeDigits(us)} µs`;
  if (us < 999500) return `${threeDigits(us / 1e3)} ms`;
  if (us < 59.95e6) return `${threeDigits(us / 1e6)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${twoDigits(seconds % 60)}s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h${twoDigits(Math.floor((seconds % 3600) / 60))}m`;
  return `${Math.floor(seconds / 86400)}d${twoDigits(Math.floor((seconds % 86400) / 3600))}h`;
});

/** The same of nanoseconds, in which the answers of commands are. */
export const formatNanoseconds = orUnknown((ns) => formatDuration(ns / 1e3));

/** "812 B", "1.23 KiB", "413 MiB" */
export const formatBytes = orUnknown((bytes) => {
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = bytes / 1024;
  let unit = 0;
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  while (value >= 1023.5 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return `${threeDigits(value)} ${units[unit]}`;
});

/** "1,234,567" */
export const formatCount = orUnknown((count) => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ","));

/** Processors: "0.02", "1.47", "31.8" */
export const formatCores = orUnknown((cores) => cores.toFixed(cores < 9.995 ? 2 : 1));

/** A limit in thousandths of a processor: "4", "0.35" */
export const formatCoreLimit = orUnknown((milli) => String(milli / 1000));

/** Of 0 to 1: "1.2 %", "46 %" */
export const formatShare = orUnknown((share) => `${(share * 100).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`);

/** Core-hours, GiB-hours: "0.0042", "1.23", "12.3", "1,234" */
export const formatHours = orUnknown((hours) =>
  hours === 0 ? "0" : hours < 1e-6 ? "below 0.000001" : hours < 0.00995 ? hours.toPrecision(2) : hours < 999.5 ? threeDigits(hours) : formatCount(hours));

let currency = "";

/**
 * Amounts are written in it from now on: the page has the bill of one run.
 * @param {string} name
 */
export function setCurrency(name) {
  currency = name;
  figures.cost_nanos.unit = name;
}

/** @param {number} amount */
const decimalsOf = (amount) => (amount >= 1 || amount === 0 ? 2 : amount >= 0.00005 ? 4 : 6);

/**
 * @param {number} amount
 * @param {number} decimals
 */
function formatAmount(amount, decimals) {
  const [whole, part] = amount.toFixed(decimals).split(".");
  return `${formatCount(Number(whole))}${part ? `.${part}` : ""}`;
}

/** "1.23 USD", "0.0042 USD", of billionths. */
export const formatMoney = orUnknown((nanos) => `${formatAmount(nanos / 1e9, decimalsOf(nanos / 1e9))} ${currency}`.trim());

/**
 * Writes parts of a sum with the decimals that it needs itself, because they are read one below the other.
 * @param {number} whole
 * @param {number} least decimals
 */
export function formatPartsOf(whole, least) {
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(whole)), least), 6);
  return orUnknown((part) => formatAmount(part, decimals));
}

/** "2025-11-20 11:52:03", in the time zone of who looks at it. */
export const formatTime = orUnknown((unixNs) => {
  const date = new Date(unixNs / 1e6);
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`;
});

/** @param {number} unixNs */
export const formatTimeOfDay = (unixNs) => formatTime(unixNs).slice("2025-11-20 ".length);

const SIGNALS = ("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN " +
  "TTOU URG XCPU XFSZ VTALRM PROF WINCH POLL PWR SYS").split(" ");

/** "SIGKILL", "signal 70" */
export const formatSignal = orUnknown((signal) =>
  SIGNALS[signal - 1] ? `SIG${SIGNALS[signal - 1]}` : `signal ${signal}`);

/**
 * How something ended: "ok", "exit 1", "SIGKILL"; "" if that is unknown or it has not ended.
 * @param {number | null | undefined} exitCode
 * @param {number | null | undefined} signal
 */
export function formatResult(exitCode, signal) {
  if (isKnown(signal) && signal > 0) return formatSignal(signal);
  if (!isKnown(exitCode)) return "";
  return exitCode === 0 ? "ok" : `exit ${exitCode}`;
}

/**
 * "1 task", "2,000 tasks"
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;

// Control characters, and those that are invisible or reorder text: the same as in common/text.c.
const UNSAFE = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]", "gu");
const ESCAPES = new Map([["\n", "\\n"], ["\t", "\\t"], ["\r", "\\r"], ["\x1b", "\\e"]]);

/** @param {string} character */
function escapeOf(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  const known = ESCAPES.get(character);
  if (known) return known;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16).padStart(4, "0")}}`;
}

/**
 * A text from a traced program with everything visible that would act on the page around it.
 * @param {string} text
 */
export const visible = (text) => text.replace(UNSAFE, escapeOf);

/**
 * The same, cut in the middle if it is long: the ends of paths and command lines say most.
 * @param {string} text
 * @param {number} length
 */
export function brief(text, length) {
  const cut = text.length > 2 * length ? `${text.slice(0, length)}…${text.slice(-length)}` : text;
  const whole = visible(cut);
  const head = Math.ceil((length - 1) * 0.6);
  return whole.length <= length ? whole : `${whole.slice(0, head)}…${whole.slice(whole.length - (length - 1 - head))}`;
}

/** @type {(value: number | null | undefined) => string} */
const csvShort = (value) => (isKnown(value) ? String(Number(value.toPrecision(6))) : "");

/** @param {number} value */
const plainNumber = (value) => String(Number(value.toPrecision(15)));

/**
 * @param {string} title
 * @param {string} definition
 * @returns {Figure}
 */
const duration = (title, definition) =>
  ({ title, unit: "s", definition, format: formatDuration, csv: (value) => (isKnown(value) ? plainNumber(value / 1e6) : "") });

/** @type {(value: number | null | undefined) => string} */
const csvAsIs = (value) => (isKnown(value) ? plainNumber(value) : "");

/**
 * @param {string} title
 * @param {string} definition
 * @returns {Figure}
 */
const bytes = (title, definition) => ({ title, unit: "bytes", definition, format: formatBytes, csv: csvAsIs });

/**
 * @param {string} title
 * @param {string} definition
 * @returns {Figure}
 */
const count = (title, definition) => ({ title, unit: "", definition, format: formatCount, csv: csvAsIs });

/**
 * @param {string} title
 * @param {string} definition
 * @returns {Figure}
 */
const hours = (title, definition) => ({ title, unit: "h", definition, format: formatHours, csv: csvAsIs });

/** @type {(value: number | null | undefined) => string} */
const yesOrNo = orUnknown((value) => (value ? "yes" : "no"));

/**
 * By the name of their column (docs/page.md); after those, what the page computes from them.
 * @type {Record<string, Figure>}
 */
export const figures = {
  begin_us: duration("began", "Start of the first process, counted from the start of the run."),
  wall_us: duration("wall time", "From the start of the first process to the end of the last one. Tasks overlap, so it does not add up."),
  cpu_us: duration("CPU time", "Time on a processor, in user and kernel mode, of all threads of all processes: exact, from the kernel's own accounting."),
  wait_us: duration("waited for CPU", "Time in which threads could run but waited for a processor (run-queue delay)."),
  storage_us: duration("waited for storage", "Time in which threads waited for block devices; unknown unless the kernel counts it (kernel.task_delayacct)."),
  memory_wait_us: duration("waited for memory", "Time in which threads waited for memory: swap-in, reclaim, thrashing, memory.high."),
  peak_rss_bytes: bytes("peak memory", "Largest resident set of any one process. It is not a sum; memory that processes share counts in each."),
  concurrent_memory_bytes: bytes("memory at once", "The most anonymous and shared memory that its processes held together; what they share counts once. Files in memory are in it if its cgroup is its own."),
  memory_limit_bytes: bytes("memory limit", "Smallest memory limit from its cgroup up to the root; unknown if there is none."),
  cgroup_peak_bytes: bytes("peak of the cgroup", "Highest use of that cgroup since its creation, with page cache; it may contain other processes, too."),
  core_limit_milli: { title: "cores allowed", unit: "", definition: "The most processors that any of its programs was allowed at its start: affinity or quota, whichever is less, at most the host's.", format: formatCoreLimit, csv: (value) => (isKnown(value) ? plainNumber(value / 1000) : "") },
  requested_thread_count: count("threads requested", "Threads that the options of its command lines ask for; unknown if no option says."),
  read_bytes: bytes("read", "Read from storage. What came from the page cache is not in it."),
  write_bytes: bytes("written", "Written to storage."),
  sent_bytes: bytes("sent", "Payload sent by TCP and UDP, loopback included."),
  received_bytes: bytes("received", "Payload received by TCP and UDP, loopback included."),
  gpu_busy_us: duration("GPU time", "Time that GPUs worked for it, summed over devices, without its last moments; unknown if no sampler reported it, or several processes could not be told apart."),
  gpu_peak_bytes: bytes("GPU memory", "Largest GPU memory of one process at one reading, on all devices."),
  process_count: count("processes", "Programs executed and processes forked: one that executes another program counts twice."),
  failed_count: count("failed processes", "Processes that failed. Expected endings, such as those of grep or test, do not count."),
  lost_count: count("records lost", "Records that the kernel side dropped while it ran: with more than 0, its figures are lower bounds."),
  partial_count: count("partial processes", "Processes of which I/O and delays are lower bounds, because they had more threads than could be tracked or ran before the probe."),
  exit_code: count("exit code", "Of its root process; unknown if a signal ended it or it has not ended."),
  signal: { title: "signal", unit: "", definition: "The signal that ended its root process.", format: formatSignal, csv: csvAsIs },
  out_of_memory: { title: "out of memory", unit: "", definition: "The kernel's out-of-memory killer chose a process of it.", format: yesOrNo, csv: csvAsIs },
  oom_killed: { title: "out of memory", unit: "", definition: "The kernel's out-of-memory killer chose it.", format: yesOrNo, csv: csvAsIs },
  critical: { title: "on the critical path", unit: "", definition: "Part of the longest chain of tasks that waited for each other: only shortening these makes the run shorter.", format: yesOrNo, csv: csvAsIs },
  failed: { title: "failed", unit: "", definition: "It ended with an unexpected status.", format: yesOrNo, csv: csvAsIs },
  doubtful: { title: "lower bounds", unit: "", definition: "Its figures are lower bounds: its last record is missing, it ran before the probe, or had more threads than could be tracked.", format: yesOrNo, csv: csvAsIs },
  pid: { title: "pid", unit: "", definition: "Process id (thread group id) in the host's namespace.", format: orUnknown(String), csv: csvAsIs },
  user_id: { title: "user id", unit: "", definition: "Number of the user that it ran as: real user of its first process.", format: orUnknown(String), csv: csvAsIs },
  cost_nanos: { title: "cost", unit: "", definition: "Its part of the price of the host: what it used or had reserved, whichever is more, of processors and of memory, for its time.", format: formatMoney, csv: (value) => (isKnown(value) ? plainNumber(value / 1e9) : "") },
  blocked_us: duration("uninterruptible", "Time of threads in uninterruptible sleep: as a rule they wait for storage or a network file system."),
  engine_wall_us: duration("wall time (engine)", "As the workflow engine reported it."),
  engine_cpu_us: duration("CPU time (engine)", "As the workflow engine reported it: as a rule from samples, without processes that lived between two."),
  engine_peak_rss_bytes: bytes("peak memory (engine)", "As the workflow engine reported it: as a rule from samples, of all processes together."),
  memory_bytes: bytes("memory", "Largest resident memory of all processes at one time, in this part of the run."),
  cores: { title: "cores used", unit: "", definition: "CPU time divided by wall time: the processors used on average.", format: formatCores, csv: csvShort },
  efficiency: { title: "CPU efficiency", unit: "%", definition: "CPU time divided by the wall time of the threads that it asked for; if that is unknown, of the processors that it was allowed.", format: formatShare, csv: (value) => csvShort(isKnown(value) ? value * 100 : value) },
  memory_share: { title: "of its limit", unit: "%", definition: "Peak of the cgroup (or, if unknown, peak memory) divided by the memory limit.", format: formatShare, csv: (value) => csvShort(isKnown(value) ? value * 100 : value) },
  task_count: count("tasks", "Steps of the run: subtrees of processes below what drives it. Every attempt counts."),
  core_hours: hours("core-hours", "CPU time in hours."),
  gpu_hours: hours("GPU-hours", "Time that GPUs worked, in hours, as a sampler reported it."),
  gib_hours: hours("GiB-hours", "Memory times wall time: of a task the memory at once, or, if unknown, its peak memory."),
};
