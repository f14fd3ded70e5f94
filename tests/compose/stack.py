"""The stack of deploy/compose in a private Docker engine.

No registry is needed: debian:bookworm-slim is imported from debootstrap, and clickhouse/clickhouse-server is
replaced by the image in clickhouse/. Images and the layers of their builds are kept in .cache/compose.
"""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "lake")]
import lake  # noqa: E402 (the line above comes first)
from docker_engine import Engine  # noqa: E402
from testing import PATH, Skip, free_port, remove_tree, require, wait_until  # noqa: E402

ROOT = HERE.parent.parent
CACHE = ROOT / ".cache/compose"
LAYERS_MAX = "4GB" # that are kept of builds
COMPOSE = ROOT / "deploy/compose"
BASE = "debian:bookworm-slim"
CLICKHOUSE = re.search(r"image: (clickhouse/\S+)", (COMPOSE / "compose.yaml").read_text())[1]
IMAGES = ("tracer-probe", "tracer-correlator", "tracer-shipper", "tracer-lake")
DAEMONS = ("probe", "correlator", "shipper", "clickhouse")
SERVERS = (*DAEMONS, "dashboard")
LIMIT_S = 900


def mirror():
    """The archive of Debian that this host's apt uses."""
    found = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI) $(RELEASE)",
                            "Created-By: Packages"], capture_output=True, text=True, check=False).stdout
    named = re.search(r"^Debian (\S+) bookworm$", found, re.MULTILINE)
    return named[1] if named else "http://deb.debian.org/debian"


def base_archive():
    """The root file system of a Debian 12, made once."""
    archive = CACHE / "bookworm.tar"
    if archive.exists():
        return archive
    require("debootstrap")
    with tempfile.TemporaryDirectory(prefix="tracer-compose-") as directory:
        root = pathlib.Path(directory) / "root"
        result = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, mirror()],
                                capture_output=True, text=True, check=False)
        if result.returncode:
            raise Skip(f"debootstrap failed: {result.stdout.strip()[-200:]}")
        # As in the image that it stands for: no fsync for each file of a package.
        (root / "etc/dpkg/dpkg.cfg.d/docker-apt-speedup").write_text("force-unsafe-io\n")
        proxies = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
        (root / "etc/apt/apt.conf.d/90host").write_text("".join(
            f"{line}\n" for line in proxies.splitlines() if line.startswith(("Acquire::http", "Acquire::Check"))))
        subprocess.run(["tar", "-C", root, "--exclude=./var/cache/apt/archives/*.deb", "-cf", f"{archive}.new", "."],
                       check=True)
    os.rename(f"{archive}.new", archive)
    return archive


class Stack:
    """One project of Compose, and the engine that it runs in."""

    def __init__(self):
        require("iptables")
        CACHE.mkdir(parents=True, exist_ok=True)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-compose-"))
        self.directory.chmod(0o755)
        # A copy, beside which folders can be made.
        self.files = shutil.copytree(COMPOSE, self.directory / "compose")
        self.engine = Engine(self.directory, CACHE / "docker")
        self.port, self.dashboard_port = free_port(), free_port()
        self.environment = self.engine.environment | {"TRACER_LAKE_PORT": str(self.port), "BUILDKIT_PROGRESS": "plain",
                                                      "TRACER_DASHBOARD_PORT": str(self.dashboard_port),
                                                      "TRACER_SHIPPER_OPTIONS": "--interval 2"}

    def __enter__(self):
        try:
            self.engine.start()
            self.down()
            self.build()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.engine.daemon:
            self.down()
        self.engine.stop()
        remove_tree(self.directory)

    # --- Docker ------------------------------------------------------------------------

    def docker(self, *arguments, check=True, **more):
        """Returns what it prints."""
        settings = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": LIMIT_S} | more
        result = subprocess.run([self.engine.client, *map(str, arguments)], env=self.environment,
                                check=False, **settings)
        if check and result.returncode:
            raise AssertionError(f"docker {' '.join(map(str, arguments))}: {result.stdout[-1500:]}{result.stderr[-1500:]}")
        return result.stdout

    def compose(self, *arguments, files=("compose.yaml",), **more):
        named = [word for file in files for word in ("--file", self.files / file)]
        return self.docker("compose", *named, *arguments, **more)

    def build(self):
        if not self.docker("images", "--quiet", BASE):
            self.engine.image(BASE, base_archive())
        self.docker("build", "--network", "host", "--tag", CLICKHOUSE, "--build-context",
                    f"engine={lake.engine().parent}", HERE / "clickhouse")
        self.docker("compose", "--file", COMPOSE / "compose.yaml", "--file", HERE / "network.yaml", "--profile", "*", "build")
        self.docker("builder", "prune", "--force", "--keep-storage", LAYERS_MAX)

    def up(self, **more):
        self.compose("up", "--wait", "--no-build", "--pull", "never", **more)

    def down(self):
        """Removes the stack, and containers of the tests' own."""
        self.compose("--profile", "*", "down", "--volumes", "--timeout", "20")
        for container in self.docker("ps", "--all", "--quiet").split():
            self.docker("rm", "--force", container)

    # --- what it has stored --------------------------------------------------------------

    def volume(self, name):
        return self.engine.data / f"volumes/tracer_{name}/_data"

    def store(self, sql):
        """Rows of the correlator's store, as dictionaries."""
        connection = sqlite3.connect(f"file:{self.volume('store')}/tracer.db?mode=ro", uri=True, timeout=60)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute(sql)]
        finally:
            connection.close()

    def password(self, user):
        return (self.volume("lake-clients") / f"{user}.password").read_text().strip()

    def lake(self, sql, user="analyst", password=None):
        """The same of the lake, through its published port, as one of its users."""
        query = urllib.parse.urlencode({"query": f"{sql} FORMAT JSONEachRow", "database": "tracer",
                                        "output_format_json_quote_64bit_integers": 0})
        request = urllib.request.Request(f"https://localhost:{self.port}/?{query}", method="POST", headers={
            "X-ClickHouse-User": user,
            "X-ClickHouse-Key": self.password(user) if password is None else password})
        trust = ssl.create_default_context(cafile=self.volume("lake-clients") / "ca.pem")
        try:
            with urllib.request.urlopen(request, context=trust, timeout=60) as response:
                return [json.loads(line) for line in response.read().splitlines()]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{sql}: {error.read().decode()[:500]}") from None

    def pid(self, service):
        """The first process of a service's container; 0 if it does not run."""
        container = self.compose("ps", "--all", "--quiet", service).strip()
        return int(self.docker("inspect", "--format", "{{.State.Pid}}", container).strip())

    def states(self):
        """(service, state, health) of every container, those excluded that have done their work."""
        listed = self.compose("ps", "--all", "--format", "{{.Service}} {{.State}} {{.Health}} {{.ExitCode}}")
        fields = [line.split(" ") for line in listed.splitlines()]
        return [(service, state, health) for service, state, health, status in fields if (state, status) != ("exited", "0")]

    def is_healthy(self, service):
        return (service, "running", "healthy") in self.states()
