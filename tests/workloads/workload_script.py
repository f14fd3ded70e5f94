"""A plain bash script without an engine: the script is the orchestrator, its children are tasks."""

import time

import model
from harness import HERE
from model import Run, Task
from testing import wait_until

EXPECTED = Run(
    # mkdir does not begin a task: it stays with the script.
    kind="command", main={"script.sh": 1, "mkdir": 1},
    tasks=[
        # A pipe is one task.
        Task("generic", "fetch + unpack", {"fetch": 1, "unpack": 1}),
        # Background jobs are separate, parallel tasks.
        Task("generic", "align", {"align": 1}),
        Task("generic", "index", {"index": 1}),
        # A subshell is a fork of the script: one exec image of it.
        Task("generic", "normalize + merge", {"script.sh": 1, "normalize": 1, "merge": 1}),
        # What a program leaves running belongs to it: itself and two forks.
        Task("generic", "ledger", {"ledger": 3}),
        Task("generic", "verify", {"verify": 1}, status="failed"),
        Task("generic", "report", {"report": 1}),
    ])


def ended_count(bench, directory, program):
    return sum(process["program"] == program and process["ended"] == "exit"
               for report in bench.daemons.reports(directory)
               for task in report["tasks"] for process in task["processes"])


def check(bench):
    bench.worker("fetch", "unpack", "align", "index", "normalize", "merge", "ledger", "verify",
                 "report")
    directory = bench.work_directory("work", "nobody")
    bench.daemons.start()
    waited_ns = bench.wait(bench.start(["bash", bench.fixture(HERE / "script.sh")], directory))
    let_go_boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    (directory / "let-go").touch()
    wait_until("the daemon's end", lambda: ended_count(bench, directory, "ledger") == 3)
    bench.daemons.finish()
    report = bench.only_report(directory)
    run, tasks = report["run"], {task["name"]: task for task in report["tasks"]}
    problems = model.check_run(EXPECTED, report)
    if problems:
        return problems

    # The daemon was reaped by its adoptive parent, so wait4 here does not include its 20 ms.
    problems += model.check_cpu(report, waited_ns + 20_000_000)
    overlap = (min(tasks[name]["end_boot_ns"] for name in ("align", "index")) -
               max(tasks[name]["begin_boot_ns"] for name in ("align", "index")))
    if overlap <= 0:
        problems.append("align and index were not seen at the same time")
    if not run["root_end_boot_ns"] < let_go_boot_ns < run["end_boot_ns"]:
        problems.append("the run is said to end with the script, not with its daemon")
    failed = {incident["task_id"] for incident in report["incidents"]}
    if tasks["verify"]["id"] not in failed:
        problems.append("no incident for verify, which ended with 3")
    return problems
