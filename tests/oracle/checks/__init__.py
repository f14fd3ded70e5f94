"""Checks: each compares answers with the truth, in a file of its own.

A check is a function check(executions) that gets all executions of one workload, with their answers and their truth, and
returns problems as texts. It knows nothing of how Tracer arrives at an answer.
"""

import collections


def distinct(problems, most=6):
    """The first problem of each kind, with its number."""
    counts = collections.Counter(problem.split(":", 1)[0] for problem in problems)
    kinds, shown = set(), []
    for problem in problems:
        kind = problem.split(":", 1)[0]
        if kind not in kinds:
            kinds.add(kind)
            shown.append(f"{problem} ({counts[kind]} times)" if counts[kind] > 1 else problem)
    return shown[:most]
