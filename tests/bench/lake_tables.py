"""Blocks of docs/performance-lake.md: the fleet and outage measurements of tests/bench/run, and
their extrapolation to as many real hosts."""

import math
import statistics

SECTIONS = {"fleet", "outage"}

CATCH_UP_GOAL = 20
SHIPPER_GOAL_MIB = 16

# Assumptions about a real host. Everything else is measured.
PROCESSES_A_DAY = 50_000
BUSY = 4            # mean number of concurrent processes, each with a sample a second
HOST_SAMPLES_A_DAY = 86_400 // 10
PEAK = 3            # ratio of the busiest hour to the mean of the day
BUSY_AT_MOST = 0.5  # share of a server's processors in that hour
KEPT_DAYS = {"samples": 90}
KEPT_DAYS_ELSE = 365
OF_PROCESSES = ("processes", "tools", "tasks", "runs") # proportional to the number of processes
SERVER_PROCESSORS = 32
SERVER_BYTES = 20 * 10**12
FLEETS = (1_000, 10_000)
# Above a thousand hosts docs/shipping.md recommends 300 s.
PERIODS_S = {1_000: 60, 10_000: 300}


def is_measured(results):
    return all(name in results and not results[name].get("absent") for name in SECTIONS)


def number(value):
    """Three significant digits, with thousands separators."""
    if value and abs(value) < 100:
        return f"{value:.3g}"
    digits = 3 - len(str(int(abs(value))))
    return f"{round(value, min(digits, 0)):,.0f}"


def size(value):
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            return f"{number(value)} {unit}"
        value /= 1000


def table(head, rows):
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head),
            *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)]


# --- measured -----------------------------------------------------------------------------

def block_lake_goals(results):
    outage = results["outage"]
    times = outage["outage_s"] / outage["catch_up"]["wall_s"]
    mib = outage["resident_most_bytes"] / 2**20
    verdict = lambda is_met: "**met**" if is_met else "**not met**"
    return table(["what", "goal", "measured", ""], [
        [f"Catching up after {outage['outage_s'] / 3600:.2g} h at 1,000 processes a second",
         f"{CATCH_UP_GOAL} times real time", f"{times:.0f} times",
         verdict(times >= CATCH_UP_GOAL)],
        ["Most that the shipper ever had resident", f"under {SHIPPER_GOAL_MIB} MiB",
         f"{mib:.1f} MiB", verdict(mib < SHIPPER_GOAL_MIB)],
        ["Rows of the store that the lake has, by key and content", "all",
         f"{outage['compared_rows']:,} of {sum(outage['rows'].values()):,}",
         verdict(outage["compared_rows"] == sum(outage["rows"].values()))]])


def cpu_text(seconds, rows):
    return f"{seconds:.0f} s: {seconds / rows * 1e6:.1f} µs a row"


def span_text(mebibytes):
    return f"{min(mebibytes):.1f} to {max(mebibytes):.1f} MiB" if mebibytes else "not seen"


def block_outage(results):
    outage = results["outage"]
    caught = outage["catch_up"]
    rate = (caught["rows"] - caught["first_rows"]) / caught["wall_s"]
    rows, processes = sum(outage["rows"].values()), outage["rows"]["processes"]
    resident = [(at_s, value / 2**20) for at_s, value in outage["resident"]]
    away = [mib for at_s, mib in resident if at_s <= outage["back_s"]]
    back = [mib for at_s, mib in resident if at_s > outage["back_s"]]
    return table(["what", "measured"], [
        ["the outage, in the host's time", f"{outage['outage_s']:,.0f} s, {processes:,} processes"],
        ["replayed into the store in", f"{outage['replay_s']:.0f} s"],
        ["waiting in the store", f"{rows:,} rows, {size(outage['store_bytes'])}"],
        ["from the lake's return to the next attempt (growing waits, jittered)",
         f"{caught['wait_s']:.0f} s"],
        ["from then until all had arrived", f"{caught['wall_s']:.0f} s: {number(rate)} rows/s,"
         f" {outage['outage_s'] / caught['wall_s']:.0f} times real time"],
        ["requests", f"{caught['batches']}"],
        ["on the wire, compressed", f"{caught['wire_bytes'] / rows:.1f} bytes a row"],
        ["CPU of the shipper", cpu_text(caught["shipper_cpu_s"], rows)],
        ["CPU of the lake, merges included", cpu_text(caught["lake_cpu_s"], rows)],
        ["shipper resident, while the lake was away", span_text(away)],
        ["shipper resident, catching up", span_text(back)]])


def block_fleet(results):
    fleet = results["fleet"]
    rows = sum(fleet["rows"].values())
    return table(["what", "measured"], [
        ["hosts, each with a store and a shipper of its own", f"{fleet['hosts']:,}"],
        ["rows", f"{rows:,}, of {fleet['rows']['processes']:,} processes"],
        ["arrived in", f"{fleet['wall_s']:.0f} s: {number(rows / fleet['wall_s'])} rows/s,"
         f" {fleet['batches'] / fleet['wall_s']:.0f} inserts/s"],
        ["rows of an insert", f"{rows / fleet['batches']:.0f}"],
        ["on the wire, compressed", f"{fleet['wire_bytes'] / rows:.1f} bytes a row"],
        ["stored, merged", f"{stored_bytes(fleet) / rows:.1f} bytes a row"],
        ["in the hosts' own stores", f"{fleet['store_bytes'] / rows:.0f} bytes a row"],
        ["CPU of a shipper, with its start",
         f"{fleet['shippers_cpu_s'] / fleet['hosts'] * 1000:.0f} ms"],
        ["CPU of the lake",
         f"{fleet['lake_cpu_s']:.0f} s, and {fleet['merge_cpu_s']:.0f} s to merge everything"],
        ["most parts of a table at once", fleet["parts_most"]],
        ["the lake's resident memory", size(fleet["lake_resident_bytes"])],
        ["rows compared with their stores",
         f"{fleet['compared_rows']:,} by key and content, all others by number"]])


def stored_bytes(fleet):
    return sum(value for _, value in fleet["stored"].values())


def block_tables(results):
    fleet = results["fleet"]
    return table(["table", "rows", "bytes a row on the wire", "stored, merged"], [
        [name, f"{count:,}", f"{each(fleet['wire'][name]):.1f}", f"{value / count:.1f}"]
        for name, (count, value) in sorted(fleet["stored"].items(), key=lambda item: -item[1][1])])


def each(rows_and_bytes):
    rows, value = rows_and_bytes
    return value / rows


def block_questions(results):
    asked = results["fleet"]["asked"]
    head = ["question"] + [f"{case['hosts']:,} hosts, {number(case['rows'] / 1e6)} million rows"
                           for case in asked]
    return table(head, [[name, *(seconds_text(case["answers"][name]["seconds"]) for case in asked)]
                        for name in asked[0]["answers"]])


def seconds_text(seconds):
    return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"


# --- extrapolated -------------------------------------------------------------------------

class Model:
    """That many real hosts, extrapolated from the measurements and the assumptions."""

    def __init__(self, results, hosts):
        fleet = results["fleet"]
        processes = fleet["rows"]["processes"]
        self.hosts, self.period_s = hosts, PERIODS_S[hosts]
        self.rows = {name: hosts * PROCESSES_A_DAY * fleet["rows"][name] / processes
                     for name in OF_PROCESSES}
        self.rows["samples"] = hosts * BUSY * 86_400
        self.rows["host_samples"] = hosts * HOST_SAMPLES_A_DAY
        self.inserts_a_second = hosts / self.period_s * fleet["batches"] / fleet["hosts"]
        self.send(fleet)
        self.store(fleet)
        self.work(*costs(results))

    def send(self, fleet):
        """Whatever is running is sent again in every round: a process, its tool, task and run; the host."""
        rounds = self.hosts * 86_400 / self.period_s
        sent = dict(self.rows, hosts=rounds)
        for name in OF_PROCESSES:
            sent[name] += rounds * BUSY
        self.sent_a_second = sum(sent.values()) / 86_400
        self.wire_bytes_a_second = sum(
            count * each(fleet["wire"][name]) for name, count in sent.items()) / 86_400

    def store(self, fleet):
        a_day = {name: count * each(fleet["stored"][name]) for name, count in self.rows.items()}
        self.bytes_a_day = sum(a_day.values())
        self.bytes_kept = sum(value * KEPT_DAYS.get(name, KEPT_DAYS_ELSE)
                              for name, value in a_day.items())

    def work(self, row_s, insert_s):
        self.row_cores = self.sent_a_second * row_s
        self.insert_cores = self.inserts_a_second * insert_s
        cores = (self.row_cores * PEAK + self.insert_cores) / BUSY_AT_MOST
        self.shards = math.ceil(max(cores / SERVER_PROCESSORS, self.bytes_kept / SERVER_BYTES))
        self.server_cores = math.ceil(cores / self.shards)
        self.server_bytes = self.bytes_kept / self.shards


def costs(results):
    """CPU seconds of the lake for each row (in large inserts), and for each insert besides its rows."""
    fleet, caught = results["fleet"], results["outage"]["catch_up"]
    row_s = caught["lake_cpu_s"] / caught["rows"]
    total_s = fleet["lake_cpu_s"] + fleet["merge_cpu_s"]
    return row_s, max(0, total_s - fleet["sent_rows"] * row_s) / fleet["batches"]


def block_model(results):
    fleet = results["fleet"]
    row_s, insert_s = costs(results)
    ratios = ", ".join(f"{number(fleet['rows'][name] / fleet['rows']['processes'])} {name}"
                       for name in OF_PROCESSES[1:])
    assumed = table(["taken as given, of one host", ""], [
        ["processes in a day", f"{PROCESSES_A_DAY:,}"],
        ["busy processes at once, mean of the day", f"{BUSY}: each has a sample a second, and is"
         " sent again, with its tool, task and run, in every round"],
        ["samples of the host in a day", f"{HOST_SAMPLES_A_DAY:,}"],
        ["busiest hour", f"{PEAK} times the mean of the day"],
        ["a server's processors then",
         f"at most {BUSY_AT_MOST:.0%} busy: the rest is for questions"],
        ["a server has at most", f"{SERVER_PROCESSORS} processors, {size(SERVER_BYTES)}"],
        ["kept", f"samples {KEPT_DAYS['samples']} days, the rest {KEPT_DAYS_ELSE}"]])
    measured = table(["measured", ""], [
        ["of a process there are", ratios],
        ["CPU of the lake for a row", f"{row_s * 1e6:.1f} µs (after the outage)"],
        ["CPU of the lake for an insert, beside its rows", f"{insert_s * 1e3:.1f} ms (the fleet)"]])
    models = [Model(results, hosts) for hosts in FLEETS]
    return [*assumed, "", *measured, "", *model_table(models)]


def model_table(models):
    rows = {
        "`send.interval`": lambda model: f"{model.period_s} s",
        "rows a day, million": lambda model: number(sum(model.rows.values()) / 1e6),
        "of these, samples": lambda model: number(model.rows["samples"] / 1e6),
        "rows sent a second, mean of the day": lambda model: number(model.sent_a_second),
        "network, mean of the day": lambda model: f"{size(model.wire_bytes_a_second)}/s",
        "inserts a second": lambda model: number(model.inserts_a_second),
        "stored a day": lambda model: size(model.bytes_a_day),
        "stored in the end": lambda model: size(model.bytes_kept),
        "processors at work for rows, mean of the day": lambda model: number(model.row_cores),
        "processors at work for inserts": lambda model: number(model.insert_cores),
        "shards, each of 2 replicas (and 3 Keepers)": lambda model: model.shards,
        "each server": lambda model: f"{model.server_cores} processors, {size(model.server_bytes)}"}
    return table(["", *(f"{model.hosts:,} hosts" for model in models)],
                 [[what, *(text(model) for model in models)] for what, text in rows.items()])


BLOCKS = {"lake_goals": block_lake_goals, "outage": block_outage, "fleet": block_fleet,
          "tables": block_tables, "questions": block_questions, "model": block_model}
