"""The same workload gets the same words, whatever runs beside it: tasks, names, labels, statuses, parents, incidents.

And what engines with jobs are known for (engines.py): each job is a task, with all its actors.
"""

import collections
import re

import engines


def plain(sentence):
    """Without what differs from one execution to the next: pids, times, sizes."""
    sentence = re.sub(r"\bpid \d+", "pid N", sentence or "")
    sentence = re.sub(r"\b\d+(\.\d+)? ?(ns|µs|ms|s|KiB|MiB|GiB|B)\b|\b\d+m\d\ds\b", "N", sentence)
    return re.sub(r"/tmp/\S+", "PATH", sentence)


def name_of(task):
    return f"{task['name']}|{task['label'] or ''}" if task else "-"


def describe(answer):
    """Everything that an answer says in words, as sorted lines."""
    run = answer.run
    lines = [f"run {run['name']} {run['kind']} engine {run['engine']} {run['status']} {run['exit_code']} {run['signal']}"]
    for task in answer.tasks:
        # What an engine does for itself may depend on time: parallel ends children that have not begun a program yet.
        counts = task["kind"] != "main" or run["engine"] is None
        tools = " ".join(f"{tool['name']}×{tool['process_count'] if counts else 'N'}" for tool in
                         sorted(task["tools"], key=lambda tool: tool["name"]))
        lines.append(f"task {name_of(task)} {task['kind']} {task['status']} {task['exit_code']} {task['signal']} below "
                     f"{name_of(answer.task_named(task['parent_task_id']))}: {tools}")
    for incident in answer.incidents:
        lines.append(f"incident {incident['kind']} fatal {incident['fatal']} of "
                     f"{name_of(answer.task_named(incident['task_id']))}: {plain(incident['sentence'])} {plain(incident['cause'])}")
    return sorted(lines)


def check_sameness(executions):
    """The most frequent description counts as the right one."""
    descriptions = [tuple(describe(execution.answer)) for execution in executions]
    (usual, count), = collections.Counter(descriptions).most_common(1)
    problems = []
    for execution, found in zip(executions, descriptions):
        if found != usual:
            more, less = [line for line in found if line not in usual], [line for line in usual if line not in found]
            problems.append(f"other words: in {len(executions) - count} of {len(executions)}, here {execution.situation}: "
                            f"{more} for {less} ({execution.workload})")
    return problems


def check_jobs(executions):
    """Where one engine alone runs jobs: the actors of a job are in one task, those of others in others."""
    root = executions[0].workload.root
    while root.kind not in engines.ENGINES and len(root.children) == 1:
        root = root.children[0]
    engine = engines.ENGINES.get(root.kind)
    others = [kind for child in root.children for kind in child.kinds() if kind in engines.ENGINES]
    if not engine or not engine.separate or others:
        return []
    problems = []
    for execution in executions:
        tasks = collections.defaultdict(set)
        for row in execution.answer.processes:
            tasks[row["program"]].add(row["task_id"])
        main = {task["id"] for task in execution.answer.tasks if task["kind"] == "main"}
        found = len({task["id"] for task in execution.answer.tasks if task["kind"] == "engine"})
        if found != len(root.children) and (found > len(root.children) or execution.status == 0):
            problems.append(f"jobs: {len(root.children)} are {found} tasks ({execution.workload})")
        for image in execution.images:
            row = execution.answer.process_of(image)
            if row and image.name != "tracer" and row["task_id"] in main:
                problems.append(f"no task: {image.name} of a job is in the run's own ({execution.workload})")
    return problems


def check(executions):
    return check_sameness(executions) + check_jobs(executions)
