#!/usr/bin/env python3
"""One set of queries: every file of query/ gives the same rows for a host's store and for the lake
to which it was shipped; so do the verbs of `tracer`.

usage: check_queries.py BUILD [NAME...]

The stores are the replayed golden recordings, the one with known content and hostile names from the
tests of the command, and one in which several hosts share a run, with data that no recording has.
The shipper is the real one.
"""

import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from checks import refresh, run, same, wait_until  # noqa: E402
from daemons import replay  # noqa: E402
from lake import ROOT  # noqa: E402
from testing import LONG  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/tune"))
from scenarios import SCENARIOS  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
TRACER = BUILD / "cli/tracer"
QUERIES = {path.stem: path.read_text() for path in sorted([*(ROOT / "analysis/query").glob("*/*.sql"), *(ROOT / "analysis/sweep").glob("*.sql"),
                                                             *(ROOT / "analysis/tune").glob("*.sql")])}
QUERIES = {name: text for name, text in QUERIES.items() if "\n-- rows: account\n" not in text}
RECORDINGS = ("make", "script", "snakemake")
# Recordings of tests/tune, and the findings that have rows only there.
PLANTED = {name: [finding for finding in scenario.expects[:1] if finding in QUERIES] for name, scenario in SCENARIOS.items()}
PLANTED["serial"] += ["failed_attempts"]
PLANTED_COMBINATIONS_MAX = 40 if LONG else 3
COMBINATIONS_MAX = 10 if LONG else 3 # for each store, which differ in their selection
STORES = (*RECORDINGS, "known", "several", "sweep", "live", *PLANTED) if LONG else ("known", "several", "sweep", "live", "serial")
EACH_MAX = 20
RUNS_SHOWN = 3


def command(*arguments, code=0, **settings):
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False, **settings)
    assert result.returncode == code, f"{arguments} ended with {result.returncode}: {result.stderr}"
    return result.stdout


# Columns named like ids that are not ids, or not specific to a host.
NO_IDS = {"user_id", "exec_id", "boot_id", "image_id", "runtime_id", "sender_user_id"}
COPIED = ("hosts", "runs", "tasks", "tools", "process_rows", "samples", "incidents")
SECOND_NS = 10**9


def copy_host(db, first, number, late_ns, revs):
    """Copies the rows of the first host as host-NUMBER, with a later start and another boot clock."""
    for table, rows in first:
        names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
        for values in rows:
            row = dict(zip(names, values))
            for name in row:
                if (name == "id" or name.endswith("_id")) and name not in NO_IDS and row[name]:
                    row[name] ^= number << 8
                elif name in ("begin_boot_ns", "end_boot_ns", "boot_ns") and row[name]:
                    row[name] += number * 1000 * SECOND_NS
                elif name.endswith("unix_ns") and row[name]:
                    row[name] += late_ns
            row["rev"] = next(revs)
            if table == "hosts":
                row["hostname"] = f"host-{number}"
            db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                       [*row.values()])


def insert(db, table, **row):
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()])


def add_the_rare(db, revs):
    """Adds containers and host samples (of a run, of a task, of neither), a reboot, and waits for storage."""
    db.execute("UPDATE process_rows SET block_io_delay_ns = cpu_ns % 1000 WHERE id % 2 = 0")
    for number, (host, run, task) in enumerate(db.execute(
            "SELECT r.host_id, r.id, t.id FROM runs r JOIN tasks t ON t.run_id = r.id").fetchall(), 1):
        insert(db, "containers", id=number, rev=next(revs), host_id=host, runtime="docker", runtime_id=f"{number:x}",
               cgroup_path=f"/docker/{number:x}", image=None if number % 3 else "alpine:3", run_id=run if number % 2 else None,
               pid_namespace=None if number % 4 else 4026532000 + number,
               mount_namespace=None if number % 4 else 4026533000 + number,
               task_id=task if number % 2 else None, begin_boot_ns=number, started_unix_ns=number * SECOND_NS)
        if number % 2 == 0:
            db.execute("UPDATE tasks SET container_id = ? WHERE id = ?", (number, task))
        if number % 5 == 0:
            db.execute("UPDATE runs SET container_id = ? WHERE id = ?", (number, run))
    for host, begun in db.execute("SELECT id, first_seen_unix_ns FROM hosts").fetchall():
        for number in range(30):
            insert(db, "host_samples", rev=next(revs), host_id=host, unix_ns=begun + number * SECOND_NS,
                   boot_ns=number % 20 * SECOND_NS + 1, cpu_user_ns=number * 1000, running_count=number % 4,
                   memory_available_bytes=None if number % 7 == 0 else 1 << 30)


def rows_of(db):
    return [(table, db.execute(f"SELECT * FROM {table}").fetchall()) for table in COPIED]


def make_crowd(db, revs):
    """A run shared by twenty-one hosts."""
    db.execute("UPDATE runs SET run_key = 'slurm:42' WHERE engine IS NOT NULL AND engine <> ''")
    db.execute("UPDATE hosts SET cluster = 'site'")
    first = rows_of(db)
    for number in range(1, 21):
        copy_host(db, first, number, number * SECOND_NS, revs)


def add_what_is_not_planted(db, revs):
    """Faults that no recording of tests/tune has: a network filesystem, memory requested in vain, a failed attempt."""
    tasks = [task for task, in db.execute("SELECT id FROM tasks WHERE kind <> 'main' ORDER BY begin_boot_ns")]
    db.execute("UPDATE tasks SET uninterruptible_ns = 5000000000 WHERE id = ?", tasks[:1])
    db.execute("UPDATE tasks SET memory_limit_bytes = 8589934592, end_boot_ns = end_boot_ns + 600000000000 WHERE id = ?",
               tasks[2:3])
    db.execute("UPDATE tasks SET status = 'failed', exit_code = 1, retried_by_id = ? WHERE id = ?", (tasks[2], tasks[1]))


def make_several(db, revs):
    """Three hosts with one run, of which one still runs; one with the same key a day later; and
    three of two other clusters with the same key."""
    db.execute("UPDATE hosts SET hostname = 'host-0', cluster = 'site', last_seen_unix_ns = last_seen_unix_ns + ?", (100 * SECOND_NS,))
    db.execute("UPDATE runs SET run_key = 'slurm:42' WHERE engine IS NOT NULL AND engine <> ''")
    own, first = db.execute("SELECT id FROM hosts").fetchone()[0], rows_of(db)
    for number, late_s in ((1, 1), (2, 50), (3, 86400), (4, 2), (5, 3), (6, 4)):
        copy_host(db, first, number, late_s * SECOND_NS, revs)
    db.execute("UPDATE hosts SET cluster = 'alps' WHERE hostname IN ('host-4', 'host-5')")  # keys of other clusters
    db.execute("UPDATE hosts SET cluster = 'andes' WHERE hostname = 'host-6'")
    db.execute("UPDATE runs SET end_boot_ns = NULL, status = 'running', living_count = 1 WHERE run_key IS NOT NULL"
               " AND host_id = ?", (own ^ 2 << 8,))
    add_the_rare(db, revs)


# Stores that are changed recordings.
CHANGED = {"several": ("golden/snakemake", make_several), "crowd": ("golden/snakemake", make_crowd),
           "serial": ("tune/serial", add_what_is_not_planted)}


@contextlib.contextmanager
def made(name):
    """The path of that store, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="tracer-lake-") as temporary:
        path = pathlib.Path(temporary, f"{name}.db")
        make_store(path, name)
        yield path


def make_store(path, name):
    if name == "known":
        command(BUILD / "tests/cli/make_store", path)
    elif name in ("sweep", "live"):
        command(sys.executable, ROOT / f"tests/cli/check_{name}.py", TRACER, BUILD / "tests/cli/make_store", "--store", path)
    else:
        recording, change = CHANGED.get(name, (f"{'tune' if name in PLANTED else 'golden'}/{name}", None))
        replay(BUILD, ROOT / f"tests/{recording}.rec", path)
        if change:
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                revs = itertools.count(db.execute("SELECT rev FROM stream").fetchone()[0] + 1)
                change(db, revs)
                db.execute("UPDATE stream SET rev = ?", (next(revs),))


@contextlib.contextmanager
def shipped(lake, name, change=None):
    """One store, perhaps changed, shipped into an empty lake. Yields its path."""
    if lake.value("EXISTS DATABASE tracer") == "0":
        command(TRACER, "lake", "init", "--lake", lake.url, env=lake.environment("migrator"))
    for table, in lake.rows("SELECT name FROM system.tables WHERE database = 'tracer' AND name LIKE '%_rows'"):
        lake.query(f"TRUNCATE TABLE tracer.{table}")
    with made(name) as store:
        if change:
            with contextlib.closing(sqlite3.connect(store)) as database, database:
                change(database)
        lake.ship(BUILD, store)
        lake.query("TRUNCATE TABLE tracer.host_activity_rows")  # into an empty one all periods are computed, old ones too
        refresh(lake, "host_activity")
        yield store


def listed(store, *options):
    return json.loads(command(TRACER, "runs", *options, "--json", "--store", store))["runs"]


# ---- queries --------------------------------------------------------------------------------


def parameters_of(name):
    text = re.sub(r"--.*", "", QUERIES[name])
    return sorted(set(re.findall(r"(?<!:):([a-z]\w*)", text)))


def values_for(store):
    """Possible values of parameters, by name, from the store's content."""
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    db.text_factory = lambda data: data.decode(errors="surrogateescape")

    def column(sql):
        return [value for value, in db.execute(f"{sql} LIMIT {EACH_MAX}")]

    def whole(numbers):
        return [f"i{number}" for number in dict.fromkeys(numbers)]

    # Names with invalid UTF-8 are changed in the lake: docs/shipping.md.
    names = [name for name in column("SELECT name FROM runs UNION SELECT name FROM tasks UNION"
                                     " SELECT program FROM processes")
             if name and not re.search(r"[\t\n\x00-\x1f\ud800-\udfff]", name)]
    ids = column("SELECT id FROM runs") + column("SELECT id FROM tasks") + column("SELECT id FROM processes")
    begun = sorted(column("SELECT started_unix_ns FROM runs"))
    boots = sorted(column("SELECT boot_ns FROM samples")) or [0]
    values = {
        "run_id": ["n", *whole([*column("SELECT id FROM runs WHERE run_key IS NOT NULL"), *column("SELECT id FROM runs"), 1])],
        "task_id": whole([*column("SELECT id FROM tasks"), 1]),
        "tool_id": whole([*column("SELECT id FROM tools"), 1]),
        "process_id": whole([*column("SELECT id FROM processes ORDER BY exec_id DESC"), 1]),
        "host_id": ["n", *whole([*column("SELECT id FROM hosts"), 1])],
        "first_host_id": whole([-2 ** 63 + 1, *column("SELECT id FROM hosts")]),
        "last_host_id": whole([2 ** 63 - 1, *column("SELECT id FROM hosts")]),
        "pid": whole([*column("SELECT pid FROM processes"), 1]),
        "name": [f"t{name}" for name in names] + ["n", "tno'such \\ name %_", "t"],
        "first_id": ["i0", *whole(ids)],
        "last_id": [f"i{2 ** 63 - 1}", *whole(ids)],
        "until_unix_ns": whole([begun[-1] + 1, 2**62]), "now_unix_ns": whole([begun[-1] + 10**13]),
        "since_unix_ns": whole([0, begun[len(begun) // 2], begun[-1] + 1]),
        "seen_unix_ns": whole([0, begun[-1]]), "known_unix_ns": ["i0"],
        "first_boot_ns": ["n", "i0"], "last_boot_ns": ["n", f"i{2 ** 62}", *whole(column("SELECT begin_boot_ns FROM tasks"))],
        "begin_boot_ns": ["i0", *whole(column("SELECT begin_boot_ns FROM tasks"))], "end_boot_ns": [f"i{2 ** 62}"],
        "since_boot_ns": whole([0, boots[len(boots) // 2], boots[-1] + 1]),
        "window_ns": ["i3500000000", f"i{2 ** 60}"], "written_rev": ["n", "i5"],
        "host": ["n", "tno such host", *(f"t{name}" for name in column("SELECT hostname FROM hosts"))],
        "status": ["n", "tfailed", "trunning", "tsucceeded"],
        "run_key": ["n", *(f"t{key}" for key in column("SELECT run_key FROM runs WHERE run_key IS NOT NULL")), "t"],
        "limit": ["i3", f"i{2 ** 63 - 1}"],
        "candidate_limit": [f"i{2 ** 63 - 1}", "i4"],
        "with_system": ["i0", "i1"], "kind": ["tsystem", "tno such kind"],
        "user_id": ["n", "i0", *whole(column("SELECT DISTINCT user_id FROM runs WHERE user_id IS NOT NULL"))],
    }
    for entity, table in (("run", "runs"), ("task", "tasks"), ("tool", "tools"), ("process", "processes")):  # with their hosts, and with another's
        rows = db.execute(f"SELECT host_id, id FROM {table} ORDER BY id LIMIT {EACH_MAX}").fetchall()
        values["host_id", f"{entity}_id"] = [(f"i{host}", f"i{id}") for host, id in rows] + [
            ("i1", f"i{rows[0][1]}"), (f"i{rows[0][0]}", "i1"), ("n", f"i{rows[0][1]}")]
    db.close()
    return values


FACTORS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9,
           "": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def values_declared(values):
    """For parameters not in the lists above: no value, and the default in its type's form."""
    for question in json.loads(command(TRACER, "query", "--list", "--json"))["queries"]:
        for each in question["parameters"]:
            number, unit = re.fullmatch(r"([\d.]*)(.*)", each["default"] or "").groups()
            plain = {"share": lambda: f"r{float(number) / (100 if unit == '%' else 1)}", "number": lambda: f"r{number}",
                     "money": lambda: f"i{int(float(number) * 10**6)}", "flag": lambda: f"i{int(unit == 'yes')}",
                     "text": lambda: f"t{number}{unit}"}
            value = "n" if each["default"] == "none" else plain.get(
                each["type"], lambda: f"i{int(number or 0) * FACTORS.get(unit, 1)}")()
            values.setdefault(each["name"], [value, "n" if each["default"] == "none" else "i0"])
    return values


def some_of(combinations, seed, most):
    """The first ones and a sample of the others, so that every parameter gets several values."""
    if len(combinations) <= most:
        return combinations
    half = most // 2
    return combinations[:half] + random.Random(seed).sample(combinations[half:], half)


def lines_for(store, seed):
    """Every query with all values, or with a sample of the combinations. An id and its host stay
    paired."""
    values = values_declared(values_for(store))
    values["first_id", "last_id"] = list(zip(values["first_id"], values["last_id"]))
    for query in PLANTED.get(seed, QUERIES):
        names = parameters_of(query)
        missing = set(names) - set(values)
        assert not missing, f"{query}: no values are known for {missing}"
        pair = next((key for key in values if isinstance(key, tuple) and set(key) <= set(names)), ())
        others = [name for name in names if name not in pair]
        sets = itertools.product(*(values[name] for name in others), values[pair] if pair else [()])
        for *chosen, paired in some_of(list(sets), f"{seed} {query}",
                                         PLANTED_COMBINATIONS_MAX if seed in PLANTED else COMBINATIONS_MAX):
            yield "\t".join([query, *(f"{name}={value}" for name, value in zip((*others, *pair), (*chosen, *paired)))])


def answers(source, lines, **settings):
    text = command(BUILD / "tests/lake/run_queries", source, input="\n".join(lines) + "\n", **settings)
    return text.split("\n\n")[:-1]


def compare_queries(lake, name):
    with shipped(lake, name) as store:
        lines = list(lines_for(store, name))
        here = answers(store, lines)
        there = answers(lake.url, lines, env=lake.environment())
    same(f"answers of {name}", (len(here), len(there)), (len(lines), len(lines)))
    asked = set()
    for line, expected, found in zip(lines, here, there):
        assert not expected.startswith("failed"), f"{line}: {expected}"
        difference = [pair for pair in itertools.zip_longest(expected.splitlines(), found.splitlines())
                      if pair[0] != pair[1]]
        assert not difference, f"{line}:\nstore {difference[0][0]}\nlake  {difference[0][1]}"
        if len(expected.splitlines()) > 1:
            asked.add(line.split("\t")[0])
    return asked


def test_every_query(lake):
    asked = set()
    for name in STORES:
        asked |= compare_queries(lake, name)
    if LONG:
        same("queries for which no store has rows", set(QUERIES) - asked, set())
    else:
        assert len(asked) > len(QUERIES) * 2 // 3, sorted(set(QUERIES) - asked)


# Enough hosts and rows for several granules of 8,192 rows in each table.
MANY_HOSTS, ROWS_EACH = 30, 1500
ID = "bitAnd(cityHash64('{}', number), 9223372036854775807)"
HOST = f"bitAnd(cityHash64(number % {MANY_HOSTS}), 9223372036854775807)"
FILLED = {
    "runs": {"kind": "'job'", "name": "'n'", "status": "'ended'"},
    "tasks": {"kind": "'generic'", "name": "'n'", "status": "'ended'", "run_id": ID.format("runs")},
    "tools": {"name": "'n'", "role": "'tool'", "run_id": ID.format("runs"), "task_id": ID.format("tasks")},
    "processes": {"program": "'n'", "run_id": ID.format("runs"), "task_id": ID.format("tasks"),
                  "tool_id": ID.format("tools"), "parent_id": ID.format("processes")},
    "incidents": {"kind": "'signal'", "sentence": "'n'", "run_id": ID.format("runs"), "task_id": ID.format("tasks")},
    "containers": {"runtime": "'n'", "run_id": ID.format("runs")},
    "losses": {"kind": "'exit'", "lost_count": "1"},
    "samples": {"process_id": ID.format("processes"), "boot_ns": "number"},
}


def fill_many_hosts(lake):
    for entity, columns in FILLED.items():
        row = {"host_id": HOST, "rev": 1, "version": 1, **columns}
        if entity != "samples":
            row["id"] = ID.format(entity)
        if entity in ("runs", "tasks", "tools"):
            row["process_count"] = 1
        lake.query(f"INSERT INTO tracer.{entity}_rows ({', '.join(row)}) SELECT {', '.join(map(str, row.values()))}"
                   f" FROM numbers({MANY_HOSTS * ROWS_EACH})")
        lake.query(f"OPTIMIZE TABLE tracer.{entity}_rows FINAL")


def granules_read(lake, name, parameters):
    """(table, granules read, total) for every table that a query reads."""
    sql = re.sub(r"--.*", "", QUERIES[name]).strip().rstrip(";")
    sql = re.sub(r"(?<!:):([a-z]\w*)", r"{\1:Int64}", sql)
    plan = lake.query(f"EXPLAIN indexes = 1 {sql}", user="analyst", database="tracer",
                      **{f"param_{key}": value for key, value in parameters.items()}).decode()
    found = []
    for block in plan.split("ReadFromMergeTree (tracer.")[1:]:  # each index filters the result of the previous one
        granules = re.findall(r"Granules: (\d+)/(\d+)", block)
        found.append((block.partition(")")[0], int(granules[-1][0]), int(granules[0][1])))
    return found


def test_what_is_asked_of_a_run_reads_its_host_alone(lake):
    with shipped(lake, "make"):
        fill_many_hosts(lake)
    run, host, task, process = lake.rows("SELECT run_id, host_id, task_id, id FROM tracer.processes WHERE program = 'n'"
                                         " LIMIT 1")[0]
    parameters = {"run_id": run, "host_id": host, "task_id": task, "process_id": process, "since_boot_ns": 0,
                  "window_ns": 9, "limit": 9}
    asked = 0
    for query in QUERIES:
        names = parameters_of(query)
        if "host_id" not in names or not set(names) <= set(parameters) or query == "host_samples":
            continue
        for table, read, whole in granules_read(lake, query, parameters):
            assert whole < 4 or read <= 2, f"{query} reads {read} of {whole} granules of {table}"
            asked += whole >= 4
    assert asked > 30, f"only {asked} tables were looked into"


# ---- verbs ----------------------------------------------------------------------------------


def without_marks(data):
    """Drops the marks of escaped names: the lake stores invalid UTF-8 in escaped form and cannot tell. And how long a run
    has run so far: a store has one clock, a lake one for each host."""
    if isinstance(data, dict):
        return {key: without_marks(value) for key, value in data.items() if not key.endswith("_escaped") and key != "elapsed_ns"}
    return [without_marks(value) for value in data] if isinstance(data, list) else data


def compare_verb(lake, store, *arguments, running=False):
    env = lake.environment()
    here = command(TRACER, *arguments, "--store", store, env=env)
    there = command(TRACER, "--lake", lake.url, *arguments, env=env)
    if "--json" in arguments:
        here, there = (json.dumps(without_marks(json.loads(text)), indent=1) for text in (here, there))
    if running:  # the lake's durations end with the latest row of the host
        here, there = (re.sub(r"\d+m\d+s|\d+(\.\d+)? (ns|µs|ms|s)\b|\d+\.\d+ (?=of|cores)", "TIME", text)
                       for text in (here, there))
        here, there = (re.sub(r" +", " ", text) for text in (here, there))
    for expected, found in itertools.zip_longest(here.splitlines(), there.splitlines()):
        same(f"{arguments}", found, expected)


def compare_verbs(lake, store, runs, *commands, running=lambda run: False):
    """Commands about each of these runs."""
    for run in runs:
        for words in commands:
            compare_verb(lake, store, *words.replace("RUN", run["id"]).split(), running=running(run))


def test_verbs_give_the_same_output(lake):
    for name in RECORDINGS if LONG else RECORDINGS[-1:]:
        with shipped(lake, name) as store:
            for words in ("runs", "runs --all", "runs --all --json", "runs --limit 0", "show --by task", "show --by tool",
                          "show --json", "show --all"):
                compare_verb(lake, store, *words.split())
            compare_verbs(lake, store, listed(store, "--all")[:RUNS_SHOWN], "show RUN --json --processes --series",
                          "show RUN --processes", "explain RUN", "explain RUN --json", "export RUN --format versions",
                          "export RUN --format crate", "export RUN --format methods")
            with contextlib.closing(sqlite3.connect(store)) as database:
                processes = [{"id": process} for process, in database.execute(
                    "SELECT printf('%016x', min(p.id)) FROM processes p JOIN tasks t ON t.id = p.task_id"
                    " WHERE t.kind <> 'main' AND p.arguments IS NOT NULL GROUP BY t.name")]
            compare_verbs(lake, store, processes, "explain RUN")


def test_verbs_on_several_hosts(lake):
    with shipped(lake, "several") as store:
        runs = listed(store)
        same("hosts of each run", [len(run.get("parts", [0])) for run in runs], [1, 1, 2, 3])
        compare_verb(lake, store, "runs", "--json")
        for status in ("running", "succeeded", "failed"):
            wanted = [run for run in runs if run["status"] == status]
            same(status, listed(store, "--status", status), wanted)
            document = json.loads(command(TRACER, "runs", "--status", status, "-n1", "--json", "--store", store))
            same(f"how many {status}", document["run_count"], len(wanted))
            compare_verb(lake, store, "runs", "--status", status, "-n1", "--json")
        centres = store.parent / "centres.csv"
        centres.write_text("Centre,User,Cgroup,Run\nnorth,,*docker*,\nsouth,,,*a*\n", encoding="ascii")
        for words in ("--json", "--json --co2", f"--json --by centre --centres {centres}",
                      f"--format focus --by run --centres {centres}"):
            compare_verb(lake, store, "cost", "--since", "2020-01-01", "--until", "2030-01-01", *words.split())
        compare_verbs(lake, store, runs, "show RUN --json", "show RUN --by task", "show RUN --by tool", running=lambda run: True)


def test_tune_gives_the_same_answers(lake):
    for name in PLANTED if LONG else ("gap", "contention", "several"):
        with shipped(lake, name) as store:  # the lake's times end with the latest row of the host
            compare_verbs(lake, store, [run for run in listed(store) if run["status"] != "running"], "tune RUN --json")


def test_a_run_of_more_parts_than_are_searched_first(lake):
    """The latest parts do not represent it; the one that does is still found."""
    with shipped(lake, "crowd") as store:
        same("hosts of each run", [len(run["parts"]) for run in listed(store, "--limit", "1")], [21])
        compare_verb(lake, store, "runs", "--json", "--limit", "1")


def test_verbs_on_hostile_names(lake):
    with shipped(lake, "known") as store:
        compare_verbs(lake, store, listed(store, "--all"), "show RUN --processes", running=lambda run: run["status"] == "running")


def test_questions_give_the_same_answers(lake):
    names = [question["name"] for question in json.loads(command(TRACER, "query", "--list", "--json"))["queries"]
             if question["is_query"]]
    with shipped(lake, "snakemake") as store:
        host = command(TRACER, "query", "hosts", "--format", "csv", "--store", store).split("\n")[1].split(",")[0]
        given = {"host_samples": ["--host", host], "host_silent": ["--now", "2026-11-30"]}
        forms = (["--format", "ndjson"], ["--format", "csv"], [])
        for index, name in enumerate(names):
            for form in forms if LONG else [forms[index % len(forms)]]:
                compare_verb(lake, store, "query", name, *form, *given.get(name, []))


def test_a_question_of_a_site_only_reads(lake):
    """For every user, even the one that may change the lake."""
    with shipped(lake, "make") as store:
        head = "-- title: T\n-- explanation: E\n-- column: name text; n\n-- column: row_count count; c\n"
        site = store.parent / "site"
        site.mkdir()
        (site / "mine.sql").write_text(f"{head}SELECT name, count(*) AS row_count FROM runs GROUP BY name ORDER BY name;\n")
        (site / "slow.sql").write_text(f"{head}SELECT 'x' AS name, count(*) AS row_count FROM processes a, processes b,"
                                       " processes c, processes d, processes e, processes f, processes g\n")
        here = command(TRACER, "query", "mine", "--format", "csv", "--queries", site, "--store", store)
        assert here.count("\n") > 2, here
        for user in ("analyst", "migrator"):
            same(user, command(TRACER, "--lake", lake.url, "query", "mine", "--format", "csv", "--queries", site,
                               env=lake.environment(user)), here)
        slow = subprocess.Popen([TRACER, "--lake", lake.url, "query", "slow", "--queries", site], env=lake.environment())
        running = "SELECT count() FROM system.processes WHERE user = 'analyst'"
        wait_until("the query runs", lambda: lake.value(running) == "1")
        slow.send_signal(signal.SIGINT)
        same("interrupted", slow.wait(30), -signal.SIGINT)
        wait_until("the query ends", lambda: lake.value(running) == "0")  # the server stops it as well


def test_command_lines_are_the_same_text(lake):
    with shipped(lake, "script") as store:
        for columns, view in (("process, run, task, tool, parent, command", "processes"), ("run, name, host", "runs"),
                              ("task, run, status", "tasks"), ("tool, task, run", "tools"),
                              ("run, task, process, sentence", "incidents")):
            sql = f"SELECT {columns} FROM {{}}readable_{view} ORDER BY 1, 2, 3"
            here = [["\\N" if value is None else value for value in row]
                    for row in sqlite3.connect(store).execute(sql.format(""))]
            assert here or view == "incidents", view
            same(view, lake.rows(sql.format("tracer."), user="analyst"), here)


if __name__ == "__main__":
    sys.exit(run("lake queries", globals(), sys.argv[2:]))
