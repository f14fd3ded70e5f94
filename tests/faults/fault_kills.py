"""Daemons that are killed, and replaced, while a storm of commands goes on."""

import random
import time

from storm import await_ends, check_each_once
from testing import same

KILLS = 50
PAUSE_MAX_S = 2.0


class Supervisor:
    """Starts at once whoever was killed, as a service manager would."""

    def __init__(self, daemons):
        self.daemons = daemons
        self.start = {"probe": lambda: daemons.start_probe(wait=False),
                      "correlator": lambda: daemons.start_correlator(wait=False)}

    def kill(self, *names):
        for name in names:
            daemon = getattr(self.daemons, name)
            assert not daemon.has_ended(), f"the {name} has ended by itself: {daemon.log()}"
            daemon.kill()
        for name in names:
            self.start[name]()


def test_killed_at_random(bench):
    """Probe, correlator or both, at any moment, their start included: nothing lost or doubled."""
    chance = random.Random(bench.seed)
    daemons = bench.daemons()
    daemons.mount_pins()
    daemons.probe_options = ["--ring-size", "64M"]
    daemons.start()
    supervisor, storm = Supervisor(daemons), bench.storm()
    for _ in range(KILLS):
        time.sleep(chance.uniform(0, PAUSE_MAX_S))
        supervisor.kill(*chance.choice([("probe",), ("correlator",), ("probe", "correlator")]))
    storm.stop()
    await_ends(daemons, storm.count)
    daemons.stop()
    exit_only = check_each_once(daemons, storm.count)
    daemons.check_store()
    same("status of --detach", daemons.detach().returncode, 0)
    bench.note(f"{KILLS} kills, seed {bench.seed}: {storm.count} commands at {storm.rate:.0f} a "
               f"second, each once; {exit_only} without a final record")
