#!/usr/bin/env python3
"""tracer-shipper as a whole, against a real ClickHouse and against what is none.

usage: check_shipper.py BUILD [NAME...]

Prints "ok - NAME", "not ok - NAME" or "skip - NAME: why".
"""

import json
import os
import pathlib
import pwd
import random
import sqlite3
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import (  # noqa: E402
    ENVIRONMENT, ENTITIES, Answers, Lake, Proxy, Shipper, Skip, Unavailable, compare, http, make_store,
    make_tables, run, same, settings_for, store_rows, wait_until)

BUILD = pathlib.Path(sys.argv[1]).resolve()
SHIPPER, TRACER = BUILD / "shipper/tracer-shipper", BUILD / "cli/tracer"
CORRELATOR, MAKE_STORE = BUILD / "correlator/tracer-correlator", BUILD / "tests/cli/make_store"
SCHEMA = BUILD / "datalake"
ACCEPTED = http("200 OK", b"", "X-ClickHouse-Summary: {}")
QUICK = {"interval": "1s"}


def ship(directory, store, lake, *options, code=0, **more):
    with Shipper(SHIPPER, directory, store, "--once", *options, url=lake.url,
                 **{"lake": settings_for(lake), **more}) as shipper:
        shipper.finish(code)
        return shipper


def stored(directory, recording="snakemake", name="tracer.db"):
    return make_store(CORRELATOR, directory, recording, name)


def hostile_store(directory):
    path = directory / "tracer.db"
    subprocess.run([MAKE_STORE, path], check=True, env=ENVIRONMENT)
    return path


def run_plain(*arguments, code=0, **more):
    result = subprocess.run([SHIPPER, *arguments], capture_output=True, text=True, timeout=60,
                            env=ENVIRONMENT | more, check=False)
    same(f"exit status of {arguments}: {result.stderr}", result.returncode, code)
    return result


# ---- what arrives -------------------------------------------------------------------------


def test_everything_arrives(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    ship(directory, store, lake)
    assert compare(lake, store) > 100
    shipper = ship(directory, store, lake)
    same("batches of the second time", shipper.status()["sent_batch_count"], 6)
    same("revisions that have arrived", shipper.status()["shipped_rev"], shipper.status()["store_rev"])


def test_hostile_names_arrive(directory, lake):
    store = hostile_store(directory)
    make_tables(lake, SCHEMA)
    ship(directory, store, lake)
    compare(lake, store)
    names = [row["name"] for row in store_rows(store, "runs").values()]
    assert any("\\x80\\xff" in name and "\x1b" in name for name in names), names


def test_batches_are_cut_by_rows(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    shipper = ship(directory, store, lake, "--set", "send.rows=7")
    compare(lake, store)
    assert shipper.status()["sent_batch_count"] > 15, shipper.status()


def test_left_out_stays_here(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    out = ["samples", "processes.arguments", "processes.working_directory"]
    ship(directory, store, lake, send={"leave-out": out})
    same("samples in the lake", lake.value("SELECT count() FROM tracer.samples_rows"), "0")
    same("arguments in the lake", lake.value(
        "SELECT count() FROM tracer.processes_rows WHERE notEmpty(arguments) OR notEmpty(working_directory)"), "0")
    assert int(lake.value("SELECT count() FROM tracer.processes_rows")) > 40


def test_dry_run_prints_what_is_sent(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    with Answers(ACCEPTED) as answers:
        printed = run_plain("--config", "/dev/null", "--store", store, "--state", directory, "--url",
                            answers.url, "--dry-run").stdout
        same("requests of a dry run", answers.requests, [])
        with Shipper(SHIPPER, directory, store, "--once", url=answers.url) as shipper:
            shipper.finish()
        bodies = [subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout.decode()
                  for _, body in answers.requests]
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    sent = [json.loads(line) for body in bodies for line in body.splitlines()]
    for row in lines + sent:
        row.pop("version")  # the clock of each run is in it
    same("rows", lines, sent)
    same("POST lines", printed.count("POST http"), len(answers.requests))
    assert all(ord(char) < 128 for char in printed)


# ---- the store ----------------------------------------------------------------------------


def test_store_comes_later(directory, lake):
    made = stored(directory, name="made.db")
    make_tables(lake, SCHEMA)
    late = directory / "late.db"
    with Shipper(SHIPPER, directory, late, url=lake.url, lake=settings_for(lake), send=QUICK) as shipper:
        wait_until("it says so", lambda: "no such file" in shipper.status().get("last_error", ""))
        same("lines of log", shipper.log().count("no such file"), 1)
        db = sqlite3.connect(made)
        db.execute(f"VACUUM INTO '{late}'")
        db.close()
        os.chmod(late, 0o644)
        wait_until("it sends", lambda: shipper.status().get("sent_row_count"))
        shipper.stop()
    compare(lake, late)


def test_store_is_made_anew(directory, lake):
    """Revisions begin again, below those that the lake has: what is sent must win all the same."""
    store = stored(directory)
    make_tables(lake, SCHEMA)
    with Shipper(SHIPPER, directory, store, url=lake.url, lake=settings_for(lake), send=QUICK) as shipper:
        wait_until("all is sent", lambda: shipper.status().get("shipped_rev", 0) > 100)
        for suffix in ("", "-wal", "-shm", ".lock"):
            pathlib.Path(f"{store}{suffix}").unlink(missing_ok=True)
        stored(directory)
        db = sqlite3.connect(store)
        db.execute("UPDATE runs SET name = 'the new one'")
        # A correlator sets it when it begins a store; a recording has its own clock.
        db.execute("UPDATE hosts SET first_seen_unix_ns = first_seen_unix_ns + 1")
        db.commit()
        db.close()
        sent = shipper.status()["sent_row_count"]
        wait_until("it is sent anew", lambda: shipper.status()["sent_row_count"] == 2 * sent)
        shipper.stop()
        assert "another store" in shipper.log()
    compare(lake, store)


def test_schema_of_another_release(directory, lake):
    store = stored(directory)
    db = sqlite3.connect(store)
    db.execute("PRAGMA user_version = 999")
    db.close()
    with Shipper(SHIPPER, directory, store, "--once", url=lake.url) as shipper:
        shipper.finish(1)
    assert "schema 999" in shipper.log() and shipper.log().count("\n") == 1, shipper.log()


def test_stranger_reads_the_store(directory, lake):
    """As another user, in the store's group, who can write nothing of it: as the unit has it."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    store_directory = directory / "store"
    store_directory.mkdir()
    store = stored(store_directory)
    make_tables(lake, SCHEMA)
    nobody = pwd.getpwnam("nobody")
    os.chmod(store_directory, 0o750)
    os.chown(store_directory, 0, 12345)
    for path in store_directory.iterdir():
        os.chown(path, 0, 12345)
        os.chmod(path, 0o640)
    (directory / "state").mkdir()
    os.chown(directory / "state", nobody.pw_uid, nobody.pw_gid)
    secret = directory / "password"
    secret.write_text(lake.passwords["shipper"])
    secret.chmod(0o600)
    os.chown(secret, nobody.pw_uid, nobody.pw_gid)

    def become():
        os.setgroups([12345])
        os.setresgid(nobody.pw_gid, nobody.pw_gid, nobody.pw_gid)
        os.setresuid(nobody.pw_uid, nobody.pw_uid, nobody.pw_uid)

    before = {path.name: path.read_bytes() for path in store_directory.iterdir()}
    with Shipper(SHIPPER, directory, store, "--once", url=lake.url, preexec=become,
                 lake={"user": "shipper", "password-file": str(secret)}) as shipper:
        shipper.finish()
    same("files of the store", {path.name: path.read_bytes() for path in store_directory.iterdir()}, before)
    compare(lake, store)


# ---- exactly once ---------------------------------------------------------------------------


def frozen(shipper):
    return [path.name for path in shipper.state.glob("*.ndjson.zst")]


def test_lost_answer_is_one_insert(directory, lake):
    """The lake has it, we do not know: the same bytes again, which it recognises."""
    store = stored(directory)
    make_tables(lake, SCHEMA)
    moods = ["deaf", "deaf"]
    with Proxy(lake.http_port, lambda: moods.pop() if moods else "pass") as proxy:
        with Shipper(SHIPPER, directory, store, url=proxy.url, lake=settings_for(lake)) as shipper:
            wait_until("all has arrived", lambda: shipper.status().get("sent_batch_count") == 6)
            shipper.stop()
        same("lost answers", proxy.counts["deaf"], 2)
    compare(lake, store)
    same("rows beneath FINAL", lake.value("SELECT count() FROM tracer.hosts_rows"), "1")


def test_batch_is_the_same_after_kill(directory, lake):
    """Its rows have changed in the store since: what was begun is sent as it was begun."""
    store = stored(directory)
    with Answers(lambda head: b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n") as answers:
        with Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("two attempts", lambda: len(answers.requests) >= 2)
            shipper.kill()
            names = frozen(shipper)
        db = sqlite3.connect(store)
        db.execute("UPDATE hosts SET hostname = 'another', rev = 100000")
        db.execute("UPDATE stream SET rev = 100000")
        db.commit()
        db.close()
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


def test_damaged_batch_is_made_anew(directory, lake):
    """A crash of the machine may leave half of the file."""
    store = stored(directory)
    make_tables(lake, SCHEMA)
    with Answers(http("503 Service Unavailable")) as answers:
        with Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("an attempt", lambda: answers.requests)
            shipper.kill()
            name = frozen(shipper)[0]
    (shipper.state / name).write_bytes((shipper.state / name).read_bytes()[:-20])
    (shipper.state / name.replace(".1.", ".2.")).write_bytes(b"no batch")
    ship(directory, store, lake)
    compare(lake, store)
    same("frozen batches", frozen(shipper), [])


def test_cursor_is_lost_or_damaged(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    for harm in (lambda path: path.unlink(), lambda path: path.write_text("{}"),
                 lambda path: path.write_bytes(b"\xff" * 30000)):
        ship(directory, store, lake)
        harm(directory / "state/cursor")
        shipper = ship(directory, store, lake)
        compare(lake, store)
    same("warnings", shipper.log().count("damaged"), 2)


class Load(threading.Thread):
    """Writes a store as the correlator does, faster than any: new rows and changed ones."""

    def __init__(self, store, seconds):
        super().__init__(daemon=True)
        self.store, self.seconds, self.count = store, seconds, 0
        self.failure = None

    def run(self):
        try:
            self.write()
        except Exception as failure:
            self.failure = failure

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


def test_exactly_once_whatever_is_killed(directory, lake):
    """Under load: the shipper killed at any moment, ClickHouse killed, uploads cut off, answers
    lost, requests sent twice and out of order. The proxy's dice are seeded; who is killed when
    is the machine's."""
    store = stored(directory)
    make_tables(lake, SCHEMA)
    chance = random.Random(11)
    moods = ["pass"] * 4 + ["cut", "deaf", "twice", "refuse", "slow"]
    load = Load(store, 25)
    load.start()
    kills = lake_kills = 0
    options = ("--set", "send.rows=500", "--set", "send.interval=1s", "--set", "lake.timeout=5s")
    with Proxy(lake.http_port, lambda: chance.choice(moods)) as proxy:
        end = time.monotonic() + 25
        while time.monotonic() < end:
            with Shipper(SHIPPER, directory, store, *options, url=proxy.url,
                         lake=settings_for(lake)) as shipper:
                time.sleep(chance.uniform(0.05, 2))
                shipper.kill()
                kills += 1
            if kills % 5 == 0:
                lake.kill()
                lake_kills += 1
                lake.start()
        load.join()
        assert load.failure is None, load.failure
        again = proxy.resend()
        proxy.mood = lambda: "pass"
        ship(directory, store, lake)
        counts = dict(proxy.counts)
    rows = compare(lake, store)
    copies = int(lake.value("SELECT count() FROM tracer.processes_rows"))
    print(f"    {rows} rows, {load.count} revisions, shipper killed {kills} times, ClickHouse {lake_kills}; "
          f"{counts}, {again} requests sent again; {copies} rows beneath FINAL")
    for mood in ("cut", "deaf", "twice", "refuse"):
        assert counts.get(mood), f"the dice never said {mood}: {counts}"


# ---- what is no lake ------------------------------------------------------------------------


def told(directory, store, url, words, *options, **more):
    """The shipper says this, once, sends on after it, and keeps its batch."""
    with Shipper(SHIPPER, directory, store, *options, url=url, **more) as shipper:
        wait_until(f"it says {words}", lambda: words in shipper.log(), 20)
        shipper.kill()
        lines = [line for line in shipper.log().splitlines() if words in line]
        same(f"lines with {words}: {shipper.log()}", len(lines), 1)
        same("revisions that have arrived", shipper.status()["shipped_rev"], 0)
        same("frozen batches", len(frozen(shipper)), 1)
        shipper.log_path.unlink()
        return shipper


def test_captive_portal(directory, lake):
    page = b"<!DOCTYPE html><html><body>Please log in</body></html>"
    store = stored(directory)
    for status in ("200 OK", "403 Forbidden", "511 Network Authentication Required"):
        with Answers(http(status, page, "Content-Type: text/html")) as answers:
            told(directory, store, answers.url, "answers with a web page")


def test_ok_of_somebody_else(directory, lake):
    store = stored(directory)
    with Answers(http("200 OK")) as answers:
        told(directory, store, answers.url, "but not as ClickHouse does")


def test_redirect_is_not_followed(directory, lake):
    store = stored(directory)
    with Answers(ACCEPTED) as other, Answers(http(
            "307 Temporary Redirect", b"", f"Location: {other.url}/?token=secret")) as answers:
        shipper = told(directory, store, answers.url, f"redirect to {other.url}: not followed")
        same("requests to the other host", other.requests, [])
        assert "token" not in shipper.status()["last_error"]


def test_ok_with_an_error_in_it(directory, lake):
    store = stored(directory)
    error = b"Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)"
    with Answers(http("200 OK", error, "X-ClickHouse-Summary: {}")) as answers:
        told(directory, store, answers.url, "cannot take it now: Code: 241")


def test_too_many_requests(directory, lake):
    store = stored(directory)
    moments = []

    def answer(head):
        moments.append(time.monotonic())
        return http("429 Too Many Requests", b"", "Retry-After: 4") if len(moments) == 1 else ACCEPTED

    with Answers(answer) as answers:
        with Shipper(SHIPPER, directory, store, url=answers.url) as shipper:
            wait_until("a second request", lambda: len(moments) > 1, 20)
            shipper.kill()
    assert 4 <= moments[1] - moments[0] < 7, moments


def test_wrong_password(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    secret = directory / "wrong"
    secret.write_text("hunter2-is-wrong\n")
    secret.chmod(0o600)
    shipper = told(directory, store, lake.url, "does not know user shipper",
                   lake={"user": "shipper", "password-file": str(secret)})
    assert "hunter2" not in json.dumps(shipper.status())


def test_no_table_and_no_right(directory, lake):
    store = stored(directory)
    lake.query("DROP DATABASE IF EXISTS tracer")
    told(directory, store, lake.url, "make it with tracer lake init", lake=settings_for(lake))
    make_tables(lake, SCHEMA)
    told(directory, store, lake.url, "may not insert into",
         lake={"user": "analyst", "password-file": str(lake.secret("analyst"))})
    ship(directory, store, lake)
    compare(lake, store)


def test_nobody_is_there(directory, lake):
    store = stored(directory)
    told(directory, store, "http://127.0.0.1:9", "no connection: is the lake up")
    told(directory, store, "https://no-such-name.invalid:8443", "its name is not known")


def test_lake_hangs(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    lake.pause()
    try:
        told(directory, store, lake.url, "no answer in time", "--set", "lake.timeout=1s",
             lake=settings_for(lake))
    finally:
        lake.resume()
    ship(directory, store, lake)
    compare(lake, store)


def test_refused_content_is_set_aside(directory, lake):
    """The others go on; mended, what was set aside is sent from there."""
    store = stored(directory)
    make_tables(lake, SCHEMA)
    lake.query("ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(Int64)")
    shipper = ship(directory, store, lake, code=1)
    aside = directory / "state/set-aside"
    batches = list(aside.glob("*.tools.*.ndjson.zst"))
    same("batches set aside", len(batches), 1)
    assert "Code:" in (aside / f"{batches[0].name}.reason").read_text()
    status = shipper.status()
    same("rows set aside", status["set_aside_row_count"], len(store_rows(store, "tools")))
    assert "refuses rows of tools" in status["last_error"], status
    mended = "ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(String)"
    lake.query(mended)
    run_plain("--config", shipper.config(directory, {"lake": settings_for(lake)}), "--url", lake.url,
              "--from", aside, "--remove")
    same("left aside", list(aside.iterdir()), [])
    compare(lake, store)


def test_set_aside_is_bounded(directory, lake):
    store = stored(directory)
    make_tables(lake, SCHEMA)
    lake.query("ALTER TABLE tracer.tools_rows MODIFY COLUMN name Nullable(Int64)")
    status = ship(directory, store, lake, "--set", "send.set-aside=0", code=1).status()
    same("rows dropped", status["set_aside_dropped_row_count"], len(store_rows(store, "tools")))
    same("left aside", [path.name for path in (directory / "state/set-aside").iterdir()], [])


def main():
    names = sys.argv[2:]
    try:
        lake = Lake()
    except Unavailable as reason:
        print(f"skip - shipper: {reason}")
        return 77
    with lake:
        return run(globals(), names, lake)


if __name__ == "__main__":
    sys.exit(main())
