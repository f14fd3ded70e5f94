"""Every surface says the same of a run, its tasks, tools, processes and incidents: `tracer show --json`, and those below.

SURFACES is a table: a surface, how it is asked, and which of its fields is which of `show`. Surfaces that answer for many runs at
once are compared for every execution, others for the last one of each workload.
"""

import collections
import contextlib
import csv
import datetime
import functools
import io
import json
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import typing
import zlib

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / name) for name in ("serve", "page", "lake")]
import lake  # noqa: E402 (found by the path above)
import page_data  # noqa: E402
import server  # noqa: E402
from testing import ENVIRONMENT, same, skip_all  # noqa: E402

NS_PER_US, NS_PER_MS, NS_PER_S, MIB = 1000, 10**6, 10**9, 1 << 20
SHOWN_IN_LAKE = 4 # workloads whose runs are shown from the lake, which takes a second each
DIGITS = 6        # of fractions that are compared

# ---- what `show` says --------------------------------------------------------------------


def total(rows, field):
    known = [row[field] for row in rows if row[field] is not None]
    return sum(known) if known else None


def most(rows, field):
    return max((row[field] for row in rows if row[field] is not None), default=None)


def named(tasks):
    """Tasks by their name."""
    names = collections.defaultdict(list)
    for task in tasks:
        names[task["name"]].append(task)
    sums = ("cpu_ns", "run_delay_ns", "read_bytes", "write_bytes")
    good = {name: [task for task in some if task["status"] == "succeeded"] or some for name, some in names.items()}
    return [{"name": name, "task_count": len(some), "peak_rss_bytes": most(some, "peak_rss_bytes"),
             "failed_count": sum(task["status"] in ("failed", "killed") for task in some),
             "used_bytes": max((peak_memory(task) or 0) + (task["unattributed_memory_bytes"] or 0) for task in good[name]),
             "succeeded_count": sum(task["status"] == "succeeded" for task in some),
             "median_wall_ns": int(statistics.median(task["wall_ns"] for task in some)), "wall_ns": total(some, "wall_ns"),
             "longest_wall_ns": most(some, "wall_ns"), **{field: total(some, field) for field in sums}}
            for name, some in names.items()]


def said(answer):
    """Rows by kind. Each knows its run, and what it is part of."""
    run, tasks = answer.run, answer.tasks
    tools = [tool for task in tasks for tool in task["tools"]]
    others = [task for task in tasks if task["kind"] != "main"]
    rows = {"run": [run], "curve": [run], "task": tasks, "tool": tools, "process": answer.processes, "incident": answer.incidents,
            "other task": others, "line": others or tasks, "name": named(tasks), "step": named(others or tasks)}
    names = {tool["id"]: tool["name"] for tool in tools}
    for task in tasks:
        for part in (task, *task["tools"], *task["processes"]):
            part |= {"of run": run, "of task": task["id"]}
    for process in answer.processes:
        process["of tool"] = names[process["tool_id"]]
    return rows


# ---- fields ------------------------------------------------------------------------------


def whole(field, unit):
    """In whole units."""
    return lambda row: None if row[field] is None else row[field] // unit


def real(field, unit, digits=None):
    """With a fraction; as a text of so many digits."""
    def convert(row):
        number = None if row[field] is None else row[field] / unit
        return number if digits is None or number is None else f"{number:.{digits}f}"
    return convert


def after(field, base, unit=1):
    """Since the run's."""
    return lambda row: (row[field] - row["of run"][base]) // unit


def ended(row, unit=1):
    return (row["started_unix_ns"] + row["wall_ns"]) // unit


def peak_memory(row):
    return most([{"bytes": row[name]} for name in ("peak_rss_bytes", "concurrent_memory_bytes")], "bytes")


def exit_status(row):
    return 128 + row["signal"] if row["signal"] else row["exit_code"]


def cpu_percent(row):
    return f"{100 * row['cpu_ns'] / row['wall_ns']:.2f}"


def rounded_down(ns):
    """A time in milliseconds of UTC, as RO-Crate has it."""
    return f"{datetime.datetime.fromtimestamp(ns // NS_PER_S, datetime.timezone.utc):%Y-%m-%dT%H:%M:%S}.{ns % NS_PER_S // NS_PER_MS:03}+00:00"


def known_signal(row):
    return row["signal"] or None


def name_and_label(row):
    return f"{row['name']} {row['label'] or ''}".strip()


def one_of(words):
    return lambda row: words[row["status"]]


class Same(typing.NamedTuple):
    """All fields that both have, under the same names. The surface has to have these."""

    fields: tuple
    without: tuple = ()


FIGURES = ("cpu_ns", "read_bytes", "write_bytes", "rchar_bytes", "wchar_bytes", "sent_bytes", "received_bytes", "peak_rss_bytes",
           "begin_boot_ns", "end_boot_ns", "started_unix_ns")
TALLY = (*FIGURES, "concurrent_memory_bytes", "unattributed_memory_bytes", "process_count", "failed_count")
STATUS = ("status", "exit_code", "signal")
SAME = {
    "run": Same(("id", "name", *STATUS, *TALLY, "task_count")),
    "task": Same(("id", "name", "label", *STATUS, *TALLY)),
    "tool": Same(("id", "name", "role", *TALLY)),
    "process": Same(("id", "program", "pid", "exit_code", "signal", *FIGURES)),
    "incident": Same(("id", "kind", "sentence", "cause", "fatal", "unix_ns")),
}
# Of views: what distinguishes tasks of the same name is found when they are shown.
VIEWED = SAME | {"task": Same(tuple(name for name in SAME["task"].fields if name != "label"), without=("label",)),
                 "process": Same(SAME["process"].fields, without=("arguments",))} # they are bytes there
TRACE_STATUS = {"succeeded": "COMPLETED", "failed": "FAILED", "killed": "FAILED", "ended": None}
CRATE_STATUS = {"succeeded": "Completed", "failed": "Failed", "killed": "Failed", "ended": None}
SPAN = {"wall_us": whole("wall_ns", NS_PER_US), "begin_us": after("begin_boot_ns", "begin_boot_ns", NS_PER_US),
        "cpu_us": whole("cpu_ns", NS_PER_US), "wait_us": whole("run_delay_ns", NS_PER_US),
        **{name: name for name in ("peak_rss_bytes", "read_bytes", "write_bytes", "sent_bytes", "received_bytes")}}
PAGE = {
    "run": SAME["run"],
    "curve": {"beyond_bytes": lambda _: 0}, # of memory over time, beyond the most at one time
    "incident": SAME["incident"],
    "task": {"id": "id", "name": "name", "label": lambda task: task["label"] or None, **SPAN,
             **{name: name for name in ("status", "kind", "concurrent_memory_bytes", "process_count", "failed_count", "exit_code",
                                        "signal", "lost_count", "memory_limit_bytes", "cgroup_peak_bytes")}},
    "tool": {"task": "of task", "name": "name", "role": "role", **SPAN, "process_count": "process_count",
             "failed_count": "failed_count"},
    "process": {"pid": "pid", "program": "program", "tool": "of tool", "exit_code": "exit_code", "signal": "signal",
                "user_id": "user_id", **SPAN},
    "step": {name: name for name in ("name", "task_count", "wall_ns", "cpu_ns", "run_delay_ns")},
}
EVENT = {"ts": after("started_unix_ns", "started_unix_ns", NS_PER_US), "name": "name", "cpu_ns": "cpu_ns",
         "peak_rss_bytes": "peak_rss_bytes"}
PERFETTO = {
    "task": {**EVENT, "label": lambda task: task["label"] or "", "signal": known_signal,
             **{name: name for name in ("status", "exit_code", "concurrent_memory_bytes", "read_bytes", "write_bytes")}},
    "tool": {**EVENT, "process_count": "process_count", "read_bytes": "read_bytes", "write_bytes": "write_bytes"},
    "process": {**EVENT, "name": "program", "pid": "pid", "exit_code": "exit_code", "signal": known_signal},
}
OTLP_SPAN = {"id": "id", "startTimeUnixNano": "started_unix_ns", "endTimeUnixNano": ended, "tracer.failed_process_count": "failed_count",
             **{f"tracer.{name}": name for name in ("cpu_ns", "run_delay_ns", "peak_rss_bytes", "read_bytes", "write_bytes",
                                                    "process_count")}}
OTLP = {
    "run": {**OTLP_SPAN, "cicd.pipeline.name": "name", "process.exit.code": "exit_code", "tracer.signal": "signal"},
    "other task": {**OTLP_SPAN, "cicd.pipeline.task.name": "name", "tracer.task.label": "label", "process.exit.code": "exit_code",
             "tracer.signal": "signal"},
    "tool": {**OTLP_SPAN, "process.executable.name": "name", "tracer.tool.role": "role"},
}
TRACE = {"line": {
    "native_id": "id", "hash": lambda task: task["label"] or None, "name": "name", "status": one_of(TRACE_STATUS), "exit": exit_status,
    "start": whole("started_unix_ns", NS_PER_MS), "complete": functools.partial(ended, unit=NS_PER_MS),
    "realtime": whole("wall_ns", NS_PER_MS), "%cpu": cpu_percent, "peak_rss": peak_memory, "rchar": "rchar_bytes",
    "wchar": "wchar_bytes", "read_bytes": "read_bytes", "write_bytes": "write_bytes"}}
BENCHMARK = {"line": {
    "rule_name": "name", "wildcards": lambda task: task["label"] or None, "s": real("wall_ns", NS_PER_S, 4),
    "max_rss": lambda task: f"{peak_memory(task) / MIB:.2f}", "io_in": real("read_bytes", MIB, 2), "io_out": real("write_bytes", MIB, 2),
    "mean_load": cpu_percent, "cpu_time": real("cpu_ns", NS_PER_S, 2)}}
MULTIQC = {"name": {
    "task": "name", "tasks": "task_count", "failed": "failed_count", "median": real("median_wall_ns", NS_PER_S),
    "longest": real("longest_wall_ns", NS_PER_S), "cpu": real("cpu_ns", NS_PER_S), "memory": real("peak_rss_bytes", MIB),
    "read": real("read_bytes", MIB), "written": real("write_bytes", MIB)}}
# Tables for people, with --raw.
HEAD = {"run": {name: name for name in ("cpu_ns", "user_ns", "system_ns", "run_delay_ns", "peak_rss_bytes", "concurrent_memory_bytes",
                                        "read_bytes", "write_bytes", "rchar_bytes", "wchar_bytes", "id")}}
BY_TASK = {"name": {"task": "name", "count": "task_count", "failed": "failed_count", "median wall": "median_wall_ns",
                    "longest": "longest_wall_ns", "total CPU": "cpu_ns", "peak RSS": "peak_rss_bytes", "read": "read_bytes",
                    "written": "write_bytes", "waited": "run_delay_ns"}}
CRATE = {"task": {
    "id": "id", "name": name_and_label, "actionStatus": one_of(CRATE_STATUS),
    "startTime": lambda task: rounded_down(task["started_unix_ns"]), "endTime": lambda task: rounded_down(ended(task)),
    "error": lambda task: None if task["status"] not in ("failed", "killed") else
    f"signal {task['signal']}" if task["signal"] else f"exit status {task['exit_code']}",
    **{name: name for name in ("cpu_ns", "peak_rss_bytes", "concurrent_memory_bytes", "read_bytes", "write_bytes")}}}

# What the parts of a run add up to.
SUMS = ("cpu_ns", "user_ns", "system_ns", "run_delay_ns", "read_bytes", "write_bytes", "rchar_bytes", "wchar_bytes", "sent_bytes",
        "received_bytes", "minor_faults", "voluntary_switches")
COUNTS = ("process_count", "failed_count", "partial_count")
PARTS = {name: name for name in ("id", *SUMS, "peak_rss_bytes", "begin_boot_ns", "end_boot_ns")}
TALLIES = PARTS | {name: name for name in COUNTS}

# ---- how they are asked ------------------------------------------------------------------


class Asking:
    """What answers: commands on the store, a server, and a lake that has everything in the store."""

    def __init__(self, daemons, held):
        self.daemons = daemons
        self.server = held.enter_context(server.Server(daemons.build, daemons.store, unix=False))
        self.lake = None

    def get(self, target):
        answer = self.server.get(f"/api/v1/{target}")
        same(f"status of {target}: {answer.body[:500]}", answer.status, 200)
        return answer

    def in_lake(self, *arguments, user="analyst"):
        environment = ENVIRONMENT | {"TRACER_LAKE_USER": user, "TRACER_LAKE_PASSWORD_FILE": str(self.lake.secret(user)),
                                     "HOME": "/nonexistent"}
        return subprocess.run([self.daemons.build / "cli/tracer", *arguments, "--lake", self.lake.url], env=environment, check=True,
                              capture_output=True, text=True).stdout

    def fill(self, one):
        self.lake = one
        self.in_lake("lake", "init", user="migrator")
        state = self.daemons.directory / "shipped"
        state.mkdir()
        subprocess.run([self.daemons.build / "shipper/tracer-shipper", "--once", "--store", self.daemons.store, "--state", state,
                        "--config", "/dev/null", "--lake", one.url, "--set", "lake.user=shipper", "--set",
                        f"lake.password-file={one.secret('shipper')}", "--log-level", "warning"], check=True, env=ENVIRONMENT)


def by_run(kind, rows, key):
    found = collections.defaultdict(lambda: {kind: []})
    for row in rows:
        found[row[key]][kind].append(row)
    return found


def join(*answers):
    found = collections.defaultdict(dict)
    for answer in answers:
        for run, kinds in answer.items():
            found[run] |= kinds
    return found


def listed(text):
    return by_run("run", json.loads(text)["runs"], "id")


VIEWS = {"run": "readable_runs", "task": "readable_tasks", "tool": "readable_tools", "incident": "readable_incidents",
         "process": "processes"}


def hexadecimal(row):
    return {name: f"{value & (2**64 - 1):016x}" if isinstance(value, int) and (name in ("id", "rules_version") or name.endswith("_id"))
            and name not in ("user_id", "exec_id", "sender_user_id") else value for name, value in row.items()}


def viewed(rows_of):
    """The views of a store or a lake. `rows_of` returns the rows of one."""
    return join(*(by_run(kind, map(hexadecimal, rows_of(view)), "id" if kind == "run" else "run_id")
                  for kind, view in VIEWS.items()))


def ask_views(asking, runs):
    database = sqlite3.connect(f"file:{asking.daemons.store}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    with contextlib.closing(database):
        return viewed(lambda view: [dict(row) for row in database.execute(f"SELECT * FROM {view}")])


def ask_lake_views(asking, runs):
    return viewed(lambda view: map(json.loads, asking.lake.query(
        f"SELECT * FROM tracer.{view} FORMAT JSONEachRow", user="analyst", output_format_json_quote_64bit_integers=0).splitlines()))


def of_report(report):
    """Rows of the JSON of `show`."""
    tasks = report["tasks"]
    return {"run": [report["run"]], "task": tasks, "tool": [tool for task in tasks for tool in task["tools"]],
            "process": [process for task in tasks for process in task["processes"]], "incident": report["incidents"]}


def lines(text):
    """Rows of `export --format ndjson` by kind."""
    rows = collections.defaultdict(list)
    for row in map(json.loads, text.splitlines()):
        rows[row["type"]].append(row)
    return rows


def table(separator):
    """Reads a table with a header."""
    def read(text):
        rows = csv.DictReader(io.StringIO(text), delimiter=separator)
        return {"line": [{name: None if cell in ("", "-") else cell for name, cell in row.items()} for row in rows]}
    return read


NUMBERS = (
    ("id", r"^  run +(\w+)"), ("cpu_ns", r"^  CPU +(\d+)"), ("user_ns", r"(\d+) user"), ("system_ns", r"(\d+) system"),
    ("run_delay_ns", r"(\d+) spent waiting for a core"), ("peak_rss_bytes", r"(\d+) in the largest process"),
    ("concurrent_memory_bytes", r"(\d+) at one time"), ("read_bytes", r"^  I/O +(\d+) read"), ("write_bytes", r"(\d+) written on storage"),
    ("rchar_bytes", r"(\d+) in, "), ("wchar_bytes", r"(\d+) out by system calls"))


def printed(text):
    """What `show --by task --raw` prints."""
    found = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in NUMBERS}
    lines_of = text[re.search(r"^task +count +", text, re.MULTILINE).start():].split("\n\n")[0].splitlines()
    header, *rows = [re.split(r"  +", line.strip()) for line in lines_of]
    return {"run": [{name: match and match[1] for name, match in found.items()}],
            "name": [{name: None if cell == "-" else cell for name, cell in zip(header, row)} for row in rows]}


def events(text):
    rows = collections.defaultdict(list)
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "X":
            rows[event["cat"]].append({name: event[name] for name in ("name", "ts", "dur")} | event["args"])
    return rows


def spans(text):
    rows = {"run": [], "other task": [], "tool": []}
    for request in map(json.loads, text.splitlines()):
        for part in request["resourceSpans"]:
            for span in part["scopeSpans"][0]["spans"]:
                found = {each["key"]: int(each["value"]["intValue"]) if "intValue" in each["value"] else each["value"]["stringValue"]
                         for each in (*part["resource"]["attributes"], *span["attributes"])}
                found |= {"id": span["spanId"], **{name: int(span[name]) for name in ("startTimeUnixNano", "endTimeUnixNano")}}
                kind = "tool" if "tracer.tool.role" in found else "other task" if "cicd.pipeline.task.name" in found else "run"
                rows[kind].append(found)
    return rows


def actions(text):
    entities = {entity["@id"]: entity for entity in json.loads(text)["@graph"]}
    found = []
    for entity in entities.values():
        if entity["@type"] == "CreateAction":
            used = [entities[link["@id"]] for link in entity["resourceUsage"]]
            status = entity.get("actionStatus", "").removeprefix("http://schema.org/").removesuffix("ActionStatus")
            found.append(entity | {"id": entity["@id"].removeprefix("#task-"), "actionStatus": status or None,
                                   **{usage["name"]: int(usage["value"]) for usage in used}})
    return {"task": found}


def page(stream):
    data = page_data.Data(zlib.decompress(stream))
    tables = {}
    for name, texts in (("tasks", ("name", "label", "status", "kind")), ("tools", ("name", "role")), ("processes", ("program",))):
        tables[name] = [row | {text: data.text(row[text]) for text in texts} for row in data.rows(name)]
    for task in tables["tasks"]:
        task["id"] = f"{task['id_high']:08x}{task['id_low']:08x}"
    for tool in tables["tools"]:
        tool["task"] = tables["tasks"][tool["task"]]["id"]
    for process in tables["processes"]:
        process["tool"] = tables["tools"][process["tool"]]["name"]
    run = data.facts["run"]
    beyond = max(0, *(bytes_ or 0 for bytes_ in data.tables["series"]["memory_bytes"])) - (run["concurrent_memory_bytes"] or 2**63)
    return {"run": [run], "task": tables["tasks"], "tool": tables["tools"], "process": tables["processes"],
            "incident": data.facts["failures"], "curve": [{"beyond_bytes": max(0, beyond)}], "step": data.facts["tune"]["names"]}


def folded(whole, parts, counted=COUNTS):
    return {"id": whole["id"], **{name: total(parts, name) for name in (*SUMS, *counted)}, "peak_rss_bytes": most(parts, "peak_rss_bytes"),
            "begin_boot_ns": min(part["begin_boot_ns"] for part in parts), "end_boot_ns": most(parts, "end_boot_ns")}


def fold(answer):
    """Of the parts of a run, as `show` has them."""
    of_tools = [(tool, [process for process in task["processes"] if process["tool_id"] == tool["id"]])
                for task in answer.tasks for tool in task["tools"]]
    return {"run": [folded(answer.run, answer.tasks)], "task": [folded(task, task["tools"]) for task in answer.tasks],
            "tool": [folded(tool, parts, ()) | {"process_count": len(parts)} for tool, parts in of_tools]}


def export(form, read):
    return lambda asking, run: read(asking.daemons.tell("export", run, "--format", form))


def question(name, kind):
    return lambda asking, run: {kind: asking.get(f"queries/{name}?run={run}").json()["rows"]}


class Surface(typing.NamedTuple):
    name: str
    ask: typing.Callable   # is told a run, and returns rows by kind; with `of_all` {run: answer}, and {run: rows by kind}
    fields: dict           # by kind: names that are the same, or {field: the same of `show`, or a function of its row}
    of_all: bool = False   # answers for all runs at once
    of_lake: bool = False


RIGHT_SIZE = {"step": {"name": "name", "task_count": "succeeded_count", "used_bytes": "used_bytes"}}
COST = {"name": {"task": "name", "task_count": "task_count"}}
RUN = {"run": SAME["run"]}
SURFACES = (
    Surface("sums of show", lambda asking, runs: {run: fold(answer) for run, answer in runs.items()},
            {"run": TALLIES, "task": TALLIES, "tool": PARTS | {"process_count": "process_count"}}, of_all=True),
    Surface("tracer runs", lambda asking, runs: listed(asking.daemons.tell("runs", "--limit", "0", "--json")), RUN, of_all=True),
    Surface("API runs", lambda asking, runs: listed(asking.get("runs?limit=0").body), RUN, of_all=True),
    Surface("SQL of the store", ask_views, VIEWED, of_all=True),
    Surface("API show", lambda asking, run: of_report(asking.get(f"runs/{run}?processes=true").json()),
            SAME),
    Surface("API failures", lambda asking, run: {"incident": asking.get(f"runs/{run}/failures").json()["failures"]},
            {"incident": SAME["incident"]}),
    Surface("API tune", lambda asking, run: {"step": asking.get(f"runs/{run}/tune").json()["names"]}, {"step": PAGE["step"]}),
    Surface("API right-sizes", lambda asking, run: {"step": asking.get(f"right-sizes/{run}").json()["names"]}, RIGHT_SIZE),
    Surface("API cost", lambda asking, run: {"name": asking.get(f"runs/{run}/cost").json()["rows"]}, COST),
    Surface("API page", lambda asking, run: page(asking.get(f"runs/{run}/page").body), PAGE),
    Surface("query tasks", question("tasks", "task"), {"task": VIEWED["task"]}),
    Surface("query tools", question("tools", "tool"), {"tool": SAME["tool"]}),
    Surface("query processes", question("processes", "process"), {"process": SAME["process"]}),
    Surface("query incidents", question("incidents", "incident"), {"incident": SAME["incident"]}),
    Surface("show as a table", lambda asking, run: printed(asking.daemons.tell("show", run, "--by", "task", "--raw")), HEAD | BY_TASK),
    Surface("export ndjson", export("ndjson", lines), SAME),
    Surface("export csv", export("csv", table(",")), {"line": SAME["task"]}),
    Surface("export trace", export("trace", table("\t")), TRACE),
    Surface("export benchmark", export("benchmark", table("\t")), BENCHMARK),
    Surface("export multiqc", export("multiqc", lambda text: {"name": list(json.loads(text)["data"].values())}), MULTIQC),
    Surface("export perfetto", export("perfetto", events), PERFETTO),
    Surface("export otlp", export("otlp", spans), OTLP),
    Surface("export crate", export("crate", actions), CRATE),
    Surface("lake SQL", ask_lake_views, VIEWED, of_all=True, of_lake=True),
    Surface("lake runs", lambda asking, runs: listed(asking.in_lake("runs", "--limit", "0", "--json")), RUN, of_all=True, of_lake=True),
    Surface("lake show", lambda asking, run: of_report(json.loads(asking.in_lake("show", run, "--processes", "--json"))),
            SAME, of_lake=True),
)


def ask(daemons, executions):
    """Gives each execution of {title: executions} what surfaces say of it."""
    everything = [execution for some in executions.values() for execution in some]
    for execution in everything:
        execution.said = []
    with contextlib.ExitStack() as held:
        asking = Asking(daemons, held)
        ask_each(asking, everything, [some[-1] for some in executions.values()], of_lake=False)
        try:
            asking.fill(held.enter_context(lake.Lake()))
        except lake.Unavailable as reason:
            skip_all("oracle: the lake", str(reason))
            return
        ask_each(asking, everything, [some[-1] for some in executions.values()][:SHOWN_IN_LAKE], of_lake=True)


def ask_each(asking, everything, chosen, of_lake):
    runs = {execution.answer.run["id"]: execution.answer for execution in everything}
    for surface in SURFACES:
        if surface.of_lake != of_lake:
            continue
        answers = surface.ask(asking, runs) if surface.of_all else {}
        for execution in everything if surface.of_all else chosen:
            run = execution.answer.run["id"]
            execution.said.append((surface, answers.get(run, {}) if surface.of_all else surface.ask(asking, run)))


# ---- comparing ---------------------------------------------------------------------------


def plain(value):
    """The same for what JSON, SQL and tables have in different types."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else round(value, DIGITS)
    return str(value) if isinstance(value, (int, float)) else json.dumps(value) if isinstance(value, (list, dict)) else value


def rows_of(rows, fields):
    """Rows as they are counted: ((field, value), ...)."""
    return collections.Counter(tuple((name, plain(field(row) if callable(field) else row.get(field))) for name, field in fields.items())
                               for row in rows)


def differences(surface, kind, fields, found, expected):
    found, expected = rows_of(found, {name: name for name in fields}), rows_of(expected, fields)
    more, less = list((found - expected).elements()), list((expected - found).elements())
    problems = []
    for row in list(more):
        other = next((one for one in less if one[0] == row[0]), None)
        if other:
            more.remove(row)
            less.remove(other)
            fields_apart = ", ".join(f"{name} {value!r} for {truth!r}" for (name, value), (_, truth) in zip(row, other) if value != truth)
            problems.append(f"{surface.name} of a {kind}: {fields_apart} of show ({row[0][1]})")
    problems += [f"{surface.name} has another {kind}: {dict(row)}" for row in more]
    return problems + [f"{surface.name} lacks a {kind}: {dict(row)}" for row in less]


def shared(fields, found, expected):
    both = found[0].keys() & expected[0].keys() if found and expected else set()
    return {name: name for name in (*fields.fields, *sorted(both - {*fields.fields, *fields.without, "tools", "processes"}))}


def check(executions):
    problems = []
    for execution in executions:
        rows = said(execution.answer)
        for surface, found in execution.said:
            for kind, fields in surface.fields.items():
                fields = shared(fields, found.get(kind), rows[kind]) if isinstance(fields, Same) else fields
                problems += [f"{problem} ({execution.workload})" for problem in
                             differences(surface, kind, fields, found.get(kind, []), rows[kind])]
    return problems
