#!/usr/bin/env python3
"""Cost of `tracer tune` for large runs of several shapes: wall time, CPU time and memory.

usage: tune.py BUILD [--processes N] [--smoke]

Times are those of this machine at this moment, the best of three rounds. --smoke measures once, for tests.
"""
import contextlib
import pathlib
import sqlite3
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import show  # noqa: E402 (found by the path above, as is what it adds to it)
from testing import measured_run  # noqa: E402

SLOTS, TASK_S = 16, 2
# What is in a task, and the expressions that differ: names of tasks, command lines of processes.
SHAPES = {
    "a process in each task": (1, "name", "arguments"),
    "a process in each task, and a name for each": (1, "printf('step_%06d', id)", "arguments"),
    "a process in each task, each command line 50 times": (
        1, "name", "CAST(printf('gzip%ssample_%06d.fq', char(0), id % (SELECT count(*) / 50 FROM tasks)) AS BLOB)"),
    "20 processes in each task": (20, "name", "arguments"),
    "one task": (100_000, "name", "arguments"),
}


def make_store(options, path, a_task, name, command_line):
    show.make_store(options, path, a_task, min(a_task, 20))
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        count, first = database.execute("SELECT count(*), min(begin_boot_ns) FROM tasks").fetchone()
        begin = f"{first} + (id - 1) / {SLOTS} * {TASK_S} * 1000000000 + id % {SLOTS} * 1000000"
        database.execute(f"UPDATE tasks SET name = {name}, begin_boot_ns = {begin}, status = 'succeeded',"
                         f" end_boot_ns = {begin} + {TASK_S} * 990000000, cpu_ns = {TASK_S} * 500000000,"
                         f" run_delay_ns = {TASK_S} * 400000000")
        database.execute("UPDATE process_rows SET rchar_bytes = 2000000, cpu_ns = 1000000000, exit_code = 0, failed = 0,"
                         f" arguments = {command_line}")
        database.execute("UPDATE runs SET task_count = ?, cpu_ns = ?, end_boot_ns = begin_boot_ns + ?",
                         (count, count * TASK_S * 5 * 10**8, (count // SLOTS + 1) * TASK_S * 10**9))
        database.execute("UPDATE images SET role = 'tool'")
        database.execute("UPDATE hosts SET cpu_count = ?", (SLOTS,))


def tune(options, directory):
    for shape, (a_task, name, command_line) in SHAPES.items():
        store = pathlib.Path(directory) / "tracer.db"
        store.unlink(missing_ok=True)
        make_store(options, store, min(a_task, options.processes), name, command_line)
        rounds = [measured_run([options.build / "cli/tracer", "tune", "--store", store])
                  for _ in range(1 if options.smoke else 3)]
        wall_s, cpu_s, memory_kib = (min(figures) for figures in zip(*rounds))
        print(f"{options.processes} processes, {shape}: tune {wall_s:.2f} s, {cpu_s:.2f} s of processors, "
              f"{memory_kib / 1024:.1f} MiB", flush=True)


if __name__ == "__main__":
    sys.exit(show.main("cli-speed: tune on large runs", tune))
