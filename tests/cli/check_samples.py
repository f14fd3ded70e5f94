#!/usr/bin/env python3
"""Samples of runs: tracer cost, show, tune and compare --by sample.

    check_samples.py TRACER CORRELATOR RECORDING [TEST...]

The store comes from a recorded Snakemake run (tests/golden/snakemake.rec), which has five jobs for each of three
samples, one for all of them, and two for the reference.
"""
import re
import sys

from case import Case
from testing import copy_rows, run_cases

# Tasks, with the run's own.
TASKS = {"brain": 5, "heart": 5, "liver": 5, "(shared)": 1, "(no sample)": 3}
SUMS = ["cpu_ns", "read_bytes", "write_bytes", "run_delay_ns"]


class Samples(Case):
    def without_samples(self):
        """A store with the same run, in whose command lines nothing recurs."""
        with self.changed("without") as (path, database):
            database.execute("UPDATE process_rows SET arguments = NULL")
        return path

    def test_cost(self):
        bill = self.json("cost", "latest", "--by", "sample")
        self.assertEqual({row["sample"]: row["task_count"] for row in bill["rows"]}, TASKS)
        self.assertEqual(sum(row["cost_micros"] for row in bill["rows"]) + bill["idle_micros"] + bill["system_micros"]
                         + bill["other_runs_micros"], bill["bill_micros"])
        self.assertEqual((bill["sampled_run_count"], bill["unsampled_run_count"]), (1, 0))
        self.assertNotIn("No sample structure", self.text("cost", "latest", "--by", "sample"))

    def test_show(self):
        shown = self.json("show", "--by", "sample")
        self.assertEqual({row["sample"]: row["task_count"] for row in shown["samples"]}, TASKS)
        self.assertEqual([row["sample"] for row in shown["samples"]][3:], ["(shared)", "(no sample)"])
        self.assertIsNone(shown["sample_misfit"])
        for row in shown["samples"]:
            tasks = [task for task in shown["tasks"] if task["sample"] == row["sample"]]
            self.assertEqual(len(tasks), row["task_count"])
            self.assertEqual(row["wall_ns"], max(task["end_boot_ns"] for task in tasks) -
                             min(task["begin_boot_ns"] for task in tasks))
            self.assertEqual(row["peak_rss_bytes"], max(task["peak_rss_bytes"] for task in tasks))
            self.assertEqual(row["failed_count"], 0)
        for key in SUMS:
            self.assertEqual(sum(row[key] for row in shown["samples"]), shown["run"][key], key)
        for task in shown["tasks"]:
            if task["name"] != "summary.py" and task["label"] and task["label"].split(".")[0] in TASKS:
                self.assertEqual(task["sample"], task["label"].split(".")[0])

    def test_show_as_text(self):
        lines = self.text("show", "--by", "sample").splitlines()
        table = lines[lines.index("") + 1:]
        self.assertEqual(table[0].split()[:4], ["sample", "tasks", "failed", "wall"])
        self.assertEqual({line.split("  ")[0].strip(): int(line[len("(no sample)"):].split()[0]) for line in table[1:]},
                         TASKS)

    def test_tune(self):
        by_task, by_sample = self.json("tune"), self.json("tune", "--by", "sample")
        names = {name["name"]: name for name in by_sample["names"]}
        self.assertEqual({name: each["task_count"] for name, each in names.items()}, {**TASKS, "(no sample)": 2})
        for key in ["path_ns", "wall_ns", "cpu_ns"]:
            self.assertEqual(sum(each[key] for each in names.values()), sum(each[key] for each in by_task["names"]), key)
        walls = sorted((each["wall_ns"], name) for name, each in names.items() if "(" not in name)
        self.assertEqual(by_sample["imbalance"],
                         {"sample": walls[2][1], "wall_ns": walls[2][0], "median_wall_ns": walls[1][0]})
        self.assertEqual(by_sample["findings"], by_task["findings"])
        self.assertRegex(self.text("tune", "--by", "sample"),
                         f"\n  Imbalance: tasks on {walls[2][1]} ran for .* times the median ")
        self.text("tune", "--by", "sample", "--list", status=2)

    def test_a_slow_merge_hides_no_samples(self):
        """The summary of all samples takes a hundred times as long as all else."""
        with self.changed("slow") as (path, database):
            changed = database.execute("UPDATE tasks SET end_boot_ns = end_boot_ns + 100 * (SELECT max(end_boot_ns) - "
                                       "min(begin_boot_ns) FROM tasks) WHERE name = 'summary.py'").rowcount
        self.assertEqual(changed, 1)
        shown = self.json("show", "--by", "sample", "--store", path)
        self.assertEqual({row["sample"]: row["task_count"] for row in shown["samples"]}, TASKS)

    def test_a_run_without_samples(self):
        reason = "fewer than two names recur in several steps"
        for verb in ["cost", "show", "tune"]:
            self.assertIn(f"\nNo sample structure found: {reason}\n",
                          self.text(verb, "latest", "--by", "sample", "--store", self.without_samples()), verb)
        shown = self.json("show", "--by", "sample", "--store", self.without_samples())
        self.assertEqual(shown["sample_misfit"], reason)
        self.assertEqual([row["sample"] for row in shown["samples"]], ["(no sample)"])

    def copy_run(self, database, number, name, patient, factor):
        """A copy of the run whose samples are those of a patient, and whose tasks take factor times as long."""
        later = {"started_unix_ns": f"started_unix_ns + {number} * 3600000000000"}
        changes = {"runs": {"name": f"'{name}'"}, "process_rows": {"arguments": f"sample_of(arguments, '{patient}')"}, "tools": {},
                   "tasks": {"end_boot_ns": f"begin_boot_ns + CAST((end_boot_ns - begin_boot_ns) * {factor} AS INTEGER)"}}
        ids = {"runs": ["id"], "tasks": ["id", "run_id"], "tools": ["id", "run_id", "task_id"], "process_rows": ["id", "tool_id"]}
        for table, names in ids.items():
            copy_rows(database, table, f"id IN (SELECT id FROM original_{table})", **later, **changes[table],
                      **{name: f"{name} + {number * 10**12}" for name in names})

    def store_of_patients(self):
        """Eight runs `old` and eight runs `new`, each with three samples of a patient; new ones are slower by a fifth."""
        with self.changed("patients") as (path, database):
            database.create_function("sample_of", 2, lambda line, patient: line and re.sub(
                rb"brain|heart|liver", lambda name: patient.encode() + b"_" + name.group(), line))
            for table in ["runs", "tasks", "tools", "process_rows"]:
                database.execute(f"CREATE TEMP TABLE original_{table} AS SELECT id FROM {table}")
            database.execute("DELETE FROM original_runs WHERE id IN "
                             "(SELECT id FROM runs WHERE kind IN ('system', 'session'))")
            for number in range(16):
                patient = number % 8
                self.copy_run(database, number + 1, "old" if number < 8 else "new", f"P{patient}",
                              (1 + patient) * (1 if number < 8 else 1.2 + patient / 1000))
        return path

    def test_compare(self):
        path = self.store_of_patients()
        by_task = self.json("compare", "old", "new", "--store", path)
        compared = self.json("compare", "old", "new", "--by", "sample", "--store", path)
        steps = {step["name"]: step for step in compared["steps"]}
        for name in ["bwa mem + samtools sort", "samtools index", "samtools stats", "samtools flagstat", "wgsim"]:
            self.assertEqual((steps[name]["pair_count"], steps[name]["tested"], steps[name]["result"]),
                             (8, "pairs of runs by sample", "slower"), name)
            self.assertAlmostEqual(steps[name]["ratio"], 1.2, 1)
        self.assertEqual((steps["summary.py"]["pair_count"], steps["summary.py"]["tested"]), (0, "runs"))
        self.assertEqual({step["result"] for step in by_task["steps"]}, {"no difference found"})
        for side in ["a", "b"]:
            self.assertEqual((compared[side]["sampled_run_count"], compared[side]["unsampled_run_count"]), (8, 0))
        self.assertIn("\nCompared in pairs by sample: 5 of 9 task names\n",
                      self.text("compare", "old", "new", "--by", "sample", "--store", path))
        shown = self.text("compare", "old", "new", "--by", "sample", "--sample-sheet", "none", "--store", path)
        self.assertIn("\nCompared in pairs by sample: 0 of 9 task names\n", shown)
        self.assertIn("\nNo sample structure found in 16 runs: --sample-sheet none\n", shown)
        pattern = self.json("compare", "old", "new", "--by", "sample", "--store", path,
                            "--sample-pattern", "(P[0-9]_(?:brain|heart|liver))")
        self.assertEqual(pattern, compared)

    def test_sheet_and_pattern(self):
        """Both find what is inferred; a sheet also in a run in which nothing can be inferred."""
        nf_core = self.make_file("sheet.csv", b"sample,fastq_1,fastq_2\nbrain,b_1.fq,\n\"liver\",l_1.fq,\nbrain,b_2.fq,\n")
        snakemake = self.make_file("samples.tsv", b"\xef\xbb\xbfpath\tSample\r\nx,y\tbrain\r\nz\tliver\r\n")
        other = self.make_file("other.csv", b"sample\nkidney\n")
        without_heart = {**TASKS, "(no sample)": TASKS["(no sample)"] + TASKS["heart"]}
        del without_heart["heart"]
        for verb, key in [("show", "samples"), ("cost", "rows"), ("tune", "names")]:
            for option, expected in [(["--sample-sheet", nf_core], without_heart),
                                     (["--sample-sheet", snakemake], without_heart),
                                     (["--sample-pattern", "(brain|heart|liver)"], TASKS),
                                     (["--sample-sheet", "none"], {"(no sample)": 19}),
                                     (["--sample-sheet", other], {"(no sample)": 19})]:
                rows = self.json(verb, "latest", "--by", "sample", *option)[key]
                found = {row.get("sample", row.get("name")): row["task_count"] for row in rows}
                if verb == "tune": # which leaves out the engine
                    found["(no sample)"] += 1
                self.assertEqual(found, expected, (verb, option))
        shown = self.text("show", "--by", "sample", "--sample-sheet", other)
        self.assertIn("\nNo sample structure found: no name of the sample sheet is in a command line\n", shown)

    def test_broken_sheets_and_patterns(self):
        for content, reason in [(b"", "%s:0: has no header line"), (b"name,fastq_1\nbrain,x\n",
                                                                  "%s:1: the header line has no column sample"),
                                (b"sample,x\nbrain,y\n,z\n", "%s:3: column sample is empty"),
                                (b"sample\n---\n", "%s:2: no letter or digit in the name of a sample, or over 256 bytes"),
                                (b"sample\n\"brain\n", "%s:2: the file ends inside a quoted field"),
                                (b"sample\n", "%s: names no sample")]:
            path = self.make_file("broken.csv", content)
            self.assertEqual(self.text("show", "--by", "sample", "--sample-sheet", path, status=1),
                             f"tracer: {reason % path}\n".replace(":0:", ":"))
        for verb in ["show", "tune", "cost"]:
            self.assertIn("No such file", self.text(verb, "--by", "sample", "--sample-sheet", "/nonexistent", status=1))
            self.assertIn("'(b': missing closing parenthesis",
                          self.text(verb, "--by", "sample", "--sample-pattern", "(b", status=2))
            self.assertIn("needs --by sample", self.text(verb, "--sample-pattern", "(b)", status=2))
            self.assertIn("give only one of", self.text(verb, "--by", "sample", "--sample-pattern", "(b)",
                                                            "--sample-sheet", "none", status=2))


if __name__ == "__main__":
    sys.exit(run_cases("cli-samples", sys.argv[4:]))
