"""Hours of load: memory and descriptors do not grow.

A recording of mixed load is repeated for hours of its own time or, with TRACER_TESTS_LONG, a day,
while the memory of the replaying correlator is sampled. Then the real daemons, under a real storm.
"""

import os
import pathlib
import subprocess
import time

import recording
from storm import await_ends, check_accounted
from testing import ENVIRONMENT, LONG, same

BASE = recording.ROOT / "tests/golden/snakemake.rec"
MINUTES, SOAK_MINUTES = 160, 24 * 60
# A replay waits for nothing: it grows by what it does not free and, over a day, by what SQLite
# keeps of a commit to a larger store: more pages. Live, pending writes come and go.
# Of the short one: 1.5 MiB alone and, once, 4.7 MiB beside other suites; 6 MiB are 210 bytes for each process replayed.
REPLAY_GROWTH_MAX_BYTES, LIVE_GROWTH_MAX_BYTES = 8 << 20 if LONG else 6 << 20, 4 << 20
COMMANDS, SOAK_COMMANDS = 6000, 200000


def write_long(path, seconds):
    """Repeats the base's stream: the same pids, other processes. Returns the number of turns, and minutes."""
    messages = recording.read(BASE)
    head, body = messages[:1], messages[1:]
    begin = head[0][1]["boot_ns"]
    end = max(values["boot_ns"] for _, values in body if "boot_ns" in values)
    offsets = [values["offset"] for name, values in body if name == "event"]
    turn_ns, turn_offset = end - begin + 10**9, max(offsets) - head[0][1]["consumer_offset"] + 4096
    count = max(2, int(seconds * 10**9 / turn_ns))

    def turns():
        yield from head
        for turn in range(count):
            # Processes from before the recording are the same in every turn.
            yield from recording.shifted(body, lambda ns: ns + (turn * turn_ns if ns > begin else 0),
                                         lambda unix_ns, _: unix_ns + turn * turn_ns, turn * turn_offset)
    recording.write(path, turns())
    return count, count * turn_ns / 60e9


def sample(pid):
    """(bytes of its own memory, descriptors), or None if it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        memory_kib = int(status.split("RssAnon:")[1].split()[0])
        return memory_kib * 1024, len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return None


def check_flat(what, samples, growth_max_bytes):
    """Checks the second half only: in the first, the allocator still grows."""
    samples = samples[len(samples) // 2:]
    assert len(samples) >= 3, f"{what}: only {len(samples)} samples"
    half = len(samples) // 2
    early, late = max(m for m, _ in samples[:half]), max(m for m, _ in samples[half:])
    assert late - early < growth_max_bytes, f"{what}: memory grows from {early} to {late}"
    before, after = max(c for _, c in samples[:half]), max(c for _, c in samples[half:])
    assert after <= before + 1, f"{what}: from {before} to {after} descriptors"
    return f"{what} {early / 2**20:.1f} to {late / 2**20:.1f} MiB, {after} descriptors"


def test_hours_of_load_replayed(bench):
    daemons = bench.daemons()
    path = daemons.directory / "recording"
    count, minutes = write_long(path, 60 * (SOAK_MINUTES if LONG else MINUTES))
    replay = subprocess.Popen(
        [daemons.build / "correlator/tracer-correlator", "--replay", path, "--store",
         daemons.store, "--rules", daemons.directory], stderr=subprocess.PIPE,
        env=ENVIRONMENT)
    samples = []
    while replay.poll() is None:
        samples += [found for found in [sample(replay.pid)] if found]
        time.sleep(0.05)
    same(f"status of the replay ({replay.stderr.read()})", replay.returncode, 0)
    replay.stderr.close()
    runs = daemons.value("SELECT count(*) FROM runs WHERE engine = 'snakemake'")
    assert runs >= count - 1, f"{runs} runs of {count} turns"
    flat = check_flat("the correlator", samples, REPLAY_GROWTH_MAX_BYTES)
    bench.note(f"{minutes:.0f} minutes in {count} turns: {flat}")


def test_a_long_storm(bench):
    """Each command is recorded once, or counted as lost on a busy machine; nothing grows."""
    daemons, cgroup = bench.daemons("--ring-size", "64M"), bench.cgroup()
    daemons.start()
    total = SOAK_COMMANDS if LONG else COMMANDS
    storm = bench.storm(count=total, rate=1000, cgroup=cgroup)
    samples = {daemons.probe: [], daemons.correlator: []}
    while storm.process.poll() is None:
        for daemon, found in samples.items():
            found.append((daemon.memory_bytes(), daemon.descriptor_count()))
        time.sleep(0.2)
    storm.wait()
    await_ends(daemons, total, cgroup)
    daemons.stop()
    check_accounted(bench, daemons, storm, cgroup)
    for daemon, found in samples.items():
        bench.note(check_flat(daemon.name, found, LIVE_GROWTH_MAX_BYTES))
