#!/usr/bin/env python3
"""What `tracer show` of a large run takes: processor time, time, memory, for runs of three shapes.

usage: show.py TRACER BENCH_STORE [--processes N] [--smoke]

The figures are those of this machine, now; the best of three rounds. The memory does not depend on
its load: more than the bound fails. --smoke asks once, for tests.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import succeeds  # noqa: E402 (found by the path above)

MEMORY_KIB_MAX = 64 * 1024
SHAPES = ((20, 2), (100_000, 200), (100_000, 100_000))  # processes a task, and a tool


def measure(*command):
    """Seconds, seconds of processors, and KiB at the peak."""
    begun = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def show(options, directory):
    largest = 0
    for a_task, a_tool in SHAPES:
        store = pathlib.Path(directory) / f"{a_task}-{a_tool}.db"
        subprocess.run([options.bench_store, str(options.processes), store, str(a_task), str(a_tool)], check=True,
                       stdout=subprocess.DEVNULL)
        for arguments in (["-p"], ["--json", "-p"], ["--tools"], ["--table"]):
            rounds = [measure(options.tracer, "show", "--store", store, *arguments)
                      for _ in range(1 if options.smoke else 3)]
            wall_s, cpu_s, memory_kib = (min(figures) for figures in zip(*rounds))
            largest = max(largest, memory_kib)
            print(f"{options.processes} processes, {a_task} a task, {a_tool} a tool: show {' '.join(arguments):10}"
                  f" {wall_s:.2f} s, {cpu_s:.2f} s of processors, {memory_kib / 1024:.1f} MiB", flush=True)
    sanitized = b"__asan_init" in pathlib.Path(options.tracer).read_bytes()
    assert sanitized or largest <= MEMORY_KIB_MAX, f"{largest} KiB of memory, {MEMORY_KIB_MAX} at most"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracer")
    parser.add_argument("bench_store")
    parser.add_argument("--processes", type=int, default=100_000)
    parser.add_argument("--smoke", action="store_true")
    print("1..1")
    with tempfile.TemporaryDirectory(prefix="tracer-bench-") as directory:
        return 0 if succeeds("cli-memory: a large run", show, parser.parse_args(), directory) else 1


if __name__ == "__main__":
    sys.exit(main())
