"""Simulated hosts and their lake, shared by the sections fleet and outage.

A host is a recording adapted by host_stream and replayed by the real correlator into its own store.
The real tracer-shipper sends it to a real ClickHouse on loopback.
"""

import contextlib
import itertools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import threading
import time
import urllib.parse
import urllib.request


ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDING = ROOT / "tests/golden/snakemake.rec"
ENTITIES = {path.stem: re.split(r"\s+WHERE (?:\w\.)?rev > :cursor", path.read_text())[0]
            for path in sorted((ROOT / "common/store/entities").glob("*.sql"))}
KEYS = {"samples": "process_id, boot_ns", "host_samples": "unix_ns"}
COMMAND_LIMIT_S = 600
REPLAY_LIMIT_S = 3600 # an hour of 1,000 processes a second, on a shared machine
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


def settings_of(lake, user):
    """Environment that makes the tracer command this user of the lake."""
    return os.environ | {"TRACER_LAKE": lake.url, "TRACER_LAKE_USER": user,
                         "TRACER_LAKE_PASSWORD_FILE": str(lake.secret(user))}


def command(*arguments, **more):
    result = subprocess.run([str(word) for word in arguments], capture_output=True, text=True,
                            check=False, timeout=COMMAND_LIMIT_S, **more)
    if result.returncode:
        raise AssertionError(f"{arguments[0]} ended with {result.returncode}:"
                              f" {result.stderr[-500:]}")
    return result.stdout


# --- hosts ------------------------------------------------------------------------------

class Replay:
    """A correlator that replays a simulated host's stream from a pipe."""

    def __init__(self, programs, store, host, rounds, round_ms):
        rules = store.parent / "no-rules"
        rules.mkdir(exist_ok=True)
        self.stream = subprocess.Popen(
            [programs / "tests/bench/host_stream", RECORDING, str(host), str(rounds),
             str(round_ms)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.correlator = subprocess.Popen(
            [programs / "correlator/tracer-correlator", "--replay", "/dev/stdin", "--store", store,
             "--rules", rules, "--retain", "0", "--log-level", "warning"],
            stdin=self.stream.stdout, stdout=subprocess.DEVNULL)
        self.stream.stdout.close() # only the correlator reads it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.stream, self.correlator):
            if process.poll() is None:
                process.kill()
            process.wait()

    def is_over(self):
        return self.correlator.poll() is not None

    def finish(self):
        for process in (self.correlator, self.stream):
            if process.wait(REPLAY_LIMIT_S) != 0:
                raise AssertionError(f"{process.args[0]} ended with {process.returncode}")


def shipper_command(programs, lake, store, state):
    return [str(word) for word in (
        programs / "shipper/tracer-shipper", "--store", store, "--state", state, "--config",
        "/dev/null", "--url", lake.url, "--set", "lake.user=shipper", "--set",
        f"lake.password-file={lake.secret('shipper')}", "--log-level", "error")]


def shipper_status(state):
    """A shipper's status; {} if it has not written one yet."""
    with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
        return json.loads((state / "status.json").read_text())
    return {}


def opened(store):
    """Opens a store for reading."""
    return contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True))


def row_counts(store):
    """{entity: rows} of a store."""
    with opened(store) as database:
        return {name: database.execute(f"SELECT count(*) FROM ({base})").fetchone()[0]
                for name, base in ENTITIES.items()}


# --- comparing the lake with the store ----------------------------------------------------

def columns_of(store, entity):
    with opened(store) as database:
        return [name for name, *_ in database.execute(f"{ENTITIES[entity]} LIMIT 0").description]


def store_lines(store, entity, columns):
    """Every row as a line of JSON, in key order. Arguments are in hexadecimal."""
    cells = ", ".join("hex(arguments)" if name == "arguments" else name for name in columns)
    with opened(store) as database:
        database.execute("PRAGMA cache_size = -262144")
        for line, in database.execute(f"SELECT json_array({cells}) FROM ({ENTITIES[entity]})"
                                      f" ORDER BY {KEYS.get(entity, 'id')}"):
            yield line


def lake_lines(lake, entity, columns, host_id):
    """The same for the rows in the lake."""
    arguments = "hex(arrayStringConcat(arrayMap(word -> concat(word, char(0)), arguments)))"
    cells = ", ".join(arguments if name == "arguments" else name for name in columns)
    query = urllib.parse.urlencode({
        "query": f"SELECT {cells} FROM tracer.{entity}_rows FINAL WHERE host_id = {host_id}"
                 f" ORDER BY {KEYS.get(entity, 'id')} FORMAT CustomSeparated",
        "format_custom_escaping_rule": "JSON", "format_custom_field_delimiter": ",",
        "format_custom_row_before_delimiter": "[", "format_custom_row_after_delimiter": "]\n",
        "output_format_json_quote_64bit_integers": 0,
        "output_format_json_escape_forward_slashes": 0})
    with urllib.request.urlopen(f"{lake.url}/?{query}", timeout=COMMAND_LIMIT_S) as answer:
        for line in answer:
            yield line.decode().rstrip("\n")


def compare(lake, store):
    """Checks that the lake has exactly the store's rows for its host, by key and content."""
    with opened(store) as database:
        host_id, = database.execute("SELECT id FROM hosts").fetchone()
    count = 0
    for entity in ENTITIES:
        columns = columns_of(store, entity)
        for expected, found in itertools.zip_longest(store_lines(store, entity, columns),
                                                     lake_lines(lake, entity, columns, host_id)):
            if expected != found:
                raise AssertionError(f"{entity}: the store has {expected}, the lake {found}")
            count += 1
    return count


# --- costs --------------------------------------------------------------------------------

def cpu_s(pid):
    """CPU time of a process with all threads, including those that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


class Sampler(threading.Thread):
    """Calls `look` periodically and keeps (seconds since the start, result)."""

    def __init__(self, look, period_s):
        super().__init__(daemon=True)
        self.look, self.period_s = look, period_s
        self.seen = []
        self.ended = threading.Event()
        self.began = time.monotonic()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()

    def run(self):
        while not self.ended.wait(self.period_s):
            with contextlib.suppress(OSError): # not there yet, or gone
                self.seen.append((time.monotonic() - self.began, self.look()))


def settle(lake):
    """Merges all parts, so that bytes a row are measured for rows that stay."""
    for name in ENTITIES:
        lake.query(f"OPTIMIZE TABLE tracer.{name}_rows FINAL", timeout=COMMAND_LIMIT_S)


def stored(lake):
    """{entity: (rows, bytes on disk)} of active parts."""
    found = lake.rows(
        "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND rows > 0"
        " AND database = 'tracer' AND table LIKE '%_rows' GROUP BY table ORDER BY table")
    return {table.removesuffix("_rows"): (int(rows), int(size)) for table, rows, size in found}
