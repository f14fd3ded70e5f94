"""A Charliecloud container, as on HPC hosts: unprivileged, without a daemon or cgroup."""

import workload_container
from harness import require


def check(bench):
    require("ch-run", "busybox")
    root = workload_container.make_root(bench.directory / "root", bench)
    for name in ("home", "usr/bin", "mnt", "root"):  # mount points
        (root / name).mkdir(parents=True)
    for name in ("passwd", "group", "hosts", "resolv.conf"):
        (root / "etc" / name).touch()
    command = ["ch-run", root, "--", "/bin/sh", *workload_container.COMMAND[1:]]
    return workload_container.watch(bench, "nobody", command, frozenset({"ch-run"}), None)
