"""Blocks of docs/performance-lake.md: what tests/bench/run measured of a fleet, of an outage, and
what that means for as many real hosts.
"""

import math
import statistics

SECTIONS = {"fleet", "outage"}

CATCH_UP_GOAL = 20
SHIPPER_GOAL_MIB = 16

# What a real host is taken to do. Everything else is measured.
PROCESSES_A_DAY = 50_000
BUSY = 4            # processes at once, mean of the day: each has a sample a second
HOST_SAMPLES_A_DAY = 86_400 // 10
PEAK = 3            # the busiest hour to the mean of a day
BUSY_AT_MOST = 0.5  # of a server's processors, at that hour
KEPT_DAYS = {"samples": 90}
KEPT_DAYS_ELSE = 365
FLEETS = (1_000, 10_000)
# Beyond a thousand hosts docs/shipping.md says 300 s.
PERIODS_S = {1_000: 60, 10_000: 300}
SHARD_ROWS_A_SECOND = 100_000 # docs/datalake.md: do not shard below


def is_measured(results):
    return all(name in results and not results[name].get("absent") for name in SECTIONS)


def number(value):
    """Three digits that count, thousands apart."""
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
        ["Most that the shipper ever had resident", f"under {SHIPPER_GOAL_MIB} MiB", f"{mib:.1f} MiB",
         verdict(mib < SHIPPER_GOAL_MIB)],
        ["Rows of the store that the lake has, by key and content", "all",
         f"{outage['compared_rows']:,} of {sum(outage['rows'].values()):,}",
         verdict(outage["compared_rows"] == sum(outage["rows"].values()))]])


def block_outage(results):
    outage = results["outage"]
    caught = outage["catch_up"]
    rows, processes = sum(outage["rows"].values()), outage["rows"]["processes"]
    resident = [(at_s, value / 2**20) for at_s, value in outage["resident"]]
    away = [mib for at_s, mib in resident if at_s <= outage["back_s"]]
    back = [mib for at_s, mib in resident if at_s > outage["back_s"]]
    return table(["what", "measured"], [
        ["the outage, in the host's time", f"{outage['outage_s']:,.0f} s, {processes:,} processes"],
        ["replayed into the store in", f"{outage['replay_s']:.0f} s"],
        ["waiting in the store", f"{rows:,} rows, {size(outage['store_bytes'])}"],
        ["from the lake's return to the next attempt (growing waits, 5 min at most)",
         f"{caught['wait_s']:.0f} s"],
        ["from then until all had arrived", f"{caught['wall_s']:.0f} s: {number(rows / caught['wall_s'])} rows/s,"
         f" {outage['outage_s'] / caught['wall_s']:.0f} times real time"],
        ["requests", f"{caught['batches']}, {caught['wire_bytes'] / rows:.1f} bytes a row on the wire"],
        ["CPU of the shipper", f"{caught['shipper_cpu_s']:.0f} s: {caught['shipper_cpu_s'] / rows * 1e6:.1f} µs a row"],
        ["CPU of the lake, merges included", f"{caught['lake_cpu_s']:.0f} s:"
         f" {caught['lake_cpu_s'] / rows * 1e6:.1f} µs a row"],
        ["shipper resident, while the lake was away", f"{min(away):.1f} to {max(away):.1f} MiB"],
        ["shipper resident, catching up", f"{min(back):.1f} to {max(back):.1f} MiB" if back else ""]])


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
        ["CPU of the shippers, with their start", f"{fleet['shippers_cpu_s'] / fleet['hosts'] * 1000:.0f} ms a host"],
        ["CPU of the lake", f"{fleet['lake_cpu_s']:.0f} s, and {fleet['merge_cpu_s']:.0f} s to merge everything"],
        ["most parts of a table at once", fleet["parts_most"]],
        ["the lake's resident memory", size(fleet["lake_resident_bytes"])],
        ["rows compared with their stores, by key and content", f"{fleet['compared_rows']:,}; all others by number"]])


def stored_bytes(fleet):
    return sum(value for _, value in fleet["stored"].values())


def block_tables(results):
    fleet = results["fleet"]
    return table(["table", "rows", "bytes a row on the wire", "stored, merged"], [
        [name, f"{count:,}", f"{fleet['wire'][name][1] / fleet['wire'][name][0]:.1f}", f"{value / count:.1f}"]
        for name, (count, value) in sorted(fleet["stored"].items(), key=lambda item: -item[1][1])])


def block_questions(results):
    asked = results["fleet"]["asked"]
    head = ["question"] + [f"{case['hosts']:,} hosts, {number(case['rows'] / 1e6)} M rows" for case in asked]
    rows = []
    for name in asked[0]["answers"]:
        cells = [case["answers"][name]["seconds"] for case in asked]
        rows.append([name, *(f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"
                             for seconds in cells)])
    return table(head, rows)


# --- what follows from it -----------------------------------------------------------------

class Model:
    """So many real hosts, by what was measured and what a host is taken to do."""

    def __init__(self, results, hosts):
        fleet = results["fleet"]
        self.hosts, self.period_s = hosts, PERIODS_S[hosts]
        self.rows = {name: hosts * PROCESSES_A_DAY * fleet["rows"][name] / fleet["rows"]["processes"]
                     for name in ("processes", "tools", "tasks", "runs")}
        self.rows |= {"samples": hosts * BUSY * 86_400, "host_samples": hosts * HOST_SAMPLES_A_DAY}
        rounds = hosts * 86_400 / self.period_s
        # What goes on is sent again in every round: a process, its tool, task and run; the host.
        again = {name: rounds * BUSY for name in ("processes", "tools", "tasks", "runs")} | {"hosts": rounds}
        sent = {name: self.rows.get(name, 0) + again.get(name, 0) for name in self.rows | again}
        self.sent_a_second = sum(sent.values()) / 86_400
        self.wire_bytes_a_second = sum(
            count * fleet["wire"][name][1] / fleet["wire"][name][0] for name, count in sent.items()) / 86_400
        self.bytes_a_day = {name: count * fleet["stored"][name][1] / fleet["stored"][name][0]
                            for name, count in self.rows.items()}
        self.bytes_kept = sum(value * KEPT_DAYS.get(name, KEPT_DAYS_ELSE)
                              for name, value in self.bytes_a_day.items())
        self.inserts_a_second = hosts / self.period_s * fleet["batches"] / fleet["hosts"]
        row_s, insert_s = costs(results)
        self.row_cores = self.sent_a_second * row_s
        self.insert_cores = self.inserts_a_second * insert_s
        self.cores = math.ceil((self.row_cores * PEAK + self.insert_cores) / BUSY_AT_MOST)
        self.shards = math.ceil(self.sent_a_second * PEAK / SHARD_ROWS_A_SECOND)


def costs(results):
    """Seconds of the lake's CPU for a row, of large inserts, and for an insert beside its rows."""
    fleet, caught = results["fleet"], results["outage"]["catch_up"]
    row_s = caught["lake_cpu_s"] / caught["rows"]
    total_s = fleet["lake_cpu_s"] + fleet["merge_cpu_s"]
    return row_s, max(0, total_s - fleet["sent_rows"] * row_s) / fleet["batches"]


def block_model(results):
    fleet = results["fleet"]
    row_s, insert_s = costs(results)
    ratios = ", ".join(f"{number(fleet['rows'][name] / fleet['rows']['processes'])} {name}"
                       for name in ("tools", "tasks", "runs"))
    assumed = table(["taken as given, of one host", ""], [
        ["processes in a day", f"{PROCESSES_A_DAY:,}"],
        ["busy processes at once, mean of the day", f"{BUSY}: each has a sample a second, and is sent again,"
         " with its tool, task and run, in every round"],
        ["samples of the host in a day", f"{HOST_SAMPLES_A_DAY:,}"],
        ["busiest hour", f"{PEAK} times the mean of the day"],
        ["a server's processors then", f"at most {BUSY_AT_MOST:.0%} busy: the rest is for questions"],
        ["kept", f"samples {KEPT_DAYS['samples']} days, the rest {KEPT_DAYS_ELSE}"]])
    measured = table(["measured", ""], [
        ["of a process there are", ratios],
        ["CPU of the lake", f"{row_s * 1e6:.1f} µs a row (after the outage), {insert_s * 1e3:.1f} ms an insert"
         " beside its rows (the fleet)"]])
    return [*assumed, "", *measured, "", *model_table([Model(results, hosts) for hosts in FLEETS])]


def model_table(models):
    rows = {
        "`send.interval`": lambda model: f"{model.period_s} s",
        "rows a day, million": lambda model: number(sum(model.rows.values()) / 1e6),
        "of these, samples": lambda model: number(model.rows["samples"] / 1e6),
        "rows sent a second, mean of the day": lambda model: number(model.sent_a_second),
        "network, mean of the day": lambda model: f"{size(model.wire_bytes_a_second)}/s",
        "inserts a second": lambda model: number(model.inserts_a_second),
        "stored a day": lambda model: size(sum(model.bytes_a_day.values())),
        "stored in the end": lambda model: size(model.bytes_kept),
        "processors at work for rows, mean of the day": lambda model: number(model.row_cores),
        "processors at work for inserts": lambda model: number(model.insert_cores),
        "processors that a server needs": lambda model: number(model.cores),
        "cluster": lambda model: f"{model.shards} shard{'s' * (model.shards > 1)} × 2 replicas, 3 Keepers"}
    return table(["", *(f"{model.hosts:,} hosts" for model in models)],
                 [[what, *(text(model) for model in models)] for what, text in rows.items()])


BLOCKS = {"lake_goals": block_lake_goals, "outage": block_outage, "fleet": block_fleet,
          "tables": block_tables, "questions": block_questions, "model": block_model}
