"""A pipeline that is half done when the probe starts: running processes are found, ended ones are
not invented, and what follows belongs to the same run."""

from harness import HERE
from model import check_consistent, difference, task_line, tools_of
from testing import wait_until


def check(bench):
    bench.worker("early", "long", "late")
    directory = bench.work_directory("work", "nobody")
    process = bench.start(["bash", bench.fixture(HERE / "already.sh")], directory)
    wait_until("half of it", (directory / "half-way").exists)
    bench.daemons.start()
    (directory / "watched").touch()
    bench.wait(process)
    bench.daemons.finish()
    report = bench.only_report(directory)
    problems = check_consistent(report)
    found = [task_line(task["kind"], task["name"], task["status"], tools_of(task))
             for task in report["tasks"] if task["kind"] != "main"]
    problems += difference(["generic task 'long' succeeded: long 1"] +
                           ["generic task 'late' succeeded: late 1"] * 2, found)
    began = {process["program"]: process["began"]
             for task in report["tasks"] for process in task["processes"]}
    for program, expected in {"bash": "found", "long": "found", "late": "exec"}.items():
        if began.get(program) != expected:
            problems.append(f"{program} has began = {began.get(program)!r}, not {expected!r}")
    return problems
