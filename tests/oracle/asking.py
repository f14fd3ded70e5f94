"""Asks Tracer's surfaces, and reads their formats: rows by kind, as dictionaries.

    with Asking(daemons) as asking:
        rows = of_report(asking.get(f"runs/{run}").json())
        rows["task"]
"""

import collections
import contextlib
import csv
import io
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import zlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / name) for name in ("serve", "page", "lake", "exports")]
import page_data  # noqa: E402 (found by the path above)
import readers  # noqa: E402
import server  # noqa: E402
from lake import Lake  # noqa: E402
from testing import same  # noqa: E402


class Asking:
    """What answers: commands on the store, a server, and a lake that has everything in the store."""

    def __init__(self, daemons):
        self.daemons = daemons
        self.held = contextlib.ExitStack()
        self.server = self.held.enter_context(server.Server(daemons.build, daemons.store, unix=False))
        self.lake = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.held.close()

    def get(self, target):
        answer = self.server.get(f"/api/v1/{target}")
        same(f"status of {target}: {answer.body[:500]}", answer.status, 200)
        return answer

    def fill_lake(self):
        """Raises Unavailable where there is no ClickHouse."""
        self.lake = self.held.enter_context(Lake())
        self.tell_lake("lake", "init", user="migrator")
        self.lake.ship(self.daemons.build, self.daemons.store)

    def tell_lake(self, *arguments, user="analyst"):
        return subprocess.run([self.daemons.build / "cli/tracer", *arguments, "--lake", self.lake.url], check=True, text=True,
                              stdout=subprocess.PIPE, env=self.lake.environment(user)).stdout

    def store_rows(self, view):
        return self.daemons.rows(f"SELECT * FROM {view}")

    def lake_rows(self, view):
        answer = self.lake.query(f"SELECT * FROM tracer.{view} FORMAT JSONEachRow", user="analyst",
                                 output_format_json_quote_64bit_integers=0)
        return map(json.loads, answer.splitlines())


# ---- of all runs: {run: rows by kind} ------------------------------------------------------


def by_run(kind, rows, key):
    found = collections.defaultdict(lambda: {kind: []})
    for row in rows:
        found[row[key]][kind].append(row)
    return found


def listed(text):
    """Of `tracer runs`."""
    return by_run("run", json.loads(text)["runs"], "id")


VIEWS = {"run": "readable_runs", "task": "readable_tasks", "tool": "readable_tools", "incident": "readable_incidents",
         "process": "processes"}


def is_id(name):
    return name in ("id", "rules_version") or (name.endswith("_id") and name not in ("user_id", "exec_id", "sender_user_id"))


def readable(row):
    return {name: f"{value & (2**64 - 1):016x}" if is_id(name) and value is not None else value for name, value in row.items()}


def viewed(rows):
    """Of the views of a store or a lake. `rows` returns the rows of a view."""
    found = collections.defaultdict(dict)
    for kind, view in VIEWS.items():
        for run, kinds in by_run(kind, map(readable, rows(view)), "id" if kind == "run" else "run_id").items():
            found[run] |= kinds
    return found


# ---- of one run ----------------------------------------------------------------------------


def of_report(report):
    """Of `tracer show --json`."""
    tasks = report["tasks"]
    return {"run": [report["run"]], "task": tasks, "tool": [tool for task in tasks for tool in task["tools"]],
            "process": [process for task in tasks for process in task["processes"]], "incident": report["incidents"]}


FIGURE = {
    "id": r"^  run +(\w+)", "cpu_ns": r"^  CPU +(\d+)", "user_ns": r"(\d+) user", "system_ns": r"(\d+) system",
    "run_delay_ns": r"(\d+) spent waiting for a core", "peak_rss_bytes": r"(\d+) in the largest process",
    "concurrent_memory_bytes": r"(\d+) at one time", "read_bytes": r"^  I/O +(\d+) read",
    "write_bytes": r"(\d+) written on storage", "rchar_bytes": r"(\d+) in, ", "wchar_bytes": r"(\d+) out by system calls"}


def printed(text):
    """Of `tracer show --by task --raw`."""
    found = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in FIGURE.items()}
    table = text[re.search(r"^task +count +", text, re.MULTILINE).start():].split("\n\n")[0]
    header, *rows = [re.split(r"  +", line.strip()) for line in table.splitlines()]
    return {"run": [{name: match and match[1] for name, match in found.items()}], "name": [dict(zip(header, row)) for row in rows]}


def lines(text):
    """Of `tracer export --format ndjson`."""
    rows = collections.defaultdict(list)
    for row in map(json.loads, text.splitlines()):
        rows[row["type"]].append(row)
    return rows


def separated(separator):
    """Of a table with a header."""
    return lambda text: {"line": list(csv.DictReader(io.StringIO(text), delimiter=separator))}


def events(text):
    """Of Perfetto's format."""
    rows = collections.defaultdict(list)
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "X":
            rows[event["cat"]].append(event | event["args"])
    return rows


def spans(text):
    """Of OpenTelemetry's."""
    rows = collections.defaultdict(list)
    for span in readers.spans_of(text.splitlines()):
        found = span | span["resource"] | span["attributes"]
        kind = "tool" if "tracer.tool.role" in found else "other task" if "cicd.pipeline.task.name" in found else "run"
        rows[kind].append(found)
    return rows


def actions(text):
    """Of an RO-Crate."""
    entities = {entity["@id"]: entity for entity in json.loads(text)["@graph"]}
    found = []
    for entity in entities.values():
        if entity["@type"] == "CreateAction":
            used = [entities[link["@id"]] for link in entity["resourceUsage"]]
            found.append(entity | {"id": entity["@id"].removeprefix("#task-"), **{usage["name"]: usage["value"] for usage in used}})
    return {"task": found}


def page(stream):
    data = page_data.Data(zlib.decompress(stream))
    texts = {"tasks": ("name", "label", "status", "kind"), "tools": ("name", "role"), "processes": ("program",)}
    tasks, tools, processes = ([row | {name: data.text(row[name]) for name in names} for row in data.rows(table)]
                               for table, names in texts.items())
    for task in tasks:
        task["id"] = f"{task['id_high']:08x}{task['id_low']:08x}"
    for tool in tools:
        tool["task"] = tasks[tool["task"]]["id"]
    for process in processes:
        process["tool"] = tools[process["tool"]]["name"]
    held = max((number or 0 for number in data.tables["series"]["memory_bytes"]), default=0)
    run = data.facts["run"] | {"held_bytes": held}
    return {"run": [run], "task": tasks, "tool": tools, "process": processes, "incident": data.facts["failures"],
            "step": data.facts["tune"]["names"]}
