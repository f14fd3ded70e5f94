"""A probe in a PID namespace of its own, as in a container without the host's: its process scans see only what is in there."""

import subprocess
import time

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
    assert "not in the host's PID namespace" in daemons.probe.log(), daemons.probe.log()
    outside = subprocess.Popen(["sh", "-c", f"sleep {SECONDS}; exit 3"])
    time.sleep(SECONDS)
    outside.wait()

    def found():
        return daemons.rows("SELECT program, ended, exit_code FROM processes WHERE pid = ? AND ended IS NOT NULL", outside.pid)
    wait_until("the end is stored", found)
    same("how it ended", found(), [{"program": "sh", "ended": "exit", "exit_code": 3}])
    same("lost processes", daemons.rows("SELECT program FROM processes WHERE ended = 'lost'"), [])
