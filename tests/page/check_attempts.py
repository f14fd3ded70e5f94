#!/usr/bin/env python3
"""tracer report --with-previous: several attempts at the same work on one page, one after the other.

usage: check_attempts.py BUILD-DIRECTORY [NAME...]
"""

import pathlib
import shutil
import sqlite3
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from page_data import Page  # noqa: E402 (found by the path above)
from pages import Pages  # noqa: E402
from testing import arguments, find_tests, run_tests, same  # noqa: E402

IDS = {"runs": ("id",), "tasks": ("id", "run_id", "parent_task_id", "retried_by_id"), "tools": ("id", "run_id", "task_id"),
       "process_rows": ("id", "tool_id"), "incidents": ("id", "run_id", "task_id", "process_id")}
IDS_APART = 1_000_000_007
HOUR_NS = 3600 * 10**9


def add_attempt(store, number, hours, status):
    """Copies the latest run as one that began so many hours before it."""
    with sqlite3.connect(store) as database:
        [run] = database.execute("SELECT id FROM runs WHERE kind = 'command' ORDER BY started_unix_ns DESC LIMIT 1").fetchone()
        database.execute(f"UPDATE hosts SET first_seen_unix_ns = first_seen_unix_ns - {hours * HOUR_NS}")
        of_run = {"runs": f"id = {run}", "process_rows": f"tool_id IN (SELECT id FROM tools WHERE run_id = {run})"}
        for table, ids in IDS.items():
            values = {row[1]: row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            values |= {name: f"{name} + {number * IDS_APART}" for name in ids}
            values |= {name: f"{name} - {hours * HOUR_NS}" for name in values if name.endswith(("boot_ns", "unix_ns"))}
            values |= {"status": f"'{status}'"} if table == "runs" else {}
            database.execute(f"INSERT INTO {table} ({', '.join(values)}) SELECT {', '.join(values.values())} FROM {table} "
                             f"WHERE {of_run.get(table, f'run_id = {run}')}")


def page_of(pages, store, *options):
    path = store.with_suffix(".html")
    pages.run(["report", "snakemake", "--store", str(store), "-o", str(path), *options])
    return Page(path)


def test_attempts_are_one_after_the_other(pages):
    store = pages.directory / "attempts.db"
    shutil.copy(pages.store("snakemake"), store)
    add_attempt(store, 3, 9, "succeeded")  # what went before has nothing to do with it
    add_attempt(store, 2, 6, "failed")
    add_attempt(store, 1, 2, "failed")
    one, all_of_them = page_of(pages, store), page_of(pages, store, "--with-previous")
    wall_us = one.facts["run"]["wall_ns"] // 1000
    same("attempts of one", one.facts["attempts"], [])
    same("earlier runs", [run["status"] for run in one.facts["previous"]], ["failed", "failed", "succeeded"])
    same("attempts", [(attempt["status"], attempt["begin_us"] // 1000) for attempt in all_of_them.facts["attempts"]],
         [("failed", 0), ("failed", wall_us // 1000), ("succeeded", 2 * wall_us // 1000)])
    same("run", [all_of_them.facts["run"][name] for name in ("id", "status", "wall_ns", "cpu_ns")],
         [one.facts["run"]["id"], "succeeded", 3 * one.facts["run"]["wall_ns"], 3 * one.facts["run"]["cpu_ns"]])
    for table in ("tasks", "tools", "processes"):
        rows, of_all = one.rows(table), all_of_them.rows(table)
        same(f"number of {table}", len(of_all), 3 * len(rows))
        begins = sorted(row["begin_us"] for row in rows)
        shifted = sorted(begin + attempt * wall_us for attempt in range(3) for begin in begins)
        late = [found - expected for found, expected in zip(sorted(row["begin_us"] for row in of_all), shifted)]
        assert max(map(abs, late)) <= 3, f"{table} are at other times: {late}" # rounded three times
    for name in ("work_micros", "idle_micros", "bill_micros", "observed_ms"):
        assert abs(all_of_them.facts["cost"][name] - 3 * one.facts["cost"][name]) <= 3, name
    same("names", len(all_of_them.facts["cost"]["rows"]), len(one.facts["cost"]["rows"]))
    used = [sum(page.tables["series"]["cpu_us"]) for page in (one, all_of_them)]
    assert abs(used[1] - 3 * used[0]) < 0.001 * used[1], used


def main():
    options = arguments(__doc__)
    with Pages(options.build) as pages:
        return run_tests("page-attempts", find_tests(globals()), lambda test: test(pages), options.names)


if __name__ == "__main__":
    sys.exit(main())
