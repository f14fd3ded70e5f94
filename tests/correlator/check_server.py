#!/usr/bin/env python3
"""tracer-correlator as a whole: its socket, store and recordings, and its behaviour on errors.

usage: check_server.py PROGRAM [NAME...]

Every test starts the real program in its own directory and speaks to it as a probe does. Prints "ok
- NAME", "not ok - NAME" or "skip - NAME: why".
"""

import contextlib
import fcntl
import os
import pathlib
import random
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import daemons  # noqa: E402 (the line above comes first)
from testing import (ENVIRONMENT, OnTerminal, Skip, delay_accounting_held,  # noqa: E402
                     enter_own_mounts, fill, find_tests, run_tests, same, wait_until)
from wire_client import (FRAME_MAX, MAGIC, RECORD_VERSION, SAMPLER_VERSION, VERSION, Peer, Story, connect,  # noqa: E402
                         frame, message, record)

PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tracer-correlator").resolve()
STRANGER_UID = 54321
COMMANDS = "SELECT count(*) FROM processes WHERE pid >= 100" # of a story


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


class Correlator(daemons.Correlator):
    """The running program."""

    def __init__(self, directory, *options, wait=True, **keywords):
        super().__init__(PROGRAM, directory, *options, wait=False, **keywords)
        wait_until("it is ready or has ended", lambda: self.is_ready() or self.has_ended())
        assert not wait or self.is_ready(), self.log()

    def complaints(self):
        """Log lines other than those about connections and replays."""
        return [line for line in self.log().splitlines()
                if not re.fullmatch(r"tracer-correlator: probe (dis)?connected", line)]

    def rows(self, sql):
        return query(self.store, sql)

    def value(self, sql):
        return self.rows(sql)[0][0]


def run_program(*arguments, **more):
    """Its status and output."""
    result = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=60,
                            check=False, **more)
    return result.returncode, result.stderr


def query(store, sql):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10)) as database:
        return database.execute(sql).fetchall()


def check_integrity(store):
    same("integrity of the store", query(store, "PRAGMA integrity_check"), [("ok",)])


def reported(story, directory, *options, until="SELECT 1", **keywords):
    """A correlator that received a story, stored the rows of `until`, and was stopped."""
    with Correlator(directory, *options, **keywords) as correlator:
        connect(correlator.socket, story, acknowledged=True)
        wait_until(until, lambda: correlator.rows(until))
        correlator.stop()
    return correlator


def same_content(found, story, directory):
    """Compares with the store of the same story without errors."""
    expected = reported(story, directory, store="reported.db", socket="reported.sock").store
    same("content", canonical(found), canonical(expected))


# --- normal operation ---------------------------------------------------------------------

def test_ack_follows_commit(directory):
    story = Story().commands(5)
    with Correlator(directory) as correlator:
        peer = Peer(correlator.socket)
        same("offset of the welcome", peer.greet(story.hello()), 0)
        peer.send(story.process_scan(0))
        for pid in range(105, 115):
            before = story.end
            story.command(story.SSHD, pid, "samtools", "sort")
            peer.send(story.tell(0 if pid == 105 else before))
            peer.wait_acknowledged(story.end)
            same("ack", peer.acknowledged, story.events[-1][0] + 1)
            same("rows when the ack came",
                 correlator.rows(f"SELECT totals, cpu_ns FROM processes WHERE pid = {pid}"),
                 [("final", 5_000_000)])
        same("position in the store", correlator.rows("SELECT ring_offset FROM stream"),
             [(story.end,)])
        correlator.stop()
        same("complaints", correlator.complaints(), [])


def test_many_bytes_of_the_ring_are_committed_at_once(directory):
    """So that it drains in a storm: not only each half second."""
    story, batches = Story(), 20
    story.RING_STEP = 1 << 20
    with Correlator(directory) as correlator:
        peer = Peer(correlator.socket)
        peer.greet(story.hello())
        for pid in range(100, 100 + batches):
            before = story.end
            story.command(story.SSHD, pid, "samtools", "sort")
            peer.send(story.tell(before))
            wait_until("it has read", lambda: peer.unread_bytes() == 0)
        acks = {story.end} # the last one comes with the end of the stream
        peer.socket.shutdown(socket.SHUT_WR)
        while peer.receive():
            acks.add(peer.acknowledged)
        assert len(acks) >= batches, f"{len(acks)} acknowledgements: {sorted(acks)}"


def test_the_end_of_a_stream_is_acknowledged_before_the_connection_ends(directory):
    story = Story().commands(50)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story)
        peer.socket.shutdown(socket.SHUT_WR)
        assert peer.is_closed()
        same("last ack", peer.acknowledged, story.end)


def test_scans_that_find_nothing_new_are_not_committed(directory):
    """Except in the four seconds after an event, and once every twelve as a sign of life."""
    story = Story().commands(3)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story, acknowledged=True)

        def committed_after(seconds):
            now = story.START_NS + seconds * 10**9
            peer.send(story.process_scan(now_ns=now))
            wait_until("it has read", lambda: peer.unread_bytes() == 0)
            time.sleep(1)  # a commit takes 0.5 s
            return correlator.rows("SELECT committed_boot_ns FROM stream") == [(now,)]

        same("committed", [committed_after(seconds) for seconds in (2, 6, 7, 14, 15)],
             [True, False, False, True, False])


def test_next_probe_gets_the_offset_to_continue_at(directory):
    story = Story().commands(3)
    with Correlator(directory) as correlator:
        connect(correlator.socket, story, acknowledged=True).close()
        peer = Peer(correlator.socket)
        same("offset of the welcome", peer.greet(story.hello()), story.end)
        peer.close()
        # The offsets of another ring begin where its hello says.
        peer = Peer(correlator.socket)
        same("offset for a new ring", peer.greet(story.hello(ring_epoch=8, consumer_offset=4096)),
             4096)


def test_an_older_copy_of_the_store(directory):
    """What it lacks, and the ring no longer has, is one loss, also of what ran at that time."""
    story = Story()
    story.exec(story.fork(story.SSHD, 50), story.SSHD, "bash", "job.sh")
    reported(story, directory)
    older = (directory / "tracer.db").read_bytes()
    lost_from_ns, = query(directory / "tracer.db", "SELECT committed_boot_ns FROM stream")[0]
    story.commands(60)
    reported(story, directory)
    (directory / "tracer.db").write_bytes(older)
    (directory / "tracer.db-wal").unlink(missing_ok=True)
    with Correlator(directory) as correlator:
        for _ in range(2):
            peer = Peer(correlator.socket)
            same("offset", peer.greet(story.hello(consumer_offset=story.end)), story.end)
            peer.send(story.process_scan(-1))
            peer.close()
        wait_until("a row", lambda: correlator.rows("SELECT 1 FROM losses"))
        correlator.stop()
        same("losses", correlator.rows("SELECT kind, lost_count, first_boot_ns, last_boot_ns FROM losses"),
             [("unknown", 1, lost_from_ns, story.now)])
        same("of what ran", correlator.rows("SELECT name, lost_count FROM runs WHERE lost_count > 0 ORDER BY name"),
             [("job.sh", 1), ("system", 1)])


def test_power_loss(directory):
    """What is not synced to the disk is gone, or a part of it is there. The store has the commits up to some
    moment, what ran then is lost since that moment, and the next boot is recorded."""
    story = Story()
    story.exec(story.fork(story.SSHD, 50), story.SSHD, "bash", "job.sh")
    store = reported(story.commands(5), directory).store # stopping syncs it
    synced, log = store.read_bytes(), directory / "tracer.db-wal"
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story)
        for first_pid in range(105, 155, 10):
            sent = story.end
            peer.send(story.commands(10, first_pid).tell(sent))
            peer.wait_acknowledged(story.end)
        correlator.kill()
    same("only the log was written since", store.read_bytes() == synced, True)
    written = log.read_bytes()
    hole = len(written) // 2
    counts = []
    for left in (b"", *(written[:len(written) * part // 5 - 1] for part in range(1, 5)),
                 written[:hole] + bytes(8192) + written[hole + 8192:], written):
        store.write_bytes(synced)
        log.write_bytes(left)
        (directory / "tracer.db-shm").unlink(missing_ok=True)
        with Correlator(directory) as correlator:
            pids = [pid for pid, in correlator.rows("SELECT pid FROM processes WHERE pid > 99 ORDER BY pid")]
            seen_ns = correlator.value("SELECT committed_boot_ns FROM stream")
            after = Story(epoch=8)
            after.BOOT_ID = b"6d9b3f4e-0000-4000-8000-000000000002"
            connect(correlator.socket, after.commands(1, 99), acknowledged=True)
            correlator.stop()
            same("processes", pids, list(range(100, 100 + len(pids))))
            same("what ran", correlator.rows("SELECT ended, end_boot_ns FROM processes WHERE pid = 50"),
                 [("lost", seen_ns)])
            same("its run", correlator.rows("SELECT status FROM runs WHERE name = 'job.sh'"), [("ended",)]) # unknown how
            same("the next boot", correlator.rows("SELECT ended FROM processes WHERE pid = 99"), [("exit",)])
            check_integrity(store)
        counts.append(len(pids))
    assert counts[0] == 5 and counts[-1] == 55 and sorted(counts[:5]) == counts[:5], counts


def test_once(directory):
    story = Story().commands(3)
    with Correlator(directory, "--once") as correlator:
        connect(correlator.socket, story, acknowledged=True).close()
        correlator.wait()
        assert not correlator.socket.exists(), "the socket's file is left behind"
        same("processes", correlator.value(COMMANDS), 3)


def test_sigterm_commits(directory):
    story = Story().commands(50)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story)
        wait_until("it has read", lambda: peer.unread_bytes() == 0)
        correlator.stop()  # its next commit is due within half a second
        while peer.receive():
            pass
        same("last ack", peer.acknowledged, story.end)
        same("processes", correlator.value(COMMANDS), 50)
        check_integrity(correlator.store)


DISKS, INTERFACES = ("sd", "vd", "nvme", "xvd"), ("eth", "en")


def pressure():
    """{column: counter of the kernel}"""
    found = {}
    for kind in ("cpu", "memory", "io"):
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/pressure/{kind}").read_text().splitlines():
                found[f"{kind}_{line.split()[0]}_ns"] = int(line.rsplit("=", 1)[1]) * 1000
    found.pop("cpu_full_ns", None) # meaningless for a whole host
    return found


def traffic():
    """{column: counter of the kernel}, of devices with these names only."""
    found = {}
    disks = [path.read_text().split() for path in pathlib.Path("/sys/block").glob("*/stat")
             if path.parent.name.startswith(DISKS)]
    interfaces = [line.split(":")[1].split() for line in open("/proc/1/net/dev")
                  if line.strip().startswith(INTERFACES)]
    for rows, columns in (
            (disks, {"disk_read_count": (0, 1), "disk_read_bytes": (2, 512),
                     "disk_write_count": (4, 1), "disk_write_bytes": (6, 512),
                     "disk_busy_ns": (9, 10**6)}),
            (interfaces, {"network_received_bytes": (0, 1), "network_sent_bytes": (8, 1)})):
        if rows:
            found |= {name: factor * sum(int(row[at]) for row in rows)
                      for name, (at, factor) in columns.items()}
    return found


def processors():
    """{column: value in /proc/cpuinfo}"""
    lines = [line.split(":", 1) for line in open("/proc/cpuinfo") if ":" in line]
    values = [(name.strip(), value.strip()) for name, value in lines]
    sockets = [value for name, value in values if name == "physical id"]
    cores = [value for name, value in values if name == "core id"]
    return {"cpu_model": dict(reversed(values)).get("model name"),
            "core_count": len(set(zip(sockets, cores))) or None}


@contextlib.contextmanager
def firmware(**texts):
    """Replaces /sys/class/dmi/id within the block, in a private mount namespace."""
    need_root()
    subprocess.run(["mount", "-t", "tmpfs", "none", "/sys/class"], check=True)
    try:
        folder = pathlib.Path("/sys/class/dmi/id")
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_text(text + "\n")
        yield
    finally:
        subprocess.run(["umount", "/sys/class"], check=True)


def test_the_host_s_figures_are_the_kernel_s(directory):
    """Each lies between two readings of its file, before and after."""
    story = Story().commands(3)
    pressed, moved = pressure(), traffic()
    correlator = reported(story, directory, "--host-period", "1", until="SELECT 1 FROM host_samples")
    names = [*pressed, *moved]
    values = correlator.rows(f"SELECT {', '.join(names)} FROM host_samples ORDER BY unix_ns")[0]
    now = pressure()
    for name, value in zip(names, values):
        assert value is not None, f"{name} is unknown"
        least, most = (pressed | moved)[name], now.get(name, value)
        assert least <= value <= most, f"{name} is {value}, not from {least} to {most}"


def test_what_the_host_is(directory):
    story = Story().commands(3)
    expected = processors() | {"vendor": "Some Cloud", "product": "m7i.xlarge",
                               "asset_tag": "i-0123456789"}
    with firmware(sys_vendor="Some Cloud", product_name="m7i.xlarge",
                  board_asset_tag="i-0123456789", chassis_asset_tag="rack 7"):
        correlator = reported(story, directory, "--host-period", "1")
    same("facts", dict(zip(expected, correlator.rows(
        f"SELECT {', '.join(expected)} FROM hosts")[0])), expected)


def test_the_cluster_is_known(directory):
    story = Story().commands(3)
    for number, (options, expected) in enumerate(((["--cluster", "alps"], "alps"), ([], None))):
        correlator = reported(story, directory, "--host-period", "1", *options, store=f"{number}.db")
        if expected or not any(pathlib.Path(path).exists() for path in (
                "/etc/tracer/cluster", "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf")):
            same("cluster", correlator.rows("SELECT cluster FROM hosts"), [(expected,)])


def test_the_host_has_the_name_that_it_is_given(directory):
    story = Story().commands(3)
    correlator = reported(story, directory, "--host-period", "0", "--hostname", "worker-7.example")
    same("name", correlator.rows("SELECT hostname FROM hosts"), [("worker-7.example",)])


def test_the_host_is_sampled_and_in_no_replay(directory):
    story = Story().commands(3)
    recording = directory / "stream.rec"
    with delay_accounting_held(fcntl.LOCK_SH) as switch:
        expected_delays = switch.read_text().strip()
        correlator = reported(story, directory, "--host-period", "1", "--record", recording,
                              until="SELECT 1 FROM host_samples LIMIT 1 OFFSET 2")
    (build, delays), = correlator.rows("SELECT kernel_build, delay_accounting FROM hosts")
    same("build of the kernel", build, os.uname().version)
    same("delay accounting", str(delays), expected_delays)
    samples = correlator.rows("SELECT boot_ns, cpu_user_ns + cpu_system_ns + cpu_idle_ns + "
                              "cpu_iowait_ns + cpu_steal_ns, memory_available_bytes, load_milli "
                              "FROM host_samples ORDER BY unix_ns")
    now_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    total_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for (before, cpu_before, *_), (after, cpu_after, available, load) in zip(samples, samples[1:]):
        assert now_ns - 60e9 < before < after <= now_ns, samples
        spent = (cpu_after - cpu_before) / (after - before) / os.cpu_count()
        assert 0.5 < spent < 1.5, f"{spent:.2f} of the processors' time is accounted for"
        assert 0 < available <= total_bytes and load >= 0, samples
    same("replay", run_program("--replay", recording, "--store", directory / "replayed.db", "--rules", directory)[0], 0)
    same("what a replay knows of the host", query(
        directory / "replayed.db", "SELECT (SELECT count(*) FROM host_samples), (SELECT count(*) "
        "FROM hosts WHERE kernel_build IS NOT NULL OR cpu_model IS NOT NULL)"), [(0, 0)])


def test_a_restart_without_a_probe_keeps_the_clock(directory):
    """Nothing is known of the time since the last event, but the host is sampled."""
    position = "SELECT committed_boot_ns FROM stream"
    clock = reported(Story().commands(3), directory).rows(position)
    with Correlator(directory, "--host-period", "1") as correlator:
        wait_until("the host is sampled", lambda: correlator.rows("SELECT 1 FROM host_samples"))
        same("the stream's clock", correlator.rows(position), clock)
        correlator.stop()


def test_samples_of_an_idle_host_share_a_commit(directory):
    """Scans find nothing new: they cause no commit, even while a sample of the host waits for one."""
    story, stored = Story().commands(3), []
    with Correlator(directory, "--host-period", "1") as correlator:
        peer = connect(correlator.socket, story)
        peer.wait_acknowledged(story.end)
        found_ns = story.now + 5_000_000_000
        peer.send(story.process_scan(now_ns=found_ns))

        def another_commit():
            peer.send(story.process_scan(now_ns=found_ns + 4_500_000_000)) # no longer follows a change
            count = correlator.rows("SELECT count(*) FROM host_samples")[0][0]
            if not stored or count > stored[-1]:
                stored.append(count)
            return len(stored) > 3

        wait_until("commits", another_commit)
    same("samples in a commit", stored[3] - stored[2], 4)


def test_a_sign_of_life_takes_no_samples(directory):
    """The commit that only shows that the daemons are running leaves samples of the host for a later one."""
    story, life = Story().commands(3), "SELECT committed_boot_ns FROM stream"
    with Correlator(directory, "--host-period", "5") as correlator:
        peer = connect(correlator.socket, story, acknowledged=True)
        wait_until("the first sample", lambda: correlator.rows("SELECT 1 FROM host_samples"))
        time.sleep(6)  # another one waits
        seen_ns = story.now + 11_000_000_000
        peer.send(story.process_scan(now_ns=seen_ns))
        wait_until("a sign of life", lambda: correlator.rows(life) == [(seen_ns,)])
        same("samples", correlator.rows("SELECT count(*) FROM host_samples"), [(1,)])
        correlator.stop()
        assert correlator.rows("SELECT count(*) FROM host_samples")[0][0] > 1


def test_nothing_of_the_host_where_it_is_not_asked(directory):
    story = Story().commands(3)
    with Correlator(directory) as correlator:
        connect(correlator.socket, story, acknowledged=True)
        time.sleep(1.5)
        correlator.stop()
    same("samples", correlator.rows("SELECT count(*) FROM host_samples"), [(0,)])
    same("facts", correlator.rows("SELECT kernel_build FROM hosts"), [(None,)])


# --- invalid peers ------------------------------------------------------------------------

def bad_input(data, complaint, greeted=True, hang_up=False):
    """A test of one kind of invalid input."""
    def check(directory):
        story = Story().commands(2)
        with Correlator(directory) as correlator:
            peer = Peer(correlator.socket)
            if greeted:
                peer.greet(story.hello())
            peer.send(data(story))
            if hang_up:
                peer.close()
            else:
                assert peer.is_closed(), "the connection stays open"
            connect(correlator.socket, story, acknowledged=True)
            same("complaints", len(correlator.complaints()), 1)
            assert re.search(complaint, correlator.complaints()[0]), correlator.complaints()
            same("processes", correlator.value(COMMANDS), 2)
            correlator.stop()
            check_integrity(correlator.store)
    return check


def noise(story):
    return random.Random(1).randbytes(100_000)


test_garbage = bad_input(noise, "the peer sent", greeted=False)
test_garbage_after_a_hello = bad_input(noise, "the peer sent")
test_a_frame_of_no_size = bad_input(lambda story: bytes(4), "a frame of invalid size")
test_an_oversized_frame = bad_input(
    lambda story: frame(bytes(FRAME_MAX + 1)), "a frame of invalid size")
test_a_frame_that_claims_four_gigabytes = bad_input(
    lambda story: struct.pack(">I", 2**32 - 1), "a frame of invalid size")
test_a_truncated_frame = bad_input(
    lambda story: story.tell()[:-3], "disconnected in the middle of a message", hang_up=True)
test_another_version = bad_input(
    lambda story: story.hello(version=VERSION + 1), "a different protocol version", greeted=False)
test_records_of_another_version = bad_input(
    lambda story: story.hello(record_version=RECORD_VERSION + 1), "a different record version",
    greeted=False)
test_samples_that_lead_nowhere = bad_input(
    lambda story: frame(message("sample", records=b"\xff" * 64)), "malformed sample records")
test_losses_that_are_none = bad_input(
    lambda story: frame(message("losses", slots=bytes(47))), "a malformed loss table")
test_an_event_before_the_hello = bad_input(
    lambda story: story.tell(), "a message before hello", greeted=False)
test_a_second_hello = bad_input(lambda story: story.hello(), "a second hello")
test_a_message_of_a_correlator = bad_input(
    lambda story: frame(message("ack", offset=1)), "only a correlator sends")
test_an_unknown_message = bad_input(lambda story: frame(b"\x92\x7f\x01"), "unknown message type")
test_a_field_of_the_wrong_kind = bad_input(
    lambda story: frame(b"\x93\x10\xc4\x01x\xc4\x00"), "is not an unsigned integer")
test_bytes_behind_a_message = bad_input(
    lambda story: frame(message("losses") + b"\x00"), "bytes after the last field")


def test_what_came_before_nonsense_counts(directory):
    story = Story().commands(20)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story)
        peer.send(bytes(4))
        assert peer.is_closed()
        again = Peer(correlator.socket)
        again.send(story.hello())
        _, values = again.receive()
        again.send(story.process_scan(0) + story.tell(values["offset"]))
        again.wait_acknowledged(story.end)
        correlator.stop()
    same_content(correlator.store, story, directory)


def test_a_record_that_is_none_is_a_loss(directory):
    """The connection stays open: otherwise the ring would send the record again for ever."""
    story = Story().commands(2)
    broken = record("exit", boot_ns=5, image=(7, 8, 9))[:-1]
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story)
        peer.send(frame(message("event", offset=story.end, record=broken)))
        peer.wait_acknowledged(story.end + 1)
        same("losses", correlator.rows("SELECT kind, lost_count FROM losses"), [("exit", 1)])
        same("complaints", correlator.complaints(), [])
        correlator.stop()
    check_integrity(correlator.store)


def as_stranger(path):
    """Connects as another user. Returns 0 if closed at once, 1 if served, 2 if it cannot connect."""
    pid = os.fork()
    if pid == 0:
        status = 3
        try:
            os.setgroups([])
            os.setresgid(STRANGER_UID, STRANGER_UID, STRANGER_UID)
            os.setresuid(STRANGER_UID, STRANGER_UID, STRANGER_UID)
            peer = Peer(path)
            peer.send(Story().hello())
            status = 1 if peer.receive() else 0
        except PermissionError:
            status = 2
        except (BrokenPipeError, ConnectionResetError):
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_an_impostor_is_refused(directory):
    need_root()
    story = Story().commands(2)
    directory.chmod(0o755)
    with Correlator(directory, "--once") as correlator:
        same("mode of the socket", correlator.socket.stat().st_mode & 0o777, 0o660)
        same("a stranger", as_stranger(correlator.socket), 2)
        correlator.socket.chmod(0o666)
        same("a stranger let in by the file's mode", as_stranger(correlator.socket), 0)
        connect(correlator.socket, story, acknowledged=True)  # nor did it use up --once
        same("complaints", len(correlator.complaints()), 1)
        assert f"user {STRANGER_UID} is not the probe's" in correlator.complaints()[0]


def test_the_probe_s_user_is_accepted(directory):
    need_root()
    directory.chmod(0o755)
    with Correlator(directory, "--probe-user", STRANGER_UID) as correlator:
        correlator.socket.chmod(0o666)
        same("its user", as_stranger(correlator.socket), 1)


def test_a_second_probe_is_refused(directory):
    story = Story().commands(2)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story, until=0)
        second = Peer(correlator.socket)
        assert second.is_closed(), "the second probe is not sent away"
        peer.send(story.tell())
        peer.wait_acknowledged(story.end)
        same("complaints", correlator.complaints(),
             ["tracer-correlator: connection refused: a probe is already connected"])


def test_a_silent_peer_makes_room(directory):
    story = Story().commands(2)
    with Correlator(directory) as correlator:
        silent = Peer(correlator.socket)
        assert silent.is_closed(), "a peer that says nothing keeps the probe out"
        connect(correlator.socket, story, acknowledged=True)
        same("complaints", len(correlator.complaints()), 1)
        assert "no hello" in correlator.complaints()[0], correlator.complaints()


def test_a_probe_that_falls_silent(directory):
    story = Story().commands(2)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story, acknowledged=True)
        same("complaints", correlator.complaints(), [])
        wait_until("the silence is reported", lambda: correlator.complaints() == [
            "tracer-correlator: the probe has sent nothing for 60 s: it is stopped, or hangs"], 90)
        peer.send(story.process_scan(0))
        wait_until("its end is reported", lambda: correlator.complaints()[1:] == [
            "tracer-correlator: the probe sends again"])


def sampler(path):
    peer = Peer(path)
    peer.send_message("sampler", version=SAMPLER_VERSION, name=b"nvidia", driver=b"580.1", devices=b"nvidia0")
    return peer


def test_samplers_are_served_beside_the_probe(directory):
    story, path, now = Story().commands(2), directory / "sampler.sock", time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    figures = {"boot_ns": now, "interval_ns": 10**9, "pid": Story.INIT[0], "start_boot_ns": 0, "known": 3,
               "busy_ns": 5 * 10**8, "memory_bytes": 1 << 30}
    with Correlator(directory, "--sampler-socket", path) as correlator:
        probe = connect(correlator.socket, story, acknowledged=True)
        wait_until("its processes are known", lambda: correlator.value("SELECT count(*) FROM processes WHERE pid = 1"))
        peers = [sampler(path) for _ in range(8)]
        peers[0].send_message("device_use", device=b"nvidia0", **figures)
        peers[1].send_message("device_use", device=b"other0", **figures)
        assert peers[1].is_closed(), "a sampler may report devices of another kind"
        peers[2].send(story.hello())
        assert peers[2].is_closed(), "a sampler may be a probe"
        peers += [sampler(path) for _ in range(2)]
        assert Peer(path).is_closed(), "a ninth sampler is served"
        peers[0].send_message("device_use", device=b"nvidia1", **figures)
        probe.send(story.process_scan(0))
        wait_until("its figures are stored", lambda: correlator.rows(
            "SELECT gpu, gpu_busy_ns, gpu_peak_bytes FROM processes WHERE pid = 1") == [("nvidia0,nvidia1", 10**9, 2 << 30)])
        complaints = [line.split(": ", 1)[1] for line in correlator.complaints() if "sampler nvidia" not in line]
        same("complaints", complaints, [
            "connection of a sampler closed: it sent a device that is not of its kind",
            "connection of a sampler closed: it sent a message that no sampler sends",
            "connection of a sampler refused: 8 are connected"])
        correlator.stop()
    same("sockets that are left", [entry.name for entry in directory.iterdir() if entry.is_socket()], [])


def test_an_impostor_of_a_sampler_is_refused(directory):
    need_root()
    directory.chmod(0o755)
    path = directory / "sampler.sock"
    with Correlator(directory, "--sampler-socket", path):
        same("mode of the socket", path.stat().st_mode & 0o777, 0o660)
        same("a stranger", as_stranger(path), 2)
        path.chmod(0o666)
        same("a stranger let in by the file's mode", as_stranger(path), 0)


def test_nothing_is_sent_before_the_hello(directory):
    """Although samples of the host are committed in the meantime."""
    story = Story().commands(2)
    with Correlator(directory, "--host-period", "1") as correlator:
        connect(correlator.socket, story, acknowledged=True).close()
        peer = Peer(correlator.socket)
        before = correlator.rows("SELECT count(*) FROM host_samples")
        wait_until("a commit", lambda: correlator.rows("SELECT count(*) FROM host_samples") > before)
        same("offset", peer.greet(story.hello()), story.end)


def test_a_peer_that_reads_no_acks(directory):
    batch, warm_up, measured = 1000, 4, 8
    story = Story()
    story.EVENT_NS = 5_000_000  # a batch is long enough for ended processes to be forgotten
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story)
        memory = []
        for number in range(warm_up + measured):
            before = story.end
            story.commands(batch, 100 + number * batch)
            peer.send(story.tell(before))
            wait_until("a commit", lambda: correlator.rows(
                "SELECT ring_offset FROM stream") == [(story.end,)])
            memory.append(correlator.memory_bytes() >> 10)
        growth = memory[-1] - memory[warm_up]
        assert growth < 12 * 1024, f"{growth} KiB more: {memory}"
        same("complaints", correlator.complaints(), [])
        correlator.stop()


# --- disks ----------------------------------------------------------------------------------

@contextlib.contextmanager
def small_disk(directory, size):
    """Mounts a file system at `directory`, in a private mount namespace."""
    need_root()
    disk = directory / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_full_disk_as_the_peer_leaves(directory):
    """Space is freed after another peer connected. tests/faults/fault_store.py has the rest, with a probe."""
    story = Story().commands(200)
    with small_disk(directory, "16m") as disk, Correlator(disk) as correlator:
        peer = connect(correlator.socket, story, until=0)
        wait_until("a first commit", lambda: correlator.rows("SELECT 1 FROM stream"))
        fill(disk / "filler")
        peer.send(story.tell())
        peer.close()
        wait_until("a complaint", correlator.complaints)
        peer = Peer(correlator.socket)
        peer.send(story.hello() + story.process_scan(0))
        time.sleep(0.5)
        (disk / "filler").unlink()
        peer.send(story.tell(peer.receive()[1]["offset"]))
        peer.wait_acknowledged(story.end)
        correlator.stop()
        same_content(correlator.store, story, directory)


def refused(directory, complaint, *options, **keywords):
    """The program ends with status 1 and one line, and leaves the store's file as it was."""
    path = directory / "tracer.db"
    before = path.exists() and path.read_bytes()
    with Correlator(directory, *options, wait=False, **keywords) as correlator:
        correlator.wait(1)
        same("ready", correlator.is_ready(), False)
        same("complaints", correlator.log().count("\n"), 1)
        assert re.search(complaint, correlator.log()), correlator.log()
    same("the file is as it was", path.exists() and path.read_bytes() == before, bool(before))


def test_priorities_are_for_the_journal(directory):
    """Only for the journal's own stream: children of a service inherit the variable, but may write elsewhere."""
    log = directory / "log"
    for other, expected in ((1, b"tracer-correlator"), (0, b"<3>tracer-correlator")):
        with open(log, "wb") as stderr:
            status = os.fstat(stderr.fileno())
            subprocess.run([PROGRAM, "--store", directory / "missing" / "tracer.db"], stderr=stderr,
                           env=ENVIRONMENT | {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino + other}"},
                           timeout=60, check=False)
        same("begin of the line", log.read_bytes().split(b":")[0], expected)


def test_a_second_correlator_on_the_store(directory):
    story = Story().commands(2)
    with Correlator(directory) as correlator:
        peer = connect(correlator.socket, story, until=0)
        refused(directory, rf"in use by another tracer-correlator or tracer run \(pid {correlator.pid}\)",
                socket="second.sock")
        refused(directory, "is in use by another correlator", store="second.db")
        peer.send(story.tell())
        peer.wait_acknowledged(story.end)
        correlator.stop()


def test_a_stale_socket_is_replaced(directory):
    with Correlator(directory) as correlator:
        correlator.kill()
    assert correlator.socket.exists()
    with Correlator(directory) as correlator:
        correlator.stop()


def test_what_is_no_store_of_this_release(directory):
    """Another release's, another program's, another file, and damaged ones."""
    whole = reported(Story().commands(20), directory).store.read_bytes()
    path = directory / "tracer.db"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE theirs (a)")
    refused(directory, "a database of another program")
    path.write_bytes(whole)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    refused(directory, r"written by a newer release \(schema 99")
    for content in (b"sample\tstatus\n" * 100, b"SQLite format 3\0" + bytes(range(256)) * 40, bytes(range(256)) * 400,
                    whole[:len(whole) // 2], whole[:5000]):
        path.write_bytes(content)
        refused(directory, r"tracer\.db: not a tracer store, .*(not a database|malformed)")


def test_a_directory_that_cannot_be_written(directory):
    need_root()
    directory.chmod(0o755)
    refused(directory, r"tracer\.db: permission denied", "--user", "nobody")


def test_a_read_only_file_system(directory):
    with small_disk(directory, "4m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        refused(directory, r"tracer\.db: read-only: use a store on a writable file system", "--store", disk / "tracer.db")


def test_a_file_in_the_socket_s_place(directory):
    path = directory / "tracer.sock"
    path.write_text("precious")
    refused(directory, "is not a socket")
    same("the file", path.read_text(), "precious")


def test_broken_rules(directory):
    """The shipped rules and the site's valid files still apply."""
    (directory / "broken.yaml").write_text("rules:\n- {rule: early, match: {executable: true}, name: early}\n"
                                           "- rule: x\n  wheN: {}\n")
    (directory / "pattern.yaml").write_text("rules:\n- rule: y\n  match: {argv: '(['}\n")
    (directory / "valid.yaml").write_text("rules:\n- {rule: z, match: {executable: tool}, name: valid}\n")
    (directory / "dangling.yaml").symlink_to("nowhere")
    story = Story()
    for number, program in enumerate(("true", "tool", "bwa")):
        story.command(story.SSHD, 500 + number, program, "mem")
    correlator = reported(story, directory)
    log, versions = correlator.log(), correlator.rows("SELECT DISTINCT rules_version FROM runs")
    for words in (r"broken\.yaml:4: .*wheN", r"broken\.yaml is not used", r"pattern\.yaml:3: .*regular expression",
                  r"pattern\.yaml is not used", r"dangling\.yaml: cannot be read"):
        assert re.search(words, log), f"{words} is not in {log}"
    assert "valid.yaml" not in log, log
    same("tools", sorted(name for name, in correlator.rows("SELECT name FROM standing_tools")
                         if name not in ("systemd", "sshd")), ["bwa mem", "true", "valid"])
    for path in directory.glob("[bpd]*.yaml"):
        path.unlink()
    same("version of the rules", reported(story, directory, store="other.db").rows(
        "SELECT DISTINCT rules_version FROM runs"), versions)


# --- killed, recorded, replayed ---------------------------------------------------------------

def pipelines():
    """Scripts that run tools, some failing: at most moments a subtree is unfinished."""
    story = Story()
    pid = 100
    for number in range(60):
        script = story.exec(story.fork(story.SSHD, pid), story.SSHD, "bash", f"job{number}.sh")
        for child in range(1, 6):
            story.command(script, pid + child, ("bwa", "samtools", "gzip")[child % 3], "x",
                          status=(child == number % 9) << 8)
        story.exit(script)
        pid += 10
    return story


def canonical(store):
    """Everything that a replay must reproduce; not the states, which only serve restarts."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        tables = [name for name, in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('states', 'images', 'process_rows')")]
        return [row for table in [*sorted(tables), "processes"] for row in dump_rows(database, table)]


def dump_rows(database, table):
    rows = database.execute(f"SELECT * FROM {table}")
    kept = [index for index, column in enumerate(rows.description)
            if column[0] not in ("rev", "committed_boot_ns", "committed_unix_ns")]
    return sorted(repr((table, *(row[index] for index in kept))) for row in rows)


def test_a_recording_replays_to_the_same_store(directory):
    story = pipelines()
    recording = directory / "stream.rec"
    with Correlator(directory, "--once", "--record", recording) as correlator:
        peer = connect(correlator.socket, story, until=0)
        for until in range(300, len(story.events) + 300, 300):  # in several commits
            last = story.events[:until][-1][0]
            peer.send(story.tell((until - 300) * story.RING_STEP, until))
            peer.wait_acknowledged(last + 1)
        peer.close()
        correlator.wait()
    same("mode of the recording", recording.stat().st_mode & 0o777, 0o600)
    live = canonical(correlator.store)
    assert any("processes" in row for row in live), "the live store is empty"
    for name in ("one.db", "two.db"):
        status, said = run_program("--replay", recording, "--store", directory / name, "--rules", directory)
        same("status of the replay", (status, said.count("\n")), (0, 1))
        same("rows", canonical(directory / name), live)
    refused(directory, "cannot write the recording", "--record", recording, store="three.db")


def test_a_replay_shows_progress_on_a_terminal(directory):
    story = Story().commands(500)
    recording = directory / "recording"
    recording.write_bytes(MAGIC + story.hello() + story.process_scan(0) + story.tell())
    command = [PROGRAM, "--replay", recording, "--rules", directory, "--log-level", "warning", "--store"]
    terminal = OnTerminal([*command, directory / "one.db"])
    same("status", terminal.finish(), (0, b""))
    assert re.fullmatch(rb"(\r\x1b\[Kreplaying: \d+ %\r)+\r\x1b\[K", terminal.said), terminal.said
    dumb = OnTerminal([*command, directory / "two.db"], term="dumb")
    same("status", dumb.finish(), (0, b""))
    same("on what cannot rewrite a line", dumb.said, b"")
    os.mkfifo(directory / "pipe")
    with subprocess.Popen(["cp", recording, directory / "pipe"]) as writer:
        piped = OnTerminal([*command, directory / "three.db", "--replay", directory / "pipe"])
        try:
            same("status", piped.finish(), (0, b""))
        finally:
            writer.kill()
    assert piped.said.startswith(b"\r\x1b[Kreplaying: 0 MiB\r"), piped.said


def test_recordings_that_cannot_be_replayed(directory):
    story = Story().commands(3)
    stream, last = story.hello() + story.process_scan(0) + story.tell(), story.events[-1][1]
    cases = {
        "of another version": (b"tracer-record-9\n" + stream, 1, "a different version"),
        "of no version": (MAGIC[:-1] + b" " + stream, 1, "a different version"),
        "cut in its first line": (MAGIC[:-1], 1, "truncated in its first line"),
        "no recording": (b"\x7fELF" + bytes(100), 1, "not a recording"),
        "empty": (b"", 1, "not a recording"),
        "broken": (MAGIC + stream + bytes(4), 1, rf"damaged at byte {len(MAGIC + stream)}\b"),
        "with text behind it": (MAGIC + stream + b"some text", 1, rf"damaged at byte {len(MAGIC + stream)}\b"),
        "cut": (MAGIC + stream[:-1], 0, rf"truncated at byte {len(MAGIC + stream) - len(last)}\b"),
        "cut in a size": (MAGIC + stream[:3 - len(last)], 0, rf"truncated at byte {len(MAGIC + stream) - len(last)}\b"),
        "not there": (None, 1, "cannot open"),
        "a directory": (None, 1, "Is a directory"),
    }
    (directory / "a directory").mkdir()
    for name, (content, status, complaint) in cases.items():
        path = directory / name
        if content is not None:
            path.write_bytes(content)
        found, said = run_program("--replay", path, "--store", directory / f"{name}.db")
        same(f"status: {name}", found, status)
        assert re.search(complaint, said), (name, said)


def test_wrong_usage(directory):
    for arguments in (["--nonsense"], ["extra"], ["--store"], ["--retain", "x"], ["--retain", "-1"],
                      ["--arguments", "some"], ["--log-level", "loud"], ["--user", "no-such-user"],
                      ["--probe-user", ""], ["--socket-group", "no-such-group"],
                      ["--ready-fd", "-2"], ["--cluster", "two words"], ["--cluster", ""],
                      ["--hostname", "two words"], ["--hostname", "a" * 254]):
        status, said = run_program(*arguments, cwd=directory)
        same(f"status of {arguments}", status, 2)
        assert "--help" in said, said
    for argument in ("--help", "--version"):
        same(f"status of {argument}", run_program(argument), (0, ""))


def run_in_directory(test):
    """Runs a test in its own directory, and prints the correlator's log if it fails."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-check-"))
    try:
        test(directory)
    except AssertionError as reason:
        for log in sorted(directory.glob("**/log-*")):
            reason.add_note(f"{log.name}: {log.read_text(errors='replace')}")
        raise
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main():
    if os.geteuid() == 0:
        enter_own_mounts()
    return run_tests("correlator", find_tests(globals()), run_in_directory, sys.argv[2:],
                     ("a probe that falls silent",))


if __name__ == "__main__":
    sys.exit(main())
