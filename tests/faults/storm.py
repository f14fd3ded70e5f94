"""A storm of short commands (storm.c), and whether the store has each of them once."""

import collections
import os
import shutil
import signal
import subprocess
import tempfile
import time

from testing import same

FAILS_EVERY = 50  # as storm.c has it
STALL_TIMEOUT_S = 90


def leaf_status(number):
    return 0 if number % FAILS_EVERY else number % 199 + 1


def mark_program(build, directory):
    path = directory / "tracer"
    if not path.exists():
        shutil.copy(build / "tests/workloads/worker", path)
    return path


class Storm:
    """One run of it; `count`, `rate` and `pids`, its own among them, are known once it has ended.

    `marked`: as a run of its own, beneath a program that the rules take for `tracer run`. It must
    end by itself then.
    """

    def __init__(self, build, directory, rate=1300, first=0, count=10**9, cgroup=None,
                 marked=False):
        enter = (lambda: (cgroup / "cgroup.procs").write_text(str(os.getpid()))) if cgroup else None
        mark = [mark_program(build, directory), "run", "--"] if marked else []
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*mark, build / "tests/faults/storm", str(rate), str(first), str(count)],
            stdin=subprocess.DEVNULL, stdout=self.output, preexec_fn=enter, cwd=directory)
        self.count = self.rate = self.pids = None

    def _ended(self):
        same("status of the storm", self.process.wait(STALL_TIMEOUT_S), 0)
        self.output.seek(0)
        *pids, last = self.output.read().splitlines()
        count, seconds = last.split()
        self.count, self.rate = int(count), int(count) / float(seconds)
        self.pids = {self.process.pid, *map(int, pids)}
        return self

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def wait(self):
        return self._ended()

    def close(self):
        self.output.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def own_prefix(daemons):
    """How the arguments of our commands begin: this suite may run elsewhere, too."""
    return bytes(daemons.build / "tests/faults/storm") + b"\0--leaf\0"


def leaves(daemons):
    """{number: its rows}"""
    found = collections.defaultdict(list)
    for row in daemons.rows("SELECT id, arguments, began, ended, totals, exit_code, signal, "
                            "begin_boot_ns, end_boot_ns FROM processes WHERE program = 'storm' "
                            "AND arguments IS NOT NULL"):
        if row["arguments"].startswith(own_prefix(daemons)):
            found[int(row["arguments"].split(b"\0")[2])].append(row)
    return found


def await_ends(daemons, count):
    """Until so many commands have ended in the store, or none comes any more."""
    seen, deadline = -1, 0
    while seen < count:
        now = daemons.value("SELECT count(*) FROM processes WHERE program = 'storm' AND ended = "
                            "'exit' AND substr(arguments, 1, length(?1)) = ?1",
                            own_prefix(daemons)) or 0
        if now != seen:
            seen, deadline = now, time.monotonic() + STALL_TIMEOUT_S
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)


def check_each_once(daemons, count):
    """Every command that ran is recorded, once, with its end."""
    same("losses", daemons.rows("SELECT * FROM losses"), [])
    found = leaves(daemons)
    missing = [number for number in range(count) if number not in found]
    doubled = [number for number, rows in found.items() if len(rows) > 1]
    invented = [number for number in found if number >= count]
    assert not missing, f"{len(missing)} of {count} are not recorded: {missing[:10]}"
    assert not doubled, f"{len(doubled)} are recorded twice: {found[doubled[0]]}"
    assert not invented, f"recorded and never ran: {invented[:10]}"
    wrong = [(number, rows[0]) for number, rows in found.items()
             if rows[0]["ended"] != "exit" or rows[0]["exit_code"] != leaf_status(number)]
    assert not wrong, f"{len(wrong)} of {count} ended otherwise: {wrong[:3]}"
    return sum(rows[0]["totals"] == "exit" for rows in found.values())
