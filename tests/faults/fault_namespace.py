"""Namespaces of the probe: of its own for PIDs, as in a container without the host's, its process scans see only what is in there;
and the host's name, which may change."""

import os
import pathlib
import signal
import subprocess
import time

from daemons import Marker
from testing import same, wait_until

SECONDS = 4 # several scans


def test_a_probe_in_its_own_pid_namespace(bench):
    """What runs outside it is not lost: it ends as it does, with its figures."""
    daemons = bench.daemons()
    inside = daemons.directory / "probe-inside"
    inside.write_text(f'#!/bin/sh\nexec unshare --pid --fork --kill-child --mount-proc {daemons.probe_program} "$@"\n')
    inside.chmod(0o755)
    daemons.probe_program = inside
    daemons.start()
    # That of unshare: --kill-child does not reach a probe that has changed its user.
    child = int(pathlib.Path(f"/proc/{daemons.probe.pid}/task/{daemons.probe.pid}/children").read_text())
    bench.closing.callback(os.kill, child, signal.SIGKILL)
    assert "not in the host's PID namespace" in daemons.probe.log(), daemons.probe.log()
    outside = subprocess.Popen(["sh", "-c", f"sleep {SECONDS}; exit 3"])
    time.sleep(SECONDS)
    outside.wait()

    def found():
        return daemons.rows("SELECT program, ended, exit_code FROM processes WHERE pid = ? AND ended IS NOT NULL", outside.pid)
    wait_until("the end is stored", found)
    same("how it ended", found(), [{"program": "sh", "ended": "exit", "exit_code": 3}])
    same("lost processes", daemons.rows("SELECT program FROM processes WHERE ended = 'lost'"), [])


def test_a_host_that_is_renamed(bench):
    """The probe reports its new name by itself, and loses nothing. (The name is that of a UTS namespace.)"""
    daemons = bench.daemons()
    inside = daemons.directory / "probe-inside"
    inside.write_text(f'#!/bin/sh\nhostname first-name\nexec {daemons.probe_program} "$@"\n')
    inside.chmod(0o755)
    named = daemons.directory / "named"
    named.write_text(f'#!/bin/sh\nexec unshare --uts {inside} "$@"\n')
    named.chmod(0o755)
    daemons.probe_program = named
    daemons.start()
    wait_until("the host has a name", lambda: daemons.value("SELECT hostname FROM hosts") == "first-name")
    outside = subprocess.Popen(["sleep", "1000"])
    marker = Marker(daemons)
    marker.run_stored()
    subprocess.run(["nsenter", "--uts", f"--target={daemons.probe.pid}", "hostname", "second-name"], check=True)
    wait_until("the host has another name", lambda: daemons.value("SELECT hostname FROM hosts") == "second-name")
    marker.run_stored()
    same("hosts", daemons.value("SELECT count(*) FROM hosts"), 1)
    same("lost processes", daemons.rows("SELECT program FROM processes WHERE ended = 'lost'"), [])
    outside.kill()
    outside.wait()
