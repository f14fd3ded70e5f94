#!/usr/bin/env python3
"""tracer export: every format, read back by its own rules.

    check_export.py TRACER CORRELATOR SNAKEMAKE.rec FAILURES.rec [TEST...]

The stores come from recorded runs (tests/golden); a copy of one gets hostile names.
"""
import collections
import csv
import json
import os
import pathlib
import sys

from case import Case
from daemons import replay
from testing import run_cases

CORRELATOR, _, FAILURES = map(os.path.abspath, sys.argv[2:5])
# With characters that are not seen: reordering, zero width, tags, variation selectors.
HOSTILE = 'a\t"b\n<script>\x1b]0;\u202e,c\\\u061c\u200b\u2060\ufe01\U000e0041'
SHOWN = '\\u{061c}\\u{200b}\\u{2060}\\u{fe01}\\u{e0041}'
UNSEEN = '[\x1b\u202e\u061c\u200b\u2060\ufe01\U000e0041]'
FORMATS = ["perfetto", "otlp", "trace", "benchmark", "csv", "ndjson", "multiqc"]
MS, MIB = 1000000, 1 << 20

TRACE = ("task_id hash native_id name status exit submit start complete duration realtime %cpu %mem rss vmem peak_rss peak_vmem "
         "rchar wchar read_bytes write_bytes vol_ctxt inv_ctxt").split()
BENCHMARK = "s h:m:s max_rss max_vms max_uss max_pss io_in io_out mean_load cpu_time jobid rule_name wildcards".split()


def plain(attributes):
    """Attributes of OpenTelemetry as a dictionary."""
    return {each["key"]: int(each["value"]["intValue"]) if "intValue" in each["value"] else each["value"]["stringValue"]
            for each in attributes}


class Export(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        failures = replay(pathlib.Path(CORRELATOR).parents[1], FAILURES, os.path.join(cls.directory, "failures.db"))
        with cls.changed("hostile") as (hostile, store):
            store.execute("UPDATE tasks SET name = ?, label = ?", (HOSTILE, HOSTILE))
            store.execute("UPDATE tools SET name = CAST(x'ff3c00' AS TEXT)")
            for table in "runs", "tasks", "tools", "process_rows":
                store.execute(f"UPDATE {table} SET gpu_busy_ns = 5, gpu_peak_bytes = 7")
        cls.stores = {"snakemake": cls.store, "failures": failures, "hostile": hostile}

    def tracer(self, store, *arguments, status=0):
        return self.text(*arguments, "--store", self.stores[store], status=status)

    def export(self, store, name, run="latest"):
        return self.tracer(store, "export", run, "--format", name)

    def shown(self, store, run="latest", *more):
        return json.loads(self.tracer(store, "show", run, "--json", *more))

    def tasks(self, store, run="latest"):
        """Without the run's own."""
        return [task for task in self.shown(store, run)["tasks"] if task["kind"] != "main"]

    def rows(self, store, name, run="latest"):
        text = self.export(store, name, run)
        lines = [line.split("\t") for line in text.splitlines()]
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})
        return lines[0], [dict(zip(lines[0], line)) for line in lines[1:]]

    def test_trace(self):
        header, rows = self.rows("snakemake", "trace")
        self.assertEqual(header, TRACE)
        tasks = self.tasks("snakemake")
        self.assertEqual([row["hash"] for row in rows], [task["label"] or "-" for task in tasks])
        self.assertEqual([row["task_id"] for row in rows], [str(number + 1) for number in range(len(tasks))])
        for row, task in zip(rows, tasks):
            self.assertEqual(row["status"], "COMPLETED")
            self.assertEqual(row["native_id"], task["id"])
            self.assertEqual((row["submit"], row["duration"]), (row["start"], row["realtime"]))
            self.assertEqual(int(row["realtime"]), task["wall_ns"] // MS)
            self.assertEqual(int(row["start"]), task["started_unix_ns"] // MS)
            self.assertAlmostEqual(float(row["%cpu"]), 100 * task["cpu_ns"] / task["wall_ns"], delta=0.01)
            self.assertEqual(int(row["peak_rss"]), max(task["peak_rss_bytes"], task["concurrent_memory_bytes"] or 0))
            for column, key in {"rchar": "rchar_bytes", "wchar": "wchar_bytes", "read_bytes": "read_bytes",
                                "write_bytes": "write_bytes", "vol_ctxt": "voluntary_switches",
                                "inv_ctxt": "involuntary_switches"}.items():
                self.assertEqual(int(row[column]), task[key], column)

    def test_trace_of_failures(self):
        statuses = {"failed": "FAILED", "killed": "FAILED", "succeeded": "COMPLETED", "ended": "-", "running": "RUNNING"}
        signals = 0
        runs = json.loads(self.tracer("failures", "runs", "--json", "--limit", "0"))["runs"]
        for run in {(run["status"], run["exit_code"], run["signal"]): run for run in runs}.values():  # one that ended so
            tasks = self.tasks("failures", run["id"]) or self.shown("failures", run["id"])["tasks"]
            _, rows = self.rows("failures", "trace", run["id"])
            self.assertEqual([row["status"] for row in rows], [statuses[task["status"]] for task in tasks])
            for row, task in zip(rows, tasks):
                code = 128 + task["signal"] if task["signal"] else task["exit_code"]
                self.assertEqual(row["exit"], "-" if code is None else str(code))
                signals += bool(task["signal"])
        self.assertGreater(signals, 0)

    def test_benchmark_is_read_back(self):
        header, rows = self.rows("snakemake", "benchmark")
        self.assertEqual(header, BENCHMARK)
        for row, task in zip(rows, self.tasks("snakemake")):
            self.assertAlmostEqual(float(row["s"]), task["wall_ns"] / 1e9, delta=1e-4)
            self.assertAlmostEqual(float(row["io_out"]), task["write_bytes"] / MIB, delta=0.01)
            self.assertEqual((row["rule_name"], row["wildcards"], row["max_vms"]), (task["name"], task["label"] or "-", "-"))
        path = os.path.join(self.directory, "benchmark.tsv")
        self.tracer("snakemake", "export", "--format", "benchmark", "-o", path)
        self.assertEqual(pathlib.Path(path).read_text().splitlines()[0].split("\t"), BENCHMARK)
        self.assertEqual(os.listdir(self.directory).count("benchmark.tsv"), 1)
        self.assertFalse([name for name in os.listdir(self.directory) if name.startswith("benchmark.tsv.")])

    def test_benchmark_of_days(self):
        times = {3600 * 24 - 1: "23:59:59", 3600 * 24 + 7384: "1 day, 2:03:04", 3600 * 50: "2 days, 2:00:00"}
        for seconds, shown in times.items():
            with self.changed("days") as (path, store):
                store.execute(f"UPDATE tasks SET end_boot_ns = begin_boot_ns + {seconds} * 1000000000 WHERE kind <> 'main'")
            self.stores["days"] = path
            _, rows = self.rows("days", "benchmark")
            self.assertEqual({row["h:m:s"] for row in rows}, {shown})
            self.assertEqual([row["jobid"] for row in rows], [str(number + 1) for number in range(len(rows))])

    def test_csv(self):
        rows = list(csv.DictReader(self.export("snakemake", "csv").splitlines()))
        tasks = self.tasks("snakemake")
        self.assertEqual(len(rows), len(tasks))
        for row, task in zip(rows, tasks):
            for column, value in row.items():
                self.assertEqual(value, "" if task[column] is None else str(task[column]), column)

    def test_ndjson(self):
        lines = [json.loads(line) for line in self.export("snakemake", "ndjson").splitlines()]
        shown = self.shown("snakemake", "latest", "--processes")
        counts = collections.Counter(line["type"] for line in lines)
        self.assertEqual(counts["process"], sum(len(task["processes"]) for task in shown["tasks"]))
        self.assertEqual(counts["tool"], sum(len(task["tools"]) for task in shown["tasks"]))
        self.assertEqual((counts["host"], counts["run"], counts["task"]), (1, 1, len(shown["tasks"])))
        self.assertEqual(sum(line["cpu_ns"] for line in lines if line["type"] == "process"), shown["run"]["cpu_ns"])

    def test_perfetto(self):
        for store in "snakemake", "failures", "hostile":
            with self.subTest(store):
                self.perfetto_check(store)

    def perfetto_check(self, store):
        shown = self.shown(store, "latest", "--processes")
        events = json.loads(self.export(store, "perfetto"))["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        counts = collections.Counter(event["cat"] for event in spans)
        self.assertEqual(counts["task"], len(shown["tasks"]))
        self.assertEqual(counts["process"], sum(len(task["processes"]) for task in shown["tasks"]))
        said = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "M":
                said[event["name"]].append(event)
        self.assertEqual({event["pid"] for event in spans}, {event["pid"] for event in said["process_name"]})
        self.assertEqual({event["args"]["name"] for event in said["process_name"]},
                         {event["name"] for event in spans if event["cat"] == "task"})
        threads = [event["tid"] for event in said["thread_name"]]
        self.assertEqual(len(threads), len(set(threads)))
        self.assertEqual({event["tid"] for event in spans}, set(threads))
        self.assertTrue(set(threads).isdisjoint({0, *(event["pid"] for event in spans)}))
        for kind, key in ("process", "pid"), ("thread", "tid"): # one of each, and lanes from above to below
            self.assertEqual([event[key] for event in said[f"{kind}_sort_index"]],
                             [event[key] for event in said[f"{kind}_name"]])
        for event in said["thread_name"]:
            self.assertEqual(event["args"]["name"], f"lane {event['tid'] - 100000 * event['pid']}")
        lanes = collections.defaultdict(list)
        for event in spans:
            lanes[event["pid"], event["tid"]].append(event)
        for lane in lanes.values():
            self.nesting_check(lane)

    def nesting_check(self, lane):
        """Perfetto drops events of a thread that overlap without one holding the other."""
        open_ends = []
        for event in lane:
            event["begin"] = round(1000 * event["ts"])
            event["end"] = event["begin"] + round(1000 * event["dur"])
        for event in sorted(lane, key=lambda event: (event["begin"], -event["end"])):
            while open_ends and open_ends[-1] <= event["begin"]:
                open_ends.pop()
            if open_ends:
                self.assertLessEqual(event["end"], open_ends[-1], event)
            open_ends.append(event["end"])

    def test_use_of_gpus(self):
        for store, expected in ("snakemake", set()), ("hostile", {(5, 7)}):
            events = json.loads(self.export(store, "perfetto"))["traceEvents"]
            self.assertEqual({(event["args"]["gpu_busy_ns"], event["args"]["gpu_peak_bytes"]) for event in events
                              if event["ph"] == "X" and "gpu_busy_ns" in event["args"]}, expected)
            attributes = [span["attributes"] for span in self.spans(store)[1].values()]
            self.assertEqual({(each["tracer.gpu_busy_ns"], each["tracer.gpu_peak_bytes"])
                              for each in attributes if "tracer.gpu_busy_ns" in each}, expected)
            table = json.loads(self.export(store, "multiqc"))
            self.assertEqual({"gpu", "gpu_memory"} <= set(table["headers"]), bool(expected))
            groups = [row for row in table["data"].values() if "gpu" in row]
            self.assertEqual(len(groups), len(table["data"]) if expected else 0)
            self.assertEqual({round(row["gpu_memory"] * 2 ** 20) for row in groups}, {7} if expected else set())
            uses = {(entity["propertyID"]["@id"], int(entity["value"])) for entity in json.loads(self.export(store, "crate"))["@graph"]
                    if entity.get("propertyID", {}).get("@id", "").startswith("#gpu_")}
            self.assertEqual(uses, {("#gpu_busy_ns", 5), ("#gpu_peak_bytes", 7)} if expected else set())
            samples = self.shown(store, "latest", "--by", "sample")["samples"]
            self.assertEqual({(each["gpu_busy_ns"] is None, each["gpu_peak_bytes"]) for each in samples},
                             {(False, 7)} if expected else {(True, None)})
            self.assertEqual("GPUs worked for it for" in self.export(store, "methods"), bool(expected))

    def spans(self, store, run="latest"):
        """Attributes of the resource, and spans by id with attributes as a dictionary."""
        resources, spans = [], {}
        for line in self.export(store, "otlp", run).splitlines():
            self.assertLess(len(line), 4 << 20)
            for resource in json.loads(line)["resourceSpans"]:
                resources.append(plain(resource["resource"]["attributes"]))
                for span in resource["scopeSpans"][0]["spans"]:
                    spans[span["spanId"]] = {**span, "attributes": plain(span["attributes"])}
        return resources, spans

    def test_otlp(self):
        shown = self.shown("failures")
        resources, spans = self.spans("failures")
        self.assertEqual(len(resources), 1)
        self.assertEqual(resources[0]["host.name"], shown["run"]["host"])
        self.assertEqual((resources[0]["cicd.pipeline.name"], resources[0]["cicd.pipeline.run.id"]),
                         (shown["run"]["name"], shown["run"]["id"]))
        root = spans[shown["run"]["id"]]
        self.assertNotIn("parentSpanId", root)
        self.assertEqual((root["name"], root["kind"]), (f"RUN {shown['run']['name']}", 2))
        self.assertEqual({span["traceId"] for span in spans.values()}, {shown["run"]["host_id"] + shown["run"]["id"]})
        for task in shown["tasks"]:
            parent = root["spanId"] if task["kind"] == "main" else task["id"]
            if task["kind"] != "main":
                span = spans[task["id"]]
                self.assertEqual(span["parentSpanId"], root["spanId"])
                self.assertEqual(int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]), task["wall_ns"])
            for tool in task["tools"]:
                self.assertEqual(spans[tool["id"]]["parentSpanId"], parent)

    def test_otlp_outcomes(self):
        """As the conventions for CI/CD pipelines have it: result, error.type and status."""
        outcomes = {("succeeded", 0, None): ("success", None, 1), ("failed", 3, None): ("failure", "3", 2),
                    ("failed", 137, None): ("failure", "SIGKILL", 2), ("killed", None, 11): ("failure", "SIGSEGV", 2),
                    ("killed", None, 15): ("cancellation", "SIGTERM", 0), ("failed", 130, None): ("cancellation", "SIGINT", 0),
                    ("killed", None, 24): ("timeout", "SIGXCPU", 2), ("failed", None, None): ("failure", "_OTHER", 2),
                    ("running", None, None): (None, None, 0), ("ended", None, None): (None, None, 0)}
        for (status, code, signal), expected in outcomes.items():
            with self.changed("outcome") as (path, store):
                for table in "runs", "tasks":
                    store.execute(f"UPDATE {table} SET status = ?, exit_code = ?, signal = ?", (status, code, signal))
            self.stores["outcome"] = path
            _, spans = self.spans("outcome")
            for key in "cicd.pipeline.result", "cicd.pipeline.task.run.result":
                found = {(span["attributes"].get(key), span["attributes"].get("error.type"), span["status"]["code"])
                         for span in spans.values() if "process.executable.name" not in span["attributes"] and
                         ("parentSpanId" in span) == ("task" in key)}
                self.assertEqual(found, {expected}, (status, code, signal))

    def test_otlp_requests_are_small(self):
        """20,000 tasks with long names are some requests, each below 4 MiB, with all spans in them."""
        with self.changed("many") as (path, store):
            columns = [row[1] for row in store.execute("PRAGMA table_info(tasks)") if row[1] not in ("id", "label", "kind")]
            store.execute(f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO tasks (id, label, kind, {', '.join(columns)})
                SELECT 1000000 + i, hex(zeroblob(250)), 'engine', {', '.join('t.' + name for name in columns)}
                FROM n, (SELECT * FROM tasks WHERE kind <> 'main' LIMIT 1) t""")
        self.stores["many"] = path
        resources, spans = self.spans("many")
        self.assertGreater(len(resources), 5)
        self.assertEqual(len({json.dumps(resource) for resource in resources}), 1)
        self.assertEqual(sum("cicd.pipeline.task.name" in span["attributes"] for span in spans.values()),
                         20000 + len(self.tasks("snakemake")))

    def test_multiqc(self):
        content = json.loads(self.export("snakemake", "multiqc"))
        self.assertEqual(content["plot_type"], "table")
        tasks = collections.Counter(task["name"] for task in self.shown("snakemake")["tasks"])
        self.assertEqual({row["task"]: row["tasks"] for row in content["data"].values()}, tasks)
        self.assertEqual(list(content["data"]), sorted(content["data"]))
        for row in content["data"].values():
            self.assertLessEqual(set(row), set(content["headers"]))

    def test_hostile_names_are_inert(self):
        for name in FORMATS:
            text = self.export("hostile", name)
            with self.subTest(name):
                self.assertNotRegex(text, UNSEEN)
                if name in ("trace", "benchmark"):
                    self.assertEqual({len(line.split("\t")) for line in text.splitlines()},
                                     {len(TRACE if name == "trace" else BENCHMARK)})
                elif name == "csv":
                    self.assertEqual(next(csv.DictReader(text.splitlines()))["name"],
                                     'a\\t"b\\n<script>\\e]0;\\u{202e},c\\' + SHOWN)
                elif name == "ndjson":
                    self.assertEqual([json.loads(line)["type"] for line in text.splitlines()][:2], ["host", "run"])
                else:
                    json.loads(text)
                if name == "multiqc": # which shows HTML
                    self.assertNotIn("<", text)
                    self.assertIn("&lt;script&gt;", text)

    def test_errors(self):
        self.assertIn("--format is missing", self.tracer("snakemake", "export", status=2))
        self.assertIn("not 'xml'", self.tracer("snakemake", "export", "--format", "xml", status=2))
        self.assertIn("cannot write", self.tracer("snakemake", "export", "-f", "csv", "-o", "/nonexistent/x", status=1))
        self.assertIn("nosuchrun", self.tracer("snakemake", "export", "nosuchrun", "-f", "csv", status=1))


if __name__ == "__main__":
    sys.exit(run_cases("cli-export", sys.argv[5:]))
