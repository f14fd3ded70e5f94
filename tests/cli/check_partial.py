#!/usr/bin/env python3
"""tracer run of an ordinary user without services: partial, but its sums are the kernel's. No probe is used, so this
needs no privilege; called by root, it becomes another user.

    check_partial.py TRACER CORRELATOR [TEST...]
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from page.page_data import Page  # noqa: E402
from testing import PATH, enter_own_mounts, run_cases, wait_until  # noqa: E402

PROGRAMS = [os.path.abspath(path) for path in sys.argv[1:3]]
NOBODY = 65534
TICKS_NS = 20_000_000  # two: the resolution of CPU times in /proc
MIB = 1 << 20
# Runs its arguments and writes to $USED what the kernel says that it and they have used: CPU time in ns, the largest
# peak, and bytes read (the I/O of a process includes that of the children that it has waited for).
MEASURE = """
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
with open(os.environ["USED"], "w") as file:
    print(sum(int(1e9 * (of.ru_utime + of.ru_stime)) for of in used), max(of.ru_maxrss for of in used) * 1024,
          open("/proc/self/io").readline().split()[1], file=file)
os._exit(status)
"""
# Two threads; writes to $USED what the process has used.
THREADS = """
import hashlib, os, resource, threading
data = b"1" * (50 << 20)
threads = [threading.Thread(target=lambda: [hashlib.sha256(data) for _ in range(2)]) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open(os.environ["USED"], "w") as file:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(int(1e9 * (used.ru_utime + used.ru_stime)), file=file)
os._exit(0)
"""
PIPELINE = """
for i in $(seq 40); do head -c 200000 /dev/urandom | gzip | wc -c; done >/dev/null
seq 300000 | sort -R | awk '{ s += $1 } END { print s }' >/dev/null
for i in $(seq 100); do /bin/true; done
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.directory.chmod(0o777)
        self.bin = self.directory / "bin"
        self.bin.mkdir(mode=0o755)
        for program in PROGRAMS:  # that user may not look where they were built
            shutil.copy(program, self.bin)
        self.home = self.directory / "home"
        self.home.mkdir()
        self.as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.as_user:
            os.chown(self.home, NOBODY, NOBODY)
        self.environment = {**os.environ, "PATH": PATH, "HOME": str(self.home), "TMPDIR": str(self.home), "LC_ALL": "C.UTF-8",
                            "USED": str(self.home / "used")}
        for name in ("SUDO_UID", "SUDO_GID", "TRACER_STORE", "TRACER_LAKE"):
            self.environment.pop(name, None)

    def tearDown(self):
        self.assertEqual(list(self.home.glob("tracer-run-*")), [])

    def start(self, *arguments, **options):
        return subprocess.Popen([str(self.bin / "tracer"), *arguments], stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.home, env=self.environment,
                                **self.as_user, **options)

    def tracer(self, *arguments, status=0):
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, errors)
        return output, errors

    def report(self, *command, status=0):
        return json.loads(self.tracer("run", "--json", "--", *command, status=status)[0])

    def rows(self, sql):
        with sqlite3.connect(f"file:{self.home}/.local/state/tracer/tracer.db?mode=ro", uri=True) as store:
            return store.execute(sql).fetchall()

    def used(self):
        return [int(word) for word in (self.home / "used").read_text().split()]


class Partial(Case):
    def check_cpu(self, *command):
        run = self.report("python3", "-c", MEASURE, *command)["run"]
        self.assertLess(abs(run["cpu_ns"] - self.used()[0]), TICKS_NS)
        return run

    def test_cpu_time_is_that_of_the_kernel(self):
        run = self.check_cpu("bash", "-c", PIPELINE)
        self.assertLess(abs(run["rchar_bytes"] - self.used()[2]), MIB)
        self.assertIn(("gzip",), self.rows("SELECT DISTINCT program FROM processes"))

    def test_many_short_processes_are_one(self):
        self.check_cpu("bash", "-c", "for i in $(seq 1000); do /bin/true; done")
        unseen = self.rows("SELECT program, parent_id FROM processes WHERE program GLOB '(*'")
        self.assertEqual({program for program, _ in unseen}, {"(not seen)"})
        # One below bash, and one below python3 if no scan saw what bash did at its end.
        self.assertEqual(len({parent for _, parent in unseen}), len(unseen), unseen)

    def test_the_largest_peak_is_that_of_the_kernel(self):
        run = self.report("python3", "-c", MEASURE, "python3", "-c",
                          f"import time; data = b'1' * ({200 * MIB}); time.sleep(0.5)")["run"]
        peak = self.used()[1]
        self.assertGreater(peak, 200 * MIB)
        self.assertLess(abs(run["peak_rss_bytes"] - peak), peak / 64 + MIB)

    def test_what_no_scan_saw_is_known_in_the_sum(self):
        os.mkfifo(self.home / "gate")
        process = self.start("run", "--json", "--output", "run.json", "--", "bash", "-c", "echo ready; read <gate;"
                             "dd if=/dev/zero of=/dev/null bs=64M count=5; : >done; exit 6")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGSTOP)  # no scans meanwhile
        (self.home / "gate").write_text("go\n")
        wait_until("the end of dd", (self.home / "done").exists)
        time.sleep(0.2)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 6)
        (program, cpu_ns, peak), = self.rows("SELECT program, cpu_ns, peak_rss_bytes FROM processes "
                                             "WHERE program <> 'bash'")
        self.assertEqual(program, "(not seen)")
        self.assertGreater(cpu_ns, TICKS_NS)
        self.assertTrue(64 * MIB < peak < 70 * MIB, peak)

    def test_of_a_command_alone_all_is_its_own(self):
        self.report("python3", "-c", THREADS)
        (cpu_ns, peak), = self.rows("SELECT cpu_ns, peak_rss_bytes FROM processes")
        self.assertGreaterEqual(cpu_ns, self.used()[0])
        self.assertLess(cpu_ns, self.used()[0] + TICKS_NS)
        self.assertGreater(peak, 50 * MIB)

    def test_exit_status_is_the_commands(self):
        run = self.report("sh", "-c", "exit 3", status=3)["run"]
        self.assertEqual((run["status"], run["exit_code"]), ("failed", 3))
        run = self.report("sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)["run"]
        self.assertEqual((run["status"], run["signal"]), ("killed", signal.SIGTERM))
        self.assertIn("not found", self.tracer("run", "--", "does-not-exist", status=127)[1])
        self.tracer("run", "--", "/etc/passwd", status=126)

    def test_it_is_marked_partial_on_every_screen(self):
        errors = self.tracer("run", "--report", "run.html", "--", "sh", "-c", "/bin/true; exit 0")[1]
        self.assertEqual(errors.count("tracer run: partial"), 1)
        self.assertEqual(errors.count("PARTIAL"), 1)
        self.assertIn("PARTIAL", self.tracer("show")[0])
        self.assertIn("partial, succeeded", self.tracer("runs")[0])
        shown = json.loads(self.tracer("show", "--json")[0])
        self.assertTrue(shown["lower_bounds"]["is_partial"])
        self.assertIn("partial", shown["run"]["reason"])
        self.assertIn("**Partial**", self.tracer("report", "--format", "md")[0])
        self.assertTrue(Page(self.home / "run.html").facts["lower_bounds"]["is_partial"])
        self.assertIn("PARTIAL", self.tracer("run", "--store", "other.db", "--", "true")[1])

    def test_a_process_that_outlives_the_command_is_left(self):
        self.report("sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & sleep 0.5; exit 0")
        (pid, ended), = self.rows("SELECT pid, ended FROM processes WHERE program = 'sleep' AND ended <> 'exit'")
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(ended, "left")

    def test_orphans_are_waited_for(self):
        self.report("sh", "-c", "(setsid sh -c 'sleep 0.2; exit 7' &) ; sleep 1; ! ps --ppid $PPID -o stat= | grep Z")
        self.assertIn((7,), self.rows("SELECT exit_code FROM processes WHERE program = 'sh' AND ended = 'exit'"))
        self.assertEqual(self.rows("SELECT count(*) FROM runs"), [(1,)])

    def test_the_tree_is_that_of_the_processes(self):
        self.report("sh", "-c", "bash -c 'sleep 0.5 | cat; exit 0'; exit 0")
        self.assertEqual(self.rows(
            "SELECT c.program, p.program FROM processes c JOIN processes p ON p.id = c.parent_id "
            "WHERE c.program IN ('bash', 'sleep', 'cat') ORDER BY 1"),
            [("bash", "sh"), ("cat", "bash"), ("sleep", "bash")])

    def test_arguments_directory_and_program_are_known(self):
        script = self.home / "script.sh"
        script.write_text("#!/bin/sh\nsleep 0.5\n")
        script.chmod(0o755)
        self.report("sh", "-c", "./script.sh a 'b c'; exit 0")
        self.assertEqual(self.rows("SELECT arguments FROM processes WHERE path = '/bin/sh'"),
                         [(b"/bin/sh\0./script.sh\0a\0b c\0",)])
        self.assertEqual(self.rows("SELECT path, working_directory FROM processes WHERE program = 'sleep'"),
                         [(os.path.realpath("/bin/sleep"), str(self.home))])

    def test_of_a_setuid_program_only_some_is_known(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make one")
        program = self.directory / "asleep"
        shutil.copy("/bin/sleep", program)
        program.chmod(0o4755)
        self.report("sh", "-c", f"{program} 0.5; exit 0")
        self.assertEqual(self.rows("SELECT ended FROM processes WHERE program = 'asleep'"), [("exit",)])

    def test_a_signal_to_us_reaches_the_command(self):
        process = self.start("run", "--", "sh", "-c", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.1; done")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertIn("exit code 5", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 5)

    def test_killed_it_leaves_nothing(self):
        process = self.start("run", "--", "sleep", "2")
        wait_until("a store", lambda: list(self.home.glob("tracer-run-*/tracer.db")))
        time.sleep(0.5)
        process.kill()
        process.communicate(timeout=60)
        wait_until("nothing left", lambda: not list(self.home.glob("tracer-run-*")))


if __name__ == "__main__":
    if os.geteuid() == 0:
        enter_own_mounts()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/var/lib"], check=True)  # without a store of services
    sys.exit(run_cases("cli-partial", sys.argv[3:]))
