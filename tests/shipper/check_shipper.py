#!/usr/bin/env python3
"""tracer-shipper as a whole, against a real ClickHouse and against what is none.

usage: check_shipper.py BUILD [NAME...]

Prints "ok - NAME", "not ok - NAME" or "skip - NAME: why".
"""

import json
import os
import pathlib
import pwd
import sqlite3
import subprocess
import sys
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
