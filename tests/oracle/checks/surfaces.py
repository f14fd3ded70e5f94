"""All surfaces say the same of a run, its tasks, tools, processes and incidents: `tracer show --json`, and those of SURFACES.

SURFACES is a table: a surface, how it is asked, and which of its fields is which of `show`. Those that answer for all runs at once
are compared for every execution, others for the last one of each workload.
"""

import collections
import datetime
import functools
import json
import statistics
import typing

from asking import Asking, actions, events, lines, listed, of_report, page, printed, separated, spans, viewed
from npm import Unavailable
from testing import skip_all

NS_PER_US, NS_PER_MS, NS_PER_S, MIB = 1000, 10**6, 10**9, 1 << 20
SHOWN_IN_LAKE = 4 # runs that are shown from a lake, which takes a second each
DIGITS = 6        # of fractions that are compared

# ---- what `show` says ----------------------------------------------------------------------


def total(rows, field):
    known = [row[field] for row in rows if row[field] is not None]
    return sum(known) if known else None


def most(rows, field):
    return max((row[field] for row in rows if row[field] is not None), default=None)


def peak_memory(row):
    return max(filter(None, (row["peak_rss_bytes"], row["concurrent_memory_bytes"])), default=None)


def named(tasks):
    """Tasks by their name."""
    names = collections.defaultdict(list)
    for task in tasks:
        names[task["name"]].append(task)
    rows = []
    for name, some in names.items():
        good = [task for task in some if task["status"] == "succeeded"]
        rows.append({field: total(some, field) for field in ("cpu_ns", "wall_ns", "run_delay_ns", "read_bytes", "write_bytes")})
        rows[-1] |= {
            "name": name, "task_count": len(some), "succeeded_count": len(good), "peak_rss_bytes": most(some, "peak_rss_bytes"),
            "failed_count": sum(task["status"] in ("failed", "killed") for task in some),
            "median_wall_ns": int(statistics.median(task["wall_ns"] for task in some)), "longest_wall_ns": most(some, "wall_ns"),
            "used_bytes": max((peak_memory(task) or 0) + (task["unattributed_memory_bytes"] or 0) for task in good or some)}
    return rows


def said(answer):
    """Rows by kind. Each knows its run, and what it is part of."""
    run, tasks = answer.run, answer.tasks
    rows = of_report({"run": run, "tasks": tasks, "incidents": answer.incidents})
    others = [task for task in tasks if task["kind"] != "main"]
    for task in tasks:
        for part in (task, *task["tools"], *task["processes"]):
            part |= {"of run": run, "of task": task["id"]}
    names = {tool["id"]: tool["name"] for tool in rows["tool"]}
    for process in answer.processes:
        process["of tool"] = names[process["tool_id"]]
    return rows | {"other task": others, "line": others or tasks, "name": named(tasks), "step": named(others or tasks)}


# What the parts of each add up to.
SUMS = ("cpu_ns", "user_ns", "system_ns", "run_delay_ns", "read_bytes", "write_bytes", "rchar_bytes", "wchar_bytes", "sent_bytes",
        "received_bytes", "minor_faults", "voluntary_switches")
COUNTS = ("process_count", "failed_count", "partial_count")


def folded(whole, parts, sums=(*SUMS, *COUNTS)):
    return {"id": whole["id"], "peak_rss_bytes": most(parts, "peak_rss_bytes"), "end_boot_ns": most(parts, "end_boot_ns"),
            "begin_boot_ns": min(part["begin_boot_ns"] for part in parts), **{name: total(parts, name) for name in sums}}


def folds(answer):
    tools = []
    for task in answer.tasks:
        for tool in task["tools"]:
            parts = [process for process in task["processes"] if process["tool_id"] == tool["id"]]
            tools.append(folded(tool, parts, SUMS) | {"process_count": len(parts)})
    return {"run": [folded(answer.run, answer.tasks)], "task": [folded(task, task["tools"]) for task in answer.tasks], "tool": tools}


# ---- fields: names that are the same, or {field: that of `show`, or a function of its row} --------


def names(*fields):
    return {name: name for name in fields}


def whole_units(field, unit):
    return lambda row: None if row[field] is None else row[field] // unit


def units(field, unit, digits=None):
    """With a fraction; as a text of so many digits."""
    def convert(row):
        number = None if row[field] is None else row[field] / unit
        return number if digits is None or number is None else f"{number:.{digits}f}"
    return convert


def after(field, unit):
    """Since the run's."""
    return lambda row: (row[field] - row["of run"][field]) // unit


def ended(row, unit=1):
    return (row["started_unix_ns"] + row["wall_ns"]) // unit


def utc(unix_ns):
    """As RO-Crate has it."""
    seconds = datetime.datetime.fromtimestamp(unix_ns // NS_PER_S, datetime.timezone.utc)
    return f"{seconds:%Y-%m-%dT%H:%M:%S}.{unix_ns % NS_PER_S // NS_PER_MS:03}+00:00"


def exit_status(row):
    return 128 + row["signal"] if row["signal"] else row["exit_code"]


def error(task):
    if task["status"] not in ("failed", "killed"):
        return None
    return f"signal {task['signal']}" if task["signal"] else f"exit status {task['exit_code']}"


def cpu_percent(row):
    return f"{100 * row['cpu_ns'] / row['wall_ns']:.2f}"


def status(words):
    return lambda row: words.get(row["status"])


class Same(typing.NamedTuple):
    """All fields that both have, under the same names. The surface has to have these."""

    fields: tuple
    without: tuple = ()


FIGURES = ("cpu_ns", "read_bytes", "write_bytes", "rchar_bytes", "wchar_bytes", "sent_bytes", "received_bytes", "peak_rss_bytes",
           "begin_boot_ns", "end_boot_ns", "started_unix_ns")
TALLY = (*FIGURES, "concurrent_memory_bytes", "unattributed_memory_bytes", "process_count", "failed_count")
STATUS = ("status", "exit_code", "signal")
RUN = {"run": Same(("id", "name", *STATUS, *TALLY, "task_count"))}
TASK = {"task": Same(("id", "name", "label", *STATUS, *TALLY))}
TOOL = {"tool": Same(("id", "name", "role", *TALLY))}
PROCESS = {"process": Same(("id", "program", "pid", "exit_code", "signal", *FIGURES))}
INCIDENT = {"incident": Same(("id", "kind", "sentence", "cause", "fatal", "unix_ns"))}
SHOW = RUN | TASK | TOOL | PROCESS | INCIDENT
# What distinguishes tasks of the same name is found when they are shown. Arguments are bytes in a store.
VIEWED_TASK = {"task": Same(("id", "name", *STATUS, *TALLY), without=("label",))}
VIEWS = SHOW | VIEWED_TASK | {"process": Same(PROCESS["process"].fields, without=("arguments",))}
FOLDED = names("id", *SUMS, "peak_rss_bytes", "begin_boot_ns", "end_boot_ns")
FOLDS = {"run": FOLDED | names(*COUNTS), "task": FOLDED | names(*COUNTS), "tool": FOLDED | names("process_count")}
# For people, with --raw.
TABLE = {
    "run": names("id", "cpu_ns", "user_ns", "system_ns", "run_delay_ns", "peak_rss_bytes", "concurrent_memory_bytes", "read_bytes",
                 "write_bytes", "rchar_bytes", "wchar_bytes"),
    "name": {"task": "name", "count": "task_count", "failed": "failed_count", "median wall": "median_wall_ns",
             "longest": "longest_wall_ns", "total CPU": "cpu_ns", "peak RSS": "peak_rss_bytes", "read": "read_bytes",
             "written": "write_bytes", "waited": "run_delay_ns"}}
STEP = {"step": names("name", "task_count", "wall_ns", "cpu_ns", "run_delay_ns")}
RIGHT_SIZE = {"step": {"name": "name", "task_count": "succeeded_count", "used_bytes": "used_bytes"}}
COST = {"name": {"task": "name", "task_count": "task_count"}}
SPAN = {"begin_us": after("begin_boot_ns", NS_PER_US), "wall_us": whole_units("wall_ns", NS_PER_US),
        "cpu_us": whole_units("cpu_ns", NS_PER_US), "wait_us": whole_units("run_delay_ns", NS_PER_US),
        **names("peak_rss_bytes", "read_bytes", "write_bytes", "sent_bytes", "received_bytes")}
PAGE = RUN | INCIDENT | STEP | {
    "task": names("id", "name", "label", "status", "kind", "concurrent_memory_bytes", "process_count", "failed_count", "exit_code",
                  "signal", "lost_count", "memory_limit_bytes", "cgroup_peak_bytes") | SPAN,
    "tool": {"task": "of task"} | names("name", "role", "process_count", "failed_count") | SPAN,
    "process": {"pid": "pid", "tool": "of tool"} | names("program", "exit_code", "signal", "user_id") | SPAN}
EVENT = {"ts": after("started_unix_ns", NS_PER_US), **names("name", "cpu_ns", "peak_rss_bytes")}
PERFETTO = {
    "task": EVENT | names("label", "status", "exit_code", "signal", "concurrent_memory_bytes", "read_bytes", "write_bytes"),
    "tool": EVENT | names("process_count", "read_bytes", "write_bytes"),
    "process": EVENT | {"name": "program"} | names("pid", "exit_code", "signal")}
OTLP_SPAN = {"spanId": "id", "startTimeUnixNano": "started_unix_ns", "endTimeUnixNano": ended, "tracer.failed_process_count": "failed_count",
             **{f"tracer.{name}": name for name in ("cpu_ns", "run_delay_ns", "peak_rss_bytes", "read_bytes", "write_bytes",
                                                    "process_count")}}
OTLP_END = {"process.exit.code": "exit_code", "tracer.signal": "signal"}
OTLP = {"run": OTLP_SPAN | OTLP_END | {"cicd.pipeline.name": "name"},
        "other task": OTLP_SPAN | OTLP_END | {"cicd.pipeline.task.name": "name", "tracer.task.label": "label"},
        "tool": OTLP_SPAN | {"process.executable.name": "name", "tracer.tool.role": "role"}}
TRACE = {"line": {
    "native_id": "id", "hash": "label", "name": "name", "exit": exit_status, "%cpu": cpu_percent, "peak_rss": peak_memory,
    "status": status({"succeeded": "COMPLETED", "failed": "FAILED", "killed": "FAILED"}),
    "start": whole_units("started_unix_ns", NS_PER_MS), "complete": functools.partial(ended, unit=NS_PER_MS),
    "realtime": whole_units("wall_ns", NS_PER_MS), "rchar": "rchar_bytes", "wchar": "wchar_bytes",
    **names("read_bytes", "write_bytes")}}
BENCHMARK = {"line": {
    "rule_name": "name", "wildcards": "label", "s": units("wall_ns", NS_PER_S, 4), "cpu_time": units("cpu_ns", NS_PER_S, 2),
    "mean_load": cpu_percent, "max_rss": lambda task: f"{peak_memory(task) / MIB:.2f}", "io_in": units("read_bytes", MIB, 2),
    "io_out": units("write_bytes", MIB, 2)}}
MULTIQC = {"name": {
    "task": "name", "tasks": "task_count", "failed": "failed_count", "median": units("median_wall_ns", NS_PER_S),
    "longest": units("longest_wall_ns", NS_PER_S), "cpu": units("cpu_ns", NS_PER_S), "memory": units("peak_rss_bytes", MIB),
    "read": units("read_bytes", MIB), "written": units("write_bytes", MIB)}}
SCHEMA = "http://schema.org/{}ActionStatus"
CRATE = {"task": {
    "id": "id", "name": lambda task: f"{task['name']} {task['label'] or ''}".strip(), "error": error,
    "actionStatus": status({"succeeded": SCHEMA.format("Completed"), "failed": SCHEMA.format("Failed"), "killed": SCHEMA.format("Failed")}),
    "startTime": lambda task: utc(task["started_unix_ns"]), "endTime": lambda task: utc(ended(task)),
    **names("cpu_ns", "peak_rss_bytes", "concurrent_memory_bytes", "read_bytes", "write_bytes")}}

# ---- surfaces --------------------------------------------------------------------------------


class Surface(typing.NamedTuple):
    name: str
    ask: typing.Callable # is told a run, and returns rows by kind; with `of_all` {run: answer}, and {run: rows by kind}
    fields: dict         # by kind
    of_all: bool = False
    of_lake: bool = False


def export(form, read):
    return lambda asking, run: read(asking.daemons.tell("export", run, "--format", form))


def question(name, kind):
    return lambda asking, run: {kind: asking.get(f"queries/{name}?run={run}").json()["rows"]}


def part(kind, path, key):
    """Rows in an answer of the API."""
    return lambda asking, run: {kind: asking.get(path.format(run)).json()[key]}


SURFACES = (
    Surface("sum of parts", lambda asking, runs: {run: folds(answer) for run, answer in runs.items()}, FOLDS, of_all=True),
    Surface("tracer runs", lambda asking, runs: listed(asking.daemons.tell("runs", "--limit", "0", "--json")), RUN, of_all=True),
    Surface("API runs", lambda asking, runs: listed(asking.get("runs?limit=0").body), RUN, of_all=True),
    Surface("views", lambda asking, runs: viewed(asking.store_rows), VIEWS, of_all=True),
    Surface("API show", lambda asking, run: of_report(asking.get(f"runs/{run}?processes=true").json()), SHOW),
    Surface("API failures", part("incident", "runs/{}/failures", "failures"), INCIDENT),
    Surface("API tune", part("step", "runs/{}/tune", "names"), STEP),
    Surface("API right-sizes", part("step", "right-sizes/{}", "names"), RIGHT_SIZE),
    Surface("API cost", part("name", "runs/{}/cost", "rows"), COST),
    Surface("page", lambda asking, run: page(asking.get(f"runs/{run}/page").body), PAGE),
    Surface("query tasks", question("tasks", "task"), VIEWED_TASK),
    Surface("query tools", question("tools", "tool"), TOOL),
    Surface("query processes", question("processes", "process"), PROCESS),
    Surface("query incidents", question("incidents", "incident"), INCIDENT),
    Surface("table", lambda asking, run: printed(asking.daemons.tell("show", run, "--by", "task", "--raw")), TABLE),
    Surface("ndjson", export("ndjson", lines), SHOW),
    Surface("csv", export("csv", separated(",")), {"line": TASK["task"]}),
    Surface("trace", export("trace", separated("\t")), TRACE),
    Surface("benchmark", export("benchmark", separated("\t")), BENCHMARK),
    Surface("multiqc", export("multiqc", lambda text: {"name": list(json.loads(text)["data"].values())}), MULTIQC),
    Surface("perfetto", export("perfetto", events), PERFETTO),
    Surface("otlp", export("otlp", spans), OTLP),
    Surface("crate", export("crate", actions), CRATE),
    Surface("views of the lake", lambda asking, runs: viewed(asking.lake_rows), VIEWS, of_all=True, of_lake=True),
    Surface("runs of the lake", lambda asking, runs: listed(asking.tell_lake("runs", "--limit", "0", "--json")), RUN, of_all=True,
            of_lake=True),
    Surface("show of the lake", lambda asking, run: of_report(json.loads(asking.tell_lake("show", run, "--processes", "--json"))), SHOW,
            of_lake=True),
)


def ask(daemons, executions):
    """Tells each execution of {title: executions} what surfaces say of it."""
    everything = [execution for some in executions.values() for execution in some]
    last = [some[-1] for some in executions.values()]
    for execution in everything:
        execution.said = []
    with Asking(daemons) as asking:
        ask_each(asking, everything, last, of_lake=False)
        try:
            asking.fill_lake()
        except Unavailable as reason:
            skip_all("oracle: the lake", reason)
            return
        ask_each(asking, everything, last[:SHOWN_IN_LAKE], of_lake=True)


def ask_each(asking, everything, last, of_lake):
    runs = {execution.answer.run["id"]: execution.answer for execution in everything}
    for surface in SURFACES:
        if surface.of_lake != of_lake:
            continue
        found = surface.ask(asking, runs) if surface.of_all else {}
        for execution in everything if surface.of_all else last:
            run = execution.answer.run["id"]
            execution.said.append((surface, found.get(run, {}) if surface.of_all else surface.ask(asking, run)))


# ---- comparing -------------------------------------------------------------------------------


def plain(value):
    """The same for what JSON, SQL and tables have in different types. A table's cell is empty or `-` where nothing is known."""
    if isinstance(value, float):
        value = int(value) if value.is_integer() else round(value, DIGITS)
    if isinstance(value, (list, dict)):
        return json.dumps(value)
    return None if value in (None, "", "-") else str(value)


def counted(rows, fields):
    """{((field, value), ...): how often}."""
    return collections.Counter(tuple((name, plain(field(row) if callable(field) else row.get(field))) for name, field in fields.items())
                               for row in rows)


def shared(same, found, expected):
    both = found[0].keys() & expected[0].keys() if found and expected else set()
    return names(*same.fields, *sorted(both - {*same.fields, *same.without, "tools", "processes"}))


def compare(surface, kind, found, expected):
    fields = surface.fields[kind]
    fields = shared(fields, found, expected) if isinstance(fields, Same) else fields
    found, expected = counted(found, names(*fields)), counted(expected, fields)
    more, less = list((found - expected).elements()), list((expected - found).elements())
    for row in list(more):
        other = next((one for one in less if one[0] == row[0]), None)
        if other:
            more.remove(row)
            less.remove(other)
            apart = [f"{name} {value}, in show {truth}" for (name, value), (_, truth) in zip(row, other) if value != truth]
            yield f"{surface.name} of a {kind}: {'; '.join(apart)} ({row[0][1]})"
    yield from (f"{surface.name} has another {kind}: {dict(row)}" for row in more)
    yield from (f"{surface.name} lacks a {kind}: {dict(row)}" for row in less)


def check_curve(found, run):
    """The page's memory over time."""
    held, at_once = found["run"][0]["held_bytes"], run["concurrent_memory_bytes"]
    return [f"page has more memory over time: {held}, at one time {at_once}"] if at_once is not None and held > at_once else []


def check(executions):
    problems = []
    for execution in executions:
        rows = said(execution.answer)
        for surface, found in execution.said:
            for kind in surface.fields:
                problems += [f"{problem} of {execution.workload}" for problem in
                             compare(surface, kind, found.get(kind, []), rows[kind])]
            if surface.name == "page":
                problems += check_curve(found, execution.answer.run)
    return problems
