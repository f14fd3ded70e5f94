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
import time

from probe_harness import KernelSilent
from testing import Skip, find_tests, succeeds

CGROUP_TIMEOUT_S = 30
# Of some kernels' interrupts a few in a thousand are told to nobody, and a test may need several.
SILENT_MAX = 4


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


def hierarchy_of(name):
    """Where that v1 hierarchy is mounted, and its number; None."""
    for line in open("/proc/self/cgroup"):
        number, controllers, _ = line.strip().split(":", 2)
        if name in controllers.split(","):
            return pathlib.Path(f"/sys/fs/cgroup/{name}"), int(number)
    return None


def unified_hierarchy():
    """Where the v2 hierarchy is mounted, beside others or alone; None."""
    for path in (pathlib.Path("/sys/fs/cgroup/unified"), pathlib.Path("/sys/fs/cgroup")):
        if (path / "cgroup.procs").exists():
            return path
    return None


def memory_hierarchy():
    """Where groups with a limit of memory can be made: v1, or v2 where that has them."""
    v1, unified = pathlib.Path("/sys/fs/cgroup/memory"), unified_hierarchy()
    if (v1 / "memory.limit_in_bytes").exists():
        return v1
    if unified and "memory" in (unified / "cgroup.subtree_control").read_text().split():
        return unified
    raise Skip("no memory cgroups here")


def limit_memory(group, limit_bytes):
    if (group / "memory.max").exists():
        (group / "memory.swap.max").write_text("0")
        (group / "memory.max").write_text(str(limit_bytes))
    else:
        (group / "memory.limit_in_bytes").write_text(str(limit_bytes))


@contextlib.contextmanager
def cgroup(hierarchy, *names):
    """A group of the test's own, below further ones of those names; they go with the block. Whose
    processes ended a moment ago can still be busy."""
    paths = [hierarchy / f"tracer-check-{os.getpid()}"]
    for name in names:
        paths.append(paths[-1] / name)
    paths[-1].mkdir(parents=True)
    try:
        yield paths[-1]
    finally:
        for path in reversed(paths):
            remove_cgroup(path)


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


def remove_cgroup(path):
    """Whoever a failed test has left in it ends with it."""
    deadline = time.monotonic() + CGROUP_TIMEOUT_S
    while True:
        try:
            return path.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
        for pid in (path / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.02)


def run_test(test):
    """In a directory of its own, where all that it makes lies; again where the kernel has kept to
    itself what came in an interrupt. A child that a failed test left waiting ends with it."""
    for number in range(SILENT_MAX):
        tempfile.tempdir = None
        directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-check-"))
        tempfile.tempdir = str(directory)
        try:
            return test(directory)
        except KernelSilent:
            if number == SILENT_MAX - 1:
                raise
        finally:
            for child in list(Child.living.values()):
                child.end()
            shutil.rmtree(directory, ignore_errors=True)


def main(prefix, namespace):
    """Runs the functions test_* of a script, or those that its arguments name."""
    if os.geteuid() != 0:
        print(f"skip - {prefix}: needs root")
        return 0
    # Ends through the clean-up of the test that runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed = 0
    for name, test in find_tests(namespace, sys.argv[2:]).items():
        failed += not succeeds(f"{prefix}: {name}", run_test, test)
    return 1 if failed else 0
