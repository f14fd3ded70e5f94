"""Cgroups created by a test, on hosts with version 1, version 2, or both."""

import contextlib
import os
import pathlib
import signal
import time

from testing import Skip

CGROUP_TIMEOUT_S = 60
ROOT = pathlib.Path("/sys/fs/cgroup")


def hierarchy_of(name, mount=None):
    """Mount point and number of that v1 hierarchy, or None. One that was unmounted is still listed for a moment."""
    mount = mount or ROOT / name
    for line in open("/proc/self/cgroup"):
        number, controllers, _ = line.strip().split(":", 2)
        if name in controllers.split(",") and mount.is_mount():
            return mount, int(number)
    return None


def unified_hierarchy():
    """Mount point of the v2 hierarchy, alone or beside v1, or None."""
    for path in (ROOT / "unified", ROOT):
        if (path / "cgroup.procs").exists():
            return path
    return None


def memory_hierarchy():
    """The hierarchy in which groups can have a memory limit: v1, or v2 with that controller."""
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
    """Creates a group named after this process, with nested groups of the given names, and removes
    them at the end of the block. Groups can stay busy for a moment after their processes end."""
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
    """Also kills the processes that a failed test has left in it."""
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
    """Removes groups of that name, with their descendants, in every hierarchy; busy ones stay."""
    for top in ROOT.glob(f"**/{name}"):
        for path in sorted(top.glob("**/"), key=lambda path: -len(path.parts)):
            with contextlib.suppress(OSError): # still in use
                path.rmdir()
