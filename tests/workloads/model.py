"""Expected results of a workload, and their comparison with the actual ones.

Expectations are derived from the design, not from the output of the program: the tasks, their
kinds, their tools, and the number of exec images of each. An exec image is one program of one
process: a shell that execs a tool counts once for the shell and once for the tool, a shell that
forks a part of itself counts twice.
"""

import collections
import dataclasses
import difflib
import re

# Slack between the kernel's two measures of CPU time: wait4 reports it as it was before the process
# was torn down, the store its final value.
CPU_SLACK_RATIO = 0.05
CPU_SLACK_NS = 40_000_000


@dataclasses.dataclass
class Task:
    """`count` tasks of this kind and name, each with these tools: {name: exec images}."""

    kind: str
    name: str
    tools: dict
    count: int = 1
    status: str = "succeeded"

    def lines(self):
        return [task_line(self.kind, self.name, self.status, self.tools)] * self.count


@dataclasses.dataclass
class Run:
    """One run. `main` is the pseudo-task of drivers and set-up: {tool: exec images}, or None if a
    library decides what else it starts."""

    kind: str
    tasks: list
    main: dict = None
    engine: str = None
    status: str = "succeeded"
    exit_code: int = 0
    user: int = None
    # Tools of the main task, and of the others, that may occur any number of times: {name}.
    main_may_have: frozenset = frozenset()
    tasks_may_have: frozenset = frozenset()


def task_line(kind, name, status, tools):
    counts = ", ".join(f"{tool} {count}" for tool, count in sorted(tools.items()))
    return f"{kind} task '{name}' {status}: {counts}"


def tools_of(task, without=frozenset()):
    return {tool["name"]: tool["process_count"] for tool in task["tools"]
            if tool["name"] not in without}


def check_namespaces(report, output):
    """Compares the containers' namespaces with those printed by processes in them (worker --namespaces)."""
    reported = {name: (int(pid), int(mount)) for name, pid, mount in
                re.findall(r"^(\w+) pid:\[(\d+)\] mnt:\[(\d+)\]", output, re.MULTILINE)}
    expected = {process["container_id"]: reported[process["program"]] for task in report["tasks"]
                for process in task["processes"] if process["program"] in reported}
    found = {row["id"]: (row["pid_namespace"], row["mount_namespace"]) for row in report["containers"]}
    return [] if expected.items() <= found.items() else [f"containers have the namespaces {found}, not {expected}"]


def difference(expected, actual):
    """Diff of two lists of lines regardless of order; [] if they are equal."""
    return [line for line in difflib.unified_diff(sorted(expected), sorted(actual), "expected",
                                                  "found", lineterm="", n=0)
            if not line.startswith("@@")]


def check_run(expected, report):
    """Errors of a run, as reported by `tracer show --json --processes`."""
    problems = []
    run = report["run"]
    for field in ("kind", "engine", "status", "exit_code"):
        wanted = getattr(expected, field)
        if run[field] != wanted:
            problems.append(f"run.{field} is {run[field]!r}, not {wanted!r}")
    if expected.user is not None and run["user_id"] != expected.user:
        problems.append(f"run.user_id is {run['user_id']}, not {expected.user}")

    lines = [line for task in expected.tasks for line in task.lines()]
    found = []
    for task in report["tasks"]:
        if task["kind"] == "main":
            problems += check_main(expected, tools_of(task, expected.main_may_have))
        else:
            found.append(task_line(task["kind"], task["name"], task["status"],
                                   tools_of(task, expected.tasks_may_have)))
    problems += difference(lines, found)
    return problems + check_consistent(report)


def check_main(expected, tools):
    if expected.main is None or tools == expected.main:
        return []
    return [f"main task has {tools}, not {expected.main}"]


def check_consistent(report):
    """Invariants of every run."""
    problems = []
    run = report["run"]
    processes = [process for task in report["tasks"] for process in task["processes"]]

    if report["losses"] or run["lost_count"]:
        problems.append(f"records were lost: {report['losses']}")
    ids = collections.Counter(process["id"] for process in processes)
    if len(ids) != len(processes):
        problems.append("a process stands in two tasks")
    if run["process_count"] != len(processes):
        problems.append(f"run.process_count is {run['process_count']}, "
                        f"but {len(processes)} processes are listed")
    for process in processes:
        problems += check_process(process, run)
    for field in ("cpu_ns", "minor_faults", "rchar_bytes", "wchar_bytes", "voluntary_switches"):
        whole = sum(process[field] or 0 for process in processes)
        by_task = sum(task[field] for task in report["tasks"])
        if not whole == by_task == run[field]:
            problems.append(f"{field}: processes add up to {whole}, tasks to {by_task}, "
                            f"the run says {run[field]}")
    return problems


def check_process(process, run):
    what = f"process {process['pid']} ({process['program']})"
    problems = []
    if process["run_id"] != run["id"]:
        problems.append(f"{what} says it is of run {process['run_id']}")
    if process["ended"] not in ("exit", "exec"):
        problems.append(f"{what} has ended = {process['ended']!r}")
    if process["ended"] == "exit" and process["totals"] not in ("exit", "final"):
        problems.append(f"{what} has totals = {process['totals']!r}")
    if process["cpu_ns"] is None:
        problems.append(f"{what} has no CPU time")
    return problems


def check_cpu(report, waited_ns):
    """Compares the run's CPU time with that reported by wait4 for all processes reaped below it."""
    ours = report["run"]["cpu_ns"]
    if abs(ours - waited_ns) > waited_ns * CPU_SLACK_RATIO + CPU_SLACK_NS:
        return [f"CPU time is {ours / 1e9:.3f} s, wait4 says {waited_ns / 1e9:.3f} s"]
    return []
