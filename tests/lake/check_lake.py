#!/usr/bin/env python3
"""tracer lake, and the errors of `tracer --lake` if the lake is missing or not as expected.

usage: check_lake.py BUILD [NAME...]
"""

import collections
import contextlib
import csv
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "shipper"))
from checks import Skip, refresh, run, same  # noqa: E402
from harness import IMPATIENT, Answers, http as http_answer, tls  # noqa: E402
from lake import QueryError, ROOT  # noqa: E402
from daemons import replay  # noqa: E402
import loader  # noqa: E402
from loader import on_another_host  # noqa: E402
from release import earlier_build  # noqa: E402
from testing import OnTerminal  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
TRACER = BUILD / "cli/tracer"
CLICKHOUSE = ("X-ClickHouse-Summary: {}", "Content-Type: application/octet-stream")
HOUR_NS = 3600 * 10**9
DAY_NS = 24 * HOUR_NS
TRACER_LIMIT_S = 60
TEMPORARY = tempfile.TemporaryDirectory(prefix="tracer-lake-")


def run_tracer(arguments, url, *before, **environment):
    """Runs tracer on a lake at `url`, through the command `before`. If it does not end, the error shows its output."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TRACER_")}
    given = {"HOME": "/nonexistent", "TRACER_LAKE": url, "LC_ALL": "C.UTF-8"} | IMPATIENT
    try:
        return subprocess.run([*before, TRACER, *arguments], capture_output=True, encoding="utf-8",
                              timeout=TRACER_LIMIT_S, check=False, env=plain | given | environment)
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"{arguments} at {url} goes on after {TRACER_LIMIT_S} s: {late.stderr}") from None


def tracer(lake, *arguments, user=None, code=0, url=None, **environment):
    """Standard output or, for an expected failure, the one line of its error."""
    given = {"TRACER_LAKE_USER": user or "analyst"}
    if lake and given["TRACER_LAKE_USER"] in lake.passwords:
        given["TRACER_LAKE_PASSWORD_FILE"] = str(lake.secret(given["TRACER_LAKE_USER"]))
    result = run_tracer(arguments, url or lake.url, **given | environment)
    same(f"exit status of {arguments}: {result.stdout}{result.stderr}", result.returncode, code)
    if code and not result.stdout:
        lines = result.stderr.splitlines()
        assert len(lines) == 1, f"{arguments}: more than one line: {result.stderr}"
    return result.stdout or result.stderr


def says(text, *words):
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"


def drop(lake):
    lake.query("DROP DATABASE IF EXISTS tracer")


def fresh(lake):
    drop(lake)
    tracer(lake, "lake", "init", user="migrator")


def columns(lake):
    return lake.rows("SELECT table, name, type FROM system.columns WHERE database = 'tracer' ORDER BY table, name")


@functools.cache
def recorded(recording):
    """A store of the newest SQLite schema, written by the correlator itself."""
    return replay(BUILD, ROOT / f"tests/golden/{recording}.rec", pathlib.Path(TEMPORARY.name, f"{recording}.db"))


# ---- schema ---------------------------------------------------------------------------------


def test_init_and_check(lake):
    drop(lake)
    says(tracer(lake, "lake", "check", code=1), "missing", "tracer lake init")
    says(tracer(lake, "runs", code=1), "tracer lake init")
    says(tracer(lake, "lake", "migrate", user="migrator", code=1), "tracer lake init to create one")
    says(tracer(lake, "lake", "init", code=1), "denied permission to this user")
    tracer(lake, "lake", "init", user="migrator")
    says(tracer(lake, "lake", "init", user="migrator", code=1), "tracer lake migrate")
    for user, words in (("analyst", "rights             reads\n"), ("shipper", "rights             inserts\n"),
                        ("migrator", "reads, inserts, changes the schema")):
        says(tracer(lake, "lake", "check", user=user), words, "all columns that hosts send exist")
    checks = json.loads(tracer(lake, "lake", "check", "--json"))["checks"]
    assert all(check["level"] == "ok" for check in checks), checks


def test_every_column_of_the_store_is_in_the_lake(lake):
    fresh(lake)
    db = sqlite3.connect(recorded("make"))
    for entity in loader.entities():
        sent = {name for name, *_ in db.execute((loader.ENTITIES / f"{entity}.sql").read_text(),
                                                {"cursor": 0, "limit": 0}).description}
        kept = {name for table, name, _ in columns(lake) if table == f"{entity}_rows"}
        same(f"columns of {entity}_rows", kept - {"command_key", "is_open"}, sent | {"version", "arrived"})
    views = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type IN ('view', 'table')")
             if name in loader.entities() or name.startswith(("standing_", "joined_", "placed_", "open_", "repeatable_"))]
    for view in views:
        wanted = [name for name, *_ in db.execute(f"SELECT * FROM {view} LIMIT 0").description]
        found = lake.query(f"SELECT * FROM tracer.{view} LIMIT 0 FORMAT TSVWithNames", user="analyst")
        same(f"columns of {view}", found.decode().strip().split("\t"), wanted)
    # Tables that are neither shipped nor listed as local to the host would be overlooked.
    own = {"images", "process_rows", "cgroups", "stream", "states"}
    tables = {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
              if not name.startswith("sqlite_")}
    same("tables that are shipped", tables - own, set(loader.entities()) - {"processes"})


def statements_of(layout, part="*"):
    for path in sorted((BUILD / "datalake").glob(f"lake-{layout}-{part}.sql")):
        yield from path.read_text().replace("{days}", "90").split("\n--;\n")[1:]


def lake_before(lake):
    """An empty lake of the previous release: without months, ordered by the keys alone, and lacking some columns."""
    drop(lake)
    lake.query("CREATE DATABASE tracer", user="migrator")
    for statement in statements_of("one-node", "tables"):
        if statement.startswith("ALTER"):
            continue
        if " host_activity_rows" in statement or " task_name_day_rows" in statement:
            for what, before in ((r"\n  (most_running_count|p95_cpu_ns) .*", ""), (r"intDiv\(begin_unix_ns, \d+\), host_id", "host_id")):
                statement = re.sub(what, before, statement)
            lake.query(statement, user="migrator", database="tracer")
            continue
        for what, before in ((r"\n  (arrived|INDEX) .*", ""), (r",(?=\n\))", ""), (r"PARTITION BY .*\n", ""), (r"ORDER BY .*\(host_id|ORDER BY .*host_id", "ORDER BY (host_id"), (r"(?<=host_id,) intDiv\(.*\),", ""),
                             (r", ttl_only_drop_parts.*", ""), (r"\n  (label|failed|cluster|is_open|command_key) .*", "")):
            statement = re.sub(what, before, statement)
        lake.query(statement, user="migrator", database="tracer")
    for statement in statements_of("one-node", "keep-rest"):
        if " host_activity_rows " in statement:  # the only one that was limited
            lake.query(statement.replace("90 * 86400", "400 * 86400"), user="migrator", database="tracer")
    for name in ("host_hour", "task_name_day"):  # host_hour has gone since
        lake.query(f"CREATE MATERIALIZED VIEW tracer.{name} REFRESH EVERY 1 HOUR ENGINE = MergeTree ORDER BY id"
                   " AS SELECT id FROM tracer.hosts_rows", user="migrator")
    lake.query(f"INSERT INTO tracer.host_activity_rows (host_id, begin_unix_ns, covered_ns) SELECT 1 + number % 9, {time.time_ns() - 200 * DAY_NS}"
               " + number * 1000000000, number FROM numbers(900)")  # whose samples have gone
    lake.query("INSERT INTO tracer.schema_versions VALUES (7, 'one-node', 'before', 0)", user="migrator")


def sums_of(lake, names):
    """{entity: (current rows, a checksum of all their columns except version)}"""
    return {entity: lake.rows(f"SELECT count(), groupBitXor(cityHash64(tuple({', '.join(columns)}))) FROM tracer.{entity}_rows FINAL")
            for entity, columns in names.items()}


def columns_of_entities(lake):
    """Of those that it has: that of an earlier release may lack some."""
    found = {entity: [] for entity in loader.entities()}
    for table, name, _ in columns(lake):
        if table.removesuffix("_rows") in found and table.endswith("_rows") and name not in ("version", "arrived"):
            found[table.removesuffix("_rows")].append(name)
    return {entity: names for entity, names in found.items() if names}


def migrate_through(lake, count, answered):
    """`tracer lake migrate`, stopped as if killed at its request `count`, which the lake executes
    only if it is `answered`."""
    def forward(head):
        if len(other.requests) > count:
            return b""
        path = urllib.parse.parse_qs(urllib.parse.urlparse(head.split()[1]).query)
        try:
            answer = lake.query(other.requests[-1][1].decode(), user="migrator", database=path["database"][0])
        except QueryError as error:
            return http_answer(f"{error.status} No", error.text.encode(), *CLICKHOUSE)
        return http_answer("200 OK", answer, *CLICKHOUSE) if answered or len(other.requests) < count else b""

    with Answers(forward) as other:
        result = run_tracer(["lake", "migrate"], other.url, TRACER_LAKE_USER="migrator",
                            TRACER_LAKE_PASSWORD_FILE=str(lake.secret("migrator")))
    return result.returncode == 0


def interrupted_migration(lake):
    """Old rows, and rows sent by hosts in the meantime, are there once it is done."""
    names = columns_of_entities(lake)
    wanted = sums_of(lake, names)
    says(tracer(lake, "runs", code=1), "tracer lake migrate")
    says(tracer(lake, "lake", "check", code=1), "tracer lake migrate")
    for attempt in itertools.count(1):
        if migrate_through(lake, 5 * attempt, attempt % 2):
            break
        assert attempt < 60, tracer(lake, "lake", "migrate", user="migrator", code=1)
        with contextlib.suppress(QueryError): # the table is being renamed: a shipper would retry
            loader.insert(lake, "losses", [{"id": attempt, "host_id": 1, "unix_ns": time.time_ns(), "rev": 1, "version": 1}])
            wanted["losses"][0][0] = str(int(wanted["losses"][0][0]) + 1)
        if attempt == 9:
            lake.kill()
            lake.start()
    assert attempt > 15, attempt
    found = sums_of(lake, names)
    wanted["losses"][0][1] = found["losses"][0][1]
    same("rows", found, wanted)
    same("tables that are left", lake.rows("SELECT name FROM system.tables WHERE database = 'tracer' AND name LIKE '%_before'"), [])
    return names


def test_migrate_from_the_schema_before(lake):
    engine = "SELECT engine_full FROM system.tables WHERE database = 'tracer' AND name = 'host_activity_rows' FORMAT TSVRaw"
    fresh(lake)
    wanted, activity = columns(lake), lake.value(engine)
    lake_before(lake)
    store = recorded("snakemake")
    for number, version in ((1, 1), (2, 1), (2, 2), (3, 1)):
        loader.load(lake, store, version, change=on_another_host(number, number * 40 * DAY_NS))
    names = interrupted_migration(lake)
    same("columns", columns(lake), wanted)
    assert len(lake.rows("SELECT DISTINCT partition FROM system.parts WHERE database = 'tracer' AND active"
                         " AND table = 'processes_rows'")) > 2
    sums = sums_of(lake, names)
    loader.load(lake, store, 3, change=on_another_host(2, 2 * 40 * DAY_NS))  # sent again: the same rows
    same("rows", sums_of(lake, names), sums)
    same("runs", len(json.loads(tracer(lake, "runs", "--json"))["runs"]), 3)
    same("activity", lake.rows("SELECT count(), sum(covered_ns) FROM tracer.host_activity WHERE host_id < 10", user="analyst"),
         [["900", "404550"]])
    same("its table", lake.value(engine), activity)
    says(tracer(lake, "lake", "check"), "nothing is ever deleted", "tracer lake migrate --keep")
    terminal = OnTerminal([TRACER, "lake", "migrate", "--keep", "samples=90d,rest=30d", "--lake", lake.url], env={
        "HOME": "/nonexistent", "TRACER_LAKE_PASSWORD_FILE": str(lake.secret("migrator"))})
    same("exit status on a terminal", terminal.finish()[0], 0)
    assert terminal.said.startswith(b"\r\x1b[Ktracer lake: schema tables, statement 1\r"), terminal.said
    assert terminal.said.endswith(b"\r\r\x1b[K"), terminal.said
    says(tracer(lake, "lake", "check"), "samples 90 days, all else 30 days")


def test_migrate_a_lake_that_the_release_before_made(lake):
    program = earlier_build() / "cli/tracer"
    drop(lake)
    settings = {"HOME": "/nonexistent", "TRACER_LAKE_PASSWORD_FILE": str(lake.secret("migrator"))}
    subprocess.run([program, "lake", "init", "--lake", lake.url], env=settings, check=True, capture_output=True)
    store = recorded("snakemake")
    loader.load(lake, store)
    names = columns_of_entities(lake)
    wanted = sums_of(lake, names)
    tracer(lake, "lake", "migrate", user="migrator")
    same("rows", sums_of(lake, names), wanted)
    assert json.loads(tracer(lake, "show", "--json"))["tasks"]
    # The earlier release refuses a newer schema.
    refused = subprocess.run([program, "lake", "migrate", "--lake", lake.url], env=settings, check=False, capture_output=True, text=True)
    same("exit status", refused.returncode, 1)
    says(refused.stderr, "newer release")


def test_rows_of_a_key_are_in_one_month(lake):
    """So that they are merged, whatever changes in them, or in the clock of a recreated store."""
    fresh(lake)
    store = recorded("snakemake")
    for version, late_ns in ((1, 0), (2, 0), (3, 1000)):
        loader.load(lake, store, version, change=on_another_host(1, late_ns))
    for entity in loader.entities():
        lake.query(f"OPTIMIZE TABLE tracer.{entity}_rows FINAL")
        rows, keys = lake.rows(f"SELECT count(), uniqExact({'process_id, boot_ns' if entity == 'samples' else 'unix_ns' if entity == 'host_samples' else 'unix_ns, mount_point' if entity == 'file_system_samples' else 'id'})"
                               f" FROM tracer.{entity}_rows")[0]
        same(f"rows of {entity}", rows, keys)


def test_a_task_that_an_older_host_merged(lake):
    """It lost its start then, so its row does not replace the previous one."""
    fresh(lake)
    task = {"id": 7, "host_id": 1, "run_id": 1, "kind": "generic", "name": "sort", "status": "running", "rev": 1, "process_count": 2,
            "started_unix_ns": 5 * DAY_NS, "version": 1, "merged_into_id": None}
    loader.insert(lake, "tasks", [task, task | {"id": 8}])
    loader.insert(lake, "tasks", [task | {"version": 2, "started_unix_ns": 0, "process_count": 0, "merged_into_id": 8}])
    for view in ("tasks", "standing_tasks"):
        same(view, lake.rows(f"SELECT id FROM tracer.{view}", user="analyst"), [["8"]])


def test_old_months_go(lake):
    drop(lake)
    tracer(lake, "lake", "init", "--keep", "samples=30d,rest=90d", user="migrator")
    now, age_days = time.time_ns(), (10, 70, 150)
    unknown = {"id": 9, "host_id": 1, "started_unix_ns": 5, "rev": 1, "version": 1}

    def insert(version):
        loader.insert(lake, "processes", [unknown] + [{"id": age, "host_id": 1, "started_unix_ns": now - age * DAY_NS, "rev": 1,
                                                       "version": version} for age in age_days])
        loader.insert(lake, "samples", [{"process_id": age, "host_id": 1, "boot_ns": age, "unix_ns": now - age * DAY_NS, "rev": 1,
                                         "version": version} for age in age_days])
        for table in ("processes", "samples"):
            lake.query(f"OPTIMIZE TABLE tracer.{table}_rows FINAL")

    def kept():
        return [[int(number) for number, in lake.rows(f"SELECT {name} FROM tracer.{table} ORDER BY 1", user="analyst")]
                for table, name in (("processes", "id"), ("samples", "process_id"))]

    insert(1)
    same("kept", kept(), [[9, 10, 70], [10]])
    says(tracer(lake, "lake", "check"), "samples 30 days, all else 90 days", "months")
    tracer(lake, "lake", "migrate", "--keep", "samples=forever", user="migrator")
    says(tracer(lake, "lake", "check"), "samples forever, all else 90 days")
    insert(2)
    same("kept", kept(), [[9, 10, 70], [10, 70, 150]])
    for wrong in ("samples", "samples=9", "samples=0d", "rest=5d,", "all=5d", "samples=-1d"):
        says(tracer(lake, "lake", "init", "--keep", wrong, user="migrator", code=2), "samples=90d,rest=400d")


def test_newer_lake(lake):
    fresh(lake)
    lake.query("ALTER TABLE tracer.runs_rows ADD COLUMN of_later Nullable(Int64)", user="migrator")
    lake.query("INSERT INTO tracer.schema_versions VALUES (999, 'one-node', 'later', 0)", user="migrator")
    tracer(lake, "runs", "--json")
    says(tracer(lake, "lake", "migrate", user="migrator", code=1), "newer release")
    says(tracer(lake, "lake", "check"), "of a newer release")


def test_missing_column_and_settings_are_found(lake):
    fresh(lake)
    lake.query("ALTER TABLE tracer.tasks_rows DROP COLUMN sent_bytes")
    says(tracer(lake, "lake", "check", code=1), "tasks_rows has no sent_bytes")
    says(tracer(lake, "lake", "check", user="default", code=1), "join_use_nulls", "results would be wrong")


def test_clocks_that_differ_are_found(lake):
    fresh(lake)

    def an_hour_ahead(head):
        sql = other.requests[-1][1].decode()
        if "now64" in sql:
            return http_answer("200 OK", b"%d\n" % (time.time_ns() + HOUR_NS), *CLICKHOUSE)
        return http_answer("200 OK", lake.query(sql, user="analyst", database="tracer"), *CLICKHOUSE)

    with Answers(an_hour_ahead) as other:
        found = json.loads(tracer(lake, "lake", "check", "--json", url=other.url))["checks"]
    same("checks", [item["topic"] for item in found if item["level"] != "ok"], ["clock"])
    says(str(found), "differs from this host's by 3", "timedatectl")


def test_printed_sql_is_what_init_does(lake):
    fresh(lake)
    wanted = columns(lake)
    drop(lake)
    text = tracer(lake, "lake", "init", "--print", url="http://127.0.0.1:1")
    for statement in text.split(";\n\n"):
        if statement.strip() and not statement.startswith("USE "):
            lake.query(statement, user="migrator",
                       database="default" if "CREATE DATABASE" in statement else "tracer")
    same("columns", columns(lake), wanted)
    says(tracer(lake, "lake", "init", "--print", "--layout", "cluster"), "ON CLUSTER '{cluster}'",
         "ReplicatedReplacingMergeTree", "Distributed('{cluster}'")


def test_statements_of_every_layout_are_clickhouses(lake):
    """Replicated tables cannot be created here, but the server parses every statement, and the ones for
    a cluster equal those for shards, which are run (check_shards.py), except for engine and place."""
    for layout in ("one-node", "shards", "cluster"):
        count = 0
        for statement in statements_of(layout):
            lake.query("EXPLAIN AST " + statement)
            formatted = lake.value("SELECT formatQuerySingleLine({sql:String})", param_sql=statement.replace("\\", "\\\\")
                                   .replace("\n", "\\n").replace("\t", "\\t"))
            same("place", layout == "cluster", "ON CLUSTER" in formatted)
            count += 1
        assert count > 45, count
    paths = re.findall(r"Replicated\w*MergeTree\('([^']*)'", "".join(statements_of("cluster")))
    assert len(paths) > 9, paths
    for path in paths:  # they differ for a second lake on the same cluster
        assert "/{database}/" in path and "tracer" not in path, path
    cluster = [re.sub(r" ON CLUSTER '\{cluster\}'|, replicated_deduplication_window_seconds = \d+", "", statement)
               for statement in statements_of("cluster")]
    cluster = [re.sub(r"Replicated(\w*MergeTree)\('[^']*', '\{replica\}'(?:, )?(\w*)\)", r"\1(\2)", statement)
               .replace("MergeTree()", "MergeTree").replace("SETTINGS replicated_", "SETTINGS non_replicated_")
               for statement in cluster]
    for for_cluster, for_shards in zip(cluster, statements_of("shards"), strict=True):
        same("statement", for_cluster, for_shards)


# ---- rows -----------------------------------------------------------------------------------


def test_newest_row_stands_whatever_the_order(lake):
    fresh(lake)
    rows = [{"id": 1, "host_id": 1, "rev": rev, "version": version, "hostname": name}
            for rev, version, name in ((5, 5, "five"), (9, 9, "nine"), (2, 1 << 40, "recreated"), (7, 7, "seven"))]
    for order in (rows, rows[::-1], rows + rows):
        lake.query("TRUNCATE TABLE tracer.hosts_rows")
        for row in order:
            loader.insert(lake, "hosts", [row])
        same("host", lake.rows("SELECT hostname FROM tracer.hosts", user="analyst"), [["recreated"]])
    lake.query("OPTIMIZE TABLE tracer.hosts_rows FINAL")
    same("rows once merged", lake.value("SELECT count() FROM tracer.hosts_rows"), "1")


# Rollups recompute the last weeks; for older days the result of an early refresh would stay.
RECENT_DAY = time.time_ns() // DAY_NS - 10


def test_what_is_searched_among_all_versions_is_asked_of_the_newest(lake):
    fresh(lake)
    minute_ns = 60 * 10**9
    process = {"host_id": 1, "run_id": 1, "rev": 1, "version": 1, "pid": 1, "program": "sort", "began": "exec", "totals": "final",
               "begin_boot_ns": DAY_NS, "started_unix_ns": RECENT_DAY * DAY_NS, "working_directory": "/data"}
    ended = process | {"end_boot_ns": DAY_NS + 20 * minute_ns, "exit_code": 0, "cpu_ns": 20 * minute_ns}
    older = [process | {"id": 1}, process | {"id": 2, "gpu": "nvidia1"}, process | {"id": 7, "gpu": "nvidia7"}]
    older += [ended | {"id": number, "arguments": [word]} for number, word in
              ((3, "twice"), (4, "twice"), (5, "once"), (6, "once"), (8, "late"), (9, "late"))]
    newer = [process | {"id": 1, "gpu": "nvidia0"}, process | {"id": 2}, process | {"id": 7, "gpu": "nvidia7"}]
    newer += [ended | {"id": number, "arguments": [word], "exit_code": code} for number, word, code in
              ((3, "twice", 0), (4, "twice", 0), (5, "once", 1))]
    loader.insert(lake, "hosts", [{"id": 1, "rev": 1, "version": 1, "hostname": "a", "last_seen_unix_ns": time.time_ns()}])
    loader.insert(lake, "runs", [{"id": 1, "host_id": 1, "rev": 1, "version": 1, "kind": "command", "name": "sort", "status": "succeeded",
                                  "started_unix_ns": RECENT_DAY * DAY_NS, "process_count": 9}])
    for rows in (older, [row | {"version": 2} for row in newer], [row | {"exit_code": 1, "version": 3} for row in older if row["id"] == 9]):
        loader.insert(lake, "processes", rows)
    for _ in range(2):
        same("processes with a GPU", lake.rows("SELECT id, gpu FROM tracer.gpu_processes ORDER BY id", user="analyst"),
             [["1", "nvidia0"], ["7", "nvidia7"]])
        found = list(csv.DictReader(tracer(lake, "query", "task_repeats", "--since", "30d", "--format", "csv").splitlines()))
        same("commands that were repeated", [(row["arguments"], row["process_count"]) for row in found], [('["twice"]', "2")])
        lake.query("OPTIMIZE TABLE tracer.processes_rows FINAL")


def host_sample(host, hour, minute, cpu_s, boot_minute=0):
    since_ns = hour * HOUR_NS + minute * 60 * 10**9
    return {"host_id": host, "unix_ns": RECENT_DAY * DAY_NS + since_ns, "boot_ns": since_ns - boot_minute * 60 * 10**9, "rev": 1,
            "version": 1, "cpu_user_ns": cpu_s * 10**9, "cpu_system_ns": 0, "running_count": cpu_s % 7}


def test_rollup_host_activity(lake):
    fresh(lake)
    samples = [host_sample(1, 0, 10, 100), host_sample(1, 0, 12, 160), host_sample(1, 0, 13, 220),
               host_sample(1, 0, 16, 225),
               host_sample(1, 0, 17, 5, boot_minute=16), host_sample(1, 0, 19, 25, boot_minute=16),  # a restart between
               host_sample(1, 0, 40, 30, boot_minute=16),  # too long after
               host_sample(2, 0, 10, 7),
               # the previous boot was shorter than the current one is by now
               host_sample(3, 0, 10, 3, boot_minute=8), host_sample(3, 0, 19, 9, boot_minute=15)]
    late = samples.pop(1)
    query = ("SELECT host_id, intDiv(begin_unix_ns % 3600000000000, 60000000000), cpu_ns / 1e9, covered_ns / 6e10,"
             " most_core_milli FROM tracer.host_activity ORDER BY 1, 2")
    for batch in (samples, [late], samples[::-1]):  # late rows count, repeated rows do not
        loader.insert(lake, "host_samples", batch)
        refresh(lake, "host_activity")
    same("periods", lake.rows(query, user="analyst"), [["1", "10", "120", "3", "1000"], ["1", "15", "25", "5", "166"]])


def test_a_host_that_returns_makes_a_refresh_read_its_own_past_alone(lake):
    fresh(lake)
    hosts, minutes = 10, 30 * 1440
    row = "{host}, {now} - {back} * 60000000000, 1000000000000000000 - {back} * 60000000000, 1, 1, ({many} - {back}) * 1000000"
    into = "INSERT INTO tracer.host_samples_rows (host_id, unix_ns, boot_ns, rev, version, cpu_user_ns, arrived) SELECT "
    said = {"now": time.time_ns(), "many": minutes}
    lake.query(into + row.format(host=f"intDiv(number, {minutes})", back=f"(1 + number % {minutes})", **said)
               + f", now() - 86400 FROM numbers({hosts * minutes})", max_partitions_per_insert_block=0)
    lake.query("OPTIMIZE TABLE tracer.host_samples_rows FINAL")
    lake.query("INSERT INTO tracer.host_activity_rows (host_id, begin_unix_ns, computed)"
               f" VALUES (-1, {said['now']}, now64(3))")  # as after a refresh
    lake.query(into + row.format(host="number", back=0, **said) + f", now() FROM numbers({hosts})")
    lake.query(into + row.format(host=1, back=29 * 1440 + 0.5, **said) + ", now()")
    refresh(lake, "host_activity")
    read = int(lake.value("SELECT read_rows FROM system.view_refreshes WHERE view = 'host_activity_refresh'"))
    assert read < hosts * minutes // 2, f"{read} of {hosts * minutes} rows"
    computed = "SELECT * EXCEPT computed FROM tracer.host_activity WHERE {} ORDER BY ALL"
    found = lake.rows(computed.format("host_id >= 0"), user="analyst")
    lake.query("TRUNCATE TABLE tracer.host_activity_rows")
    refresh(lake, "host_activity")
    keys = ", ".join(f"({host}, {begin})" for host, begin, *_ in found)
    same("periods", found, lake.rows(computed.format(f"(host_id, begin_unix_ns) IN ({keys})"), user="analyst"))
    same("hosts", len({host for host, *_ in found}), hosts)


def test_rollup_task_name_day(lake):
    fresh(lake)

    def task(number, host, cpu_ns, status="succeeded", day=0, version=1, **more):
        return {"id": number, "host_id": host, "run_id": number, "kind": "generic", "name": "align",
                "status": status, "begin_boot_ns": 0, "end_boot_ns": 10, "started_unix_ns": (RECENT_DAY + day) * DAY_NS + number,
                "process_count": 1, "cpu_ns": cpu_ns, "rev": 1, "version": version, **more}

    tasks = [task(number, number % 3, number * 10) for number in range(1, 21)]
    tasks += [task(21, 1, 5, status="failed", day=1), task(22, 1, 5, end_boot_ns=None)]
    # The first and the last moment of the oldest day that is still recomputed: as a whole.
    tasks += [task(23, 1, 5, day=-25), task(DAY_NS - 1, 1, 5, day=-25)]
    loader.insert(lake, "tasks", tasks)
    loader.insert(lake, "tasks", tasks[::-1])
    refresh(lake, "task_name_day")
    loader.insert(lake, "tasks", [task(20, 2, 2000, version=2), task(DAY_NS - 1, 1, 6, day=-25, version=2)])
    refresh(lake, "task_name_day")
    same("days", lake.rows("SELECT intDiv(day_unix_ns, 86400000000000), name, task_count, host_count, failed_count,"
                           " cpu_ns, p95_cpu_ns FROM tracer.task_name_day ORDER BY 1", user="analyst"),
         [[str(RECENT_DAY - 25), "align", "2", "1", "0", "11", "6"],
          [str(RECENT_DAY), "align", "20", "3", "0", str(sum(range(10, 200, 10)) + 2000), "2000"],
          [str(RECENT_DAY + 1), "align", "1", "1", "1", "5", "5"]])


def test_a_key_of_two_clusters_is_two_runs(lake):
    """Job 42 of two clusters at the same time: one run for each cluster, with its own figures."""
    fresh(lake)
    store = recorded("snakemake")
    for number, cluster in enumerate(("alps", "andes", None, "andes", "alps", None, "alps"), 1):
        loader.load(lake, store, change=on_another_host(number, number * 10**9, cluster))
    alone = json.loads(tracer(None, "show", "--json", "--store", str(store), url="http://127.0.0.1:1"))["run"]
    runs = json.loads(tracer(lake, "runs", "--json"))["runs"]
    same("runs", len(runs), 2 + 2)  # two hosts without a cluster may be in different ones
    runs = [run for run in runs if "parts" in run]
    same("hosts of the runs", sorted([part["host"] for part in run["parts"]] for run in runs),
         [["host-1", "host-5", "host-7"], ["host-2", "host-4"]])
    for run in runs:
        same("CPU time", run["cpu_ns"], len(run["parts"]) * alone["cpu_ns"])
    says(tracer(lake, "host", "--host", "host-2"), ", cluster andes")


def test_a_run_on_several_hosts_is_joined(lake):
    fresh(lake)
    store = recorded("snakemake")
    loader.load(lake, store, change=on_another_host(1, cluster="alps"))
    loader.load(lake, store, change=on_another_host(2, late_ns=10**9, cluster="alps"))
    loader.load(lake, store, change=on_another_host(3, late_ns=DAY_NS, cluster="alps"))  # the same key, but another time
    alone = json.loads(tracer(None, "show", "--json", "--store", str(store), url="http://127.0.0.1:1"))
    runs = json.loads(tracer(lake, "runs", "--json"))["runs"]
    same("runs", [run["host"] for run in runs], ["host-3", "host-1"])
    assert "parts" not in runs[0], runs[0]
    same("hosts of the other", [part["host"] for part in runs[1]["parts"]], ["host-1", "host-2"])
    for name in ("cpu_ns", "task_count", "process_count", "read_bytes"):
        same(f"{name} of both", runs[1][name], 2 * alone["run"][name])
    same("peak of both", runs[1]["peak_rss_bytes"], alone["run"]["peak_rss_bytes"])
    same("wall of both", runs[1]["wall_ns"], alone["run"]["wall_ns"] + 10**9)
    listed = tracer(lake, "runs")
    says(listed, "host-1, host-2", "host-3")
    same("lines", len(listed.splitlines()), 3)
    for host, found in (("host-2", "host-1"), ("host-1", "host-1"), ("host-3", "host-3")):
        same(f"runs on {host}", [run["host"] for run in json.loads(
            tracer(lake, "runs", "--host", host, "--json"))["runs"]], [found])
    for part in runs[1]["parts"]:  # any id leads to the same run
        shown = json.loads(tracer(lake, "show", part["id"], "--json"))
        same("run", shown["run"]["id"], runs[1]["id"])
        same("CPU", shown["run"]["cpu_ns"], runs[1]["cpu_ns"])
        same("parts", [each["id"] for each in shown["parts"]], [each["id"] for each in runs[1]["parts"]])
        same("tasks", len(shown["tasks"]), 2 * len(alone["tasks"]))
        same("hosts of the tasks", len({task["host_id"] for task in shown["tasks"]}), 2)
    # On one clock: those of the other host began a second later.
    begun = [[task["begin_boot_ns"] for task in shown["tasks"] if task["host_id"] == part["host_id"]]
             for part in shown["parts"]]
    same("their beginnings", [number - 10**9 for number in sorted(begun[1])], sorted(begun[0]))
    says(tracer(lake, "show", runs[1]["id"]), "on 2 hosts", "host-1  run ", "host-2  run ", runs[1]["parts"][1]["id"])
    assert "parts" not in json.loads(tracer(lake, "show", runs[0]["id"], "--json"))
    says(tracer(lake, "top", "--once", code=1), "3 hosts", "--host")
    tracer(lake, "top", "--once", "--host", "host-2", "--json")
    same("instances", [each["host"]["cloud_instance_id"] for each in json.loads(tracer(lake, "host", "--json"))["hosts"]],
         ["i-1", "i-2", "i-3"])
    named = tracer(lake, "host", "--host", "host-2")
    says(named, "host-2", "cloud    aws i-2")
    assert "host-1" not in named, named
    says(tracer(lake, "top", "--once", "--host", "host-9", code=1), "no host is named 'host-9'; hosts: host-1, host-2, host-3")
    says(tracer(lake, "status", code=1), "host-1: last heard of", "hosts              3, of which 3 are silent")


# --- not a lake ----------------------------------------------------------------------------------


def runs_at(lake, url, **environment):
    return tracer(lake, "runs", code=1, url=url, **environment)


def test_no_connection(lake):
    says(runs_at(lake, "http://127.0.0.1:1"), "cannot connect")
    says(runs_at(lake, "http://localhost:1/"), "cannot connect")
    says(runs_at(lake, "https://no-such-host.invalid"), "cannot resolve the host name")


def test_name_servers_that_are_silent(lake):
    """With three, a resolver takes half a minute; the limit of a connection is 15 s."""
    if os.geteuid() != 0:
        raise Skip("needs root, to have name servers of its own")
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as silent:
        path = pathlib.Path(temporary) / "resolv.conf"
        for address in ("127.0.0.77", "127.0.0.78", "127.0.0.79"):
            silent.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind((address, 53))
            with path.open("a") as file:
                file.write(f"nameserver {address}\n")
        begin = time.monotonic()
        result = run_tracer(["runs"], "https://no-such-host.invalid", "unshare", "--mount", "sh", "-c",
                            'mount --bind "$0" /etc/resolv.conf && exec "$@"', path, RES_OPTIONS="timeout:5")
        same("exit status", result.returncode, 1)
        says(result.stderr, "cannot resolve the host name", "DNS")
        same("lines", result.stderr.count("\n"), 1)
        assert time.monotonic() - begin < 25, f"took {time.monotonic() - begin:.0f} s"


def test_addresses_that_are_refused(lake):
    says(runs_at(lake, "http://lake.example:8123"), "clear text", "https://")
    for url in ("http://analyst:geheim@127.0.0.1", "https://x:geheim@[broken"):
        answer = runs_at(lake, url)
        assert "geheim" not in answer, answer
    says(runs_at(lake, "ftp://127.0.0.1"), "must begin with https://")
    says(runs_at(lake, "file:///etc/passwd"), "lake.url")
    says(runs_at(lake, "https://127.0.0.1/?database=x"), "must not contain ?")
    says(runs_at(lake, lake.url, TRACER_LAKE_DATABASE="x; DROP"), "letters, digits and _")


def test_passwords(lake):
    fresh(lake)
    with tempfile.TemporaryDirectory() as temporary:
        secret = pathlib.Path(temporary) / "secret"
        secret.write_text("wrong-password\n")
        secret.chmod(0o600)
        answer = runs_at(lake, lake.url, TRACER_LAKE_PASSWORD_FILE=str(secret))
        says(answer, "check lake.user and lake.password-file")
        assert "wrong-password" not in answer
        says(tracer(lake, "runs", user="mallory", code=1, TRACER_LAKE_PASSWORD_FILE=str(secret)),
             "the lake rejected this user")
        secret.chmod(0o644)
        says(runs_at(lake, lake.url, TRACER_LAKE_PASSWORD_FILE=str(secret)), "others can read it", "chmod 600")
        says(runs_at(lake, lake.url, TRACER_LAKE_PASSWORD_FILE="/nonexistent/secret"), "No such file")


def test_configuration_file(lake):
    fresh(lake)
    with tempfile.TemporaryDirectory() as temporary:
        path = pathlib.Path(temporary) / ".config/tracer/lake.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(f"lake:\n  user: analyst\n  password-file: {lake.secret('analyst')}\n")
        home = {"HOME": temporary, "TRACER_LAKE_USER": "", "TRACER_LAKE_PASSWORD_FILE": ""}
        tracer(lake, "runs", "--json", **home)
        tracer(lake, "runs", "--json", TRACER_LAKE_CONFIG="")  # as if it were unset
        says(tracer(lake, "runs", code=1, TRACER_LAKE_CONFIG="/nonexistent", **home), "/nonexistent: cannot be read: No such file")
        for text, words in (("lake:\n  usr: analyst\n", "2: unknown setting lake.usr"),
                            ("lake:\n  user: [a]\n", "2: unknown setting lake.user with a single value"), ("other: 1\n", "unknown setting other"),
                            ("lake: {\n", "lake.yaml:")):
            path.write_text(text)
            says(tracer(lake, "runs", code=1, **home), words)


def test_redirect_is_not_followed(lake):
    with Answers(b"") as elsewhere:
        target = f"Location: {elsewhere.url}/?secret=1"
        with Answers(http_answer("302 Found", b"", target)) as portal:
            answer = runs_at(lake, portal.url)
        says(answer, f"redirects to {elsewhere.url}", "not followed")
        assert "secret" not in answer and not elsewhere.requests


def test_answers_of_others(lake):
    error = b"Code: 60. DB::Exception: Table default.x\x1b[2J does not exist. (UNKNOWN_TABLE)\n"
    for answer, words in (
            (http_answer("200 OK", b"<html><body>Log in</body></html>", "Content-Type: text/html"), "a web page"),
            (http_answer("200 OK", b"hello"), "not from ClickHouse"),
            (http_answer("200 OK", error, *CLICKHOUSE), "is missing a table or view"),
            (http_answer("500 Oops", b"Code: 999. DB::Exception: \x1b[2Jodd", *CLICKHOUSE), "returned an error: Code: 999"),
            (http_answer("503 Busy", b""), "status 503"), (http_answer("401 No", b""), "access denied"),
            (http_answer("204 Nothing", b""), "status 204"), (b"HTTP/1.1 200 OK\r\nContent-Le", "lake"),
            (b"\x15\x03\x01\x00\x02\x02\x16", "lake")):
        with Answers(answer) as other:
            text = runs_at(lake, other.url)
        if words != "lake":
            says(text, words)
        assert "\x1b" not in text, text


def after_version(rows):
    """Answers the first question, then returns these bytes as rows."""
    version = http_answer("200 OK", b"999\n", *CLICKHOUSE)
    return lambda head: version if "default_format" not in head else rows


def test_damaged_rows(lake):
    name = b"\x02id\x05Int64"
    for body in (b"\x01", b"\x01" + name, b"\xff" * 40, b"\x01\x7f", b"\x00", b"\x01\x02id\x06UInt128" + b"x" * 32,
                 b"\x01\x02id\x06String" + b"\xff\xff\xff\xff\x7f", b"\x01" + name + b"\0" * 7,
                 b"\x01\x02id\x0dArray(String)\xff\xff\xff\x01" + b"a" * 100):
        with Answers(after_version(http_answer("200 OK", body, *CLICKHOUSE))) as other:
            text = runs_at(lake, other.url)
        says(text, "tracer: ")
    # A failure after rows, as ClickHouse writes it, in a response that a proxy completed. With
    # numeric columns only, its text would pass for rows. A mark with another response's tag is data.
    words = b"Code: 395. DB::Exception: odd"
    trailer = b"\r\n__exception__\r\nabcdefghijklmnop\r\n" + words + b"\n30 abcdefghijklmnop\r\n__exception__\r\n"
    rows = b"\x02\x04name\x09row_count\x06String\x05Int64\x04runs" + bytes(8)
    for tag in ("abcdefghijklmnop", "ponmlkjihgfedcba"):
        answer = http_answer("200 OK", rows + trailer, *CLICKHOUSE, f"X-ClickHouse-Exception-Tag: {tag}")
        with Answers(after_version(answer)) as other:
            text = runs_at(lake, other.url)
        same(text, "the response was truncated" in text, tag == "abcdefghijklmnop")
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\nX-ClickHouse-Summary: {}\r\n\r\n\x02" + name
    with Answers(after_version(cut)) as other:
        says(runs_at(lake, other.url), "connection was interrupted")


def without_end(head, piece):
    """A response that begins with `head` and repeats `piece` for ever."""
    yield b"HTTP/1.1 200 OK\r\nX-ClickHouse-Summary: {}\r\n\r\n" + head
    while True:
        yield piece


def test_answers_without_end(lake):
    """Of tiny rows, of large ones, and in reply to a statement without rows."""
    head = b"\x02" + short("name") + short("row_count") + short("String") + short("Int64")
    for text, count, words in (("runs", 10000, "1000000 rows"), ("x" * (1 << 20), 1, "512 MiB")):
        size = len(text).to_bytes(1, "little") if len(text) < 128 else b"\x80\x80\x40"
        row = size + text.encode() + bytes(8)
        with Answers(after_version(without_end(head, row * count))) as other:
            result = subprocess.run(
                ["bash", "-c", '"$0" "$1" <<<status | tail -c 200', BUILD / "tests/lake/run_queries", other.url],
                capture_output=True, text=True, timeout=300, check=False)
        says(result.stdout, "failed: the lake's response is larger", words, "request less")
    for head in (b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 502 Bad Gateway\r\nX-ClickHouse-Summary: {}\r\n"):
        page = head + b"Content-Type: text/html\r\n\r\n"
        with Answers(lambda _, page=page: itertools.chain([page], itertools.repeat(b"x" * 65536))) as other:
            says(runs_at(lake, other.url), "a web page")
    no_schema = iter([http_answer("200 OK", b"", *CLICKHOUSE)])
    with Answers(lambda head: next(no_schema, None) or without_end(b"", b"x" * 65536)) as other:
        says(tracer(None, "lake", "init", code=1, url=other.url), "more than was requested")


class HostileLake(Answers):
    """Asks the real lake for a query's columns, once for all its instances, and answers with its own rows."""

    columns = {}

    def __init__(self, lake, number, text, row_count):
        super().__init__(self.rows)
        self.lake, self.numbers, self.text = lake, [number] * row_count, text

    def rows(self, head):
        path, sql = head.split(" ", 2)[1], self.requests[-1][1]
        if "default_format" not in path:
            return http_answer("200 OK", b"999\n", *CLICKHOUSE)
        settings = {name: value for name, (value,) in urllib.parse.parse_qs(
            path.partition("?")[2], keep_blank_values=True).items() if name.startswith("param_")}
        if sql not in self.columns:
            answer = self.lake.query(f"SELECT * FROM ({sql.decode()}) LIMIT 0", user="analyst", **settings,
                                     database="tracer", default_format="TSVWithNamesAndTypes")
            self.columns[sql] = [line.split("\t") for line in answer.decode().splitlines()]
        names, types = self.columns[sql]
        rows = [[number if "Int" in kind or "Nothing" in kind else self.text for kind in types]
                for number in self.numbers]
        return http_answer("200 OK", bytes([len(names)]) + b"".join(short(name) for name in names)
                           + b"".join(short(kind) for kind, _ in rows[0])
                           + b"".join(value for row in rows for _, value in row), *CLICKHOUSE)


def short(text):
    """A string in RowBinary."""
    data = text.encode()
    return bytes([len(data)]) + data


def int64(number):
    return "Int64", number.to_bytes(8, "little", signed=True)


def test_no_answer_of_a_lake_does_harm(lake):
    """NULL where a store never has it, extreme numbers, text instead of numbers, terminal escape
    sequences."""
    fresh(lake)
    null, escape = ("Nullable(Int64)", b"\1"), ("String", short("\x1b[2J\x9b\n'\\"))
    for number, text in ((null, ("Nullable(String)", b"\1")), (int64(2**63 - 1), escape), (int64(-2**63), escape),
                         (int64(2**62 - 1), ("Array(String)", b"\2" + short("") + short("a b"))),
                         (int64(1 - 2**62), ("String", b"\0")), (int64(0), escape), (int64(-1), escape),
                         (("String", b"\1x"), int64(3)), (("Float64", b"\xff" * 8), int64(1))):
        with HostileLake(lake, number, text, 3 if text == escape else 1) as other: # several rows are summed
            for verb in ("runs", "runs --all --raw --json", "show", "show --json --processes", "show --by task",
                         "show --by tool", "show --all --processes", "show --raw", "explain 1", "explain --json 1",
                         "explain x", "top --once --all", "top --once --all --json", "status", "status --json",
                         "host", "host --json", "runs --limit 0 --host x"):
                harmless(lake, other, verb, (number, text))


def harmless(lake, other, verb, what):
    result = run_tracer(verb.split(), other.url)
    said = result.stdout + result.stderr
    assert result.returncode in (0, 1), f"{verb}, {what}: {result.returncode}: {said[-3000:]}"
    assert "runtime error" not in said and "\x1b" not in said, f"{verb}, {what}: {said[-3000:]}"
    if "--json" in verb and result.returncode == 0:
        json.loads(result.stdout)


def test_only_what_is_shown_is_asked_for(lake):
    fresh(lake)
    for verb, with_containers in (("failed", False), ("failed --json", False), ("show", True)):
        with HostileLake(lake, int64(1), ("String", short("x")), 1) as other:
            harmless(lake, other, verb, verb)
        same(verb, any(b"container_id FROM runs" in sql for _, sql in other.requests), with_containers)


def test_what_was_asked_ahead_and_is_never_due(lake):
    """Even the last of the queries asked ahead is sent before the current one is answered."""
    rows = http_answer("200 OK", b"\1" + short("id") + short("Int64"), *CLICKHOUSE)
    latest = threading.Event()

    def answer(head):
        if "param_run_id=9&" in head:
            latest.set()
        came = "param_run_id=0&" not in head or latest.wait(TRACER_LIMIT_S)
        return after_version(rows)(head) if came else http_answer("500 Late", b"")

    lines = [f"{'+' if number else ''}run_doubts\trun_id=i{number}\thost_id=i1\n" for number in (*range(1, 10), 0)]
    with Answers(answer) as other:
        result = subprocess.run([BUILD / "tests/lake/run_queries", other.url], input="".join(lines),
                                capture_output=True, text=True, timeout=300, check=True)
    same("answers", result.stdout, "id\n\n")


def test_no_query_is_asked_twice(lake):
    """What is asked ahead is what is asked then: also a time such as 15m ago."""
    fresh(lake)
    with HostileLake(lake, int64(1), ("String", short("x")), 1) as other:
        harmless(lake, other, "top --once", "top")
    asked = collections.Counter(sql for _, sql in other.requests)
    same("asked twice", [sql for sql, count in asked.items() if count > 1], [])


def test_samples_of_all_hosts_are_one_query(lake):
    fresh(lake)
    asked = []

    class Hosts(HostileLake):
        def rows(self, head):
            asked.append("param_since_unix_ns" in head)
            return super().rows(head)

    with Hosts(lake, int64(1), ("String", short("x")), 1) as other:
        other.numbers = [int64(number) for number in (1, 2, 3)]
        result = tracer(lake, "host", "--json", url=other.url)
    same("hosts", len(json.loads(result)["hosts"]), 3)
    same("queries of samples", asked.count(True), 1)


# ---- TLS --------------------------------------------------------------------------------------


def test_tls(lake):
    if not shutil.which("openssl"):
        raise Skip("openssl is not installed")
    fresh(lake)
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        with tls(directory, lake) as (url, ca, _):
            says(runs_at(lake, url), "certificate is not trusted", "lake.ca-file")
            tracer(lake, "runs", "--json", url=url, TRACER_LAKE_CA_FILE=ca)
            says(runs_at(lake, url, TRACER_LAKE_CA_FILE="/nonexistent.pem"), "cannot be used")
            says(runs_at(lake, url.replace("https", "http")), "tracer: http://127.0.0.1")
            says(runs_at(lake, url.replace("127.0.0.1", "localhost"), TRACER_LAKE_CA_FILE=ca), "certificate is not trusted")
        with tls(directory, lake, valid=("20200101000000Z", "20200201000000Z")) as (url, ca, _):
            says(runs_at(lake, url, TRACER_LAKE_CA_FILE=ca), "has expired: renew it on the server")
        with tls(directory, lake, f"ssl_client_certificate {directory}/authority.pem; ssl_verify_client on;") as (url, ca, authority):
            certificate, key = authority.issue("analyst", "host.example.org")
            runs_at(lake, url, TRACER_LAKE_CA_FILE=ca)
            tracer(lake, "runs", "--json", url=url, TRACER_LAKE_CA_FILE=ca, TRACER_LAKE_CERTIFICATE_FILE=str(certificate),
                   TRACER_LAKE_KEY_FILE=str(key))


if __name__ == "__main__":
    sys.exit(run("lake", globals(), sys.argv[2:]))
