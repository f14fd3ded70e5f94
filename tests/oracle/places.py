"""Where workloads run: cgroups of their own, on hosts with version 1 of cgroups, version 2, or both."""

import pathlib
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import cgroups  # noqa: E402 (the line above has to come first)

ROOT = pathlib.Path("/sys/fs/cgroup")
EMPTY_TIMEOUT_S = 60


def hierarchy(controller):
    """The directory in which groups with that controller can be made, or None."""
    v1, unified = ROOT / controller, cgroups.unified_hierarchy()
    if (v1 / "cgroup.procs").exists():
        return v1
    if unified and controller in (unified / "cgroup.subtree_control").read_text().split():
        return unified
    return None


def can_have(word):
    return hierarchy({"own": "memory", "limit": "memory", "quota": "cpu"}[word]) is not None


class Place:
    """The cgroups of one execution: one that tells which processes are its, and those that the workload asks for."""

    def __init__(self, name, workload, user):
        self.paths = []
        self.memory = None
        self.killed_count = 0 # for lack of memory
        # Of a hierarchy that Tracer does not look at, where there is one.
        self.members = self.make(ROOT / "cpuacct" if (ROOT / "cpuacct").exists() else cgroups.unified_hierarchy(), name)
        if workload.placed("own") or workload.placed("limit"):
            self.memory = self.make(hierarchy("memory"), name)
        if workload.placed("limit"):
            cgroups.limit_memory(self.memory, workload.placed("limit") << 20)
        if workload.placed("quota"):
            self.limit_cpu(self.make(hierarchy("cpu"), name), workload.placed("quota"))
        self.own = list(self.paths)
        self.held = f"{hierarchy('memory')}/{name}" # and a number: of jobs that enter it themselves
        for limit_mib, number in (node.options for node in workload.root.nodes() if node.kind == "held"):
            group = self.make(hierarchy("memory"), f"{name}-{number}")
            cgroups.limit_memory(group, limit_mib << 20)
            shutil.chown(group / "cgroup.procs", user)

    def make(self, above, name):
        path = above / name
        path.mkdir(exist_ok=True)
        if path not in self.paths:
            self.paths.append(path)
        return path

    def limit_cpu(self, path, percent):
        if (path / "cpu.max").exists():
            (path / "cpu.max").write_text(f"{percent * 1000} 100000")
        else:
            (path / "cpu.cfs_quota_us").write_text(str(percent * 1000))

    def enter(self, pid=0):
        for path in self.own:
            (path / "cgroup.procs").write_text(str(pid))

    def pids(self):
        return [int(line) for line in (self.members / "cgroup.procs").read_text().split()]

    def memory_bytes(self):
        """Anonymous and shared memory of its memory cgroup, files in memory included; None if it has none."""
        if not self.memory:
            return None
        lines = (line.split() for line in (self.memory / "memory.stat").read_text().splitlines())
        figures = {name: int(number) for name, number in lines}
        return figures.get("anon", figures.get("rss", 0)) + figures["shmem"]

    def count_killed(self):
        for path in self.paths:
            for name in ("memory.oom_control", "memory.events"):
                if (path / name).exists():
                    self.killed_count += int(re.search(r"oom_kill (\d+)", (path / name).read_text())[1])

    def remove(self):
        self.count_killed()
        deadline = time.monotonic() + EMPTY_TIMEOUT_S
        while self.paths:
            try:
                self.paths[-1].rmdir()
                self.paths.pop()
            except OSError:
                assert time.monotonic() < deadline, f"{self.paths[-1]} is not empty"
                time.sleep(0.01)
