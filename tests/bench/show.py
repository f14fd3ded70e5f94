#!/usr/bin/env python3
"""Cost of `tracer show` for a large run: CPU time, wall time and memory, for runs of three shapes.

usage: show.py BUILD [--processes N] [--smoke]

The runs are copies of a recorded one with its processes, tools and tasks multiplied.

Times are those of this machine at this moment, the best of three rounds. Memory does not depend on
load: exceeding the limit is a failure; a build with sanitizers does. --smoke measures once, for tests.
"""

import argparse
import contextlib
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
from daemons import replay  # noqa: E402 (found by the path above)
from testing import measured_run, succeeds  # noqa: E402

MEMORY_KIB_MAX = 64 * 1024
SHAPES = ((20, 2), (100_000, 200), (100_000, 100_000))  # processes in a task, and in a tool


def multiply(database, table, count, columns):
    """Replaces all rows by `count` copies of the first; `columns` are the expressions that differ, by row number i."""
    names = [column[1] for column in database.execute(f"PRAGMA table_info({table})")]
    database.execute(f"CREATE TEMP TABLE one_{table} AS SELECT * FROM {table} ORDER BY rev LIMIT 1")
    database.execute(f"DELETE FROM {table}")
    database.execute(
        f"WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < {count})"
        f" INSERT INTO {table} SELECT {', '.join(columns.get(name, name) for name in names)}"
        f" FROM numbers, one_{table}")


def make_store(options, path, a_task, a_tool):
    replay(options.build, TESTS / "golden/make.rec", path)
    count = options.processes
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        run, = database.execute("SELECT id FROM runs WHERE kind = 'command'").fetchone()
        database.execute("DELETE FROM runs WHERE id <> ?", (run,))
        multiply(database, "process_rows", count, {
            "id": "i + 1", "tool_id": f"i / {a_tool} + 1", "parent_id": f"i / {a_task} * {a_task} + 1",
            "pid": "1000 + i", "begin_boot_ns": "begin_boot_ns + i * 30000000",
            "arguments": "CAST(replace(printf('samtools sort -@ 2 -o results/mapped/sample_%06d.sorted.bam ',"
                         f" i / {a_task}), ' ', char(0)) AS BLOB)",
            "working_directory": f"iif(i % {a_task} = 0, printf('/data/projects/cohort7/work/%06d', i), NULL)"})
        multiply(database, "tools", -(-count // a_tool), {
            "id": "i + 1", "run_id": str(run), "task_id": f"i * {a_tool} / {a_task} + 1", "process_count": str(a_tool)})
        multiply(database, "tasks", -(-count // a_task), {
            "id": "i + 1", "run_id": str(run), "kind": "'engine'", "merged_into_id": "NULL",
            "root_process_id": f"i * {a_task} + 1", "process_count": str(a_task)})


def show(options, directory):
    largest = 0
    for a_task, a_tool in SHAPES:
        store = pathlib.Path(directory) / f"{a_task}-{a_tool}.db"
        make_store(options, store, a_task, a_tool)
        for arguments in (["-p"], ["--json", "-p"], ["--by", "tool"], ["--by", "task"]):
            rounds = [measured_run([options.build / "cli/tracer", "show", "--store", store, *arguments])
                      for _ in range(1 if options.smoke else 3)]
            wall_s, cpu_s, memory_kib = (min(figures) for figures in zip(*rounds))
            largest = max(largest, memory_kib)
            print(f"{options.processes} processes, {a_task} a task, {a_tool} a tool: show {' '.join(arguments):10}"
                  f" {wall_s:.2f} s, {cpu_s:.2f} s of processors, {memory_kib / 1024:.1f} MiB", flush=True)
    assert largest <= MEMORY_KIB_MAX, f"{largest} KiB of memory, {MEMORY_KIB_MAX} at most"


def main(name="cli-memory: a large run", action=show):
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=100_000)
    parser.add_argument("--smoke", action="store_true")
    print("1..1")
    with tempfile.TemporaryDirectory(prefix="tracer-bench-") as directory:
        return 0 if succeeds(name, action, parser.parse_args(), directory) else 1


if __name__ == "__main__":
    sys.exit(main())
