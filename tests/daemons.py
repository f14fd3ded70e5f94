"""A test's own probe and correlator: start, kill, wait for them, and query their store.

One directory holds everything: socket, store, logs, and the BPF filesystem for pins. close() ends
all started processes, whatever happens to the test; the filesystem is mounted in a private
namespace (testing.enter_own_mounts) and disappears, with its pins, when the test's process ends.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from testing import ENVIRONMENT, PATIENCE_S, Skip, remove_tree, same, wait_until



def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def replay(build, recording, store):
    """Replays a recording into a store, with the shipped rules only."""
    result = subprocess.run([pathlib.Path(build) / "correlator/tracer-correlator", "--replay", recording, "--store",
                             store, "--rules", "/nonexistent", "--retain", "0", "--log-level", "warning"],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    same(f"status of a replay ({result.stderr})", result.returncode, 0)
    return store


class Daemon:
    """One daemon process; it reports readiness by a byte on a pipe."""

    def __init__(self, name, command, log_path, environment=ENVIRONMENT, prepare=die_with_parent):
        self.name = name
        self.log_path = pathlib.Path(log_path)
        ready, ready_write = os.pipe()
        os.set_blocking(ready, False)
        self._ready, self._is_ready = os.fdopen(ready, "rb", 0), False
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*map(str, command), "--ready-fd", str(ready_write)], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, pass_fds=[ready_write], preexec_fn=prepare, env=environment)
        os.close(ready_write)

    @property
    def pid(self):
        return self.process.pid

    def is_ready(self):
        self._is_ready = self._is_ready or self._ready.read(1) == b"1"
        return self._is_ready

    def wait_ready(self):
        try:
            wait_until(f"{self.name} is ready", lambda: self.is_ready() or self.has_ended())
            assert self.is_ready(), f"the {self.name} has ended: {self.log()}"
        except AssertionError:
            self.kill()
            raise
        return self

    def has_ended(self):
        return self.process.poll() is not None

    def log(self):
        return self.log_path.read_text(errors="replace")

    def wait_for_log(self, text):
        wait_until(f"{text!r} is in the log of the {self.name}", lambda: text in self.log())

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if not self.has_ended():
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()

    def stop(self, status=0):
        """Ends it as a service manager would."""
        if not self.has_ended():
            self.process.terminate()
        return self.wait(status)

    def wait(self, status=0):
        try:
            found = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the {self.name} does not end: {self.log()}") from None
        same(f"status of the {self.name} ({self.log()[-1500:]})", found, status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def status_field(self, name):
        """A field of /proc/PID/status."""
        for line in open(f"/proc/{self.pid}/status"):
            if line.startswith(f"{name}:"):
                return line.split(":", 1)[1].strip()
        raise AssertionError(f"no {name}")

    def memory_bytes(self):
        """Its anonymous memory, without the mapped ring and files."""
        return int(self.status_field("RssAnon").split()[0]) * 1024

    def descriptor_count(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Correlator(Daemon):
    """One without a probe, on a store that continues after each restart."""

    def __init__(self, program, directory, *options, store="tracer.db", socket="tracer.sock", wait=True):
        self.store, self.socket = directory / store, directory / socket
        super().__init__("correlator", [
            program, "--socket", self.socket, "--store", self.store, "--retain", "0", "--host-period", "0",
            "--rules", directory, *options], directory / f"log-{time.monotonic_ns()}", prepare=None)
        if wait:
            self.wait_ready()


class Daemons:
    """A probe and a correlator in one directory."""

    def __init__(self, build, directory=None):
        self.build = pathlib.Path(build).resolve()
        self.own_directory = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="tracer-test-"))
        self.directory.chmod(0o755)
        self.socket = self.directory / "tracer.sock"
        self.store = self.directory / "tracer.db"
        self.socket_group = "nogroup"
        self.pin_directory = None
        self.use(self.build)
        self.probe_options = []
        self.correlator_options = []
        self.started = []
        self.probe = self.correlator = None

    def use(self, build):
        """Takes the programs from that build from the next start on."""
        self.probe_program = build / "probe/tracer-probe"
        self.correlator_program = build / "correlator/tracer-correlator"

    def mount_pins(self):
        """Enables pins, in a BPF filesystem of the test's own."""
        mount = self.directory / "bpf"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "bpf", "bpf", mount], capture_output=True,
                          check=False).returncode:
            raise Skip("cannot mount a BPF filesystem")
        self.pin_directory = mount / "tracer"

    def start_correlator(self, *options, wait=True):
        self.correlator = self._start("correlator", [
            self.correlator_program, "--socket", self.socket,
            *(["--socket-group", self.socket_group] if self.socket_group else []), "--store", self.store, "--retain", "0",
            "--rules", self.directory, *self.correlator_options, *options], wait)
        return self.correlator

    def start_probe(self, *options, wait=True, environment=None):
        """Starts a probe; it runs as nobody and reaches the socket through its group."""
        pins = ["--pin-dir", self.pin_directory] if self.pin_directory else ["--no-pin"]
        self.probe = self._start("probe", [
            self.probe_program, "--socket", self.socket, "--group", "nogroup", *pins,
            *self.probe_options, *options], wait, environment)
        return self.probe

    def start(self):
        self.start_correlator()
        self.start_probe()

    def _start(self, name, command, wait, environment=None):
        daemon = Daemon(name, command, self.directory / f"{name}.log", ENVIRONMENT | (environment or {}))
        self.started.append(daemon)
        return daemon.wait_ready() if wait else daemon

    def stop(self):
        """Ends both properly; the store then holds everything that happened."""
        self.probe.stop()
        self.correlator.stop()

    def detach(self):
        return subprocess.run([self.probe_program, "--detach", "--pin-dir", self.pin_directory],
                              capture_output=True, text=True, check=False,
                              env=ENVIRONMENT)

    def close(self):
        """Ends what still runs and removes the directory if it was created here."""
        for daemon in self.started:
            daemon.kill()
        for mount in ("bpf", "disk"):
            if os.path.ismount(self.directory / mount):
                subprocess.run(["umount", "--lazy", self.directory / mount], check=False)
        if self.own_directory:
            remove_tree(self.directory)

    def rows(self, sql, *values):
        """Rows of the store as dictionaries; empty if there is no store yet, or nothing in it."""
        if not self.store.exists():
            return []
        database = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=30)
        database.row_factory = sqlite3.Row
        database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            return [dict(row) for row in database.execute(sql, values)]
        except sqlite3.OperationalError:
            if not database.execute("SELECT 1 FROM sqlite_schema").fetchone():
                return []
            raise
        finally:
            database.close()

    def value(self, sql, *values):
        rows = self.rows(sql, *values)
        return next(iter(rows[0].values())) if rows else None

    def check_store(self):
        same("integrity of the store", self.value("PRAGMA integrity_check"), "ok")

    def tell(self, *arguments, status=0):
        """Output of `tracer ...`."""
        result = subprocess.run([self.build / "cli/tracer", *map(str, arguments), "--store", self.store],
                                capture_output=True, check=False, env=ENVIRONMENT)
        same(f"status of tracer {arguments}: {result.stderr.decode(errors='replace')}",
             result.returncode, status)
        return result.stdout.decode()

    def tracer(self, *arguments):
        return json.loads(self.tell(*arguments, "--json"))


class Marker:
    """A program that no other process runs."""

    def __init__(self, daemons):
        self.daemons = daemons
        self.path = daemons.directory / "tracer-marker"
        shutil.copy(shutil.which("true"), self.path)
        self.path.chmod(0o755)
        self.runs = 0

    def run(self):
        subprocess.run([self.path], check=True)
        self.runs += 1

    def wait_stored(self):
        """Waits until each run is stored, and checks that none is stored twice."""
        def count():
            return self.daemons.value("SELECT count(*) FROM processes WHERE program = ? AND "
                                      "ended = 'exit'", self.path.name) or 0
        wait_until(f"{self.runs} processes are stored", lambda: count() >= self.runs)
        same("processes", count(), self.runs)

    def run_stored(self):
        self.run()
        self.wait_stored()


@contextlib.contextmanager
def busy():
    """A process that computes meanwhile."""
    process = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()
