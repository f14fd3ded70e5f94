"""An earlier release, built from this repository's history: upgraded to this one in the middle of a
storm, and come back to.
"""

import fcntl
import pathlib
import subprocess

from storm import await_ends, check_each_once
from testing import Skip, same, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EARLIER = "bfb5c12f3eb3d6e759c33595bfcf1da6382f682a"
PROGRAMS = ("probe/tracer-probe", "correlator/tracer-correlator", "cli/tracer")
BEFORE = 300 # commands that have run before the programs change
SCHEMA_OF_STATES = 8 # what ran under an older one is closed as lost
AT_ONCE_MAX = 64 # commands of a storm that run at one moment: LIVING_MAX of storm.c


def git(*arguments, **settings):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *arguments], check=False, **settings)


def earlier_build():
    """Where its programs are: made once for a checkout, in .cache."""
    directory = ROOT / ".cache/releases" / EARLIER[:12]
    if git("cat-file", "-e", EARLIER, stderr=subprocess.DEVNULL).returncode:
        raise Skip(f"this clone has no commit {EARLIER[:12]}")
    (directory / "tree").mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "build/done").exists():
            archive = git("archive", EARLIER, stdout=subprocess.PIPE).stdout
            subprocess.run(["tar", "-C", directory / "tree", "-x"], input=archive, check=True)
            for command in (["meson", "setup", directory / "build", directory / "tree"],
                            ["ninja", "-C", directory / "build", *PROGRAMS]):
                result = subprocess.run(command, capture_output=True, text=True, check=False)
                assert result.returncode == 0, f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
            (directory / "build/done").touch()
    return directory / "build"


def change_to(daemons, build):
    """Both programs, the correlator first, as deploy/install does it."""
    daemons.use(build)
    daemons.correlator.stop()
    daemons.start_correlator()
    daemons.probe.stop()
    daemons.start_probe()


def started(daemons, storm):
    wait_until("commands are stored", lambda: (daemons.value(
        "SELECT count(*) FROM processes WHERE program = 'storm' AND ended IS NOT NULL") or 0) > BEFORE)
    assert storm.process.poll() is None, "the storm has ended"


def earlier_pair(bench):
    build = earlier_build()
    daemons = bench.daemons()
    daemons.mount_pins()
    daemons.probe_options = ["--ring-size", "64M"]
    daemons.use(build)
    daemons.start()
    return daemons, build


def test_upgraded_from_an_earlier_release(bench):
    """What it has stored goes on in this release, and what runs: every command is there once."""
    daemons, _ = earlier_pair(bench)
    storm = bench.storm()
    started(daemons, storm)
    schema = daemons.value("PRAGMA user_version")
    change_to(daemons, daemons.build)
    storm.stop()
    await_ends(daemons, storm.count)
    daemons.stop()
    check_each_once(daemons, storm.count, lost_max=AT_ONCE_MAX if schema < SCHEMA_OF_STATES else 0)
    daemons.check_store()
    bench.note(f"schema {schema} to {daemons.value('PRAGMA user_version')}, {storm.count} commands, each once")


def test_back_to_an_earlier_release(bench):
    """It goes on, or, where it does not know the schema, says so and leaves the store to this one;
    either way nothing is missing."""
    daemons, build = earlier_pair(bench)
    schema = daemons.value("PRAGMA user_version")
    change_to(daemons, daemons.build)
    storm = bench.storm()
    started(daemons, storm)
    if daemons.value("PRAGMA user_version") == schema:
        change_to(daemons, build)
    else:
        daemons.correlator.stop()
        daemons.use(build)
        refused = daemons.start_correlator(wait=False)
        same("status", refused.process.wait(60), 1)
        assert "written by a newer release" in refused.log(), refused.log()
        daemons.probe.stop()
        daemons.start_probe(wait=False).wait_for_log("cannot connect")
        daemons.use(daemons.build)
        daemons.start_correlator()
        daemons.probe.stop()
        daemons.start_probe()
    storm.stop()
    await_ends(daemons, storm.count)
    daemons.stop()
    check_each_once(daemons, storm.count)
    daemons.check_store()
