"""What right-sizing requests, set as a limit: the workload has to run in it, and to need most of it.

Only of workloads that are one task, since a limit is for a whole run here.
"""

from checks.memory import needed_bytes
from workload import Workload

MIB = 1 << 20
WASTE_SHARE = 0.3
WASTE_BYTES = 24 * MIB # 16 of the margin, and what is rounded up
SITUATIONS = (("in what was requested", 0, 1, 3),)


def ask(daemons, execution):
    """The request for an execution, None if it is not that of one task."""
    run = execution.answer.run
    if run["task_count"] or execution.status != 0 or run["kind"] != "command":
        return None
    names = daemons.tracer("tune", "--right-size", run["id"])["names"]
    return names[0]["memory_bytes"] if len(names) == 1 else None


def limited(workload, request_bytes):
    places = [place for place in workload.place if place[0] not in ("own", "limit")]
    return Workload(workload.root, (("limit", request_bytes // MIB), *places))


def check(requests, executions, execute):
    """{title: problems}. `requests`: {title: bytes or None}; `execute` executes {title: workload}."""
    wanted = {title: limited(executions[title][0].workload, number) for title, number in requests.items() if number}
    problems = {}
    for title, [again] in execute(wanted, SITUATIONS).items():
        first, request = executions[title][0], requests[title]
        needed = max(max(needed_bytes(one, one.answer.processes)[1] for one in executions[title]), group_peak(first))
        most = needed / (1 - WASTE_SHARE) + WASTE_BYTES
        words = f"{request / MIB:.0f} MiB, needed {needed / MIB:.1f}"
        if again.status != first.status:
            problems[title] = [f"request too low: with {words} it ended with {again.status}"]
        elif request > most:
            problems[title] = [f"request too high: {words}"]
    return problems


def group_peak(execution):
    return max((number for _, number in execution.group), default=0)
