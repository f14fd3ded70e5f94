#!/usr/bin/env python3
"""tracer sweep on stores with known content: each finding is found where it was planted, and not in its clean twin;
labelled histories of hosts, idle and at work: precision and recall of the finding host_idle.

usage: check_sweep.py TRACER MAKE_STORE [--print | --store FILE]

With --print, prints the table of docs/sweep.md. With --store, writes a store in which every finding is found,
instead of testing.
"""
import csv
import io
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TRACER, MAKE_STORE = sys.argv[1:3]
S, MIB, GIB = 10**9, 2**20, 2**30
MINUTE, HOUR = 60, 3600
NOW = time.time_ns() // S * S - 20 * S
CORES, MEMORY = 4, 16 * GIB
TABLES = ("hosts", "runs", "tasks", "tools", "process_rows", "images", "samples", "host_samples", "incidents",
          "containers", "losses", "states")


class Store:
    """An empty store, and rows in it; times are seconds before now."""

    def __init__(self, path):
        self.path, self.ids = path, 0
        subprocess.run([MAKE_STORE, path], check=True)
        self.db = sqlite3.connect(path)
        for table in TABLES:
            self.db.execute(f"DELETE FROM {table}")
        self.columns = {table: self.db.execute(f"PRAGMA table_info({table})").fetchall() for table in TABLES}

    def add(self, table, **row):
        self.ids += 1
        row.setdefault("rev", self.ids)
        if "process_id" not in row or table == "incidents":
            row.setdefault("id", self.ids)
        known = {name for _, name, *_ in self.columns[table]}
        for _, name, kind, needed, *_ in self.columns[table]:
            if needed and name not in row:
                row[name] = "" if kind == "TEXT" else 0
        row = {name: value for name, value in row.items() if name in known}
        self.db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()])
        return row.get("id")

    def sweep(self, *arguments, status=0):
        self.db.commit()
        result = subprocess.run([TRACER, "sweep", "--store", self.path, "--limit", "0", *arguments], check=False,
                                capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert result.returncode == status, result.stderr
        return result

    def found(self, *arguments):
        return json.loads(self.sweep("--json", *arguments).stdout)["findings"]

    def cost(self, *arguments):
        """The bill by host, which the owners of its hours must add up to."""
        self.db.commit()
        return json.loads(subprocess.run([TRACER, "cost", "--store", self.path, "--by", "host", "--json", *arguments],
                                         check=True, capture_output=True, text=True).stdout)


class Host:
    """A host that was watched from `seen` seconds ago until `last` seconds ago."""

    def __init__(self, store, name, seen=3 * HOUR, last=0, cpu_count=CORES, memory=MEMORY, boot=40 * 86400, **row):
        self.store, self.seen, self.last, self.boot = store, seen, last, NOW - boot * S
        self.cpu_count, self.memory = cpu_count, memory
        self.worked = seen  # when the latest work ended, in seconds ago
        self.id = store.add("hosts", host_key=name, hostname=name, cpu_count=cpu_count, memory_bytes=memory,
                            boot_unix_ns=self.boot, first_seen_unix_ns=NOW - seen * S,
                            last_seen_unix_ns=NOW - last * S, **row)

    def times(self, begin, end):
        """The columns that say when: from and to, in seconds ago; `end` None: it still runs."""
        return {"begin_boot_ns": NOW - int(begin * S) - self.boot, "started_unix_ns": NOW - int(begin * S),
                "end_boot_ns": None if end is None else NOW - int(end * S) - self.boot}

    def load(self, cores=0.01, io=0, used=2 * GIB, cache=GIB, step=10, but=()):
        """Samples of the host: `cores` and `io` (bytes a second) are numbers or functions of seconds ago; none in the
        spans `but`."""
        busy = moved = 0
        for ago in range(self.seen, self.last - 1, -step):
            busy += int((cores(ago) if callable(cores) else cores) * step * S)
            moved += int((io(ago) if callable(io) else io) * step)
            if any(begin >= ago > end for begin, end in but):
                continue
            self.store.add("host_samples", host_id=self.id, unix_ns=NOW - ago * S, boot_ns=NOW - ago * S - self.boot,
                           cpu_user_ns=busy, cpu_system_ns=0, disk_read_bytes=0, disk_write_bytes=moved,
                           network_received_bytes=0, network_sent_bytes=0,
                           memory_available_bytes=self.memory - (used(ago) if callable(used) else used),
                           memory_cache_bytes=cache,
                           memory_free_bytes=self.memory - cache - (used(ago) if callable(used) else used))
        return self

    def watch(self, *spans):
        """Its own services ran in these times: it was watched."""
        for begin, end in spans or [(self.seen, None)]:
            self.run(begin, end, kind="system", name="system")

    def run(self, begin, end=None, kind="command", status="succeeded", cpu_s=10, memory=GIB, root_end=None,
            name="work.sh", origin=None):
        """A run of one task. Returns (run, task, tool)."""
        times, living = self.times(begin, end), int(end is None)
        if kind not in ("system", "host-service"):
            self.worked = min(self.worked, self.seen if end is None else end)
        status = "running" if end is None else status
        figures = {"process_count": 1, "living_count": living, "cpu_ns": int(cpu_s * S), "host_id": self.id,
                   "peak_rss_bytes": memory, "concurrent_memory_bytes": memory}
        run = self.store.add("runs", kind=kind, name=name, status=status, origin_process_id=origin,
                             root_end_boot_ns=None if root_end is None else self.times(root_end, None)["begin_boot_ns"],
                             **times, **figures)
        task = self.store.add("tasks", run_id=run, kind="main", name=name, status=status, **times, **figures)
        tool = self.store.add("tools", run_id=run, task_id=task, name=name, role="tool", **times, **figures)
        return run, task, tool

    def process(self, tool, begin, end=None, program="tool", role="tool", cpu_s=1, memory=GIB, arguments=b"tool\0x\0",
                exit_code=0, rule=None):
        image = self.store.add("images", role=role, program=program, rule=rule, rev=None)
        if end is not None: # the run of a process that runs has counted it
            self.store.db.execute("UPDATE runs SET process_count = process_count + 1"
                                  " WHERE id = (SELECT run_id FROM tools WHERE id = ?)", (tool,))
        return self.store.add("process_rows", image_id=image, tool_id=tool, pid=100, began="exec", totals="final",
                              ended=None if end is None else "exit", exit_code=None if end is None else exit_code,
                              cpu_ns=int(cpu_s * S), peak_rss_bytes=memory, arguments=arguments,
                              working_directory="/data", user_id=1000, **self.times(begin, end))

    def sampled(self, process, begin, end, cores=0, io=0, step=300, **row):
        """Samples of a process, with constant use."""
        for ago in range(begin, end - 1, -step):
            self.store.add("samples", process_id=process, boot_ns=NOW - ago * S - self.boot,
                           cpu_ns=int((begin - ago) * cores * S), read_bytes=int((begin - ago) * io), write_bytes=0,
                           rss_anon_bytes=GIB, rss_shmem_bytes=0, **row)


# ---- labelled histories ------------------------------------------------------------------------

def working(host, cores=0, io=0, kind="command", begin=170 * MINUTE, step=300):
    """Running work with a process of such use; the host's own samples show it too."""
    _, _, tool = host.run(begin, kind=kind)
    process = host.process(tool, begin)
    host.sampled(process, begin, 0, cores, io, step)
    host.load(cores=cores + 0.01, io=io)


def every(host, period, length, cores=1.0, last=0):
    """A run every `period` seconds, `length` long, which uses `cores`; the latest ended `last` seconds ago."""
    spans = [(ago, ago - length) for ago in range(last + length, host.seen - MINUTE, period)]
    for begin, end in spans:
        host.process(host.run(begin, end, cpu_s=cores * length)[2], begin, end)
    host.load(cores=lambda ago: 0.01 + sum(cores for begin, end in spans if begin >= ago > end))


def inside(host, period, last=0):
    """One run that lasts, with a short process every `period` seconds."""
    _, _, tool = host.run(170 * MINUTE)
    host.sampled(host.process(tool, 170 * MINUTE, program="bash", role="shell"), 170 * MINUTE, 0)
    for ago in range(170 * MINUTE, last, -period):
        host.process(tool, ago, ago - 1)
    host.load()


def then_idle(host, ended=HOUR):
    host.process(host.run(ended + 600, ended)[2], ended + 600, ended)
    host.load(cores=lambda ago: 2.0 if ended + 600 >= ago > ended else 0.01)


def session(host):
    system = host.run(host.seen, kind="system", name="system")
    host.process(system[2], 100 * MINUTE, program="bash", role="origin")
    host.load()


def own(host, name, kind, cores):
    """Only the agent, or services of the distribution."""
    process = host.process(host.run(host.seen, kind=kind, name=name)[2], host.seen, program=name)
    host.sampled(process, host.seen, 0, cores, 100)
    host.load(cores=cores, io=2000)


def agent(host, cores=0.005, io=1000, scripts=0, begin=30 * 86400, then=then_idle):
    """A service that no rule knows, open since before the job, which starts `scripts` a minute."""
    run, task, tool = host.run(begin, kind="service", name="site-agent.service", cpu_s=begin * cores)
    for table, row in ("runs", run), ("tasks", task):
        host.store.db.execute(f"UPDATE {table} SET sent_bytes = ? WHERE id = ?", (int(begin * io), row))
    host.sampled(host.process(tool, begin, program="site-agent"), host.seen, 0, cores, io, step=60)
    for ago in range(host.seen, 0, -60):
        for _ in range(scripts):
            host.process(tool, ago, ago - 0.1, program="check.sh", cpu_s=0.05)
    then(host)


# (what it is, whether it is idle, how to make it); the label is what happens, not what a rule can see
HISTORIES = [
    ("nothing ran", True, lambda h: h.load()),
    ("the agent alone", True, lambda h: own(h, "tracer-probe", "host-service", 0.02)),
    ("services of the distribution, 5 % of a core", True, lambda h: own(h, "cron", "host-service", 0.05)),
    ("services of the distribution, 15 % of a core", True, lambda h: own(h, "snapd", "host-service", 0.15)),
    ("services of the distribution, 40 % of a core", True, lambda h: own(h, "updatedb", "host-service", 0.4)),
    ("a run that ended an hour ago", True, then_idle),
    ("a run that ended 20 minutes ago", True, lambda h: then_idle(h, 20 * MINUTE)),
    ("an open login session", True, session),
    ("work that sleeps and holds memory", True, lambda h: working(h)),
    ("work that uses 0.5 % of a core", True, lambda h: working(h, cores=0.005)),
    ("bursts each hour, the latest 50 minutes ago", True, lambda h: every(h, HOUR, 300, last=50 * MINUTE)),
    ("short processes, the latest 30 minutes ago", True, lambda h: inside(h, 600, last=30 * MINUTE)),
    ("half of the samples missing", True, lambda h: h.load(but=[(150 * MINUTE, 60 * MINUTE)])),
    ("no samples of the host at all", True, lambda h: None),
    ("one core at work", False, lambda h: working(h, cores=1.0)),
    ("all cores at work", False, lambda h: working(h, cores=4.0)),
    ("work that uses 3 % of a core", False, lambda h: working(h, cores=0.03)),
    ("work that only reads, 50 KB/s", False, lambda h: working(h, io=50_000)),
    ("work that only reads, 100 bytes a second", False, lambda h: working(h, io=100)),
    ("a service that answers now and then", True, lambda h: working(h, cores=0.002, io=20, kind="service")),
    ("an agent no rule knows, scraped: 0.5 % of a core, 1 KB/s", True, agent),
    ("an agent no rule knows that starts a script each minute", True, lambda h: agent(h, scripts=1)),
    ("a service at work: 10 % of a core", False, lambda h: agent(h, cores=0.1)),
    ("a service at work: 5 % of a core", False, lambda h: agent(h, cores=0.05, io=0)),
    ("a service at work: 10 KB/s", False, lambda h: agent(h, io=10_000)),
    ("a service that starts 60 scripts a minute", False, lambda h: agent(h, scripts=60)),
    ("a service that began 5 minutes ago", False, lambda h: agent(h, begin=300, then=lambda h: h.load())),
    ("a run of 5 minutes every 20", False, lambda h: every(h, 20 * MINUTE, 300, last=14 * MINUTE)),
    ("one short run each 10 minutes", False, lambda h: every(h, 600, 2, last=590)),
    ("one short process each 10 minutes of a run", False, lambda h: inside(h, 600)),
    ("bursts each hour, in one now", False, lambda h: every(h, HOUR, 300)),
    ("a run that ended 5 minutes ago", False, lambda h: then_idle(h, 300)),
    ("a run that began 5 minutes ago and sleeps", False, lambda h: working(h, begin=300)),
    ("work from before the probe, kind found", False, lambda h: working(h, cores=0.5, kind="found")),
    ("a container at work", False, lambda h: working(h, cores=0.2, kind="container")),
    ("a cron job each 10 minutes", False, lambda h: every(h, 600, 20, last=570)),
    ("an NFS server: kernel threads that send and write", False, lambda h: h.load(cores=0.1, io=10 * MIB)),
    ("unknown work in the system's own run, 1 core", False, lambda h: own(h, "unknown", "system", 1.0)),
]


# ---- planted, and clean twins ------------------------------------------------------------------

DAYS = 2 * 86400
LONG = {"seen": DAYS, "boot": 40 * 86400}


def leave_behind(host, begin=5 * HOUR, worked=4 * HOUR, cores=0, io=0):
    """A run whose first process ended 4 hours ago; another worked until `worked` seconds ago, and does this since."""
    _, _, tool = host.run(begin, None, root_end=4 * HOUR, name="nextflow run -bg")
    work = begin - worked
    process = host.process(tool, begin, cpu_s=work + worked * cores, program="java")
    host.sampled(process, begin, worked, cores=1.0)
    host.store.add("samples", process_id=process, boot_ns=NOW - host.boot, cpu_ns=int((work + worked * cores) * S),
                   read_bytes=0, write_bytes=int(worked * io), rss_anon_bytes=GIB, rss_shmem_bytes=0)
    return tool


def leave_open(host):
    shell = host.process(host.run(DAYS, kind="system")[2], 20 * HOUR, program="bash", role="origin")
    host.run(15 * HOUR, 12 * HOUR, origin=shell)


def stall(host, moved=None, ended=None):
    run, task, tool = host.run(5 * HOUR, ended, memory=3 * GIB)
    times = host.times(2 * HOUR, moved)
    host.store.add("incidents", host_id=host.id, run_id=run, task_id=task, process_id=host.process(tool, 5 * HOUR),
                   kind="stuck", boot_ns=times["begin_boot_ns"], end_boot_ns=times["end_boot_ns"],
                   unix_ns=times["started_unix_ns"], sentence="no progress")


def hold_zombies(host, since=2 * HOUR, reaped=None):
    run, task, tool = host.run(5 * HOUR)
    times = host.times(since, reaped)
    host.store.add("incidents", host_id=host.id, run_id=run, task_id=task, process_id=host.process(tool, 5 * HOUR),
                   kind="zombies", boot_ns=times["begin_boot_ns"], end_boot_ns=times["end_boot_ns"],
                   unix_ns=times["started_unix_ns"], sentence="node (pid 7) has not reaped 132 children that ended")


def hold_gpu(host, used=3 * HOUR, freed=None, busy=3600, ended=None):
    """A process of ten hours that used a GPU until `used` seconds ago and then holds 2 GiB there, until `freed`."""
    process = host.process(host.run(10 * HOUR, ended)[2], 10 * HOUR, ended, program="python3")
    host.store.db.execute("UPDATE process_rows SET gpu = 'nvidia0', gpu_busy_ns = ?, gpu_peak_bytes = ? WHERE id = ?",
                          (busy and busy * S, 2 * GIB, process))
    for ago, done in (10 * HOUR, 0), (used + HOUR, busy and busy // 2), (used, busy), (600, busy):
        host.store.add("samples", process_id=process, boot_ns=NOW - ago * S - host.boot, cpu_ns=0,
                       gpu_busy_ns=done and done * S,
                       gpu_memory_bytes=2 * GIB if freed is None or ago > freed else None)


def everything(path):
    """A store for the tests of the lake."""
    store = Store(path)
    for number, (_, _, make) in enumerate(HISTORIES):
        make(Host(store, f"host-{number:02}"))
    for number in range(2):
        Host(store, f"large-{number}", cpu_count=8 - 4 * number, memory=(32 - 16 * number) * GIB,
             cloud_instance_type=f"type-{number}", **LONG).load(step=60)
    Host(store, "silent", seen=DAYS, last=2 * HOUR).run(5 * HOUR)
    for make in (leave_behind, leave_open, stall, hold_zombies, hold_gpu):
        make(Host(store, make.__name__, seen=DAYS, gpus="nvidia0,nvidia1" if make == hold_gpu else None))
    host = Host(store, "work", seen=DAYS)
    for begin in (9 * HOUR, 6 * HOUR):
        host.run(begin, begin - HOUR, status="failed")
        host.process(host.run(begin, begin - HOUR)[2], begin, begin - HOUR, cpu_s=1000)
    host.load(step=60)
    store.db.execute("UPDATE stream SET rev = ?", (store.ids + 1,))
    store.db.commit()
    store.db.close()


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.store = Store(os.path.join(self.directory, "tracer.db"))
        self.addCleanup(lambda: self.store.db.close())

    def list(self, *rows, columns="AssetClass,InstanceID,InstanceIDField,MarketPriceHourly,EndTimestamp,Currency"):
        """A list of prices, as options."""
        path = pathlib.Path(self.directory, "prices.csv")
        path.write_text("\n".join([columns, *rows]) + "\n")
        return "--prices", path


class Planted(Case):
    def only(self, finding, hostname):
        """The one finding of that name, which must be about this host."""
        found = [each for each in self.store.found() if each["finding"] == finding]
        self.assertEqual([each["hostname"] for each in found], [hostname])
        return found[0]

    def test_idle_host_costs_all_of_it(self):
        then_idle(Host(self.store, "planted"))
        working(Host(self.store, "clean"), cores=1.0)
        found = self.only("host_idle", "planted")
        self.assertTrue(found["is_now"])
        self.assertEqual(found["run"], "work.sh")
        hour = CORES * 31611 + 16 * 4237  # OpenCost's defaults, in micros
        self.assertAlmostEqual(found["cost_per_hour_micros"], hour, delta=2)
        seconds = (found["until_unix_ns"] - found["since_unix_ns"]) / S
        self.assertAlmostEqual(found["cost_micros"], hour * seconds / HOUR, delta=2)

    def test_the_price_changes_in_the_middle(self):
        then_idle(Host(self.store, "planted"))
        since = self.only("host_idle", "planted")["since_unix_ns"]
        middle = NOW - HOUR // 2 * S
        until = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(middle // S))
        prices = self.list(f"node,planted,hostname,1.0,{until},", "node,planted,hostname,3.0,,")
        found = [each for each in self.store.found(*prices) if each["finding"] == "host_idle"][0]
        expected = ((middle - since) * 1.0 + (NOW - middle) * 3.0) / HOUR / S
        self.assertAlmostEqual(found["cost_micros"] / 1e6, expected, places=4)
        self.assertEqual(found["cost_per_hour_micros"], 3_000_000)
        self.assertEqual(found["price_basis"], "node")

    def test_underused(self):
        Host(self.store, "planted", **LONG).load(cores=0.01, step=60)
        Host(self.store, "clean", **LONG).load(cores=lambda ago: 1.0 if ago % 6000 < 300 else 0.01, step=60)
        Host(self.store, "busy", **LONG).load(cores=0.05, step=60)
        worked = Host(self.store, "worked", **LONG).load(cores=0.01, step=60)
        worked.run(HOUR, HOUR - 5)
        self.assertAlmostEqual(self.only("host_underused", "planted")["cpu_ns"] / S, CORES * DAYS, delta=CORES * 400)

    def test_underused_beside_an_agent(self):
        agent(Host(self.store, "planted", **LONG), then=lambda host: host.load(step=60, cores=lambda ago:
              1.0 if ago % 20000 < 60 else 0.01))
        self.only("host_underused", "planted")

    def test_underused_ignores_disk_but_not_network(self):
        Host(self.store, "planted", **LONG).load(cores=0.01, step=60)
        chatty = Host(self.store, "clean", **LONG).load(cores=0.01, step=60)
        self.store.db.execute("UPDATE host_samples SET network_sent_bytes = (unix_ns - ?) / 1000000000 * 5000"
                              " WHERE host_id = ?", (NOW - DAYS * S, chatty.id))
        self.only("host_underused", "planted")

    def test_gaps_after_runs(self):
        planted = Host(self.store, "planted", seen=10 * HOUR)
        planted.run(9 * HOUR, 8 * HOUR)
        planted.run(4 * HOUR, 3 * HOUR)
        planted.run(2 * HOUR, 0)
        planted.load(cores=0.1)
        clean = Host(self.store, "clean", seen=10 * HOUR)
        clean.run(9 * HOUR, 5 * HOUR)
        clean.run(5 * HOUR - 300, 0)
        clean.load(cores=0.1)
        busy = Host(self.store, "busy", seen=10 * HOUR)  # with what is not known as work
        busy.run(9 * HOUR, 8 * HOUR)
        busy.run(2 * HOUR, 0)
        busy.load(cores=1.0)
        for host in (planted, clean, busy):
            host.watch()
        off = Host(self.store, "off", seen=10 * HOUR)
        off.watch((10 * HOUR, 8 * HOUR), (2 * HOUR, None))
        off.run(9 * HOUR, 8 * HOUR)
        off.run(2 * HOUR, 0)
        self.check_gaps(self.only("host_gaps", "planted"))

    def test_gaps_and_idle_time_beside_an_agent(self):
        planted = Host(self.store, "planted", seen=10 * HOUR)
        planted.run(9 * HOUR, 8 * HOUR)
        planted.run(4 * HOUR, 3 * HOUR)
        planted.run(2 * HOUR, 0)
        agent(planted, then=lambda host: host.load())
        served = Host(self.store, "served", seen=10 * HOUR)
        served.run(9 * HOUR, 8 * HOUR)
        agent(served, cores=0.1, then=lambda host: host.load(cores=0.1))
        once = Host(self.store, "once", seen=10 * HOUR)  # waits on average, but worked in the gap
        once.run(10 * HOUR, 8 * HOUR)
        once.run(HOUR, 0)
        agent(once, then=lambda host: host.load(cores=lambda ago: 1.0 if 8 * HOUR > ago > HOUR else 0.01))
        for host in (planted, served, once):
            host.watch()
        self.check_gaps(self.only("host_gaps", "planted"))

    def check_gaps(self, found):
        # 1 h before the first run, then 4 h and 1 h, each less the grace of ten minutes
        self.assertEqual(found["cpu_ns"], CORES * (6 * HOUR - 2 * 600) * S)
        self.assertIn("in all, the last time after work.sh", found["sentence"])
        self.assertFalse(found["is_now"])

    def test_cores_and_memory_never_used(self):
        Host(self.store, "planted", **LONG).load(cores=lambda ago: 1.5 if ago < 600 else 0.5, used=2 * GIB, step=60)
        Host(self.store, "clean", **LONG).load(cores=lambda ago: 3.9 if ago < 600 else 0.5, step=60,
                                               used=lambda ago: 13 * GIB if ago < 600 else 2 * GIB)
        Host(self.store, "short", seen=HOUR).load(cores=0.5, step=60)
        Host(self.store, "cached", **LONG).load(cores=3.9, cache=12 * GIB, step=60)
        Host(self.store, "wide", cpu_count=64, **LONG).load(cores=62.8, used=13 * GIB, step=60)
        self.assertEqual(self.only("host_cores_unused", "planted")["sentence"].split()[:3], ["2", "of", "4"])
        found = self.only("host_memory_unused", "planted")
        self.assertAlmostEqual(found["memory_byte_seconds"] / GIB, 13 * DAYS, delta=14 * 200)
        self.assertIn("13.0 GiB of 16.0 GiB", found["sentence"])
        self.assertIn("needed at most 2.00 GiB", found["sentence"])
        self.assertIn("filled up to 1.00 GiB", found["sentence"])

    def test_oversized(self):
        Host(self.store, "planted", cloud_instance_type="m.xlarge", **LONG).load(cores=1.5, used=3 * GIB, step=60)
        Host(self.store, "clean", cloud_instance_type="m.xlarge", **LONG).load(
            cores=lambda ago: 2.8 if ago < 61 else 0.5, used=3 * GIB, step=60)  # one minute does not fit with headroom
        Host(self.store, "middle", cpu_count=3, memory=12 * GIB, cloud_instance_type="m.middle", **LONG).load(
            cores=2.5, used=11 * GIB, step=60)
        Host(self.store, "large", cpu_count=2, memory=8 * GIB, cloud_instance_type="m.large", **LONG).load(
            cores=1.5, used=7 * GIB, step=60)
        Host(self.store, "tiny", cpu_count=1, memory=2 * GIB, cloud_instance_type="m.small", **LONG).load(
            cores=1, used=GIB, step=60)
        found = self.only("host_oversized", "planted")
        self.assertTrue(found["advice"].startswith("m.large"), found["advice"])
        self.assertAlmostEqual(found["cpu_ns"] / S, 2 * DAYS, delta=2 * 200)

    def test_oversized_compares_like_with_like(self):
        for name, row in ("arm", {"machine": "aarch64"}), ("with-gpu", {"machine": "x86_64"}):
            host = Host(self.store, name, cpu_count=2, memory=8 * GIB, cloud_instance_type=name, **row, **LONG)
            host.load(cores=1.9, used=7 * GIB, step=60)
        training = Host(self.store, "training", cloud_instance_type="gpu.xlarge", machine="x86_64", **LONG)
        Host(self.store, "planted", cloud_instance_type="m.xlarge", machine="x86_64", **LONG).load(
            cores=1.5, used=3 * GIB, step=60)
        for each in (host, training):
            process = each.process(each.run(DAYS)[2], DAYS)
            self.store.db.execute("UPDATE process_rows SET gpu = 'nvidia0' WHERE id = ?", (process,))
        self.assertNotIn("host_oversized", [each["finding"] for each in self.store.found()])
        Host(self.store, "large", cpu_count=2, memory=8 * GIB, cloud_instance_type="m.large", machine="x86_64",
             **LONG).load(cores=1.9, used=7 * GIB, step=60)
        for price, saved in ("0.7", 0.3), ("1.0", None), ("1.2", None):
            prices = self.list("node,m.xlarge,1.0", f"node,m.large,{price}", columns="AssetClass,InstanceType,MarketPriceHourly")
            found = [each for each in self.store.found(*prices) if each["finding"] == "host_oversized"]
            self.assertEqual([each["hostname"] for each in found], ["planted"] if saved else [], price)
            if saved:
                self.assertAlmostEqual(found[0]["cost_per_hour_micros"], saved * 1e6, delta=2)
                self.assertAlmostEqual(found[0]["cost_micros"] / 1e6, saved * DAYS / HOUR, delta=0.1)

    def test_silent(self):
        Host(self.store, "planted", seen=DAYS, last=2 * HOUR).run(5 * HOUR)
        Host(self.store, "clean", seen=DAYS, last=60).run(5 * HOUR)
        Host(self.store, "scaled-down", seen=DAYS, last=2 * HOUR).run(5 * HOUR, 3 * HOUR)
        agent(Host(self.store, "scaled-down-with-agent", seen=DAYS, last=2 * HOUR))
        Host(self.store, "reclaimed", seen=DAYS, last=2 * HOUR, cloud_lifecycle="spot").run(5 * HOUR)
        found = self.only("host_silent", "planted")
        self.assertIsNone(found["cost_micros"])
        self.assertFalse(found["is_now"])

    def test_open_session(self):
        leave_open(Host(self.store, "planted", seen=DAYS))
        clean = Host(self.store, "clean", seen=DAYS)
        busy = clean.process(clean.run(DAYS, kind="system")[2], 20 * HOUR, program="bash", role="origin")
        clean.run(15 * HOUR, None, origin=busy)  # a command that still runs
        recent = clean.process(clean.run(DAYS, kind="system")[2], 20 * HOUR, program="zsh", role="origin")
        clean.run(3 * HOUR, 2 * HOUR, origin=recent)
        found = self.only("session_open", "planted")
        self.assertAlmostEqual((NOW - found["since_unix_ns"]) / S, 12 * HOUR, delta=1)
        self.assertAlmostEqual(found["memory_byte_seconds"] / GIB, 12 * HOUR, delta=2)

    def test_open_notebooks_hold_their_allocation(self):
        planted = Host(self.store, "planted", seen=DAYS)
        shell = planted.process(planted.run(DAYS, kind="system")[2], 20 * HOUR, program="bash", role="origin")
        job, _, _ = planted.run(15 * HOUR, 12 * HOUR, origin=shell)  # salloc --mem 8G
        for begin, cores in (20 * HOUR, 0.002), (19 * HOUR, 0.05):  # the second computes now
            kernel, _, tool = planted.run(begin, name="python kernel 3f2a9c1b", memory=3 * GIB)
            process = planted.process(tool, begin, program="python3")
            planted.sampled(process, begin, 0, cores)
            self.store.db.execute("UPDATE runs SET root_process_id = ? WHERE id = ?", (process, kernel))
        _, _, tool = planted.run(DAYS, kind="batch", name="jupyter-lab")
        for begin in (18 * HOUR, 17 * HOUR):
            server = planted.process(tool, begin, program="python3", role="origin", rule="notebook-server")
        planted.run(10 * HOUR, origin=server)  # a kernel, in use or not
        planted.process(planted.run(DAYS, kind="service", name="jupyterhub")[2], DAYS, role="origin",
                        rule="notebook-server")
        self.store.db.execute("UPDATE runs SET run_key = 'slurm:1', memory_limit_bytes = ? WHERE id = ?",
                              (8 * GIB, job))
        found = {each["sentence"].split(" (pid")[0]: each for each in self.store.found()
                 if each["finding"] == "session_open"}
        hours = {name: each["memory_byte_seconds"] / GIB / HOUR for name, each in found.items()}
        self.assertEqual({name: round(each) for name, each in hours.items()},
                         {"bash": 8 * 12, "python kernel 3f2a9c1b": 3 * 20, "jupyter-lab": 18})

    def test_leftovers(self):
        leave_behind(Host(self.store, "planted", seen=DAYS), cores=0.001)
        found = self.only("run_leftovers", "planted")
        self.assertAlmostEqual(found["cpu_ns"] / S, 0.001 * 4 * HOUR, delta=1)
        self.assertAlmostEqual(found["memory_byte_seconds"] / GIB, 4 * HOUR, delta=1)
        self.assertIn("used 14.4 s of CPU time", found["sentence"])
        self.assertNotIn("End", found["advice"])
        self.assertEqual(found["certainty"], "likely")

    def test_work_in_the_background_is_not_left_over(self):
        leave_behind(Host(self.store, "planted", seen=DAYS), worked=2 * HOUR)  # then it waits
        leave_behind(Host(self.store, "computes", seen=DAYS), worked=1)
        leave_behind(Host(self.store, "computes-little", seen=DAYS), cores=0.02)
        leave_behind(Host(self.store, "polls", seen=DAYS), cores=0.005, io=100)
        submits = Host(self.store, "submits", seen=DAYS)
        tool = leave_behind(submits)
        submits.process(tool, 1000, 999, program="sbatch")
        recent = Host(self.store, "recent", seen=DAYS)
        leave_behind(recent, worked=2000)
        for kind in (None, "service"):
            clean = Host(self.store, f"clean-{kind}", seen=DAYS)
            clean.process(clean.run(5 * HOUR, None, root_end=kind and 4 * HOUR, kind=kind or "command")[2], 5 * HOUR)
        found = self.only("run_leftovers", "planted")
        self.assertAlmostEqual((NOW - found["since_unix_ns"]) / S, 2 * HOUR, delta=1)

    def test_stalled(self):
        stall(Host(self.store, "planted", seen=DAYS))
        stall(Host(self.store, "clean", seen=DAYS), moved=HOUR)
        stall(Host(self.store, "ended", seen=DAYS), ended=HOUR)
        found = self.only("task_stalled", "planted")
        self.assertAlmostEqual(found["memory_byte_seconds"] / GIB, 3 * 2 * HOUR, delta=1)

    def test_zombies(self):
        hold_zombies(Host(self.store, "planted", seen=DAYS))
        hold_zombies(Host(self.store, "reaped", seen=DAYS), reaped=HOUR)
        hold_zombies(Host(self.store, "recent", seen=DAYS), since=300)
        found = self.only("zombies", "planted")
        self.assertRegex(found["sentence"], r"On planted, node \(pid 7\) has not reaped 132 children that ended "
                                            r"\(as user \S+, for 2h00m\)")
        self.assertEqual((found["cpu_ns"], found["cost_micros"], found["is_now"]), (None, None, True))
        self.assertEqual(self.store.found("--user", "4711"), [])

    def test_gpu_held_and_not_used(self):
        for name, history in (("planted", {}), ("recent", {"used": HOUR // 2}), ("freed", {"freed": 2 * HOUR}),
                              ("unknown", {"busy": None}), ("ended", {"ended": 60})):
            hold_gpu(Host(self.store, name, seen=DAYS), **history)
        found = self.only("gpu_idle", "planted")
        self.assertAlmostEqual((NOW - found["since_unix_ns"]) / S, 3 * HOUR, delta=1)
        self.assertRegex(found["sentence"], r"python3 \(pid 100\) of user \S+ on planted holds 2.00 GiB of GPU memory, "
                                            r"and has not used a GPU for 3h00m")
        self.assertEqual((found["gpu_ns"] // S, found["cpu_ns"]), (3 * HOUR, None))
        self.assertAlmostEqual(found["cost_micros"], 3 * 950_000, delta=5)  # OpenCost's default

    def test_gpus_that_no_process_holds(self):
        """One never, one no longer; one is held, one only by a service of the distribution. Without a sampler none is known."""
        host = Host(self.store, "planted", seen=DAYS, gpus="nvidia0,nvidia1,dri/renderD128,nvidia12,nvidia2")
        for kind, until, devices in (("command", None, "nvidia0,nvidiactl"), ("command", 3 * HOUR, "nvidiactl,nvidia1"),
                                     ("host-service", None, "nvidia2"), ("command", 4 * HOUR, "nvidia1,nvidia2,nvidia3")):
            process = host.process(host.run(10 * HOUR, until, kind=kind)[2], 10 * HOUR, until)
            self.store.db.execute("UPDATE process_rows SET gpu = ? WHERE id = ?", (devices, process))
        clean = Host(self.store, "clean", seen=DAYS)
        process = clean.process(clean.run(10 * HOUR, 9 * HOUR)[2], 10 * HOUR, 9 * HOUR)
        self.store.db.execute("UPDATE process_rows SET gpu = 'nvidia1' WHERE id = ?", (process,))
        Host(self.store, "new", seen=HOUR // 2, gpus="nvidia0")
        found = [each for each in self.store.found() if each["finding"] == "gpu_unheld"]
        self.assertEqual([(each["hostname"], each["gpu_ns"] // S, each["sentence"].split(" of planted")[0]) for each in found],
                         [("planted", DAYS, "no process has held nvidia12"), ("planted", 4 * HOUR, "no process has held nvidia2"),
                          ("planted", 3 * HOUR, "no process has held nvidia1")])
        self.assertAlmostEqual(found[1]["cost_micros"], 4 * 950_000, delta=5)  # OpenCost's default

    def test_failures(self):
        planted, clean = Host(self.store, "planted", seen=DAYS), Host(self.store, "clean", seen=DAYS)
        for begin in (5 * HOUR, 3 * HOUR):
            planted.run(begin, begin - HOUR, status="failed", cpu_s=1800, memory=2 * GIB)
            clean.run(begin, begin - HOUR, cpu_s=1800)
        clean.run(600, 590, status="failed")  # too short to matter
        found = self.only("task_failures", "planted")
        self.assertEqual(found["cpu_ns"], 3600 * S)
        self.assertAlmostEqual(found["memory_byte_seconds"] / GIB, 2 * 2 * HOUR, delta=1)
        expected = 31611 + 4 * 4237  # a core-hour and four GiB-hours
        self.assertAlmostEqual(found["cost_micros"], expected, delta=5)
        self.assertIsNone(found["cost_per_hour_micros"])

    def test_repeats(self):
        planted, clean = Host(self.store, "planted", seen=DAYS), Host(self.store, "clean", seen=DAYS)
        for number, begin in enumerate((9 * HOUR, 6 * HOUR, 3 * HOUR)):
            planted.process(planted.run(begin, begin - HOUR)[2], begin, begin - HOUR, cpu_s=1000 + number)
            clean.process(clean.run(begin, begin - HOUR)[2], begin, begin - HOUR, cpu_s=1000,
                          arguments=b"tool\0%d\0" % number)
            clean.process(clean.run(begin, begin - HOUR, kind="cron")[2], begin, begin - HOUR, cpu_s=1000)
            clean.process(clean.run(begin, begin - HOUR)[2], begin, begin - HOUR, cpu_s=1000, exit_code=1,
                          arguments=b"bad\0")
        planted.process(planted.run(HOUR, 0)[2], HOUR, 0, cpu_s=1000, arguments=b"other\0")
        found = self.only("task_repeats", "planted")
        self.assertEqual(found["cpu_ns"], 2001 * S)
        self.assertEqual(found["certainty"], "likely")
        self.assertEqual(found["run_id"][:4], "0000")

    def test_order_text_and_hostile_names(self):
        then_idle(Host(self.store, "small"))
        then_idle(Host(self.store, "large\x1b[2J", cpu_count=64, memory=256 * GIB))
        Host(self.store, "planted", seen=DAYS, last=2 * HOUR).run(5 * HOUR)
        costs = [each["cost_micros"] for each in self.store.found()]
        known = [cost for cost in costs if cost is not None]
        self.assertEqual(known, sorted(known, reverse=True))
        self.assertEqual(costs[len(known):], [None] * (len(costs) - len(known)))
        text = self.store.sweep().stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("OpenCost's defaults", text)
        self.assertIn(f"1 of {len(costs)} findings", self.store.sweep("--limit", "1").stderr)

    def test_old_findings_do_not_go_on_now(self):
        then_idle(Host(self.store, "planted", last=30 * MINUTE), ended=2 * HOUR)
        found = self.only("host_idle", "planted")
        self.assertFalse(found["is_now"])
        self.assertIsNone(found["cost_per_hour_micros"])
        self.assertGreater(found["cost_micros"], 0)

    def test_thresholds(self):
        then_idle(Host(self.store, "planted"))
        for name in ("host_idle.least", "host_idle.least_ns"):
            found = self.store.found("--set", f"{name}=2h")
            self.assertNotIn("host_idle", [each["finding"] for each in found])
        self.assertIn("host_idle.least=2h", self.store.sweep("--list", "--set", "host_idle.least=2h").stdout)
        listed = json.loads(self.store.sweep("--list", "--json").stdout)["findings"]
        self.assertTrue(all(each["thresholds"] for each in listed))
        self.assertGreaterEqual(len(listed), 12)
        for wrong in ("nothing", "host_idle.least", "host_idle.nothing=1", "nothing.least=1h", "host_idle.least=much"):
            self.assertIn("--set", self.store.sweep("--set", wrong, status=2).stderr)
        self.store.sweep("--since", "nonsense", status=2)

    def test_nothing_to_find(self):
        working(Host(self.store, "clean"), cores=1.0)
        self.assertEqual(self.store.found(), [])
        self.assertIn("0 findings", self.store.sweep().stdout)


OWNERS = ("work", "system", "gap", "idle", "too_large")


class Owners(Case):
    """Every hour that a host was watched has one owner."""

    def owned(self, *arguments):
        """The answer; hours and costs add up by host, in total, and to the bill of tracer cost."""
        answer = json.loads(self.store.sweep("--json", *arguments).stdout)
        bill = self.store.cost(*arguments)
        for row in (*answer["hosts"], answer["total"]):
            self.assertEqual(sum(row[f"{owner}_ms"] for owner in OWNERS), row["all_ms"])
            if row["bill_micros"] is not None:
                self.assertEqual(sum(row[f"{owner}_micros"] for owner in OWNERS), row["bill_micros"])
                self.assertEqual(sum(row[f"{owner}_micros"] for owner in OWNERS[2:]), row["wasted_micros"])
        for key in ("all_ms", "bill_micros", *(f"{owner}_ms" for owner in OWNERS)):
            self.assertEqual(sum(row[key] or 0 for row in answer["hosts"]), answer["total"][key] or 0)
        self.assertEqual(answer["total"]["bill_micros"] or 0, bill["bill_micros"])
        bills = {row["host"]: row["cost_micros"] for row in bill["rows"]}
        for row in answer["hosts"]:
            self.assertAlmostEqual(row["bill_micros"] or 0, bills.get(row["hostname"], 0), delta=len(OWNERS))
        if bill["no_price_count"] == 0:
            self.assertEqual(answer["total"]["all_ms"], bill["observed_ms"])
        wasted = [row["wasted_micros"] or 0 for row in answer["hosts"]]
        self.assertTrue(all(first >= second - len(OWNERS) for first, second in zip(wasted, wasted[1:])))  # rounded
        return {row["hostname"]: row for row in answer["hosts"]}, answer

    def minutes(self, row):
        return [round(row[f"{owner}_ms"] / MINUTE / 1000) for owner in OWNERS]

    def test_labelled_histories(self):
        """The finding host_idle, and who owns the hours."""
        hosts = [Host(self.store, f"host-{number:02}") for number in range(len(HISTORIES))]
        for host, (_, _, make) in zip(hosts, HISTORIES):
            make(host)
            host.watch()
        rows, answer = self.owned()
        found = {each["hostname"]: each for each in answer["findings"] if each["finding"] in ("host_idle", "host_underused")}
        called = [f"host-{number:02}" in found for number in range(len(HISTORIES))]
        wrong = [what for (what, idle, _), is_called in zip(HISTORIES, called) if is_called and not idle]
        missed = [what for (what, idle, _), is_called in zip(HISTORIES, called) if idle and not is_called]
        self.assertEqual(wrong, [], "a host on which work ran is called idle")
        # A host that is busy as a whole is not called idle, although nothing but its own services ran.
        self.assertEqual(missed, ["services of the distribution, 40 % of a core"])
        for number, (host, (what, idle, _)) in enumerate(zip(hosts, HISTORIES)):
            name = f"host-{number:02}"
            if what not in missed:
                self.assertEqual(rows[name]["idle_ms"] >= 15 * MINUTE * 1000, idle, what)
            if called[number]:
                self.assertGreaterEqual(found[name]["since_unix_ns"], NOW - host.worked * S)
                likely = ("half of the samples missing", "no samples of the host at all", "a service that answers now and then")
                if number == 0 or what in likely:
                    self.assertEqual(found[name]["certainty"], "likely" if what in likely else "certain")
        self.assertLess(abs(found["host-05"]["since_unix_ns"] - (NOW - HOUR * S)), 300 * S)
        if "--print" in sys.argv:
            right = sum(idle and is_called for (_, idle, _), is_called in zip(HISTORIES, called))
            print("| history | idle | called idle |\n|---|---|---|")
            for (what, idle, _), is_called in zip(HISTORIES, called):
                print(f"| {what} | {'yes' if idle else 'no'} | {'yes' if is_called else 'no'} |")
            print(f"precision {right}/{sum(called)}, recall {right}/{sum(idle for _, idle, _ in HISTORIES)}")

    def test_hours_of_one_host(self):
        host = Host(self.store, "planted", seen=10 * HOUR)
        host.watch()
        for begin, end in (9 * HOUR, 8 * HOUR), (4 * HOUR, 3 * HOUR), (2 * HOUR, 1 * HOUR):
            host.run(begin, end)
        host.load(cores=lambda ago: 1.0 if 6 * HOUR >= ago > 5 * HOUR or 9 * HOUR >= ago > 8 * HOUR else 0.01)
        found, _ = self.owned()
        # Three runs and ten minutes after two of them; after the last one the host is idle at once.
        work, system, gap, idle, too_large = self.minutes(found["planted"])
        self.assertEqual((work, idle, too_large), (3 * 60 + 20, 60, 0))
        self.assertLessEqual(abs(system - 60), 10)
        self.assertEqual(system + gap, 60 + 230 + 50)
        set_ = ("--set", "host_gaps.grace=0s", "--set", "host_gaps.most-cores=2")
        row = json.loads(self.store.sweep("--json", *set_).stdout)["hosts"][0]
        self.assertEqual(self.minutes(row), [3 * 60, 0, 60 + 240 + 60, 60, 0])

    def test_too_large_is_what_work_never_used(self):
        host = Host(self.store, "planted", **LONG)
        host.watch()
        host.run(DAYS)
        host.sampled(host.process(host.run(DAYS)[2], DAYS), DAYS, 0, cores=1.0)
        host.load(cores=1.0, step=60, used=2 * GIB)
        found, answer = self.owned()
        self.assertEqual(answer["findings"][0]["hostname"], "planted")
        # 3 of 4 cores, and 13 of 16 GiB, of all the time, by price
        share = (3 * 31611 + 13 * 4237) / (4 * 31611 + 16 * 4237)
        self.assertAlmostEqual(found["planted"]["too_large_ms"] / 1000 / DAYS, share, places=3)
        self.assertEqual(self.minutes(found["planted"])[2:4], [0, 0])

    def test_time_that_was_not_watched_has_no_owner(self):
        host = Host(self.store, "planted", seen=10 * HOUR)
        host.watch((10 * HOUR, 7 * HOUR), (2 * HOUR, None))
        host.run(9 * HOUR, 8 * HOUR)
        host.run(HOUR, 0)
        found, _ = self.owned()
        self.assertEqual(self.minutes(found["planted"]), [60 + 10 + 60, 0, 60 + 50 + 60, 0, 0])

    def random_host(self, number, numbers):
        """Returns the host, and for each second whether it was watched, and whether work ran."""
        seen = numbers.randrange(2, 30) * HOUR
        host = Host(self.store, f"random-{number:02}", seen=seen, cpu_count=numbers.choice((2, 4, 64)))
        watched, work = bytearray(seen + 1), bytearray(seen + 1)
        ago = seen
        while ago > 0:
            end = max(ago - numbers.randrange(1, 30) * HOUR, 0)
            host.watch((ago, end or None))
            watched[end:ago] = b"\1" * (ago - end)
            ago = end - numbers.randrange(0, 3) * HOUR
        for _ in range(numbers.randrange(0, 12)):
            begin = numbers.randrange(60, seen)
            end = max(begin - numbers.choice((1, 600, 5 * HOUR)), 0)
            kind = numbers.choice(("command", "batch", "container", "session", "host-service", "service"))
            host.run(begin, end or None, kind=kind, cpu_s=0 if kind == "service" else 10)
            if kind in ("command", "batch", "container"):
                after = max(end - 600, 0)
                work[after:begin] = b"\1" * (begin - after)
        return host, watched, work

    def test_random_histories(self):
        numbers = random.Random(7)
        hosts = [self.random_host(number, numbers) for number in range(40)]
        middle = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW // S - 11 * HOUR - 17))
        prices = self.list(f"node,random-0*,hostname,1.23,{middle},", "node,random-0*,hostname,3.7,,",
                           "cpu,random-1*,hostname,0.05,,", "memory,random-1*,hostname,0.005,,")
        found, answer = self.owned(*prices)
        idle = {each["hostname"]: (NOW - each["since_unix_ns"]) // S for each in answer["findings"]
                if each["finding"] == "host_idle"}
        for number, (host, watched, work) in enumerate(hosts):
            row = found[f"random-{number:02}"]
            idle_from = idle.get(row["hostname"], 0)
            expected = dict.fromkeys(OWNERS, 0)
            for ago in range(host.seen):
                if watched[ago]:
                    expected["idle" if ago < idle_from else "work" if work[ago] else "gap"] += 1
            self.assertEqual({owner: round(row[f"{owner}_ms"] / 1000) for owner in OWNERS}, expected, row["hostname"])

    def test_screen(self):
        for number in range(12):
            then_idle(Host(self.store, f"host-{number:02}"))
        for name in "planted\x1b[2J", "clean":
            host = Host(self.store, name)
            host.watch()
            then_idle(host)
        text = self.store.sweep("--by", "host", "--limit", "3").stdout
        self.assertNotIn("\x1b", text)
        self.assertNotIn("host_idle", text)
        self.assertIn("11 more", text)
        self.assertEqual(text.count("\ntotal "), 1)
        answer = json.loads(self.store.sweep("--by", "host", "--json").stdout)
        self.assertNotIn("findings", answer)
        self.assertEqual(len(answer["hosts"]), 14)

    def test_one_host_does_not_fill_the_list(self):
        large = Host(self.store, "large", cpu_count=64, memory=256 * GIB, **LONG)
        for name in range(8):
            for begin in (5 * HOUR, 3 * HOUR):
                large.run(begin, begin - HOUR, status="failed", cpu_s=64 * 3000, name=f"step-{name}")
        for number in range(4):
            then_idle(Host(self.store, f"small-{number}"))
        found = json.loads(self.store.sweep("--json", "--limit", "6").stdout)["findings"]
        self.assertEqual([each["hostname"] for each in found].count("large"), 2)
        self.assertEqual(len(found), 6)
        found = json.loads(self.store.sweep("--json", "--limit", "8").stdout)["findings"]
        self.assertEqual([each["hostname"] for each in found].count("large"), 4)
        costs = [each["cost_micros"] for each in found]
        self.assertEqual(costs, sorted(costs, reverse=True))


class Users(Case):
    """What each user's jobs asked for and did not use, and the line to change."""

    def job(self, host, begin, end, user, name="slurm job 7", cores=None, limit=None, **row):
        """A batch job that was allowed `cores` and `limit` bytes."""
        run, _, _ = host.run(begin, end, kind="batch", name=name, **row)
        self.store.db.execute("UPDATE runs SET user_id = ?, core_limit_milli = ?, memory_limit_bytes = ? WHERE id = ?",
                              (user, cores and cores * 1000, limit, run))
        return run

    def users(self, *arguments):
        answer = json.loads(self.store.sweep("--by", "user", "--json", *arguments).stdout)
        self.assertEqual(answer["user_count"], len(answer["users"]))
        wasted = [user["wasted_core_hours"] for user in answer["users"]]
        self.assertEqual(wasted, sorted(wasted, reverse=True))
        for user in answer["users"]:
            self.assertIn(f"To change: {user['change']}\n", user["text"])
        return {user["user_id"]: user for user in answer["users"]}

    def node(self, name="node"):
        host = Host(self.store, name, cpu_count=64, memory=256 * GIB, **LONG)
        host.run(60, 0)  # it is not idle
        return host

    def test_processors_asked_for_and_not_used(self):
        host = self.node()
        for user, cores, used in (1001, 32, 1.5), (1002, 32, 20), (1003, 2, 0.5), (1004, 64, 1), (1005, None, 1):
            self.job(host, 11 * HOUR, HOUR, user, cores=cores, cpu_s=used * 10 * HOUR)
        found = self.users()
        # 1002 uses 62 %; 1003 asked for 20 core-hours; the others for what the host has
        self.assertEqual(list(found), [1001])
        user = found[1001]
        self.assertAlmostEqual(user["asked_core_hours"], 320)
        self.assertAlmostEqual(user["unused_core_hours"], 305)
        self.assertIn(": 1 run.\nProcessors asked for and not used: 305.0 of 320.0 core-hours (95 %).\n\n- slurm", user["text"])
        self.assertEqual(user["change"],
                         "Ask for 3 processors instead of 32 for slurm job 7 (Slurm: --cpus-per-task=3).")  # 1.5 of 60 %
        self.assertAlmostEqual(user["jobs"][0]["enough_cores"], 2.5)
        self.assertIn("--cpus-per-task=5", self.users("--set", "user_jobs.most-cpu-share=30%")[1001]["change"])

    def test_memory_asked_for_and_not_used(self):
        host = self.node()
        for user, limit, used in (1001, 100, 3.2), (1002, 100, 40), (1003, 20, 1), (1004, 256, 1):
            self.job(host, 13 * HOUR, HOUR, user, limit=limit * GIB, memory=int(used * GIB))
        found = self.users()
        self.assertEqual(list(found), [1001])
        self.assertAlmostEqual(found[1001]["unused_gib_hours"], 12 * 96.8, places=1)
        self.assertEqual(found[1001]["change"],
                         "Ask for 4 GiB of memory instead of 100 for slurm job 7 (Slurm: --mem=4G).")

    def test_short_jobs_asked_for_nothing(self):
        host = self.node()
        for number in range(200):
            self.job(host, 2 * HOUR, HOUR, 1001, name=f"slurm job {number}", cores=32, limit=100 * GIB)
        self.assertEqual(self.users(), {})
        self.assertIn("No user", self.store.sweep("--by", "user").stdout)

    def test_failed_work(self):
        host = self.node()
        for number in range(3):
            self.job(host, 5 * HOUR, HOUR, 1001, name="fails\x1b[2J", status="failed", cpu_s=2 * HOUR)
        self.job(host, 5 * HOUR, HOUR, 1001, name="succeeds", cpu_s=2 * HOUR)
        self.job(host, 5 * HOUR, HOUR, 1002, name="fails a little", status="failed", cpu_s=600)
        found = self.users()
        self.assertEqual(list(found), [1001])
        self.assertAlmostEqual(found[1001]["failed_core_hours"], 6)
        self.assertEqual((found[1001]["run_count"], found[1001]["failed_count"]), (4, 3))
        self.assertIn("(tracer failed)", found[1001]["change"])
        self.assertNotIn("\x1b", found[1001]["text"])
        self.assertNotIn("\x1b", self.store.sweep("--by", "user", "--color", "always").stdout)

    def test_open_sessions_and_idle_hosts(self):
        leave_open(self.node("open"))
        idle = Host(self.store, "idle", **LONG)
        self.job(idle, 9 * HOUR, 8 * HOUR, 1001)
        idle.load(step=60)
        old = Host(self.store, "old", seen=DAYS, last=HOUR)
        self.job(old, 30 * HOUR, 28 * HOUR, 1002)
        hold_zombies(self.node("zombies"))
        found = self.users()
        self.assertEqual(set(found), {1000, 1001})
        self.assertEqual((found[1000]["session_count"], found[1000]["change"]), (1, "Close the session that you do not use."))
        self.assertRegex(found[1000]["text"], r"^- bash \(pid 100\)")
        self.assertNotIn(" 0 ", found[1000]["text"] + found[1001]["text"])
        self.assertEqual(found[1001]["idle_host_count"], 1)
        self.assertEqual(found[1001]["change"], "Stop idle when your run has ended.")
        self.assertIn("The last run there was yours: slurm job 7.", found[1001]["text"])
        hold_gpu(self.node("gpu"))
        held = self.users()[1000]
        self.assertEqual((held["idle_gpu_count"], held["session_count"]), (1, 1))
        self.assertAlmostEqual(held["wasted_core_hours"] - found[1000]["wasted_core_hours"], 30)  # 3 hours
        self.assertEqual(held["change"], "End what holds a GPU on gpu and does not use it.")

    def test_the_worst_come_first(self):
        host = self.node()
        for number in range(1, 15):
            for job in range(8):
                self.job(host, 20 * HOUR, HOUR, 1000 + number, name=f"job {job}", cores=number + 8, cpu_s=HOUR)
        found = self.users("--limit", "0")
        self.assertEqual(list(found), list(range(1014, 1000, -1)))
        self.assertEqual(len(found[1014]["jobs"]), 5)
        self.assertEqual(found[1014]["run_count"], 8)
        self.assertAlmostEqual(found[1014]["asked_core_hours"], 8 * 19 * 22)
        limited = self.store.sweep("--by", "user", "--limit", "3")
        self.assertEqual(limited.stdout.count("To change: "), 3)
        self.assertEqual(limited.stdout.count("\n\n==== "), 2)
        self.assertIn("3 of 14 users", limited.stderr)


class Prices(Case):
    """What is said of hosts without a price, wherever money is shown."""

    def ask(self, verb, *arguments):
        """Returns the answer in JSON, and the text."""
        ask = [TRACER, verb, "--store", self.store.path, *arguments]
        self.store.db.commit()
        return (json.loads(subprocess.run([*ask, "--json"], check=True, capture_output=True).stdout),
                subprocess.run(ask, check=True, capture_output=True, text=True))

    def test_dollars_are_not_added_to_another_currency(self):
        for name in ("priced", "unpriced"):
            then_idle(Host(self.store, name))
        prices = self.list("node,priced,hostname,36,,EUR")
        note = "No price in EUR is known for 1 host: left out"
        answer, text = self.ask("sweep", *prices)
        costs = {each["hostname"]: (each["cost_micros"], each["price_basis"]) for each in answer["findings"]}
        self.assertEqual(costs["unpriced"], (None, "none"))
        self.assertGreater(costs["priced"][0], 0)
        self.assertEqual((answer["no_price_count"], answer["default_price_count"]), (1, 0))
        self.assertIn(note, text.stdout)
        answer, text = self.ask("cost", "--by", "host", *prices)
        self.assertEqual([row["host"] for row in answer["rows"]], ["priced"])
        self.assertAlmostEqual(answer["bill_micros"], answer["observed_ms"] * 10, delta=10)
        self.assertEqual((answer["host_count"], answer["no_price_count"], answer["default_price_count"]), (1, 1, 0))
        self.assertIn(note, text.stdout)
        answer, _ = self.ask("prices", "show", *prices)
        self.assertEqual({host["host"]: (host["basis"], host["hour_micros"]) for host in answer["hosts"]},
                         {"priced": ("node", 36_000_000), "unpriced": ("none", None)})
        focus = subprocess.run([TRACER, "cost", "--format", "focus", "--store", self.store.path, *prices], check=True,
                               capture_output=True, text=True)
        self.assertNotIn("unpriced", focus.stdout)
        self.assertIn(note, focus.stderr)

    def hold_gpus(self, host, begin, end, devices, busy_s, name):
        """A run that holds devices, and how long these worked for it."""
        run, task, tool = host.run(begin, end, name=name, cpu_s=0, memory=0)
        process = host.process(tool, begin, end, cpu_s=0, memory=0)
        busy = None if busy_s is None else busy_s * S
        self.store.db.execute("UPDATE process_rows SET gpu = ?, gpu_busy_ns = ? WHERE id = ?", (devices, busy, process))
        for table, row in ("runs", run), ("tasks", task), ("tools", tool):
            self.store.db.execute(f"UPDATE {table} SET gpu_busy_ns = ? WHERE id = ?", (busy, row))

    def test_gpu_hours(self):
        """4 cores weigh 36, 16 GiB 16 and two GPUs 180: of 23.20 an hour, a GPU costs 9."""
        host = Host(self.store, "planted")
        host.run(host.seen, None, kind="system", name="services", memory=0)
        self.hold_gpus(host, 2 * HOUR, HOUR, "nvidiactl,nvidia1", 1800, "train")
        self.hold_gpus(host, HOUR, HOUR // 2, "nvidia0,nvidiactl,508:0", None, "unknown")
        Host(self.store, "beside").run(HOUR, HOUR // 2)
        prices = self.list("node,planted,hostname,23.20,,USD", "node,beside,hostname,1,,USD")
        expected = {"train": (9_000_000, 4_500_000, 1800, 1800, 0), "unknown": (4_500_000, 0, 0, 0, 1800)}
        for key in "run", "task":
            answer, text = self.ask("cost", "--by", key, *prices)
            self.assertEqual({row[key]: (row["gpu_micros"], row["gpu_unused_micros"], *(
                row[f"gpu_{part}_ms"] // 1000 for part in ("used", "unused", "unknown")))
                for row in answer["rows"] if row["gpu_micros"]}, expected)
            self.assertIn("held for 1h00m, in use for 30m00s of it; held and not used: 4.50 USD", text.stdout)
            self.assertIn("held for another 30m00s; whether they were in use is unknown", text.stdout)
        answer, _ = self.ask("cost", "--by", "tool", *prices)
        self.assertEqual({row["tool"]: row["gpu_micros"] for row in answer["rows"] if row["gpu_micros"]},
                         {"train": 4_500_000, "(requested, not used)": 4_500_000, "(unknown)": 4_500_000})
        for key in "run", "task", "tool", "user", "host", "day":
            answer, _ = self.ask("cost", "--by", key, *prices)
            rest = 0 if key in ("host", "day") else answer["system_micros"] + answer["idle_micros"]
            self.assertEqual(sum(row["cost_micros"] for row in answer["rows"]) + rest, answer["bill_micros"])
            self.assertAlmostEqual(answer["bill_micros"], 3 * 23_200_000 + 500_000, delta=10)
            for row in answer["rows"]:
                self.assertEqual(row["used_micros"] + row["unused_micros"],
                                 row["cpu_micros"] + row["memory_micros"] + row["gpu_micros"])
        focus = subprocess.run([TRACER, "cost", "--format", "focus", "--store", self.store.path, *prices], check=True,
                               capture_output=True, text=True)
        billed = sum(round(float(row["BilledCost"]) * 1e6) for row in csv.DictReader(io.StringIO(focus.stdout)))
        self.assertEqual(billed, answer["bill_micros"])
        sweep, _ = self.ask("sweep", *prices)
        self.assertAlmostEqual(sweep["total"]["bill_micros"], answer["bill_micros"], delta=2)

    def test_prices_of_gpus(self):
        """Of a list with rates, and OpenCost's; a host without a device is as before."""
        host = Host(self.store, "planted")
        host.run(host.seen, None, kind="system", name="services")
        self.hold_gpus(host, 2 * HOUR, HOUR, "nvidia0", 1800, "train")
        Host(self.store, "none").run(HOUR)
        Host(self.store, "unused", gpus="nvidia0,nvidia1").run(HOUR)
        for prices, most in (self.list("cpu,,,0.03,,USD", "gpu,planted,hostname,2,,USD"), 2_000_000), ((), 950_000):
            answer, _ = self.ask("cost", *prices)
            self.assertEqual([row["gpu_micros"] for row in answer["rows"] if row["gpu_micros"]], [most])
            answer, _ = self.ask("prices", "show", *prices)
            hours = {host["host"]: host["hour_micros"] for host in answer["hosts"]}
            self.assertEqual(hours["planted"] - hours["none"], most)
            self.assertEqual(hours["unused"] - hours["none"], 1_900_000 if not prices else 0)

    def test_what_follows_the_last_price_is_left_out(self):
        host = Host(self.store, "planted")
        host.run(host.seen, None, kind="system", name="services")
        host.run(2 * HOUR, 100 * MINUTE, name="before")
        host.run(30 * MINUTE, 20 * MINUTE, name="after")
        end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW // S - HOUR))
        answer, _ = self.ask("cost", *self.list(f"node,planted,hostname,36,{end},EUR"))
        self.assertEqual([row["run"] for row in answer["rows"]], ["before"])
        self.assertEqual(answer["observed_ms"], 2 * HOUR * 1000)
        self.assertEqual(answer["no_price_count"], 1)

    def test_tune_says_that_prices_are_defaults(self):
        self.store.path = os.path.join(self.directory, "made.db")
        subprocess.run([MAKE_STORE, self.store.path], check=True)
        run = ("snakemake: Snakefile", "--set", "serial_task.least=0s", "--set", "serial_task.overlap-share=100%")
        for rows, counts, note in ((("node,x,hostname,1,,USD",), (1, 0), "No price is known for 1 host: OpenCost's defaults"),
                                   (("node,x,hostname,1,,EUR",), (0, 1), "No price in EUR is known for 1 host: left out"),
                                   (("node,,,1,,EUR",), (0, 0), None)):
            answer, text = self.ask("tune", *run, *self.list(*rows))
            self.assertEqual((answer["default_price_count"], answer["no_price_count"]), counts)
            self.assertGreater(len(answer["findings"]), 0)
            for finding in answer["findings"]:
                self.assertEqual(finding["saved_micros_high"] is None, counts[1] == 1)
            if note:
                self.assertIn(note, text.stdout)
            else:
                self.assertNotIn("No price", text.stdout)

    def test_what_may_be_spot_is_said(self):
        for name, row in (("ec2", {"vendor": "Amazon EC2", "product": "m5.xlarge", "asset_tag": "i-0abc"}),
                          ("own", {"vendor": "Dell Inc.", "product": "m5.xlarge"})):
            then_idle(Host(self.store, name, **row))
        columns = "AssetClass,InstanceType,MarketPriceHourly,Lifecycle,InstanceID,InstanceIDField"
        for rows, count in ((["node,m5.xlarge,1"], 1), (["node,,1"], 0), (["node,m5.xlarge,1,,ec2,hostname", "node,,1"], 0)):
            for verb in ("cost", "sweep"):
                answer, text = self.ask(verb, *self.list(*rows, columns=columns))
                self.assertEqual(answer["may_be_spot_count"], count)
                self.assertEqual("Priced as on demand, but may be spot: 1 host" in text.stdout, count == 1)

    def test_the_limit_of_a_slice_is_not_requested(self):
        host = Host(self.store, "planted")
        for name, kind in (("job 7", "batch"), ("unit", "service"), ("a.sh", "command"), ("b.sh", "job")):
            run, task, _ = host.run(HOUR, HOUR // 2, kind=kind, name=name)
            for table, row in (("runs", run), ("tasks", task)):
                self.store.db.execute(f"UPDATE {table} SET memory_limit_bytes = ? WHERE id = ?", (2 * GIB, row))
        answer, _ = self.ask("cost")
        self.assertEqual({row["run"] for row in answer["rows"] if row["unused_micros"]}, {"job 7", "unit"})
        self.assertEqual(len(answer["rows"]), 4)

    def test_memory_that_one_process_held_counts_where_scans_saw_less(self):
        """A task of a second has one scan, at its begin: what it needed is the same to all verbs."""
        planted = Host(self.store, "planted", seen=DAYS)
        _, task, _ = planted.run(5 * HOUR, 4 * HOUR, status="failed", cpu_s=1800, memory=2 * GIB)

        def found(concurrent, peak):
            self.store.db.execute("UPDATE tasks SET concurrent_memory_bytes = ?, peak_rss_bytes = ? WHERE id = ?",
                                  (concurrent, peak, task))
            cost, _ = self.ask("cost")
            finding, = (row for row in self.ask("sweep")[0]["findings"] if row["finding"] == "task_failures")
            return finding["memory_byte_seconds"] / GIB / HOUR, cost["rows"][0]["memory_micros"]

        wanted = found(2 * GIB, 2 * GIB)
        self.assertEqual(wanted[0], 2)
        for concurrent, peak in ((GIB // 64, 2 * GIB), (None, 2 * GIB), (2 * GIB, GIB), (2 * GIB, None)):
            self.assertEqual(found(concurrent, peak), wanted, (concurrent, peak))

    def test_two_currencies_are_refused(self):
        Host(self.store, "planted")
        prices = self.list("node,planted,hostname,1,,EUR", "node,other,hostname,1,,USD")
        for verb in ("cost", "sweep", "tune"):
            result = subprocess.run([TRACER, verb, "--store", self.store.path, *prices], check=False, text=True,
                                    capture_output=True)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("prices.csv:3: Currency: USD, but earlier rows have EUR", result.stderr)


if __name__ == "__main__" and "--store" in sys.argv:
    everything(sys.argv[-1])
elif __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
