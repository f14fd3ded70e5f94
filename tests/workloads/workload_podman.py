"""Two parallel podman containers: no daemon, but each is kept by a conmon that outlives its starter."""

import subprocess
import tempfile

import two_containers
from harness import remove_cgroups, require
from testing import remove_tree

RUNTIME = frozenset({"runc", "podman run"})
# Not every machine allows raising a limit, and none is needed.
RUN_OPTIONS = ["--rm", "--network", "none", "--ulimit", "nofile=1024:1024",
               "--ulimit", "nproc=1024:1024"]


def check(bench):
    require("podman", "runc", "busybox")
    # podman refuses paths of more than 50 characters.
    run_root = tempfile.mkdtemp(dir="/tmp", prefix="podman-")
    try:
        return check_in(bench, bench.directory / "podman", run_root)
    finally:
        remove_tree(run_root)


def check_in(bench, root, run_root):
    podman = ["podman", "--root", root, "--runroot", run_root,
              "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "none",
              "--runtime", "runc"]
    imported = subprocess.run(
        [*podman, "import", two_containers.image_archive(bench), two_containers.IMAGE],
        capture_output=True, text=True, check=False)
    if imported.returncode:
        raise AssertionError(f"podman import: {imported.stderr.strip()[-500:]}")
    try:
        report, problems = two_containers.watch(bench, [*podman, "run", *RUN_OPTIONS])
    finally:
        subprocess.run([*podman, "system", "reset", "--force"], capture_output=True, check=False)
        remove_cgroups("libpod_parent")
    return problems or two_containers.check(report, RUNTIME, "podman")
