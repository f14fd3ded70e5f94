"""A probe of another build, with programs pinned by an older one.

The other build is the same probe with one unused byte of each BPF object changed.
"""

import collections
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess

from fault_ring import boot_ns, counted_losses
from storm import await_ends, bpftool, check_each_once, check_nothing_else, finish, leaves
from testing import ENVIRONMENT, LONG, Skip, same, wait_until
from wire_client import read_recording

UPGRADES = 6
ELF_MAGIC, MACHINE_BPF, MACHINE_AT, PADDING_AT = b"\x7fELF", b"\xf7\0", 18, 9
COMMANDS_A_CRASH = 20
RECORD_VERSION = int(re.search(r"RECORD_VERSION (\d+)", (
    pathlib.Path(__file__).parent.parent.parent / "bpf/record.h").read_text()).group(1))
OTHER_VERSION = 1
RECORD_EXEC = 2
CLOCKS_APART_NS = 20 * 10**6 # difference between two probes' times of one event
ACKNOWLEDGED_NS = 3 * 10**9 # longest delay of an acknowledgement, on a busy machine
UNREAD, READ = 300, 200 # commands
CRASHES = 10 # sample size, if all would take too long
CRASHES_BESIDE = 2 # the same, in addition to the moves of pins, which are all tried


def other_build(program, path):
    """A copy whose BPF object differs but works the same."""
    content = bytearray(program.read_bytes())
    at = [match.start() for match in re.finditer(re.escape(ELF_MAGIC), content)
          if content[match.start() + MACHINE_AT:match.start() + MACHINE_AT + 2] == MACHINE_BPF]
    same("BPF objects in the probe", len(at), 3)
    for begin in at:
        content[begin + PADDING_AT] ^= 1
    path.write_bytes(content)
    shutil.copymode(program, path)
    return path


def pinned_pair(bench):
    """Daemons, and the two builds of the probe."""
    daemons = bench.daemons("--ring-size", "64M", pins=True)
    builds = (daemons.probe_program, other_build(daemons.probe_program,
                                                 daemons.directory / "tracer-probe"))
    daemons.start()
    return daemons, builds


def test_upgrades_under_a_storm(bench):
    """Back and forth during a storm, by restart and by kill -9, without a gap."""
    daemons, builds = pinned_pair(bench)
    storm = bench.storm()
    for number in range(UPGRADES):
        if number % 2:
            daemons.probe.kill()
        else:
            daemons.probe.stop()
        daemons.probe_program = builds[(number + 1) % 2]
        daemons.start_probe()
    storm.stop()
    finish(daemons, storm.count)
    same("replacements", daemons.probe.log().count("new programs replace the old ones"), UPGRADES)
    bench.note(f"{UPGRADES} upgrades: {storm.count} commands at {storm.rate:.0f} a second, "
               "each once")


def trace_upgrade(daemons, program, *strace):
    """Runs that build under strace until it ends."""
    return subprocess.run(
        ["strace", "-qq", "-e", "signal=none", "-e", "trace=bpf,unlink,unlinkat,rename,renameat2,mkdir,rmdir", *strace,
         program, "--pin-dir", daemons.pin_directory, "--socket", daemons.socket, "--group",
         "nogroup", "--ring-size", "64M", "--duration", "0.1"],
        capture_output=True, text=True, check=False, env=ENVIRONMENT)


def kill_upgrade(daemons, program, name, number):
    """Kills it at that system call."""
    result = trace_upgrade(daemons, program, "-o", os.devnull, f"--inject={name}:signal=KILL:when={number}")
    same(f"end at {name} {number} ({result.stderr[-500:]})", result.returncode, -signal.SIGKILL)


def crash_points(calls, first):
    """(call, its ordinal by name) from the first call containing that word to the last one on pins."""
    points, counts, begun = [], {}, False
    for line in calls.splitlines():
        name = line.split("(")[0]
        counts[name] = counts.get(name, 0) + 1
        begun = begun or first in line
        if begun and "BPF_ITER_CREATE" not in line:
            points.append((name, counts[name]))
    return points


def test_killed_in_the_middle_of_an_upgrade(bench):
    """Killed at any system call from the first attached program on: the next probe continues, and
    nothing that ran in between is missing."""
    if not shutil.which("strace"):
        raise Skip("strace not installed")
    daemons, builds = pinned_pair(bench)
    daemons.probe.stop()
    log = daemons.directory / "calls"
    same("status under strace", trace_upgrade(daemons, builds[1], "-o", log).returncode, 0)
    points, current, ran = crash_points(log.read_text(), "BPF_LINK_CREATE"), 1, 0
    assert len(points) > CRASHES, f"crash points: {points}"
    if not LONG:
        points = random.Random(bench.seed).sample(points, CRASHES)
    for name, number in points:
        # The same build again, as a service manager would start it; every other time the old one.
        current = 1 - current
        kill_upgrade(daemons, builds[current], name, number)
        bench.storm(first=ran, count=COMMANDS_A_CRASH).wait()
        ran += COMMANDS_A_CRASH
        if (number + current) % 2:
            current = 1 - current
        daemons.probe_program = builds[current]
        daemons.start_probe().kill()
    daemons.start_probe() # delivers what the previous one left
    await_ends(daemons, ran)
    daemons.stop()
    found = leaves(daemons)
    gaps = [points[first // COMMANDS_A_CRASH] for first in range(0, ran, COMMANDS_A_CRASH)
            if not all(number in found for number in range(first, first + COMMANDS_A_CRASH))]
    assert not gaps, f"a gap, neither recorded nor counted, after a kill at {gaps} of {points}"
    check_each_once(daemons, ran)
    bench.note(f"{len(points)} crash points")


def control_bytes(pin_directory):
    shown = bpftool("map", "dump", "pinned", pin_directory / "control")
    return bytes(int(byte, 16) for byte in shown[0]["value"])


def set_record_version(pin_directory, version):
    """Makes the ring look as if pinned by another release: control begins with the version."""
    value = struct.pack("=I", version) + control_bytes(pin_directory)[4:]
    subprocess.run(["bpftool", "map", "update", "pinned", pin_directory / "control", "key", "0",
                    "0", "0", "0", "value", *map(str, value)], check=True)


def swap_release(pin_directory):
    """Makes this probe act as the previous release: its own ring becomes foreign, and vice versa."""
    if (pin_directory / "control").exists():
        version, = struct.unpack("=I", control_bytes(pin_directory)[:4])
        if version:
            set_record_version(pin_directory, OTHER_VERSION if version == RECORD_VERSION
                               else RECORD_VERSION)


def lost(daemons):
    return {row["kind"]: row["lost"] for row in daemons.rows(
        "SELECT kind, sum(lost_count) AS lost FROM losses GROUP BY kind")}


def test_a_ring_of_another_version(bench):
    """Its content cannot be read: it is counted as lost once, and nothing is missing after that."""
    if not shutil.which("bpftool"):
        raise Skip("bpftool not installed")
    daemons, observer = bench.daemons("--ring-size", "64M", pins=True), bench.daemons()
    recording = observer.directory / "recording"
    observer.start_probe("--record", recording) # an independent record of the events
    daemons.start()
    daemons.correlator.kill()
    bench.storm(count=UNREAD // 2).wait()
    daemons.probe.kill()
    bench.storm(first=UNREAD // 2, count=UNREAD - UNREAD // 2).wait()
    set_record_version(daemons.pin_directory, OTHER_VERSION)
    daemons.start_probe(wait=False)
    wait_until("the other ring is replaced", lambda: "counted as lost" in daemons.probe.log())
    end = boot_ns()
    bench.storm(first=UNREAD, count=READ).wait()
    observer.probe.stop()
    daemons.start_correlator()
    await_ends(daemons, READ)
    wait_until("the losses are reported", lambda: lost(daemons).get("exec", 0) >= UNREAD)
    reported = lost(daemons)
    ran = kinds_until(recording, end)
    for kind in ("fork", "exec", "exit"):
        assert UNREAD <= reported[kind] <= ran[kind], f"{kind}: {reported[kind]} of {ran[kind]} lost"
    for row in daemons.rows("SELECT * FROM losses"):
        assert row["first_boot_ns"] <= row["last_boot_ns"] <= end, f"when: {row}"
    daemons.correlator.kill()
    daemons.probe.kill()
    daemons.start() # sends the losses again, which must not be counted twice
    bench.storm(first=UNREAD + READ, count=READ).wait()
    await_ends(daemons, 2 * READ)
    shown = {loss["kind"]: loss["lost_count"] for loss in daemons.tracer("status")["losses"]}
    daemons.stop()
    same("losses reported again", lost(daemons), reported)
    same("recorded", sorted(leaves(daemons)), list(range(UNREAD, UNREAD + 2 * READ)))
    check_pins(daemons.pin_directory)
    same("losses of tracer status", shown, reported)
    bench.note(f"lost with the old ring: {reported}; the other probe saw {ran}")


def check_pins(pin_directory):
    """Checks that only the maps and one load's programs are pinned."""
    names = [path.name for path in pin_directory.iterdir() if path.is_dir()]
    assert len(names) == 1 and re.fullmatch("[0-9a-f]{16}", names[0]), f"pinned: {names}"


def unrecorded(daemons, recording, kills):
    """(programs that the observer saw executed but that have no such row, those of them found by a
    scan, those whose row may not have been acknowledged before a kill)."""
    rows = {began: {} for began in ("exec", "found", "fork")}
    for row in daemons.rows("SELECT pid, exec_id, began, begin_boot_ns FROM processes"):
        rows[row["began"]].setdefault((row["pid"], row["exec_id"]), []).append(row["begin_boot_ns"])
    missing, unacknowledged = [], sum(
        any(kill - ACKNOWLEDGED_NS < begin < kill for kill in kills)
        for begins in rows["exec"].values() for begin in begins)
    for message in read_recording(recording):
        if message["message"] == "exec":
            pid, _, exec_id = message["image"]
            begins = rows["exec"].get((pid, exec_id), [])
            if not any(abs(begin - message["boot_ns"]) < CLOCKS_APART_NS for begin in begins):
                missing.append((pid, exec_id))
    return len(missing), sum(key in rows["found"] for key in missing), unacknowledged


def test_killed_while_a_version_is_replaced(bench):
    """Killed at any system call from the first moved pin on; then the new release starts again, or
    the previous one returns. Recorded and lost add up to what ran, and nothing is left behind."""
    if not shutil.which("strace") or not shutil.which("bpftool"):
        raise Skip("strace or bpftool not installed")
    daemons, observer = bench.daemons("--ring-size", "64M", pins=True), bench.daemons()
    recording, log = observer.directory / "recording", daemons.directory / "calls"
    daemons.start()
    maps = [path for path in daemons.pin_directory.iterdir() if path.is_file()]
    daemons.probe.kill()
    set_record_version(daemons.pin_directory, OTHER_VERSION)
    same("status under strace",
         trace_upgrade(daemons, daemons.probe_program, "-o", log).returncode, 0)
    points = crash_points(log.read_text(), "before")
    moves = [point for point in points if point[0].startswith("rename")]
    same(f"moved pins in {points}", len(moves), len(maps) - 1) # the losses map is not moved
    others = [point for point in points if point not in moves]
    if not LONG:
        others = random.Random(bench.seed).sample(others, CRASHES_BESIDE)
    turns = [(point, comes_back) for point in moves + others for comes_back in (False, True)]
    ran, delivered, kills = 0, set(), []

    def storm():
        nonlocal ran
        bench.storm(first=ran, count=COMMANDS_A_CRASH).wait()
        ran += COMMANDS_A_CRASH

    observer.start_probe("--record", recording, "--ring-size", "64M")
    daemons.start_probe()
    storm()
    await_ends(daemons, ran) # delivers everything from before, too
    before = counted_losses(daemons, RECORD_EXEC)
    for (name, number), comes_back in turns:
        daemons.probe.kill()
        kills.append(boot_ns())
        storm()
        set_record_version(daemons.pin_directory, OTHER_VERSION)
        kill_upgrade(daemons, daemons.probe_program, name, number)
        storm()
        if comes_back:
            swap_release(daemons.pin_directory)
        daemons.start_probe()
        delivered |= set(range(ran, ran + COMMANDS_A_CRASH))
        storm()
        wait_until(f"it goes on after a kill at {name} {number}, comes back: {comes_back}",
                   lambda: delivered <= leaves(daemons).keys())
    observer.probe.stop()
    daemons.stop()
    check_pins(daemons.pin_directory)
    found = leaves(daemons)
    check_nothing_else(found, ran)
    counted = counted_losses(daemons, RECORD_EXEC)
    same("losses reported", lost(daemons)["exec"], counted)
    missing, looked_at, unacknowledged = unrecorded(daemons, recording, kills)
    bench.note(f"{len(turns)} kills: of {ran} commands {len(found)} are recorded; "
               f"of all on this machine {missing} are not, {counted - before} are counted as lost")
    assert missing - looked_at <= counted - before <= missing + unacknowledged, \
        f"{missing} not recorded, {looked_at} of them seen alive; {counted - before} lost, " \
        f"{unacknowledged} at most are recorded, too"
    same("status of --detach", daemons.detach().returncode, 0)
    assert not daemons.pin_directory.exists(), "pins are left"


def kinds_until(recording, end_ns):
    """{kind: number of records in that recording until then}"""
    return collections.Counter(message["message"] for message in read_recording(recording)
                               if message.get("boot_ns", 0) <= end_ns)
