#!/usr/bin/env python3
"""One set of queries: every file of common/store/queries says the same of a host's store and of
the lake that the store was shipped to, row by row; and so do the verbs of `tracer`.

usage: check_queries.py BUILD [NAME...]

The stores are the golden recordings, replayed, and the one with known contents and hostile
names that the tests of the command use. The shipper is the real one.
"""

import itertools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from checks import run, same  # noqa: E402
from lake import ROOT  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
TRACER = BUILD / "cli/tracer"
QUERIES = ROOT / "common/store/queries"
RECORDINGS = ("make", "script", "snakemake")
# What the correlator and the shipper keep for themselves is no entity.
HOST_ONLY = {"checkpoints", "stream"}
COMBINATIONS_MAX = 24
EACH_MAX = 20
RUNS_SHOWN = 3


def environment(lake, user="analyst"):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TRACER_")}
    return plain | {"TRACER_LAKE_USER": user, "TRACER_LAKE_PASSWORD_FILE": str(lake.secret(user)),
                    "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def command(*arguments, code=0, **settings):
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False, **settings)
    assert result.returncode == code, f"{arguments} ended with {result.returncode}: {result.stderr}"
    return result.stdout


def make_store(directory, name):
    path = directory / f"{name}.db"
    if name == "known":
        command(BUILD / "tests/cli/make_store", path)
    else:
        (directory / "rules").mkdir(exist_ok=True)
        command(BUILD / "correlator/tracer-correlator", "--replay", ROOT / f"tests/golden/{name}.rec",
                "--store", path, "--rules", directory / "rules", "--retain", "0")
    return path


def ship(lake, directory, store):
    state = directory / f"{store.stem}.state"
    state.mkdir()
    command(BUILD / "shipper/tracer-shipper", "--once", "--store", store, "--state", state, "--config",
            "/dev/null", "--url", lake.url, "--set", "lake.user=shipper", "--set",
            f"lake.password-file={lake.secret('shipper')}", "--log-level", "warning")


def shipped(lake, directory, name):
    """An empty lake, then what one store holds: the store's path."""
    if lake.value("EXISTS DATABASE tracer") == "0":
        command(TRACER, "lake", "init", "--lake", lake.url, env=environment(lake, "migrator"))
    for table, in lake.rows("SELECT name FROM system.tables WHERE database = 'tracer' AND name LIKE '%_rows'"):
        lake.query(f"TRUNCATE TABLE tracer.{table}")
    store = make_store(directory, name)
    ship(lake, directory, store)
    return store


# ---- queries --------------------------------------------------------------------------------


def parameters_of(name):
    text = re.sub(r"--.*", "", (QUERIES / f"{name}.sql").read_text())
    return sorted(set(re.findall(r"(?<!:):([a-z]\w*)", text)))


def values_for(store):
    """What a parameter of a name may be, from what is in the store."""
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    db.text_factory = lambda data: data.decode(errors="surrogateescape")

    def column(sql):
        return [value for value, in db.execute(f"{sql} LIMIT {EACH_MAX}")]

    def whole(numbers):
        return [f"i{number}" for number in dict.fromkeys(numbers)]

    # Names with bytes that are no UTF-8 are other names in the lake: docs/shipping.md.
    names = [name for name in column("SELECT name FROM runs UNION SELECT name FROM tasks UNION"
                                     " SELECT program FROM processes")
             if name and not re.search(r"[\t\n\x00-\x1f\ud800-\udfff]", name)]
    ids = column("SELECT id FROM runs") + column("SELECT id FROM tasks") + column("SELECT id FROM processes")
    begun = sorted(column("SELECT started_unix_ns FROM runs"))
    boots = sorted(column("SELECT boot_ns FROM samples")) or [0]
    values = {
        "run_id": whole([*column("SELECT id FROM runs"), 1]),
        "task_id": whole([*column("SELECT id FROM tasks"), 1]),
        "process_id": whole([*column("SELECT id FROM processes ORDER BY exec_id DESC"), 1]),
        "host_id": ["n", *whole([*column("SELECT id FROM hosts"), 1])],
        "pid": whole([*column("SELECT pid FROM processes"), 1]),
        "name": [f"t{name}" for name in names] + ["n", "tno'such \\ name %_", "t"],
        "first_id": ["i0", *whole(ids)],
        "last_id": [f"i{2 ** 63 - 1}", *whole(ids)],
        "since_unix_ns": whole([0, begun[len(begun) // 2], begun[-1] + 1]),
        "since_boot_ns": whole([0, boots[len(boots) // 2], boots[-1] + 1]),
        "host": ["n", "tno such host", *(f"t{name}" for name in column("SELECT hostname FROM hosts"))],
        "limit": ["i3", f"i{2 ** 63 - 1}"],
        "with_system": ["i0", "i1"],
        "user_id": ["n", "i0", *whole(column("SELECT DISTINCT user_id FROM runs WHERE user_id IS NOT NULL"))],
    }
    db.close()
    return values


def lines_for(store):
    """Every query with every value, or with as many combinations as there is time for."""
    values = values_for(store)
    for path in sorted(QUERIES.glob("*.sql")):
        if path.stem in HOST_ONLY:
            continue
        names = parameters_of(path.stem)
        missing = set(names) - set(values)
        assert not missing, f"{path.stem}: no values are known for {missing}"
        sets = (zip(*(values[name] for name in names)) if names == ["first_id", "last_id"]
                else itertools.product(*(values[name] for name in names)))
        for chosen in itertools.islice(sets, COMBINATIONS_MAX):
            yield "\t".join([path.stem, *(f"{name}={value}" for name, value in zip(names, chosen))])


def answers(source, lines, **settings):
    text = command(BUILD / "tests/lake/run_queries", source, input="\n".join(lines) + "\n", **settings)
    return text.split("\n\n")[:-1]


def compare_queries(lake, name):
    with tempfile.TemporaryDirectory(prefix="tracer-lake-") as temporary:
        directory = pathlib.Path(temporary)
        store = shipped(lake, directory, name)
        lines = list(lines_for(store))
        here = answers(store, lines)
        there = answers(lake.url, lines, env=environment(lake))
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
    for name in (*RECORDINGS, "known"):
        asked |= compare_queries(lake, name)
    silent = {path.stem for path in QUERIES.glob("*.sql")} - HOST_ONLY - asked
    # Filled by no recording and no known store yet: these were compared by their columns alone.
    # (A host has no parts of its runs elsewhere: check_lake.py.)
    assert silent <= {"containers", "host_samples", "run_parts"}, f"no store has rows for {silent}"


# ---- verbs ----------------------------------------------------------------------------------


def without_marks(data):
    """The lake has names that are no UTF-8 in escaped form and cannot tell."""
    if isinstance(data, dict):
        return {key: without_marks(value) for key, value in data.items() if not key.endswith("_escaped")}
    return [without_marks(value) for value in data] if isinstance(data, list) else data


def compare_verb(lake, store, *arguments, living=False):
    env = environment(lake)
    here = command(TRACER, *arguments, "--store", store, env=env)
    there = command(TRACER, "--lake", lake.url, *arguments, env=env)
    if "--json" in arguments:
        here, there = (json.dumps(without_marks(json.loads(text)), indent=1) for text in (here, there))
    if living:  # how long it has been running is told by the lake's latest news of the host
        here, there = (re.sub(r"\d+(\.\d+)? (ns|µs|ms|s|min|h)\b", "TIME", text) for text in (here, there))
        here, there = (re.sub(r" +", " ", text) for text in (here, there))
    for expected, found in itertools.zip_longest(here.splitlines(), there.splitlines()):
        same(f"{arguments}", found, expected)


def test_verbs_say_the_same(lake):
    for name in RECORDINGS:
        with tempfile.TemporaryDirectory(prefix="tracer-lake-") as temporary:
            store = shipped(lake, pathlib.Path(temporary), name)
            runs = json.loads(command(TRACER, "runs", "--all", "--json", "--store", store))["runs"]
            for arguments in (("runs",), ("runs", "--all"), ("runs", "--all", "--json"), ("runs", "--limit", "0"),
                              ("show", "--table"), ("show", "--tools"), ("show", "--json"), ("show", "--all")):
                compare_verb(lake, store, *arguments)
            for each in runs[:RUNS_SHOWN]:
                compare_verb(lake, store, "show", each["id"], "--json", "--processes")
                compare_verb(lake, store, "show", each["id"], "--processes")
                compare_verb(lake, store, "explain", each["id"])
                compare_verb(lake, store, "explain", each["id"], "--json")


def test_verbs_on_hostile_names(lake):
    with tempfile.TemporaryDirectory(prefix="tracer-lake-") as temporary:
        store = shipped(lake, pathlib.Path(temporary), "known")
        runs = json.loads(command(TRACER, "runs", "--all", "--json", "--store", store))["runs"]
        for each in runs:
            living = each["status"] == "running"
            compare_verb(lake, store, "show", each["id"], "--processes", living=living)


if __name__ == "__main__":
    sys.exit(run("lake queries", globals(), sys.argv[2:]))
