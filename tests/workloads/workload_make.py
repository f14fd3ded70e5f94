"""make -j2 building a C project: every recipe line is a task, and the compiler's passes belong to
the compiler."""

import shutil

import model
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
    reports, waited_ns = bench.watch(["make", "-j2"], directory)
    if len(reports) != 1:
        return [f"{len(reports)} runs, not 1"]
    return (model.check_run(EXPECTED, reports[0]) + model.check_cpu(reports[0], waited_ns) +
            check_io(reports[0], directory / "table"))
