"""An outage of the lake while a host continues: resources of its shipper meanwhile, and the speed
of the delivery afterwards.

An hour of 1,000 processes a second is replayed into a store as fast as the correlator allows, while
a shipper fails to reach the lake. Once the lake is back, everything must arrive: every row of the
store is in the lake, compared by key and content.
"""

import time

import simulated
from daemons import Daemon
from measuring import note
from simulated import command
from testing import ENVIRONMENT, wait_until

RATE = 1000                 # processes a second
STORY_PROCESSES = 49        # in the recording, which is one run of its pipeline
ROUND_MS = STORY_PROCESSES * 1000 // RATE
MEMORY_PERIOD_S = 0.2
ARRIVED_LIMIT_S = 1800


class Shipper(Daemon):
    """tracer-shipper, running alongside the correlator."""

    def __init__(self, programs, lake, store, state):
        state.mkdir()
        self.state = state
        super().__init__("shipper", [*simulated.shipper_command(programs, lake, store, state), "--set",
                                     "send.interval=1s"], state / "log", ENVIRONMENT)

    def resident_bytes(self, which="VmRSS"):
        """The current value, or the peak with "VmHWM"."""
        return int(self.status_field(which).split()[0]) * 1024

    def status(self, name):
        return simulated.shipper_status(self.state).get(name, 0)

    def until(self, what, holds):
        wait_until(what, lambda: self.has_ended() or holds(), ARRIVED_LIMIT_S)
        assert not self.has_ended(), f"{what}: the shipper has ended: {self.log()}"


def fill(programs, shipper, store, rounds):
    """The hour: the store fills while the shipper fails. Returns the seconds it took."""
    begin = time.monotonic()
    with simulated.Replay(programs, store, 1, rounds, ROUND_MS) as replay:
        shipper.until("a batch waits", lambda: list(shipper.state.glob("*.ndjson.zst")))
        replay.finish()
    return time.monotonic() - begin


def catch_up(lake, shipper, store):
    """Restarts the lake and waits until everything has arrived; measures from the first successful attempt."""
    with simulated.opened(store) as database:
        rev, = database.execute("SELECT rev FROM stream").fetchone()
    lake.start()
    begin = time.monotonic()
    shipper_s, lake_s = simulated.cpu_s(shipper.pid), simulated.cpu_s(lake.process.pid)
    shipper.until("a batch arrives", lambda: shipper.status("sent_row_count"))
    first_rows, delivering = shipper.status("sent_row_count"), time.monotonic()
    shipper.until("all arrives", lambda: shipper.status("shipped_rev") >= rev)
    return {"wait_s": delivering - begin, "wall_s": time.monotonic() - delivering,
            "first_rows": first_rows, "rows": shipper.status("sent_row_count"),
            "wire_bytes": shipper.status("sent_bytes"),
            "batches": shipper.status("sent_batch_count"),
            "shipper_cpu_s": simulated.cpu_s(shipper.pid) - shipper_s,
            "lake_cpu_s": simulated.cpu_s(lake.process.pid) - lake_s,
            "lake_resident_bytes": lake.rss_bytes()}


def measure(programs, directory, lake, seconds):
    """seconds: length of the outage, in the host's time."""
    store = directory / "outage.db"
    rounds = seconds * RATE // STORY_PROCESSES
    command(programs / "cli/tracer", "lake", "init", env=simulated.settings_of(lake, "migrator"))
    lake.kill()
    with Shipper(programs, lake, store, directory / "outage-state") as shipper, \
            simulated.Sampler(shipper.resident_bytes, MEMORY_PERIOD_S) as memory:
        results = {"outage_s": rounds * ROUND_MS / 1000,
                   "replay_s": fill(programs, shipper, store, rounds)}
        results["rows"] = simulated.row_counts(store)
        results["store_bytes"] = sum(path.stat().st_size for path in directory.glob("outage.db*"))
        results["back_s"] = time.monotonic() - memory.began
        note(f"{sum(results['rows'].values())} rows in the store: {results['replay_s']:.0f} s")
        results["catch_up"] = catch_up(lake, shipper, store)
        note(f"all has arrived: {results['catch_up']['wall_s']:.0f} s")
        peak_bytes = shipper.resident_bytes("VmHWM")
    # The kernel's figures are accurate only to within some pages of each processor.
    results["resident_most_bytes"] = max([peak_bytes, *(size for _, size in memory.seen)])
    results["resident"] = memory.seen[::len(memory.seen) // 100 + 1]
    results["compared_rows"] = simulated.compare(lake, store)
    note(f"compared {results['compared_rows']} rows")
    return results
