"""The pipeline of deploy/example, and what it should come out as: several workloads run it."""

from harness import ROOT, require
from model import Run, Task

# Every rule of the Snakefile is one task, and one of it a sample where it has a wildcard.
# Snakemake starts `bash -c` for each; bash starts the tools, or becomes the last of them.
TASKS = [
    Task("engine", "reference.py", {"bash": 1, "reference.py": 1}),
    Task("engine", "bwa index", {"bash": 1, "bwa index": 1}),
    Task("engine", "wgsim", {"bash": 1, "wgsim": 1}, count=3),
    Task("engine", "bwa mem + samtools sort", {"bash": 1, "bwa mem": 1, "samtools sort": 1}, count=3),
    Task("engine", "samtools index", {"bash": 1, "samtools index": 1}, count=3),
    Task("engine", "samtools flagstat", {"bash": 1, "samtools flagstat": 1}, count=3),
    Task("engine", "samtools stats", {"bash": 1, "samtools stats": 1}, count=3),
    Task("engine", "summary.py", {"bash": 1, "summary.py": 1}),
]


def expected(user):
    # cbc solves what Snakemake asks of its scheduler, where it is installed: part of the
    # engine, never a task.
    return Run(kind="command", engine="snakemake", user=user, tasks=TASKS,
               main={"snakemake": 1}, main_may_have=frozenset({"cbc"}))


def command(bench):
    require("snakemake", "bwa", "samtools", "wgsim")
    source = bench.fixture(ROOT / "deploy/example")
    return ["snakemake", "--snakefile", source / "Snakefile", "--cores", "2"]
