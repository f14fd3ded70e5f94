#!/usr/bin/env python3
"""A large lake made by ClickHouse itself, and how long people's questions to it take.

    lake_scale.py [--hosts N] [--directory DIRECTORY] [--ask-only] BUILD

10,000 hosts with 3,000 rows each, unless told otherwise: 21 runs of each host over 400 days, the latest half
an hour ago; samples of the last 90 days, as the default retention leaves them. One process of each
host is alive; on every tenth host it uses next to nothing and the answer to "idle hosts" must be
those. Not part of the tests: it takes minutes and some gigabytes. DIRECTORY, with its lake, stays.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lake"))
from lake import Lake  # noqa: E402

RUNS, TASKS, TOOLS, PROCESSES, SAMPLES, HOST_SAMPLES = 21, 18, 38, 47, 690, 98
RECENT_RUNS = 5 # of a host, within the 90 days of its samples
ASKED = 7       # times each
QUERY_LIMIT_S = 3600

# In terms of the host's number h, its run's k (the last one is RUNS - 1), and the row's in that run, i.
TERMS = {
    "host": "toInt64(bitShiftRight(cityHash64('host', h), 1))",
    "run": "toInt64(bitShiftRight(cityHash64('run', h, k), 1))",
    "task": "toInt64(bitShiftRight(cityHash64('task', h, k, i % {tasks}), 1))",
    "tool": "toInt64(bitShiftRight(cityHash64('tool', h, k, i % {tools}), 1))",
    "boot": "toInt64({now} - 400 * 86400000000000 - h * 1000000000)",
    # 19 days apart, and the last one 30 minutes before now; what is in a run begins within ten minutes
    "begun": "toInt64(if(k = {runs} - 1, {now} - 1800000000000, {now} - 400 * 86400000000000 + k * 1641600000000000"
             " + cityHash64('t', h, k) % 86400000000000))",
    "start": "({begun} + intDiv(i * 600000000000, {per_run}))",
    "process": "bitAnd({host} + bitShiftLeft(toInt64(bitShiftRight({begun} - {boot}, 10) + i * 1000000), 23), 9223372036854775807)",
    "first": "bitAnd({host} + bitShiftLeft(toInt64(bitShiftRight({begun} - {boot}, 10)), 23), 9223372036854775807)",
    "figure": "toInt64(cityHash64(h, k, i) % 100000000)",
}


def term(text, **given):
    while "{" in text:
        text = text.format(**TERMS | given)
    return text


COMMON = {"host_id": "{host}", "started_unix_ns": "{start}", "begin_boot_ns": "{start} - {boot}",
          "end_boot_ns": "{start} - {boot} + 5000000000", "process_count": "3", "status": "'succeeded'"}
MOVED = ("read_bytes", "write_bytes", "sent_bytes", "received_bytes")
ENTITIES = {  # rows of a run, and columns; all others are figures or short texts
    "runs": (1, {"id": "{run}", "kind": "'command'", "name": "concat('align-', toString(cityHash64(h, k) % 300), '.sh')",
                 "run_key": "if(cityHash64(h, k) % 100 = 0, concat('slurm:', toString(k * 100 + h % 100)), NULL)",
                 "end_boot_ns": "if(k = {runs} - 1, NULL, {start} - {boot} + 600000000000)",
                 "status": "if(k = {runs} - 1, 'running', 'succeeded')"}),
    "tasks": (TASKS, {"id": "{task}", "run_id": "{run}", "merged_into_id": "NULL", "kind": "'generic'",
                      "name": "concat('step ', toString(i))"}),
    "tools": (TOOLS, {"id": "{tool}", "run_id": "{run}", "task_id": "{task}", "name": "concat('tool ', toString(i))",
                      "role": "'tool'"}),
    "processes": (PROCESSES, {
        "id": "{process}", "run_id": "{run}", "task_id": "{task}", "tool_id": "{tool}",
        "parent_id": "{first}",
        "program": "concat('program-', toString(i))", "arguments": "[concat('program-', toString(i)), '--in', hex(cityHash64(h, k, i))]",
        "end_boot_ns": "if(k = {runs} - 1 AND i = 0, NULL, {start} - {boot} + 1000000000)", "exit_code": "0",
        **{name: "if(k = {runs} - 1 AND i = 0, 0, {figure})" for name in ("cpu_ns", *MOVED)}}),
    "samples": (None, {}),
    "host_samples": (None, {}),
    "hosts": (None, {}),
}


def fill(lake, entity, rows, now, columns, source):
    """`source` has h, k and i."""
    cells = {}
    for name, kind in lake.rows(f"SELECT name, type FROM system.columns WHERE database = 'tracer' AND table = '{entity}_rows'"):
        if name in columns:
            cells[name] = columns[name]
        elif name in ("rev", "version"):
            cells[name] = "1"
        elif "Array" in kind:
            cells[name] = "[]"
        elif "String" in kind:
            cells[name] = "NULL" if "Nullable" in kind else f"concat('{name[:6]}-', toString(i % 10))"
        elif name.endswith("_id") or name == "signal":
            cells[name] = "NULL" if "Nullable" in kind else "1"
        else:
            cells[name] = "{figure}"
    values = ", ".join(term(text, now=now, runs=RUNS, tasks=TASKS, tools=TOOLS, per_run=rows or 1) for text in cells.values())
    lake.query(f"INSERT INTO tracer.{entity}_rows ({', '.join(cells)}) SELECT {values} FROM ({source})",
               timeout=QUERY_LIMIT_S, max_partitions_per_insert_block=0, max_insert_threads=2)


def make(lake, hosts, now):
    for entity, (rows, columns) in ENTITIES.items():
        if rows:
            fill(lake, entity, rows, now, COMMON | columns,
                 f"SELECT intDiv(number, {rows * RUNS}) AS h, intDiv(number, {rows}) % {RUNS} AS k, number % {rows} AS i"
                 f" FROM numbers({hosts * rows * RUNS})")
    each = SAMPLES // RECENT_RUNS
    fill(lake, "samples", each, now, {
        "host_id": "{host}", "process_id": "{first}", "unix_ns": "{begun} + i * 13000000000",
        "boot_ns": "{begun} - {boot} + i * 13000000000", "cpu_ns": "i * if(h % 10 = 0, 5000000, 500000000)",
        **dict.fromkeys(MOVED, "0")},
        f"SELECT intDiv(number, {SAMPLES}) AS h, {RUNS} - 1 - intDiv(number % {SAMPLES}, {each}) AS k, number % {each} AS i"
        f" FROM numbers({hosts * SAMPLES})")
    fill(lake, "host_samples", 1, now, {
        "host_id": "{host}", "unix_ns": "{now} - (i + 1) * 10 * 1000000000", "boot_ns": "{now} - {boot} - (i + 1) * 10 * 1000000000"},
        f"SELECT intDiv(number, {HOST_SAMPLES}) AS h, 0 AS k, number % {HOST_SAMPLES} AS i FROM numbers({hosts * HOST_SAMPLES})")
    fill(lake, "hosts", 1, now, {
        "host_id": "{host}", "id": "{host}", "hostname": "concat('host-', leftPad(toString(h), 5, '0'))", "cluster": "NULL",
        "last_seen_unix_ns": "{now}", "first_seen_unix_ns": "{boot}", "boot_unix_ns": "{boot}"},
        f"SELECT number AS h, 0 AS k, 0 AS i FROM numbers({hosts})")


def settle(lake):
    for entity in ENTITIES:
        lake.query(f"OPTIMIZE TABLE tracer.{entity}_rows FINAL", timeout=QUERY_LIMIT_S)


def ask(build, lake):
    """Median seconds, least and most, of each question."""
    environment = {"HOME": "/nonexistent", "TRACER_LAKE": lake.url, "TRACER_LAKE_USER": "analyst", "LC_ALL": "C.UTF-8",
                   "TRACER_LAKE_PASSWORD_FILE": str(lake.secret("analyst"))}
    run = lake.value("SELECT lower(hex(id)) FROM tracer.runs WHERE host_id = (SELECT id FROM tracer.hosts ORDER BY id"
                     " LIMIT 1 OFFSET 5) ORDER BY started_unix_ns LIMIT 1 OFFSET 16").rjust(16, "0")

    def tracer(*arguments):
        return lambda: subprocess.run([build / "cli/tracer", *arguments], env=environment, check=True,
                                      capture_output=True, text=True).stdout

    for name, asked in (("this run", tracer("show", run)), ("its processes", tracer("show", "--processes", run)),
                        ("latest runs", tracer("runs")),
                        ("idle hosts", tracer("query", "idle_hosts"))):
        seconds = []
        for _ in range(ASKED):
            begin = time.monotonic()
            answer = asked()
            seconds.append(time.monotonic() - begin)
        print(f"{name:14} {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}),"
              f" {len(answer.splitlines())} lines", flush=True)


def sizes(lake):
    for row in lake.rows("SELECT table, sum(rows), formatReadableSize(sum(bytes_on_disk)), round(sum(bytes_on_disk) / sum(rows), 1),"
                         " count() FROM system.parts WHERE active AND database = 'tracer' AND rows > 0 GROUP BY table ORDER BY sum(bytes_on_disk) DESC"):
        print("{:16} {:>10} rows {:>12} {:>6} bytes a row, {} parts".format(*row), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=10000)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--ask-only", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracer-scale-") as temporary, \
            Lake(directory=arguments.directory or temporary, memory_bytes=12 << 30) as lake:
        if not arguments.ask_only:
            subprocess.run([arguments.build / "cli/tracer", "lake", "init", "--lake", lake.url], check=True, env={
                "HOME": "/nonexistent", "TRACER_LAKE_PASSWORD_FILE": str(lake.secret("migrator"))})
            begin = time.monotonic()
            make(lake, arguments.hosts, time.time_ns())
            settle(lake)
            print(f"made in {time.monotonic() - begin:.0f} s")
        sizes(lake)
        ask(arguments.build, lake)


if __name__ == "__main__":
    main()
