"""Rootless podman: an ordinary user's container, without a cgroup of its own, kept by a conmon."""

import subprocess
import tempfile

import workload_container
from harness import PATH, require
from testing import remove_tree
from workload_podman import RUN_OPTIONS

IMAGE = "tracer-workload"


def check(bench):
    require("podman", "newuidmap", "runc", "busybox")
    root = workload_container.make_root(bench.directory / "root", bench)
    subprocess.run(["tar", "-C", root, "-cf", bench.directory / "image.tar", "bin"], check=True)
    home = bench.work_directory("home", "nobody")
    # podman refuses paths of more than 50 characters.
    run_root = tempfile.mkdtemp(dir="/tmp", prefix="podman-")
    subprocess.run(["chown", "nobody", run_root], check=True)
    bench.environment = {"HOME": str(home), "XDG_RUNTIME_DIR": run_root}
    podman = ["podman", "--root", home / "storage", "--runroot", run_root, "--storage-driver", "vfs",
              "--cgroup-manager", "cgroupfs", "--events-backend", "none", "--runtime", "runc"]
    as_nobody = {"user": "nobody", "env": {"PATH": PATH, **bench.environment}, "cwd": home, "extra_groups": []}
    try:
        imported = subprocess.run([*podman, "import", bench.directory / "image.tar", IMAGE], capture_output=True,
                                  text=True, check=False, **as_nobody)
        assert imported.returncode == 0, f"podman import: {imported.stderr.strip()[-500:]}"
        return workload_container.watch(
            bench, "nobody", [*podman, "run", *RUN_OPTIONS, IMAGE, *workload_container.COMMAND],
            frozenset({"runc", "podman run"}), ("namespace", None), is_waited_for=False)
    finally:
        subprocess.run([*podman, "system", "reset", "--force"], capture_output=True, check=False, **as_nobody)
        remove_tree(run_root)
