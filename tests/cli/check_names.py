#!/usr/bin/env python3
"""--names FILE: the engine's task names, taken from its own files.

    check_names.py TRACER CORRELATOR RECORDING [TEST...]

The store comes from a recorded Snakemake run (tests/golden/snakemake.rec); snakemake.log is
Snakemake's log of it. For Nextflow, tasks of the store get labels in the form of its hashes.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import sys

from case import Case
from daemons import replay
from testing import copy_rows, run_cases

CORRELATOR, RECORDING = map(os.path.abspath, sys.argv[2:4])
HERE = pathlib.Path(__file__).resolve().parent

# Names of the run's tasks, by our name and label.
SNAKEMAKE = {
    ("reference.py", None): ("reference", ""),
    ("bwa index", "reference.fa"): ("index", ""),
    ("summary.py", "liver.stats"): ("summary", ""),
    **{(tool, sample + end): (rule, f"sample={sample}")
       for sample in ("brain", "heart", "liver")
       for tool, end, rule in [("wgsim", "", "simulate"), ("bwa mem + samtools sort", "", "map"),
                               ("samtools index", ".bam", "index_bam"), ("samtools flagstat", ".bam", "flagstat"),
                               ("samtools stats", ".bam", "stats")]},
}

TRACE = "task_id\thash\tnative_id\tname\tstatus\n"
LOG = "Nov-22 11:00:00.000 [Task submitter] INFO  nextflow.Session - "

# Content of a file, and the resulting (name, label) of the task labelled ab/cdef01.
FILES = {
    "trace": (TRACE + "1\tab/cdef01\t77\tALIGN:BWA (s1)\tCOMPLETED\n2\tcd/000001\t78\tOTHER\tFAILED\n", ("ALIGN:BWA", "s1")),
    "trace without tag": (TRACE + "1\tab/cdef01\t77\tALIGN:BWA\tCOMPLETED\n", ("ALIGN:BWA", "")),
    "trace with process and tag": ("hash\tprocess\ttag\nab/cdef01\tALIGN:BWA\ts1 (a)\n", ("ALIGN:BWA", "s1 (a)")),
    "trace, CRLF": (TRACE.replace("\n", "\r\n") + "1\tab/cdef01\t77\tX (s1)\tOK\r\n", ("X", "s1")),
    "log": (LOG + "[ab/cdef01] Submitted process > ALIGN:BWA (s1)\n", ("ALIGN:BWA", "s1")),
    "log, retried": (LOG + "[cd/000001] Submitted process > BWA (s1)\n" + LOG + "[ab/cdef01] Re-submitted process > BWA (s1)\n",
                     ("BWA", "s1")),
    "hostile bytes": (LOG + "[ab/cdef01] Submitted process > \x1b[31mX\udcff\u202e (\x07)\n", ("\\e[31mX\ufffd\\u{202e}", "\x07")),
    "benchmark": ('{"rule_name": "stats", "wildcards": {"s": "s3"}, "s": 1.5}\n', ("stats", "s=s3")),
    "benchmark table": ("s\th:m:s\tjobid\trule_name\twildcards\n1.5\t0:00:01\t3\tstats\t{'s': 's3'}\n", ("stats", "s=s3")),
}

def trace_of(realtime, share, peak):
    return f"hash\tname\trealtime\t%cpu\tpeak_rss\nab/cdef01\tX\t{realtime}\t{share}\t{peak}\n"


# Content of a file, and what the engine says in it: wall and CPU time in ns, peak memory in bytes.
FIGURES = {
    "trace": (trace_of("1m 3s", "150.0%", "1.5 GB"), (63 * 10**9, 94_500_000_000, 3 << 29)),
    "raw trace": (trace_of("850", "98.5", "413696"), (850 * 10**6, 837_250_000, 413696)),
    "trace, unknown": (trace_of("-", "-", "-"), (None, None, None)),
    "trace, no numbers": (trace_of("fast", "nan", "-3 GB"), (None, None, None)),
    "trace, huge": (trace_of("9" * 30 + "d", "9" * 300, "1e300 TB"), (None, None, None)),
    "trace without them": ("hash\tname\nab/cdef01\tX\n", (None, None, None)),
    "benchmark": ('{"rule_name": "stats", "wildcards": {"s": "s3"}, "s": 1.5, "cpu_time": 2.25, "max_rss": 4.5}\n',
                  (1_500_000_000, 2_250_000_000, 4718592)),
    "benchmark, unknown": ('{"rule_name": "stats", "wildcards": {"s": "s3"}, "s": "NA", "max_rss": "-"}\n', (None, None, None)),
    "benchmark table": ("s\tmax_rss\tcpu_time\trule_name\twildcards\n1.5\tNA\t0.5\tstats\t{'s': 's3'}\n",
                        (1_500_000_000, 500_000_000, None)),
}

# Content of a file, and the message after its name.
BROKEN = {
    "empty": ("", ": no task names found"),
    "something else": ("root:x:0:0\n", ": no task names found"),
    "columns": (TRACE + "1\tab/cdef01\t77\tX\tOK\n2\tcd\n", ":3: 2 columns, but the header has 5"),
    "hash": (TRACE + "1\t-\t77\tX\tOK\n", ':2: "-" is not a task hash, such as ab/cdef01'),
    "table": ("a\tb\n1\t2\n", ':1: no columns "hash" and "name": expected Nextflow'),
    "plain benchmark": ("s\th:m:s\tmax_rss\n1\t0:00:01\t5\n", ":1: a benchmark without rule names"),
    "json": ('{"rule_name": "x"}\n{"rule_name"\n', ":2: invalid JSON: "),
    "no rule": ('{"a": 1}\n', ":1: the object has no rule_name"),
    "zero": (LOG + "\0\n", ":1: NUL byte in the line"),
    "escapes": (TRACE + "1\t\x1b[31m\t77\tX\tOK\n", ':2: "\\e[31m" is not a task hash'),
    "long line": ("x" * 1100000 + "\n", ":1: line longer than 1048576 bytes"),
}


class Names(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment["HOME"] = cls.directory  # where files are kept

    def labelled(self):
        with self.changed("labelled") as (path, database):
            database.execute("UPDATE tasks SET label = 'ab/cdef01' WHERE name = 'bwa index'")
            database.execute("UPDATE tasks SET name = 'stats', label = 's=s3' WHERE name = 'summary.py'")
        return path

    def show(self, store, text, *options, verb="show"):
        path = pathlib.Path(self.directory, "names")
        if isinstance(text, str):
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        else:
            path = text
        return self.run_tracer(verb, *options, "--store", store, "--names", path, text=True, errors="replace")

    def answer(self, *arguments, verb):
        result = self.show(*arguments, "--json", verb=verb)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def second_run(self, name, **changes):
        """Returns a store with the run twice: the copy has other ids, and these changes."""
        with self.changed(name) as (store, database):
            for table, ids in [("runs", ("id",)), ("tasks", ("id", "run_id", "parent_task_id")),
                               ("tools", ("id", "run_id", "task_id"))]:
                copy_rows(database, table, **{name: f"{name} + 1" for name in ids}, **changes.get(table, {}))
        return store

    def tasks(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return [task for task in json.loads(result.stdout)["tasks"] if task["kind"] != "main"]

    def test_snakemake_log(self):
        tasks = self.tasks(self.show(self.store, HERE / "snakemake.log", "--json"))
        found = {(task["name"], task["label"]): (task["engine_name"], task["engine_label"]) for task in tasks}
        self.assertEqual(found, SNAKEMAKE)

    def test_text_has_the_engines_names(self):
        text = self.show(self.store, HERE / "snakemake.log").stdout
        self.assertRegex(text, r"─ map  sample=heart +\d")
        self.assertNotRegex(text, r"─ bwa mem \+ samtools sort  ")
        rows = self.show(self.store, HERE / "snakemake.log", "--by", "task").stdout.split("\n\n")[-1].splitlines()[1:]
        counts = {re.match(r"\S+", row)[0]: int(row.split()[1]) for row in rows}
        self.assertEqual(counts, {"map": 3, "simulate": 3, "stats": 3, "index_bam": 3, "flagstat": 3, "index": 1,
                                  "reference": 1, "summary": 1, "snakemake": 1})

    def test_a_tool_and_its_script_are_one(self):
        """Makes the shell of each bwa step a wrapper named bwa."""
        with self.changed("wrapped") as (store, database):
            database.execute("UPDATE tools SET name = 'bwa index', role = 'wrapper' WHERE name = 'bash -c' AND task_id IN "
                             "(SELECT id FROM tasks WHERE name = 'bwa index')")
        show = functools.partial(self.text, "show", "--store", store)
        self.assertEqual(re.findall(r"^bwa index +(\d+) +(\d+)", show("--by", "tool"), re.M), [("1", "2")])
        self.assertEqual(show().count("bwa index"), 1)

    def test_without_names_nothing_is_added(self):
        self.show(self.store, pathlib.Path("none"))
        self.assertNotIn("engine_name", self.text("show", "--json"))

    def test_names_are_kept_until_they_are_forgotten(self):
        store = self.second_run("kept", runs={"name": "'other'"}, tasks={"label": "'other'"})
        log = pathlib.Path(self.directory, "log")
        kept = pathlib.Path(self.directory, ".local/state/tracer/names")

        def ask(verb, *options):
            return self.text(verb, "--store", store, *options)

        def is_named():
            answers = (ask("show", "snakemake"), ask("tune", "snakemake"), ask("tune", "--right-size"),
                       ask("export", "snakemake", "--format", "trace"), ask("compare", "snakemake", "other"))
            self.assertNotIn("index_bam", ask("show", "other"))
            return {"index_bam" in answer for answer in answers}

        shutil.rmtree(kept, ignore_errors=True)
        shutil.copy(HERE / "snakemake.log", log)
        self.assertEqual(is_named(), {False})
        ask("tune", "snakemake", "--names", log)
        log.unlink()
        self.assertEqual(is_named(), {True})
        self.assertEqual([path.stat().st_mode & 0o777 for path in (kept, *kept.iterdir())], [0o700, 0o600])
        ask("show", "snakemake", "--names", "none")
        self.assertEqual(is_named(), {False})
        self.assertEqual(list(kept.iterdir()), [])

    def test_names_that_cannot_be_kept(self):
        kept = pathlib.Path(self.directory, ".local/state/tracer/names")
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("", encoding="ascii")
        result = self.show(self.store, HERE / "snakemake.log", "--by", "task")
        kept.unlink()
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^tracer: the names are not kept for this run: .*: Not a directory\n$")
        self.assertIn("index_bam", result.stdout)

    def test_files(self):
        for name, (text, expected) in FILES.items():
            with self.subTest(name):
                tasks = self.tasks(self.show(self.labelled(), text, "--json"))
                label = "s=s3" if name.startswith("benchmark") else "ab/cdef01"
                named = [(task["label"], task["engine_name"], task["engine_label"]) for task in tasks if task["engine_name"]]
                self.assertEqual([(label, *expected)], [(own, name.replace("\\xff", "\ufffd"), tag) for own, name, tag in named])
                plain = self.show(self.labelled(), text).stdout
                self.assertNotRegex(plain, "[\x1b\x07\u202e]")

    def test_what_the_engine_said(self):
        for name, (text, expected) in FIGURES.items():
            with self.subTest(name):
                [task] = [task for task in self.tasks(self.show(self.labelled(), text, "--json")) if task["engine_name"]]
                self.assertEqual(tuple(task[f"engine_{figure}"] for figure in ("wall_ns", "cpu_ns", "peak_rss_bytes")), expected)

    def test_broken_files(self):
        for name, (text, reason) in BROKEN.items():
            with self.subTest(name):
                result = self.show(self.store, text)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(f"/names{reason}", result.stderr)
                self.assertNotIn("\x1b", result.stderr)

    def test_files_that_cannot_be_read(self):
        for path, reason in [("/nonexistent", "No such file"), ("/etc", "Is a directory"),
                             ("/dev/zero:1", "NUL byte")]:
            result = self.show(self.store, pathlib.Path(path.removesuffix(":1")))
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"{path}: {reason}", result.stderr)
        self.assertEqual(self.text("export", "--format", "perfetto", "--names", "/nonexistent", status=1),
                         "tracer: /nonexistent: No such file or directory\n")

    def test_names_of_another_run(self):
        result = self.show(self.store, TRACE + "1\tff/cdef01\t77\tX\tOK\n")
        self.assertEqual(result.returncode, 0)
        self.assertIn("no task of this run is in the --names file", result.stderr)

    def test_tune(self):
        names = {item["name"] for item in self.answer(self.store, HERE / "snakemake.log", verb="tune")["names"]}
        self.assertTrue({"map", "simulate", "flagstat"} <= names, names)
        self.assertFalse({"wgsim", "samtools flagstat"} & names, names)

    def test_right_sizes(self):
        sizes = self.answer(self.store, HERE / "snakemake.log", "--right-size", verb="tune")["names"]
        self.assertEqual({item["name"]: item["task_count"] for item in sizes},
                         {"map": 3, "simulate": 3, "stats": 3, "index_bam": 3, "flagstat": 3, "index": 1, "reference": 1,
                          "summary": 1})
        config = self.show(self.labelled(), FILES["trace"][0], "--right-size", "--format", "nextflow", verb="tune").stdout
        self.assertIn("    withName: 'ALIGN:BWA' {\n", config)
        self.assertNotIn("Names are Tracer's", config)

    def test_right_sizes_of_other_runs(self):
        """Tasks that the file does not have get the name that all tasks of their name have."""
        store = self.second_run("twice", tasks={"label": "'other'"})
        trace = TRACE + "1\tab/cdef01\t77\tINDEX\tOK\n1\tab/cdef02\t77\tA\tOK\n1\tab/cdef03\t77\tB\tOK\n"
        with self.changed("labelled-twice", store) as (store, database):
            database.execute("UPDATE tasks SET label = 'ab/cdef01' WHERE name = 'bwa index' AND label IS NULL")
            for label in ("ab/cdef02", "ab/cdef03"):
                database.execute("UPDATE tasks SET label = ? WHERE id = "
                                 "(SELECT min(id) FROM tasks WHERE name = 'wgsim' AND label IS NULL)", (label,))
        sizes = self.answer(store, trace, "--right-size", verb="tune")["names"]
        counts = {item["name"]: item["task_count"] for item in sizes}
        self.assertEqual({name: counts.get(name) for name in ("INDEX", "bwa index", "A", "B", "wgsim")},
                         {"INDEX": 2, "bwa index": None, "A": 1, "B": 1, "wgsim": 4})

    def test_compare(self):
        store = self.second_run("two", runs={"name": "'other'"}, tasks={"label": "'other'"})
        steps = self.answer(store, HERE / "snakemake.log", "snakemake", "other", verb="compare")["steps"]
        names = {step["name"]: (step["a"]["task_count"], step["b"]["task_count"]) for step in steps}
        self.assertEqual((names["simulate"], names["map"]), ((3, 3), (3, 3)))
        self.assertNotIn("wgsim", names)

    def test_failed(self):
        replayed = replay(pathlib.Path(CORRELATOR).parents[1], pathlib.Path(RECORDING).with_name("failures.rec"),
                          os.path.join(self.directory, "replayed.db"))
        with self.changed("failures", replayed) as (store, database):
            task, run = database.execute("SELECT t.id, r.name FROM tasks t JOIN runs r ON r.id = t.run_id "
                                         "JOIN incidents i ON i.task_id = t.id "
                                         "WHERE t.status = 'failed' AND t.kind <> 'main'").fetchone()
            database.execute("UPDATE tasks SET label = 'ab/cdef01' WHERE id = ?", (task,))
        self.assertIn("ALIGN:BWA s1", self.show(store, FILES["trace"][0], run, "--all", verb="failed").stdout)
        failures = self.answer(store, FILES["trace"][0], run, verb="failed")["failures"]
        self.assertIn(("ALIGN:BWA", "s1"), [(failure["task"]["engine_name"], failure["task"]["engine_label"])
                                           for failure in failures if failure["task"]])


if __name__ == "__main__":
    sys.exit(run_cases("cli-names", sys.argv[4:]))
