#!/usr/bin/env python3
"""Exports, read by programs that are not Tracer's: OpenTelemetry's library, speedscope, MultiQC, Snakemake, pandas, RO-Crate's library.

usage: check_readers.py BUILD-DIRECTORY [NAME...]

Perfetto's and Nextflow's own readers cannot be had: their rules, from their sources, are checked instead.
"""

import base64
import collections
import contextlib
import functools
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "page")]
from chromium import Chromium  # noqa: E402 (found by the path above)
from daemons import replay  # noqa: E402
from readers import packages, read_crate, read_otlp, spans_of  # noqa: E402
from software import give_versions  # noqa: E402
from testing import ENVIRONMENT, Skip, arguments, find_tests, hold, require, run_tests, same, wait_until  # noqa: E402

LOADED_LIMIT_S = 60
# Not ASCII, HTML, an escape sequence, quotes, separators of tables, what is not UTF-8.
NAMES = ("Größe_日本語_🧬", "a/sort.bam", "b/sort.bam.bai", 'a\t"b",\'c\'\n<script>alert(1)</script>\x1b]0;x\x07\\', b"\xff\xfe=cmd|' /C calc'!A0")
# Packages of the distribution are those of its own Python.
PYTHON = "/usr/bin/python3"


class Exports:
    """Stores, and their runs in each format."""

    def __init__(self, build):
        self.tracer, self.build = build / "cli/tracer", build
        self.held = contextlib.ExitStack()
        self.directory = pathlib.Path(self.held.enter_context(tempfile.TemporaryDirectory(prefix="tracer-exports-")))

    @functools.cache
    def store(self, kind):
        """A recording; with names that are hard to read; of a run of two hosts; whose programs have versions."""
        path = self.directory / f"{kind}.db"
        if kind in ("snakemake", "failures"):
            return replay(self.build, HERE.parent / f"golden/{kind}.rec", path)
        shutil.copy(self.store("snakemake"), path)
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            {"names": rename, "hosts": add_host, "versions": give_versions}[kind](database)
        return path

    def text(self, kind, *words):
        result = subprocess.run([self.tracer, *words, "--store", self.store(kind)], capture_output=True, text=True,
                                check=False, env={**ENVIRONMENT, "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL)
        same(f"status of tracer {' '.join(words)}: {result.stderr}", result.returncode, 0)
        return result.stdout

    def export(self, kind, name, run="latest"):
        return self.text(kind, "export", run, "--format", name)

    @functools.cache
    def runs(self):
        """(store, run) of all stores: one of each engine and end."""
        return [(kind, run) for kind in ("snakemake", "failures", "names", "hosts") for run in {
            (run["kind"], run["engine"], run["status"], run["exit_code"], run["signal"]): run["id"]
            for run in json.loads(self.text(kind, "runs", "--json", "--all", "--limit", "0"))["runs"]}.values()]

    def tasks(self, kind, run="latest"):
        """Those that are exported: without the run's own, unless it is the only one."""
        tasks = json.loads(self.text(kind, "show", run, "--json"))["tasks"]
        return [task for task in tasks if task["kind"] != "main"] or tasks

    def table(self, kind, name, run="latest"):
        header, *lines = [line.split("\t") for line in self.export(kind, name, run).splitlines()]
        hold([f"{kind} {run}: {line}" for line in lines if len(line) != len(header)])
        return [dict(zip(header, line)) for line in lines]


def rename(database):
    for table in "tasks", "tools":
        ids = [row[0] for row in database.execute(f"SELECT id FROM {table} ORDER BY id")]
        for number, row in enumerate(ids):
            name = NAMES[number % len(NAMES)]
            database.execute(f"UPDATE {table} SET name = CAST(? AS TEXT) WHERE id = ?",
                             (name.encode() if isinstance(name, str) else name, row))
    database.execute("UPDATE runs SET name = ?", (NAMES[3],))
    database.execute("UPDATE hosts SET hostname = ?", (NAMES[0],))


def add_host(database):
    """The run has a second part, on another host of the same cluster."""
    database.execute("UPDATE hosts SET cluster = 'c'")
    database.execute("UPDATE runs SET run_key = 'slurm:7' WHERE kind = 'command'")
    (run,) = database.execute("SELECT id FROM runs WHERE kind = 'command'").fetchone()
    new = {"id": "id + 1", "run_id": "run_id + 1", "task_id": "task_id + 1", "host_id": "host_id + 1", "hostname": "'second'",
           "host_key": "'second'"}
    for table, where in ("hosts", ""), ("runs", f"WHERE id = {run}"), ("tasks", f"WHERE run_id = {run}"), \
            ("tools", f"WHERE run_id = {run}"):
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        database.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(new.get(c, c) for c in columns)} "
                         f"FROM {table} {where}")


# ---- OpenTelemetry -----------------------------------------------------------------------


def test_otlp_by_opentelemetry(exports):
    requests = [line for run in exports.runs() for line in exports.export(run[0], "otlp", run[1]).splitlines()]
    same("spans", read_otlp(requests), len(list(spans_of(requests))))
    broken = requests[0].replace('"kind":2', '"kind":2,"colour":"red"')
    with contextlib.suppress(AssertionError):
        read_otlp([broken])
        raise RuntimeError("the reader takes what it does not know")


def test_otlp_of_two_hosts_is_one_trace(exports):
    spans = list(spans_of(exports.export("hosts", "otlp").splitlines()))
    ids = {span["spanId"] for span in spans}
    same("ids", len(ids), len(spans))
    same("traces", len({span["traceId"] for span in spans}), 1)
    same("roots", sum("parentSpanId" not in span for span in spans), 1)
    same("parents", {span["parentSpanId"] for span in spans if "parentSpanId" in span} - ids, set())
    same("hosts", len({span["resource"]["host.name"] for span in spans}), 2)
    same("runs", len({span["resource"]["cicd.pipeline.run.id"] for span in spans}), 1)
    hold([span for span in spans if int(span["startTimeUnixNano"]) > int(span["endTimeUnixNano"])])


# ---- Perfetto and speedscope --------------------------------------------------------------


def test_perfetto_by_its_rules(exports):
    """Of Perfetto's src/trace_processor/importers/json: what is not like this is dropped, or drawn elsewhere."""
    for kind, run in exports.runs():
        events = json.loads(exports.export(kind, "perfetto", run))["traceEvents"]
        problems = [event for event in events if event["ph"] not in ("X", "M") or not isinstance(event.get("name"), str) or
                    not event["name"] or not all(0 < event[key] < 1 << 32 for key in ("pid", "tid") if key in event)]
        problems += [event for event in events if event["ph"] == "X" and not (
            "tid" in event and all(isinstance(event[key], int) and event[key] >= 0 for key in ("ts", "dur")))]
        problems += [event for event in events if event["ph"] == "M" and not isinstance(
            event["args"].get("name", event["args"].get("sort_index")), (str, int))]
        # A thread is found by its id alone, and so belongs to one process.
        owners = collections.defaultdict(set)
        for event in events:
            if "tid" in event:
                owners[event["tid"]].add(event["pid"])
        problems += [f"thread {tid} of processes {pids}" for tid, pids in owners.items() if len(pids) > 1]
        hold(problems)


@functools.cache
def browser_of(exports):
    return exports.held.enter_context(Chromium("--allow-file-access-from-files"))


def test_perfetto_by_speedscope(exports):
    """Its page, opened as its own command line does."""
    page = packages() / "node_modules/speedscope/dist/release/index.html"
    browser = browser_of(exports)
    for kind, run in ("snakemake", "latest"), ("names", "latest"), ("hosts", "latest"), ("failures", "snakemake_retry"):
        trace = exports.export(kind, "perfetto", run)
        script = exports.directory / f"{kind}.js"
        script.write_text(f"speedscope.loadFileFromBase64('{kind}', '{base64.b64encode(trace.encode()).decode()}')")
        browser.driver.get("about:blank")
        browser.driver.get(f"{page.as_uri()}#localProfilePath={script}")
        wait_until(f"{kind} is shown", lambda: browser.script("return document.title").startswith(kind), LOADED_LIMIT_S)
        shown = browser.script("return [...document.querySelectorAll('tr[title]')].map((row) => row.title)")
        events = json.loads(trace)["traceEvents"]
        names = {(event["name"], event["pid"], event.get("tid")): event["args"].get("name") for event in events
                 if event["ph"] == "M"}
        lanes = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
        same(f"lanes of {kind}", sorted(shown), sorted(
            f"{names['process_name', pid, None]} (pid {pid}), {names['thread_name', pid, tid]} (tid {tid})"
            for pid, tid in lanes))
        # Where a task and its tool have the same name and the same end, it may say that it ended "B instead" of "A".
        hold([line for line in browser.complaints() if re.search("Doing nothing instead|still open|Error|rror:", line)])


# ---- MultiQC -----------------------------------------------------------------------------


def test_multiqc_by_multiqc(exports):
    require("multiqc")
    for kind in "snakemake", "names":
        directory = exports.directory / f"multiqc-{kind}"
        directory.mkdir()
        content = exports.export(kind, "multiqc")
        (directory / "run_mqc.json").write_text(content)
        result = subprocess.run([PYTHON, shutil.which("multiqc"), "--no-ansi", "--data-format", "json", "--outdir", directory / "out",
                                 directory], capture_output=True, text=True, check=False,
                                env={**ENVIRONMENT, "LC_ALL": "C.UTF-8", "MPLCONFIGDIR": str(directory), "HOME": str(directory)})
        output = result.stdout + result.stderr
        same(f"status of MultiQC: {output}", result.returncode, 0)
        assert "tracer_tasks: Found" in output and "rror" not in output, output
        written = json.loads((directory / "out/multiqc_data/multiqc_data.json").read_text())
        expected = json.loads(content)["data"]
        read = written["report_saved_raw_data"]["multiqc_tracer_tasks_table"]
        same("tasks that MultiQC read", read, expected)
        html = (directory / "out/multiqc_report.html").read_text()
        assert "tracer_tasks_table" in html and "<script>alert(1)" not in html
        hold([f"{row['task']} is not in the report" for row in expected.values() if row["task"] not in html])


def test_versions_by_multiqc(exports):
    try:
        distribution_python("import multiqc.utils.software_versions", "")  # of 1.17
    except Skip:
        raise Skip("this MultiQC reads no versions") from None
    directory = exports.directory / "multiqc-versions"
    directory.mkdir()
    (directory / "run_mqc_versions.yml").write_text(exports.export("versions", "versions"))
    (directory / "run_mqc.json").write_text(exports.export("versions", "multiqc")) # without results it writes no report
    result = subprocess.run([PYTHON, "-m", "multiqc", "--outdir", directory / "out", directory], capture_output=True, text=True,
                            check=False, env={**ENVIRONMENT, "LC_ALL": "C.UTF-8", "HOME": str(directory)})
    same(f"status of MultiQC: {result.stderr}", result.returncode, 0)
    header, *lines = (directory / "out/multiqc_data/multiqc_software_versions.txt").read_text().splitlines()
    rows = {line.split("\t")[0]: dict(zip(header.split("\t"), line.split("\t"))) for line in lines}
    same("version of wgsim", rows["wgsim"]["wgsim"], "1.10")
    same("versions of samtools", rows["samtools stats"]["samtools"], "1.20, unknown")
    assert "0.7.17" in (directory / "out/multiqc_report.html").read_text()


def test_versions_by_pyyaml(exports):
    """As numbers are read, unlike MultiQC does: 1.10 stays a text."""
    code = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin.read())))"
    read = json.loads(distribution_python(code, exports.export("versions", "versions")))
    same("version of wgsim", read["wgsim"], {"wgsim": "1.10"})
    same("versions of samtools", read["samtools stats"], {"samtools": ["1.20", "unknown"]})
    names = json.loads(distribution_python(code, exports.export("names", "versions")))
    same("names", len(names), len({task["name"] for task in exports.tasks("names")} | {"Workflow"}))


# ---- RO-Crate ----------------------------------------------------------------------------


def test_crate_by_ro_crate(exports):
    read = read_crate(exports.export("versions", "crate"))
    same("profile", read["profile"], "Process Run Crate")
    tools = {tuple(tool) for action in read["actions"] for tool in action["instruments"]}
    same("software", tools, {("snakemake", None), ("reference.py", None), ("wgsim", "1.10"), ("bwa", "0.7.17"),
                             ("samtools", None), ("samtools", "1.19"), ("samtools", "1.20"), ("summary.py", None)})
    images = {tuple(image) for action in read["actions"] for image in action["images"]}
    same("images", images, {("quay.io", "biocontainers/wgsim", "1.10--h00cdaf9_0"),
                            (None, "depot.galaxyproject.org-singularity-samtools-1.19--h50ea8bc_0.img", None)})
    run = json.loads(exports.text("versions", "show", "--json"))["run"]
    same("CPU time", sum(action["usage"]["cpu_ns"] for action in read["actions"]), run["cpu_ns"])
    for kind in "failures", "names", "hosts":
        tasks = json.loads(exports.text(kind, "show", "latest", "--json"))["tasks"]
        same(f"actions of {kind}", len(read_crate(exports.export(kind, "crate"))["actions"]), len(tasks))


# ---- Snakemake and Nextflow ----------------------------------------------------------------


SNAKEMAKE = """
import json, sys
from snakemake.benchmark import BenchmarkRecord
print(BenchmarkRecord.get_header())
for row in json.load(sys.stdin):
    record = BenchmarkRecord(**row)
    record.data_collected = True
    print(record.to_tsv())
"""


def distribution_python(code, text):
    result = subprocess.run([PYTHON, "-B", "-c", code], input=text, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if "ModuleNotFoundError" in result.stderr:
        raise Skip(result.stderr.splitlines()[-1])
    same(f"status: {result.stderr}", result.returncode, 0)
    return result.stdout


def test_benchmark_by_snakemake(exports):
    """Its own writer makes the same lines of the same figures."""
    path = exports.store("failures")
    with contextlib.closing(sqlite3.connect(path)) as database, database: # a day, and two
        for days, (_, run) in enumerate([each for each in exports.runs() if each[0] == "failures"][:2], 1):
            database.execute("UPDATE tasks SET end_boot_ns = begin_boot_ns + ? * 86400000000000 + 7384500000000 "
                             "WHERE run_id = ?", (days, int(run, 16)))
    lines = []
    records = []
    for kind, run in exports.runs():
        if kind == "names":
            continue
        header, *text = exports.export(kind, "benchmark", run).splitlines()
        for line, task in zip(text, exports.tasks(kind, run), strict=True):
            if task["wall_ns"] is None:
                continue
            mib = {name: None if task[column] is None else task[column] / (1 << 20) for name, column in
                   {"io_in": "read_bytes", "io_out": "write_bytes"}.items()}
            peak = max(task["peak_rss_bytes"] or 0, task["concurrent_memory_bytes"] or 0)
            records.append({"running_time": task["wall_ns"] / 1e9, "max_rss": peak / (1 << 20), **mib,
                            "cpu_usages": 100 * task["cpu_ns"] / 1e9, "cpu_time": task["cpu_ns"] / 1e9})
            lines.append(line)
    expected, *written = distribution_python(SNAKEMAKE, json.dumps(records)).splitlines()
    assert header.startswith(expected + "\t"), header
    same("lines", len(written), len(lines))
    hold([f"{ours}\nSnakemake: {theirs}" for ours, theirs in zip(lines, written) if not equal_cells(ours.split("\t")[:10],
                                                                                                    theirs.split("\t"))])
    assert any("1 day, 2:03:04" in line for line in written), "no task took a day"


def equal_cells(ours, theirs):
    """Apart from the last digit, where a half may be rounded up or down; an integer is "0" for Snakemake."""
    def equal(left, right):
        with contextlib.suppress(ValueError):
            return abs(float(left) - float(right)) < 0.0101
        return left == right
    return len(ours) == len(theirs) and all(map(equal, ours, theirs))


# Of Nextflow's modules/nextflow/src/main/groovy/nextflow/trace/TraceRecord.groovy: FIELDS; in a file of trace.raw, a date and
# a time are milliseconds, mem is bytes, perc a number without "%", and "-" what is not known.
NEXTFLOW = {
    "str": "task_id hash native_id process module container tag name status exit workdir script scratch queue env error_action "
           "hostname cpu_model",
    "date": "submit start complete", "time": "duration realtime time", "perc": "%cpu %mem",
    "mem": "rss vmem peak_rss peak_vmem rchar wchar read_bytes write_bytes memory disk",
    "num": "syscr syscw attempt cpus vol_ctxt inv_ctxt",
}
NEXTFLOW_DEFAULT = ("task_id hash native_id name status exit submit duration realtime %cpu peak_rss peak_vmem rchar "
                    "wchar").split() # trace.fields, unless they are set
NEXTFLOW_STATUS = {"COMPLETED", "FAILED", "RUNNING", "ABORTED", "SUBMITTED", "NEW", "CACHED", "-"}


def test_trace_by_the_rules_of_nextflow(exports):
    types = {name: kind for kind, names in NEXTFLOW.items() for name in names.split()}
    forms = {"str": r".+", "perc": r"\d+(\.\d+)?", **dict.fromkeys(("date", "time", "mem", "num"), r"\d+")}
    for kind, run in exports.runs():
        rows = exports.table(kind, "trace", run)
        for row in rows:
            hold([f"{name}: {value}" for name, value in row.items()
                  if value != "-" and not re.fullmatch(forms[types[name]], value)])
            assert set(NEXTFLOW_DEFAULT) <= set(row), row
            assert row["status"] in NEXTFLOW_STATUS, row
            if row["status"] in ("COMPLETED", "FAILED"): # what readers plot
                hold([f"{name} of {row}" for name in ("submit", "start", "complete", "duration", "realtime", "%cpu", "peak_rss")
                      if row[name] == "-"])
                assert int(row["submit"]) <= int(row["start"]) <= int(row["complete"]), row
                assert int(row["duration"]) >= int(row["realtime"]), row
        same("numbers", [row["task_id"] for row in rows], [str(number) for number in range(1, len(rows) + 1)])


# ---- pandas ------------------------------------------------------------------------------


PANDAS = """
import io, json, sys
import pandas
name, text = json.load(sys.stdin)
stream = io.StringIO(text)
if name == "ndjson":
    frame = pandas.read_json(stream, lines=True, dtype=False, convert_dates=False)
    frame = frame[frame["type"] == "task"]
elif name == "csv":
    frame = pandas.read_csv(stream)
else:
    frame = pandas.read_csv(stream, sep="\\t", na_values="-", quoting=3)
print(json.dumps({"columns": list(frame.columns), "numbers": list(frame.select_dtypes("number").columns),
                  "cpu": [None if pandas.isna(cell) else float(cell) for cell in frame[sys.argv[1]]],
                  "names": [str(cell) for cell in frame[sys.argv[2]]]}))
"""


def test_tables_by_pandas(exports):
    columns = {"csv": ("cpu_ns", "name"), "ndjson": ("cpu_ns", "name"), "trace": ("%cpu", "name"),
               "benchmark": ("cpu_time", "rule_name")}
    for kind in "snakemake", "names":
        tasks = exports.tasks(kind)
        for name, (cpu, title) in columns.items():
            code = PANDAS.replace("sys.argv[1]", repr(cpu)).replace("sys.argv[2]", repr(title))
            read = json.loads(distribution_python(code, json.dumps([name, exports.export(kind, name)])))
            expected = {"csv": [task["cpu_ns"] for task in tasks],
                        "trace": [100 * task["cpu_ns"] / task["wall_ns"] for task in tasks],
                        "benchmark": [task["cpu_ns"] / 1e9 for task in tasks]}
            if name == "ndjson": # with the run's own task
                same("tasks", len(read["names"]), len(json.loads(exports.text(kind, "show", "--json"))["tasks"]))
                continue
            assert cpu in read["numbers"], f"{name}: {cpu} is no number"
            same(f"{name}: tasks", len(read["cpu"]), len(tasks))
            hold([f"{name}: {found}, expected {wanted}" for found, wanted in zip(read["cpu"], expected[name])
                  if abs(found - wanted) > 0.0051])
            same(f"{name}: names", len(set(read["names"])), len({task["name"] for task in tasks}))


def main():
    chosen = arguments(__doc__)
    exports = Exports(chosen.build)
    with exports.held:
        return run_tests("exports", find_tests(globals()), lambda test: test(exports), chosen.names)


if __name__ == "__main__":
    sys.exit(main())
