"""Turns and their costs.

Watchers take turns on the same work, in an order randomized in each round, with a turn without any
watcher ("nothing") before and after each. A watcher's ratio is relative to nothing at that
moment, interpolated linearly between the turns of nothing before and after it, so a machine that
slows down or speeds up affects both sides. Nothing is also one of the watchers; the deviation of
its ratios from 1 is the noise of the measurement.

A watcher with a goal has as many rounds as it takes to decide whether it meets it, within a bound.
"""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time

import harness
from goals import GOALS
from testing import measured_run

NOTHING = "nothing"
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS_CERTAIN = 6 # with fewer, no interval contains the true median with a probability of 95 %
BPF_STATISTICS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


def note(text):
    print(f"    {text}", file=sys.stderr, flush=True)


class Bench(harness.Bench):
    """The place of the measurements."""

    def __init__(self, programs, settle_s):
        super().__init__(programs)
        self.settle_s = settle_s

    def settle(self):
        """Waits until the watchers have nothing left to do."""
        time.sleep(self.settle_s)


# --- figures from the kernel -------------------------------------------------------------

def machine_busy_s():
    """CPU seconds since boot in which processors were not idle. Idle time is exact (the kernel
    measures it by clock); busy time counted in ticks is not."""
    with open("/proc/uptime", encoding="ascii") as uptime:
        elapsed, idle = map(float, uptime.read().split())
    return elapsed * os.cpu_count() - idle


def machine_steal_s():
    """CPU seconds that the hypervisor gave to others."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / CLOCK_TICKS


def process_cpu_s(pid):
    """CPU time of a process, all threads."""
    total_ns = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total_ns += int((task / "schedstat").read_text().split()[0])
    return total_ns / 1e9


def resident_bytes(pid):
    """Resident set of a process without its mapping of the ring."""
    total = 0
    counted = True
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        key, _, value = line.partition(":")
        if "-" in key: # start of a mapping: "7f00-7f10 rw-s ... anon_inode:bpf-map"
            counted = not line.endswith("bpf-map")
        elif key == "Rss" and counted:
            total += int(value.split()[0]) * 1024
    return total


def written_bytes(pid):
    """Bytes written to storage so far: pages made dirty."""
    with open(f"/proc/{pid}/io", encoding="ascii") as figures:
        return next(int(line.split()[1]) for line in figures if line.startswith("write_bytes:"))


def cpu_of(command):
    """CPU seconds of a command and its reaped children."""
    return measured_run(command, stderr=subprocess.DEVNULL)[1]


def descriptors(pid):
    """[(number, target)] of a process."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError): # closed in the meantime
            found.append((path.name, os.readlink(path)))
    return found


# --- turns -------------------------------------------------------------------------------

@dataclasses.dataclass
class Turn:
    """The cost of `count` units of work while a watcher runs."""

    at_s: float         # midpoint, on the machine's clock
    count: int
    wall_s: float
    own_s: float        # CPU of the work and of all watchers
    correlator_s: float # the correlator's part of own_s
    machine_s: float    # CPU of the whole machine
    steal_s: float      # CPU that the hypervisor took away

    def each(self, figure):
        """For one unit. figure: "own", "without_correlator", "machine" or "wall"."""
        if figure == "without_correlator":
            return (self.own_s - self.correlator_s) / self.count
        return getattr(self, f"{figure}_s") / self.count


FIGURES = ("own", "without_correlator", "machine", "wall")


def measure(bench, watcher, loads):
    """{load's name: Turn}: each load once while the watcher runs, without its start and end."""
    turns = {}
    with watcher.running(bench):
        bench.settle()
        for load in loads:
            count = max(1, load.count // watcher.slowness)
            watching, correlator = watcher.cpu_s()
            begin, machine, steal = time.monotonic(), machine_busy_s(), machine_steal_s()
            work_s = load.run(bench, watcher, count)
            end = time.monotonic()
            bench.settle() # remaining work is part of its cost
            watching_after, correlator_after = watcher.cpu_s()
            turns[load.name] = Turn(
                (begin + end) / 2, count, end - begin, work_s + watching_after - watching,
                correlator_after - correlator, machine_busy_s() - machine,
                machine_steal_s() - steal)
    return turns


def take_turns(bench, nothing, watchers, loads, rounds, rounds_most):
    """{load's name: {watcher's name: [Turn, ...]}}. After the first `rounds`, only the watchers whose goals are
    undecided."""
    taken = {load.name: {watcher.name: [] for watcher in [nothing, *watchers]} for load in loads}
    order = random.Random(0)

    def turn(watcher, number):
        begin = time.monotonic()
        for name, measured in measure(bench, watcher, loads).items():
            taken[name][watcher.name].append(measured)
        note(f"round {number + 1}: {watcher.name}, {time.monotonic() - begin:.1f} s")

    def is_due(watcher, number):
        if number < rounds:
            return number < (watcher.rounds_max or rounds)
        return not all(is_decided(turns, watcher, GOALS.get(name, {}).get(watcher.name))
                       for name, turns in taken.items())

    turn(nothing, 0)
    for number in range(rounds_most):
        due = [watcher for watcher in watchers if is_due(watcher, number)]
        for watcher in order.sample(due, len(due)):
            turn(watcher, number)
            turn(nothing, number)
    return taken


def is_decided(turns, watcher, goal):
    """Whether the interval of its median is on one side of the goal; also if it has none."""
    if goal is None:
        return True
    values = [ratio - 1 for ratio in ratios(turns)[watcher.name]["own"]]
    low, high = median_interval(values)
    return len(values) >= ROUNDS_CERTAIN and (high < goal or low >= goal)


def median_interval(values):
    """Two of the values, between which the true median is with a probability of 95 % or, if there are fewer than six,
    as probably as they can tell. It follows from their order alone, whatever the distribution."""
    values, count, cut = sorted(values), len(values), 0
    outside = 2 / 2**count
    while outside + 2 * math.comb(count, cut + 1) / 2**count <= 0.05:
        cut += 1
        outside += 2 * math.comb(count, cut) / 2**count
    return values[cut], values[-1 - cut]


def nothing_at(nothing, at_s, figure):
    """Cost of a unit of work without a watcher at that moment, interpolated."""
    before = max((turn for turn in nothing if turn.at_s <= at_s), key=lambda turn: turn.at_s)
    after = min((turn for turn in nothing if turn.at_s >= at_s), key=lambda turn: turn.at_s)
    share = (at_s - before.at_s) / (after.at_s - before.at_s or 1)
    return before.each(figure) * (1 - share) + after.each(figure) * share


def ratios(turns):
    """{watcher: {figure: [ratio to nothing, ...]}}"""
    return {name: {figure: [turn.each(figure) / nothing_at(turns[NOTHING], turn.at_s, figure)
                            for turn in taken]
                   for figure in FIGURES}
            for name, taken in turns.items() if name != NOTHING and taken}


def compare(bench, nothing, watchers, loads, rounds, rounds_most):
    """One case of the results for each load."""
    taken = take_turns(bench, nothing, watchers, loads, rounds, rounds_most)
    return {load.name: {
        "title": load.title,
        "unit": load.unit,
        "count": load.count,
        "ratios": ratios(taken[load.name]),
        "turns": {name: [dataclasses.asdict(turn) for turn in turns]
                  for name, turns in taken[load.name].items()},
    } for load in loads}


# --- run time that the kernel charges to BPF programs ------------------------------------

@contextlib.contextmanager
def bpf_statistics(are_on):
    """Switches the kernel's accounting of BPF run time, which slows programs down, on or off for the block."""
    before = BPF_STATISTICS.read_text(encoding="ascii")
    BPF_STATISTICS.write_text("1" if are_on else "0", encoding="ascii")
    try:
        yield
    finally:
        BPF_STATISTICS.write_text(before, encoding="ascii")


def bpf_programs(pid):
    """{(hook, program's name): (ns run, times run)} of the programs that a process has attached,
    found through its links, since other probes may run here."""
    hooks = {}
    for number, kind in descriptors(pid):
        if kind in ("anon_inode:bpf_link", "anon_inode:bpf-link"):
            text = pathlib.Path(f"/proc/{pid}/fdinfo/{number}").read_text(encoding="ascii")
            link = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            iterator = f"iterator over {link.get('target_name', 'something').strip()}"
            hooks[int(link["prog_id"])] = link.get("tp_name", iterator).strip()
    listed = subprocess.run(["bpftool", "prog", "show", "--json"], capture_output=True, check=True)
    return {(hooks[program["id"]], program["name"]):
            (program.get("run_time_ns", 0), program.get("run_cnt", 0))
            for program in json.loads(listed.stdout) if program["id"] in hooks}


@dataclasses.dataclass
class Charge:
    """CPU that a watcher used while a load ran, by the kernel's own accounting."""

    work_s: float
    programs: dict      # {hook: (ns run, times run)}
    probe_s: float
    correlator_s: float


def charge(bench, watcher, load, least_s):
    """Requires bpf_statistics(True) and a running watcher. Repeats the load until it has used
    `least_s` of CPU, so that the watcher's CPU while it settles, which counts too, is a small part."""
    before, (watching, correlator) = bpf_programs(watcher.pid), watcher.cpu_s()
    work_s = load.run(bench, watcher, load.count)
    while work_s < least_s:
        work_s += load.run(bench, watcher, load.count)
    bench.settle()
    after, (watching_after, correlator_after) = bpf_programs(watcher.pid), watcher.cpu_s()
    programs = {}
    for (hook, name), (ran_ns, times) in after.items():
        ran_before_ns, times_before = before.get((hook, name), (0, 0))
        earlier_ns, earlier_times = programs.get(hook, (0, 0))
        programs[hook] = (earlier_ns + ran_ns - ran_before_ns,
                          earlier_times + times - times_before)
    correlator_s = correlator_after - correlator
    return Charge(work_s, programs, watching_after - watching - correlator_s, correlator_s)


def call_costs(bench, nothing, empty, load, rounds):
    """[{figure: ns an event}, one for each round] of programs that do nothing, under a load that
    calls one for each unit: the cost to the work without the kernel's accounting, the cost with it,
    and the run time charged."""
    costs = []
    for number in range(rounds):
        note(f"round {number + 1}/{rounds}: {load.title}")
        with bpf_statistics(False):
            alone_s = load.run(bench, nothing, load.count)
            with empty.running(bench):
                called_s = load.run(bench, empty, load.count)
        with bpf_statistics(True), empty.running(bench):
            counted = charge(bench, empty, load, 0)
        charged_ns, times = max(counted.programs.values(), key=lambda program: program[1])
        costs.append({"in_use": (called_s - alone_s) / load.count * 1e9,
                      "counted": (counted.work_s - alone_s) / load.count * 1e9,
                      "charged": charged_ns / times})
    return costs
