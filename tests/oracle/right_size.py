"""What right-sizing requests, set as a limit: the workload has to run in it, and to need most of it.

The limit of a run that is one task is that of the whole run. Otherwise each job of the workload that is a task is held in what is
requested for tasks of its name; on hosts with version 1 of memory cgroups, where a job can enter its own. No waste is what
docs/right-sizing.md says is requested, too: file pages of the largest process, and what may be others' (unattributed).
"""

import collections
import dataclasses

import places
from checks.memory import needed_bytes
from workload import Node, Workload

MIB = 1 << 20
WASTE_SHARE = 0.3
WASTE_BYTES = 24 * MIB # 16 of the margin, and what is rounded up
SITUATIONS = (("in what was requested", 0, 1, 3),)


@dataclasses.dataclass
class Request:
    """Of one workload."""

    workload: Workload # with limits
    names: dict        # {name of tasks that are limited: bytes}


def ask(daemons, execution):
    """The request of an execution, None if it has none."""
    run = execution.answer.run
    if execution.status != 0 or run["kind"] != "command":
        return None
    names = {row["name"]: row["memory_bytes"] for row in daemons.tracer("tune", "--right-size", run["id"])["names"]
             if row["memory_bytes"]}
    if not run["task_count"]:
        return Request(limited(execution.workload, *names.values()), names) if len(names) == 1 else None
    return held(execution, names) if (places.ROOT / "memory").exists() else None


def limited(workload, request_bytes):
    kept = [place for place in workload.place if place[0] not in ("own", "limit")]
    return Workload(workload.root, (("limit", request_bytes // MIB), *kept))


def held(execution, requests):
    """The jobs are the children of the first node that has several."""
    root, names = execution.workload.root, {}
    above = []
    while len(root.children) == 1:
        above.append(root)
        root = root.children[0]
    if root.kind == "pipe": # all of it is one task
        return None
    jobs = []
    for number, job in enumerate(root.children):
        found = {name for actor in job.actors() for name in tasks_of(execution, actor)}
        name = found.pop() if len(found) == 1 else None
        if name in requests:
            names[name] = requests[name]
            job = Node("held", (requests[name] // MIB, number), (job,))
        jobs.append(job)
    root = dataclasses.replace(root, children=tuple(jobs))
    for node in reversed(above):
        root = dataclasses.replace(node, children=(root,))
    return Request(Workload(root, execution.workload.place), names) if names else None


def tasks_of(execution, actor):
    """Names of the tasks that have this actor, None for the run's own."""
    tasks = {task["id"]: task["name"] if task["kind"] != "main" else None for task in execution.answer.tasks}
    return {tasks[row["task_id"]] for row in execution.answer.processes
            if row["program"] == actor.kind and (row["arguments"] or [])[1:] == list(actor.steps)}


def check(requests, executions, execute):
    """{title: problems}. `requests`: {title: Request or None}; `execute` executes {title: workload}."""
    wanted = {title: request.workload for title, request in requests.items() if request}
    problems = collections.defaultdict(list)
    for title, [again] in execute(wanted, SITUATIONS).items():
        some, request = executions[title], requests[title]
        if again.status != some[0].status or again.place.killed_count:
            problems[title].append(f"request too low: it ended with {again.status}, {again.place.killed_count} were killed: "
                                   f"{again.workload}")
        for name, requested in request.names.items():
            needed = needed_by_name(some, name)
            if requested > needed / (1 - WASTE_SHARE) + WASTE_BYTES:
                problems[title].append(f"request too high: {requested / MIB:.0f} MiB of {name}, needed {needed / MIB:.1f}")
    return problems


def needed_by_name(executions, name):
    if not executions[0].answer.run["task_count"]:
        return max(max(needed_by(one, one.answer.run, one.answer.processes), group_peak(one)) for one in executions)
    return max(needed_by(one, task, task["processes"]) for one in executions for task in one.answer.tasks if task["name"] == name)


def needed_by(execution, entity, rows):
    return max(needed_bytes(execution, rows)[1], entity["peak_rss_bytes"]) + (entity["unattributed_memory_bytes"] or 0)


def group_peak(execution):
    return max((number for _, number in execution.group), default=0)
