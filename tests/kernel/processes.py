"""Shared by the tests of the probe: processes with known behaviour, and running the tests.

A test is a function test_NAME(directory) that raises an exception on failure.
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
    """A child process, with the figures that the kernel reported to its parent."""

    running = {} # {pid: child} not yet waited for

    def __init__(self, body):
        """`body` runs in the child; its return value is the exit status."""
        self.pid = os.fork()
        if self.pid == 0:
            Child.running.clear()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            status = 99
            try:
                status = body() or 0
            finally:
                os._exit(status)
        Child.running[self.pid] = self

    def wait(self):
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{self.pid}/io") as io:
            self.io = dict((key, int(value)) for key, value in
                           (line.split(": ") for line in io))
        with open(f"/proc/{self.pid}/schedstat") as schedstat:
            self.run_delay_ns = int(schedstat.read().split()[1])
        _, self.status, self.usage = os.wait4(self.pid, 0)
        del Child.running[self.pid]
        return self

    def end(self):
        """Kills it, whatever it is doing; its figures are not used."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        del Child.running[self.pid]


class Gate:
    """A gate at which processes of a test wait until it is opened."""

    WAITING_MAX = 100

    def __init__(self):
        self.reader, self.writer = os.pipe()

    def wait(self):
        os.read(self.reader, 1)

    def open(self):
        os.write(self.writer, bytes(self.WAITING_MAX))


def run(path, *argv):
    return Child(lambda: os.execv(path, argv)).wait()


def run_in(groups, *argv):
    """The same in a cgroup, or one of each of several hierarchies."""
    def body():
        for group in groups if isinstance(groups, list) else [groups]:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        os.execv(argv[0], argv)
    return Child(body).wait()


def near(what, found, expected, share, slack):
    assert abs(found - expected) <= expected * share + slack, \
        f"{what}: {found}, expected about {expected}"


def python(source, *arguments):
    return run(sys.executable, "python3", "-c", source, *arguments)


@contextlib.contextmanager
def pins(directory):
    """A pin directory in the test's own BPF filesystem."""
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
    """Runs a test in a temporary directory for all its files. Children left behind by a failed test
    are killed."""
    tempfile.tempdir = None
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-check-"))
    tempfile.tempdir = str(directory)
    try:
        test(directory)
    finally:
        for child in list(Child.running.values()):
            child.end()
        shutil.rmtree(directory, ignore_errors=True)


def main(prefix, namespace):
    """Runs the test_* functions of a script, or those named by its arguments."""
    if os.geteuid() != 0:
        return skip_all(prefix, "needs root")
    return run_tests(prefix, find_tests(namespace), run_test, sys.argv[2:])
