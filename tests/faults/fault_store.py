"""A store that cannot be written: the disk is full, or another program has locked it."""

import contextlib
import sqlite3
import subprocess
import time

from storm import await_ends, finish
from testing import fill, same, wait_until

WITHOUT_S = 6  # longer than any lock timeout
COMMANDS = 400
STORMS_MAX = 20 # of that size, until writing fails: the store's log has some space left


@contextlib.contextmanager
def full_disk(disk):
    """Uses up all free space, and frees it at the end."""
    filler = disk / "filler"
    fill(filler)
    try:
        yield
    finally:
        filler.unlink()


def small_disk(daemons):
    """Puts the store on its own file system."""
    disk = daemons.directory / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", disk], check=True)
    daemons.store = disk / "tracer.db"
    return disk


def complaints(daemons):
    return [line for line in daemons.correlator.log().splitlines() if "cannot" in line]


def committed(daemons):
    return daemons.value("SELECT ring_offset FROM stream")


def check_waits(bench, daemons, ran):
    """While nothing can be written: one complaint, and the committed position stays. Runs storms
    until it complains, and one after that; `ran` commands ran before."""
    for _ in range(STORMS_MAX):
        ran += bench.storm(first=ran, count=COMMANDS, rate=200).wait().count
        if complaints(daemons):
            break
    wait_until("a complaint", lambda: complaints(daemons))
    offset = committed(daemons) # pending commits have been written by now
    ran += bench.storm(first=ran, count=COMMANDS, rate=200).wait().count
    time.sleep(WITHOUT_S)
    same("position in the store", committed(daemons), offset)
    same("complaints", len(complaints(daemons)), 1)
    assert not daemons.correlator.has_ended(), daemons.correlator.log()
    return ran


def check_recovers(daemons, ran):
    """It recovers by itself: the same process, nothing missing, and a message in its log."""
    # The store's log may have had space for all of them.
    wait_until("it says so", lambda: "can be written again" in daemons.correlator.log())
    finish(daemons, ran)


@contextlib.contextmanager
def waits_for_room(bench):
    """Context with a full disk, except for space in the store's log. Yields the daemons and the number of commands."""
    daemons = bench.daemons()
    disk = small_disk(daemons)
    daemons.start()
    bench.storm(count=COMMANDS).wait()
    await_ends(daemons, COMMANDS)
    with full_disk(disk):
        yield daemons, check_waits(bench, daemons, COMMANDS)


def test_a_full_disk(bench):
    with waits_for_room(bench) as (daemons, ran):
        pass
    check_recovers(daemons, ran)


def test_killed_while_the_disk_is_full(bench):
    """Anything acknowledged but not on disk would now be missing."""
    with waits_for_room(bench) as (daemons, ran):
        daemons.correlator.kill()
    daemons.start_correlator()
    finish(daemons, ran)


def test_a_locked_store(bench):
    """SQLITE_BUSY: another program holds a long write transaction."""
    daemons = bench.daemons()
    daemons.start()
    bench.storm(count=COMMANDS).wait()
    await_ends(daemons, COMMANDS)
    other = sqlite3.connect(daemons.store, isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        ran = check_waits(bench, daemons, COMMANDS)
        other.execute("ROLLBACK")
    finally:
        other.close()
    check_recovers(daemons, ran)
