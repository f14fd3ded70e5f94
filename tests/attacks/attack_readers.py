"""Members of the group may read the store; they cannot stop what writes it."""

import pwd
import subprocess

from daemons import Marker
from testing import same

NOBODY = pwd.getpwnam("nobody")

# Locks whatever of it can be opened, and prints what could not.
HOLD_LOCKS = """
import fcntl, os, sys, time
held = []
for path in sys.argv[1:]:
    try:
        held.append(os.open(path, os.O_RDONLY))
        if path.endswith(".lock"):
            fcntl.flock(held[-1], fcntl.LOCK_SH | fcntl.LOCK_NB)
        else:
            fcntl.lockf(held[-1], fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        print("refused", path, flush=True)
print("done", flush=True)
time.sleep(1000)
"""

CONNECT = """
import socket, sys, time
connected, until = 0, time.monotonic() + 3
while time.monotonic() < until:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(sys.argv[1])
            connected += 1
        except OSError:
            pass
print(connected)
"""


def start(scene):
    """As the units do: the store belongs to a user of its own, and that user's group may read it."""
    daemons = scene.daemons()
    daemons.directory.chmod(0o777)
    daemons.socket_group = None
    daemons.correlator_options = ["--user", "nobody"]
    daemons.start_correlator()
    daemons.start_probe("--peer-uid", "nobody")
    return daemons


def test_locks_of_a_reader(scene):
    """Read locks on every file of the store, from before the correlator starts again."""
    daemons = start(scene)
    marker = Marker(daemons)
    marker.run_stored()
    files = [f"{daemons.store}{suffix}" for suffix in ("", "-wal", "-shm", ".lock")]
    holder = scene.start_python(HOLD_LOCKS, *files, groups=[NOBODY.pw_gid], stdout=subprocess.PIPE)
    same("refused", [holder.stdout.readline(), holder.stdout.readline()], [f"refused {files[3]}\n", "done\n"])
    marker.run_stored()
    daemons.correlator.stop()
    daemons.start_correlator()
    marker.run_stored()
    daemons.correlator.kill()
    daemons.start_correlator()
    marker.run_stored()
    scene.end(holder)
    marker.run_stored()
    daemons.stop()
    daemons.check_store()


def test_connections_of_a_reader(scene):
    """Thousands a second are refused by the kernel: they cost the correlator nothing."""
    daemons = start(scene)
    marker = Marker(daemons)
    marker.run_stored()
    before = len(daemons.correlator.log().splitlines())
    same("connections", scene.run_python(CONNECT, daemons.socket, groups=[NOBODY.pw_gid]).strip(), "0")
    marker.run_stored()
    same("log lines", len(daemons.correlator.log().splitlines()), before)
    daemons.stop()
