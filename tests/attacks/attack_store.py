"""Who pays for what is stored: the user who caused it."""

from testing import same, wait_until

STORE_BYTES_MAX = 8 << 20
FLOOD = """
import os, sys
for number in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.execv("/bin/true", ["/bin/true", "x" * 4000])
    os.wait()
"""


def commands_of(daemons, user):
    return daemons.value("SELECT count(*) FROM processes WHERE user_id = ? AND program = 'true'", user) or 0


def test_a_flood_does_not_evict_the_history_of_others(scene):
    """The store is full of what the attacker ran last: only that goes, though the victim's is older."""
    daemons = scene.daemons()
    daemons.start()
    mark = scene.mark(daemons)
    scene.run_python(FLOOD, 200, user=scene.victim, mark=mark)
    wait_until("the victim's history is stored", lambda: commands_of(daemons, scene.victim) == 200)
    scene.run_python(FLOOD, 4000, mark=mark)
    wait_until("the flood is stored", lambda: commands_of(daemons, scene.attacker) > 3000)
    daemons.stop()
    full_bytes = daemons.store.stat().st_size
    assert full_bytes > STORE_BYTES_MAX, f"the flood is too small: {full_bytes} bytes"
    daemons.start_correlator("--store-max", STORE_BYTES_MAX)  # looks at the size of the store within seconds
    daemons.correlator.wait_for_log("the store exceeded its limit")
    same("history of the victim", commands_of(daemons, scene.victim), 200)
    assert commands_of(daemons, scene.attacker) < 4000, "nothing was deleted"
    daemons.correlator.stop()
    daemons.check_store()
