"""Replays a recording: the store equals the live one, every time."""

import subprocess

import pipeline
from daemons import replay


def replay_lines(bench, recording, name):
    """Lines of the store written by a replay."""
    return dump(replay(bench.programs, recording, bench.directory / name))


def dump(store):
    text = subprocess.run(["sqlite3", store, ".dump"], capture_output=True, check=True).stdout
    return text.splitlines()


def without_revisions(store):
    """Content of the store regardless of the order of writes: a live correlator commits at other times."""
    query = """
        SELECT id, run_id, task_id, tool_id, parent_id, program, arguments, cpu_ns, exit_code,
               totals, ended FROM processes ORDER BY id;
        SELECT id, name, kind, engine, status, process_count, cpu_ns FROM runs ORDER BY id;
        SELECT id, name, kind, status, process_count, cpu_ns FROM standing_tasks ORDER BY id;"""
    text = subprocess.run(["sqlite3", store, query], capture_output=True, check=True).stdout
    return text.splitlines()


def check(bench):
    recording = bench.directory / "recording"
    bench.daemons.correlator_options = ["--record", recording]
    bench.watch(pipeline.command(bench), bench.work_directory("work", "nobody"))
    first, second = (replay_lines(bench, recording, name) for name in ("first.db", "second.db"))
    problems = []
    if first != second:
        problems.append("two replays of one recording differ")
    live = without_revisions(bench.daemons.store)
    replayed = without_revisions(bench.directory / "first.db")
    if live != replayed:
        missing, more = set(live) - set(replayed), set(replayed) - set(live)
        problems.append(f"the replay differs from what was live: {len(missing)} rows are missing, "
                        f"{len(more)} are other: {sorted(missing)[:2]} {sorted(more)[:2]}")
    return problems
