"""A real ClickHouse on loopback, in a temporary directory.

    with Lake() as lake:
        lake.query("SELECT 1")                          # the server's own administrator
        lake.query("SELECT count() FROM tracer.runs", user="analyst")
        lake.url, lake.secret("shipper")                # http://127.0.0.1:PORT, a file
        lake.kill(); lake.start()                       # kill -9, and restart on the same data

The engine is the npm package @chdb/lib-linux-x64-gnu, pinned by package-lock.json and kept in
.cache/lake of the checkout. It is ClickHouse without Replicated* tables, HTTPS listener, queue of
asynchronous inserts, CREATE USER in SQL, and query_log. The users are those of
datalake/users.d/tracer.xml. Raises Unavailable, with the reason, if the engine is not available.
"""

import hashlib
import os
import pathlib
import platform
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import npm  # noqa: E402 (the line above comes first)
from npm import Unavailable  # noqa: E402
from testing import Repeatable, Skip, free_port  # noqa: E402

ROOT = HERE.parent.parent
USERS = ("shipper", "analyst", "migrator")
START_LIMIT_S = 60
STOP_LIMIT_S = 30
FATAL_LINES_MAX = 20

CONFIG = """<clickhouse>
  <path>{directory}/data/</path>
  <users_config>{directory}/users.xml</users_config>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{http_port}</http_port>
  <tcp_port>{tcp_port}</tcp_port>
  <log-level>{log_level}</log-level>
  <logger><level>{log_level}</level><log>{directory}/log</log></logger>
  <send_crash_reports><enabled>false</enabled></send_crash_reports>
  <mark_cache_size>67108864</mark_cache_size>
  <max_server_memory_usage>{memory_bytes}</max_server_memory_usage>
  {more}
</clickhouse>
"""
ADMINISTRATOR = """<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password/><networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile><quota>default</quota>
  </default></users>
</clickhouse>
"""


class QueryError(Exception):
    """The server's error for a query, with the status."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text.strip()}")
        self.status = status
        self.text = text


def build_engine(cache):
    """Downloads the package of package-lock.json and compiles the launcher."""
    npm.install(HERE, cache)
    library = pathlib.Path("node_modules/@chdb/lib-linux-x64-gnu")
    subprocess.run(["cc", "-O2", "-o", "clickhouse", HERE / "clickhouse.c", f"-L{library}", "-lchdb",
                    f"-Wl,-rpath,$ORIGIN/{library}"], cwd=cache, check=True)


def engine():
    """Returns the launcher; builds it if necessary."""
    if platform.machine() != "x86_64":
        raise Unavailable(f"the engine is for x86_64, this is {platform.machine()}")
    return npm.once("lake", (HERE / "package-lock.json", HERE / "clickhouse.c"), build_engine) / "clickhouse"


def with_engine(lakes, test, *arguments):
    """Runs the test; raises Repeatable if an engine ended by itself meanwhile."""
    try:
        test(*arguments)
    except Skip:
        raise
    except Exception as reason:
        if any([lake.revive() for lake in lakes]):
            raise Repeatable("ClickHouse ended by itself") from reason
        raise


class Lake:
    """One server. `more` is added to its configuration, such as clusters."""

    def __init__(self, more="", memory_bytes=2 << 30, log_level="warning", directory=None):
        self.engine = engine()
        self.own_directory = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="tracer-lake-"))
        self.http_port, self.tcp_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.http_port}"
        self.process = None
        self.passwords = {user: secrets.token_hex(8) for user in USERS}
        self.configure(more, memory_bytes, log_level)

    def configure(self, more="", memory_bytes=2 << 30, log_level="warning"):
        """Writes the files that the server reads when it starts."""
        users = self.directory / "users.d"
        users.mkdir(exist_ok=True)
        (self.directory / "data").mkdir(exist_ok=True)
        (self.directory / "config.xml").write_text(CONFIG.format(
            directory=self.directory, http_port=self.http_port, tcp_port=self.tcp_port, more=more,
            memory_bytes=memory_bytes, log_level=log_level))
        (self.directory / "users.xml").write_text(ADMINISTRATOR)
        shutil.copy(ROOT / "datalake/users.d/tracer.xml", users)
        hashes = {user: hashlib.sha256(password.encode()).hexdigest()
                  for user, password in self.passwords.items()}
        (users / "tracer-passwords.xml").write_text("<clickhouse><users>%s</users></clickhouse>" % "".join(
            f"<{user}><password_sha256_hex>{text}</password_sha256_hex></{user}>"
            for user, text in hashes.items()))
        for user in USERS:
            self.secret(user).write_text(self.passwords[user] + "\n")
            self.secret(user).chmod(0o600)

    def secret(self, user):
        """The file with a user's password."""
        return self.directory / f"{user}.secret"

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process:
            self.kill()
        if self.own_directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    # --- the process -------------------------------------------------------------------

    def start(self):
        """Starts it and waits until it answers. It exits when its standard input closes, that is, with us."""
        with open(self.directory / "output", "ab") as output:
            self.process = subprocess.Popen(
                [self.engine, f"--config-file={self.directory}/config.xml", "--query",
                 "SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP;"
                 " SELECT count() FROM file(stdin, 'LineAsString')"],
                cwd=self.directory, stdin=subprocess.PIPE, stdout=output, stderr=output)
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"ClickHouse ended with {self.process.returncode}: {self.words()}")
            try:
                self.query("SELECT 1")
                return self
            except (OSError, QueryError):
                time.sleep(0.05)
        raise RuntimeError(f"ClickHouse does not answer after {START_LIMIT_S} s: {self.words()}")

    def words(self):
        """The end of its output, and the fatal messages in its log."""
        output, log = self.directory / "output", self.directory / "log"
        fatal = [line for line in log.read_text(errors="replace").splitlines()
                 if "<Fatal>" in line] if log.exists() else []
        return "\n".join([output.read_text(errors="replace")[-2000:], *fatal[:FATAL_LINES_MAX]])

    def stop(self):
        """Stops it properly, as a service manager does."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.process.stdin.close()
        self.process = None

    def kill(self):
        """kill -9: unwritten data is lost."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process = None

    def answers(self):
        try:
            return bool(self.query("SELECT 1", timeout=10))
        except (OSError, QueryError):
            return False

    def ends(self):
        """Whether it ends by itself, which takes some seconds after it announces that."""
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            return False
        return True

    def revive(self):
        """Restarts the server if it ended by itself, through its own fault. Returns whether it had.
        Otherwise this test and all later ones would fail for an unrelated reason."""
        if self.process and (self.answers() or not self.ends()):
            return False
        if self.process:
            words = self.words().replace("\n", "\n    ")
            print(f"    ClickHouse has ended with {self.process.returncode}: {words}", flush=True)
            self.process.stdin.close()
        self.start()
        return True

    def pause(self):
        """Makes it hang: the kernel accepts connections, but nothing answers."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def rss_bytes(self):
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    # --- Tracer ------------------------------------------------------------------------

    def environment(self, user="analyst"):
        """Of programs that are that user."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TRACER_")}
        return plain | {"TRACER_LAKE_USER": user, "TRACER_LAKE_PASSWORD_FILE": str(self.secret(user)), "HOME": "/nonexistent",
                        "LC_ALL": "C.UTF-8"}

    def ship(self, build, store):
        """Sends it everything in a store, with the shipper of that build."""
        state = pathlib.Path(store).with_suffix(".state")
        state.mkdir()
        subprocess.run([build / "shipper/tracer-shipper", "--once", "--store", store, "--state", state, "--config", "/dev/null",
                        "--lake", self.url, "--set", "lake.user=shipper", "--set",
                        f"lake.password-file={self.secret('shipper')}", "--log-level", "warning"], check=True)

    # --- queries -----------------------------------------------------------------------

    def query(self, sql, user="default", body=b"", timeout=60, **settings):
        """Returns the answer's bytes. A setting param_NAME sets {NAME:Type} of the query."""
        parameters = urllib.parse.urlencode({"query": sql, "wait_end_of_query": 1, **settings})
        request = urllib.request.Request(f"{self.url}/?{parameters}", data=body, method="POST")
        request.add_header("X-ClickHouse-User", user)
        request.add_header("X-ClickHouse-Key", self.passwords.get(user, ""))
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            raise QueryError(error.code, error.read().decode(errors="replace")) from None

    def value(self, sql, **settings):
        """The single value of the single row, as text."""
        return self.query(sql, **settings).decode().rstrip("\n")

    def rows(self, sql, **settings):
        """Rows of text, as in TabSeparated."""
        return [line.split("\t") for line in self.query(sql, **settings).decode().splitlines()]
