"""Containers on this host with interactive shells: this host's /usr, and the rows' programs."""

import json
import os
import shutil
import subprocess
import tempfile

from testing import Skip, remove_tree

NAME = "tracer-origins"
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")  # not every host allows raising a limit
PATH = "PATH=/opt/bin:/usr/bin"


class Containers:
    """Containers, created when a row needs one."""

    def __init__(self, directory, programs):
        self.directory = directory
        self.programs = programs
        self.closing = []

    def prepare(self, program):
        """Environment for the row that needs that program."""
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
        return getattr(self, program)() if program else {}

    def make_root(self, name):
        root = self.directory / name / "rootfs"
        for path in ("usr", "proc", "sys", "dev", "tmp", "root", "etc", "opt/bin"):
            (root / path).mkdir(parents=True)
        for path in ("bin", "sbin", "lib", "lib64"):
            (root / path).symlink_to(f"usr/{path}")
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
        return root

    def podman(self):
        root = self.make_root("podman")
        run_root = tempfile.mkdtemp(prefix="podman-")  # podman refuses paths of more than 50 characters
        podman = ["podman", "--root", self.directory / "podman/store", "--runroot", run_root, "--storage-driver", "vfs",
                  "--cgroup-manager", "cgroupfs", "--events-backend", "none", "--runtime", "runc"]
        podman = [str(word) for word in podman]

        def close():
            subprocess.run([*podman, "rm", "--force", "--time", "0", NAME], capture_output=True, check=False)
            subprocess.run([*podman, "system", "reset", "--force"], capture_output=True, check=False)
            remove_tree(run_root)
        self.closing.append(close)
        started = subprocess.run([*podman, "run", "-d", "--name", NAME, "--network", "none", *LIMITS,
                                  "-v", "/usr:/usr:ro", "-v", f"{self.programs}:/opt/bin:ro", "--rootfs", root,
                                  "sleep", "600"], capture_output=True, text=True, check=False)
        assert started.returncode == 0, started.stderr
        return {"TRACER_TEST_PODMAN": " ".join([*podman, "exec", "-it", "-e", PATH, NAME, "bash"])}

    def runc(self):
        bundle = self.make_root("runc").parent
        subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
        config = json.loads((bundle / "config.json").read_text())
        config["process"].update(args=["bash"], terminal=True, env=[PATH, "TERM=xterm"])
        config["process"].pop("rlimits", None)
        config["mounts"] += [{"destination": target, "source": str(source), "type": "bind", "options": ["bind", "ro"]}
                             for target, source in (("/usr", "/usr"), ("/opt/bin", self.programs))]
        (bundle / "config.json").write_text(json.dumps(config))
        state = bundle / "state"
        self.closing.append(lambda: subprocess.run(["runc", "--root", state, "delete", "--force", NAME],
                                                   capture_output=True, check=False))
        return {"TRACER_TEST_RUNC": f"runc --root {state} run --bundle {bundle} {NAME}"}

    def close(self):
        for close in self.closing:
            close()
        for name in ("libpod_parent", NAME):
            self.remove_cgroups(name)

    @staticmethod
    def remove_cgroups(name):
        for line in open("/proc/self/mounts", encoding="utf-8"):
            _, path, kind = line.split()[:3]
            if kind.startswith("cgroup"):
                for directory, _, _ in os.walk(os.path.join(path, name), topdown=False):
                    try:
                        os.rmdir(directory)
                    except OSError:
                        pass  # already gone, or not ours
