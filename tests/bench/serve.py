#!/usr/bin/env python3
"""What open pages of `tracer serve` cost: processor time of the daemons and of the server, with and without clients that ask
each second, as open pages do, while commands run.

usage: serve.py BUILD [--pages N] [--seconds N]

Needs root, for a real probe. Times are those of this machine at this moment; the two halves are of one run, in turns.
"""

import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "serve")]
from daemons import Daemons  # noqa: E402 (found by the path above)
from server import Server  # noqa: E402

TURNS = 3
LOAD = "i=0; while [ $i -lt 1000000 ]; do /bin/true; sleep 0.02; i=$((i + 1)); done"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
# What a page of a run and the list of runs ask for.
TARGETS = ("/api/v1/runs?limit=200&all=1", "/api/v1/runs/{run}/page", "/api/v1/top?all=1")


def used_s(pid, with_children=False):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15 if with_children else 13])) * TICK_S


def page(server, target, until, counts):
    """Asks once a second, as its script does, with the tag of what it has."""
    tag = None
    while time.monotonic() < until:
        begun = time.monotonic()
        answer = server.get(target, **({"If_None_Match": tag} if tag else {}))
        with counts["lock"]:
            counts[answer.status] = counts.get(answer.status, 0) + 1
            counts["waited"].append(time.monotonic() - begun)
        tag = answer.headers.get("etag", tag)
        time.sleep(max(0, 1 - (time.monotonic() - begun)))


def measure(daemons, server, targets, pages, seconds, counts):
    """Shares of one processor: correlator, probe, server with its children."""
    before = used_s(daemons.correlator.pid), used_s(daemons.probe.pid), used_s(server.process.pid, True)
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max(pages, 1)) as pool:
        for number in range(pages):
            pool.submit(page, server, targets[number % len(targets)], begun + seconds, counts)
        time.sleep(seconds)
    after = used_s(daemons.correlator.pid), used_s(daemons.probe.pid), used_s(server.process.pid, True)
    return [(b - a) / (time.monotonic() - begun) for a, b in zip(before, after)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    counts = {"lock": threading.Lock(), "waited": []}
    with contextlib.closing(Daemons(options.build)) as daemons:
        daemons.start()
        with Server(options.build, daemons.directory / "tracer.db") as server:
            load = subprocess.Popen(["/bin/sh", "-c", LOAD])
            try:
                time.sleep(3)
                run = daemons.tracer("runs", "--all", "--limit", "1")["runs"][0]["id"]
                targets = [target.format(run=run) for target in TARGETS]
                halves = {0: [], options.pages: []}
                for _ in range(TURNS):
                    for pages, shares in halves.items():
                        shares.append(measure(daemons, server, targets, pages, options.seconds, counts))
            finally:
                load.kill()
                load.wait()
    print(f"{'share of one processor':28} {'no page':>10} {f'{options.pages} pages':>10}")
    for index, name in enumerate(("tracer-correlator", "tracer-probe", "tracer serve")):
        print(f"{name:28} " + " ".join(f"{sum(shares[index] for shares in half) / TURNS:10.2%}" for half in halves.values()))
    waited = sorted(counts["waited"])
    print(f"answers by status: { {key: value for key, value in counts.items() if isinstance(key, int)} }; "
          f"waited {waited[len(waited) // 2]:.3f} s (median), {waited[len(waited) * 95 // 100]:.3f} s (95 %)")


if __name__ == "__main__":
    main()
