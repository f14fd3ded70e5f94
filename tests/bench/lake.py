#!/usr/bin/env python3
"""Commands on a lake of many hosts: makes the lake, and times what is asked of it.

usage: lake.py BUILD [--hosts N] [--days N] [--times N] [--keep DIRECTORY] [--findings]

Each host has eight runs a day of one to two hours, each of ten tasks and twenty processes, the services of a
distribution, an agent that no rule knows, five-minute rows of its activity, and the host samples of the last day.
With --keep, the lake is made in that directory once, and used again. With --findings, each question that sweep asks
is timed by itself, too.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lake"))
from lake import Lake  # noqa: E402 (the line above comes first)

GIB = 2**30
MINUTE, HOUR, DAY = 60 * 10**9, 3600 * 10**9, 86400 * 10**9
FAILED_EVERY = 50  # runs

# Of host h, times in ns: N now, B begin.
FACTS = {
    "hosts": """
        SELECT toInt64(number + 1) AS id, toString(number) AS host_key, 'host-' || toString(number) AS hostname,
               8 AS cpu_count, 32 * {gib} AS memory_bytes, {B} - {day} AS boot_unix_ns, {B} AS first_seen_unix_ns,
               {N} AS last_seen_unix_ns FROM numbers({hosts})""",
    "services": """
        SELECT host_id, toInt64(host_id * 1000000 + s) AS run,
               multiIf(s = 0, 'system', s = 1, 'service', 'host-service') AS kind,
               multiIf(s = 0, 'system', s = 1, 'site-agent.service', 'service-' || toString(s)) AS name,
               'running' AS status, {day} AS begin_boot_ns, NULL AS end_boot_ns, {B} AS started_unix_ns,
               1 AS process_count, 1 AS living_count,
               toInt64(0.002 * ({N} - {B})) AS cpu_ns, 1000000 AS sent_bytes
          FROM (SELECT toInt64(intDiv(number, 12) + 1) AS host_id, number % 12 AS s FROM numbers({hosts} * 12))""",
    "work": """
        SELECT host_id, toInt64(host_id * 1000000 + 100 + n) AS run, 'batch' AS kind,
               'pipeline-' || toString(n % 7) AS name, if(n % {failed} = 0, 'failed', 'succeeded') AS status,
               started_unix_ns - {B} + {day} AS begin_boot_ns,
               begin_boot_ns + {hour} + (cityHash64(host_id, n) % 60) * {minute} AS end_boot_ns,
               {B} + n * 3 * {hour} AS started_unix_ns, 20 AS process_count, 0 AS living_count,
               (end_boot_ns - begin_boot_ns) * 4 AS cpu_ns, 1000000 AS sent_bytes
          FROM (SELECT toInt64(number % {hosts} + 1) AS host_id, intDiv(number, {hosts}) AS n
                  FROM numbers({hosts} * {days} * 8 - {hosts}))""",
}
# What a run, a task and a tool have in common.
FIGURES = ("host_id, begin_boot_ns, end_boot_ns, started_unix_ns, process_count, living_count, cpu_ns, sent_bytes,"
           " 1073741824 AS peak_rss_bytes, 1073741824 AS concurrent_memory_bytes")
TASKS = "({all}) ARRAY JOIN if(living_count = 1, [0], range(10)) AS task"
ROWS = {
    "runs": f"SELECT run AS id, kind, name, status, 1000 + host_id % 40 AS user_id, {FIGURES} FROM ({{all}})",
    "tasks": f"""
        SELECT run * 10 + task AS id, run AS run_id, 'step-' || toString(task) AS name, status, {FIGURES} FROM {TASKS}""",
    "tools": f"""
        SELECT run * 10 + task AS id, run AS run_id, run * 10 + task AS task_id, 'tool-' || toString(task) AS name,
               'tool' AS role, {FIGURES} FROM {TASKS}""",
    "processes": """
        SELECT host_id, run * 100 + p AS id, run AS run_id, run * 10 + intDiv(p, 2) AS task_id, task_id AS tool_id,
               p AS pid, 1000 + host_id % 40 AS user_id, 'exec' AS began, if(living_count = 1, NULL, 'exit') AS ended,
               'final' AS totals, begin_boot_ns, end_boot_ns, started_unix_ns, 'tool' AS role, 'tool' AS program,
               if(living_count = 1, NULL, 0) AS exit_code, intDiv(cpu_ns, 20) AS cpu_ns, 1073741824 AS peak_rss_bytes,
               ['tool', toString(run), toString(p)] AS arguments, '/data' AS working_directory
          FROM ({all}) ARRAY JOIN if(living_count = 1, [0], range(20)) AS p""",
    "samples": """
        SELECT toInt64(number % {hosts} + 1) AS host_id, (host_id * 1000000 + 1) * 100 AS process_id,
               {day} + intDiv(number, {hosts}) * 5 * {minute} AS boot_ns,
               {B} + intDiv(number, {hosts}) * 5 * {minute} AS unix_ns,
               intDiv(number, {hosts}) * 600000000 AS cpu_ns, 0 AS read_bytes, 0 AS write_bytes,
               intDiv(number, {hosts}) * 1000 AS sent_bytes
          FROM numbers({hosts} * {days} * 288)""",
    "host_samples": """
        SELECT toInt64(number % {hosts} + 1) AS host_id, {N} - {day} + intDiv(number, {hosts}) * 10000000000 AS unix_ns,
               unix_ns - {B} + {day} AS boot_ns, 20 * {gib} AS memory_available_bytes, 12 * {gib} AS memory_free_bytes,
               8 * {gib} AS memory_cache_bytes
          FROM numbers({hosts} * 8640)""",
    "host_activity": """
        SELECT toInt64(number % {hosts} + 1) AS host_id, {B} + intDiv(number, {hosts}) * 5 * {minute} AS begin_unix_ns,
               begin_unix_ns + 5 * {minute} AS last_unix_ns, 5 * {minute} AS covered_ns,
               if((begin_unix_ns - {B}) % (3 * {hour}) < {hour}, 4.0, 0.05) * covered_ns AS cpu_ns,
               if(cpu_ns > covered_ns, 4500, 60) AS most_core_milli, 1000000 AS disk_bytes, 100000 AS network_bytes,
               20 * {gib} AS least_memory_available_bytes, 12 * {gib} AS least_memory_free_bytes,
               8 * {gib} AS most_memory_cache_bytes, now64(3) AS computed
          FROM numbers({hosts} * {days} * 288)""",
}


def arguments_read():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--findings", action="store_true")
    return parser.parse_args()


def fill(lake, hosts, days):
    now = time.time_ns() // 10**9 * 10**9
    values = {"N": now, "B": now - days * DAY, "hosts": hosts, "days": days, "gib": GIB, "minute": MINUTE, "hour": HOUR,
              "day": DAY, "failed": FAILED_EVERY}
    facts = {name: sql.format(**values) for name, sql in FACTS.items()}
    values["all"] = f"SELECT * FROM ({facts['services']}) UNION ALL SELECT * FROM ({facts['work']})"
    rows = {"hosts": facts["hosts"], **{entity: sql.format(**values) for entity, sql in ROWS.items()}}
    for entity, sql in rows.items():
        names = [row[0] for row in lake.rows(f"DESCRIBE ({sql})")]
        lake.query(f"INSERT INTO tracer.{entity}_rows ({', '.join(names)}) {sql}", timeout=1200)
        print(f"{entity}: {int(lake.value(f'SELECT count() FROM tracer.{entity}_rows')):,} rows", flush=True)


def server_cpu_s(lake):
    fields = pathlib.Path(f"/proc/{lake.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(lake, times, name, *command, **settings):
    """Prints the median of the wall times, and the server's CPU time of one."""
    seconds, cpu_s = [], server_cpu_s(lake)
    for _ in range(times):
        begin = time.monotonic()
        subprocess.run(command, check=True, capture_output=True, **settings)
        seconds.append(time.monotonic() - begin)
    print(f"{name:40} {statistics.median(seconds):6.2f} s, {(server_cpu_s(lake) - cpu_s) / times:6.2f} s of CPU", flush=True)


def main():
    arguments = arguments_read()
    tracer = arguments.build / "cli/tracer"
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    with Lake(memory_bytes=8 << 30, directory=arguments.keep) as lake:
        def environment(user):
            return {**os.environ, "TRACER_LAKE_USER": user, "TRACER_LAKE_PASSWORD_FILE": str(lake.secret(user))}

        if lake.value("EXISTS DATABASE tracer") == "0":
            subprocess.run([tracer, "lake", "init", "--lake", lake.url], check=True, env=environment("migrator"))
            lake.query("SYSTEM STOP VIEWS")
            fill(lake, arguments.hosts, arguments.days)
        lake.query("SYSTEM STOP VIEWS")
        asked = [("show", "pipeline-3"), ("show", "--processes", "pipeline-3"), ("runs",), ("runs", "--host", "host-7"),
                 ("host",), ("failed",), *((verb, "--since", f"{arguments.days}d") for verb in ("cost", "sweep"))]
        if arguments.findings:
            listed = subprocess.run([tracer, "sweep", "--list", "--json"], check=True, capture_output=True).stdout
            asked += [("query", finding["name"], "--since", f"{arguments.days}d", "--format", "csv")
                      for finding in json.loads(listed)["findings"]]
        for command in asked:
            measure(lake, arguments.times, " ".join(command), tracer, *command, "--lake", lake.url,
                    env=environment("analyst"))


if __name__ == "__main__":
    main()
