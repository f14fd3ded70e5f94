"""Cgroups of a test's own, on hosts of version 2, of version 1, and of both."""

import contextlib
import os
import pathlib
import signal
import time

from testing import Skip

CGROUP_TIMEOUT_S = 60
ROOT = pathlib.Path("/sys/fs/cgroup")


def hierarchy_of(name):
    """Where that v1 hierarchy is mounted, and its number; None."""
    for line in open("/proc/self/cgroup"):
        number, controllers, _ = line.strip().split(":", 2)
        if name in controllers.split(","):
            return ROOT / name, int(number)
    return None


def unified_hierarchy():
    """Where the v2 hierarchy is mounted, beside others or alone; None."""
    for path in (ROOT / "unified", ROOT):
        if (path / "cgroup.procs").exists():
            return path
    return None


def memory_hierarchy():
    """Where groups with a limit of memory can be made: v1, or v2 where that has them."""
    v1, unified = ROOT / "memory", unified_hierarchy()
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


def remove_cgroups(name):
    """Those of that name in every hierarchy, with what is below; not those that are used."""
    for top in ROOT.glob(f"**/{name}"):
        for path in sorted(top.glob("**/"), key=lambda path: -len(path.parts)):
            with contextlib.suppress(OSError): # somebody else's
                path.rmdir()
