"""GNU parallel: every job is a task, but not the processes with which it probes the machine."""

from model import Run, Task
from harness import require

# It measures the longest command line and starts sleeps to find the maximum number of processes:
# forks of itself, shells, perl and helpers, any number of them.
OWN = frozenset({"parallel", "sh", "bash", "perl", "sh -c", "bash -c", "perl -e", "tput",
                 "hostname", "echo", "false", "sleep", "rm", "ps", "uname", "cat"})

EXPECTED = Run(
    kind="command", engine="parallel", main={}, main_may_have=OWN,
    tasks=[Task("engine", "align", {"bash -c": 1, "align": 1}, count=6)])


def check(bench):
    require("parallel")
    bench.worker("align")
    command = ["parallel", "--will-cite", "-j2", "align --cpu 20 --sleep", ":::",
               "10", "20", "30", "40", "50", "60"]
    problems, _ = bench.check(EXPECTED, command, bench.work_directory("work", "nobody"))
    return problems
