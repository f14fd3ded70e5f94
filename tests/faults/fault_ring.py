"""A full ring, a reader that stays away, and what remains in the kernel at the end."""

import contextlib
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import time

from daemons import Marker
from storm import FINAL_SHARE_MIN, KINDS, await_ends, bpftool, check_accounted, check_finals, finish, leaves, lost_kinds
from testing import ENVIRONMENT, same, wait_until
from wire_client import read_recording

# Holds a second or two of this machine's other activity, and only part of the flood.
RING_SIZE = "1M"
FLOOD = 8000
LONG_LINES = 4000
FLOOD_S = 10
LEASE_S = 15
SLEEPERS = 200 # the arguments of two or three take a scan longer than it may
SCANS_BEFORE_MAX = 10 # one, unless the probe is kept from running


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def recorded_kinds(recording, storm, cgroup_id, begin_boot_ns, end_boot_ns):
    """{kind: number of messages about the storm's processes that the correlator received}. Other
    processes that had the same pids began at another time, or are in another cgroup. So is the
    first process, which enters the cgroup after its fork: that fork is not counted."""
    messages = [message for message in read_recording(recording)
                if message["message"] in KINDS and message["image"][0] in storm.pids and
                begin_boot_ns <= message["image"][1] <= end_boot_ns]
    elsewhere = {tuple(message["image"][:2]) for message in messages
                 if message.get("cgroup_id", cgroup_id) != cgroup_id}
    found = dict.fromkeys(KINDS, 0)
    for message in messages:
        is_first = message["image"][0] == storm.process.pid and message["message"] != "fork"
        if is_first or tuple(message["image"][:2]) not in elsewhere:
            found[message["message"]] += 1
    return found


def counted_losses(daemons, kind=None):
    """Losses counted in the kernel so far, of that RECORD_ type or of all, from the pinned map (loss_slot)."""
    slots = [bytes(int(byte, 16) for byte in entry["value"])
             for entry in bpftool("map", "dump", "pinned", daemons.pin_directory / "losses")]
    return sum(count for _, of, count in (struct.unpack("=QI4xQ", slot[:24]) for slot in slots)
               if kind in (None, of))


def await_losses(daemons):
    """What has been lost so far is in the store. Losses are sent with the scans, which the number of processes delays."""
    counted = counted_losses(daemons)
    wait_until(f"{counted} losses are reported",
               lambda: (daemons.value("SELECT sum(lost_count) FROM losses") or 0) >= counted)


def test_a_ring_that_runs_full(bench):
    """Recorded and lost records add up for each kind, in the right place and time."""
    daemons, cgroup = bench.daemons("--ring-size", RING_SIZE, pins=True), bench.cgroup()
    recording = daemons.directory / "recording"
    daemons.correlator_options = ["--record", recording]
    daemons.start()
    bench.storm(count=20, marked=True).wait() # its run is complete
    await_ends(daemons, 20)
    begin = boot_ns()
    storm = bench.storm(rate=10**6, first=20, count=FLOOD, cgroup=cgroup, marked=True)
    await_ends(daemons, 21) # its run is known before other activity fills the ring
    daemons.correlator.signal(signal.SIGSTOP)
    try:
        storm.wait()
    finally:
        daemons.correlator.signal(signal.SIGCONT)
    ended = boot_ns()
    await_losses(daemons)
    reported = boot_ns()
    daemons.stop()
    recorded = recorded_kinds(recording, storm, cgroup.stat().st_ino, begin, ended)
    lost = lost_kinds(daemons, cgroup)
    assert lost["exec"] > 0, "the ring did not run full"
    for kind in KINDS:
        ran = len(storm.pids) - (kind == "fork")
        low = ran * FINAL_SHARE_MIN if kind == "final" else ran
        assert low <= recorded[kind] + lost[kind] <= ran, \
            f"{kind}: {recorded[kind]} recorded and {lost[kind]} lost of {ran}"
    for row in daemons.rows("SELECT * FROM losses WHERE cgroup_path LIKE ?", f"%{cgroup.name}%"):
        assert begin <= row["first_boot_ns"] <= row["last_boot_ns"] <= reported, f"when: {row}"
    check_incomplete(daemons)
    bench.note(f"of {FLOOD} commands: recorded {recorded}, lost {lost}")


def test_losses_are_reported_once(bench):
    """Whichever daemon is killed while the ring overflows repeatedly: recorded and lost add up to what ran."""
    daemons, cgroup = bench.daemons("--ring-size", "64K", pins=True), bench.cgroup()
    daemons.start()
    kills, random_numbers = 6, random.Random(bench.seed)
    storm = bench.storm(rate=10**6, cgroup=cgroup)
    await_ends(daemons, 20) # the cgroup's path is known; losses refer to it
    for number in range(kills):
        before = counted_losses(daemons)
        daemons.correlator.signal(signal.SIGSTOP)
        wait_until("the ring runs over", lambda: counted_losses(daemons) > before + 100)
        daemons.correlator.signal(signal.SIGCONT)
        # At any moment of a commit and its acknowledgement, which happen a few times a second.
        time.sleep(random_numbers.uniform(0.1, 1))
        daemons.correlator.kill()
        if number % 3 == 0:
            daemons.probe.kill()
            daemons.start_probe(wait=False)
        daemons.start_correlator()
    storm.stop()
    await_losses(daemons)
    daemons.stop()
    found = leaves(daemons)
    # A process found by a scan may also be counted as lost.
    recorded = sum(rows[0]["began"] != "found" for rows in found.values())
    lost = lost_kinds(daemons, cgroup)["exec"]
    assert lost > 0, "the ring did not run full"
    assert recorded + lost <= storm.count + 1 and len(found) + lost >= storm.count, \
        f"{recorded} to {len(found)} recorded, {lost} lost of {storm.count}, and the storm itself"
    bench.note(f"{kills} kills: {storm.count} commands, {recorded} recorded, {lost} lost")


def test_stopped_with_a_full_ring(bench):
    """Without pins, nothing can deliver the ring or report losses later, so a daemon that is asked
    to stop does both first."""
    daemons, cgroup = bench.daemons("--ring-size", RING_SIZE), bench.cgroup()
    daemons.start()
    storm = bench.storm(rate=10**6, count=FLOOD, cgroup=cgroup)
    await_ends(daemons, 1) # the cgroup's path is known
    daemons.correlator.signal(signal.SIGSTOP)
    storm.wait()
    daemons.probe.signal(signal.SIGTERM)
    daemons.correlator.signal(signal.SIGCONT)
    daemons.stop()
    assert lost_kinds(daemons, cgroup)["exec"] > 0, "no loss is reported"
    check_accounted(bench, daemons, storm, cgroup)


def check_incomplete(daemons):
    """`tracer` reports which run, and which of its tasks, lack records."""
    # Processes whose parent's record is lost are runs of kind "found".
    runs = sorted((run for run in daemons.tracer("runs", "--limit", "0")["runs"]
                   if run["kind"] == "command" and run["working_directory"] == str(daemons.directory)),
                  key=lambda run: run["begin_boot_ns"])
    same("runs", len(runs), 2)
    same("losses of the run before", runs[0]["lost_count"], 0)
    report = daemons.tracer("show", runs[1]["id"])
    assert report["run"]["lost_count"] > 0, "the run is said to be complete"
    assert any(task["lost_count"] > 0 for task in report["tasks"]), "all tasks are complete"
    text = daemons.tell("show", runs[1]["id"])
    assert "incomplete" in text.lower(), text


def test_long_command_lines(bench):
    """Execs with 8 KB of arguments at a sustainable rate: none is lost. If one daemon waited for
    the clock after the other had freed space, both would be idle while the ring fills."""
    daemons = bench.daemons()
    daemons.start()
    storm = bench.storm(rate=1000, count=LONG_LINES, padding_bytes=8000).wait()
    try:
        finish(daemons, storm.count)
    finally:
        bench.note(f"{storm.count} commands at {storm.rate:.0f} a second: losses "
                   f"{daemons.rows('SELECT kind, lost_count FROM losses')}")


def test_a_flood_of_forks(bench):
    """As many as the kernel can make: each is recorded or counted as lost, by cgroup."""
    daemons, cgroup = bench.daemons(), bench.cgroup()
    daemons.start()
    storm = bench.storm(fork_seconds=FLOOD_S, cgroup=cgroup).wait()
    found, lost = 0, {}

    def are_accounted():
        # A process whose exit and final records are both lost gets a row once scans miss it.
        nonlocal found, lost
        found = daemons.value("SELECT count(*) FROM processes WHERE program = 'storm' AND "
                              "began = 'fork'") or 0
        lost = lost_kinds(daemons, cgroup)
        return found + lost["fork"] >= storm.count
    try:
        wait_until("each fork is recorded or counted as lost", are_accounted)
        daemons.stop()
        are_accounted()
    finally:
        bench.note(f"{storm.count} forks at {storm.rate:.0f} a second: {found} recorded "
                   f"({found / storm.count:.1%}), lost {lost}")
    same("recorded and lost", found + lost["fork"], storm.count)


def status_lines(daemons, verb, *options):
    """Output of `tracer status` or `doctor` about daemons and stream, and the exit status."""
    result = subprocess.run([daemons.build / "cli/tracer", verb, "--store", daemons.store, *options],
                            capture_output=True, text=True, check=False, env=ENVIRONMENT)
    return result.stdout, result.returncode


CAUGHT_UP_NS = 4 * 10**9 # a correlator further behind than this may, by its store, be waiting for its probe


def test_a_daemon_that_stands_still(bench):
    """`tracer status` and `doctor` name the stopped daemon and since when; nothing once it continues."""
    daemons = bench.daemons()
    daemons.correlator_options = ["--host-period", "1"]
    daemons.start()
    wait_until("something is stored", lambda: "read from this ring" in status_lines(daemons, "status")[0])
    for daemon, complaint in ((daemons.probe, "tracer-probe has sent nothing for "),
                              (daemons.correlator, "tracer-correlator has stored nothing for ")):
        daemon.signal(signal.SIGSTOP)
        wait_until(complaint, lambda: complaint in status_lines(daemons, "status")[0])
        text, status = status_lines(daemons, "status")
        same("status", status, 1)
        assert f"kill -CONT {daemon.pid}" in text, f"{text}{daemon.log()}"
        assert complaint in status_lines(daemons, "doctor")[0], "doctor finds nothing"
        daemon.signal(signal.SIGCONT)
        wait_until("it has caught up", lambda: json.loads(
            status_lines(daemons, "status", "--json")[0])["stream"]["lag_ns"] < CAUGHT_UP_NS)
    wait_until("doctor finds nothing", lambda: "nothing for" not in status_lines(daemons, "doctor")[0])
    daemons.stop()


def test_a_long_outage(bench):
    """Processes that run when the correlator stops, and end before it returns, end by their record,
    not because scans miss them, however long the backlog before that record."""
    daemons = bench.daemons("--ring-size", "64M")
    daemons.start()
    sleepers = [subprocess.Popen(["sleep", "1000"]) for _ in range(20)]
    try:
        wait_until("they are seen", lambda: daemons.value(
            "SELECT count(*) FROM processes WHERE program = 'sleep' AND ended IS NULL") >= 20)
        daemons.correlator.kill()
        storm = bench.storm(rate=10**6, count=5000).wait()
    finally:
        for sleeper in sleepers:
            sleeper.terminate()
            sleeper.wait()
    time.sleep(3) # longer than any wait for a final record
    daemons.start_correlator()
    exit_only = finish(daemons, storm.count)
    pids = [sleeper.pid for sleeper in sleepers]
    rows = daemons.rows("SELECT pid, ended, signal, totals FROM processes WHERE program = 'sleep'")
    rows = [row for row in rows if row["pid"] in pids]
    same("sleepers", len(rows), len(pids))
    same("ends", {(row["ended"], row["signal"]) for row in rows}, {("exit", signal.SIGTERM)})
    check_finals(storm, exit_only)
    bench.note(f"{storm.count} commands during the outage, {exit_only} without a final record")


def argument_reader(probe):
    """The process that reads arguments for it: child of its child."""
    pid = probe.pid
    for _ in range(2):
        pid = int(subprocess.run(["pgrep", "--parent", str(pid)], capture_output=True, text=True, check=True).stdout)
    return pid


def test_events_between_scans_with_text(bench):
    """Where scans take longer than their period, since no arguments can be read, events still have their turn."""
    daemons = bench.daemons("--period", "0.05s")
    daemons.start()
    sleepers = [subprocess.Popen(["sleep", "1000"]) for _ in range(SLEEPERS)]
    marker, reader, recording = Marker(daemons), argument_reader(daemons.probe), daemons.directory / "recording"
    os.kill(reader, signal.SIGSTOP)
    try:
        daemons.correlator.kill()
        daemons.start_correlator("--record", recording) # it gets the text of all, in many scans
        ran = boot_ns()
        marker.run_stored()
    finally:
        os.kill(reader, signal.SIGCONT)
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
    daemons.stop()
    messages = list(read_recording(recording))
    stored = next(number for number, message in enumerate(messages)
                  if message["message"] == "exec" and message["filename"] == str(marker.path))
    before = [message for message in messages[:stored] if message["message"] == "scan" and message["boot_ns"] > ran]
    assert len(before) < SCANS_BEFORE_MAX, f"{len(before)} scans were sent before the event"


def bpf_objects(daemons, process):
    """{kind: ids} of a probe's objects, held by descriptor or by pin."""
    found = {"prog": set(), "map": set(), "link": set()}
    for info in pathlib.Path(f"/proc/{process.pid}/fdinfo").iterdir():
        for line in info.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("prog_id", "map_id", "link_id"):
                found[name[:-3]].add(int(value))
    for path in filter(pathlib.Path.is_file, daemons.pin_directory.rglob("*")):
        for kind in ("map", "link"):
            with contextlib.suppress(subprocess.CalledProcessError):  # an object of another kind
                shown = bpftool(kind, "show", "pinned", path)
                shown = shown[0] if isinstance(shown, list) else shown
                if "id" in shown and "error" not in shown:
                    found[kind].add(shown["id"])
                    found["prog"] |= {shown["prog_id"]} if "prog_id" in shown else set()
    return found


def listed(kind):
    return {item["id"] for item in bpftool(kind, "list")}


def test_a_reader_that_stays_away(bench):
    """Collection stops when the lease ends; later events are counted. --detach removes everything."""
    daemons = bench.daemons("--lease", str(LEASE_S), pins=True)
    daemons.start()
    held = bpf_objects(daemons, daemons.probe)
    assert all(held.values()), f"the probe holds {held}"
    for kind, ids in held.items():
        assert ids <= listed(kind), f"{kind}: {ids} are not in bpftool's list"
    daemons.probe.kill()
    bench.storm(count=100).wait() # within the lease
    time.sleep(LEASE_S + 0.5)
    bench.storm(first=100, count=100).wait()
    daemons.start_probe()
    bench.storm(first=200, count=100).wait()
    await_ends(daemons, 200)
    wait_until("the losses", lambda: (daemons.value(
        "SELECT sum(lost_count) FROM losses WHERE kind = 'exec'") or 0) >= 100)
    daemons.stop()
    same("recorded", sorted(leaves(daemons)), [*range(100), *range(200, 300)])
    same("status of --detach", daemons.detach().returncode, 0)
    assert not daemons.pin_directory.exists(), "pins are left"
    wait_until("everything is gone", lambda: not any(ids & listed(kind)
                                                     for kind, ids in held.items()))
