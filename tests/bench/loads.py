"""The observed workloads; each keeps the machine busy in one way."""

import dataclasses
import os
import random
import shutil
from collections.abc import Callable

import pipeline
from measuring import cpu_of

PINNED = ["taskset", "--cpu-list", str(os.cpu_count() - 1)]


@dataclasses.dataclass
class Load:
    name: str
    title: str
    unit: str
    count: int
    command: Callable # (bench, count) -> [word, ...]

    def run(self, bench, watcher, count):
        """CPU seconds of `count` units of work."""
        return cpu_of(watcher.wrapped(self.command(bench, count)))


def program(bench, name):
    return bench.programs / "tests/bench" / name


def storm(name, title, executable, count):
    """Runs enough commands in parallel to keep every processor busy."""
    at_once = 2 * os.cpu_count()
    return Load(name, title, "exec", count, lambda bench, count: [
        program(bench, "storm"), count, at_once, program(bench, executable)])


def storms(count):
    return [storm("exec-dynamic", "dynamic binary", "nothing", count),
            storm("exec-static", "static binary", "nothing-static", count)]


def switches(count):
    return Load("switch", "context switches", "round trip", count, lambda bench, count: [
        *PINNED, program(bench, "pingpong"), count])


def system_calls(count):
    return Load("syscall", "system calls", "block of 512 bytes", count, lambda _, count: [
        *PINNED, "dd", "if=/dev/zero", "of=/dev/null", "bs=512", f"count={count}"])


def compression(megabytes):
    """Text of hexadecimal digits, identical every time."""
    def command(bench, count):
        path = bench.directory / f"digits-{count}"
        if not path.exists():
            path.write_text(random.Random(count).randbytes(count * 500_000).hex(),
                            encoding="ascii")
        return [*PINNED, "gzip", "--stdout", path]
    return Load("cpu", "CPU-bound (gzip)", "MB compressed", megabytes, command)


def network(name, title, kind, message_bytes, count):
    return Load(name, title, "message", count, lambda bench, count: [
        *PINNED, program(bench, "network"), kind, message_bytes, count])


def networks(scale):
    """With `scale` = 1, each takes about a second."""
    return [network("request-1k", "request/response, 1 KiB", "request", 1024, 80000 // scale),
            network("request-64k", "request/response, 64 KiB", "request", 65536, 40000 // scale),
            network("bulk-1k", "bulk, 1 KiB", "bulk", 1024, 1000000 // scale),
            network("bulk-64k", "bulk, 64 KiB", "bulk", 65536, 50000 // scale)]


def receiving(count):
    """Calls hardly more than one hook, over and over: reads single bytes that have already arrived."""
    return network("drain", "receiving single bytes", "drain", 1, count)


def signals(count):
    return Load("signal", "signals", "signal", count, lambda _, count: [
        "bash", "-c", 'trap : USR1; for ((i = 0; i < $1; i++)); do kill -USR1 $$; done', "bash",
        count])


class Pipeline:
    """The Snakemake pipeline of deploy/example, run as nobody."""

    name = "pipeline"
    title = "Snakemake pipeline"
    unit = "pipeline"
    count = 1

    def __init__(self, target):
        self.target = target

    def run(self, bench, _watcher, _count):
        directory = bench.work_directory("pipeline", "nobody")
        try:
            command = [*pipeline.command(bench), self.target]
            return bench.wait(bench.start(command, directory, marked=False)) / 1e9
        finally:
            shutil.rmtree(directory)
