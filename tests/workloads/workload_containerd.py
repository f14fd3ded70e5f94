"""A containerd container: a child of the daemon, through a shim, while the client in the script waits."""

import secrets
import subprocess

import workload_container
from harness import PATH, die_with_parent, remove_cgroups, require
from testing import wait_until

CONTAINER = secrets.token_hex(32)
NAMESPACE = "tracer-workload"  # also the name of its cgroups
CONFIG = """version = 2
root = "{0}/root"
state = "{0}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "{0}/socket"
"""


def check(bench):
    require("containerd", "ctr", "runc", "busybox")
    directory = bench.work_directory("containerd", "root")
    (directory / "config").write_text(CONFIG.format(directory))
    root = workload_container.make_root(bench.directory / "root", bench)
    client = ["ctr", "--address", directory / "socket", "--namespace", NAMESPACE]
    with open(directory / "log", "wb") as log:
        daemon = subprocess.Popen(["containerd", "--config", directory / "config"], stdout=log, stderr=log,
                                  env={"PATH": PATH}, preexec_fn=die_with_parent)
    try:
        wait_until("containerd", lambda: subprocess.run([*client, "version"], capture_output=True,
                                                        check=False).returncode == 0)
        command = [*client, "run", "--rm", "--env", "PATH=/bin", "--cwd", bench.directory / "work", "--rootfs", root,
                   CONTAINER, *workload_container.COMMAND]
        return workload_container.watch(bench, "root", command, frozenset({"ctr run"}), ("containerd", CONTAINER),
                                        is_waited_for=False)
    finally:
        subprocess.run([*client, "task", "kill", "-s", "KILL", CONTAINER], capture_output=True, check=False)
        daemon.terminate()
        daemon.wait()
        remove_cgroups(NAMESPACE)
