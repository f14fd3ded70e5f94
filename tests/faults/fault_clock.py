"""Clocks that jump and machines that suspend: durations follow the boot clock."""

import subprocess
import time

import recording
from daemons import replay
from storm import own_prefix
from testing import same, wait_until

HOUR_NS = 3600 * 10**9
COMMANDS = 20


def record_a_morning(bench, daemons):
    """(recording, a moment in its middle, pid of a process that runs throughout): commands run
    before and after that moment."""
    path = daemons.directory / "recording"
    probe = daemons.start_probe("--record", path, "--period", "0.2")
    sleeper = subprocess.Popen(["sleep", "1000"])
    bench.storm(count=COMMANDS, rate=100).wait()
    time.sleep(0.5)
    middle = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    wait_until("a scan", lambda: any( # it carries the clock
        name == "scan" and values["boot_ns"] > middle for name, values in recording.read(path)))
    bench.storm(first=COMMANDS, count=COMMANDS, rate=100).wait()
    sleeper.terminate()
    sleeper.wait()
    time.sleep(0.5)
    probe.stop()
    return path, middle, sleeper.pid


def replayed(daemons, path, sleeper):
    """{pid: row} of the commands in that recording."""
    daemons.store = replay(daemons.build, path, path.with_suffix(".db"))
    rows = daemons.rows("SELECT * FROM processes WHERE (program = 'storm' OR pid = ?) AND ended = "
                        "'exit'", sleeper)
    return {row["pid"]: row for row in rows if row["pid"] == sleeper or
            (row["arguments"] or b"").startswith(own_prefix(daemons))}


def lasted_ns(row):
    return row["end_boot_ns"] - row["begin_boot_ns"]


def check_jump(daemons, path, messages, middle, sleeper, plain, jump_ns):
    reported = path.with_name(f"jump-{jump_ns}")
    recording.write(reported, recording.shifted(
        messages, shift_unix=lambda unix_ns, boot_ns:
        unix_ns + (jump_ns if boot_ns > middle else 0)))
    jumped = replayed(daemons, reported, sleeper)
    same("processes", jumped.keys(), plain.keys())
    for pid, row in jumped.items():
        for name in ("id", "begin_boot_ns", "end_boot_ns", "cpu_ns", "exit_code"):
            same(f"{name} of {row['program']} {pid}", row[name], plain[pid][name])
        moved = row["started_unix_ns"] - plain[pid]["started_unix_ns"]
        if row["begin_boot_ns"] > middle:
            assert abs(moved - jump_ns) < 10**9, f"{pid} began {moved} ns off by the wall clock"
        else:
            same(f"start of {row['program']} {pid} by the wall clock, moved by", moved, 0)


def test_a_wall_clock_that_jumps(bench):
    """An hour back, a day forward: the rows are the same, except for the wall clock of processes
    that began after the jump; the one that runs throughout keeps its start."""
    daemons = bench.daemons()
    path, middle, sleeper = record_a_morning(bench, daemons)
    messages, plain = recording.read(path), replayed(daemons, path, sleeper)
    assert len(plain) >= 2 * COMMANDS, f"{len(plain)} processes in the recording"
    for jump_ns in (-HOUR_NS, 24 * HOUR_NS):
        check_jump(daemons, path, messages, middle, sleeper, plain, jump_ns)


def test_a_machine_that_sleeps(bench):
    """The boot clock continues during suspend: the process that runs throughout lasts an hour
    longer, the others do not, and no CPU time is added."""
    daemons = bench.daemons()
    path, middle, sleeper = record_a_morning(bench, daemons)
    messages, plain = recording.read(path), replayed(daemons, path, sleeper)
    reported = path.with_name("suspended")
    recording.write(reported, recording.shifted(
        messages, shift_boot=lambda boot_ns: boot_ns + (HOUR_NS if boot_ns > middle else 0),
        shift_unix=lambda unix_ns, boot_ns: unix_ns + (HOUR_NS if boot_ns > middle else 0)))
    suspended = replayed(daemons, reported, sleeper)
    same("processes", suspended.keys(), plain.keys())
    for pid, row in suspended.items():
        expected = lasted_ns(plain[pid]) + (HOUR_NS if pid == sleeper else 0)
        same(f"duration of {row['program']} {pid}", lasted_ns(row), expected)
        same(f"CPU of {row['program']} {pid}", row["cpu_ns"], plain[pid]["cpu_ns"])
        same(f"end of {row['program']} {pid}", (row["ended"], row["exit_code"]),
             ("exit", plain[pid]["exit_code"]))
