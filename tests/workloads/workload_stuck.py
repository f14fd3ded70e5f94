"""Stalled processes, and zombies. Live for the two minutes after which uninterruptible sleep is reported; then
the same stream with a faster clock, for half an hour without CPU or I/O."""

import os
import re
import sys
import time

from daemons import replay
from harness import HERE
from testing import wait_until

sys.path.insert(0, str(HERE.parent / "faults"))
import recording  # noqa: E402 (the line above comes first)

TOLD_AFTER_S = 120
STRETCH = 20
BLOCKED = "in uninterruptible sleep, without CPU or I/O,"
HALF_AN_HOUR = r"(1[89]|2\d)\d\d" # plus one scan, which is late on a busy machine
LIVE = [("stuck", rf"spawner\.py \(pid \d+\) was {BLOCKED} for 1[2-9]\d s", True)]
QUIET = "without CPU or I/O, like all of its task,"
STRETCHED = [
    ("stuck", rf"spawner\.py \(pid \d+\) was {BLOCKED} for \d+ s", True),
    # Its child, which waits for the other end of its input, but not uninterruptibly.
    ("stuck", rf"spawner\.py \(pid \d+\) was {QUIET} for \d+ s", True),
    ("stuck", rf"lonely \(pid \d+\) is {QUIET} for more than {HALF_AN_HOUR} s", False),
    ("zombies", r"hoarder\.py \(pid \d+\) has not reaped 120 children that ended", False),
    ("idle", rf"waiting \(pid \d+\) is without CPU or I/O for more than {HALF_AN_HOUR} s", False)]


def stretch(path, to):
    """Rewrites the recording with a faster clock from its beginning on."""
    messages = recording.read(path)
    begin = messages[0][1]["boot_ns"]

    def later(boot_ns):
        return max(0, boot_ns - begin) * (STRETCH - 1)
    recording.write(to, recording.shifted(
        messages, shift_boot=lambda ns: ns + later(ns),
        shift_unix=lambda unix_ns, boot_ns: unix_ns + later(boot_ns)))


def incidents(bench):
    """Incidents of the workload, which is still running."""
    report, = bench.daemons.reports(bench.directory / "work")
    return report["incidents"]


def check_reported(bench, expected):
    report, = bench.daemons.reports(bench.directory / "work")
    shown = bench.daemons.tell("show", report["run"]["id"])
    found, problems = report["incidents"], []
    for kind, sentence, is_over in expected:
        rows = [row for row in found if row["kind"] == kind and
                re.fullmatch(sentence, row["sentence"]) and
                (row["end_boot_ns"] is not None) == is_over]
        if len(rows) != 1:
            problems.append(f"{len(rows)} incidents as {sentence}")
        elif rows[0]["sentence"] not in shown:
            problems.append(f"`tracer show` does not print {rows[0]['sentence']}: {shown}")
    if len(found) != len(expected):
        problems.append(f"reported are {[(row['kind'], row['sentence']) for row in found]}")
    return problems


def watch(bench):
    """Runs until the uninterruptible sleep has been reported, and has ended."""
    directory = bench.work_directory("work", "nobody")
    for name in ("spawner.py", "ticker.py", "hoarder.py"):
        (directory / name).write_text((HERE / "failures" / name).read_text())
    os.mkfifo(directory / "fifo", 0o644)
    bench.daemons.start()
    bench.start(["bash", bench.fixture(HERE / "failures/stuck.sh")], directory)
    time.sleep(TOLD_AFTER_S)
    wait_until("an incident", lambda: incidents(bench))
    os.close(os.open(directory / "fifo", os.O_WRONLY))
    wait_until("its end", lambda: incidents(bench)[0]["end_boot_ns"])
    bench.daemons.finish()


def check(bench):
    bench.worker("lonely", "waiting")
    path = bench.directory / "recording"
    bench.daemons.correlator_options = ["--record", path]
    watch(bench)
    problems = [f"live: {line}" for line in check_reported(bench, LIVE)]
    stretched = path.with_name("stretched")
    stretch(path, stretched)
    bench.daemons.store = path.with_name("stretched.db")
    replay(bench.programs, stretched, bench.daemons.store)
    return problems + [f"half an hour: {line}" for line in check_reported(bench, STRETCHED)]
