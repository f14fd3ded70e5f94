"""Shared by all tests in Python: skipping, comparing, waiting, and one verdict line for each test.

A test is a function test_* of its file, named after what it shows. A file prints "1..N" and N
verdicts: "ok - NAME", "not ok - NAME" followed by the failure, "skip - NAME: why", or "flaky -
NAME" followed by the failures that did not repeat. tests/verdicts compares them with the plan.
"""

import argparse
import contextlib
import difflib
import fcntl
import os
import pathlib
import pprint
import pty
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
import unittest

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
SKIPPED = 77 # exit status of a file that cannot run here, as in meson
ATTEMPTS_MAX = 2 # what happens once in thousands does not happen twice
LONG = bool(os.environ.get("TRACER_TESTS_LONG"))
FAILED = "TRACER_TESTS_FAILED"
MOUNTS_MARK = "TRACER_CHECK_MOUNTS"
# Emulated processors shared with other tests are a hundred times slower than an idle host's.
EMULATED = "TRACER_TEST_EMULATED" in os.environ
# The last context switch of a process can fall between its parent's reading and the kernel's final
# accounting; on emulated processors it does, once in thousands. Then the parent does not see the CPU time since
# the latest tick either.
LATE_SWITCHES_MAX, LATE_CPU_NS = (1, 10_000_000) if EMULATED else (0, 0)
# Limits on the printed part of a failure.
SHOWN_MAX = 2000
DIFF_LINES_MAX = 40
DIFF_WIDTH_MAX = 200
# Read only by builds with sanitizers. A small quarantine: freed memory held in it would look like growth, and a large
# one makes programs several times slower. The search
# for leaks takes half of a short process's time, and sandboxes refuse it: unit tests, replays and every verb have it.
SANITIZERS = {
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:detect_leaks=0",
}
FIND_LEAKS = {"ASAN_OPTIONS": SANITIZERS["ASAN_OPTIONS"].replace("detect_leaks=0", "detect_leaks=1")}
os.environ |= SANITIZERS
ENVIRONMENT = dict(os.environ)


class Skip(Exception):
    """Cannot be tested here; carries the reason."""


class Repeatable(Exception):
    """Not a failure of Tracer: the test is repeated, and is flaky if it then passes."""


def require(*programs):
    missing = [name for name in programs if not shutil.which(name, path=PATH)]
    if missing:
        raise Skip(f"{', '.join(missing)} not installed")


def difference(found, expected):
    """Describes two values that differ: both in full, or a bounded diff if they are long."""
    short = f"{found!r}, expected {expected!r}"
    if len(short) <= SHOWN_MAX:
        return short
    sides = [pprint.pformat(value, width=110).splitlines() for value in (expected, found)]
    lines = list(difflib.unified_diff(*sides, "expected", "found", lineterm="", n=1))
    more = [f"... {len(lines) - DIFF_LINES_MAX} more lines"] if len(lines) > DIFF_LINES_MAX else []
    return "\n".join(["", *(line[:DIFF_WIDTH_MAX] for line in lines[:DIFF_LINES_MAX]), *more])


def same(what, found, expected):
    assert found == expected, f"{what[:SHOWN_MAX]}: {difference(found, expected)}"


PATIENCE_S = 180 # far more than anything takes, also on a busy machine and on emulated processors


def wait_until(what, holds, timeout_s=PATIENCE_S):
    """Returns the first true result of `holds`. Sleeps in between, to leave the processor to others."""
    deadline = time.monotonic() + timeout_s
    while True:
        asked = time.monotonic()
        if answer := holds():
            return answer
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s} s"
        time.sleep(max(0.02, 2 * (time.monotonic() - asked)))


def measured_run(command, **more):
    """Runs a command that must succeed. Returns wall seconds, CPU seconds of it and its reaped children, and peak KiB."""
    begun = time.monotonic()
    process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **more)
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command[0]} ended with {process.returncode}"
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class OnTerminal:
    """A program whose standard error is a terminal, and what it prints there, `said`. `whole`: so are its
    other streams. `own`: it is the program's own terminal, at which one can type; when the program ends, the kernel
    drops what was not yet read."""

    def __init__(self, command, env=ENVIRONMENT, term="xterm", whole=False, own=False, columns=80, **more):
        self.said = b""
        self._terminal, its_end = pty.openpty()
        termios.tcsetwinsize(its_end, (24, columns))
        if whole or own:
            more |= {"stdin": its_end, "stdout": its_end}
        if own:
            more |= {"start_new_session": True, "preexec_fn": lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0)}
        self.process = subprocess.Popen(command, stderr=its_end, env={**env, "TERM": term},
                                        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE} | more)
        os.close(its_end)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        try:
            while piece := os.read(self._terminal, 65536):
                self.said += piece
        except OSError:  # the other end is closed
            pass

    def type(self, keys):
        os.write(self._terminal, keys)

    def finish(self, timeout_s=60):
        """Returns its exit status and its standard output, or all output of a whole one."""
        try:
            printed, _ = self.process.communicate(timeout=timeout_s)
        finally:
            self.process.kill()
        self._listener.join()
        os.close(self._terminal)
        return self.process.returncode, self.said if printed is None else printed


def remove_tree(path, timeout_s=10):
    """Retries, since processes that are about to end may still write there."""
    deadline = time.monotonic() + timeout_s
    while True:
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path) or time.monotonic() > deadline:
            return
        time.sleep(0.1)


def fill(path):
    """Uses up all free space."""
    with open(path, "wb", buffering=0) as filler:
        for size in (65536, 512):
            with contextlib.suppress(OSError):
                while True:
                    filler.write(bytes(size))


def copy_rows(database, table, where="true", **changes):
    """Adds copies of rows of a table, with other values in some columns, given in SQL."""
    columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
    database.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT "
                     f"{', '.join(changes.get(name, name) for name in columns)} FROM {table} WHERE {where}")


def free_port():
    """Returns a port that the kernel never assigns to connections, not even while the server is down."""
    first_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, max(first_given, 20000))
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def delay_accounting_held(operation):
    """Locks the kernel's delay accounting switch, which suites of both lanes use: LOCK_SH to read
    it, LOCK_EX to set it."""
    with open("/proc/sys/kernel/task_delayacct", encoding="ascii") as file:
        fcntl.flock(file, operation)
        yield pathlib.Path(file.name)


def enter_own_mounts():
    """Runs this program again in a private mount namespace."""
    if MOUNTS_MARK not in os.environ:
        os.environ[MOUNTS_MARK] = "own"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def find_tests(namespace):
    """{test name: function} of a file's globals()."""
    return {name[5:].replace("_", " "): test for name, test in namespace.items()
            if name.startswith("test_")}


def choose(prefix, tests, names=()):
    """The tests of {name: test} that are in `names`, or all if it is empty. In a second attempt tests/run
    passes the titles of the failures: then those, or all if a failure concerns the whole file."""
    unknown = set(names) - set(tests)
    if unknown:
        sys.exit(f"no test {', '.join(sorted(unknown))}; there are {', '.join(tests)}")
    if FAILED in os.environ:
        names = [title.removeprefix(f"{prefix}: ") for title in os.environ[FAILED].splitlines()
                 if title.startswith(f"{prefix}: ")]
        names = names if set(names) <= set(tests) else tests
    else:
        names = names or tests
    return {name: tests[name] for name in names}


def plan(count):
    """Announces the number of verdicts; if fewer follow, the rest did not run."""
    print(f"1..{count}", flush=True)


def skip_all(prefix, reason):
    """Skips a whole file that cannot run here. Returns its exit status."""
    plan(1)
    print(f"skip - {prefix}: {reason}", flush=True)
    return SKIPPED


def run_tests(prefix, tests, run=lambda test: test(), names=(), waiting=()):
    """Announces {name: test}, runs each through `run` and prints its verdict. Returns the exit
    status. Tests in `waiting` are idle for minutes: they run in parallel with the others."""
    # Exits through the clean-up of the running test.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tests = choose(prefix, tests, names)
    plan(len(tests))
    beside = [Beside(f"{prefix}: {name}", run, test) for name, test in tests.items() if name in waiting]
    good = [succeeds(f"{prefix}: {name}", run, test) for name, test in tests.items() if name not in waiting]
    return 0 if all(good + [test.finish() for test in beside]) else 1


class Beside:
    """A test in its own process; its output is printed at the end."""

    def __init__(self, *test):
        self.output = tempfile.TemporaryFile()
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(self.output.fileno(), sys.stdout.fileno())
            status = 1
            try:
                status = 0 if succeeds(*test) else 1
            finally:
                os._exit(status)

    def finish(self):
        """Returns whether it passed."""
        _, status = os.waitpid(self.pid, 0)
        self.output.seek(0)
        print(self.output.read().decode(errors="replace"), end="", flush=True)
        return status == 0


def hold(problems):
    """Fails with these lines, if any."""
    more = [f"... {len(problems) - DIFF_LINES_MAX} more"] if len(problems) > DIFF_LINES_MAX else []
    assert not problems, "\n".join([*map(str, problems[:DIFF_LINES_MAX]), *more])


def arguments(description):
    """Parses the arguments of a program `check [--keep] BUILD-DIRECTORY [NAME...]`."""
    parser = argparse.ArgumentParser(description=description.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--keep", action="store_true", help="leave the directories behind")
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve(), metavar="BUILD-DIRECTORY")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def succeeds(title, test, *arguments):
    """Runs a test and prints its verdict. Returns whether it did not fail."""
    begin, output, repeats = time.monotonic(), "", 0
    while True:
        try:
            test(*arguments)
            verdict = f"flaky - {title}" if repeats else f"ok - {title}"
        except Skip as reason:
            verdict = f"skip - {title}: {reason}"
        except Repeatable:
            output += traceback.format_exc()
            repeats += 1
            if repeats < ATTEMPTS_MAX:
                continue
            verdict = f"not ok - {title}"
        except Exception:
            output += traceback.format_exc()
            verdict = f"not ok - {title}"
        print(f"{verdict} # {time.monotonic() - begin:.1f} s\n{output}", end="", flush=True)
        return not verdict.startswith("not ok")


def run_cases(prefix, names=()):
    """run_tests() for the unittest cases of the program itself."""
    cases = [case for group in unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
             for case in group]
    named = {case._testMethodName[5:].replace("_", " "): case for case in cases}
    assert len(named) == len(cases), "two tests have one name"
    ready = set()

    def run(case):
        if type(case) not in ready:
            type(case).setUpClass()
            ready.add(type(case))
        result = unittest.TestResult()
        case.run(result)
        if result.skipped:
            raise Skip(result.skipped[0][1])
        assert result.wasSuccessful(), "\n".join(text for _, text in result.failures + result.errors)

    try:
        return run_tests(prefix, named, run, names)
    finally:
        for kind in ready:
            kind.doClassCleanups()
