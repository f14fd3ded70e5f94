#!/usr/bin/env python3
"""What tracer report can be asked for: attempts at the same work on one page, a page for others, a run too large for a page.

usage: check_report.py BUILD-DIRECTORY [NAME...]
"""

import pathlib
import shutil
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from page_data import Page  # noqa: E402 (found by the path above)
from pages import run  # noqa: E402
from testing import ENVIRONMENT, copy_rows, same  # noqa: E402

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
            times = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1].endswith(("boot_ns", "unix_ns"))]
            copy_rows(database, table, of_run.get(table, f"run_id = {run}"), **{name: f"{name} + {number * IDS_APART}" for name in ids},
                      **{name: f"{name} - {hours * HOUR_NS}" for name in times}, **{"status": f"'{status}'"} if table == "runs" else {})


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
    same("hosts", [page.facts["cost"]["host_count"] for page in (one, all_of_them)], [1, 1])
    same("names", len(all_of_them.facts["cost"]["rows"]), len(one.facts["cost"]["rows"]))
    used = [sum(page.tables["series"]["cpu_us"]) for page in (one, all_of_them)]
    assert abs(used[1] - 3 * used[0]) < 0.001 * used[1], used


def test_a_run_too_large_is_refused_with_advice(pages):
    store = pages.directory / "large.db"
    shutil.copy(pages.store("snakemake"), store)
    with sqlite3.connect(store) as database:
        database.execute("UPDATE runs SET process_count = 3000000")
    page = pages.directory / "large.html"
    command = [pages.tracer, "report", "snakemake", "--store", store, "-o", page]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    same("status", (result.returncode, page.exists()), (1, False))
    assert "3000000 processes" in result.stderr and "--format md" in result.stderr, result.stderr
    markdown = pages.run([*map(str, command[1:5]), "--format", "md"])
    assert markdown.startswith("# snakemake"), markdown


def test_pseudonyms_last(pages):
    """The same in all pages of a user, others in those of another; the key is only the user's."""
    homes = [pages.directory / f"home{number}" for number in range(2)]
    names = []
    for home in (homes[0], homes[0], homes[1]):
        page = home.with_suffix(".html")
        home.mkdir(exist_ok=True)
        pages.run(["report", "snakemake", "--share", "--store", str(pages.store("snakemake")), "-o", str(page)], HOME=str(home))
        names.append([Page(page).text(task["name"]) for task in Page(page).rows("tasks")])
    assert names[0] == names[1] and not set(names[0]) & set(names[2]), names
    assert len(set(names[0])) > 5 and all(name.startswith("~") for name in names[0]), names
    [key] = homes[0].rglob("share.key")
    same("mode and size of the key", (key.stat().st_mode & 0o777, key.stat().st_size), (0o600, 32))
    key.write_bytes(b"short")
    result = subprocess.run([pages.tracer, "report", "snakemake", "--share", "--store", pages.store("snakemake")],
                            capture_output=True, text=True, check=False, env={**ENVIRONMENT, "HOME": str(homes[0])})
    same("with a damaged key", (result.returncode, result.stdout), (1, ""))
    assert "share.key" in result.stderr, result.stderr


if __name__ == "__main__":
    sys.exit(run(__doc__, "page-report", globals(), lambda test, pages, _: test(pages)))
