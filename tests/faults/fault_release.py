"""An earlier release, built from this repository's history: upgraded to this one during a storm,
and downgraded again."""

from release import earlier_build
from storm import finish
from testing import same, wait_until

BEFORE = 300 # commands run before the programs change
SCHEMA_OF_STATES = 8 # under an older one, running processes are closed as lost
AT_ONCE_MAX = 64 # concurrent commands of a storm: LIVING_MAX of storm.c


def change_to(daemons, build):
    """Replaces both programs, the correlator first, as deploy/install does."""
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
    daemons = bench.daemons("--ring-size", "64M", pins=True)
    daemons.use(build)
    daemons.start()
    return daemons, build


def test_upgraded_from_an_earlier_release(bench):
    """Its stored data and running processes continue in this release: every command is there once."""
    daemons, _ = earlier_pair(bench)
    storm = bench.storm()
    started(daemons, storm)
    schema = daemons.value("PRAGMA user_version")
    change_to(daemons, daemons.build)
    storm.stop()
    finish(daemons, storm.count, lost_max=AT_ONCE_MAX if schema < SCHEMA_OF_STATES else 0)
    bench.note(f"schema {schema} to {daemons.value('PRAGMA user_version')}, {storm.count} commands, each once")


def test_back_to_an_earlier_release(bench):
    """It continues or, if it does not know the schema, reports that and leaves the store to this
    release; in both cases nothing is missing."""
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
    finish(daemons, storm.count)
