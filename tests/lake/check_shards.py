#!/usr/bin/env python3
"""A lake on two nodes: one goes away and returns, and nothing is lost, duplicated or silently
omitted.

usage: check_shards.py BUILD [NAME...]

Two real servers, with Distributed tables over plain ones (--layout shards). This engine lacks
Replicated tables; the output of --layout cluster differs only in the engine of ENTITY_local.
"""

import json
import pathlib
import sqlite3
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import find_tests, refresh, refused, run_tests, same, skip_all  # noqa: E402
from lake import ROOT, Lake, Unavailable, with_engine  # noqa: E402
import check_queries  # noqa: E402
from check_queries import BUILD, TRACER, command, made  # noqa: E402
import loader  # noqa: E402

HOSTS = 40
PERIOD_NS = 300 * 10**9

CLUSTER = """
  <remote_servers><lake>{shards}</lake></remote_servers>
  <macros><cluster>lake</cluster><shard>{number}</shard><replica>{number}</replica></macros>
"""
SHARD = ("<shard><replica><host>127.0.0.1</host><port>{port}</port><user>default</user></replica></shard>")


def start_nodes():
    nodes = [Lake(), Lake()]
    shards = "".join(SHARD.format(port=node.tcp_port) for node in nodes)
    for number, node in enumerate(nodes, 1):
        node.configure(CLUSTER.format(shards=shards, number=number))
        node.start()
    for node in nodes:
        command(TRACER, "lake", "init", "--layout", "shards", "--lake", node.url, env=node.environment("migrator"))
    return nodes


def host_rows(first, count):
    return [{"id": number, "host_id": number, "rev": 1, "version": 1, "hostname": f"host-{number}"}
            for number in range(first, first + count)]


def hosts_at(node):
    return [int(number) for number, in node.rows("SELECT id FROM tracer.hosts ORDER BY id", user="analyst")]


def test_rows_are_spread_and_found_from_both(first, second):
    loader.insert(first, "hosts", host_rows(1, HOSTS))
    local = [int(node.value("SELECT count() FROM tracer.hosts_local")) for node in (first, second)]
    same("rows in all", sum(local), HOSTS)
    assert min(local) > HOSTS // 5, f"spread as {local}"
    for node in (first, second):
        same("hosts", hosts_at(node), list(range(1, HOSTS + 1)))
        same("migrate again", command(TRACER, "lake", "migrate", "--lake", node.url,
                                      env=node.environment("migrator")).split(", ")[1], "shards\n")


# Findings have no rows in this store: those of tune use the views that the other queries use.
# Runs by name, for comparisons and right sizes: not yet right, or not tried, on several shards.
SWEEP = {path.stem for path in (ROOT / "analysis/sweep").glob("*.sql")}
LEFT_OUT = {"hosts", "metrics_hosts", "status", *SWEEP, *(path.stem for path in (ROOT / "analysis/tune").glob("*.sql"))}


def few_of_each(lines, queries=None):
    """One line for each query, since queries to two nodes are slow. Omits queries that count or
    list hosts, which would see those of the other test."""
    chosen = {}
    for line in lines:
        chosen.setdefault(line.split("\t")[0], []).append(line)
    return [line for query, each in chosen.items() if (query in queries if queries else query not in LEFT_OUT)
            for line in each[:1]]


def same_answers(store, lines, *nodes):
    here = check_queries.answers(store, lines)
    for node in nodes:
        there = check_queries.answers(node.url, lines, env=node.environment())
        for line, expected, found in zip(lines, here, there, strict=True):
            assert expected == found, f"{line}:\nstore {expected[:500]}\nlake  {found[:500]}"
    return here


def test_verbs_give_the_same_output(first, second):
    with made("snakemake") as store:
        first.ship(BUILD, store)
        same_answers(store, few_of_each(check_queries.lines_for(store, "shards")), first, second)


def test_rollups_count_the_rows_of_both(first, second):
    with made("snakemake") as store:
        first.ship(BUILD, store)
        wanted = sqlite3.connect(store).execute("SELECT count(*), sum(wall_ns) FROM standing_tasks"
                                                " WHERE end_boot_ns IS NOT NULL AND kind <> 'main'").fetchone()
    period, minute = time.time_ns() // PERIOD_NS * PERIOD_NS - 2 * PERIOD_NS, PERIOD_NS // 5
    loader.insert(first, "host_samples", [
        {"host_id": host, "unix_ns": period + number * minute, "boot_ns": (1 + number) * minute, "rev": 1, "version": 1}
        for host in range(1, HOSTS + 1) for number in (0, 1)])
    for node in (first, second):
        for view, figures, expected in (("task_name_day", "sum(task_count), sum(wall_ns)", wanted),
                                        ("host_activity", "count(), sum(covered_ns)", (HOSTS, HOSTS * minute))):
            refresh(node, view)
            same(view, node.rows(f"SELECT {figures} FROM tracer.{view}", user="analyst"), [list(map(str, expected))])


def test_a_node_leaves_and_returns(first, second):
    batch = host_rows(1001, HOSTS)
    second.kill()
    # A batch is not partly accepted, nor a query partly answered, without an error.
    refused(first, "", "INSERT INTO tracer.hosts_rows FORMAT JSONEachRow", user="shipper",
            body="\n".join(map(json.dumps, batch)).encode())
    refused(first, "", "SELECT count() FROM tracer.hosts", user="analyst")
    second.start()
    for node in (first, second):  # repeated, and sent to the other node: the same rows
        loader.insert(node, "hosts", batch)
        found = [number for number in hosts_at(node) if 1000 < number < 2000]
        same("hosts after it came back", found, list(range(1001, 1001 + HOSTS)))
    same("runs", len(json.loads(command(TRACER, "--lake", second.url, "runs", "--json", env=second.environment()))["runs"]), 1)


def test_a_sweep_gives_the_same_answers(first, second):
    for node in (first, second):
        for table, in node.rows("SELECT name FROM system.tables WHERE database = 'tracer' AND engine LIKE '%ReplacingMergeTree'"):
            node.query(f"TRUNCATE TABLE tracer.{table}")
    with made("sweep") as store:
        first.ship(BUILD, store)
        refresh(second, "host_activity")
        found = same_answers(store, few_of_each(check_queries.lines_for(store, "shards"), SWEEP), second)
    same("questions without rows", [answer for answer in found if answer.count("\n") == 0], [])


def main():
    try:
        nodes = start_nodes()
    except Unavailable as reason:
        return skip_all("lake shards", reason)
    try:
        return run_tests("lake shards", find_tests(globals()),
                         lambda test: with_engine(nodes, test, *nodes), sys.argv[2:])
    finally:
        for node in nodes:
            node.__exit__()


if __name__ == "__main__":
    sys.exit(main())
