#!/usr/bin/env python3
"""tracer-shipper as a whole, against a real ClickHouse and against servers that are not a lake.

usage: check_shipper.py BUILD [NAME...]

Prints "ok - NAME", "not ok - NAME" or "skip - NAME: why".
"""

import contextlib
import ctypes
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock
import urllib.parse

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from harness import (  # noqa: E402
    ENTITIES, ENVIRONMENT, ROOT, Answers, Authority, Lake, Proxy, Shipper, Skip, Unavailable, compare, http,
    lake_rows, make_tables, same, settings_for, store_columns, store_rows, tls,
    wait_until, with_engine)
from daemons import Correlator, replay  # noqa: E402
from testing import OnTerminal, enter_own_mounts, fill, find_tests, remove_tree, run_tests, skip_all  # noqa: E402
from wire_client import Story, connect  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
SHIPPER, TRACER = BUILD / "shipper/tracer-shipper", BUILD / "cli/tracer"
CORRELATOR, MAKE_STORE = BUILD / "correlator/tracer-correlator", BUILD / "tests/cli/make_store"
SCHEMA = BUILD / "datalake"
ACCEPTED = http("200 OK", b"", "X-ClickHouse-Summary: {}")
BUSY = http("503 Service Unavailable")
TOO_LARGE = http("413 Payload Too Large")
QUICK = {"interval": "1s"}


def once(directory, store, *options, code=0, **more):
    """Sends everything in the store once, to the sink given in `more`."""
    with Shipper(SHIPPER, directory, store, "--once", *options, **more) as shipper:
        shipper.wait(code)
        return shipper


def ship(directory, store, lake, *options, **more):
    return once(directory, store, *options, **{"url": lake.url, "lake": settings_for(lake), **more})


def shipping(directory, store, lake, *options, **more):
    """A shipper running for that lake."""
    return Shipper(SHIPPER, directory, store, *options, **{"url": lake.url, "lake": settings_for(lake), **more})


def secret(path, text, mode=0o600):
    """A file with that text, readable only by its owner."""
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def forget(directory):
    """What was sent, so that it is sent again."""
    (directory / "state/cursor").unlink()


def in_environment(**variables):
    return unittest.mock.patch.dict(ENVIRONMENT, variables)


def unpacked(bodies):
    return subprocess.run(["zstd", "-dc"], input=b"".join(bodies), capture_output=True, check=True).stdout


def all_arrived(status):
    return status["shipped_rev"] == status["store_rev"] > 0


def change(store, *statements):
    """Changes the store without the correlator."""
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        for statement in statements:
            db.execute(statement)


def copy_store(store, path):
    """A copy that appears complete."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        db.execute(f"VACUUM INTO '{path}'")
    path.chmod(0o644)


def stored(directory, name="replayed.db"):
    return replay(BUILD, ROOT / "tests/golden/snakemake.rec", directory / name)


def hostile_store(directory):
    path = directory / "tracer.db"
    subprocess.run([MAKE_STORE, path], check=True, env=ENVIRONMENT)
    return path


def tracer_status(store, word, *options):
    """`tracer status`: the document, and text and advice of each check on that word."""
    result = subprocess.run([TRACER, "status", "--json", "--store", store, *options], capture_output=True, text=True,
                            env=ENVIRONMENT, check=False)
    found = json.loads(result.stdout)
    return found, [f"{item['text']} {item['fix']}" for item in found["checks"] if word == item["topic"] or word in item["text"]]


def shipper_status(directory, store):
    """The same of the shipper: its figures, and text."""
    found, texts = tracer_status(store, "shipper", "--shipper", directory / "state")
    return found["shipper"], " ".join(texts)


def run_plain(*arguments, code=0, **more):
    result = subprocess.run([SHIPPER, *arguments], capture_output=True, text=True, timeout=60,
                            env=ENVIRONMENT | more, check=False)
    same(f"exit status of {arguments}: {result.stderr}", result.returncode, code)
    return result


# ---- delivery -----------------------------------------------------------------------------


def test_everything_arrives(directory, lake, store):
    ship(directory, store, lake)
    assert compare(lake, store) > 100
    shipper = ship(directory, store, lake)
    same("batches of the second time", shipper.status()["sent_batch_count"], 6)
    same("revisions that have arrived", shipper.status()["shipped_rev"], shipper.status()["store_rev"])


def test_hostile_names_arrive(directory, lake, store):
    store = hostile_store(directory)
    ship(directory, store, lake)
    compare(lake, store)
    names = [row["name"] for row in store_rows(store, "runs").values()]
    assert any("\\x80\\xff" in name and "\x1b" in name for name in names), names


def test_batches_are_cut(directory, lake, store):
    for option in ("send.rows=7", "send.bytes=4096"):
        make_tables(lake, SCHEMA)
        shipper = ship(directory, store, lake, "--set", option)
        compare(lake, store)
        assert shipper.status()["sent_batch_count"] > 15, f"{option}: {shipper.status()}"
        shutil.rmtree(shipper.state)


def test_left_out_stays_here(directory, lake, store):
    out = ["samples", "processes.arguments", "processes.working_directory"]
    ship(directory, store, lake, send={"leave-out": out})
    same("samples in the lake", lake.value("SELECT count() FROM tracer.samples_rows"), "0")
    same("arguments in the lake", lake.value(
        "SELECT count() FROM tracer.processes_rows WHERE notEmpty(arguments) OR notEmpty(working_directory)"), "0")
    assert int(lake.value("SELECT count() FROM tracer.processes_rows")) > 40


def test_what_places_a_row_cannot_be_left_out(directory, lake, store):
    keys = dict(lake.rows("SELECT replace(name, '_rows', ''), sorting_key FROM system.tables WHERE database = 'tracer'"))
    found = {column: entity for entity in ENTITIES for column in re.findall(r"\w+_ns|\bid\b|\w+_id", keys[entity])}
    same("columns", set(found), {"host_id", "id", "process_id", "boot_ns", "unix_ns", "started_unix_ns"})
    for column, entity in found.items():
        config = Shipper.config(directory, {"send": {"leave-out": [f"{entity}.{column}"]}})
        assert "cannot be left out" in run_plain("--config", config, "--lake", lake.url, "--check", code=2).stderr


def test_what_is_left_out_since_does_not_leave(directory, lake, store):
    """A batch that was frozen before the settings excluded the column."""
    with Answers(lambda head: BUSY if "processes_rows" in head else ACCEPTED) as answers, \
            Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
        wait_until("processes are frozen", lambda: any(".processes." in name for name in frozen(shipper)))
        shipper.kill()
    with Answers(ACCEPTED) as answers:
        once(directory, store, url=answers.url, send={"leave-out": ["processes.arguments"]})
        bodies = [body for head, body in answers.requests if "processes_rows" in head]
    text = unpacked(bodies)
    assert text.count(b'"working_directory":') == text.count(b"\n") > 0 and b'"arguments":' not in text, text[:500]


def test_dry_run_prints_what_is_sent(directory, lake, store):
    with Answers(ACCEPTED) as answers:
        printed = run_plain("--config", "/dev/null", "--store", store, "--state", directory, "--lake",
                            answers.url, "--dry-run").stdout
        with open("/dev/full", "w") as full:
            result = subprocess.run([SHIPPER, "--config", "/dev/null", "--store", store, "--state", directory, "--lake",
                                     answers.url, "--dry-run"], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT,
                                    text=True, timeout=60, check=False)
        same("a full disk", (result.returncode, result.stderr.count("\n"), "No space left" in result.stderr),
             (1, 1, True))
        same("requests of a dry run", answers.requests, [])
        once(directory, store, url=answers.url)
        bodies = [unpacked([body]).decode() for _, body in answers.requests]
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    sent = [json.loads(line) for body in bodies for line in body.splitlines()]
    for row in lines + sent:
        row.pop("version")  # contains the time of each run
    same("rows", lines, sent)
    same("POST lines", printed.count("POST http"), len(answers.requests))
    for head, body in answers.requests:
        asked = urllib.parse.parse_qs(head.split()[1])
        same("token", asked["insert_deduplication_token"], [hashlib.sha256(body).hexdigest()])
        for setting, value in (("async_insert", "0"), ("wait_end_of_query", "1"),
                               ("input_format_skip_unknown_fields", "1")):
            same(setting, asked[setting], [value])
    assert all(ord(char) < 128 for char in printed)
    (directory / "cursor").mkdir()  # cannot be read: what would be sent is not known
    result = run_plain("--config", "/dev/null", "--store", store, "--state", directory, "--lake", "http://127.0.0.1:9",
                       "--dry-run", code=1)
    assert result.stdout == "" and "cursor: cannot read" in result.stderr, result.stderr


# ---- the store ----------------------------------------------------------------------------


def test_store_is_created_later(directory, lake, store):
    late = directory / "late.db"
    with shipping(directory, late, lake, send=QUICK) as shipper:
        wait_until("it says so", lambda: "no such file" in shipper.status().get("last_error", ""))
        same("lines of log", shipper.log().count("no such file"), 1)
        copy_store(store, late)
        wait_until("it sends", lambda: shipper.status().get("sent_row_count"))
        shipper.stop()
    compare(lake, late)


def test_store_is_recreated(directory, lake, store):
    """Revisions start again, below those in the lake: the new rows must still replace the old ones."""
    change(store, "UPDATE runs SET rev = rev + 100000", "UPDATE stream SET rev = rev + 100000")
    with shipping(directory, store, lake, send=QUICK) as shipper:
        wait_until("all is sent", lambda: shipper.status().get("shipped_rev", 0) > 100000)
        for suffix in ("", "-wal", "-shm", ".lock"):
            pathlib.Path(f"{store}{suffix}").unlink(missing_ok=True)
        stored(directory)
        # A correlator sets the latter when it creates a store; a recording has its own clock.
        change(store, "UPDATE runs SET name = 'the new one'",
               "UPDATE hosts SET first_seen_unix_ns = first_seen_unix_ns + 1")
        sent = shipper.status()["sent_row_count"]
        wait_until("it is sent again", lambda: shipper.status()["sent_row_count"] == 2 * sent)
        shipper.stop()
        assert "a different store" in shipper.log()
    compare(lake, store)


def test_schema_of_another_release(directory, lake, store):
    change(store, "PRAGMA user_version = 999")
    shipper = once(directory, store, url=lake.url, code=1)
    assert "schema 999" in shipper.log() and shipper.log().count("\n") == 1, shipper.log()


# ---- exactly once ---------------------------------------------------------------------------


def frozen(shipper):
    return [path.name for path in shipper.state.glob("*.ndjson.zst")]


def test_lost_answer_is_one_insert(directory, lake, store):
    """The lake has the batch, but its answer is lost: the same bytes are sent again and recognised."""
    moods = ["deaf", "deaf"]
    with Proxy(lake.http_port, lambda: moods.pop() if moods else "pass") as proxy:
        with shipping(directory, store, lake, url=proxy.url) as shipper:
            wait_until("all has arrived", lambda: shipper.status().get("sent_batch_count") == 6)
            shipper.stop()
        same("lost answers", proxy.counts["deaf"], 2)
    compare(lake, store)
    same("rows beneath FINAL", lake.value("SELECT count() FROM tracer.hosts_rows"), "1")


def test_batch_is_the_same_after_kill(directory, lake, store):
    """Its rows have changed in the store since: the frozen batch is sent unchanged."""
    with Answers(BUSY) as answers:
        with Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("two attempts", lambda: len(answers.requests) >= 2)
            shipper.kill()
            names = frozen(shipper)
        change(store, "UPDATE hosts SET hostname = 'another', rev = 100000", "UPDATE stream SET rev = 100000")
        before = len(answers.requests)
        with Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("one more", lambda: len(answers.requests) > before)
            shipper.kill()
            same("frozen batches", frozen(shipper), names)
        same("bodies", {body for _, body in answers.requests}, {answers.requests[0][1]})
        same("tokens", len({head.splitlines()[0] for head, _ in answers.requests}), 1)
        make_tables(lake, SCHEMA)
        ship(directory, store, lake)
    compare(lake, store)


def test_damaged_batch_is_recreated(directory, lake, store):
    """A crash of the machine may leave a part of the file, and a disk may change it."""
    for harm in (lambda data: data[:-1], lambda data: b"", lambda data: data[:len(data) // 2] + b"\x55" + data[len(data) // 2 + 1:]):
        make_tables(lake, SCHEMA)
        with Answers(BUSY) as answers, \
                Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("an attempt", lambda: answers.requests)
            shipper.kill()
            name = frozen(shipper)[0]
        (shipper.state / name).write_bytes(harm((shipper.state / name).read_bytes()))
        (shipper.state / name.replace(".1.", ".2.")).write_bytes(b"no batch")
        ship(directory, store, lake)
        compare(lake, store)
        same("frozen batches", frozen(shipper), [])
        shutil.rmtree(shipper.state)


def test_batch_after_a_damaged_one_is_recreated(directory, lake, store):
    """Sent alone, it would advance the cursor past rows that never reached the lake."""
    with Answers(BUSY) as answers:
        with Shipper(SHIPPER, directory, store, "--set", "send.rows=1", url=answers.url,
                     send={"leave-out": ["hosts"]}) as shipper: # which has only one row
            wait_until("one under way and one behind it", lambda: len(frozen(shipper)) == 2)
            shipper.kill()
            first, _ = sorted(frozen(shipper))
    (shipper.state / first).write_bytes(b"")
    ship(directory, store, lake)
    compare(lake, store)


def test_cursor_is_lost_or_damaged(directory, lake, store):
    for harm in (lambda path: path.unlink(), lambda path: path.write_text("{}"),
                 lambda path: path.write_bytes(b"\xff" * 30000)):
        ship(directory, store, lake)
        harm(directory / "state/cursor")
        shipper = ship(directory, store, lake)
        compare(lake, store)
    same("warnings", shipper.log().count("damaged"), 2)


class Load(threading.Thread):
    """Writes to a store like a very fast correlator: new rows and changed ones."""

    def __init__(self, store, seconds):
        super().__init__(daemon=True)
        self.store, self.seconds, self.count = store, seconds, 0
        self.failure = None
        self.start()

    def run(self):
        try:
            self.write()
        except Exception as failure:
            self.failure = failure

    def finish(self):
        self.join()
        assert self.failure is None, self.failure
        return self

    def write(self):
        db = sqlite3.connect(self.store, timeout=30, isolation_level=None)
        db.execute("PRAGMA synchronous = NORMAL")
        (rev,) = db.execute("SELECT rev FROM stream").fetchone()
        columns = [column[1] for column in db.execute("PRAGMA table_info(process_rows)")]
        chance = random.Random(7)
        end = time.monotonic() + self.seconds
        ids = [row[0] for row in db.execute("SELECT id FROM process_rows")]
        copied = ", ".join(name for name in columns if name not in ("id", "rev"))
        while time.monotonic() < end:
            db.execute("BEGIN IMMEDIATE")
            for _ in range(200):
                rev += 1
                ids.append(chance.randrange(1, 1 << 62))
                db.execute(f"INSERT INTO process_rows (id, rev, {copied}) SELECT ?, ?, {copied} FROM"
                           " process_rows WHERE id = ?", (ids[-1], rev, chance.choice(ids[:40])))
            for _ in range(100):
                rev += 1
                db.execute("UPDATE process_rows SET rev = ?, cpu_ns = ? WHERE id = ?",
                           (rev, chance.randrange(1 << 40), chance.choice(ids)))
            db.execute("UPDATE runs SET rev = ?, process_count = ?", (rev, len(ids)))
            db.execute("UPDATE stream SET rev = ?", (rev,))
            db.execute("COMMIT")
            self.count = rev
            time.sleep(0.01)
        db.close()


def test_exactly_once_whatever_is_killed(directory, lake, store):
    """Under load: the shipper killed at any moment, ClickHouse killed, uploads cut off, answers
    lost, requests sent twice and out of order."""
    chance = random.Random(11)
    moods = itertools.cycle(["pass", "cut", "deaf", "pass", "twice", "refuse", "pass", "slow"])
    load = Load(store, 12)
    kills = lake_kills = 0
    options = ("--set", "send.rows=500", "--set", "send.interval=1s", "--set", "lake.timeout=5s")
    with Proxy(lake.http_port, lambda: next(moods)) as proxy:
        end = time.monotonic() + 12
        while time.monotonic() < end or not all(map(proxy.counts.get, ("cut", "deaf", "twice", "refuse"))):
            with shipping(directory, store, lake, *options, url=proxy.url) as shipper:
                time.sleep(chance.uniform(0.05, 2))
                shipper.kill()
                kills += 1
            if kills % 5 == 0:
                lake.kill()
                lake_kills += 1
                lake.start()
        load.finish()
        again = proxy.resend()
        proxy.mood = lambda: "pass"
        ship(directory, store, lake)
        counts = dict(proxy.counts)
    rows = compare(lake, store)
    copies = int(lake.value("SELECT count() FROM tracer.processes_rows"))
    print(f"    {rows} rows, {load.count} revisions, shipper killed {kills} times, ClickHouse {lake_kills}; "
          f"{counts}, {again} requests sent again; {copies} rows beneath FINAL")


def test_exactly_once_from_the_probe_on(directory, lake, store):
    """A probe's stream into a correlator and a shipper, both killed at random, over a bad
    connection to the lake: in the end, the lake has the content of the store."""
    chance = random.Random(5)
    story = Story().commands(2000)
    position, kills, most = 0, [0, 0], len(story.events)
    moods = ["pass"] * 3 + ["cut", "deaf"]
    options = ("--set", "send.rows=300", "--set", "send.interval=1s", "--set", "lake.timeout=5s")
    with Proxy(lake.http_port, lambda: chance.choice(moods)) as proxy:
        while position < most:
            correlator = Correlator(CORRELATOR, directory)
            with shipping(directory, correlator.store, lake, *options, url=proxy.url) as shipper:
                begin, position = position, min(most, position + chance.randint(150, 1500))
                peer = connect(correlator.socket, story, begin, position, acknowledged=position == most)
                time.sleep(chance.uniform(0.05, 1.5))
                victims = [(0, correlator), (1, shipper)]
                chance.shuffle(victims)
                for index, victim in victims:
                    victim.kill()
                    kills[index] += 1
                peer.close()
        proxy.mood = lambda: "pass"
        ship(directory, correlator.store, lake)
    rows = compare(lake, correlator.store)
    print(f"    {rows} rows of {most} events; correlator and shipper killed {kills} times; {proxy.counts}")
    assert rows > 2000, rows


STORE_MAX_BYTES = 2 << 20


def used_bytes(store):
    """Size of a store without its free pages."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def rows_of(store):
    """Keys of all rows, except losses."""
    return {(entity, *key) for entity in ENTITIES if entity != "losses" for key in store_rows(store, entity)}


def rows_in(lake, store):
    return {(entity, *key) for entity in ENTITIES if entity != "losses"
            for key in lake_rows(lake, entity, store_columns(store, entity))}


def test_outage_of_days_ends_in_a_counted_cap(directory, lake, store):
    """The shipper is cut off and the store grows to its limit: the oldest rows are deleted, and the
    unsent ones among them are counted, in the store and, once connected again, in the lake, which
    has all other rows, including those in a frozen batch."""
    story = Story().commands(3000)
    sent = len(story.events) // 8
    status = directory / "state"
    correlator = Correlator(CORRELATOR, directory, "--shipper", status)
    try:
        with Proxy(lake.http_port) as proxy, shipping(
                directory, correlator.store, lake, url=proxy.url, send=QUICK) as shipper:
            connect(correlator.socket, story, 0, sent, acknowledged=True).close()
            first_rev = max(row["rev"] for row in store_rows(correlator.store, "processes").values())
            wait_until("what was before has arrived", lambda: shipper.status().get("shipped_rev", 0) >= first_rev)
            arrived_first = rows_in(lake, correlator.store)
            proxy.cut_off()
            connect(correlator.socket, story, sent, acknowledged=True).close()
            before = rows_of(correlator.store)
            assert used_bytes(correlator.store) > STORE_MAX_BYTES, used_bytes(correlator.store)
            correlator.kill()
            correlator = Correlator(CORRELATOR, directory, "--shipper", status, "--store-max", str(STORE_MAX_BYTES))
            least = STORE_MAX_BYTES * 15 // 16  # a sixteenth is freed, in several steps
            wait_until("room is made", lambda: used_bytes(correlator.store) <= least, 90)
            found, (line, *_) = tracer_status(correlator.store, "unsent")
            lost, = (loss["lost_count"] for loss in found["losses"] if loss["kind"] == "unsent")
            gone = before - rows_of(correlator.store)
            assert "rows deleted before they were sent" in line and "--store-max" in line and "--ring-size" not in line, line
            proxy.mood = lambda: "pass"
            wait_until("the rest arrives", lambda: all_arrived(shipper.status()), 90)
            shipper.stop()
        arrived = rows_in(lake, correlator.store)
        left = rows_of(correlator.store)
        never = before - arrived
        frozen_before = gone & arrived - arrived_first
        print(f"    {len(before)} rows, {len(gone)} deleted for space, {len(never)} of them never sent")
        assert 0 < len(never) < len(gone), "some that were deleted had been sent, some had not"
        same("rows that the lake had not taken, as counted", lost, len(never) + len(frozen_before))
        same("what is in the store and not in the lake", left - arrived, set())
        same("what is neither counted nor in the lake", never - gone, set())
        same("the count in the lake", lake.rows("SELECT kind, lost_count FROM tracer.losses_rows FINAL"),
             [["unsent", str(lost)]])
    finally:
        correlator.kill()


# ---- not a lake -----------------------------------------------------------------------------


def reported(directory, store, url, words, *options, **more):
    """The shipper reports these words once, sends nothing further, and keeps its batch."""
    with Shipper(SHIPPER, directory, store, *options, url=url, **more) as shipper:
        wait_until(f"it says {words}", lambda: words in shipper.log() and words in shipper.status().get("last_error", ""))
        shipper.kill()
        lines = [line for line in shipper.log().splitlines() if words in line]
        same(f"lines with {words}: {shipper.log()}", len(lines), 1)
        same("revisions that have arrived", shipper.status()["shipped_rev"], 0)
        same("frozen batches", len(frozen(shipper)), 1)
        shipper.log_path.unlink()
        return shipper


PAGE, HTML = b"<!DOCTYPE html><html><body>Please log in</body></html>", "Content-Type: text/html"
# Answers of what is not a lake, and what is reported. tests/check_shipper_parts.c has every kind of answer.
NO_LAKES = [
    *((http(status, PAGE, HTML), "returned a web page") for status in (
        "200 OK", "403 Forbidden", "511 Network Authentication Required")),
    (lambda _: itertools.chain([f"HTTP/1.1 200 OK\r\n{HTML}\r\n\r\n".encode()], itertools.repeat(PAGE * 1000)),
     "returned a web page (status 200)"),
    (http("200 OK"), "not from ClickHouse"),
    (b"HTTP/1.1 200 OK\r\nX-ClickHouse-Summary: {}\r\nTransfer-Encoding: chunked\r\n\r\n", "the connection was interrupted"),
    (http("200 OK", b"Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)",
          "X-ClickHouse-Summary: {}"), "cannot accept it now: Code: 241"),
]


def test_what_is_no_lake(directory, lake, store):
    for answer, words in NO_LAKES:
        with Answers(answer) as answers:
            reported(directory, store, answers.url, words)


def test_an_answer_that_drips(directory, lake, store):
    """Never silent for as long as lake.timeout."""
    def drip(head):
        yield b"HTTP/1.1 200 OK\r\nX-ClickHouse-Summary: {}\r\n\r\n"
        while not over.wait(0.2):
            yield b" "

    over = threading.Event()
    with Answers(drip) as answers:
        reported(directory, store, answers.url, "timed out", "--set", "lake.timeout=1s")
        over.set()


def test_redirect_is_not_followed(directory, lake, store):
    with Answers(ACCEPTED) as other, Answers(http(
            "307 Temporary Redirect", b"", f"Location: {other.url}/?token=secret")) as answers:
        shipper = reported(directory, store, answers.url, f"redirects to {other.url}, which is not followed")
        same("requests to the other host", other.requests, [])
        assert "token" not in shipper.status()["last_error"]


def test_it_tries_again_and_again(directory, lake, store):
    """Reported once, however often it fails; the pending batch arrives once the lake is back."""
    failures = [BUSY] * 4
    with Answers(lambda head: failures.pop() if failures else ACCEPTED) as answers:
        with Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("all is sent", lambda: shipper.status().get("sent_batch_count") == 6)
            shipper.stop()
        same("requests", len(answers.requests), 4 + 6)
        same("bodies of the first", len({body for _, body in answers.requests[:5]}), 1)
    same(f"failures reported: {shipper.log()}", shipper.log().count("status 503"), 1)
    same("recoveries reported", shipper.log().count("delivery resumed"), 1)


def test_a_kept_connection_that_died(directory, lake, store):
    """Not a failure: the request is repeated from its beginning."""
    with Answers(lambda head: b"" if len(answers.requests) == 2 else ACCEPTED) as answers:
        log = once(directory, store, url=answers.url).log()
        same("requests", len(answers.requests), 6 + 1)
        same(f"recoveries reported: {log}", log.count("delivery resumed"), 0)
        same("what was sent again", answers.requests[2][1], answers.requests[1][1])


def test_too_many_requests(directory, lake, store):
    moments = []

    def answer(head):
        moments.append(time.monotonic())
        return http("429 Too Many Requests", b"", "Retry-After: 2") if len(moments) == 1 else ACCEPTED

    with Answers(answer) as answers, Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
        wait_until("a second request", lambda: len(moments) > 1)
        shipper.kill()
    assert 2 <= moments[1] - moments[0] < 30, moments


def test_lakes_out_of_reach(directory, lake, store):
    wrong, readable = secret(directory / "wrong", "hunter2-is-wrong\n"), secret(directory / "readable", "hunter2\n", 0o644)
    for url, password, words in (
            ("http://127.0.0.1:9", wrong, "cannot connect: check that the lake is running"),
            ("https://no-such-name.invalid:8443", wrong, "cannot resolve the host name"),
            (lake.url, wrong, "the lake rejected user shipper"),
            (lake.url, readable, "others can read it (mode 0644): run chmod 600")):
        shipper = reported(directory, store, url, words, lake={"user": "shipper", "password-file": password})
        assert "hunter2" not in json.dumps(shipper.status())


def test_no_table_and_no_right(directory, lake, store):
    lake.query("DROP DATABASE IF EXISTS tracer")
    reported(directory, store, lake.url, "create it with tracer lake init", lake=settings_for(lake))
    make_tables(lake, SCHEMA)
    reported(directory, store, lake.url, "may not insert into",
             lake={"user": "analyst", "password-file": str(lake.secret("analyst"))})
    ship(directory, store, lake)
    compare(lake, store)


def test_lake_hangs(directory, lake, store):
    lake.pause()
    try:
        reported(directory, store, lake.url, "timed out", "--set", "lake.timeout=1s",
                 lake=settings_for(lake))
    finally:
        lake.resume()
    ship(directory, store, lake)
    compare(lake, store)


def test_refused_content_is_quarantined(directory, lake, store):
    """Other entities continue; once fixed, the batch is sent from quarantine."""
    lake.query("ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(Int64)")
    shipper = ship(directory, store, lake, code=1)
    quarantine = directory / "state/quarantine"
    batches = list(quarantine.glob("*.tools.*.ndjson.zst"))
    same("batches quarantined", len(batches), 1)
    assert "Code:" in (quarantine / f"{batches[0].name}.reason").read_text()
    status = shipper.status()
    same("rows quarantined", status["quarantined_row_count"], len(store_rows(store, "tools")))
    assert "rejected rows of tools" in status["last_error"], status
    figures, text = shipper_status(directory, store)
    same("rows quarantined, by tracer status", figures["quarantined_row_count"], status["quarantined_row_count"])
    assert f"{status['quarantined_row_count']} rows quarantined" in text and "tracer ship --from" in text, text
    fixed = "ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(String)"
    lake.query(fixed)
    run_plain("--config", shipper.config(directory, {"lake": settings_for(lake)}), "--lake", lake.url,
              "--from", quarantine, "--remove")
    same("left in quarantine", list(quarantine.iterdir()), [])
    compare(lake, store)


def test_quarantine_is_bounded(directory, lake, store):
    lake.query("ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(Int64)")
    status = ship(directory, store, lake, "--set", "send.quarantine=0", code=1).status()
    same("rows dropped", status["quarantine_dropped_row_count"], len(store_rows(store, "tools")))
    same("left in quarantine", [path.name for path in (directory / "state/quarantine").iterdir()], [])


# ---- a full disk ----------------------------------------------------------------------------


@contextlib.contextmanager
def small_state(directory):
    """A state directory of 256 KiB; yields a file that can fill it."""
    if os.geteuid() != 0:
        raise Skip("needs root, to mount a small disk")
    state = directory / "state"
    state.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0755", "none", state], check=True)
    try:
        yield state / "filler"
    finally:
        subprocess.run(["umount", "--lazy", state], check=True)


def wait_attempt(shipper):
    before = wait_until("a status", lambda: shipper.status().get("updated_unix_ns"))
    wait_until("one more attempt", lambda: shipper.status().get("updated_unix_ns", 0) > before)


def last_error(shipper):
    return shipper.status().get("last_error", "")


def test_full_disk_waits_and_continues(directory, lake, store):
    """No space for the cursor, then space for it and a little more, then enough; reported once each
    time, and in the status."""
    late, words = directory / "late.db", "cannot save the cursor: No space left"
    with small_state(directory) as filler, shipping(directory, late, lake, send=QUICK) as shipper:
        wait_until("it waits for the store", lambda: "no such file" in last_error(shipper))
        fill(filler)
        copy_store(store, late)
        wait_until(f"it says {words}", lambda: words in last_error(shipper))
        wait_attempt(shipper)
        same(f"lines about it: {shipper.log()}", shipper.log().count(words), 1)
        status = wait_until("a status", shipper.status)
        same("rows sent", status["sent_row_count"], 0)
        assert status["failing_since_unix_ns"] > 0
        rooms = (0, 4096, 16384)
        for left in rooms[1:]:
            fill(filler)
            os.truncate(filler, max(0, filler.stat().st_size - left))
            wait_attempt(shipper)
        # A different write may be the first to fail in each of them.
        most = len(rooms) + shipper.log().count("delivery resumed")
        assert shipper.log().count("No space left") <= most, shipper.log()
        filler.unlink()
        wait_until("it sends", lambda: (status := shipper.status()) and all_arrived(status))
        same("what is left of attempts", [path.name for path in shipper.state.glob(".*")], [])
        shipper.stop()
    compare(lake, late)


def test_full_disk_when_the_answer_arrives(directory, lake, store):
    """A batch that the lake has accepted but that cannot be recorded is not sent repeatedly; --once ends."""
    full = threading.Event()

    def answer(head):
        full.wait(60)
        return ACCEPTED

    for options in ((), ("--once",)):
        with small_state(directory) as filler, Answers(answer) as answers, Shipper(
                SHIPPER, directory, store, *options, url=answers.url, send=QUICK) as shipper:
            wait_until("a request", lambda: answers.requests)
            fill(filler)
            full.set()
            wait_until("it says so", lambda: "cannot save the cursor" in shipper.log())
            if options:
                shipper.wait(1)
            else:
                time.sleep(3)  # some more attempts
                same(f"lines about it: {shipper.log()}", shipper.log().count("cannot save the cursor"), 1)
                same("recoveries reported", shipper.log().count("delivery resumed"), 0)
            same("requests", len(answers.requests), 1)
            if not options:
                filler.unlink()
                wait_until("it goes on", lambda: "delivery resumed" in shipper.log())
                wait_until("all is sent", lambda: (status := shipper.status()) and all_arrived(status))
                same("recoveries reported", shipper.log().count("delivery resumed"), 1)
                same("requests", len(answers.requests), shipper.status()["sent_batch_count"])
                shipper.stop()
            full.clear()
            shipper.log_path.unlink()


def test_full_disk_quarantines_nothing(directory, lake, store):
    """A batch refused by the lake is kept until there is space to quarantine it."""
    lake.query("ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(Int64)")
    with small_state(directory) as filler, shipping(directory, store, lake, send=QUICK) as shipper:
        wait_until("it is refused", lambda: "rejected rows of tools" in shipper.log(), 30)
        fill(filler)
        wait_until("it says so", lambda: "cannot quarantine a batch" in last_error(shipper), 60)
        same("rows quarantined", wait_until("a status", shipper.status)["quarantined_row_count"], 0)
        filler.unlink()
        quarantined = wait_until("it is quarantined", lambda: shipper.status().get("quarantined_row_count"), 60)
        same("rows quarantined", quarantined, len(store_rows(store, "tools")))
        wait_until("the others arrive", lambda: (status := shipper.status()) and all_arrived(status))
        shipper.stop()
    same("processes", lake.value("SELECT count() FROM tracer.processes_rows FINAL"), str(len(store_rows(store, "processes"))))


# ---- TLS ---------------------------------------------------------------------------------


def trusting(lake, ca, **more):
    return settings_for(lake, **{"ca-file": str(ca)}, **more)


def test_tls_is_verified(directory, lake, store):
    Authority(directory, "other")
    with tls(directory, lake) as (url, ca, _):
        elsewhere = url.replace("127.0.0.1", "localhost")
        for where, settings, words in ((url, settings_for(lake), "certificate is not trusted"),
                                       (url, trusting(lake, directory / "other.pem"), "certificate is not trusted"),
                                       (elsewhere, trusting(lake, ca), "certificate is not trusted"),
                                       (url, trusting(lake, "/etc/hostname"), "cannot be used")):
            reported(directory, store, where, words, lake=settings)
        once(directory, store, url=url, lake=trusting(lake, ca))
    compare(lake, store)


def test_tls_and_the_clock(directory, lake, store):
    for valid, words in ((("20200101000000Z", "20200201000000Z"), "the certificate has expired: renew it on the server"),
                         (("20400101000000Z", "20400201000000Z"), "check this host's clock")):
        with tls(directory, lake, valid=valid) as (url, ca, _):
            reported(directory, store, url, words, lake=trusting(lake, ca))


def test_client_certificate(directory, lake, store):
    more = f"ssl_client_certificate {directory}/authority.pem; ssl_verify_client on;"
    with tls(directory, lake, more) as (url, ca, authority):
        certificate, key = authority.issue("client", "host.example.org")
        reported(directory, store, url, "returned a web page", lake=trusting(lake, ca))  # nginx's own error page, 400
        once(directory, store, url=url,
             lake=trusting(lake, ca, **{"certificate-file": str(certificate), "key-file": str(key)}))
    compare(lake, store)


def test_clear_text_stays_here(directory, lake, store):
    for url in ("http://lake.example.org:8123", "http://127.0.0.1.example.org", "http://[::2]:8123"):
        result = run_plain("--config", "/dev/null", "--lake", url, "--check", code=2)
        assert "clear text" in result.stderr and result.stderr.count("\n") == 1, result.stderr
    run_plain("--config", "/dev/null", "--lake", "http://lake.example.org:8123", "--insecure-http", "--check")


def test_batches_fit_through_a_proxy(directory, lake, store):
    """Batches that nginx refuses with 413 are split until they pass; a single row that is too large
    is quarantined and counted, and everything behind it arrives."""
    with tls(directory, lake, "client_max_body_size 2k;") as (url, ca, _):
        shipper = once(directory, store, url=url, lake=trusting(lake, ca))
        compare(lake, store)
        status = shipper.status()
        assert status["sent_batch_count"] > len(ENTITIES), status
        same("rows quarantined", status["quarantined_row_count"], 0)
        assert "a proxy in front of the lake rejects requests of this size" in shipper.log(), shipper.log()
        assert carry(directory, lake, store, url) == (0, [], 0)

        with contextlib.closing(sqlite3.connect(store)) as db, db:  # one more row among the others, which is too large
            large, = db.execute("SELECT id FROM process_rows ORDER BY rev LIMIT 1 OFFSET 40").fetchone()
            db.execute("UPDATE process_rows SET arguments = ? WHERE id = ?",
                       (os.urandom(9000).hex().encode() + b"\0", large))
        same("in files", carry(directory, lake, store, url), (1, ["processes"], 1))
        make_tables(lake, SCHEMA)
        shutil.rmtree(shipper.state)
        shipper = once(directory, store, url=url, lake=trusting(lake, ca), code=1)
    status = shipper.status()
    same("rows quarantined", status["quarantined_row_count"], 1)
    missing = {(entity, *key[1:]) for entity in ENTITIES for key in store_rows(store, entity).keys()
               - lake_rows(lake, entity, store_columns(store, entity)).keys()}
    same("rows that did not arrive", missing, {("processes", large)})
    quarantine, = (shipper.state / "quarantine").glob("*.zst")
    assert quarantine.name.endswith(".1.ndjson.zst"), quarantine.name


def test_a_lake_without_memory_gets_smaller_batches(directory, lake, store):
    add_processes(store, 2000)
    limit = lake.directory / "users.d/zz.xml"
    limit.write_text("<clickhouse><profiles><tracer_shipper><max_memory_usage>100000000</max_memory_usage>"
                     "</tracer_shipper></profiles></clickhouse>")
    lake.stop()
    lake.start()
    try:
        shipper = ship(directory, store, lake)
        assert "Code: 241" in shipper.log() and "smaller batches" in shipper.log(), shipper.log()
        compare(lake, store)
        same("in files", carry(directory, lake, store, lake.url), (0, [], 0))
    finally:
        limit.unlink()
        lake.stop()
        lake.start()


def add_processes(store, count):
    """With arguments of 8 KB each."""
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        columns = ", ".join(name for _, name, *_ in db.execute("PRAGMA table_info(process_rows)") if name not in ("id", "rev"))
        db.execute(f"INSERT INTO process_rows (id, rev, {columns}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                   f" FROM n WHERE i < {count}) SELECT i, (SELECT rev FROM stream) + i, {columns} FROM n, (SELECT * FROM"
                   " process_rows LIMIT 1)")
        db.execute("UPDATE process_rows SET arguments = ? WHERE id <= ?", (b"x" * 8000 + b"\0", count))
        db.execute("UPDATE stream SET rev = rev + ?", (count,))


def carry(directory, lake, store, url):
    """Sends a store as files. Returns the exit status, the entities of the files left, and the number of rows missing."""
    place, outbox = directory / "carried", directory / "carried/outbox"
    outbox.mkdir(parents=True)
    once(place, store, "--directory", outbox)
    make_tables(lake, SCHEMA)
    settings = trusting(lake, directory / "authority.pem") if url.startswith("https") else settings_for(lake)
    config = Shipper.config(directory, {"lake": settings})
    result = subprocess.run([SHIPPER, "--config", config, "--lake", url, "--from", outbox, "--remove"], text=True,
                            capture_output=True, env=ENVIRONMENT, check=False, timeout=120)
    missing = sum(len(store_rows(store, entity).keys() - lake_rows(lake, entity, store_columns(store, entity)).keys())
                  for entity in ENTITIES)
    assert missing == 1 or f", {missing} refused" in result.stderr, result.stderr
    left = [path.name.split(".")[1] for path in outbox.glob("*.zst")]
    shutil.rmtree(place)
    return result.returncode, left, missing


def test_proxy_of_the_settings_alone(directory, lake, store):
    """With its password from a file; proxy variables in the environment are ignored."""
    password = secret(directory / "proxy-password", "hunter2\n")
    with Answers(ACCEPTED) as proxy, Answers(http("502 Bad Gateway")) as other:
        with in_environment(http_proxy=other.url, ALL_PROXY=other.url, no_proxy="127.0.0.1"):
            once(directory, store, url="http://127.0.0.1:9", lake={
                    "proxy": proxy.url, "proxy-user": "us", "proxy-password-file": password})
            forget(directory)
            once(directory, store, url=proxy.url)
        same("requests through the environment's proxy", other.requests, [])
        heads = [head for head, _ in proxy.requests]
    assert heads[0].startswith("POST http://127.0.0.1:9/?query="), heads[0]
    assert "Proxy-Authorization: Basic " in heads[0], heads[0]
    assert heads[-1].startswith("POST /?query=") and "Proxy-Authorization" not in heads[-1], heads[-1]


# ---- secrets -----------------------------------------------------------------------------


def test_secret_is_nowhere(directory, lake, store):
    password, token = secret(directory / "password", "hunter2-secret"), secret(directory / "token", "hunter2-token")
    for lake_settings, header in (({"user": "u", "password-file": password}, "Authorization: Basic "),
                                  ({"token-file": token}, "Authorization: Bearer hunter2-token")):
        with Answers(BUSY) as answers:
            with Shipper(SHIPPER, directory, store, "--log-level", "debug", url=answers.url,
                         lake=lake_settings) as shipper:
                wait_until("a request", lambda: answers.requests)
                seen = pathlib.Path(f"/proc/{shipper.process.pid}/cmdline").read_bytes()
                wait_until("a failure", lambda: "status 503" in shipper.log())
                shipper.kill()
                seen += shipper.log().encode() + json.dumps(shipper.status()).encode()
                shipper.log_path.unlink()
            assert header in answers.requests[0][0], answers.requests[0][0]
            assert "hunter2-secret" not in answers.requests[0][0].splitlines()[0]
        assert b"hunter2-" not in seen, seen


def test_passwords_of_the_user_stay_here(directory, lake, store):
    """Credentials that other programs keep in ~/.netrc are not sent to the lake."""
    secret(directory / ".netrc", "default login somebody password hunter2\n")
    with Answers(ACCEPTED) as answers, in_environment(HOME=str(directory)):
        once(directory, store, url=answers.url)
    same("requests with a password", [head for head, _ in answers.requests if "Authorization" in head], [])


def test_credential_of_systemd(directory, lake, store):
    credentials = directory / "credentials"
    credentials.mkdir()
    (credentials / "lake-password").write_text(lake.passwords["shipper"])
    with in_environment(CREDENTIALS_DIRECTORY=str(credentials)):
        once(directory, store, url=lake.url, lake={"user": "shipper", "password-file": "lake-password"})
    compare(lake, store)


# ---- files --------------------------------------------------------------------------------


def test_files_are_carried_to_the_lake(directory, lake, store):
    outbox = directory / "outbox"
    outbox.mkdir()
    once(directory, store, "--directory", outbox)
    files = sorted(path.name for path in outbox.iterdir())
    same("files", len(files), 6)
    text = subprocess.run(["zstdcat", *outbox.iterdir()], capture_output=True, check=True).stdout
    assert all(json.loads(line)["host_id"] for line in text.splitlines())
    config = Shipper.config(directory, {"lake": settings_for(lake)})
    for attempt in range(2):  # sending a file twice is harmless
        result = subprocess.run([TRACER, "ship", "--from", outbox, "--config", config, "--lake", lake.url],
                                capture_output=True, text=True, env=ENVIRONMENT, check=False)
        same(f"exit status: {result.stderr}", result.returncode, 0)
        compare(lake, store)
        same("files left", sorted(path.name for path in outbox.iterdir()), files)
    terminal = OnTerminal([TRACER, "ship", "--from", outbox, "--config", config, "--lake", lake.url])
    same("exit status on a terminal", terminal.finish(), (0, b""))
    assert terminal.said.startswith(b"\r\x1b[Ksending: 0 of 6 files\r"), terminal.said
    assert re.search(rb"\r\x1b\[Ktracer-shipper: \d+ rows of 6 files sent, 0 refused\r\n$", terminal.said), terminal.said
    (outbox / files[0]).write_bytes(b"no batch")
    result = run_plain("--config", config, "--lake", lake.url, "--from", outbox, "--remove", code=1)
    assert "damaged or truncated" in result.stderr and " of 5 files sent" in result.stderr, result.stderr
    same("files left", [path.name for path in outbox.iterdir()], files[:1])


def test_stopped_in_the_middle(directory, lake, store):
    """What was sent in parts stays as it was, and no scratch directory is left."""
    outbox, scratch = directory / "outbox", directory / "scratch"
    outbox.mkdir()
    scratch.mkdir()
    once(directory, store, "--directory", outbox)
    files = sorted(outbox.iterdir())
    for number in signal.SIGINT, signal.SIGTERM:
        kinds = itertools.chain([ACCEPTED, TOO_LARGE], itertools.repeat(BUSY))  # one host; then parts of its processes
        with Answers(lambda head: next(kinds)) as answers, in_environment(TMPDIR=str(scratch)):
            process = subprocess.Popen([SHIPPER, "--config", "/dev/null", "--lake", answers.url, "--from", outbox],
                                       env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
            wait_until("a part", lambda: len(answers.requests) > 2)
            same("scratch directories", len(list(scratch.iterdir())), 1)
            process.send_signal(number)
            said = process.communicate(timeout=20)[1]
        same(f"exit status: {said}", process.returncode, 1)
        assert f"stopped by {number.name}" in said, said
        same("left", (sorted(outbox.iterdir()), list(scratch.iterdir())), (files, []))


def test_full_outbox_waits(directory, lake, store):
    outbox = directory / "outbox"
    outbox.mkdir()
    (outbox / "big").write_bytes(bytes(1 << 20))
    options = ("--directory", outbox, "--set", "ndjson.size=1M")
    reported(directory, store, None, "collect and remove files", *options)
    (outbox / "big").unlink()
    once(directory, store, *options)
    same("files", len(list(outbox.iterdir())), 6)


# ---- cloud --------------------------------------------------------------------------------

CLOUDS = {
    "aws": ({"latest/meta-data/instance-id": "i-0abc", "latest/meta-data/instance-type": "m5.large",
             "latest/meta-data/placement/region": "eu-west-1",
             "latest/meta-data/placement/availability-zone": "eu-west-1b",
             "latest/meta-data/instance-life-cycle": "spot"},
            "x-aws-ec2-metadata-token: TOKEN==", ["aws", "i-0abc", "m5.large", "eu-west-1", "eu-west-1b", "spot"]),
    "gcp": ({"computeMetadata/v1/instance/id": "4711", "computeMetadata/v1/instance/machine-type":
             "projects/1/machineTypes/e2-small", "computeMetadata/v1/instance/zone":
             "projects/1/zones/europe-west1-b", "computeMetadata/v1/instance/scheduling/provisioning-model":
             "STANDARD"},
            "metadata-flavor: google", ["gcp", "4711", "e2-small", "europe-west1", "europe-west1-b", "on-demand"]),
    "azure": ({f"metadata/instance/compute/{name}?api-version=2021-02-01&format=text": value for name, value in
               {"vmId": "02aab8a4-74ef", "vmSize": "Standard_D2", "location": "westeurope", "zone": "",
                "priority": "Spot"}.items()},
              "metadata: true", ["azure", "02aab8a4-74ef", "Standard_D2", "westeurope", None, "spot"]),
}


def metadata_service(facts, header):
    """Imitates a provider's metadata service, as documented by the provider."""

    def answer(head):
        method, path, _ = head.split(" ", 2)
        if method == "PUT":
            ours = path == "/latest/api/token" and "token-ttl-seconds: 60" in head and "aws-ec2" in header
            return http("200 OK", b"TOKEN==") if ours else http("404 Not Found")
        if path[1:] not in facts:
            return http("404 Not Found")
        if header.lower() not in head.lower():
            return http("401 Unauthorized")
        return http("200 OK", facts[path[1:]].encode())

    return answer


def test_cloud_identity(directory, lake, store):
    for provider, (facts, header, expected) in CLOUDS.items():
        for asked in (provider, "auto"):
            make_tables(lake, SCHEMA)
            (directory / "state/cursor").unlink(missing_ok=True)
            with Answers(metadata_service(facts, header)) as service:
                ship(directory, store, lake, "--set", f"cloud-endpoint={service.url}", cloud=asked)
                printed = run_plain("--config", directory / "shipper.yaml", "--store", store, "--state", directory, "--lake",
                                    lake.url, "--set", f"cloud-endpoint={service.url}", "--dry-run").stdout
            assert f'"cloud_instance_id":"{expected[1]}"' in printed, printed[:500]
            found = lake.rows("SELECT " + ", ".join(f"cloud_{name}" for name in (
                "provider", "instance_id", "instance_type", "region", "zone", "lifecycle"))
                + " FROM tracer.hosts_rows FINAL")
            same(f"{provider}, asked for {asked}", found, [[word or r"\N" for word in expected]])


def test_cloud_that_is_none_or_hangs(directory, lake, store):
    """Not queried unless configured; the time is limited; an invalid identity stays unknown."""
    with Answers(http("200 OK", b"<html>log in</html>")) as service:
        ship(directory, store, lake, "--set", f"cloud-endpoint={service.url}")
        same("questions unasked for", service.requests, [])
        forget(directory)
        ship(directory, store, lake, "--set", f"cloud-endpoint={service.url}", cloud="auto")
    compare(lake, store)
    forget(directory)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        begin = time.monotonic()
        ship(directory, store, lake, "--set", f"cloud-endpoint=http://127.0.0.1:{deaf.getsockname()[1]}",
             cloud="auto")
        assert time.monotonic() - begin < 40
    compare(lake, store)


# ---- daily operation ------------------------------------------------------------------------


def test_status_shows_how_far_it_is(directory, lake, store):
    figures, text = shipper_status(directory, store)
    assert figures is None and "not in use" in text, text
    reported(directory, store, "http://127.0.0.1:9", "cannot connect")
    figures, text = shipper_status(directory, store)
    assert "changes waiting, none ever delivered" in text and "check that the lake is running" in text, text
    assert figures["lag_revs"] > 100 and figures["failing_since_unix_ns"] > 0, figures
    ship(directory, store, lake)
    figures, text = shipper_status(directory, store)
    same("lag", (figures["lag_revs"], figures["lag_ns"], figures["failing_since_unix_ns"]), (0, 0, 0))
    assert "up to date; last success 20" in text, text
    change(store, "UPDATE stream SET rev = rev + 1000")
    figures, text = shipper_status(directory, store)  # the shipper has stopped: computed from the store itself
    same("lag", figures["lag_revs"], 1000)
    # Whether a shipper runs is determined for the whole host, where another test may run one.
    assert "1,000 changes waiting" in text, text


def test_last_round_at_the_end(directory, lake, store):
    """SIGTERM: what the correlator has just committed is sent before the shipper exits."""
    with shipping(directory, store, lake) as shipper:
        wait_until("the first round", lambda: shipper.status().get("sent_batch_count") == 6)
        Load(store, 0.5).finish()
        shipper.stop()
    compare(lake, store)


def test_many_rows_do_not_wait(directory, lake, store):
    """A full batch is sent immediately, whatever the interval."""
    with shipping(directory, store, lake, "--set", "send.rows=50", send={"interval": "1h"}) as shipper:
        wait_until("the first round", lambda: shipper.status().get("last_success_unix_ns")
                   and all_arrived(shipper.status()))
        load = Load(store, 0.2).finish()
        wait_until("they are sent", lambda: shipper.status()["shipped_rev"] >= load.count, 30)
        shipper.stop()
    compare(lake, store)


def test_rounds_are_jittered(directory, lake, store):
    """Hosts started together do not send together."""
    moments = []

    def next_round():
        moment = shipper.status().get("last_success_unix_ns", 0)
        return moment > (moments[-1] if moments else 0) and moment

    with Answers(ACCEPTED) as answers, \
            Shipper(SHIPPER, directory, store, url=answers.url, send=QUICK) as shipper:
        wait_until("all is sent", lambda: shipper.status().get("sent_batch_count") == 6)
        for _ in range(8):
            moments.append(wait_until("a round", next_round))
        shipper.kill()
    waits_ms = [(end - begin) // 10**6 for begin, end in itertools.pairwise(moments[1:])]
    assert max(waits_ms) - min(waits_ms) > 20, waits_ms
    assert 800 <= min(waits_ms), waits_ms  # 900, minus the delay on a busy machine before the timer was set


def test_errors_in_settings_are_reported(directory, lake, store):
    path = directory / "shipper.yaml"
    path.write_text("sink: kafka\n")
    assert run_plain("--config", path, code=2).stderr.endswith("unknown sink kafka: expected clickhouse, ndjson or otlp\n")
    path.write_text("lake:\n  # url: https://lake\nsend:\n")  # sections of which every line is commented out
    run_plain("--config", path, "--lake", "https://lake", "--check")
    run_plain("--config", directory / "missing.yaml", code=2)
    run_plain("--nonsense", code=2)
    run_plain("--config", "/dev/null", "--lake", "https://lake", "--check")
    result = run_plain("--config", "/dev/null", "--lake", "https://lake", "--state", directory / "no", "--once", code=1)
    assert "it must exist" in result.stderr, result.stderr


def test_memory_is_flat(directory, lake, store):
    """150,000 rows, with an outage halfway."""
    load = Load(store, 8)
    with Proxy(lake.http_port) as proxy, \
            shipping(directory, store, lake, "--set", "send.interval=1s", url=proxy.url) as shipper:
        time.sleep(3)
        proxy.cut_off()
        load.finish()
        wait_until("it has noticed", lambda: shipper.status().get("failing_since_unix_ns"))
        proxy.mood = lambda: "pass"
        wait_until("all has arrived", lambda: shipper.status()["shipped_rev"] >= load.count, 90)
        peak = int(shipper.status_field("VmHWM").split()[0])
        shipper.stop()
    rows = compare(lake, store)
    print(f"    {rows} rows; at most {peak} KiB resident")
    assert peak < 16 * 1024, f"{peak} KiB"


def opened(pid):
    """(path, mode) of each file that a process has open."""
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            flags = (path.parent.parent / "fdinfo" / path.name).read_text().split()[3]
            yield os.readlink(path), int(flags, 8) & os.O_ACCMODE


def test_what_it_has_given_up(directory, lake, store):
    """Observed from outside: no capabilities, no_new_privs, a filter, a store open for reading only."""
    outbox = directory / "outbox"
    outbox.mkdir()
    once(directory, store, "--directory", outbox)
    forget(directory)
    for options in ((), ("--from", outbox)):
        with Answers(BUSY) as answers, \
                Shipper(SHIPPER, directory, store, *options, url=answers.url, wait=not options) as shipper:
            wait_until("a request", lambda: answers.requests)
            fields = {name: shipper.status_field(name) for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")}
            modes = {path: mode for path, mode in opened(shipper.process.pid) if path.startswith(str(store))}
            shipper.kill()
        same("how the store is open", (str(store) in modes, set(modes.values())), (not options, set() if options else {os.O_RDONLY}))
        wanted = {0, 1 << 1} if os.geteuid() == 0 else {0}
        assert int(fields["CapEff"], 16) in wanted, fields["CapEff"]
        if os.geteuid() == 0:
            same("bounding set", int(fields["CapBnd"], 16), 0)
        same("no new privileges, seccomp", (fields["NoNewPrivs"], fields["Seccomp"]), ("1", "2"))


def test_what_it_is_confined_to(directory, lake, store):
    """Stores given by a symbolic link or a bare name, and root without CAP_DAC_OVERRIDE."""
    place = directory / "elsewhere"
    place.mkdir()
    link = place / "link.db"
    link.symlink_to(store)
    libc = ctypes.CDLL(None, use_errno=True)
    options = ("--config", "/dev/null", "--state", directory / "state", "--once")
    (directory / "state").mkdir()
    with Answers(ACCEPTED) as answers:
        run_plain(*options, "--lake", answers.url, "--store", link)
        result = subprocess.run(
            [SHIPPER, *options, "--lake", answers.url, "--store", store.name], cwd=directory, env=ENVIRONMENT,
            preexec_fn=lambda: libc.prctl(24, 1, 0, 0, 0),  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
            capture_output=True, text=True, timeout=60, check=False)
        same(f"exit status: {result.stderr}", result.returncode, 0)
        assert len(answers.requests) > 5, len(answers.requests)


BOOT_SERVICE = """[Unit]
DefaultDependencies=no
After=systemd-journald.service
Wants=systemd-journald.service
[Service]
Type=oneshot
ExecStart=/bin/bash -c '/mnt/shared/boot.sh /mnt/shared >/mnt/shared/boot.log 2>&1'
"""


def test_unit_under_systemd(directory, lake, store):
    """The installed unit with all its restrictions, for which the store is another user's, in a container that runs its own systemd, with
    this system's /usr and network and nothing else of it."""
    if os.geteuid() != 0 or not shutil.which("systemd-nspawn"):
        raise Skip("needs root and systemd-nspawn")
    for path in (SHIPPER, BUILD / "deploy/tracer-shipper.service", BUILD / "deploy/tracer.conf",
                 BUILD / "deploy/tracer-shipper.conf",
                 HERE / "boot.sh"):
        shutil.copy(path, directory)
    (directory / "password").write_text(lake.passwords["shipper"])
    Shipper.config(directory, {"lake": {"url": lake.url, "user": "shipper",
                                        "password-file": "/etc/tracer/password"}})
    service = directory / "boot.service"
    service.write_text(BOOT_SERVICE)
    result = subprocess.run(
        ["timeout", "--kill-after=5", "180", "systemd-nspawn", "-q", "-D", "/", "--volatile=yes", "--boot",
         "--register=no", "--keep-unit", f"--bind={directory}:/mnt/shared",
         f"--bind-ro={service}:/etc/systemd/system/boot.service", "--", "--unit=boot.service"],
        env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)
    log = directory / "boot.log"
    if not log.exists():
        raise Skip(f"systemd-nspawn boots nothing here: {(result.stderr or result.stdout).strip()[-200:]}")
    same(f"how it ended: {log.read_text()}", (directory / "result").read_text(),
         "Result=success\nExecMainStatus=0\n")
    process = dict(line.split(":\t", 1) for line in (directory / "process").read_text().splitlines())
    same("capabilities", {int(process[f"Cap{name}"], 16) for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")}, {0})
    assert process["Uid"].split()[0] != "0"
    same("files of the store", (directory / "after").read_text(), (directory / "before").read_text())
    compare(lake, store)


def run_in_directory(test, lake):
    """Runs a test in its own directory, with a store that has a run, and an empty lake."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-shipper-"))
    directory.chmod(0o755)
    try:
        make_tables(lake, SCHEMA)
        test(directory, lake, stored(directory))
    finally:
        remove_tree(directory)


# A sanitizer's memory is not the program's, and its runtime does what the unit forbids: tests/run does these with
# another build.
WITHOUT_SANITIZERS = ("memory is flat", "unit under systemd")


def main():
    if os.geteuid() == 0:
        enter_own_mounts()
    tests = find_tests(globals())
    if b"__asan_init" in SHIPPER.read_bytes():
        tests = {name: test for name, test in tests.items() if name not in WITHOUT_SANITIZERS}
    try:
        lake = Lake()
    except Unavailable as reason:
        return skip_all("shipper", reason)
    with lake:
        return run_tests("shipper", tests,
                         lambda test: with_engine([lake], run_in_directory, test, lake), sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
