"""Failures: a planted one is the cause if it made the command fail, and nothing is where it succeeded."""

from engines import ENGINES
from truth import EXIT, KILL


def check(executions):
    problems = []
    for execution in executions:
        answer, planted = execution.answer, execution.workload.planted()
        fatal = [incident for incident in answer.incidents if incident["fatal"]]
        if execution.status == 0:
            if fatal or answer.run["status"] != "succeeded":
                problems.append(f"failed for nothing: {answer.run['status']}, {[row['sentence'] for row in fatal]} "
                                f"({execution.workload})")
            continue
        if answer.run["status"] == "succeeded":
            problems.append(f"not failed: the command ended with {execution.status} ({execution.workload})")
        if len(planted) != 1:
            continue
        culprits = {row["id"] for image in execution.images if image.end in (EXIT, KILL) and image.status
                    for row in [answer.process_of(image)] if row}
        deciders = {row["id"] for row in answer.processes if row["arguments"] and
                    row["arguments"][-1].endswith((".py", ".pl", ".R"))}
        found = {row["process_id"] for row in fatal}
        if len(fatal) != 1 or not found & (culprits | (deciders if decides(execution.workload) else set())):
            problems.append(f"caused by another: {[row['sentence'] for row in fatal]} of status {execution.status} "
                            f"({execution.workload})")
    return problems


def decides(workload):
    return any(kind in ENGINES and ENGINES[kind].decides for kind in workload.root.kinds())
