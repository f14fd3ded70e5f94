#!/usr/bin/env python3
"""A table of replays in which the wall clock is or was wrong: what tracer answers is as with a clock that was right, or it
says that the clock was set.

    check_clock.py TRACER CORRELATOR RECORDING [TEST...]

The recording, of a pipeline, gets three hours after its end in which nothing ran: a gap that tracer sweep finds, and the
bill has.
"""
import json
import os
import pathlib
import sys
import time

from case import Case
from daemons import replay
from testing import run_cases

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
import recording  # noqa: E402 (the line above has to come first)
from wire_client import padded, record  # noqa: E402

CORRELATOR, RECORDING = map(pathlib.Path, map(os.path.abspath, sys.argv[2:4]))
S, HOUR, DAY = 10**9, 3600 * 10**9, 86400 * 10**9
GAP_NS = 3 * HOUR
NOW = time.time_ns() - 20 * S  # of the last scan
FROM_1970 = -NOW + DAY  # early in 1970
IN_2036 = 10 * 365 * DAY


def with_system(messages):
    """Process 1 in every scan: the host is watched while it runs."""
    for name, values in messages:
        if name == "scan":
            found = record("sample", boot_ns=values["boot_ns"], image=(1, 1, 1), uid=0, comm="systemd",
                           filename="/usr/lib/systemd/systemd", argv=["/sbin/init"], counters={"cpu_ns": S, "thread_count": 1})
            yield "sample", {"records": padded(found)}
        yield name, values


MESSAGES = list(with_system(recording.read(RECORDING)))
SCANS = [values["boot_ns"] for name, values in MESSAGES if name == "scan"]

# How far the clock is off at first, and when it is set right: not at all (None), during the pipeline, or in the gap.
STEPS = {f"{what}, {when}": (off_ns, at)
         for what, off_ns in {"an hour ahead": HOUR, "an hour behind": -HOUR, "in 1970": FROM_1970, "in 2036": IN_2036}.items()
         for when, at in {"set right during the pipeline": SCANS[len(SCANS) // 2], "set right after it": SCANS[-1]}.items()}


SAID = "the wall clock was set"


class Clock(Case):
    @classmethod
    def write_store(cls, path):
        cls.rewritten(path, lambda boot_ns: 0)

    @classmethod
    def rewritten(cls, path, off_of, boot=0):
        """Adds the recording to a store, with a clock that is off by `off_of` each moment, so many boots before this one."""
        def with_gap(boot_ns):
            return boot_ns + (GAP_NS if boot_ns >= SCANS[-1] else 0)
        messages = recording.shifted(
            MESSAGES, shift_boot=with_gap, shift_unix=lambda unix_ns, boot_ns:
            NOW - with_gap(SCANS[-1]) + with_gap(boot_ns) + off_of(boot_ns) - boot * DAY)
        for name, values in messages:
            if name == "hello":
                values["boot_id"] = f"00000000-0000-4000-8000-{boot:012}".encode()
                values["ring_epoch"] += boot
        rewritten = pathlib.Path(cls.directory) / "rewritten.rec"
        recording.write(rewritten, messages)
        return replay(CORRELATOR.parents[1], rewritten, path)

    def asked(self, verb, *arguments, store):
        """(the JSON, what was said beside it)"""
        result = self.run_tracer(verb, "--json", *arguments, "--store", store)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), result.stderr.decode()

    def billed_s(self, store):
        """Hours of the host in the bill, in seconds."""
        bill, said = self.asked("cost", "--by", "host", store=store)
        return round(bill["observed_ms"] / 1000), said

    def gaps_s(self, store):
        """Time of its processors in gaps between runs."""
        found, said = self.asked("sweep", "--limit", "0", store=store)
        return [round(item["cpu_ns"] / S) for item in found["findings"] if item["finding"] == "host_gaps"], said

    def ran(self, store):
        """How long runs took, and their host, which is there now."""
        runs, said = self.asked("runs", "--all", store=store)
        return sorted((run["name"], run["status"], run["wall_ns"]) for run in runs["runs"]), said

    def told(self, store):
        """The checks of the clock in tracer status."""
        checks = json.loads(self.run_tracer("status", "--json", "--store", store).stdout)["checks"]
        return [check["text"] for check in checks if check["topic"] == "clock"]

    def test_a_clock_that_was_right(self):
        """Nothing is said of it."""
        for answer in (self.billed_s, self.gaps_s, self.ran):
            self.assertNotIn(SAID, answer(self.store)[1], answer)
        self.assertEqual(self.told(self.store), [])

    def test_a_clock_that_is_set_right(self):
        """Each answer says that it was. Runs take as long as they do, and the bill has all hours of the host."""
        ran, billed_s = self.ran(self.store)[0], self.billed_s(self.store)[0]
        for what, (off_ns, at) in STEPS.items():
            with self.subTest(what):
                store = self.rewritten(os.path.join(self.directory, f"{what}.db"), lambda boot_ns: off_ns * (boot_ns < at))
                found, said = zip(self.ran(store), self.billed_s(store), self.gaps_s(store))
                self.assertTrue(all(SAID in each for each in said), said)
                self.assertEqual(len(self.told(store)), 1)
                self.assertEqual(found[0], ran)
                if off_ns > 0:
                    self.assertEqual(found[1], billed_s)
                else:  # when it was seen first is not known: while it was on
                    self.assertGreaterEqual(found[1], billed_s)

    def test_a_clock_that_was_ahead_until_a_reboot(self):
        """The host is in the bill, and in the sweep, of this boot, in which the clock is right."""
        store = self.rewritten(os.path.join(self.directory, "rebooted.db"), lambda boot_ns: IN_2036, boot=1)
        self.rewritten(store, lambda boot_ns: 0)
        (billed_s, said), (gaps_s, _) = self.billed_s(store), self.gaps_s(store)
        self.assertEqual(billed_s, self.billed_s(self.store)[0])
        self.assertEqual(gaps_s, self.gaps_s(self.store)[0])
        self.assertIn(SAID, said)
        self.assertEqual(len(self.told(store)), 1)


if __name__ == "__main__":
    sys.exit(run_cases("cli-clock", sys.argv[4:]))
