"""What the checks of the probe share: processes whose truth is known, and how tests are run.

A test is a function test_NAME(directory) that raises where something is wrong.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from testing import Skip, find_tests, run_tests, skip_all


class Child:
    """A process of the test with what the kernel told its parent about it."""

    living = {} # those that nobody has waited for yet, by pid

    def __init__(self, body):
        """`body` runs in the child; its return value is the exit status."""
        self.pid = os.fork()
        if self.pid == 0:
            Child.living.clear()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            status = 99
            try:
                status = body() or 0
            finally:
                os._exit(status)
        Child.living[self.pid] = self

    def wait(self):
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{self.pid}/io") as io:
            self.io = dict((key, int(value)) for key, value in
                           (line.split(": ") for line in io))
        with open(f"/proc/{self.pid}/schedstat") as schedstat:
            self.run_delay_ns = int(schedstat.read().split()[1])
        _, self.status, self.usage = os.wait4(self.pid, 0)
        del Child.living[self.pid]
        return self

    def end(self):
        """Whatever it is at: nothing of it is compared any more."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        del Child.living[self.pid]


class Gate:
    """What processes of a test wait at until it is opened."""

    WAITING_MAX = 100

    def __init__(self):
        self.reader, self.writer = os.pipe()

    def wait(self):
        os.read(self.reader, 1)

    def open(self):
        os.write(self.writer, bytes(self.WAITING_MAX))


def run(path, *argv):
    return Child(lambda: os.execv(path, argv)).wait()


def near(what, found, expected, share, slack):
    assert abs(found - expected) <= expected * share + slack, \
        f"{what}: {found}, expected about {expected}"


def python(source, *arguments):
    return run(sys.executable, "python3", "-c", source, *arguments)


@contextlib.contextmanager
def pins(directory):
    """A pin directory in a BPF filesystem of the test's own."""
    mount = directory / "bpf"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "bpf", "bpf", mount], capture_output=True,
                      check=False).returncode:
        raise Skip("cannot mount a BPF filesystem")
    try:
        yield mount / "tracer"
    finally:
        subprocess.run(["umount", mount], check=True)


def run_test(test):
    """In a directory of its own, where all that it makes lies. A child that a failed test left
    waiting ends with it."""
    tempfile.tempdir = None
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-check-"))
    tempfile.tempdir = str(directory)
    try:
        test(directory)
    finally:
        for child in list(Child.living.values()):
            child.end()
        shutil.rmtree(directory, ignore_errors=True)


def main(prefix, namespace):
    """Runs the functions test_* of a script, or those that its arguments name."""
    if os.geteuid() != 0:
        return skip_all(prefix, "needs root")
    return run_tests(prefix, find_tests(namespace), run_test, sys.argv[2:])
