"""The pipeline of deploy/example, used by several workloads, and its expected results."""

from harness import ROOT, require
from model import Run, Task

# Every rule of the Snakefile is one task or, with a wildcard, one task for each sample. Snakemake
# starts `bash -c` for each; bash starts the tools, or becomes the last one.
TASKS = [
    Task("engine", "reference.py", {"bash -c": 1, "reference.py": 1}),
    Task("engine", "bwa index", {"bash -c": 1, "bwa index": 1}),
    Task("engine", "wgsim", {"bash -c": 1, "wgsim": 1}, count=3),
    Task("engine", "bwa mem + samtools sort",
         {"bash -c": 1, "bwa mem": 1, "samtools sort": 1}, count=3),
    Task("engine", "samtools index", {"bash -c": 1, "samtools index": 1}, count=3),
    Task("engine", "samtools flagstat", {"bash -c": 1, "samtools flagstat": 1}, count=3),
    Task("engine", "samtools stats", {"bash -c": 1, "samtools stats": 1}, count=3),
    Task("engine", "summary.py", {"bash -c": 1, "summary.py": 1}),
]


def expected(user):
    # If the solver cbc is installed, Snakemake asks it which jobs to start, any number of times:
    # part of the engine, never a task.
    return Run(kind="command", engine="snakemake", user=user, tasks=TASKS,
               main={}, main_may_have=frozenset({"snakemake", "uname"}))  # pandas, if it is installed, asks uname


def command(bench):
    require("snakemake", "bwa", "samtools", "wgsim")
    source = bench.fixture(ROOT / "deploy/example")
    return ["snakemake", "--snakefile", source / "Snakefile", "--cores", "2"]
