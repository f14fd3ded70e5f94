"""Signals to the daemons, and what a hostile end of their socket costs."""

import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernel"))
from probe_harness import Correlator, Probe  # noqa: E402 (the line above comes first)
from testing import ENVIRONMENT, same  # noqa: E402
from wire_client import frame, message  # noqa: E402

# Asks, for each daemon beside this command, whether it could be ended.
SIGNAL = """
import os, pathlib
for path in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        status = dict(line.split(":\\t", 1) for line in (path / "status").read_text().splitlines() if ":\\t" in line)
        if status["PPid"] == str(os.getppid()) and status["Name"].startswith(("tracer-probe", "tracer-correlat")):
            print("found", status["Name"])
            os.kill(int(path.name), 0)
            print("could end", status["Name"])
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass
"""


def test_the_command_of_tracer_run(scene):
    """It runs as `nobody`, or as `daemon`, but never as the user of a daemon."""
    daemons = scene.daemons()
    for user in ("nobody", "daemon"):
        result = subprocess.run([scene.build / "cli/tracer", "run", "--as", user, "--store", daemons.directory / f"{user}.db",
                                 "--", sys.executable, "-c", SIGNAL], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, check=False, cwd="/", env=ENVIRONMENT, timeout=120)
        same(f"status ({result.stderr})", result.returncode, 0)
        said = [line for line in result.stdout.splitlines() if line.startswith(("found", "could end"))]
        same(f"daemons that {user} sees and could end", sorted(said), ["found tracer-correlat", "found tracer-probe"])


def test_a_flood_of_acknowledgements(scene):
    """It does not keep the probe busy: it is read at intervals."""
    daemons = scene.daemons()
    evil = Correlator(daemons.directory)
    scene.closing.callback(evil.close)
    probe = scene.closing.enter_context(Probe(scene.build, "--no-pin", "--socket", evil.path, directory=daemons.directory))
    flood, over = frame(message("ack", offset=0)) * 1000, threading.Event()
    sent = []

    def send():
        while not over.is_set():
            try:
                evil.send(flood)
                sent.append(len(flood))
            except OSError:
                return

    def cpu_ticks():
        return sum(map(int, pathlib.Path(f"/proc/{probe.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    thread = threading.Thread(target=send)
    before = cpu_ticks()
    thread.start()
    over.wait(5)
    used = (cpu_ticks() - before) / os.sysconf("SC_CLK_TCK") / 5
    over.set()
    probe.kill()
    thread.join()
    scene.note(f"{sum(sent) / 5e6:.1f} MB of acknowledgements a second take {100 * used:.0f} % of a processor")
    assert used < 0.1, f"the probe is busy: {100 * used:.0f} % of a processor"
