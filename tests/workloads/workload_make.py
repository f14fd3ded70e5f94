"""make -j2 building a C project: every recipe line is a task, and the compiler's passes belong to
the compiler."""

import shutil

from harness import HERE, require
from model import Run, Task

# gcc runs cc1 and as for an object, collect2 and ld for a program. The recipe of `table` needs a
# shell for its redirections; make starts the others itself.
EXPECTED = Run(
    kind="command", engine="make", main={"make": 1},
    tasks=[
        Task("engine", "gcc", {"gcc": 3}, count=4),
        Task("engine", "gcc", {"gcc": 3}),
        Task("engine", "primes", {"sh -c": 1, "primes": 1}),
    ])


def check_io(report, table):
    """Writes of a child count only for the child, although wait4 adds them to its parent's counters."""
    written = {tool["name"]: tool["wchar_bytes"] for task in report["tasks"]
               if task["name"] == "primes" for tool in task["tools"]}
    expected = {"sh -c": 0, "primes": table.stat().st_size}
    return [] if written == expected else [f"wchar_bytes is {written}, not {expected}"]


def check(bench):
    require("make", "gcc")
    directory = bench.work_directory("project", "nobody")
    for path in (HERE / "make").iterdir():
        shutil.copy(path, directory)
    problems, report = bench.check(EXPECTED, ["make", "-j2"], directory)
    return problems + check_io(report, directory / "table")
