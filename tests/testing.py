"""What all tests in Python share: skipping, comparing, waiting, and a line for each test.

A test is a function test_* of its file, called after what it shows. Its line is "ok - NAME",
"not ok - NAME" with what went wrong below, or "skip - NAME: why": tests/run counts them.
"""

import contextlib
import difflib
import fcntl
import os
import pathlib
import pprint
import pty
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import traceback

MOUNTS_MARK = "TRACER_CHECK_MOUNTS"
# Emulated processors beside other tests are a hundred times slower than a quiet host's.
EMULATED = "TRACER_TEST_EMULATED" in os.environ
# The last switch of a process, away from it, may come between the moment when its parent looks and
# the one when the kernel adds up; on emulated processors it does, once in thousands.
LATE_SWITCHES_MAX = 1 if EMULATED else 0
# Of a failure, so that it can be read.
SHOWN_MAX = 2000
DIFF_LINES_MAX = 40
DIFF_WIDTH_MAX = 200
# Read by a build with sanitizers only. What one keeps of freed memory would look like growth.
SANITIZERS = {
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64",
}
ENVIRONMENT = os.environ | SANITIZERS
# The check for leaks ends with system calls that a sandbox refuses.
CONFINED = ENVIRONMENT | {"ASAN_OPTIONS": SANITIZERS["ASAN_OPTIONS"] + ":detect_leaks=0"}


class Skip(Exception):
    """Cannot be tested here; says why."""


def difference(found, expected):
    """What a reader needs of two values that differ: both, or a bounded diff where they are long."""
    short = f"{found!r}, expected {expected!r}"
    if len(short) <= SHOWN_MAX:
        return short
    sides = [pprint.pformat(value, width=110).splitlines() for value in (expected, found)]
    lines = list(difflib.unified_diff(*sides, "expected", "found", lineterm="", n=1))
    more = [f"... {len(lines) - DIFF_LINES_MAX} more lines"] if len(lines) > DIFF_LINES_MAX else []
    return "\n".join(["", *(line[:DIFF_WIDTH_MAX] for line in lines[:DIFF_LINES_MAX]), *more])


def same(what, found, expected):
    assert found == expected, f"{what[:SHOWN_MAX]}: {difference(found, expected)}"


def wait_until(what, holds, timeout_s=60):
    """The first true answer."""
    deadline = time.monotonic() + timeout_s
    while not (answer := holds()):
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s} s"
        time.sleep(0.02)
    return answer


class OnTerminal:
    """A program whose standard error is a terminal, and what it says there."""

    def __init__(self, command, env=ENVIRONMENT, term="xterm"):
        self.said = b""
        self._terminal, its_end = pty.openpty()
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=its_end,
                                         env={**env, "TERM": term})
        os.close(its_end)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        try:
            while piece := os.read(self._terminal, 65536):
                self.said += piece
        except OSError:  # nobody has the other end any more
            pass

    def finish(self, timeout_s=60):
        """Its status, and what it printed."""
        try:
            printed, _ = self._process.communicate(timeout=timeout_s)
        finally:
            self._process.kill()
        self._listener.join()
        os.close(self._terminal)
        return self._process.returncode, printed


def remove_tree(path, timeout_s=10):
    """Whoever is about to end may still write there."""
    deadline = time.monotonic() + timeout_s
    while True:
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path) or time.monotonic() > deadline:
            return
        time.sleep(0.1)


def free_port():
    """One that no connection is given while its server is not there yet, or is down."""
    first_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, max(first_given, 20000))
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def delay_accounting_held(operation):
    """Locks the kernel's switch of delay accounting, which suites of both lanes use: LOCK_SH to
    read it, LOCK_EX to set it."""
    with open("/proc/sys/kernel/task_delayacct", encoding="ascii") as file:
        fcntl.flock(file, operation)
        yield pathlib.Path(file.name)


def enter_own_mounts():
    """Runs this program again where its mounts are seen by nobody else and go with it."""
    if MOUNTS_MARK not in os.environ:
        os.environ[MOUNTS_MARK] = "own"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def find_tests(namespace, names=()):
    """{what it shows: function} of a file's globals(); of those `names` alone, if there are any."""
    known = {name[5:].replace("_", " "): test for name, test in namespace.items()
             if name.startswith("test_")}
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no test {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return {name: known[name] for name in names or known}


def succeeds(title, test, *arguments):
    """Runs a test and prints its line; whether it did not fail."""
    try:
        test(*arguments)
        print(f"ok - {title}", flush=True)
    except Skip as reason:
        print(f"skip - {title}: {reason}", flush=True)
    except Exception:
        print(f"not ok - {title}", flush=True)
        traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        return False
    return True
