#!/usr/bin/env python3
"""What is known about runs while they run: warnings and expected ends, of tracer runs, top and query.

    check_live.py TRACER MAKE_STORE [TEST...]
    check_live.py TRACER MAKE_STORE --store FILE    only write a store with each warning, for other tests

The stores are make_store's, in which one run, `make`, still runs; its history is written here.
"""
import contextlib
import sqlite3
import subprocess
import sys
import time

from case import Case
from testing import copy_rows, run_cases

SECOND = 10**9
MIB = 2**20
GIB = 2**30
RUN = "(SELECT id FROM runs WHERE name = 'make' AND end_boot_ns IS NULL)"
LIVING = f"id = {RUN}"


def now():
    return int(time.time() * SECOND)


def ran_for(database, seconds):
    """Makes the running run begin so long ago."""
    for table, column in (("runs", LIVING), ("tasks", f"end_boot_ns IS NULL AND run_id = {RUN}")):
        begin, = database.execute(f"SELECT max(begin_boot_ns) FROM {table} WHERE {column}").fetchone()
        unix, = database.execute("SELECT max(last_seen_unix_ns) FROM hosts").fetchone()
        boot, = database.execute(f"SELECT max(started_unix_ns - begin_boot_ns) FROM {table} WHERE {column}").fetchone()
        assert begin is not None
        database.execute(f"UPDATE {table} SET started_unix_ns = ?, begin_boot_ns = ? WHERE {column}",
                         (unix - seconds * SECOND, unix - seconds * SECOND - boot))


def earlier(database, walls, first=1000, **changes):
    """Earlier runs like the running one, that took so many seconds."""
    for number, wall in enumerate(walls, first):
        copy_rows(database, "runs", LIVING, **{
            "id": str(number), "rev": str(10**6 + number), "status": "'succeeded'", "exit_code": "0", "living_count": "0", "begin_boot_ns": "0",
            "started_unix_ns": str(now() - 86400 * SECOND + number), "end_boot_ns": str(int(wall * SECOND)), **changes})


def earlier_tasks(database, walls, task):
    """Tasks of that name in an earlier run."""
    earlier(database, [100], first=5000)
    for number, wall in enumerate(walls, 6000):
        copy_rows(database, "tasks", f"id = {task}", id=str(number), rev=str(10**6 + number), run_id="5000",
                  status="'succeeded'", exit_code="0", begin_boot_ns="0", started_unix_ns=str(now() - 86400 * SECOND),
                  end_boot_ns=str(int(wall * SECOND)))


def living_task(database):
    return database.execute("SELECT t.id FROM open_tasks t JOIN runs r ON r.id = t.run_id"
                            f" WHERE r.{LIVING} AND t.kind <> 'main'").fetchone()[0]


def fill_memory(database, anonymous, held=None, limit=100 * MIB, peak=100 * MIB):
    """Gives the cgroup of the running run a limit, and its processes these bytes of anonymous memory, of which they hold so
    much: of what they share, one does."""
    database.execute(f"UPDATE runs SET memory_limit_bytes = ?, cgroup_peak_bytes = ? WHERE {LIVING}", (limit, peak))
    processes = database.execute("SELECT p.id, p.pid FROM open_processes p JOIN runs r ON r.id = p.run_id"
                                 f" WHERE r.{LIVING} ORDER BY p.program").fetchall()
    assert len(processes) == len(anonymous) == 2
    for (process, _), size, part in zip(processes, anonymous, held or anonymous):
        database.execute("UPDATE samples SET rss_anon_bytes = ?, memory_bytes = ? WHERE process_id = ?", (size, part, process))


def stall(database, ended=None):
    task = living_task(database)
    copy_rows(database, "incidents", "kind = 'stuck'", id="77", rev="2000000", task_id=str(task),
              process_id=f"(SELECT id FROM open_processes WHERE task_id = {task})", run_id=RUN,
              unix_ns=f"(SELECT max(last_seen_unix_ns) - {300 * SECOND} FROM hosts)", end_boot_ns="NULL" if ended is None else str(ended),
              sentence="'in uninterruptible sleep'")


def reading(database, positions, size=1000 * MIB, late=0):
    """What scans saw of the file that a running process reads, every ten seconds, the last one so many seconds ago."""
    process, = database.execute(f"SELECT p.id FROM open_processes p JOIN runs r ON r.id = p.run_id WHERE r.{LIVING} ORDER BY p.program").fetchone()
    begin, unix = database.execute("SELECT begin_boot_ns, started_unix_ns FROM processes WHERE id = ?", (process,)).fetchone()
    last, = database.execute("SELECT max(last_seen_unix_ns) FROM hosts").fetchone()
    for number, position in enumerate(reversed(positions)):
        boot = begin + last - unix - (late + 10 * number) * SECOND - 1
        database.execute("INSERT INTO samples (process_id, boot_ns, rev, cpu_ns, file_position_bytes, file_size_bytes)"
                         " VALUES (?, ?, ?, 0, ?, ?)", (process, boot, 3 * 10**6 + number, int(position), size))


def disk(database, *figures, mount="/work"):
    """What was available on a file system of 100 GiB at so many minutes before the host was last heard of; the root is empty."""
    last, = database.execute("SELECT max(last_seen_unix_ns) FROM hosts").fetchone()
    for number, (point, minutes, gib) in enumerate([("/", 0, 90), *((mount, minutes, gib) for minutes, gib in figures)]):
        database.execute("INSERT INTO file_system_samples VALUES ((SELECT max(id) FROM hosts), ?, CAST(? AS TEXT), ?, 'xfs', ?, ?)",
                         (last - minutes * 60 * SECOND, point, 4 * 10**6 + number, None if gib is None else 100 * GIB, None if gib is None else int(gib * GIB)))


def works_in(database, directory, container=None):
    """The processes and tasks of the running run, and it itself, work there."""
    for table in ("process_rows", "tasks", "runs"):
        of = {"process_rows": f"tool_id IN (SELECT id FROM tools WHERE run_id = {RUN})", "tasks": f"run_id = {RUN}", "runs": LIVING}[table]
        database.execute(f"UPDATE {table} SET working_directory = NULL, container_id = ? WHERE {of}", (container,))
    database.execute("UPDATE process_rows SET working_directory = ? WHERE id = (SELECT max(p.id) FROM open_processes p"
                     f" WHERE p.run_id = {RUN})", (directory,))


class Live(Case):
    def answer(self, change=None, *arguments):
        """Warnings and the expected end of the running run, after a change of the store."""
        with self.changed("changed") as (path, database):
            if change:
                change(database)
            self.seen, = database.execute("SELECT max(last_seen_unix_ns) FROM hosts").fetchone()
        runs = {run["name"]: run for run in self.json("runs", "--all", "--store", path, *arguments)["runs"] if run["living_count"]}
        self.top = self.json("top", "--store", path)
        self.screens = [self.text(*verb, "--store", path) for verb in (["runs"], ["top", "--once"])]
        run = runs["make"]
        self.assertEqual(self.top["warnings"], run["warnings"])
        self.assertEqual([{key: end[key] for key in run["expected_end"]} for end in self.top["expected_ends"]],
                         [run["expected_end"]] if run["expected_end"] else [])
        return run["warnings"], run["expected_end"]

    def names(self, change, *arguments):
        return [warning["warning"] for warning in self.answer(change, *arguments)[0]]

    def test_a_name_without_history_is_unknown(self):
        self.assertEqual(self.answer(), ([], None))
        for screen in self.screens:
            self.assertNotIn("ends in", screen)

    def test_runs_that_have_ended_have_none(self):
        for run in self.json("runs", "--all")["runs"]:
            self.assertEqual((run["warnings"], run["expected_end"]), ([], None), run["name"])

    # ---- slower ----

    @staticmethod
    def slow(walls=tuple(range(300, 310)), wall=600, **changes):
        def change(database):
            earlier(database, walls, **changes)
            ran_for(database, wall)
        return change

    def test_a_run_is_slower_than_its_history(self):
        warnings, end = self.answer(self.slow())
        self.assertEqual([warning["warning"] for warning in warnings], ["run_slower"])
        self.assertIsNone(end) # none lasted that long
        slow, = warnings
        self.assertEqual((slow["earlier_count"], slow["median_ns"], slow["longest_ns"]), (10, 304 * SECOND, 309 * SECOND))
        self.assertAlmostEqual(slow["wall_ns"] / SECOND, 600, delta=1)
        self.assertAlmostEqual((self.seen - slow["since_unix_ns"]) / SECOND, 600 - 1.25 * 309, delta=1)
        self.assertEqual(slow["sentence"], "running for 10m00s; 10 earlier runs took at most 5m09s, half of them at most 5m04s")
        for screen in self.screens:
            self.assertIn(f"{slow['run_id'][:8]} make: running for 10m00s; 10 earlier runs", screen)

    def test_it_is_not_slower_if(self):
        for why, change in (("it lasted as long before", self.slow(wall=309)),
                            ("it is a little longer", self.slow(wall=380)),
                            ("too few are known", self.slow(walls=range(300, 307))),
                            ("earlier ones differ much", self.slow(walls=[20, 40, 80, 150, 300, 350, 400, 450])),
                            ("earlier ones failed", self.slow(status="'failed'")),
                            ("earlier ones were another user's", self.slow(user_id="4711")),
                            ("earlier ones had another name", self.slow(name="'ninja'")),
                            ("earlier ones were on another host", self.slow(host_id="4711")),
                            ("earlier ones are long ago", self.slow(started_unix_ns=str(now() - 100 * 86400 * SECOND))),
                            ("it is a service", self.slow_service)):
            with self.subTest(why):
                self.assertEqual(self.names(change), [])

    @classmethod
    def slow_service(cls, database):
        database.execute(f"UPDATE runs SET kind = 'service', engine = NULL WHERE {LIVING}")
        cls.slow()(database)

    def test_a_host_not_heard_of_says_nothing(self):
        def change(database):
            self.slow()(database)
            database.execute("UPDATE hosts SET last_seen_unix_ns = last_seen_unix_ns - ?", (3600 * SECOND,))
            database.execute(f"UPDATE runs SET started_unix_ns = started_unix_ns - ? WHERE {LIVING}", (3600 * SECOND,))
        self.assertEqual(self.names(change), [])

    def test_a_task_is_slower_than_its_history(self):
        def change(walls):
            def changes(database):
                earlier_tasks(database, walls, living_task(database))
                ran_for(database, 600)
            return changes
        slow, = self.answer(change(range(100, 125)))[0]
        self.assertEqual((slow["warning"], slow["earlier_count"], slow["longest_ns"]), ("task_slower", 25, 124 * SECOND))
        self.assertTrue(slow["task_id"] and slow["sentence"].endswith("25 earlier ones took at most 2m04s"), slow)
        self.assertEqual(self.names(change(range(100, 115))), []) # too few
        self.assertEqual(self.names(change([*range(100, 125), 400])), [])

    # ---- stuck ----

    def test_a_task_is_stuck(self):
        stuck, = self.answer(stall)[0]
        self.assertEqual((stuck["warning"], stuck["process_count"], stuck["tool"]), ("task_stuck", 1, "cc1plus"))
        self.assertAlmostEqual(stuck["stalled_ns"] / SECOND, 300, delta=30)
        self.assertEqual((stuck["sentence"], stuck["reason"]), (f"cc1plus of {stuck['task']} has been stuck for 5m00s", "in uninterruptible sleep"))
        self.assertEqual(self.names(lambda database: stall(database, ended=1)), [])

    # ---- memory ----

    def test_memory_is_nearly_full(self):
        full, = self.answer(lambda database: fill_memory(database, [80 * MIB, 12 * MIB]))[0]
        self.assertEqual((full["warning"], full["memory_bytes"], full["memory_limit_bytes"], full["largest_bytes"]),
                         ("memory_nearly_full", 92 * MIB, 100 * MIB, 80 * MIB))
        self.assertEqual((full["memory_share"], full["tool"], full["container"]), (0.92, "cc1plus", None))
        self.assertRegex(full["sentence"], r"92.0 MiB of memory in use, 92 % of the limit of 100 MiB; 80.0 MiB of it by cc1plus of ")

    def test_memory_is_not_nearly_full_if(self):
        for why, arguments in (("there is no limit", {"anonymous": [80 * MIB, 12 * MIB], "limit": None}),
                               ("page cache fills the cgroup", {"anonymous": [40 * MIB, 12 * MIB]}),
                               ("the peak was lower", {"anonymous": [80 * MIB, 80 * MIB], "peak": 60 * MIB}),
                               ("they share it", {"anonymous": [80 * MIB, 80 * MIB], "held": [80 * MIB, 5 * MIB]})):
            with self.subTest(why):
                self.assertEqual(self.names(lambda database: fill_memory(database, **arguments)), []) # pylint: disable=cell-var-from-loop

    def test_what_processes_share_counts_once(self):
        full, = self.answer(lambda database: fill_memory(database, [90 * MIB, 90 * MIB], held=[90 * MIB, 5 * MIB]))[0]
        self.assertEqual(full["memory_bytes"], 95 * MIB)

    # ---- disk ----

    def on_disk(self, *figures, directory="/work/a", container=None, **options):
        def change(database):
            disk(database, *figures, **options)
            works_in(database, directory, container)
        return [warning for warning in self.answer(change)[0] if warning["warning"] == "disk_nearly_full"]

    def test_a_disk_is_nearly_full(self):
        for directory in ("/work", "/work/a"):
            full, = self.on_disk((0, 4.5), directory=directory)
            self.assertEqual((full["mount_point"], full["type"], full["working_directory"]), ("/work", "xfs", directory))
            self.assertEqual((full["total_bytes"], full["available_bytes"], full["available_share"], full["full_unix_ns"]),
                             (100 * GIB, 4.5 * GIB, 0.045, None))
            self.assertEqual(full["sentence"], "4.50 GiB of 100 GiB left on /work")

    def test_a_disk_fills_up(self):
        full, = self.on_disk((14, 30), (7, 22), (0, 16)) # a GiB a minute
        last = full["since_unix_ns"]
        self.assertEqual((full["full_unix_ns"] - last, full["sentence"]), (16 * 60 * SECOND, "16.0 GiB of 100 GiB left on /work, full soon at this rate"))

    def test_a_disk_is_not_nearly_full_if(self):
        for why, figures, options in (("there is more", [(0, 5.5)], {}),
                                      ("the run works elsewhere", [(0, 1)], {"directory": "/workshop"}),
                                      ("and in what is mounted beneath", [(0, 1)], {"directory": "/"}),
                                      ("the directory is cut at its beginning", [(0, 1)], {"directory": "\u2026/work/a"}),
                                      ("it runs in a container", [(0, 1)], {"container": 4711}),
                                      ("it is no longer known", [(5, 1), (0, None)], {}),
                                      ("it was asked long ago", [(50, 1)], {}),
                                      ("there is room again", [(5, 1), (0, 50)], {}),
                                      ("it fills slowly", [(14, 17), (0, 16)], {}),
                                      ("it fills, but there is much left", [(14, 80), (0, 21)], {}),
                                      ("it filled long ago", [(29, 60), (14, 16.1), (0, 16)], {}),
                                      ("its rate is of a short time", [(4, 40), (0, 10)], {}),
                                      ("it gets emptier", [(14, 6), (0, 16)], {})):
            with self.subTest(why):
                self.assertEqual(self.on_disk(*figures, **options), [])

    def test_hostile_mount_points(self):
        full, = self.on_disk((0, 1), mount="/evil\x1b[2J\nx", directory="/evil\x1b[2J\nx/a")
        self.assertEqual(full["mount_point"], "/evil\x1b[2J\nx")
        for screen in self.screens:
            self.assertIn(r"1.00 GiB of 100 GiB left on /evil\e[2J\nx", screen)
            self.assertNotIn("\x1b", screen)

    # ---- expected end ----

    def test_the_end_is_expected_as_an_interval(self):
        for walls, least, most, count in (([*range(1000, 1020)], 1001, 1017, 20), ([*range(700, 705)], 700, 704, 5),
                                          ([100, 200, 300, *range(700, 705)], 700, 704, 5)):
            warnings, end = self.answer(self.slow(walls=walls))
            self.assertEqual((warnings, end["basis"], end["earlier_count"]), ([], "history", count))
            self.assertAlmostEqual((end["earliest_unix_ns"] - self.seen) / SECOND, least - 600, delta=1)
            self.assertAlmostEqual((end["latest_unix_ns"] - end["earliest_unix_ns"]) / SECOND, most - least, delta=0.001)
        for screen in self.screens:
            self.assertRegex(screen, r"ends in")
            self.assertRegex(screen, r" 1m[0-9]{2}s to 1m[0-9]{2}s ")

    def test_the_end_is_unknown_with_few_that_lasted_longer(self):
        self.assertIsNone(self.answer(self.slow(walls=[*range(590, 599), *range(700, 704)]))[1])

    # ---- files ----

    def progress(self, *arguments, whole=False, **options):
        def change(database):
            reading(database, *arguments, **options)
            if whole:
                database.execute(f"UPDATE runs SET process_count = 1 WHERE {LIVING}")
        end = self.answer(change)[1]
        self.assertTrue(end is None or end["basis"] == "file")
        return self.top["progress"], end

    def test_how_far_a_file_is_read(self):
        (found,), end = self.progress([400 * MIB + number * 10 * MIB for number in range(11)]) # 1 MiB a second
        self.assertEqual((found["program"], found["file_position_bytes"], found["file_size_bytes"]), ("cc1plus", 500 * MIB, 1000 * MIB))
        self.assertIsNone(end)
        for key, seconds in (("earliest_unix_ns", 500 / 1.1), ("latest_unix_ns", 500 / 0.9)):
            self.assertAlmostEqual((found[key] - self.seen) / SECOND, seconds, delta=3)
        self.assertRegex(self.screens[1], r" 50.0 % of 1000 MiB, [67]m[0-9]{2}s to [89]m[0-9]{2}s")

    def test_the_slowest_and_the_fastest_minute_count(self):
        positions = [400 * MIB]
        for mib in [5] * 12 + [20] * 8:
            positions.append(positions[-1] + mib * MIB)
        (found,), _ = self.progress(positions)
        remaining = 1000 * MIB - positions[-1]
        for key, rate in (("earliest_unix_ns", 2 * 1.1), ("latest_unix_ns", 0.5 * 0.9)):
            self.assertAlmostEqual((found[key] - self.seen) / SECOND, remaining / MIB / rate, delta=3)

    def test_a_run_of_one_process_ends_with_its_file(self):
        (found,), end = self.progress([400 * MIB + number * 10 * MIB for number in range(11)], whole=True)
        self.assertEqual({key: found[key] for key in ("earliest_unix_ns", "latest_unix_ns")} | {"basis": "file", "earlier_count": None}, end)

    def test_progress_is_unknown_if(self):
        steady = [400 * MIB + number * 10 * MIB for number in range(11)]
        for why, positions, options in (("it is known for less than a minute", steady[:6], {}),
                                        ("it has not read on", steady, {"late": 45}),
                                        ("it has stopped meanwhile", steady + [steady[-1]] * 7, {}),
                                        ("it jumps", [*steady[:5], 10 * MIB, *steady[6:]], {})):
            with self.subTest(why):
                self.assertEqual(self.progress(positions, **options), ([], None))

    # ---- whose ----

    def test_of_one_user(self):
        user, = {run["user_id"] for run in self.json("runs")["runs"] if run["name"] == "make"}
        with self.changed("user") as (path, database):
            self.slow()(database)
        self.assertEqual(len(self.json("top", "--store", path, "--user", str(user))["warnings"]), 1)
        self.assertEqual(self.json("top", "--store", path, "--user", "4711")["warnings"], [])

    def test_hostile_names(self):
        with self.changed("hostile") as (path, database):
            stall(database)
            database.execute(f"UPDATE runs SET name = 'evil\x1b[2J' || char(10) || 'x' WHERE {LIVING}")
        for verb in (["runs"], ["top", "--once"]):
            screen = self.text(*verb, "--store", path)
            self.assertIn(r"evil\e[2J\nx: cc1plus of ", screen)
            self.assertNotIn("\x1b", screen)


def everything(path):
    """A store in which each question about what runs has a row."""
    subprocess.run([sys.argv[2], path], check=True)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        task = living_task(database)
        earlier_tasks(database, range(100, 125), task)
        earlier(database, range(300, 310))
        fill_memory(database, [80 * MIB, 12 * MIB])
        stall(database)
        disk(database, (0, 4))
        works_in(database, "/work")
        reading(database, [400 * MIB + number * 10 * MIB for number in range(11)])
        ran_for(database, 600)
        copy_rows(database, "runs", LIVING, id="4000", rev="4000000", name="'later'")
        earlier(database, range(1000, 1010), first=3000, name="'later'")


if __name__ == "__main__" and "--store" in sys.argv:
    everything(sys.argv[-1])
elif __name__ == "__main__":
    run_cases("live", sys.argv[3:])
