"""Memory at one time of tools, tasks and the run: never below what they needed, and at most a little above.

What a set of processes needed is known in three ways, of which the largest counts: what its actors say that they held,
each object once; the sum of what its processes held by shares (PSS), as the runner sampled it; and, of the run, what the
runner sampled of its memory cgroup, where it has one of its own. What actors wrote into files in memory belongs to a set
whose cgroup is its own; elsewhere the answer has it, or says by how much it may be too low.
"""

import truth

MIB = 1 << 20
BELOW_SHARE, BELOW_BYTES = 0.02, MIB # the kernel's counters of resident pages lag by some pages for each processor
ABOVE_SHARE, ABOVE_BYTES = 0.15, 16 * MIB


def needed_bytes(execution, rows, with_files):
    identifiers = {row["id"] for row in rows}
    images = [image for image in execution.images
              if (execution.answer.process_of(image) or {}).get("id") in identifiers]
    return max(truth.held(images, with_files).peak(), execution.samples.of(rows).peak())


def check(what, entity, least, most, is_own):
    """`least` without files in memory, `most` with them."""
    figure = entity["concurrent_memory_bytes"]
    unattributed = entity.get("unattributed_memory_bytes") or 0
    words = f"{what}: {(figure or 0) / MIB:.1f} MiB, needed {least / MIB:.1f} and files of {(most - least) / MIB:.1f}"
    if figure is None:
        return [f"memory unknown of {words}"] if most > ABOVE_BYTES else []
    if figure < (most if is_own else least) * (1 - BELOW_SHARE) - BELOW_BYTES:
        return [f"memory too low of {words}"]
    if figure + unattributed < most * (1 - BELOW_SHARE) - BELOW_BYTES:
        return [f"memory does not say that it is too low of {words}"]
    if figure > most * (1 + ABOVE_SHARE) + ABOVE_BYTES:
        return [f"memory too high of {words}"]
    return []


def judge(executions):
    problems = []
    for execution in executions:
        answer = execution.answer
        peak = max((number for _, number in execution.group), default=0)
        least, most = (needed_bytes(execution, answer.processes, with_files) for with_files in (False, True))
        problems += check("run", answer.run, max(least, peak), max(most, peak), bool(peak))
        for task in answer.tasks:
            tools = [(f"tool {tool['name']}", tool, [row for row in task["processes"] if row["tool_id"] == tool["id"]])
                     for tool in task["tools"]]
            for what, entity, rows in [(f"task {task['name']}", task, task["processes"]), *tools]:
                least, most = (needed_bytes(execution, rows, with_files) for with_files in (False, True))
                problems += [f"{text} ({execution.workload}, {execution.work})"
                             for text in check(what, entity, least, most, False)]
    return problems
