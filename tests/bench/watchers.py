"""Watchers of the work: nothing, Tracer and its parts, and comparable tools.

A watcher is active while running(), returns its CPU time from cpu_s(), and may wrap the command of
the work. absent() returns why it cannot run here, or None.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import harness
import probe_harness
from measuring import NOTHING, cpu_of, descriptors, process_cpu_s

TOOL_START_TIMEOUT_S = 60


class Watcher:
    """No watcher."""

    name = NOTHING
    slowness = 1      # divides the amount of work
    rounds_max = None # limits the rounds of a slow watcher

    def absent(self, _bench):
        return None

    @contextlib.contextmanager
    def running(self, _bench):
        yield self

    def cpu_s(self):
        """CPU seconds so far of all watching processes, and of the correlator among them."""
        return 0.0, 0.0

    def wrapped(self, command):
        return command


class NothingAgain(Watcher):
    """The noise of the measurement: nothing compared with nothing."""

    name = "nothing, again"


class Tracer(Watcher):
    """The probe and the correlator, as in production."""

    name = "tracer"

    def __init__(self, *probe_options):
        self.probe_options = list(probe_options)
        self.name = " ".join([self.name, *probe_options])
        self.lost_count = 0
        self.daemons = None

    def absent(self, bench):
        known = subprocess.run([bench.programs / "probe/tracer-probe", "--help"],
                               capture_output=True, check=True).stdout.decode()
        unknown = [option for option in self.probe_options if option not in known]
        return f"this probe has no {unknown[0]}" if unknown else None

    @contextlib.contextmanager
    def running(self, bench):
        directory = bench.directory / "daemons"
        directory.mkdir()
        self.daemons = harness.WorkloadDaemons(bench.programs, directory)
        self.daemons.probe_options = self.probe_options
        try:
            self.daemons.start()
            yield self
            self.daemons.finish()
            self.lost_count += lost_count(self.daemons.store)
        finally:
            self.daemons.close()
            shutil.rmtree(directory)

    @property
    def pid(self):
        return self.daemons.probe.pid

    def cpu_s(self):
        correlator = process_cpu_s(self.daemons.correlator.pid)
        return correlator + process_cpu_s(self.daemons.probe.pid), correlator


def lost_count(store):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        return database.execute("SELECT coalesce(sum(lost_count), 0) FROM losses").fetchone()[0]


class ProbeAlone(Watcher):
    """The kernel side and the probe; its records are discarded."""

    name = "probe alone"

    def __init__(self):
        self.probe = None

    @contextlib.contextmanager
    def running(self, bench):
        directory = bench.directory / "probe"
        directory.mkdir()
        try:
            self.probe = probe_harness.Probe(bench.programs, "--record", "/dev/null",
                                             directory=directory)
            yield self
            self.probe.stop()
        finally:
            if self.probe:
                self.probe.kill()
            shutil.rmtree(directory)

    @property
    def pid(self):
        return self.probe.process.pid

    def cpu_s(self):
        return process_cpu_s(self.pid), 0.0


# They need tracefs, which is not mounted on every machine: mount it for them alone.
WITH_TRACEFS = ["unshare", "--mount", "sh", "-c",
                "mount -t debugfs nodev /sys/kernel/debug 2>/dev/null; "
                "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec \"$@\"", "sh"]


class Commands(Watcher):
    """Other programs that observe the same events."""

    def __init__(self, name, *commands):
        self.name = name
        self.commands = commands
        self.started = []

    def absent(self, _bench):
        missing = [command[0] for command in self.commands if not shutil.which(command[0])]
        return f"{', '.join(missing)} not installed" if missing else None

    @contextlib.contextmanager
    def running(self, bench):
        self.started = [
            subprocess.Popen(WITH_TRACEFS + command, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for command in self.commands_here(bench)]
        try:
            for process in self.started:
                self.wait_attached(process)
            yield self
        finally:
            for process in self.started:
                process.send_signal(signal.SIGINT)
                process.wait()

    def commands_here(self, _bench):
        return self.commands

    def wait_attached(self, process):
        """Waits until it has attached programs and attaches no more."""
        attached, deadline = 0, time.monotonic() + TOOL_START_TIMEOUT_S
        while time.monotonic() < deadline:
            time.sleep(0.3)
            if process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {process.returncode}")
            before, attached = attached, sum(
                kind in ("anon_inode:bpf_link", "anon_inode:bpf-link", "anon_inode:[perf_event]")
                for _, kind in descriptors(process.pid))
            if attached and attached == before:
                return
        raise AssertionError(f"{self.name} has attached nothing")

    @property
    def pid(self):
        return self.started[0].pid

    def cpu_s(self):
        return sum(process_cpu_s(process.pid) for process in self.started), 0.0


class EmptyPrograms(Commands):
    """BPF programs that do nothing, on the hooks that Tracer uses."""

    def __init__(self):
        super().__init__("empty programs", ["empty"])

    def absent(self, _bench):
        return None

    def commands_here(self, bench):
        return [[bench.programs / "tests/bench/empty"]]


EXEC_AND_EXIT = (
    'tracepoint:sched:sched_process_exec { printf("%d %s\\n", pid, str(args->filename)); } '
    'tracepoint:sched:sched_process_exit { printf("%d %s\\n", pid, comm); } ')


def bpftrace():
    return Commands("bpftrace: exec, exit", ["bpftrace", "-e", EXEC_AND_EXIT])


def bpftrace_with_switch():
    return Commands("bpftrace: exec, exit, switch", ["bpftrace", "-e", EXEC_AND_EXIT +
                    'tracepoint:sched:sched_switch { @switches[pid] = count(); }'])


def snoops():
    return Commands("bcc: execsnoop, exitsnoop", ["execsnoop"], ["exitsnoop"])


class Top(Commands):
    """Reads /proc once a second, as monitoring agents do."""

    def __init__(self):
        super().__init__("top, once a second", ["top", "-b", "-d", "1"])

    def wait_attached(self, process):
        time.sleep(0.3)


class Strace(Watcher):
    """Counts all system calls of the work and its children."""

    name = "strace -f -c"
    slowness = 20
    rounds_max = 2

    def absent(self, _bench):
        return None if shutil.which("strace") else "strace not installed"

    def wrapped(self, command):
        return ["strace", "-f", "-c", "-o", "/dev/null", *command]


class Accounting(Watcher):
    """The kernel's process accounting, acct(2), as enabled by accton."""

    name = "process accounting (acct)"
    files_elsewhere = [pathlib.Path("/var/log/account/pacct"), pathlib.Path("/var/account/pacct")]

    def absent(self, _bench):
        """If it is in use elsewhere, the measurement would switch it off."""
        sizes = [path.stat().st_size for path in self.files_elsewhere if path.exists()]
        cpu_of(["true"])
        if sizes != [path.stat().st_size for path in self.files_elsewhere if path.exists()]:
            return "in use on this machine, and left alone"
        return None

    @contextlib.contextmanager
    def running(self, bench):
        path = bench.directory / "accounting"
        path.touch()
        self.switch(os.fsencode(path))
        try:
            yield self
        finally:
            self.switch(None)
            path.unlink()

    @staticmethod
    def switch(path):
        library = ctypes.CDLL(None, use_errno=True)
        if library.acct(path) < 0:
            raise AssertionError(f"acct: {os.strerror(ctypes.get_errno())}")
