#!/usr/bin/env python3
"""Complete screens of tracer, compared with files: at 80 and 200 columns and in a pipe.

    check_screens.py TRACER MAKE_STORE [--update] [TEST...]

The stores are written by make_store for one fixed moment, which is also the time that tracer sees (fixed_clock.c).
tests/cli/screens/NAME-WIDTH.txt is the screen without colours. --update rewrites the files: review the changes, they are what users see.
"""
import contextlib
import difflib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import OnTerminal, run_cases  # noqa: E402 (the line above has to come first)

TRACER, MAKE_STORE = map(os.path.abspath, sys.argv[1:3])
UPDATE = "--update" in sys.argv
SCREENS = pathlib.Path(__file__).resolve().parent / "screens"
FIXED_CLOCK = pathlib.Path(MAKE_STORE).parent / "libfixed_clock.so"
PIPE = "pipe"

# Name, arguments, widths; of another store than "fixed" the arguments begin with its kind.
SERIES, GPU = KINDS = ("series", "gpu")
CASES = [
    ("show", ["show", "snakemake"], [80, 200, PIPE]),
    ("show-table", ["show", "--by", "task", "snakemake"], [80, 200, PIPE]),
    ("show-tools", ["show", "--by", "tool", "snakemake"], [80, 200, PIPE]),
    ("show-samples", ["show", "--by", "sample", "snakemake"], [80]),
    ("show-processes", ["show", "--processes", "align.sh"], [80, 200]),
    ("show-many", ["show", "parallel sort"], [80, 200]),
    ("show-many-table", ["show", "--by", "task", "parallel sort"], [80]),
    ("show-running", ["show", "make"], [80, 200, PIPE]),
    ("show-lossy", ["show", "evil"], [80, PIPE]),
    ("runs", ["runs", "--all"], [80, 200, PIPE]),
    ("top", ["top", "--once", "--all"], [80, 200, PIPE]),
    ("explain", ["explain", "1001"], [80, PIPE]),
    ("tune", ["tune", "snakemake"], [80, PIPE]),
    ("tune-many", ["tune", "parallel sort"], [80]),
    ("tune-running", ["tune", "make"], [80]),
    ("tune-lossy", ["tune", "evil"], [80, PIPE]),
    ("tune-right-size", ["tune", "--right-size"], [80, PIPE]),
    ("tune-right-size-input", ["tune", "--right-size", "--input-size", "3M"], [PIPE]),
    ("tune-right-size-unknown-input", ["tune", "--right-size", "--input-size", "3M", "copy"], [PIPE]),
    ("report-failed", ["report", "--format", "md", "parallel sort"], [PIPE]),
    ("report-lossy", ["report", "--format", "md", "evil"], [PIPE]),
    ("report-running", ["report", "--format", "md", "make"], [PIPE]),
    ("cost", [SERIES, "cost"], [80, PIPE]),
    ("cost-co2", [SERIES, "cost", "--by", "user", "--co2"], [80]),
    ("sweep", [SERIES, "sweep"], [80, 200, PIPE]),
    ("compare", [SERIES, "compare", "nightly.sh", "nightly-new.sh"], [80, 200, PIPE]),
    ("compare-samples", [SERIES, "compare", "nightly.sh", "nightly-new.sh", "--by", "sample"], [80]),
    ("show-gpu", [GPU, "show", "pipeline.sh"], [80, 200, PIPE]),
    ("runs-gpu", [GPU, "runs"], [80, 200]),
    ("top-gpu", [GPU, "top", "--once", "--sort", "gpu"], [80, 200, PIPE]),
    ("explain-gpu", [GPU, "explain", "ipykernel"], [80]),
    ("failed-gpu", [GPU, "failed", "pipeline.sh"], [80]),
    ("tune-gpu", [GPU, "tune", "pipeline.sh"], [80]),
    ("sweep-gpu", [GPU, "sweep"], [80]),
    ("cost-gpu", [GPU, "cost"], [80]),
    ("report-gpu", [GPU, "report", "--format", "md", "pipeline.sh"], [PIPE]),
    ("compare-single", ["compare", "gzip", "snakemake"], [80]),
]

NESTED = """\
├─ snakemake
├─ simulate
│  ├─ wgsim
│  ├─ 2 shells and helpers
│  ├─ simulate
│  │  ├─ wgsim
│  │  ├─ 2 shells and helpers
│  │  └─ simulate
│  │     ├─ wgsim
│  │     └─ 2 shells and helpers
│  └─ index
├─ index
│  └─ bwa index
"""


class Screens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        # The preloaded clock comes before the runtime of a build with ASan, which would refuse to start.
        asan = os.environ.get("ASAN_OPTIONS", "")
        cls.environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm",
                           "LD_PRELOAD": str(FIXED_CLOCK), "ASAN_OPTIONS": f"{asan}:verify_asan_link_order=0"}
        cls.environment.pop("NO_COLOR", None)
        for kind in ["fixed", *KINDS]:
            subprocess.run([MAKE_STORE, os.path.join(cls.directory, f"{kind}.db"), kind], check=True)

    def screen(self, arguments, width):
        """The screen of that width, without colours."""
        kind, arguments = (arguments[0], arguments[1:]) if arguments[0] in KINDS else ("fixed", arguments)
        environment = {**self.environment, "TRACER_STORE": os.path.join(self.directory, f"{kind}.db")}
        if width == PIPE:
            result = subprocess.run([TRACER, *arguments], env=environment, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, check=False)
            self.assertEqual(result.returncode, 0, arguments)
            self.assertNotIn(b"\033", result.stdout)
            return result.stdout.decode()
        status, output = OnTerminal([TRACER, *arguments], environment, whole=True, columns=width).finish()
        self.assertEqual(status, 0, arguments)
        return re.sub(r"\033\[[0-9;]*m", "", output.decode()).replace("\r", "")

    def test_screens(self):
        expected_names = set()
        for name, arguments, widths in CASES:
            for width in widths:
                with self.subTest(screen=name, width=width):
                    file = SCREENS / f"{name}-{width}.txt"
                    expected_names.add(file.name)
                    found = self.screen(arguments, width)
                    for line in found.splitlines():
                        if width != PIPE:
                            self.assertLessEqual(len(line), width, line)
                        self.assertEqual(line, line.rstrip(" "), line)
                        self.assertFalse([char for char in line if unicodedata.category(char)[0] == "C"], line)
                    if UPDATE:
                        file.write_text(found, encoding="utf-8")
                    difference = list(difflib.unified_diff(file.read_text(encoding="utf-8").splitlines(),
                                                           found.splitlines(), file.name, "found", lineterm="", n=1))
                    self.assertFalse(difference, "\n".join(["", *difference[:60]]))
        self.assertEqual({file.name for file in SCREENS.iterdir()}, expected_names)

    def test_a_pipe_has_all_of_it(self):
        """2,000 tasks in order of their beginning; command lines complete, and nothing padded to their length."""
        many = self.screen(["show", "parallel sort"], PIPE)
        self.assertEqual(len(re.findall(r"^[├└]─ sort ", many, re.M)), 2000)
        shown = self.screen(["show", "--processes", "align.sh"], PIPE)
        self.assertIn("/opt/conda/envs/align-0.7.17/bin/bwa mem -t 2 ", shown)
        self.assertIn("sample_39_L001_R1_001.fastq.gz", shown)
        table = shown.split("\n\n")[-1].splitlines()
        for line in table:
            figures = line.split("/opt/conda")[0]
            self.assertLess(len(figures), 140, figures)

    def test_tasks_are_drawn_below_the_task_that_started_them(self):
        """A chain of three; and one said to be its own parent."""
        path = os.path.join(self.directory, "nested.db")
        shutil.copy(os.path.join(self.directory, "fixed.db"), path)
        with contextlib.closing(sqlite3.connect(path)) as store:
            tasks = [row[0] for row in store.execute(
                "SELECT tasks.id FROM tasks JOIN runs ON runs.id = tasks.run_id "
                "WHERE runs.name LIKE 'snakemake%' AND tasks.kind <> 'main' ORDER BY tasks.begin_boot_ns, tasks.id")]
            for task, parent in [(1, 0), (2, 1), (3, 0), (-1, -1)]:
                store.execute("UPDATE tasks SET parent_task_id = ? WHERE id = ?", (tasks[parent], tasks[task]))
            store.commit()
        shown = subprocess.run([TRACER, "show", "--store", path, "snakemake"], env=self.environment, check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        self.assertEqual(re.findall(r"^.*─ .*?(?=  )", shown, re.M)[:13], NESTED.splitlines())

    def test_a_terminal_shows_what_failed_first(self):
        shown = self.screen(["show", "parallel sort"], 80)
        results = re.findall(r"^[├└]─ sort .* (ok|exit 1)$", shown, re.M)
        self.assertEqual(results[:4], ["exit 1", "exit 1", "exit 1", "ok"])
        walls = [float(wall) for wall in re.findall(r"^[├└]─ sort +(\S+) (?:ms|s) .* ok$", shown, re.M)]
        self.assertGreater(len(walls), 30)
        self.assertRegex(shown, r"\n1,96\d more tasks \(none failed\): .*\n?.*--all .*--by task ")
        every = self.screen(["show", "--all", "parallel sort"], 80)
        self.assertEqual(len(re.findall(r"^[├└]─ sort ", every, re.M)), 2000)


if __name__ == "__main__":
    sys.exit(run_cases("cli-screens", [word for word in sys.argv[3:] if word != "--update"]))
