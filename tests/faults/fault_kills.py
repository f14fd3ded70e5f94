"""Daemons killed and restarted during a storm of commands."""

import random
import time

from fault_ring import counted_losses
from storm import await_ends, check_accounted
from testing import LONG, same

KILLS = 50 if LONG else 25
PAUSE_MAX_S = 2.0


class Supervisor:
    """Restarts killed daemons immediately, as a service manager would."""

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
    """Probe, correlator or both, at any moment, including their start: nothing is lost or doubled,
    and losses on a machine too busy for them are counted."""
    chance = random.Random(bench.seed)
    daemons, cgroup = bench.daemons("--ring-size", "64M", pins=True), bench.cgroup()
    daemons.start()
    supervisor, storm = Supervisor(daemons), bench.storm(cgroup=cgroup)
    killed = []
    for _ in range(KILLS):
        time.sleep(chance.uniform(0, PAUSE_MAX_S))
        names = chance.choice([("probe",), ("correlator",), ("probe", "correlator")])
        supervisor.kill(*names)
        killed += names
    storm.stop()
    await_ends(daemons, storm.count, cgroup)
    daemons.stop()
    bench.note(f"{KILLS} times, seed {bench.seed}: the probe {killed.count('probe')} times, the "
               f"correlator {killed.count('correlator')}")
    check_accounted(bench, daemons, storm, cgroup)
    same("losses in the store and in the kernel", daemons.value("SELECT sum(lost_count) FROM losses")
         or 0, counted_losses(daemons))
    daemons.check_store()
    same("status of --detach", daemons.detach().returncode, 0)
