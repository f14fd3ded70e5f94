"""Runs a workload with its own daemons and queries the store for the results.

The daemons, their socket and their store are in a temporary directory of the workload. Nothing is
pinned; stop() ends all started processes in any case.
"""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import model  # noqa: E402 (the line above comes first)
from cgroups import remove_cgroups  # noqa: E402,F401
from daemons import Daemons, die_with_parent  # noqa: E402,F401
from testing import PATH, Skip, remove_tree, require, same  # noqa: E402,F401

WORKLOAD_TIMEOUT_S = 120
# The kernel frees a process, and reports its final figures, up to this long after it was reaped.
FINAL_RECORDS_S = 0.3


class WorkloadDaemons(Daemons):
    """A probe and a correlator for one workload; the correlator ends with it."""

    def start_correlator(self, *options, wait=True):
        return super().start_correlator("--once", *options, wait=wait)

    def finish(self):
        """Ends both properly; the store then holds everything that happened."""
        time.sleep(FINAL_RECORDS_S)
        self.probe.stop()
        self.correlator.wait()

    def reports(self, directory):
        """Every run that began in `directory` or below, oldest first, each with all its content."""
        runs = [run for run in self.tracer("runs", "--limit", "0")["runs"]
                if pathlib.Path(run["working_directory"] or "/").is_relative_to(directory)]
        runs.sort(key=lambda run: run["begin_boot_ns"])
        return [self.tracer("show", run["id"], "--processes") for run in runs]


class Bench:
    """Resources of a workload: a directory, programs of known behaviour, users, daemons."""

    def __init__(self, programs):
        self.programs = programs
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-workload-"))
        self.directory.chmod(0o755)
        self.bin = self.directory / "bin"
        self.bin.mkdir()
        self.daemons = WorkloadDaemons(programs, self.directory)
        self.started = []
        self.environment = {} # additional environment of started commands
        self.worker("tracer")

    def close(self, keep=False):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.daemons.close()
        if keep:
            print(f"    kept: {self.directory}", flush=True)
        else:
            remove_tree(self.directory)

    def worker(self, *names):
        """Installs copies of the worker in the path, under these names."""
        for name in names:
            shutil.copy(self.programs / "tests/workloads/worker", self.bin / name)

    def compile_java(self, source):
        """Returns the directory of its classes."""
        classes = self.directory / "classes"
        command = ["javac", "-d", classes, source]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if result.returncode:
            raise AssertionError(f"javac ended with {result.returncode}: {result.stderr.decode()}")
        return classes

    def fixture(self, path):
        """Copies a file or directory so that every user can read it: a checkout may be private."""
        copy = self.directory / path.name
        if path.is_dir() and not copy.exists():
            shutil.copytree(path, copy)
        elif not path.is_dir():
            shutil.copy(path, copy)
        return copy

    def work_directory(self, name, user):
        """A directory of the workload, writable by `user`."""
        path = self.directory / name
        path.mkdir()
        account = pwd.getpwnam(user)
        os.chown(path, account.pw_uid, account.pw_gid)
        return path

    def output_path(self, directory):
        """File with the output of a command in `directory`."""
        return directory.with_suffix(".output")

    def start(self, command, directory, user="nobody", marked=True):
        """Starts a command as `user`. If marked, runs it under `tracer run`, so that it is one run."""
        account = pwd.getpwnam(user)
        mark = [self.bin / "tracer", "run", "--"] if marked else []
        output = open(self.output_path(directory), "wb")
        process = subprocess.Popen(
            [str(word) for word in [*mark, *command]], cwd=directory, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, user=account.pw_uid, group=account.pw_gid,
            extra_groups=[], start_new_session=True,
            env={"PATH": f"{self.bin}:{PATH}", "HOME": str(directory), "LANG": "C.UTF-8",
                 "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", **self.environment})
        process.output_path = output.name
        self.started.append(process)
        return process

    def wait(self, process, expected_status=0):
        """Waits for the process. Returns the CPU time in ns of all processes reaped below it."""
        deadline = time.monotonic() + WORKLOAD_TIMEOUT_S
        while time.monotonic() < deadline:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.02)
        else:
            raise AssertionError(f"the workload still runs after {WORKLOAD_TIMEOUT_S} s")
        if process.returncode != expected_status:
            text = pathlib.Path(process.output_path).read_text(errors="replace")
            raise AssertionError(f"the workload ended with {process.returncode}: {text.strip()[-2000:]}")
        return round((usage.ru_utime + usage.ru_stime) * 1e9)

    def watch(self, command, directory, user="nobody", expected_status=0):
        """Runs one marked command under the daemons from start to end. Returns the reports of the
        runs in its directory, and the CPU time reported by wait4."""
        self.daemons.start()
        waited_ns = self.wait(self.start(command, directory, user), expected_status)
        self.daemons.finish()
        return self.daemons.reports(directory), waited_ns

    def only_report(self, directory):
        """That of the one run in a directory."""
        reports = self.daemons.reports(directory)
        same("number of runs", len(reports), 1)
        return reports[0]

    def check(self, expected, command, directory, user="nobody"):
        """Errors of the one run of a command, with its CPU time, and its report."""
        _, waited_ns = self.watch(command, directory, user)
        report = self.only_report(directory)
        return model.check_run(expected, report) + model.check_cpu(report, waited_ns), report
