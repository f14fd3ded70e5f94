"""What the checks of the probe share: processes whose truth is known, and how tests are run.

A test is a function test_NAME(directory) that raises where something is wrong.
"""

import os
import pathlib
import shutil
import sys
import tempfile

from probe_harness import FinalMissing
from testing import Skip, find_tests, succeeds


class Child:
    """A process of the test with what the kernel told its parent about it."""

    def __init__(self, body):
        """`body` runs in the child; its return value is the exit status."""
        self.pid = os.fork()
        if self.pid == 0:
            status = 99
            try:
                status = body() or 0
            finally:
                os._exit(status)

    def wait(self):
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{self.pid}/io") as io:
            self.io = dict((key, int(value)) for key, value in
                           (line.split(": ") for line in io))
        with open(f"/proc/{self.pid}/schedstat") as schedstat:
            self.run_delay_ns = int(schedstat.read().split()[1])
        _, self.status, self.usage = os.wait4(self.pid, 0)
        return self


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


def run_test(test):
    """In a directory of its own; again where the kernel has kept a final figure to itself, which
    it does not twice."""
    for is_last in (False, True):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-check-"))
        try:
            return test(directory)
        except FinalMissing:
            if is_last:
                raise
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def main(prefix, namespace):
    """Runs the functions test_* of a script, or those that its arguments name."""
    if os.geteuid() != 0:
        print(f"skip - {prefix}: needs root")
        return 0
    failed = 0
    for name, test in find_tests(namespace, sys.argv[2:]).items():
        failed += not succeeds(f"{prefix}: {name}", run_test, test)
    return 1 if failed else 0
