"""A private Docker engine: daemon, images, containers and cgroups in one directory.

Tracer requires a newer Docker than Debian 12 has, so the packages of the next release are
downloaded from the same archive and unpacked, not installed. They are kept in .cache/.
The engine leaves the host's firewall alone: a container reaches others of its network, and no further.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from cgroups import remove_cgroups
from testing import PATH, Skip, require

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["docker.io", "docker-cli", "docker-compose", "docker-buildx", "containerd", "tini"]
PLUGINS = "usr/libexec/docker/cli-plugins"
RELEASE = "trixie"
READY_TIMEOUT_S = 60
CACHE = ROOT / ".cache" / "docker"


def archive_of_next_release():
    """The machine's own Debian archive, for another release; None if it has none."""
    for path in sorted(pathlib.Path("/etc/apt").glob("sources.list.d/*.sources")):
        for block in re.split(r"\n\s*\n", path.read_text()):
            suites = re.search(r"^Suites:(.*)$", block, re.MULTILINE)
            if suites and "bookworm" in suites[1].split():
                return re.sub(r"^Suites:.*$", f"Suites: {RELEASE}", block, flags=re.MULTILINE)
    for line in pathlib.Path("/etc/apt/sources.list").read_text().splitlines() \
            if pathlib.Path("/etc/apt/sources.list").exists() else []:
        found = re.match(r"deb\s+(?:\[.*?\]\s+)?(\S+)\s+bookworm\s", line)
        if found:
            return f"Types: deb\nURIs: {found[1]}\nSuites: {RELEASE}\nComponents: main\n"
    return None


def fetch():
    """Unpacks the packages once. Returns the directory that serves as /."""
    root = CACHE / "root"
    if (root / PLUGINS / "docker-compose").exists():
        return root
    source = archive_of_next_release()
    if not source:
        raise Skip(f"no Debian archive to fetch Docker of {RELEASE} from")
    for name in ("lists/partial", "archives/partial", "packages"):
        (CACHE / name).mkdir(parents=True, exist_ok=True)
    (CACHE / "next.sources").write_text(source)
    apt = ["apt-get", "-qq"]
    for key, value in (("Dir::Etc::sourcelist", CACHE / "next.sources"),
                       ("Dir::Etc::sourceparts", "-"), ("Dir::State::lists", CACHE / "lists"),
                       ("Dir::Cache::archives", CACHE / "archives"), ("Dir::Cache::pkgcache", ""),
                       ("Dir::Cache::srcpkgcache", ""), ("APT::Sandbox::User", "root")):
        apt += ["-o", f"{key}={value}"]
    for command in ("update", "download"):
        words = [*apt, command, *(PACKAGES if command == "download" else [])]
        result = subprocess.run(words, cwd=CACHE / "packages", capture_output=True, text=True,
                                timeout=300, check=False)
        if result.returncode:
            raise Skip(f"cannot fetch Docker: {result.stderr.strip()[-200:]}")
    unpacked = CACHE / "unpacking"
    shutil.rmtree(unpacked, ignore_errors=True)
    for package in (CACHE / "packages").glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, unpacked], check=True)
    shutil.rmtree(root, ignore_errors=True)
    unpacked.rename(root)
    return root


class Engine:
    """dockerd and the processes that it starts. Its images are kept in `data`, if given."""

    def __init__(self, directory, data=None):
        require("runc")
        root = fetch()
        self.directory = directory / "docker"
        self.directory.mkdir()
        self.data = data or self.directory / "data"
        self.socket = self.directory / "docker.sock"
        self.client = root / "usr/bin/docker"
        self.environment = {
            "PATH": f"{root}/usr/bin:{root}/usr/sbin:{PATH}", "HOME": str(self.directory),
            "DOCKER_HOST": f"unix://{self.socket}", "TMPDIR": str(self.directory)}
        (self.directory / ".docker").mkdir()
        (self.directory / ".docker/cli-plugins").symlink_to(root / PLUGINS)
        self.daemon = None

    def start(self):
        log = open(self.directory / "dockerd.log", "wb")
        self.daemon = subprocess.Popen(
            ["dockerd", "--data-root", self.data,
             "--exec-root", self.directory / "exec", "--pidfile", self.directory / "pid",
             "--host", f"unix://{self.socket}", "--bridge", "none", "--iptables=false",
             "--ip6tables=false", "--ip-forward=false"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
            start_new_session=True)
        deadline = time.monotonic() + READY_TIMEOUT_S
        while subprocess.run([self.client, "version"], env=self.environment, capture_output=True,
                             check=False).returncode:
            if time.monotonic() > deadline or self.daemon.poll() is not None:
                text = (self.directory / "dockerd.log").read_text(errors="replace")
                raise AssertionError(f"dockerd does not get ready: {text[-1000:]}")
            time.sleep(0.1)

    def image(self, name, archive):
        """Imports an image from a tar archive of the root file system."""
        subprocess.run([self.client, "import", archive, name], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        if not self.daemon:
            return
        self.daemon.send_signal(signal.SIGTERM)
        try:
            self.daemon.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.daemon.pid, signal.SIGKILL)
            self.daemon.wait()
        for mount in reversed(pathlib.Path("/proc/mounts").read_text().splitlines()):
            path = mount.split()[1]
            if path == str(self.data) or path.startswith((f"{self.directory}/", f"{self.data}/")):
                subprocess.run(["umount", path], check=False)
        remove_cgroups("docker")
