#!/usr/bin/env python3
"""tracer run, record and replay with a probe on this kernel: the command must not be affected, and
nothing may be left behind. Skipped without root or if the probe cannot be loaded.

    check_run.py TRACER [TEST...]
"""
import contextlib
import fcntl
import glob
import json
import os
import pathlib
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from testing import OnTerminal, run_cases, skip_all, wait_until  # noqa: E402

TRACER = os.path.abspath(sys.argv[1])
STRANGER = "a-strangers-secret"
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA_1 = (ROOT / "common/store/migrations/0001.sql", ROOT / "tests/store_schema_1.sql")
NOBODY = 65534
SAMPLE = ["bash", "-c", "gzip -c /bin/bash >/dev/null; sleep 0.1"]
COUNT_INTERRUPTS = """
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("ready", flush=True)
end = time.monotonic() + 60
while not seen and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.5)  # a second one would come with the first
sys.exit(20 + len(seen))
"""
# Waits until the file $0 exists, at most about a minute.
UNTIL = 'echo ready; for _ in $(seq 600); do [ -e "$0" ] && break; sleep 0.1; done; '
LEFTOVERS_TIMEOUT_S = 60


def can_watch():
    probe = os.path.join(os.path.dirname(TRACER), "../probe/tracer-probe")
    return os.geteuid() == 0 and subprocess.run(
        [probe, "--record", "/dev/null", "--duration", "0.1"], capture_output=True, check=False).returncode == 0


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.directory.chmod(0o777)
        self.environment = {**os.environ, "HOME": str(self.directory), "LC_ALL": "C.UTF-8"}
        for name in ("SUDO_UID", "SUDO_GID", "TRACER_STORE"):
            self.environment.pop(name, None)

    def tearDown(self):
        self.assertEqual(self.leftovers(), [])

    @staticmethod
    def leftovers():
        return glob.glob("/run/tracer-run-*")

    def path(self, name):
        return str(self.directory / name)

    def start(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return subprocess.Popen([TRACER, *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run_tracer(self, *arguments, **options):
        process = self.start(*arguments, **options)
        process.output, process.errors = process.communicate(timeout=90)
        return process

    def ran(self, *arguments, status=0, **options):
        """Of a command that ends so and says nothing: its output."""
        process = self.run_tracer(*arguments, **options)
        self.assertEqual((process.returncode, process.errors), (status, b""))
        return process.output

    def runs(self, *options):
        """Of the store where every verb looks."""
        return json.loads(self.run_tracer("runs", "--json", "--limit", "0", *options).output or '{"runs": []}')["runs"]

    def rows(self, store, sql):
        with contextlib.closing(sqlite3.connect(store)) as database:
            return database.execute(sql).fetchall()

    def check_all_ended(self, store):
        for table in ("runs", "tasks", "tools", "processes"):
            self.assertEqual(self.rows(store, f"SELECT count(*) FROM {table} WHERE end_boot_ns IS NULL"), [(0,)], table)

    def report(self, *command, **options):
        path = self.directory / "report.json"
        output = self.ran("run", "--json", "--processes", "--output", str(path), "--", *command, **options)
        return output, json.loads(path.read_text(encoding="utf-8"))


class Command(Case):
    def test_report_goes_to_standard_error_and_names_the_tools(self):
        process = self.run_tracer("run", "--", "bash", "-c", "echo out; gzip -c /bin/bash >/dev/null")
        self.assertEqual((process.returncode, process.output), (0, b"out\n"))
        self.assertIn(b"gzip", process.errors)
        self.assertIn(b"succeeded in", process.errors)

    def test_figures_of_a_known_command(self):
        _, report = self.report(*SAMPLE)
        self.assertEqual(report["run"]["kind"], "command")
        self.assertEqual(report["run"]["status"], "succeeded")
        programs = {process["program"]: process for task in report["tasks"]
                    for process in task["processes"]}
        self.assertNotIn("exit", {process["totals"] for process in programs.values()}, "it did not wait for the kernel")
        self.assertEqual(programs["gzip"]["arguments"], ["gzip", "-c", "/bin/bash"])
        self.assertEqual(programs["sleep"]["exit_code"], 0)
        self.assertGreaterEqual(programs["sleep"]["end_boot_ns"] -
                                programs["sleep"]["begin_boot_ns"], 100_000_000)
        self.assertGreater(programs["gzip"]["rchar_bytes"], os.path.getsize("/bin/bash"))

    def test_exit_status_is_the_commands(self):
        for command, status in ((["true"], 0), (["sh", "-c", "exit 3"], 3),
                                (["sh", "-c", "kill -9 $$"], 137), (["no-such-program"], 127),
                                (["/etc/passwd"], 126)):
            self.assertEqual(self.run_tracer("run", "-q", "--", *command).returncode, status, command)

    def test_the_command_does_not_notice(self):
        script = ("readlink /proc/self/fd/1 >/dev/null; pwd; umask; env | sort; ulimit -n; id;"
                  "grep -E '^(Sig(Blk|Ign)|Groups|NoNewPrivs|Seccomp|CapEff)' /proc/self/status;"
                  "ls /proc/self/fd; ps -o pgid= -p $$")
        command = ["bash", "-c", script]
        reader, extra = os.pipe()
        options = {"cwd": self.directory, "env": self.environment, "pass_fds": [extra],
                   "start_new_session": True}
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        try:
            plain = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True,
                                   **options).stdout
            watched = self.run_tracer("run", "-q", "--", *command, **options).output
        finally:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)
            os.close(reader)
            os.close(extra)

        def steady(text):  # without the line of its process group, which varies
            return [line for line in text.splitlines()[:-1]]
        self.assertEqual(steady(watched), steady(plain))

    def test_a_closed_descriptor_stays_closed(self):
        process = subprocess.run(["sh", "-c", 'exec "$0" run -q -- sh -c "! (: >&0) 2>&-" <&-',
                                  TRACER], env=self.environment, capture_output=True, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_behind_sudo_it_is_the_callers(self):
        environment = {**self.environment, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY),
                       "HOME": "/root", "USER": "root", "KEPT": "kept"}
        path = self.path("kept.db")
        process = self.run_tracer("run", "-q", "--store", path, "--", "sh", "-c",
                                  "id -u; id -G; echo $HOME $USER $KEPT", env=environment)
        self.assertEqual(process.output, b"65534\n65534\n/nonexistent nobody kept\n", process.errors)
        status = os.stat(path)
        self.assertEqual((status.st_uid, status.st_mode & 0o777), (NOBODY, 0o600))

    def test_as_user(self):
        process = self.run_tracer("run", "-q", "--as", "daemon", "--", "id", "-un")
        self.assertEqual(process.output, b"daemon\n")

    def test_in_a_pid_namespace(self):
        """Inside, pids differ from those of the kernel side; the report still covers the command."""
        path = self.directory / "report.json"
        result = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", TRACER, "run", "--json", "--processes",
                                 "--output", path, "--", "sh", "-c", "sleep 0.2; exit 3"], env=self.environment,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False)
        self.assertEqual((result.returncode, result.stderr), (3, b""))
        report = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(report["run"]["exit_code"], 3)
        programs = [process["program"] for task in report["tasks"] for process in task["processes"]]
        self.assertEqual(sorted(programs), ["sh", "sleep"])


class Signals(Case):
    def start_and_wait(self, command, **options):
        process = self.start("run", "--", *command, **options)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_a_signal_to_us_reaches_the_command(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
            process = self.start_and_wait(
                ["bash", "-c", f"trap 'kill $!; exit 7' {number.value}; echo ready; sleep 30 & wait"],
                start_new_session=True)
            process.send_signal(number)
            output = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 7, output)
            self.assertIn(b"failed with exit code 7", output[1])

    def test_control_c_reaches_it_once_and_the_report_comes(self):
        terminal = OnTerminal([TRACER, "run", "--", sys.executable, "-c", COUNT_INTERRUPTS], self.environment, own=True)
        wait_until("it is ready", lambda: b"ready" in terminal.said)
        terminal.type(b"\x03")
        status, output = terminal.finish()
        self.assertEqual(status, 21, output)
        self.assertIn(b"exit code 21", output)

    @staticmethod
    def kill_and_wait(pid):
        """Kills a process that is not a child, and waits for its end."""
        descriptor = os.pidfd_open(pid)
        os.kill(pid, signal.SIGKILL)
        select.select([descriptor], [], [], 60)
        os.close(descriptor)

    def test_killed_it_leaves_nothing(self):
        process = self.start_and_wait(["bash", "-c", UNTIL, self.path("go-on")])
        wait_until("a row", self.runs)
        process.kill()
        (self.directory / "go-on").touch()
        process.communicate()
        deadline = time.monotonic() + LEFTOVERS_TIMEOUT_S
        while self.leftovers() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.leftovers(), [])
        wait_until("the run is closed", lambda: [(run["status"], run["living_count"]) for run in self.runs()] == [("ended", 0)])

    def test_a_daemon_that_ends_is_reported_and_the_command_continues(self):
        process = self.start_and_wait(["bash", "-c", UNTIL + "echo done; exit 4", self.path("go-on")])
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/comm", encoding="ascii") as file:
                if file.read() == "tracer-probe\n":
                    self.kill_and_wait(int(child))
        (self.directory / "go-on").touch()
        output = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output[0]), (4, b"done\n"))
        self.assertIn(b"tracer-probe ended while the command ran", output[1])


class Keeping(Case):
    def test_store_is_kept_and_added_to(self):
        path = self.path("kept.db")
        for command in ("true", "sleep"):
            self.ran("run", "-q", "--store", path, "--", command, "0.1")
        runs = self.runs("--store", path)
        names = [run["name"] for run in runs if run["kind"] == "command"]
        self.assertIn("true", names)
        self.assertIn("sleep", names)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_a_store_that_cannot_be_kept_is_reported_before_the_command(self):
        """A missing directory, a file that is not a store and stays as it is, and the store of a correlator."""
        text, held = self.directory / "text", self.path("kept.db")
        text.write_text("mine\n" * 1000)
        with open(held + ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for path, words in ((self.path("none/kept\033.db"), "none/kept\\e.db: no such directory"), (text, "not a tracer store"),
                                (held, f"in use by another tracer-correlator or tracer run (pid {os.getpid()})")):
                process = self.run_tracer("run", "--store", path, "--", "touch", self.path("ran"))
                self.assertEqual(process.returncode, 125)
                self.assertIn(words.encode(), process.errors)
                self.assertFalse(os.path.exists(self.path("ran")))
        self.assertEqual(text.read_text(), "mine\n" * 1000)

    def test_a_reader_that_goes_away_takes_nothing_with_it(self):
        path = self.path("kept.db")
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.run([TRACER, "run", "--store", path, "--", "sh", "-c", "exit 3"],
                                 env=self.environment, stdin=subprocess.DEVNULL, stderr=writer, check=False)
        os.close(writer)
        self.assertEqual(process.returncode, 3)
        self.assertTrue(self.runs("--store", path))

    def test_a_page_of_the_run(self):
        page = pathlib.Path(self.path("run.html"))
        process = self.run_tracer("run", "-q", "--report", page, "--", *SAMPLE)
        if b"-Dweb=disabled" in process.errors:
            self.skipTest("this build has no page: it needs esbuild")
        self.assertEqual((process.returncode, process.errors), (0, b""))
        self.assertIn("Content-Security-Policy", page.read_text())
        process = self.run_tracer("run", "-q", "--report", self.path("missing/run.html"), "--", "true")
        self.assertEqual(process.returncode, 125)
        self.assertIn(b"cannot write to", process.errors)
        self.assertEqual(self.run_tracer("run", "-q", "--report", self.path("missing/run.html"), "--", "false").returncode, 1)

    def test_a_user_cannot_have_root_write_elsewhere(self):
        victim = self.directory / "victim"
        victim.write_text("root's")
        victim.chmod(0o600)
        (self.directory / "link").symlink_to(victim)
        environment = {**self.environment, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
        for option in ("--store", "--output"):
            process = self.run_tracer("run", option, self.path("link"), "--", "true", env=environment)
            self.assertEqual(process.returncode, 125, process.errors)
        self.assertEqual(victim.read_text(), "root's")

    def test_without_services_runs_are_where_show_looks(self):
        for number in (1, 2, 3):
            self.assertEqual(self.run_tracer("run", "-q", "--", "sh", "-c", f"exit {number}").errors, b"")
        runs = self.runs()
        self.assertEqual([run["exit_code"] for run in runs], [3, 2, 1])
        self.assertIn(b"failed with exit code 3", self.run_tracer("show").output)
        folder = self.path(".local/state/tracer")
        self.assertEqual([os.stat(path).st_mode & 0o777 for path in (folder, folder + "/tracer.db")], [0o700, 0o600])
        for run in runs:  # the host was there from the first to the last
            bill = json.loads(self.run_tracer("cost", "--json", run["id"]).output)
            self.assertAlmostEqual(bill["observed_ms"], run["wall_ns"] / 1e6, delta=2)
        bill = json.loads(self.run_tracer("cost", "--json", "--since", "1d").output)
        self.assertAlmostEqual(bill["observed_ms"], sum(run["wall_ns"] for run in runs) / 1e6, delta=6)
        path = self.path("named.db")
        self.environment["TRACER_STORE"] = path
        self.assertEqual(self.run_tracer("run", "-q", "--", "sh", "-c", "exit 4").errors, b"")
        self.assertEqual([run["exit_code"] for run in self.runs()], [4])
        # Who has no home directory loses nothing but that.
        environment = {**self.environment, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "TRACER_STORE": ""}
        process = self.run_tracer("run", "-q", "--", "sh", "-c", "exit 5", env=environment)
        self.assertEqual(process.returncode, 5)
        self.assertIn(b"the run will not be kept: /nonexistent/.local/state/tracer/tracer.db: ", process.errors)

    def test_two_at_once_are_seen_live_in_one_store(self):
        started = [self.start("run", "-q", "--", "sh", "-c", UNTIL + "exit $1", self.path(name), str(number))
                   for number, name in enumerate(("first", "second"), 5)]
        for process in started:
            self.assertEqual(process.stdout.readline(), b"ready\n")
        wait_until("both are running", lambda: [run["status"] for run in self.runs()] == ["running"] * 2)
        top = json.loads(self.run_tracer("top", "--json", "--all").output)
        self.assertLess(top["lag_ns"], 15e9)
        self.assertEqual(len({tool["run_id"] for tool in top["tools"]}), 2)
        (self.directory / "first").touch()
        self.assertEqual(started[0].communicate(timeout=60)[1], b"")
        wait_until("one has ended", lambda: sorted(run["status"] for run in self.runs()) == ["failed", "running"])
        (self.directory / "second").touch()
        started[1].communicate(timeout=60)
        self.assertEqual([process.returncode for process in started], [5, 6])
        self.assertEqual(sorted(run["exit_code"] for run in self.runs()), [5, 6])
        store = self.path(".local/state/tracer/tracer.db")
        revs = [rev for table in ("runs", "tasks", "tools", "process_rows") for rev, in self.rows(store, f"SELECT rev FROM {table}")]
        self.assertEqual(len(revs), len(set(revs)))
        self.check_all_ended(store)

    @contextlib.contextmanager
    def stranger(self):
        """An unrelated process with a word in its command line, before and during the run."""
        script = "while :; do sleep 0.05 \"$0\" 2>/dev/null; sleep 0.05; done"
        process = subprocess.Popen(["sh", "-c", script, STRANGER], user=NOBODY, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_the_file_holds_the_run_and_nothing_of_others(self):
        path = self.path("kept.db")
        with self.stranger():
            self.ran("run", "-q", "--store", path, "--", "sh", "-c", "sleep 0.5; cat /dev/null; exit 3", status=3)
        self.assertNotIn(STRANGER.encode(), pathlib.Path(path).read_bytes())
        self.assertEqual([name for name in os.listdir(self.directory)
                          if name.startswith("kept.db") and name != "kept.db.lock"], ["kept.db"])
        self.assertEqual([(run["kind"], run["exit_code"], run["living_count"]) for run in self.runs("--all", "--store", path)],
                         [("command", 3, 0)])
        self.assertEqual({name for name, in self.rows(path, "SELECT program FROM processes")}, {"sh", "sleep", "cat"})
        for table in ("tasks", "tools", "processes"):
            self.assertEqual(self.rows(path, f"SELECT DISTINCT run_id IN (SELECT id FROM runs) FROM {table}"), [(1,)])
        self.assertEqual(self.rows(path, "SELECT count(*) FROM hosts"), [(1,)])

    def test_what_still_runs_is_marked_as_left(self):
        path = self.path("kept.db")
        self.ran("run", "-q", "--store", path, "--", "sh", "-c",
                 f"setsid sleep 30 >/dev/null 2>&1 & echo $! >{self.path('pid')}; sleep 1.5")
        os.kill(int((self.directory / "pid").read_text()), signal.SIGKILL)
        self.assertEqual(self.rows(path, "SELECT program FROM processes WHERE ended = 'left'"), [("sleep",)])
        self.check_all_ended(path)
        run, = self.runs("--store", path)
        self.assertEqual((run["status"], run["living_count"]), ("succeeded", 0))
        self.assertIn(b"left", self.run_tracer("show", "-p", "--store", path).output)

    def test_a_store_of_an_older_release_is_added_to(self):
        path = self.path("old.db")
        with contextlib.closing(sqlite3.connect(path)) as database:
            for script in SCHEMA_1:
                database.executescript(script.read_text(encoding="utf-8"))
            before = database.execute("SELECT count(*) FROM runs").fetchone()[0]
        self.ran("run", "-q", "--store", path, "--", "true")
        self.assertEqual(self.rows(path, "SELECT count(*) FROM runs"), [(before + 1,)])

    def test_record_and_replay(self):
        recording = self.path("a.rec")
        pid = self.ran("record", recording, "--", "bash", "-c", "echo $$; exec sleep 0.1").decode().strip()
        self.assertEqual(os.stat(recording).st_mode & 0o777, 0o600)
        listed = self.run_tracer("replay", recording, "--json")
        self.assertEqual(listed.returncode, 0, listed.errors)
        self.assertTrue(json.loads(listed.output)["runs"])
        store = self.path("replayed.db")
        self.assertEqual(self.run_tracer("replay", recording, "--store", store).returncode, 0)
        explained = self.run_tracer("explain", pid, "--store", store)
        self.assertIn(b"sleep 0.1", explained.output)
        self.assertEqual(self.run_tracer("replay", self.path("none")).returncode, 1)

    def test_record_overwrites_only_on_request(self):
        recording = self.path("there.rec")
        pathlib.Path(recording).write_bytes(b"mine")
        for command, status in ((["--", "true"], 125), (["--duration", "1s"], 1)):
            refused = self.run_tracer("record", recording, *command)
            self.assertEqual(refused.returncode, status)
            self.assertIn(b"there.rec exists: name another file, or overwrite it with --force", refused.errors)
            self.assertEqual(pathlib.Path(recording).read_bytes(), b"mine")
        self.assertEqual(self.run_tracer("record", "--force", recording, "--", "true").returncode, 0)
        self.assertTrue(json.loads(self.run_tracer("replay", recording, "--json").output)["runs"])

    def test_a_recording_of_the_host_says_that_it_is_made(self):
        terminal = OnTerminal([TRACER, "record", self.path("a.rec"), "--duration", "1s"], env=self.environment)
        self.assertEqual(terminal.finish(), (0, b""))
        self.assertEqual(terminal.said, b"tracer record: recording this host for 1 s\r\n")
        self.assertEqual(self.run_tracer("replay", self.path("a.rec"), "--json").returncode, 0)


def go_apart():
    """Runs this program again with private folders, free of temporary files of other tests and of a store of services."""
    script = 'mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && exec "$@"'
    os.environ["CHECK_RUN_APART"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, *sys.argv])


if __name__ == "__main__":
    if not can_watch():
        sys.exit(skip_all("cli-run", "needs root and a kernel that runs the probe"))
    if not os.environ.pop("CHECK_RUN_APART", None):
        go_apart()
    sys.exit(run_cases("cli-run", sys.argv[2:]))
