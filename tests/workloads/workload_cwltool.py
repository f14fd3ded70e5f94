"""CWL without containers: every job of a scattered step is a task."""

import shutil
import subprocess

from harness import HERE, ROOT, require
from model import Run, Task

EXPECTED = Run(
    kind="command", engine="cwl", main={"cwltool": 1},
    tasks=[
        Task("engine", "wgsim", {"wgsim": 1}, count=3),
        Task("engine", "samtools faidx", {"samtools faidx": 1}),
    ])


def check(bench):
    require("cwltool", "wgsim", "samtools")
    directory = bench.work_directory("work", "nobody")
    for path in (HERE / "cwltool").iterdir():
        shutil.copy(path, directory)
    with open(directory / "reference.fa", "wb") as reference:
        subprocess.run(["python3", ROOT / "deploy/example/reference.py", "--bases", "5000",
                        "--seed", "1"], stdout=reference, check=True)
    problems, _ = bench.check(EXPECTED, ["cwltool", "--no-container", "--outdir", "out", "main.cwl", "job.yml"], directory)
    return problems
