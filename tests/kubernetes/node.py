"""A node: the containerd of a private Docker engine, which runs pods in the cgroups that a kubelet would give them.

The container images are those of deploy/compose, built as in tests/compose and imported into containerd. No kubelet is needed:
manifest.py says what it would ask for.
"""

import json
import pathlib
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "compose"), str(HERE.parent)]
import stack  # noqa: E402 (the line above comes first)
from cgroups import ROOT as CGROUPS, remove_cgroup  # noqa: E402
from docker_engine import Engine  # noqa: E402
from testing import remove_tree, wait_until  # noqa: E402

IMAGES = ("tracer-probe", "tracer-correlator", "tracer-shipper", "tracer-lake")
SERVICES = ("probe", "correlator", "shipper", "dashboard")
NAMESPACE = "k8s.io"
LIMIT_S = 900
KIND_CONFIG = """version = 2
root = "/kind/root"
state = "/kind/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "/kind/socket"
"""


def cgroup_by_systemd(quality, uid, container, runtime="cri-containerd"):
    slices = f"kubepods.slice/kubepods-{quality}.slice/kubepods-{quality}-pod{uid.replace('-', '_')}.slice"
    return f"{slices}/{runtime}-{container}.scope"


def cgroup_by_kubelet(quality, uid, container, runtime=None):
    return f"kubepods/{quality}/pod{uid}/{container}"


def cgroup_by_kind(quality, uid, container, runtime="cri-containerd"):
    pod = f"kubelet-kubepods-{quality}-pod{uid.replace('-', '_')}.slice"
    return f"kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-{quality}.slice/{pod}/{runtime}-{container}.scope"


def hierarchies():
    if (CGROUPS / "cgroup.procs").exists():
        return [CGROUPS]
    return [path for path in CGROUPS.iterdir() if (path / "cgroup.procs").exists() and not path.is_symlink()]


class Runtime:
    """A containerd. It has `directory`, `node`, and ctr(), which runs its client."""

    cgroups_above = pathlib.PurePath()

    def __init__(self):
        self.containers = []

    def run(self, spec, cgroup, container=None, detached=True, check=True):
        """Runs a container in that cgroup. Returns its id; what it writes is in a file of that name."""
        container = container or secrets.token_hex(32)
        path = pathlib.PurePath(cgroup(container))
        self.node.cgroups |= {self.cgroups_above / each for each in (path, *list(path.parents)[:-1])}
        spec["linux"]["cgroupsPath"] = f"/{path}"
        file = self.directory / f"{container}.json"
        file.write_text(json.dumps(spec))
        self.containers.append(container)
        ended = self.ctr("run", *(["--detach"] if detached else []), "--log-uri", f"file://{self.log(container)}",
                         "--config", file, container, check=False)
        if check and ended.returncode:
            raise AssertionError(f"{spec['process']['args']}: {ended.stderr[-1000:]}{self.said(container)[-1000:]}")
        if not detached:
            self.remove(container)
        return container

    def log(self, container):
        return self.directory / f"{container}.log"

    def said(self, container):
        log = self.log(container)
        return log.read_text(errors="replace") if log.exists() else ""

    def execute(self, container, *command, check=True):
        return self.ctr("tasks", "exec", "--exec-id", secrets.token_hex(4), container, *command, check=check)

    def pid(self, container):
        for line in self.ctr("tasks", "list").stdout.splitlines():
            if line.split()[0] == container:
                return int(line.split()[1])
        return None

    def stop(self, container, number=signal.SIGTERM):
        """Ends it; waits until it has ended."""
        self.ctr("tasks", "kill", "--signal", int(number), container)
        wait_until(f"{container} has ended", lambda: "RUNNING" not in "".join(
            line for line in self.ctr("tasks", "list").stdout.splitlines() if container in line))

    def remove(self, container):
        self.ctr("tasks", "delete", "--force", container, check=False)
        self.ctr("containers", "delete", container, check=False)
        self.containers.remove(container)

    def remove_all(self):
        for container in list(self.containers):
            self.remove(container)


class Node(Runtime):
    def __init__(self):
        super().__init__()
        self.node = self
        stack.CACHE.mkdir(parents=True, exist_ok=True)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-"))
        self.directory.chmod(0o755)
        self.engine = Engine(self.directory, stack.CACHE / "docker")
        self.client = [str(self.engine.client.parent / "ctr"), "--namespace", NAMESPACE,
                       "--address", str(self.engine.directory / "exec/containerd/containerd.sock")]
        self.mounts, self.cgroups = [], set()

    def __enter__(self):
        try:
            self.engine.start()
            self.build()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.remove_all()
        for mount in self.mounts:
            self.ctr("images", "unmount", "--rm", mount, check=False)
        self.engine.stop()
        for path in sorted(self.cgroups, key=lambda path: -len(path.parts)):
            for hierarchy in hierarchies():
                if (hierarchy / path).is_dir():
                    remove_cgroup(hierarchy / path)
        remove_tree(self.directory)

    # --- images ------------------------------------------------------------------------

    def docker(self, *arguments, **more):
        result = subprocess.run([self.engine.client, *map(str, arguments)], text=True, timeout=LIMIT_S, check=False,
                                env=self.engine.environment | {"BUILDKIT_PROGRESS": "plain"},
                                **({"capture_output": True, "stdin": subprocess.DEVNULL} | more))
        assert result.returncode == 0, f"docker {arguments}: {result.stderr[-1500:]}"
        return result.stdout

    def ctr(self, *arguments, check=True, **more):
        result = subprocess.run([*self.client, *map(str, arguments)], text=True, timeout=LIMIT_S, check=False,
                                env=self.engine.environment, **({"capture_output": True, "stdin": subprocess.DEVNULL} | more))
        assert not check or result.returncode == 0, f"ctr {arguments}: {result.stderr[-1500:]}"
        return result

    def build(self):
        if not self.docker("images", "--quiet", stack.BASE):
            self.engine.image(stack.BASE, stack.base_archive())
        self.docker("compose", "--file", stack.COMPOSE / "compose.yaml", "--file", stack.HERE / "network.yaml", "build",
                    *SERVICES)
        self.docker("builder", "prune", "--force", "--keep-storage", stack.LAYERS_MAX)
        for name in IMAGES:
            self.load(name)

    def load(self, name):
        """Imports an image into containerd, unless it is there, and mounts it."""
        identity = self.docker("inspect", "--format", "{{.Id}}", name).strip()
        known = f"docker.io/library/{name}:{identity.removeprefix('sha256:')[:16]}"
        if known not in self.ctr("images", "list", "--quiet").stdout.split():
            for old in self.ctr("images", "list", "--quiet", f"name~={name}").stdout.split():
                self.ctr("images", "remove", old)
            archive = self.directory / "image.tar"
            self.docker("tag", name, known)
            self.docker("save", "--output", archive, known)
            self.docker("rmi", known)
            self.ctr("images", "import", archive)
            archive.unlink()
        root = self.directory / "images" / name
        root.mkdir(parents=True)
        self.ctr("images", "mount", "--rw", known, root)  # places to mount on are made in it
        self.mounts.append(root)

    def root(self, image):
        return self.directory / "images" / image.split(":")[0]

    def default(self, image, *capabilities):
        """containerd's default specification for a container of that image, with its seccomp profile."""
        known, = [each for each in self.ctr("images", "list", "--quiet").stdout.split() if f"/{image.split(':')[0]}:" in each]
        added = [word for name in capabilities for word in ("--cap-add", name)]
        self.ctr("containers", "create", "--seccomp", *added, known, "default")
        try:
            spec = json.loads(self.ctr("containers", "info", "--spec", "default").stdout)
        finally:
            self.ctr("containers", "delete", "default")
        spec["root"]["path"] = str(self.root(image))
        return spec


class Kind(Runtime):
    """A node that is a container, as kind makes them: with a containerd of its own, and its own PID, mount and cgroup
    namespace. What is mounted in the directory of the outer node later is not seen in it."""

    def __init__(self, node):
        super().__init__()
        self.node, self.directory = node, node.directory
        self.outer = secrets.token_hex(32)
        self.cgroups_above = pathlib.PurePath("docker") / self.outer
        self.own = node.directory / "kind"

    def __enter__(self):
        self.own.mkdir()
        (self.own / "config").write_text(KIND_CONFIG)
        node = self.node
        node.run(self.spec(), lambda _: self.cgroups_above, self.outer)
        wait_until("the node's containerd", lambda: self.ctr("version", check=False).returncode == 0)
        return self

    def __exit__(self, *_):
        self.remove_all()
        self.node.remove(self.outer)

    def spec(self):
        """Privileged, and its cgroup is the root of those that it sees."""
        spec = self.node.default("tracer-probe")
        spec["process"] |= {"args": ["containerd", "--config", "/kind/config"], "user": {"uid": 0, "gid": 0}, "cwd": "/",
                            "env": ["PATH=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin"], "noNewPrivileges": False,
                            "capabilities": {kind: own_capabilities() for kind in ("bounding", "effective", "permitted")}}
        spec["linux"] |= {"seccomp": None, "maskedPaths": [], "readonlyPaths": [],
                          "resources": {"devices": [{"allow": True, "access": "rwm"}]}}
        spec["linux"]["namespaces"].append({"type": "cgroup"})
        spec["mounts"] = [mount for mount in spec["mounts"] if mount["destination"] != "/sys/fs/cgroup"]
        spec["mounts"].append({"type": "tmpfs", "source": "tmpfs", "destination": "/sys/fs/cgroup"})
        binds = [(self.own, "/kind"), (self.directory, self.directory), (self.node.engine.client.parent, "/opt/bin"),
                 ("/usr/sbin/runc", "/usr/sbin/runc"), ("/etc/machine-id", "/etc/machine-id")]
        for hierarchy in hierarchies():
            (hierarchy / self.cgroups_above).mkdir(parents=True, exist_ok=True)
            binds.append((hierarchy / self.cgroups_above, hierarchy))
        spec["mounts"] += [{"type": "bind", "source": str(source), "destination": str(place), "options": ["rbind", "rw"]}
                           for source, place in binds]
        return spec

    def ctr(self, *arguments, check=True):
        return self.node.execute(self.outer, "ctr", "--address", "/kind/socket", "--namespace", NAMESPACE, *arguments,
                                 check=check)

    def default(self, image, *capabilities):
        return self.node.default(image, *capabilities)


def own_capabilities():
    """All that this process may have."""
    names = re.findall(r"^#define (CAP_[A-Z_]+)\s+(\d+)$", pathlib.Path("/usr/include/linux/capability.h").read_text(), re.M)
    bounds = int(re.search(r"^CapBnd:\s+(\w+)", pathlib.Path("/proc/self/status").read_text(), re.M)[1], 16)
    return [name for name, number in names if bounds >> int(number) & 1]


class Started:
    """A pod of a manifest that runs: its containers by name."""

    def __init__(self, runtime, pod, layout=cgroup_by_systemd, quality="burstable", host_network=False):
        self.runtime, self.pod, self.uid = runtime, pod, str(uuid.uuid4())
        self.quality, self.layout, self.host_network = quality, layout, host_network
        self.containers = {}

    def cgroup(self, container):
        return self.layout(self.quality, self.uid, container)

    def spec(self, name):
        container = self.pod.container(name)
        added = [f"CAP_{each}" for each in container["securityContext"]["capabilities"].get("add", [])]
        spec = self.pod.change(name, self.runtime.default(container["image"], *added))
        if self.host_network:
            spec["linux"]["namespaces"] = [each for each in spec["linux"]["namespaces"] if each["type"] != "network"]
        return spec

    def start(self):
        for container in self.pod.specification.get("initContainers", []):
            self.runtime.run(self.spec(container["name"]), self.cgroup, detached=False)
        for container in self.pod.specification["containers"]:
            self.containers[container["name"]] = self.runtime.run(self.spec(container["name"]), self.cgroup)
        return self

    def wait(self):
        """Until the startup or readiness probes of all succeed."""
        for name, container in self.containers.items():
            settings = self.pod.container(name)
            check = settings.get("startupProbe") or settings.get("readinessProbe")
            if not check:
                continue
            command = check["exec"]["command"]
            try:
                wait_until(f"{name} is ready", lambda: self.runtime.execute(
                    container, *command, check=False).returncode == 0, 60)
            except AssertionError as reason:
                reason.add_note(self.runtime.said(container)[-2000:])
                raise

    def privileges(self, bounds=()):
        """What its containers have, and should not; `bounds`: capabilities that they were started with."""
        wrong = []
        for name, container in self.containers.items():
            lines = pathlib.Path(f"/proc/{self.runtime.pid(container)}/status").read_text().splitlines()
            status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            expected = {"NoNewPrivs": "1", "Seccomp": "2", "CapBnd": f"{sum(1 << each for each in dict(bounds).get(name, ())):016x}",
                        **{f"Cap{kind}": f"{0:016x}" for kind in ("Inh", "Prm", "Eff", "Amb")}}
            wrong += [f"{name}: {key} is {status[key]}" for key, value in expected.items() if status[key] != value]
            wrong += [f"{name}: is root"] if "0" in status["Uid"].split() else []
        return wrong

    def said(self):
        return "".join(map(self.runtime.said, self.containers.values()))

    def remove(self):
        for container in self.containers.values():
            self.runtime.remove(container)
        self.pod.release()
