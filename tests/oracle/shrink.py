"""Finds the smallest workload for which the same is wrong."""

import dataclasses

from workload import Node, Workload

ROUNDS_MAX = 20
CANDIDATES_MAX = 24 # of one round, which executes all of them together
OPENING, CLOSING = ("fork", "spawn", "vfork"), ("end", "wait")


def is_word(step):
    return "=" not in step and step not in ("in", "look", "free", "become", "daemon", *CLOSING)


def without_steps(actor):
    """The actor without one of its steps, or one family of processes."""
    steps = actor.steps
    for i, step in enumerate(steps):
        if step.partition("=")[0] in OPENING and "end" in steps[i:]:
            end = i + steps[i:].index("end")
            yield dataclasses.replace(actor, steps=(*steps[:i], *steps[end + 1:]))
        elif step == "become":
            yield dataclasses.replace(actor, steps=steps[:i])
        elif step not in CLOSING and not is_word(step):
            yield dataclasses.replace(actor, steps=(*steps[:i], *steps[i + 1:]))


def smaller_nodes(node):
    if node.is_actor:
        yield from without_steps(node)
        return
    yield from node.children
    for i in range(len(node.children)):
        if len(node.children) > 1:
            yield dataclasses.replace(node, children=(*node.children[:i], *node.children[i + 1:]))
    for i, child in enumerate(node.children):
        for smaller in smaller_nodes(child):
            yield Node(node.kind, node.options, (*node.children[:i], smaller, *node.children[i + 1:]))


def smaller(workload):
    """Workloads with one part less, the smallest first."""
    found = {str(one): one for one in (Workload(node, workload.place) for node in smaller_nodes(workload.root))}
    if workload.place:
        found[str(workload.root)] = Workload(workload.root)
    return sorted(found.values(), key=lambda one: len(str(one)))


def kinds(problems):
    return {problem.partition(":")[0] for problem in problems}


def smallest(workload, problems, problems_of):
    """`problems_of` returns {text of a workload: its problems} of several."""
    wrong = kinds(problems)
    for _ in range(ROUNDS_MAX):
        candidates = [one for one in smaller(workload) if len(str(one)) < len(str(workload))]
        step = max(1, len(candidates) // CANDIDATES_MAX)
        found = problems_of(candidates[::step][:CANDIDATES_MAX]) if candidates else {}
        failing = [one for one in candidates if wrong & kinds(found.get(str(one), ()))]
        if not failing:
            break
        workload = failing[0]
    return workload
