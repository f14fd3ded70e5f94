"""Memory at one time of tools, tasks and the run: never below what they needed, and at most a little above.

What a set of processes needed is known in three ways, of which the largest counts: what its actors say that they held,
each object once; the sum of what its processes held by shares (PSS), as the runner sampled it; and, of the run, what the
runner sampled of its memory cgroup, where it has one of its own. What actors wrote into files in memory belongs to a set
whose cgroup is its own; elsewhere the answer has it, or says by how much it may be too low.
"""

import truth

MIB = 1 << 20
BELOW_SHARE, BELOW_BYTES = 0.04, 2 * MIB # the kernel's counters of pages lag, those of each process by half a MiB for two CPUs
ABOVE_SHARE, ABOVE_BYTES = 0.15, 16 * MIB
UNSEEN_BYTES = 12 * MIB # what forks of an interpreter may have held between two samples of the runner
SCAN_NS = 1_500_000_000 # what processes hold at different moments in that time may be added up


def needed_bytes(execution, rows):
    """Without files in memory; with them; and the most that may be said."""
    identifiers = {row["id"] for row in rows}
    images = [image for image in execution.images
              if (execution.answer.process_of(image) or {}).get("id") in identifiers]
    sampled = execution.samples.of(rows).peak()
    with_files, most = truth.held(images, True).peak(), truth.held(images, True, SCAN_NS).peak()
    # Files that no process has mapped hide in their cgroup that as much shared memory is the same (docs/model.md). It is unknown
    # how many there are in a cgroup of others.
    each = truth.held(images, True, SCAN_NS, by_mapping=True).peak()
    unmapped = truth.held(execution.images, True).peak() - truth.held(execution.images, False).peak()
    if not execution.place.memory:
        unmapped = each
    # What a program had mapped that was replaced by another one is not known: only its peak is.
    most += sum(number for image in images if image.end == truth.BECOMES for _, _, number, kind in image.events
                if kind == truth.MAPPED)
    return (max(truth.held(images, False).peak(), sampled), max(with_files, sampled),
            max(min(most + unmapped, each), sampled))


def compare(execution, what, entity, rows):
    """What is said of one set of processes. In a cgroup with others' processes, these may remove files meanwhile."""
    group_peak = max((number for _, number in execution.group), default=0)
    of_group = group_peak if what == "run" else 0
    figure, unattributed = entity["concurrent_memory_bytes"], entity["unattributed_memory_bytes"]
    least, with_files, most = (max(needed, of_group) for needed in needed_bytes(execution, rows))
    words = (f"{what} of execution {execution.number}: {(figure or 0) / MIB:.1f} MiB, needed {least / MIB:.1f}, "
             f"with files {with_files / MIB:.1f}, perhaps {most / MIB:.1f}")
    if figure is None and unattributed is None:
        return [f"memory unknown: of {words}"] if with_files > ABOVE_BYTES else []
    figure, unattributed = figure or 0, unattributed or 0
    if execution.situation == "daemons killed": # what is known of processes between two scans is lost (docs/model.md)
        least = with_files = 0
    if figure < (with_files if of_group else least) * (1 - BELOW_SHARE) - BELOW_BYTES:
        return [f"memory too low: of {words}"]
    if group_peak and figure + unattributed < with_files * (1 - BELOW_SHARE) - BELOW_BYTES:
        return [f"memory does not say that it is too low: of {words}"]
    if figure > most * (1 + ABOVE_SHARE) + ABOVE_BYTES + (UNSEEN_BYTES if execution.samples.taken else 0):
        return [f"memory too high: of {words}"]
    return []


def check(executions):
    problems = []
    for execution in executions:
        answer = execution.answer
        problems += compare(execution, "run", answer.run, answer.processes)
        for task in answer.tasks:
            problems += compare(execution, f"task {task['name']}", task, task["processes"])
            for tool in task["tools"]:
                rows = [row for row in task["processes"] if row["tool_id"] == tool["id"]]
                problems += compare(execution, f"tool {tool['name']}", tool, rows)
    return problems
