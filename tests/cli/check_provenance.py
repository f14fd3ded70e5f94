#!/usr/bin/env python3
"""tracer export of what software ran: versions, crate, methods.

    check_provenance.py TRACER CORRELATOR SNAKEMAKE.rec FAILURES.rec [TEST...]

The store comes from a recorded run; in a copy programs have paths and containers that name versions.
"""
import json
import os
import pathlib
import re
import sys

from case import Case  # which finds the others
from daemons import replay
from software import give_versions
from testing import run_cases
VERSIONS = """\
# Versions of software as executed by the run snakemake /tmp/golden/example/Snakefile, recorded by Tracer {tracer}.
# Behind each version: how it is known.
"Workflow":
  "snakemake": "unknown" # path /usr/bin/snakemake; executed 1 time
"reference.py":
  "reference.py": "unknown" # path /tmp/golden/example/reference.py; executed 1 time
"wgsim":
  "wgsim": "1.10" # image quay.io/biocontainers/wgsim:1.10--h00cdaf9_0; executed 3 times
"bwa index":
  "bwa": "0.7.17" # path /opt/apps/bwa/0.7.17/bin/bwa; executed 1 time
"bwa mem + samtools sort":
  "bwa": "0.7.17" # path /opt/apps/bwa/0.7.17/bin/bwa; executed 3 times
  "samtools": "unknown" # path /usr/bin/samtools; executed 3 times
"samtools flagstat":
  "samtools":
    - "1.19" # image /c/depot.galaxyproject.org-singularity-samtools-1.19--h50ea8bc_0.img; executed 1 time
    - "unknown" # path /usr/bin/samtools; executed 2 times
"samtools index":
  "samtools": "unknown" # path /usr/bin/samtools; executed 3 times
"samtools stats":
  "samtools":
    - "1.20" # path /opt/conda/pkgs/samtools-1.20-h50ea8bc_0/bin/samtools; executed 1 time
    - "unknown" # path /usr/bin/samtools; executed 2 times
"summary.py":
  "summary.py": "unknown" # path /tmp/golden/example/summary.py; executed 1 time
"""

METHODS = """\
The analysis was run on 2026-11-21 with snakemake. It consisted of 18 tasks, all of which succeeded; 48 processes were \
executed. It ran on golden (2 processors, 4.00 GiB of memory, Linux 6.1.0). It took 9.36 s and used 3.78 core seconds; the \
largest process had a resident set of 72.2 MiB. The energy of the processors and memory that it used is estimated at \
0.00294 Wh, modelled from their use with figures of an average processor; what the hosts take when idle, cooling and networks \
are not included.

Software, in the versions that were executed: bwa 0.7.17, samtools (1.19, 1.20 and an unknown version) and wgsim 1.10. \
Software of which the version is not known: reference.py, snakemake and summary.py. Container images: \
depot.galaxyproject.org-singularity-samtools-1.19--h50ea8bc_0.img and quay.io/biocontainers/wgsim:1.10--h00cdaf9_0. The run \
was recorded with Tracer {tracer}.
"""


class Provenance(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.changed("versions") as (cls.versions, store):
            give_versions(store)
        cls.failures = replay(pathlib.Path(sys.argv[2]).resolve().parents[1], sys.argv[4],
                              os.path.join(cls.directory, "failures.db"))

    def export(self, name, store=None, run="latest"):
        return self.text("export", run, "--format", name, "--store", store or self.versions)

    def test_versions(self):
        found = self.export("versions")
        tracer = re.search(r"recorded by Tracer (\S+)\.\n", found)[1]
        self.assertEqual(found, VERSIONS.format(tracer=tracer))

    def test_hostile_names_are_inert(self):
        name = 'a: "b"\n- \\x\x1b[31m\u202e #c\u2028'
        with self.changed("hostile", of=self.versions) as (hostile, store):
            store.execute("UPDATE tasks SET name = ?", (name,))
            store.execute("UPDATE tools SET name = ?", (name,))
            store.execute("UPDATE images SET path = ?", ("/opt/a:-1.2/" + name,))
        for name in "crate", "methods":
            self.assertNotRegex(self.export(name, hostile), "[\x1b\u202e\u2028]")
        self.assertIn(r"\\e[31m", self.export("crate", hostile))
        lines = self.export("versions", hostile).splitlines()
        self.assertNotRegex("".join(lines), "[\x1b\u202e\u2028]")
        for line in lines[2:]:
            self.assertRegex(line, r'^(?:  )?"(?:[^"\\]|\\.)*":(?: "(?:[^"\\]|\\.)*" # .*)?$|^    - "')

    def test_versions_of_a_class_in_a_jar(self):
        with self.changed("java", of=self.failures) as (java, store):
            runs = store.execute("UPDATE process_rows SET arguments = ? WHERE image_id IN (SELECT id FROM images"
                                 " WHERE program = 'java' OR path LIKE '%/java')", (
                                     b"java\0-cp\0/x\0-cp\0/h/.nextflow/framework/23.10.1/nextflow-23.10.1-one.jar\0nextflow.cli.Launcher\0run\0x\0",))
            self.assertGreater(runs.rowcount, 0)
        self.assertIn('"nextflow": "23.10.1" # path /h/.nextflow/framework/23.10.1/nextflow-23.10.1-one.jar; executed 1 time',
                      self.export("versions", java))

    def crate(self, store=None, run="latest"):
        """Its entities by id; every link leads to one of them."""
        graph = json.loads(self.export("crate", store, run))["@graph"]
        entities = {entity["@id"]: entity for entity in graph}
        self.assertEqual(len(entities), len(graph))
        links = [link["@id"] for entity in graph for value in entity.values()
                 for link in (value if isinstance(value, list) else [value]) if isinstance(link, dict)]
        self.assertFalse([link for link in links if link not in entities and not link.startswith("https://w3id.org/ro/")])
        return entities

    def test_crate_is_of_the_profile(self):
        entities = self.crate()
        root, profile = entities["./"], "https://w3id.org/ro/wfrun/process/0.5"
        self.assertEqual(entities["ro-crate-metadata.json"]["about"], {"@id": "./"})
        self.assertEqual(root["conformsTo"], {"@id": profile})
        self.assertEqual(entities[profile]["@type"], "CreativeWork")
        self.assertLessEqual({"name", "description", "datePublished", "license"}, set(root))
        actions = {id: entity for id, entity in entities.items() if entity["@type"] == "CreateAction"}
        self.assertEqual([link["@id"] for link in root["mentions"]], list(actions))
        for action in actions.values():
            self.assertTrue(action["instrument"])
            for tool in action["instrument"]:
                self.assertEqual(entities[tool["@id"]]["@type"], "SoftwareApplication")
            for time in "startTime", "endTime":
                self.assertRegex(action[time], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$")
            for use in action["resourceUsage"]:
                use = entities[use["@id"]]
                self.assertEqual(use["@type"], "PropertyValue")
                self.assertIn(use["unitCode"].removeprefix("https://qudt.org/vocab/unit/"), ("NanoSEC", "BYTE", "MicroJ"))
                self.assertEqual(entities[use["propertyID"]["@id"]]["@type"], "DefinedTerm")

    def test_crate_has_no_arguments_and_paths(self):
        text = self.export("crate")
        for word in "/opt/apps", "/usr/bin", "/c/depot", "--pid", "working_directory":
            self.assertNotIn(word, text)

    def test_crate_of_failures(self):
        ended = {}
        for run in json.loads(self.text("runs", "--json", "--limit", "0", "--store", self.failures))["runs"]:
            shown = json.loads(self.text("show", run["id"], "--json", "--store", self.failures))["tasks"]
            entities = self.crate(self.failures, run["id"])
            for task in shown:
                action = entities[f"#task-{task['id']}"]
                status = action.get("actionStatus", "").removeprefix("http://schema.org/")
                ended.setdefault((task["status"], status), action.get("error"))
                self.assertEqual("error" in action, status == "FailedActionStatus")
                for use in action["resourceUsage"]:
                    name = entities[use["@id"]]["name"]
                    self.assertEqual(int(entities[use["@id"]]["value"]), task[name])
        self.assertLessEqual(set(ended), {("succeeded", "CompletedActionStatus"), ("failed", "FailedActionStatus"),
                                          ("killed", "FailedActionStatus"), ("ended", ""), ("running", "ActiveActionStatus")})
        self.assertRegex(ended["failed", "FailedActionStatus"], r"^exit status \d+$")
        self.assertRegex(ended["killed", "FailedActionStatus"], r"^signal \d+$")

    def test_methods(self):
        found = self.export("methods")
        self.assertEqual(found, METHODS.format(tracer=re.search(r"with Tracer (\S+)\.\n", found)[1]))

    def test_methods_say_what_is_not_known(self):
        with self.changed("partial", of=self.versions) as (partial, store):
            store.execute("UPDATE runs SET lost_count = 3, engine = NULL")
            store.execute("UPDATE tasks SET status = 'ended' WHERE name = 'wgsim'")
            store.execute("UPDATE tasks SET status = 'failed', retried_by_id = (SELECT max(id) FROM tasks"
                          " WHERE name = 'bwa mem + samtools sort') WHERE name = 'bwa index'")
        found = self.export("methods", partial)
        self.assertIn("18 tasks, of which 1 failed (1 of these succeeded when repeated), and of 3 the result is not known;", found)
        self.assertIn("These figures are lower bounds, because some records are missing.", found)
        self.assertNotIn("with snakemake.", found)

    def test_methods_have_no_paths_and_users(self):
        for word in "/", "nobody", "65534":
            self.assertNotIn(word, self.export("methods").replace("quay.io/biocontainers/", ""))


if __name__ == "__main__":
    sys.exit(run_cases("cli-provenance", sys.argv[5:]))
