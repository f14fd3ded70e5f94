#!/usr/bin/env python3
"""Figures of docs/live.md: how often what is normal is called slow, and how often an expected end is right.

usage: live.py [--rounds N]

Simulates histories: wall times are log-normal, each history has its own, and one more run of the same distribution is the
one that runs. The rules are those of analysis/query/questions/run_slower.sql, task_slower.sql and expected_ends.sql,
with their defaults, except for the minute of least_ns, which only makes warnings rarer.
"""
import argparse
import math
import random

COUNTS = (5, 8, 20, 50)
SIGMAS = (0.2, 0.5, 1.0)


def quantile(ordered, share):
    """Nearest rank."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def run_is_slow(history, wall):
    first, third = quantile(history, 0.25), quantile(history, 0.75)
    return len(history) >= 8 and wall > 1.25 * history[-1] and wall > third + 3 * (third - first)


def task_is_slow(history, wall):
    return len(history) >= 20 and wall > 2 * history[-1]


def is_held(history, wall, age):
    """None: no interval."""
    longer = [each for each in history if each > age]
    return None if len(longer) < 5 else quantile(longer, 0.1) <= wall <= quantile(longer, 0.9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20000)
    rounds = parser.parse_args().rounds
    random.seed(7)
    print("| earlier | sigma | runs called slow | tasks called slow | intervals shown | that held the end |")
    print("|---|---|---|---|---|---|")
    for count in COUNTS:
        for sigma in SIGMAS:
            runs = tasks = shown = held = 0
            for _ in range(rounds):
                *history, wall = (math.exp(random.gauss(0, sigma)) for _ in range(count + 1))
                history.sort()
                runs += run_is_slow(history, wall)
                tasks += task_is_slow(history, wall)
                right = is_held(history, wall, random.random() * wall)
                shown += right is not None
                held += right is True
            print(f"| {count} | {sigma} | {runs / rounds:.1%} | {tasks / rounds:.1%} | {shown / rounds:.0%} | {held / shown:.0%} |")


if __name__ == "__main__":
    main()
