#!/usr/bin/env python3
"""tracer tune on labelled runs: what it finds in schedules whose faults are known, and what it must not find.

usage: check_tune.py TRACER MAKE_STORE [--print]

Each run is written as a store would have it, with figures that a person chose. The expected findings were written before
`tracer tune` was asked; for two runs a second one, serial_task, was accepted then, as it is true. With --print, prints what
is found in each.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from check_sweep import GIB, S, TRACER, Host, Store  # noqa: E402 (the line above comes first)


class Run:
    """One run of a host with so many cores, or a part of one. Times are in seconds from its begin; a task uses one core
    unless it says."""

    def __init__(self, *tasks, cores=16, engine=None, status="succeeded", jobs=None, driver=0, allowed=None, memory=None,
                 beside=None, running=False, others=(), scans=None, driver_bytes=None):
        self.tasks, self.cores, self.engine, self.status, self.jobs = tasks, cores, engine, status, jobs
        self.driver, self.allowed, self.memory, self.driver_bytes = driver, allowed, memory, driver_bytes
        self.beside = beside  # the part on another host
        self.running = running  # and so do the tasks that end with it
        self.others = others  # programs outside the run, each with the cores that it uses all the time
        self.scans = scans  # of the driver: from and to, cores that it uses, and threads of it that wait for one

    def length(self):
        return max(end for _, _, end, *_ in self.tasks)

    def write(self, store, name="host", begin=0):
        length = self.length()
        if self.beside:
            length = max(length, self.beside.length())
            self.beside.write(store, "other", length)
        begin = (begin or length) + (0 if self.running else 100)
        host = Host(store, name, seen=begin + 100, cpu_count=self.cores, cluster="cluster")

        def times_of(first, last):
            return host.times(begin - first, None if self.running and last == self.length() else begin - last)

        times = times_of(0, self.length())
        cpu = sum((task[3] if len(task) > 3 else 1) * (task[2] - task[1]) for task in self.tasks) + self.driver
        store.db.execute("UPDATE stream SET committed_boot_ns = ?", (host.times(0, None)["begin_boot_ns"],))
        common = {"host_id": host.id, "process_count": 1, "run_delay_ns": 0, "core_limit_milli": self.allowed,
                  "memory_limit_bytes": self.memory}
        run = store.add("runs", kind="command", name="run", run_key="key", engine=self.engine, status=self.status, cpu_ns=int(cpu * S),
                        task_count=len(self.tasks), **times, **common)
        main = store.add("tasks", run_id=run, kind="main", name="run", status=self.status, cpu_ns=int(self.driver * S),
                         peak_rss_bytes=self.driver_bytes, **times, **common)
        driver = store.add("tools", run_id=run, task_id=main, name="run", role="orchestrator" if self.engine else "script",
                           requested_thread_count=self.jobs, **times, host_id=host.id, process_count=1)
        if self.scans:
            first, last, used, waiting = self.scans
            process = host.process(driver, begin, begin - self.length(), program="run", cpu_s=self.driver)
            for second in range(first, last + 1):
                store.add("samples", process_id=process, boot_ns=host.times(begin - second, None)["begin_boot_ns"],
                          cpu_ns=int((second - first) * used * S), run_delay_ns=int((second - first) * waiting * S))
        ids = []
        for name, first, last, *more in self.tasks:
            used = more[0] if more else 1
            row = common | {"status": "succeeded", "peak_rss_bytes": GIB // 4, "concurrent_memory_bytes": GIB // 4}
            row |= more[1] if len(more) > 1 else {}
            workers, files, gpus = row.pop("workers", ()), row.pop("files", ()), row.pop("gpus", ())
            if (part_of := row.pop("part_of", None)) is not None:  # place of the task that is its engine
                row["parent_task_id"] = ids[part_of]
            moved = row.pop("moved", None)  # bytes that one process read and wrote
            pipe = row.pop("pipe", ())  # programs that compute all the time, each with so many threads
            if threads := row.pop("threads", None):  # of the parent of the workers, which waits for them
                pipe = ((name, threads, 0.01),)
            task = store.add("tasks", run_id=run, kind="generic", name=name, cpu_ns=int(used * (last - first) * S),
                             **times_of(first, last), **row)
            ids.append(task)
            tool = store.add("tools", run_id=run, task_id=task, name=name, role="tool", **times_of(first, last),
                             host_id=host.id, process_count=1)
            if files:
                host.process(tool, begin - first, begin - last, program=name, arguments="\0".join([name, *files, ""]).encode())
            for devices, busy, *memory in gpus:  # of one process each; at its peak, and of its devices
                process = host.process(tool, begin - first, begin - last, program="python3", cpu_s=0)
                busy = None if busy is None else int(busy * (last - first) * S)
                store.db.execute("UPDATE process_rows SET gpu = ?, gpu_busy_ns = ?, gpu_peak_bytes = ?, gpu_capacity_bytes = ? "
                                 "WHERE id = ?", (devices, busy, *(memory[0] if memory else (None, None)), process))
                for table, row_id in ("tasks", task), ("runs", run):
                    store.db.execute(f"UPDATE {table} SET gpu_busy_ns = coalesce(gpu_busy_ns + ?1, ?1) WHERE id = ?2",
                                     (busy, row_id))
                    store.db.execute(f"UPDATE {table} SET gpu_peak_bytes = ? WHERE id = ?", (memory[0][0] if memory else None, row_id))
            if moved:
                process = host.process(tool, begin - first, begin - last, program=name, cpu_s=used * (last - first))
                store.db.execute("UPDATE process_rows SET rchar_bytes = ?, wchar_bytes = ?, failed = 0 WHERE id = ?",
                                 (*moved, process))
            for program, threads, *share in pipe:
                process = host.process(tool, begin - first, begin - last, program=program,
                                       cpu_s=(share[0] if share else 1) * (last - first))
                store.add("samples", process_id=process, thread_count=threads, cpu_ns=0,
                          boot_ns=host.times(begin - first - 1, None)["begin_boot_ns"])
            for cpu in workers:  # they begin together, and only compute, or wait for a processor
                waiting = row.get("run_delay_ns", 0) / len(workers)
                process = host.process(tool, begin - first, begin - first - cpu - waiting / S, program="python3", cpu_s=cpu)
                store.db.execute("UPDATE process_rows SET began = 'fork', parent_id = 1, run_delay_ns = ? WHERE id = ?",
                                 (int(waiting), process))
        for program, used in self.others:
            _, _, tool = host.run(begin, begin - self.length(), name=program)
            host.process(tool, begin, begin - self.length(), program=program, cpu_s=used * self.length())


def samples(count, *steps, at=0, width=None):
    """The same steps, (name, seconds), of several samples, one after another; at most `width` samples at a time."""
    tasks, free = [], [at] * (width or count)
    for _ in range(count):
        slot = free.index(min(free))
        for name, seconds in steps:
            tasks.append((name, free[slot], free[slot] + seconds))
            free[slot] += seconds
    return tasks


# What is expected, and the run.
RUNS = {
    # Healthy.
    "one task on the one core of the machine": (set(), Run(("align", 0, 600), cores=1)),
    "one task on the one core that it may use": (set(), Run(("align", 0, 600), cores=128, allowed=1000)),
    "a pool of as many workers as cores, whose parent has threads": (
        set(), Run(("fit.py", 0, 600, 3.9, {"workers": [590] * 4, "threads": 8, "core_limit_milli": 4000}), cores=64)),
    "a pipe whose programs have as many threads as cores each": (
        set(), Run(("map", 0, 600, 3.9, {"run_delay_ns": 1200 * S, "pipe": [("bwa", 4), ("samtools", 4)],
                                         "core_limit_milli": 4000}), cores=64)),
    "a simulation without output, again and again": (
        set(), Run(*(("simulate", 60 * i, 60 * i + 60, 15.5, {"moved": (5 << 20, 0)}) for i in range(5)))),
    "four threads on four allowed cores": (set(), Run(("align", 0, 600, 3.9), cores=128, allowed=4000)),
    "a chain of steps that use all cores": (set(), Run(*((f"step{i}", i * 60, i * 60 + 60, 15.5) for i in range(5)))),
    "a chain under make -j4": (set(), Run(*(("cc", i * 60, i * 60 + 60, 15) for i in range(6)), engine="make", jobs=4)),
    "a chain under nextflow": (set(), Run(*((f"step{i}", i * 65, i * 65 + 60, 15) for i in range(5)), engine="nextflow")),
    "four samples of five steps": (set(), Run(*samples(4, *((f"step{i}", 100) for i in range(5))), engine="nextflow")),
    "eight equal samples at once": (set(), Run(*samples(8, ("align", 300)), engine="snakemake")),
    "samples of different sizes at once": (set(), Run(*(("align", 0, 100 + 40 * i) for i in range(8)))),
    "a report at the end": (set(), Run(*samples(8, ("align", 300)), ("multiqc", 300, 310))),
    "a long assembly that needs the trimmed reads": (
        set(), Run(("trim", 0, 60), ("fastqc", 0, 120), ("assemble", 60, 900, 15))),
    "the longest task began first": (set(), Run(("align", 0, 600), *samples(9, ("align", 60), width=3))),
    "slots that are always full": (set(), Run(*samples(64, ("align", 100), width=16), engine="make", jobs=16)),
    "a driver that computes between two steps": (
        set(), Run(("trim", 0, 60, 15), ("align", 90, 120, 15), driver=28, scans=(60, 90, 0.9, 0))),
    "a driver that computes where others took the processors": (
        set(), Run(("trim", 0, 60, 15), ("align", 90, 120, 15), driver=6, scans=(60, 90, 0.2, 0.8))),
    "gaps of a polling engine": (set(), Run(*((f"step{i}", i * 605, i * 605 + 600, 15) for i in range(8)), engine="nextflow")),
    "a task within its own memory limit": (
        set(), Run(("align", 0, 600, 15, {"memory_limit_bytes": int(0.3 * GIB)}), ("sort", 600, 700, 15))),
    "tasks that share the limit of their job": (
        set(), Run(*(("align", 0, 900, 1) for _ in range(16)), memory=64 * GIB)),
    "one slow sample of eight": (set(), Run(*(("align", 0, 300) for _ in range(7)), ("align", 0, 500))),
    "two branches that join": (set(), Run(("trim", 0, 100, 7), ("index", 0, 200, 7), ("align", 200, 400, 15))),
    "short steps of a script": (set(), Run(*((f"step{i}", i, i + 1) for i in range(20)))),
    "many short tasks on all slots": (set(), Run(*samples(400, ("cc", 2), width=16), engine="make", jobs=16)),
    "a step that mostly sleeps": (set(), Run(("download", 0, 300, 0.05), ("align", 300, 900, 15))),
    "a little wait for a cold cache": (
        set(), Run(("sort", 0, 3600, 15, {"block_io_delay_ns": 5 * S}), ("align", 3600, 7200, 15))),
    "a short failure that was repeated": (
        set(), Run(("qc", 0, 0.5, 1, {"status": "failed", "retried_by_id": 1}), ("align", 1, 600, 15))),
    "a run that failed at once": (set(), Run(("align", 0, 2, 1, {"status": "failed"}), status="failed", cores=1)),
    "a scatter of a hundred shards": (set(), Run(*samples(100, ("call", 60), width=16), engine="nextflow", jobs=16)),
    "samples that are staggered by an engine that polls": (
        set(), Run(*(("align", 5 * (i // 4), 5 * (i // 4) + 300) for i in range(16)), engine="nextflow")),
    "two cores allowed, and two used": (set(), Run(("align", 0, 900, 1.95), cores=64, allowed=2000)),
    "half a core allowed, and used": (set(), Run(("cron", 0, 900, 0.49), cores=64, allowed=500)),
    "tasks that fill their four cores each": (
        set(), Run(*(("align", 0, 600, 3.9, {"core_limit_milli": 4000}) for _ in range(4)))),
    "a merge that needs all samples": (set(), Run(*samples(16, ("align", 300)), ("merge", 300, 600, 15))),
    "a long sample beside a short pipeline": (
        set(), Run(("align", 0, 600), *(("align", 0, 200) for _ in range(14)), ("plot", 200, 240))),
    "a script whose steps take differently long": (
        set(), Run(("a", 0, 10, 15), ("b", 10, 500, 15), ("c", 500, 505, 15), ("d", 505, 900, 15))),
    "snakemake on all cores with four threads a job": (
        set(), Run(*((name, first, last, 3.9) for name, first, last in samples(24, ("align", 120), width=4)),
                   engine="snakemake", jobs=16)),
    "short steps of a script that use all cores": (
        set(), Run(*((f"step{i}", i * 30, i * 30 + 30, 15.5) for i in range(40)))),
    "short steps of one thread in a long run": (
        set(), Run(*((f"step{i}", i * 30, i * 30 + 30) for i in range(4)), ("align", 120, 3600, 15.5))),
    "short steps of one thread beside an alignment": (
        set(), Run(("align", 0, 1200, 14), *((f"step{i}", i * 30, i * 30 + 30) for i in range(40)))),
    "an engine that starts for a minute": (set(), Run(("align", 60, 900, 15), engine="nextflow", driver=50)),
    "a host that waits while another one works": (
        set(), Run(("trim", 0, 60, 15), ("align", 360, 420, 15), beside=Run(("call", 0, 420, 15)))),
    "one thread on a host while another host works": (
        set(), Run(("sort", 0, 600), ("call", 600, 700, 15), beside=Run(("align", 0, 600, 15)))),
    "a late task on a host while another host works": (
        set(), Run(("qc", 0, 100), ("plot", 50, 300), beside=Run(("align", 0, 320, 15)))),
    "two hosts that take turns": (
        set(), Run(("trim", 0, 60, 15), ("align", 120, 180, 15), beside=Run(("index", 60, 120, 15)))),
    "one task at a time on each of two hosts": (
        set(), Run(*((f"step{i}", i * 60, i * 60 + 60, 15) for i in range(6)), engine="nextflow",
                   beside=Run(*((f"step{i}", i * 60, i * 60 + 60, 15) for i in range(6)), engine="nextflow"))),
    "a task that still runs where nothing else does": (
        set(), Run(("trim", 0, 60, 8), ("call", 0, 600, 8), ("align", 400, 430, 8), running=True)),
    "ranks that each have cores of their own": (
        set(), Run(("mpirun", 0, 600, 14, {"core_limit_milli": 1000}), allowed=1000)),
    "a pool of equal workers": (set(), Run(("train.py", 0, 600, 4, {"workers": [590, 595, 600, 600]}))),
    "one worker beside its parent": (set(), Run(("serve.py", 0, 600, 0.6, {"workers": [300]}))),
    "a task that holds memory and computes": (set(), Run(("assemble", 0, 600, 15, {"peak_rss_bytes": 40 * GIB}))),
    "an engine that holds memory while its tasks wait in a queue": (
        set(), Run(("align", 5900, 6000, 15), engine="nextflow", driver=200, driver_bytes=4 * GIB)),
    "a script that holds memory while its tasks run": (set(), Run(("align", 0, 900, 15), driver=1, driver_bytes=40 * GIB)),
    "a notebook that holds memory and computes": (
        set(), Run(("git", 0, 1), ("ls", 3599, 3600), cores=2, driver=3500, driver_bytes=40 * GIB, scans=(0, 3600, 0.97, 0))),
    "a short nap with memory": (
        set(), Run(("load", 0, 40, 0.01, {"peak_rss_bytes": 4 * GIB}), ("align", 40, 900, 15))),
    "a disk that is slow for a task with memory": (
        set(), Run(("sort", 0, 30, 0.1, {"peak_rss_bytes": 4 * GIB, "block_io_delay_ns": 25 * S}), ("align", 30, 900, 15))),
    "a short task that fails now and then": (
        set(), Run(*(("ping", 60 * i, 60 * i + 1, 1, {"status": "failed"}) for i in range(5)), ("align", 0, 900, 15))),
    "training that keeps most of its GPU busy": (set(), Run(("train", 0, 3600, 1, {"gpus": [("nvidia0,nvidiactl", 0.75)]}), cores=2)),
    "a training step with one polling thread": (
        set(), Run(("train", 0, 500, 1, {"gpus": [("nvidia0", 0.95)]}), ("align", 500, 8000, 15))),
    "two tasks that share a GPU by turns": (
        set(), Run(*(("train", 0, 3600, 15 / 2, {"gpus": [("nvidia0", 0.4)]}) for _ in range(2)))),
    "a GPU without a sampler": (set(), Run(("train", 0, 3600, 15, {"gpus": [("nvidia0", None)]}))),
    "a GPU of a task that computes elsewhere, now and then": (
        set(), Run(("basecall", 0, 3600, 0.3, {"gpus": [("nvidia0", 0.3)]}))),
    "a short use of a GPU": (set(), Run(("infer", 0, 50, 15, {"gpus": [("nvidia0", 0.1)]}), ("align", 50, 900, 15))),
    "a GPU whose memory is needed": (
        set(), Run(("infer", 0, 3600, 0.3, {"gpus": [("nvidia0", 0.3, (12 * GIB, 16 * GIB))]}))),
    "eight processes with a fifth of a GPU's memory each": (
        set(), Run(("infer", 0, 3600, 0.3, {"gpus": [("nvidia0", 0.02, (3 * GIB, 16 * GIB))] * 8}))),
    "services that wait for a GPU that they share, or that is a slice": (
        set(), Run(*(("serve", 0, 3600, 0.02, {"peak_rss_bytes": 4 * GIB, "gpus": [(device, busy, (3 * GIB, 4 * GIB))]})
                     for device, busy in (("nvidia0", 0.95), ("nvidia0", 0.95), ("nvidia1", None))))),
    "a render node that is a display": (set(), Run(("viewer", 0, 3600, 15, {"gpus": [("dri/renderD128", 0.0)]}))),
    "one GPU after another": (
        set(), Run(*(("infer", 900 * i, 900 * i + 900, 15, {"gpus": [(f"nvidia{i}", 0.8)]}) for i in range(4)))),
    "a script that computes before its first task": (set(), Run(("trim", 60, 120, 15), driver=55, scans=(0, 60, 0.9, 0))),
    "an engine that waits before its first task": (set(), Run(("trim", 60, 600, 15), engine="nextflow")),
    "a task of low priority beside others of the run": (
        set(), Run(("align", 0, 300), ("trim", 0, 300), ("map", 0, 610, 0.49, {"run_delay_ns": 310 * S}), cores=2, others=(("cron", 0.3),))),
    "a make that make started": (
        set(), Run(("make", 0, 600, 0), *((name, first, last, 1, {"part_of": 0}) for name, first, last in samples(32, ("cc", 300), width=16)),
                   engine="make", jobs=16)),
    # With a fault.
    "a GPU that is busy all the time": (
        {"gpu_bound"}, Run(("train", 0, 7200, 1, {"gpus": [("nvidia0,nvidiactl", 0.97)]}))),
    "four GPUs that are busy all the time": (
        {"gpu_bound"}, Run(("train", 0, 7200, 4, {"gpus": [(f"nvidia{i},nvidiactl", 0.96) for i in range(4)]}))),
    "a GPU that waits for loaders at the core limit": (
        {"gpu_starved"}, Run(("train", 0, 3600, 3.9, {"gpus": [("nvidia0", 0.3)]}), cores=64, allowed=4000)),
    "a GPU that waits for loaders on a full host": (
        {"gpu_starved"}, Run(("train", 0, 3600, 15.5, {"gpus": [("nvidia0", 0.2)]}))),
    "a GPU that waits for two loaders of many": (
        {"gpu_starved"}, Run(("train", 0, 3600, 2.2, {"gpus": [("nvidia0", 0.25)]}))),
    "a GPU that waits for storage": (
        {"gpu_starved", "storage_wait"}, Run(("train", 0, 3600, 0.3, {"gpus": [("nvidia0", 0.3)], "block_io_delay_ns": 2000 * S}))),
    "one of four GPUs is used": (
        {"gpu_starved"}, Run(("train", 0, 3600, 2, {"gpus": [("nvidia0,nvidia1,nvidia2,nvidia3", 0.9)]}))),
    "a GPU of which a quarter is needed": (
        {"gpu_oversized"}, Run(("infer", 0, 3600, 0.3, {"gpus": [("nvidia0", 0.2, (4 * GIB, 16 * GIB))]}))),
    "two GPUs of which less than half is needed": (
        {"gpu_oversized"}, Run(("infer", 0, 3600, 0.3, {"gpus": [(f"nvidia{i}", 0.3, (2 * GIB, 16 * GIB)) for i in range(2)]}))),
    "a notebook that holds a GPU": (
        {"gpu_unused"}, Run(("kernel", 0, 7200, 0.02, {"gpus": [("nvidia0", 0.0)]}))),
    "a task that opens a GPU and computes without it": (
        {"gpu_unused"}, Run(("align", 0, 7200, 15, {"gpus": [("nvidia0", 0.0)]}))),
    "one thread for long on 16 cores": ({"serial_task"}, Run(("sort", 0, 600), ("align", 600, 700, 15))),
    "one thread for long below a make that make started": (
        {"serial_task"}, Run(("make", 0, 700, 0.01), ("cc", 0, 100, 15.5, {"part_of": 0}), ("link", 100, 700, 1, {"part_of": 0}),
                             engine="make", jobs=16)),
    "a script with its own xargs that computes": (
        {"serial_task"}, Run(("call.sh", 0, 600, 0.95), ("tabix", 590, 600, 1, {"part_of": 0}), engine="snakemake")),
    "forty steps of one thread, one after another": (
        {"serial_task"}, Run(*((f"step{i}", i * 30, i * 30 + 30) for i in range(40)))),
    "short steps of one thread between alignments": (
        {"serial_task"}, Run(*((f"{name}{i}", 120 * i + first, 120 * i + last, cores) for i in range(30)
                               for name, first, last, cores in (("align", 0, 100, 15.5), ("sort", 100, 120, 1))))),
    "a script that compresses three hundred files": (
        {"serial_task"}, Run(*(("gzip", i * 3, i * 3 + 3) for i in range(300)))),
    "make with one job at a time": ({"engine_limit", "serial_task"}, Run(*(("cc", i * 10, i * 10 + 10) for i in range(60)), engine="make", jobs=1)),
    "an engine that runs two of many at a time": (
        {"engine_limit"}, Run(*samples(24, ("align", 100), width=2), engine="nextflow")),
    "the largest of 24 samples last": (
        {"idle_tail", "serial_task"}, Run(*samples(23, ("align", 100), width=8), ("align", 250, 900))),
    "a driver that computes a little and sleeps": (
        {"gaps_between_tasks"}, Run(("trim", 0, 60, 15), ("align", 90, 120, 15), driver=6, scans=(60, 90, 0.2, 0.1))),
    "a sleep of minutes before the first task of make": (
        {"gaps_between_tasks"}, Run(("cc", 300, 420, 15), ("cc", 300, 420, 0.9), engine="make")),
    "a sleep of minutes before the first task of a script": ({"gaps_between_tasks"}, Run(("trim", 300, 360, 15), ("align", 360, 420, 15))),
    "a sleep of minutes in a script": ({"gaps_between_tasks"}, Run(("trim", 0, 60, 15), ("align", 360, 420, 15))),
    "a failed attempt that was repeated": (
        {"failed_attempts"}, Run(("align", 0, 300, 15, {"status": "failed", "retried_by_id": 1}), ("align", 300, 600, 15))),
    "a failure that was ignored": ({"failed_attempts"}, Run(("qc", 0, 100, 8, {"status": "failed"}), ("align", 0, 300, 15))),
    "a run that failed after hours of work": (
        {"failed_run"}, Run(("align", 0, 7200, 15), ("call", 7200, 7260, 15), status="failed")),
    "a task that asks for ten times its memory": (
        {"memory_unused"}, Run(("align", 0, 900, 15, {"memory_limit_bytes": 32 * GIB}), ("sort", 900, 960, 15))),
    "workers that wait for others' work": (
        {"processor_contention"}, Run(*(("align", 0, 600, 1, {"run_delay_ns": 600 * S}) for _ in range(8)))),
    "a quota of half of what is needed": (
        {"throttled"}, Run(("align", 0, 600, 2, {"throttled_ns": 900 * S, "run_delay_ns": 900 * S, "core_limit_milli": 2000}),
                           ("sort", 600, 700, 15))),
    "reclaim": ({"memory_wait"}, Run(("sort", 0, 600, 8, {"memory_delay_ns": 2400 * S}), ("align", 600, 700, 15))),
    "two sleeps in a script": (
        {"gaps_between_tasks"}, Run(("trim", 0, 60, 15), ("align", 180, 240, 15), ("call", 360, 420, 15))),
    "the largest of ten samples second last": (
        {"idle_tail"}, Run(*samples(8, ("align", 100), width=4), ("align", 200, 700), ("align", 200, 300))),
    "one thread where four are allowed": ({"serial_task"}, Run(("sort", 0, 600), cores=128, allowed=4000)),
    "one thread for long at the end": ({"serial_task"}, Run(*samples(16, ("align", 300)), ("report", 300, 900))),
    "parallel with three jobs": (
        {"engine_limit"}, Run(*samples(60, ("gzip", 20), width=3), engine="parallel", jobs=3)),
    "xargs -P 4": ({"engine_limit"}, Run(*samples(40, ("align", 50), width=4), engine="xargs", jobs=4)),
    "snakemake --cores 1": (
        {"engine_limit", "serial_task"}, Run(*samples(12, ("align", 60), width=1), engine="snakemake", jobs=1)),
    "three failed attempts in a row": (
        {"failed_attempts"}, Run(*(("call", 100 * i, 100 * i + 100, 15, {"status": "failed", "retried_by_id": 1})
                                   for i in range(3)), ("call", 300, 400, 15))),
    "a killed run": ({"failed_run"}, Run(("align", 0, 3600, 15), status="killed")),
    "a hundred tasks that ask for too much": (
        {"memory_unused"}, Run(*((name, first, last, 1, {"memory_limit_bytes": 8 * GIB})
                                 for name, first, last in samples(96, ("align", 400), width=16)), engine="nextflow")),
    "gaps of a slow queue": (
        {"gaps_between_tasks"}, Run(*((f"step{i}", i * 300, i * 300 + 100, 15) for i in range(6)), engine="nextflow")),
    "a gap between ranks that each have cores of their own": (
        {"gaps_between_tasks"}, Run(*(("mpirun", begin, begin + 600, 14, {"core_limit_milli": 1000}) for begin in (0, 900)),
                                    allowed=1000)),
    "gaps that are short each": (
        {"gaps_between_tasks"}, Run(*((f"step{i}", i * 700, i * 700 + 600, 15) for i in range(4)), engine="nextflow")),
    "many waits for a disk": (
        {"storage_wait"}, Run(*(("sort", 0, 600, 0.5, {"block_io_delay_ns": 280 * S}) for _ in range(12)))),
    "two hosts that wait together": (
        {"gaps_between_tasks"}, Run(("trim", 0, 60, 15), ("align", 360, 420, 15),
                                    beside=Run(("call", 0, 70, 15), ("merge", 350, 420, 15)))),
    "one thread for long while two hosts wait": (
        {"serial_task"}, Run(("sort", 0, 600), ("align", 600, 700, 15), beside=Run(("call", 600, 700, 15)))),
    "two hosts, and the last task of both began late": (
        {"idle_tail", "serial_task"}, Run(*samples(12, ("align", 100), width=4),
                                          beside=Run(*samples(11, ("align", 100), width=4), ("align", 250, 900)))),
    "a contended host beside another one": (
        {"processor_contention"}, Run(*(("align", 0, 600, 1, {"run_delay_ns": 600 * S}) for _ in range(8)),
                                      beside=Run(("call", 0, 600, 15)), others=(("stress-ng", 8), ("cron", 0.1)))),
    "a task that sleeps on its memory": (
        {"memory_held"}, Run(("kernel", 0, 3600, 0.03, {"peak_rss_bytes": 4 * GIB}))),
    "a notebook that started a program and sleeps on its memory": (
        {"memory_held", "gaps_between_tasks"}, Run(("git", 0, 1), ("ls", 3599, 3600), driver=10, driver_bytes=4 * GIB)),
    "one slow loader of three": (
        {"uneven_workers"}, Run(("train.py", 0, 600, 1.4, {"workers": [550, 40, 40]}))),
    "a job that fails five times": (
        {"failed_attempts"}, Run(*(("job.py", 2 * i, 2 * i + 1.5, 1, {"status": "failed", "retried_by_id": 1}) for i in range(5)),
                                 cores=1)),
    "sixteen threads on four allowed cores": (
        {"too_many_threads"}, Run(("align", 0, 600, 4, {"run_delay_ns": 7200 * S, "pipe": [("align", 16)],
                                                        "core_limit_milli": 4000}), cores=64)),
    "sixteen threads in a quota of four cores": (
        {"too_many_threads"}, Run(("align", 0, 600, 4, {"run_delay_ns": 7200 * S, "throttled_ns": 450 * S, "pipe": [("align", 16)],
                                                        "core_limit_milli": 4000}), cores=64)),
    "two threads in a quota of one core": (
        {"throttled"}, Run(("xz", 0, 600, 1, {"run_delay_ns": 600 * S, "throttled_ns": 300 * S, "pipe": [("xz", 2)],
                                              "core_limit_milli": 1000}), cores=64)),
    "two threads in a quota of half a core": (
        {"throttled"}, Run(("sort", 0, 600, 0.5, {"run_delay_ns": 900 * S, "throttled_ns": 400 * S, "pipe": [("sort", 2, 0.5)],
                                                  "core_limit_milli": 500}), cores=64)),
    "two tasks bound to the same core": (
        {"processor_contention"}, Run(*((name, 0, 600, 0.5, {"run_delay_ns": 300 * S, "core_limit_milli": 1000})
                                        for name in ("align", "trim")), others=(("stress-ng", 8),))),
    "a pool of sixteen workers on four allowed cores": (
        {"too_many_threads"}, Run(("fit.py", 0, 600, 4, {"run_delay_ns": 7200 * S, "workers": [150] * 16, "threads": 4, "core_limit_milli": 4000}), cores=64)),
    "four hundred tasks of a second, and a moment before each": (
        {"short_tasks"}, Run(*(("step", 1.3 * i, 1.3 * i + 1, 15.5) for i in range(400)))),
    "half of the time waiting for a network filesystem": (
        {"network_filesystem_wait"}, Run(("sort", 0, 600, 8, {"block_io_delay_ns": 0, "memory_delay_ns": 0,
                                                              "uninterruptible_ns": 4800 * S}), ("align", 600, 700, 15))),
    "the same command again and again": (
        {"work_done_twice"}, Run(*(("sort", 60 * i, 60 * i + 60, 15.5, {"moved": (5 << 20, 5 << 20)}) for i in range(5)))),
    "half of the time waiting for a disk": (
        {"storage_wait"}, Run(("sort", 0, 600, 8, {"block_io_delay_ns": 600 * 8 * S}), ("align", 600, 700, 15))),
}


def print_of(run, *options, prices=None, change=None):
    with tempfile.TemporaryDirectory() as directory:
        store = Store(f"{directory}/tracer.db")
        run.write(store)
        if change:
            store.db.execute(change)
        store.db.commit()
        if prices:
            pathlib.Path(directory, "prices.csv").write_text(prices, encoding="ascii")
            options = [*options, "--prices", f"{directory}/prices.csv"]
        result = subprocess.run([TRACER, "tune", *options, "--store", store.path], capture_output=True, text=True, check=True)
        store.db.close()
        return result.stdout


def ask(run, prices=None):
    return json.loads(print_of(run, "--json", prices=prices))


class LabelledRuns(unittest.TestCase):
    def test_findings_are_the_expected(self):
        for name, (expected, run) in RUNS.items():
            with self.subTest(name):
                self.assertEqual({finding["finding"] for finding in ask(run)["findings"]}, expected)

    def test_the_documents_say_how_many(self):
        expected = [expected for expected, _ in RUNS.values()]
        figures = [len(RUNS), sum(not findings for findings in expected), sum(map(len, expected)), len(set.union(*expected))]
        text = (pathlib.Path(__file__).parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")
        found = re.search(r"check_tune.py` has (\d+) more runs.* (\d+)\sof\sthem\snone.* (\d+) findings of (\d+) kinds", text, re.DOTALL)
        self.assertEqual([int(figure) for figure in found.groups()], figures)
        self.assertGreaterEqual(2 * figures[1], len(RUNS))

    def test_the_program_that_took_the_processors_is_named(self):
        waiting = ("align", 0, 600, 1, {"run_delay_ns": 600 * S})
        for others, named in (((("stress-ng", 8), ("cron", 0.1)), "stress-ng"), ((("cron", 0.1),), "other work")):
            finding, = ask(Run(*[waiting] * 8, others=others))["findings"]
            self.assertRegex(finding["sentence"], rf"that {named} used \(.*\), while the run itself used at most")
            self.assertEqual(finding["advice"], "Give it processors of its own.")

    def test_no_other_program_is_named_where_tasks_of_the_run_may_share_a_processor(self):
        for finding in ask(RUNS["two tasks bound to the same core"][1])["findings"]:
            self.assertRegex(finding["sentence"], "processors that other work, perhaps of this run, used .*, while it used at most 50 % ")

    def test_the_throttled_time_of_a_shared_cgroup_is_counted_once(self):
        """Eight tasks with two processors, each with a quarter of one, want one each: six are missing for ten minutes."""
        task = ("align", 0, 600, 0.25, {"throttled_ns": 3600 * S, "run_delay_ns": 450 * S, "core_limit_milli": 2000})
        finding, = ask(Run(*[task] * 8, allowed=2000))["findings"]
        self.assertEqual(finding["finding"], "throttled")
        self.assertIn("8 × align stood still for 1h00m because of their CPU limit", finding["sentence"])

    def test_what_gpus_could_save_is_within_what_they_were_held(self):
        """Random tasks, one after another on their own devices, each with one process a device."""
        draw = random.Random(38)
        for number in range(12):
            tasks, idle, begin = [], {}, 0
            for step in range(draw.randint(1, 4)):
                wall, count = draw.choice((120, 700, 3600)), draw.choice((1, 1, 2, 8))
                shares = [round(draw.random() ** 2, 3) for _ in range(count)]
                figures = {"gpus": [(f"nvidia{i},nvidiactl", share, (int(draw.random() * 16 * GIB), 16 * GIB))
                                    for i, share in enumerate(shares)],
                           "block_io_delay_ns": int(draw.choice((0, 0, 0.5)) * wall * S)}
                tasks.append((f"step{step}", begin, begin + wall, draw.choice((0.05, 1, 4, 15.5)), figures))
                idle[f"step{step}"] = (wall, wall * (count - sum(shares)), wall * (1 - sum(shares) / count))
                begin += wall
            for finding in ask(Run(*tasks))["findings"]:
                if finding["finding"] in ("gpu_starved", "gpu_unused", "gpu_bound", "gpu_oversized"):
                    wall, held_idle, mean_idle = idle[finding["subject"]]
                    most = wall - mean_idle if finding["finding"] == "gpu_bound" else mean_idle
                    self.assertLessEqual(finding["saved_wall_high_ns"], (most + 0.01) * S, (number, finding))
                    self.assertLessEqual(finding["saved_gpu_ns"], (held_idle + 0.01) * S, (number, finding))
                    self.assertEqual(finding["saved_wall_low_ns"], 0)

    def test_gpu_hours_have_a_price(self):
        """16 cores weigh 144, 16 GiB 16 and a GPU 90: 90 of the 250 USD an hour."""
        finding, = ask(RUNS["a notebook that holds a GPU"][1], "AssetClass,MarketPriceHourly,Currency\nnode,250,USD\n")["findings"]
        self.assertEqual((finding["saved_gpu_ns"], finding["saved_micros_high"]), (7200 * S, 180_000_000))

    def test_amounts_have_no_exponent(self):
        """Of 250 USD an hour 90 are the GPU's, for two hours."""
        notebook = RUNS["a notebook that holds a GPU"][1]
        for price, amount in (("250", "180"), ("2500", "1800"), ("0.00005", "0.000036")):
            text = print_of(notebook, prices=f"AssetClass,MarketPriceHourly,Currency\nnode,{price},USD\n")
            self.assertIn(f"saves up to 2.0 GPU-hours, USD {amount}\n", text)
        self.assertIn("saves up to 1920 GiB-hours, ", print_of(Run(("kernel", 0, 3600, 0.04, {"peak_rss_bytes": 2000 * GIB}))))

    def test_the_path_follows_the_files_that_command_lines_name(self):
        """An engine that looks every 60 s: two steps ended before the third began, and it reads what the first to end wrote."""
        def tasks(files):
            return (("trim", 0, 130, 1, {"files": ["/work/1/s1.fq", "genome.fa", files]}),
                    ("stats", 0, 170, 1, {"files": ["/work/2/s2.fq", "genome.fa", "s2.txt"]}),
                    ("align", 180, 600, 15, {"files": ["genome.fa", "-o=s1.bam", "/work/3/s1.trimmed.fq"]}))

        for files, step, unsure in (("s1.trimmed.fq", "trim", 0), ("other.fq", "stats", 0), ("", "stats", 0)):
            answer = json.loads(print_of(Run(*tasks(files), engine="nextflow"), "--json"))
            on_path = {name["name"] for name in answer["names"] if name["path_ns"] > 0}
            self.assertEqual((on_path, answer["path_unsure_count"]), ({step, "align"}, unsure), files)

    def test_a_run_that_took_no_time_has_no_path(self):
        """A clock jumped: the run ended when it began, or before. Its tasks did not."""
        files = {"files": ["/work/1/s1.fq"]}
        for end in ("begin_boot_ns", "begin_boot_ns - 1000000000"):
            answer = json.loads(print_of(Run(("trim", 0, 130, 1, files), ("align", 180, 600, 15, files), engine="nextflow"), "--json",
                                         change=f"UPDATE runs SET end_boot_ns = {end}"))
            self.assertEqual((answer["path_task_count"], answer["wall"]["wall_ns"]), (0, 0), end)

    def test_one_thing_is_not_counted(self):
        for name, sentence in (
                ("a quota of half of what is needed", "align stood still for 15m00s because of their CPU limit (the quota of their "
                 "cgroup): 43 % of their active time"),
                ("a sleep of minutes in a script", "no task ran for 5m00s: after trim, until align began"),
                ("two sleeps in a script", "no task ran for 4m00s: in several gaps, the longest after trim, until align began"),
                ("one slow loader of three", "train.py waited 1 time for the slowest of 3 workers (python3), which computed for "
                 "9m10s; the mean is 3m30s"),
                ("a run that failed after hours of work", "run failed after 2h01m; 2 of 2 tasks had succeeded, with 1d06h of CPU time"),
                ("a killed run", "run failed after 1h00m; 1 of 1 task had succeeded, with 15h00m of CPU time")):
            finding, = ask(RUNS[name][1])["findings"]
            self.assertEqual(finding["sentence"], sentence)

    def test_a_sleep_at_an_end_of_a_script_is_one_between_tasks(self):
        for change, place in (("", "until trim began"), ("UPDATE runs SET end_boot_ns = end_boot_ns + 400000000000",
                                                         "in several gaps, the longest after align, until the end")):
            text = print_of(RUNS["a sleep of minutes before the first task of a script"][1], change=change)
            self.assertIn(f": {place}\n", text)

    def test_what_is_too_many_is_said(self):
        for name, sentence, advice in (
                ("sixteen threads on four allowed cores", "align ran up to 16 threads on 4 processors", "Start it with 4 of them (-t"),
                ("a pool of sixteen workers on four allowed cores", "fit.py ran up to 16 processes on 4 processors",
                 "Start it with 4 of them (--workers")):
            finding, = ask(RUNS[name][1])["findings"]
            self.assertIn(f"{sentence}: they waited 2h00m for each other", finding["sentence"])
            self.assertIn(advice, finding["advice"])

    def test_a_failed_run_is_resumed_as_its_engine_can(self):
        for engine, advice in (("nextflow", "with -resume"), ("make", "Run it again: "), (None, "Let it leave out what is done")):
            finding, = ask(Run(("align", 0, 3600, 15), status="failed", engine=engine))["findings"]
            self.assertIn(advice, finding["advice"])

    def test_a_run_that_left_a_process_behind_has_not_just_begun(self):
        for status, sentence in (("running", "The run has not ended"), ("succeeded", "Its first process has ended, but what it started still runs")):
            self.assertIn(f"\n{sentence}: this is how it looks so far.\n",
                          print_of(Run(("align", 0, 60), status=status), change="UPDATE runs SET end_boot_ns = NULL"))

    def test_a_script_that_computes_is_no_engine(self):
        for driver, waiting, name in ((50, 0, "script"), (5, 0, "engine"), (5, 45, "script")):
            text = print_of(Run(("ls", 50, 51), ("plot", 61, 62), driver=driver),
                            change=f"UPDATE tasks SET run_delay_ns = {waiting * S} WHERE kind = 'main'")
            self.assertRegex(text, rf"\n  {name} +50.0 s")


class Prices(unittest.TestCase):
    """What is saved on a run of two hosts, of which each has its price."""

    HEAD = "AssetClass,MarketPriceHourly,InstanceID,InstanceIDField,Currency\n"

    def saved(self, rows):
        """Micros that the wall time of the first finding costs an hour, and the whole answer."""
        answer = ask(RUNS["two hosts that wait together"][1], self.HEAD + rows)
        finding = answer["findings"][0]
        micros = finding["saved_micros_high"]
        return micros and round(micros * 3600 * S / finding["saved_wall_high_ns"]), answer

    def test_each_host_has_its_price(self):
        hour, answer = self.saved("node,1,host,hostname,USD\nnode,5,other,hostname,USD\n")
        self.assertAlmostEqual(hour, 6000000, delta=100)
        self.assertEqual(answer["default_price_count"], 0)


if __name__ == "__main__" and "--print" in sys.argv:
    for label, (wanted, each) in RUNS.items():
        found = {finding["finding"]: finding["sentence"] for finding in ask(each)["findings"]}
        print("ok" if set(found) == wanted else "WRONG", label, wanted, found)
elif __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
