#!/usr/bin/env python3
"""Every read-only verb of tracer: valid and invalid usage, valid and broken stores, JSON,
terminals, hostile names, and docs/json.md.

    check_verbs.py TRACER MAKE_STORE CORRELATOR PROBE SHIPPER DOCS [TEST...]
"""
import collections
import contextlib
import csv
import datetime
import decimal
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest
import unittest.mock

import case
from case import TRACER
from daemons import Daemon
from testing import FIND_LEAKS, OnTerminal, run_cases, wait_until

MAKE_STORE, CORRELATOR, PROBE, SHIPPER, DOCS = map(os.path.abspath, sys.argv[2:7])

# Verbs that print from a store, with their arguments.
PRINTING = [["runs", "--all"], ["show"], ["show", "--by", "task"], ["show", "--by", "tool"],
            ["show", "--processes", "--all"], ["top", "--once", "--all"], ["status"], ["host"],
            ["explain", "map"], ["explain", "1000"], ["cost"], ["cost", "--by", "task"], ["prices", "show"],
            ["query", "processes"], ["query", "runs", "--format", "csv"], ["query", "summary"], ["metrics"]]
WITH_STORE = [["runs"], ["metrics"], ["show"], ["top"], ["explain", "1"], ["host"], ["failed"], ["query", "runs"]]
# Exit status after wrong usage: 2 may be that of the command that tracer runs.
USAGE = collections.defaultdict(lambda: 2, run=125)


def verbs():
    text = subprocess.run([TRACER, "help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z]+) {2,}", text.split("Commands:")[1].split("Begin with")[0], re.M)


class Case(case.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment |= FIND_LEAKS

    def fails(self, status, *arguments, **options):
        result = self.run_tracer(*arguments, **options)
        self.assertEqual(result.returncode, status, (arguments, result))
        if result.stderr is not None:
            self.assertTrue(result.stderr.strip(), arguments)
        return result

    def make_store(self, name):
        """A store whose "now" is the present, as required by questions about the last minute."""
        path = os.path.join(self.directory, name)
        self.write_store(path)
        return path


class Usage(Case):
    def test_every_verb_has_help_and_refuses_what_is_wrong(self):
        for verb in verbs():
            help_text = self.run_tracer(verb, "--help")
            self.assertEqual(help_text.returncode, 0, verb)
            self.assertIn(b"Usage: tracer " + verb.encode(), help_text.stdout)
            self.assertEqual(self.run_tracer("help", verb).stdout, help_text.stdout)
            for line in help_text.stdout.decode().split("\nExamples:")[0].splitlines():
                self.assertLessEqual(len(line), 80, (verb, line))
            self.fails(USAGE[verb], verb, "--no-such-option")
            self.fails(USAGE[verb], verb, "--help=3")

    def test_wrong_values_and_operands(self):
        for arguments in (["runs", "--limit", "x"], ["runs", "--since", "3y"], ["runs", "x"],
                          ["runs", "--limit", ""], ["runs", "--limit", "-1"], ["runs", "--limit", "1x"],
                          ["runs", "--limit", "99999999999999999999"], ["runs", "--all=3"], ["runs", "--since", "h"],
                          ["runs", "--since", "99999999999d"],
                          ["runs", "--user", "no-such-user"], ["runs", "--limit"],
                          ["show", "a", "b"], ["show", "--color", "red"],
                          ["show", "--by", "task", "--processes"], ["show", "--by", "tool", "--processes"],
                          ["show", "--by", "run"], ["show", "--series"], ["top", "--sort", "x"],
                          ["top", "--period", "0"], ["explain"], ["rules"], ["rules", "x"], ["prices"], ["prices", "x"], ["prices", "check"], ["prices", "show", "x"], ["prices", "import"],
                          ["prices", "import", "x", "y"],
                          ["cost", "--by", "x"], ["cost", "--since", "x"], ["cost", "make", "--since", "1d"],
                          ["cost", "--format", "focus", "make"], ["cost", "--format", "x"], ["cost", "--centres", "x"],
                          ["cost", "--co2", "--format", "focus"], ["cost", "--co2", "--prices", "x"], ["cost", "--carbon-intensity", "5"],
                          ["cost", "--co2", "--carbon-intensity", "x"], ["cost", "--co2", "--carbon-intensity", "10001"],
                          ["rules", "check"], ["rules", "test"], ["completion", "csh"], ["run"],
                          ["record"], ["record", "f", "--duration", "x"], ["record", "f", "--as", "root"], ["replay"],
                          ["run", "--as", "no-such-user", "true"], ["help", "nope"], ["nope"],
                          ["query"], ["query", "nope"], ["query", "runs", "--limit", "x"], ["query", "runs", "x"],
                          ["query", "host_samples"], ["query", "runs", "--param", "limit"], ["query", "runs", "--param", "x=1"],
                          ["status", "x"], ["doctor", "x"], ["host", "x"], ["host", "--since", "x"],
                          ["runs", "--since", "1d", "--until", "2d"], ["cost", "--until", "2026-11-01", "--since", "2026-11-01"],
                          ["host", "--since", "90"], ["runs", "--until", "2026-02-30"], ["top", "--period", "500ms"]):
            result = self.fails(USAGE[arguments[0]], *arguments)
            self.assertEqual(len(result.stderr.splitlines()), 1, arguments)

    def test_nothing_and_version(self):
        self.assertEqual(self.run_tracer().returncode, 2)
        self.assertRegex(self.run_tracer("--version").stdout, rb"^tracer \d+\.\d+\.\d+\n$")

    def test_a_lake_is_named_before_the_command_too(self):
        url = "http://127.0.0.1:1"
        for arguments in (["--lake", url, "runs"], [f"--lake={url}", "runs"], ["runs", "--lake", url]):
            self.assertIn(b"127.0.0.1", self.fails(1, *arguments).stderr)
        for status, arguments in ((2, ["--lake", url, "doctor"]), (125, [f"--lake={url}", "run", "true"])):
            self.assertIn(b"unknown option --lake", self.fails(status, *arguments).stderr)
        for arguments in (["--lake"], ["--lake", url], ["--lake="], ["--lak", url, "runs"]):
            self.fails(2, *arguments)
        self.fails(1, "--lake=", "runs")  # does not fall back to this host's store

    def test_a_run_is_recorded_and_read_here_whatever_lake_there_is(self):
        """The store is recent, as with running daemons that never see this command: the verb waits."""
        boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        with self.changed("fresh", self.make_store("now.db")) as (store, database):
            database.execute("UPDATE stream SET boot_id = ?, committed_boot_ns = ?",
                             (boot_id, time.clock_gettime_ns(time.CLOCK_BOOTTIME)))
        process = subprocess.Popen([TRACER, "run", "--", "echo", "ran"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env={**self.environment, "TRACER_STORE": store,
                                        "TRACER_LAKE": "http://127.0.0.1:1"})
        self.assertEqual(process.stdout.readline(), b"ran\n")
        while process.poll() is None:  # a signal that arrives before it waits must not abort it
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(errors.decode(), f"tracer run: the command's run is not in {store}: see "
                         "tracer status\n")

    def test_without_a_probe_nothing_is_recorded(self):
        """As with env(1), a failure that is not the command's is told by the status."""
        alone = os.path.join(self.directory, "alone")
        shutil.copy(TRACER, alone)
        for arguments, status in ((["record", "f.rec"], 1), (["record", "f.rec", "--", "true"], 125)):
            result = subprocess.run([alone, *arguments], env={**self.environment, "PATH": ""}, capture_output=True, check=False)
            self.assertEqual(result.returncode, status, result)

    def test_a_recorded_command_may_exit_with_2_itself(self):
        for status, arguments in ((2, ["f.rec", "--as"]), (2, ["f.rec", "--duration", "x"]), (125, ["f.rec", "--nope", "--", "true"]),
                                  (125, ["f.rec", "--duration", "1s", "--", "true"])):
            self.fails(status, "record", *arguments)

    def test_no_rows_are_an_answer(self):
        with self.changed("empty") as (store, database):
            for table in ("runs", "tasks", "tools", "incidents", "samples", "hosts", "host_samples"):
                database.execute(f"DELETE FROM {table}")
        for arguments in (["runs"], ["failed"], ["query", "runs"], ["top", "--once"], ["cost"], ["sweep"], ["host"]):
            for options in ([], ["--json"]):
                result = self.run_tracer(*arguments, *options, "--store", store)
                self.assertEqual(result.returncode, 0, (arguments, result))
        self.assertEqual(self.json("failed", "--store", store), {"run": None, "failures": []})
        for arguments in (["show"], ["failed", "make"], ["tune"], ["export", "--format", "csv"], ["explain", "nothing"], ["compare", "x", "y"]):
            self.fails(1, *arguments, "--store", store)

    def test_hostile_arguments_are_shown_safely(self):
        for arguments in (["\033[2J\n"], ["show", "\033[3J\n"], ["runs", "--limit", "\033x"],
                          ["explain", "\033[2J"], ["rules", "check", "/\033[2J"]):
            result = self.run_tracer(*arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertNotIn(b"\033", result.stderr)

    def test_a_letter_is_one_option_in_all_verbs(self):
        names = collections.defaultdict(set)
        for verb in verbs():
            for letter, name in re.findall(r"^ {2}-(\S), --([a-z-]+)", self.text(verb, "--help"), re.M):
                names[letter].add(name)
        self.assertEqual({letter: several for letter, several in names.items() if len(several) > 1}, {})


class Stores(Case):
    def refused(self, path, reason=b""):
        """By every verb that reads a store; `status` says so on standard output."""
        for arguments in WITH_STORE:
            self.assertIn(reason, self.fails(1, *arguments, "--store", path).stderr)
        result = self.run_tracer("status", "--store", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn(reason, result.stdout)

    def test_what_is_no_store_of_this_release(self):
        self.refused("/nonexistent/tracer.db", b"no such file")
        self.refused(self.make_file("text", b"not a database" * 1000))
        self.refused(self.make_file("empty-header", bytes(4096)))
        with self.changed("newer") as (newer, database):
            database.execute("PRAGMA user_version = 9999")
        self.refused(newer, b"newer release")

    def test_a_damaged_store(self):
        content = bytearray(pathlib.Path(self.store).read_bytes())
        for offset in range(4096, len(content), 97):
            content[offset] ^= 0xff
        path = self.make_file("damaged", content)
        for arguments in WITH_STORE:
            result = self.run_tracer(*arguments, "--store", path)
            self.assertIn(result.returncode, (0, 1), result)
            self.assertNotIn(b"Sanitizer", result.stderr)

    def test_what_sqlite_says_of_a_hostile_store_is_shown_safely(self):
        """SQLite's messages quote names from the file."""
        name = "evil\033[2J\n\u202e"
        views = ["standing_runs", "standing_tasks", "processes", "placed_samples"]
        spoils = {view: f'DROP VIEW {view}; CREATE VIEW {view} AS SELECT * FROM "{name}"' for view in views}
        spoils["schema"] = ("PRAGMA writable_schema = 1; INSERT INTO sqlite_schema VALUES"
                            f" ('view', '{name}', '{name}', 0, 'CREATE VIEW')")
        spoils["step"] = ("CREATE TABLE kept AS SELECT * FROM hosts; DROP TABLE hosts; CREATE VIEW hosts AS SELECT *"
                          " FROM kept WHERE abs(-9223372036854775807 - (SELECT count(*) FROM kept)) > 0")
        quoted = 0
        for spoil, sql in spoils.items():
            with self.changed(f"hostile-{spoil}") as (path, database):
                database.executescript(sql)
            for arguments in WITH_STORE + [["explain", "map"], ["status"]]:
                result = self.run_tracer(*arguments, "--store", path)
                said = result.stdout + result.stderr
                quoted += b"evil\\e[2J" in said
                self.assertTrue(said.strip(), (spoil, arguments))
                for character in said.decode("utf-8"):
                    self.assertTrue(character == "\n" or unicodedata.category(character)[0] != "C",
                                    (spoil, arguments, said))
        self.assertGreater(quoted, 10)

    def test_figures_that_are_lower_bounds_are_said_to_be(self):
        self.assertNotIn(b"lower bounds", self.run_tracer("show", "make").stdout)
        with self.changed("doubtful") as (path, database):
            ids = [id for id, in database.execute("SELECT p.id FROM processes p JOIN runs r ON r.id = p.run_id"
                                                  " WHERE r.name = 'make' AND p.ended = 'exit' ORDER BY p.id")]
            for change, number in (("totals = 'sample'", 0), ("totals = 'sample', ended = 'lost'", 1), ("began = 'found'", 2),
                                   ("partial = 1, totals = 'exit'", 2)): # the last one was not reaped yet
                database.execute(f"UPDATE process_rows SET {change} WHERE id = ?", (ids[number],))
        shown = self.text("show", "make", "--store", path)
        self.assertIn("lower bounds: 2 processes whose last record is missing, 1 process that ran before the probe",
                      " ".join(shown.split()))
        shown = self.json("show", "make", "--store", path)
        self.assertEqual(shown["lower_bounds"], {"unfinished_count": 2, "found_count": 1, "partial_count": 1})

    def test_broken_site_rules_are_reported(self):
        with tempfile.TemporaryDirectory() as directory:
            def said(verb):
                checks = self.json(verb, "--rules", directory)["checks"]
                return [(check["level"], check["text"]) for check in checks if check["topic"] == "rules"]

            self.assertEqual(said("status"), [])
            self.assertEqual([level for level, _ in said("doctor")], ["ok"])
            for number in range(10):
                pathlib.Path(directory, f"site-{number}.yaml").write_text("rules:\n- rule: mine\n  match: {argv: '(['}\n")
            for verb in ("status", "doctor"):
                found = said(verb)
                self.assertEqual([level for level, _ in found], 9 * ["limited"])
                self.assertIn(f"{directory}/site-0.yaml:3: match: argv: bad regular expression", found[0][1])
                self.assertEqual(found[8][1], f"2 more files in {directory} have errors and are not used")

    def test_command_lines_are_text_for_readers_with_sql(self):
        with self.changed("commands") as (_, database):
            database.text_factory = bytes
            commands = database.execute("SELECT DISTINCT command FROM readable_processes WHERE pid = 1000").fetchall()
            self.assertEqual(commands, [(b"tool -t ' 2 it'\\''s' -n 'evil\033[2J\nname\x80\xff\xe2\x80\xae'",)])
            for arguments, command in ((None, None), (b"", None), (b"a\0", b"a"), (b"a", b"a"), (b"a\0\0b\0", b"a '' b"),
                                       (b"x\x10\x05\0-\0[]\0", b"'x\x10\x05' - []"), (b"\0", b"''")):
                database.execute("UPDATE process_rows SET arguments = ?", (arguments,))
                self.assertEqual(database.execute("SELECT DISTINCT command FROM readable_processes").fetchall(),
                                 [(command,)], arguments)

    def test_run_is_found_by_id_name_and_latest(self):
        """By a prefix of its id, and by a part of its name."""
        runs = self.json("runs", "--all")["runs"]
        found = {asked: run["id"] for run in runs for asked in (run["id"], run["id"][:10])}
        by_name = {run["name"]: run["id"] for run in runs}
        found |= {part: by_name[name] for part, name in (
            ("snake", "snakemake: Snakefile"), ("Snakef", "snakemake: Snakefile"), ("mak", "make"), ("make", "make"), ("gz", "gzip"),
            ("in", "init"), ("latest", runs[0]["name"]))}
        self.assertEqual({asked: self.json("show", asked)["run"]["id"] for asked in found}, found)
        self.assertIn("no run has a name that contains 'nothing'", self.text("show", "nothing", status=1))
        with self.changed("key") as (store, database):
            database.execute("UPDATE runs SET run_key = 'ecs:f00d' WHERE name = 'make'")
        self.assertEqual(self.json("show", "ecs:f00d", "--store", store)["run"]["id"], by_name["make"])
        said = self.text("show", "a", status=1)
        for text in ("several runs have names that contain 'a'", "bash", "make", "snakemake: Snakefile"):
            self.assertIn(text, said)

    def test_filters_of_runs(self):
        store = self.make_store("filtered.db")

        def names(*arguments):
            return [run["name"] for run in self.json("runs", "--store", store, *arguments)["runs"]]
        self.assertNotIn("init", names())
        self.assertNotIn("bash", names())
        self.assertIn("init", names("--all"))
        self.assertEqual(names("--limit", "1"), ["snakemake: Snakefile"])
        self.assertEqual(names("--since", "90s"), ["snakemake: Snakefile", "make"])
        self.assertEqual(names("--name", "snake"), ["snakemake: Snakefile"])
        self.assertEqual(names("--status", "running"), ["make"])
        self.assertEqual(names("--status", "killed"), [])
        self.assertEqual(names("--user", "0"), [])
        for options, (shown, count) in (
                (["--limit", "1"], (1, 4)), (["--limit", "4"], (4, 4)), ([], (4, 4)), (["--status", "succeeded", "-n1"], (1, 2))):
            listed = self.json("runs", "--store", store, *options)
            self.assertEqual((len(listed["runs"]), listed["run_count"]), (shown, count), options)
        for option in ([], ["--all"]):
            self.assertEqual(self.run_tracer("runs", "--store", store, "--user", "0", *option).stderr, b"tracer runs: no matching runs\n")
        self.assertEqual(len(names("--user", "1", "--limit", "0")), 4)

    def test_the_systems_own_is_left_out_and_counted(self):
        for number, kind in enumerate(("system", "session", "host-service")):
            with self.changed(f"own-{number}") as (store, database):
                database.execute("UPDATE runs SET kind = ? WHERE name LIKE 'snakemake%'", (kind,))
            listed = self.json("runs", "--store", store)
            whole = self.json("runs", "--all", "--limit", "0", "--store", store)
            self.assertNotIn("snakemake: Snakefile", [run["name"] for run in listed["runs"]], kind)
            self.assertEqual(listed["left_out_count"], 3)  # init and bash are the other two
            self.assertEqual((len(whole["runs"]), whole["left_out_count"]), (len(listed["runs"]) + 3, 0))
            shown = self.run_tracer("runs", "--store", store)
            self.assertEqual(shown.stderr, b"tracer runs: 3 of the system's own not shown; use --all to include them\n")
            latest = self.json("show", "--store", store)["run"]
            self.assertEqual(latest["name"], "make", kind)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be elsewhere")
class Hosts(Case):
    """doctor and status on hosts that lack something, in private mount and PID namespaces."""

    def elsewhere(self, script, *arguments):
        """Findings of a verb in private mount and PID namespaces, after running a script."""
        result = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-ec",
                                 script + '\nexec "$@"', "sh", *arguments, "--json"],
                                env=self.environment, capture_output=True, check=False)
        self.assertEqual(result.stderr, b"")
        return {check["topic"]: check for check in json.loads(result.stdout)["checks"]}

    def test_a_pid_namespace(self):
        """There the process scans of a probe have only what is in it."""
        for verb in ("doctor", "status"):
            finding = self.elsewhere("", TRACER, verb)["PID namespace"]
            self.assertEqual(finding["level"], "limited")
            self.assertIn("hostPID", finding["fix"])

    def test_a_host_without_bpffs(self):
        """What the probe's service cannot start without is reported as missing, not as limited."""
        no_bpffs = "mount -t tmpfs tmpfs /sys/fs/bpf\nmount -t tmpfs tmpfs /var/lib\n"
        finding = self.elsewhere(no_bpffs, TRACER, "doctor")["bpffs"]
        self.assertEqual(finding["level"], "limited")
        finding = self.elsewhere(no_bpffs + "mkdir /var/lib/tracer", TRACER, "doctor")["bpffs"]
        self.assertEqual(finding["level"], "missing")
        self.assertIn("mount -t bpf bpf /sys/fs/bpf", finding["fix"])
        finding = self.elsewhere(no_bpffs, TRACER, "status")["tracer-probe"]
        self.assertEqual(finding["level"], "missing")
        self.assertIn("mount -t bpf bpf /sys/fs/bpf, then systemctl start tracer-probe", finding["fix"])

    def test_a_host_with_gpus_and_no_sampler(self):
        """Nothing is said on a host without a device."""
        device = "mount -t tmpfs -o mode=755 tmpfs /dev\nmknod -m 666 /dev/null c 1 3\n"
        self.assertNotIn("GPUs", self.elsewhere(device, TRACER, "doctor"))
        device += "mknod -m 666 /dev/nvidia0 c 195 0\nmknod -m 666 /dev/nvidiactl c 195 255\n"
        finding = self.elsewhere(device, TRACER, "doctor")["GPUs"]
        self.assertEqual((finding["level"], finding["fix"]), ("limited", "systemctl enable --now tracer-sampler-nvidia"))
        self.assertIn("1 device and no sampler", finding["text"])
        path = os.path.join(self.directory, "tracer-sampler-nvidia")
        shutil.copy("/bin/sleep", path)
        device += f"{path} 60 &\nuntil grep -q tracer-sampler /proc/$!/comm; do sleep 0.1; done\n"
        self.assertEqual(self.elsewhere(device, TRACER, "doctor")["GPUs"]["level"], "ok")

    def test_a_daemon_is_not_what_anyone_calls_so(self):
        """A process of the name of a daemon is one if root or the daemon's own user runs it."""
        path = os.path.join(self.directory, "tracer-probe")
        shutil.copy("/bin/sleep", path)
        os.chmod(self.directory, 0o755)
        for user, level in ((0, "ok"), (12345, "missing")):
            script = f"setpriv --reuid={user} --clear-groups {path} 60 &\nuntil grep -q tracer-probe /proc/$!/comm; do sleep 0.1; done"
            self.assertEqual(self.elsewhere(script, TRACER, "status")["tracer-probe"]["level"], level, user)

    def test_the_shipper_is_looked_at(self):
        folder = os.path.join(self.directory, "stopped")
        os.mkdir(folder)
        for status, level, text in ((None, "ok", "not in use"), ("[", "limited", "damaged")):
            if status:
                pathlib.Path(folder, "status.json").write_text(status, encoding="ascii")
            finding = self.elsewhere("", TRACER, "doctor", "--shipper", folder)["shipper"]
            self.assertEqual(finding["level"], level, finding)
            self.assertIn(text, finding["text"])

    def test_the_kernel_is_what_the_probe_finds(self):
        """Decided by what it has, not by the version: here 2.6, by a personality."""
        old = self.elsewhere("", "setarch", "--uname-2.6", TRACER, "doctor")
        self.assertRegex(old["kernel"]["text"], r"^Linux 2\.6\.")
        if "load" not in old:
            self.skipTest("no permission to load BPF programs")
        self.assertEqual(old["kernel"]["level"], old["load"]["level"])
        others = self.elsewhere("", "setarch", "--uname-2.6", "setpriv", "--reuid=65534", "--clear-groups", TRACER, "doctor")
        self.assertEqual(others["kernel"]["level"], "ok")
        self.assertNotIn("load", others)


class Lakes(Case):
    def test_completion_does_not_wait_for_a_lake(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            offered = self.run_tracer("completion", "offer", "--", "show", "", timeout=60, env={
                **self.environment, "TRACER_LAKE": f"http://127.0.0.1:{server.getsockname()[1]}"})
        self.assertEqual((offered.returncode, offered.stdout), (0, b"latest\tthe latest run\n"))

    def test_a_lake_that_keeps_everything(self):
        sql = {keep: self.run_tracer("lake", "init", "--print", "--keep", keep).stdout for keep in
               ("forever", "rest=forever,samples=forever", "90d", "samples=90d,rest=90d")}
        self.assertEqual(sql["forever"], sql["rest=forever,samples=forever"])
        self.assertEqual(sql["90d"], sql["samples=90d,rest=90d"])
        self.assertNotIn(sql["90d"], (b"", sql["forever"]))

    def test_a_terminal_shows_that_it_waits(self):
        """While a lake accepts the question and does not answer."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            terminal = OnTerminal([TRACER, "runs", "--json", "--lake", f"http://127.0.0.1:{server.getsockname()[1]}"],
                                  env=self.environment)
            connection, _ = server.accept()
            wait_until("progress", lambda: re.search(rb"\r\x1b\[Ktracer: waiting for the lake: \d+ s\r", terminal.said))
            connection.close()
        self.assertEqual(terminal.finish(), (1, b""))
        self.assertRegex(terminal.said, rb"s\r\r\x1b\[Ktracer: http://127.0.0.1:\d+: .*\r\n$")


class Printing(Case):
    def test_samples_follow_the_processes_of_a_task(self):
        for arguments, keys in ((["--series"], ["tools", "series"]),
                                (["--series", "--processes"], ["tools", "processes", "series"])):
            tasks = self.json("show", "make", *arguments)["tasks"]
            self.assertEqual({tuple(task)[-len(keys):] for task in tasks}, {tuple(keys)})
            samples = [sample for task in tasks for sample in task["series"]]
            self.assertGreater(len(samples), 4)
            self.assertEqual([sample["rss_anon_bytes"] for sample in samples], [40 << 20] * len(samples))
            for task in tasks:
                places = [(sample["process_id"], sample["boot_ns"]) for sample in task["series"]]
                self.assertEqual(places, sorted(places))

    def test_runs_that_failed_before_are_counted(self):
        with self.changed("streak") as (store, database):
            columns = [row[1] for row in database.execute("PRAGMA table_info(runs)")]
            database.execute("UPDATE runs SET status = 'failed' WHERE name = 'gzip'")
            self.assertNotIn("before it failed", self.text("failed", "gzip", "--store", store))
            for number, status in enumerate(("failed", "killed", "succeeded", "failed"), 1):
                values = {"id": f"id + {number}", "status": f"'{status}'",
                          "started_unix_ns": f"started_unix_ns - {number * 3600 * 10**9}"}
                database.execute(f"INSERT INTO runs SELECT {', '.join(values.get(name, name) for name in columns)} FROM runs "
                                 "WHERE name = 'gzip' ORDER BY started_unix_ns DESC LIMIT 1")
        self.assertRegex(self.text("failed", "gzip", "--store", store),
                         r"The 2 runs of this work before it failed, too: the first at \S+ \S+\.\n")
        self.assertEqual(self.json("failed", "gzip", "--store", store)["run"]["failed_before_count"], 2)

    def test_gpus_are_shown_where_there_are_some(self):
        self.assertNotIn("GPU", self.text("show", "make"))
        self.assertNotIn("gpu busy", self.text("query", "runs"))
        compare = "compare", "gzip", "snakemake: Snakefile"
        self.assertNotIn("GPU", self.text(*compare))
        with self.changed("gpu") as (store, database):
            used = "gpu_busy_ns = 3000000000, gpu_peak_bytes = 1073741824"
            run, = database.execute("SELECT max(id) FROM runs WHERE name LIKE 'make%'").fetchone()
            task, = database.execute("SELECT max(id) FROM tasks WHERE run_id = ? AND kind <> 'main'", (run,)).fetchone()
            database.execute(f"UPDATE runs SET {used}, gpu_energy_uj = 1800000000, gpu_throttled_ns = 1200000000, "
                             "gpu_clock_ns = 2400000000, gpu_memory_clock_ns = 2700000000, gpu_memory_busy_ns = 1500000000 "
                             "WHERE id = ?", (run,))
            database.execute(f"UPDATE tasks SET {used} WHERE id = ?", (task,))
            database.execute(f"UPDATE runs SET {used} WHERE name = 'gzip'")
        shown = self.text("show", f"{run:016x}", "--store", store)
        self.assertRegex(shown, r"GPU +3.00 s: [0-9.]+ devices on average; 1.00 GiB of GPU memory in the largest process; "
                                r"0.500 Wh while held alone; memory read or written for 1.50 s; clocks at 80.0 % of the highest, "
                                r"of memory at 90.0 %; clocks lowered for heat or power in 40.0 % of the time\n")
        self.assertIn("gpu busy", self.text("query", "runs", "--store", store))
        self.assertRegex(self.text(*compare, "--store", store), r"GPU A +peak RSS A +B .*\n\(whole run\) .* 3.00 s ")
        whole = self.json(*compare, "--store", store)["steps"][0]
        self.assertEqual((whole["name"], whole["a"]["gpu_busy_ns"], whole["b"]["gpu_busy_ns"]), ("(whole run)", 3 * 10**9, None))
        self.assertRegex(shown, r"peak RSS +GPU time +GPU peak ")
        self.assertRegex(shown, r" 3.00 s +1.00 GiB ")
        row = self.json("show", f"{run:016x}", "--store", store)["run"]
        self.assertEqual((row["gpu_busy_ns"], row["gpu_peak_bytes"], row["gpu_energy_uj"]), (3 * 10**9, 1 << 30, 1800000000))
        self.assertEqual((row["gpu_clock_ns"], row["gpu_memory_busy_ns"]), (2400000000, 1500000000))
        page = self.text("report", f"{run:016x}", "--format", "md", "--store", store)
        self.assertIn("| GPU | 3.00 s; largest process 1.00 GiB |", page)

    def test_json_of_a_run_has_what_is_promised(self):
        report = self.json("show", "--processes")
        self.assertEqual(list(report), ["run", "tasks", "incidents", "losses", "containers", "lower_bounds"])
        self.assertEqual(report["tasks"][0]["kind"], "main")
        for task in report["tasks"]:
            self.assertRegex(task["id"], r"^[0-9a-f]{16}$")
            self.assertEqual(task["wall_ns"], task["end_boot_ns"] - task["begin_boot_ns"])
            self.assertIsInstance(task["tools"][0]["cpu_ns"], int)
            process = task["processes"][0]
            self.assertEqual(process["arguments"][:3], ["tool", "-t", " 2 it's"])
            self.assertTrue(process["arguments_escaped"])
            self.assertIsNone(process["block_io_delay_ns"])

    def test_hostile_names_are_never_raw(self):
        hostile = [run["id"] for run in self.json("runs")["runs"]
                   if run["lost_count"]]
        for arguments in PRINTING + [["show", hostile[0], "--processes"], ["failed", hostile[0], "--all"],
                                     ["explain", hostile[0]]]:
            output = self.run_tracer(*arguments).stdout.decode("utf-8")
            for character in output:
                self.assertTrue(character == "\n" or unicodedata.category(character)[0] != "C",
                                (arguments, character))

    def test_top_has_what_ended_processes_used(self):
        """Three short dd's of a run that continues, each with 140 ms, 30 MiB read and 10 written."""
        tools = {tool["tool"]: tool for tool in self.json("top")["tools"]}
        dd = tools["dd"]
        self.assertEqual((dd["process_count"], dd["ended_count"], dd["user_id"], dd["task_id"], dd["memory_bytes"]),
                         (0, 3, 1, None, None))
        self.assertEqual(dd["run_id"], tools["make"]["run_id"])
        self.assertAlmostEqual(dd["cores"], 3 * 0.14 / 3.5)
        self.assertEqual(dd["read_bytes_per_second"], int(90 * 2 ** 20 / 3.5))
        self.assertEqual(dd["write_bytes_per_second"], int(30 * 2 ** 20 / 3.5))
        self.assertEqual((tools["cc1plus"]["process_count"], tools["cc1plus"]["ended_count"]), (1, 0))
        self.assertAlmostEqual(tools["cc1plus"]["cores"], 0.5)
        self.assertEqual({(tool["gpus"], tool["gpu_memory_bytes"]) for tool in tools.values()}, {(None, None)})
        with self.changed("gpu-top") as (store, database):
            database.execute("UPDATE process_rows SET gpu_busy_ns = 700000000 WHERE tool_id IN (SELECT id FROM tools WHERE name = 'dd')")
        dd = {tool["tool"]: tool for tool in self.json("top", "--store", store)["tools"]}["dd"]
        self.assertAlmostEqual(dd["gpus"], 3 * 0.7 / 3.5)
        self.assertEqual(dd["gpu_memory_bytes"], None)

    def test_limits_a_container_and_who_sent_a_signal_are_in_json(self):
        shown = self.json("show", "make")
        self.assertEqual(shown["run"]["throttled_ns"], 1200000000)
        self.assertEqual(shown["run"]["core_limit_milli"], 1500)
        self.assertRegex(self.text("explain", shown["tasks"][1]["id"]),
                         r"cores +allowed 1\.5 of 4\n")
        container = shown["containers"][0]
        self.assertEqual((container["image"], container["pid_namespace"], container["mount_namespace"]),
                         ("debian:12", 4026532201, 4026532199))
        lossy, = [run["id"] for run in self.json("runs")["runs"] if run["lost_count"]]
        incident = self.json("show", lossy)["incidents"][0]
        self.assertEqual(incident["sender_user_id"], 0)

    def test_the_host_as_it_was_in_the_last_minute(self):
        """The figures of make_store with known counters: 30 of 240 core-seconds, ..."""
        output = self.text("host", "--raw")
        for line in ("12.5 % user, 2.5 % system, 5.0 % waiting for I/O, 0.0 % stolen; load 1.25",
                     "1048576 read, 2097152 written", "- received, - sent",
                     "50.0 % CPU, - memory, 10.0 % I/O", "4 processors on 2 cores"):
            self.assertIn(line, output)
        report, = self.json("host")["hosts"]
        self.assertEqual([sample["load_milli"] for sample in report["samples"]], [1250, 500, 9000])
        self.assertIsNone(report["samples"][0]["network_sent_bytes"])
        self.assertEqual(report["host"]["product"], "m7i.xlarge")
        store = self.make_store("host.db")
        self.assertEqual(self.json("host", "--since", "100s", "--store", store)["hosts"][0]["samples"][0]["load_milli"], 1250)

    UNPRINTED = b"%s: cannot write the output: No space left on device\n"

    def test_what_daemons_say_of_themselves_fails_too(self):
        for program, option in itertools.product((PROBE, CORRELATOR, SHIPPER), ("--help", "--version")):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([program, option], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual((result.returncode, result.stderr),
                             (1, self.UNPRINTED % os.path.basename(program).encode()), option)

    def test_the_machine_of_a_cloud_where_it_is_known(self):
        """Known in a lake; a host's own store has no cloud columns."""
        self.assertNotIn(b"cloud", self.run_tracer("host").stdout)
        host = self.json("host")["hosts"][0]["host"]
        self.assertEqual([value for name, value in host.items() if name.startswith("cloud_")], [None] * 6)
        with self.changed("cloud") as (store, database):
            database.execute("UPDATE hosts SET cloud_provider = 'aws', cloud_instance_id = 'i-0abc',"
                             " cloud_instance_type = 'm7i.xlarge', cloud_region = 'eu\033[2J', cloud_lifecycle = 'spot'")
        self.assertIn(b"\n  cloud    aws m7i.xlarge i-0abc, region eu\\e[2J, spot\n",
                      self.run_tracer("host", "--store", store).stdout)
        host = self.json("host", "--store", store)["hosts"][0]["host"]
        self.assertEqual((host["cloud_instance_id"], host["cloud_zone"]), ("i-0abc", None))

    def test_one_host_by_its_name(self):
        host, = self.json("host")["hosts"]
        self.assertEqual(self.run_tracer("host", "--host", host["host"]["hostname"]).stdout, self.run_tracer("host").stdout)

    def test_closed_and_full_outputs_fail(self):
        before = pathlib.Path(self.store).read_bytes()
        for arguments in PRINTING + [["--version"], ["help"], ["runs", "--help"], ["rules", "list"]]:
            closed = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', TRACER, *arguments],
                                    env=self.environment, capture_output=True, check=False)
            self.assertEqual(closed.returncode, 1, arguments)
            with open("/dev/full", "wb") as full:
                result = self.run_tracer(*arguments, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((result.returncode, result.stderr), (1, self.UNPRINTED % b"tracer"), arguments)
            everything_closed = subprocess.run(
                ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', TRACER, *arguments],
                env=self.environment, check=False)
            self.assertEqual(everything_closed.returncode, 1, arguments)
        self.assertEqual(pathlib.Path(self.store).read_bytes(), before)

    def test_a_reader_that_goes_away(self):
        for ignored in (True, False):
            reader, writer = os.pipe()
            os.close(reader)
            result = self.run_tracer("show", stdout=writer, stderr=subprocess.PIPE,
                                     restore_signals=not ignored)
            os.close(writer)
            self.assertIn(result.returncode, (1, -signal.SIGPIPE))
            self.assertEqual(result.stderr, b"")

    def test_pipes_get_everything_without_colour(self):
        output = self.text("show", "--all")
        self.assertNotIn("…", output)
        self.assertIn("├─", output)
        plain = self.run_tracer("show", env={**self.environment, "LC_ALL": "C"}).stdout
        self.assertIn(b"|- ", plain)
        self.assertIn(b"\033[", self.run_tracer("show", "--color=always").stdout)

    def on_terminal(self, columns, arguments, keys=(), term="xterm", **environment):
        """Output to a terminal of that width, and the exit status."""
        terminal = OnTerminal([TRACER, *arguments], self.environment | environment, term, whole=True, own=bool(keys), columns=columns)
        for key in keys:
            time.sleep(0.4)
            terminal.type(key)
        status, output = terminal.finish()
        return output.decode(), status

    def test_terminals(self):
        tables = [["show", "--by", "task"], ["show", "--by", "tool"], ["show"], ["show", "--processes"], ["runs", "--all"],
                  ["top", "--once", "--all"]]
        for columns, arguments in itertools.product((40, 60, 80, 120, 200), tables):
            output, status = self.on_terminal(columns, arguments)
            self.assertEqual(status, 0)
            self.assertIn("\033[", output)
            table = re.sub(r"\033\[[0-9;]*m", "", output).replace("\r", "").split("\n\n")[-1]
            for line in table.splitlines():
                self.assertLessEqual(len(line), columns, arguments)
        self.assertNotIn("\033", self.on_terminal(80, ["show"], NO_COLOR="1")[0])
        self.assertNotIn("\033", self.on_terminal(80, ["show"], term="dumb")[0])
        self.assertNotIn("\033", self.on_terminal(80, ["show", "--color=never"])[0])
        self.assertIn("━", self.on_terminal(150, ["show"])[0])
        for verb in verbs():
            for line in self.on_terminal(80, ["help", verb])[0].replace("\r", "").splitlines():
                self.assertLessEqual(len(line), 80, (verb, line))

    def test_live_top_leaves_the_terminal_as_it_was(self):
        output, status = self.on_terminal(100, ["top", "--all"], [b"m", b"x", b"q"])
        self.assertEqual(status, 0)
        self.assertTrue(output.rstrip().endswith("\033[?25h\033[?1049l"))
        self.assertIn("by memory", output)
        self.assertIn("cc1plus", output)
        self.assertIn("0.50", output)


class Config(Case):
    """Settings of the daemons, on a host with these files."""

    CORRELATOR = "retain: 90\nrules:\n  - /a\n  - /b\n"
    SHIPPER = "lake: {url: 'https://lake'}\n"
    # correlator.yaml, shipper.yaml, environment: what is shown
    SHOWN = [
        (None, None, {}, {"retain": [("30", "default")], "cluster": [], "lake.url": []}),
        (CORRELATOR, None, {}, {"retain": [("90", "/etc/tracer/correlator.yaml:1")], "store-max": [("10G", "default")], "rules": [
            ("/a", "/etc/tracer/correlator.yaml:3"), ("/b", "/etc/tracer/correlator.yaml:4")]}),
        (CORRELATOR, SHIPPER, {"TRACER_CORRELATOR_RETAIN": "7", "TRACER_CORRELATOR_RULES": "/c", "TRACER_SHIPPER_LAKE_USER": "u"},
         {"retain": [("7", "TRACER_CORRELATOR_RETAIN")], "rules": [("/c", "TRACER_CORRELATOR_RULES")],
          "lake.user": [("u", "TRACER_SHIPPER_LAKE_USER")], "lake.url": [("https://lake", "/etc/tracer/shipper.yaml:1")],
          "send.interval": [("60s", "default")]}),
    ]
    # The same: why `check` refuses it, None if it does not.
    CHECKED = [
        (None, None, {}, None),
        (CORRELATOR, SHIPPER, {}, None),
        ("retian: 90\n", None, {}, '/etc/tracer/correlator.yaml:1: unknown setting retian: did you mean "retain"?'),
        ("\nonce: true\n", None, {}, "/etc/tracer/correlator.yaml:2: unknown setting once"),
        ("retain: [1]\n", None, {}, "/etc/tracer/correlator.yaml:1: retain: expected text, found a list"),
        ("rules: [[a]]\n", None, {}, "/etc/tracer/correlator.yaml:1: rules: expected text, found a list"),
        ("arguments: all\n", None, {}, "correlator.yaml:1: arguments takes one of full redacted program-only, not 'all'"),
        ("arguments: program-only\nkeep-arguments: bwa,samtools\n", None, {}, None),
        ("keep-arguments: bwa\n", None, {}, "keep-arguments is only for arguments: program-only"),
        ("arguments: program-only\nkeep-arguments: /usr/bin/bwa\n", None, {},
         "correlator.yaml:2: keep-arguments takes file names of programs, separated by commas, not '/usr/bin/bwa'"),
        ("arguments: program-only\nkeep-arguments: bwa,,x\n", None, {}, "keep-arguments takes file names of programs"),
        ("retain: 1\nretain: 2\n", None, {}, "/etc/tracer/correlator.yaml:2:"),
        (None, None, {"TRACER_CORRELATOR_STORE_MAX": "x"}, "TRACER_CORRELATOR_STORE_MAX: store-max takes bytes, or 500M or 10G, not 'x'"),
        (None, "lake: {uri: 'https://lake'}\n", {}, "/etc/tracer/shipper.yaml:1: unknown setting lake.uri"),
        (None, SHIPPER, {"TRACER_SHIPPER_SEND_ROWS": "many"}, 'TRACER_SHIPPER_SEND_ROWS: send.rows: "many" is not a number'),
        (None, SHIPPER, {"TRACER_SHIPPER_LAKE_URL": "ftp://lake"}, "tracer-shipper: lake.url ftp://lake must begin with https:// (or http://)"),
    ]

    def on_host(self, files, environment, *arguments):
        """Runs a command with these files in /etc/tracer, in a private mount namespace."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        for name, text in zip(("correlator.yaml", "shipper.yaml"), files):
            if text is not None:
                (folder / name).write_text(text, encoding="ascii")
        script = f"cp -a /etc {folder}/etc\nmount --bind {folder}/etc /etc\nmkdir -p /etc/tracer\n" \
                 f'mount --bind {folder} /etc/tracer\nexec "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-ec", script, "sh", TRACER, "config", *arguments],
                              env=self.environment | environment, capture_output=True, text=True, check=False)

    def test_the_strongest_source_counts(self):
        for *files, environment, expected in self.SHOWN:
            result = self.on_host(files, environment, "show", "--json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            settings = json.loads(result.stdout)["settings"]
            for name, found in expected.items():
                self.assertEqual([(each["value"], each["source"]) for each in settings if each["setting"] == name], found)

    def test_wrong_settings_are_refused(self):
        for *files, environment, reason in self.CHECKED:
            result = self.on_host(files, environment, "check")
            self.assertEqual(result.returncode, 1 if reason else 0, result)
            self.assertIn(reason or "", result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1 if reason else 0, result)


class Json(Case):
    """Output of --json, compared with docs/json.md."""

    # Commands that print each section of it.
    COMMANDS = {
        "runs, replay": [["runs", "--all"], ["runs", "--store", "LIVE"]],
        "show, run": [["show"], ["show", "--processes"], ["show", "make"], ["show", "LOSSY"],
                      ["show", "--by", "sample"], ["show", "make", "--series"]],
        "failed": [["failed", "LOSSY"]],
        "top": [["top", "--all"], ["top", "--store", "LIVE"]],
        "explain": [["explain", "1000"], ["explain", "map"], ["explain", "make"]],
        "tune": [["tune", "snakemake: Snakefile", "--set", "serial_task.least=0s", "--set",
                  "serial_task.overlap-share=100%"], ["tune", "make", "--by", "sample"]],
        "tune --right-size": [["tune", "--right-size"], ["tune", "--right-size", "--input-size", "3M"]],
        "sweep": [["sweep", "--since", "3650d", "--set", "task_failures.least=1ms"]],
        "sweep --by user": [["sweep", "--by", "user", "--since", "3650d", "--set", "user_jobs.least-failed-core-hours=0"]],
        "sweep --list": [["sweep", "--list"], ["tune", "--list"]],
        "compare": [["compare", "gzip", "snakemake: Snakefile"]],
        "tune --trend": [["tune", "--trend", "snakemake: Snakefile"]],
        "query": [["query", "runs"], ["query", "processes", "--run", "make"]],
        "query --list": [["query", "--list"]],
        "host": [["host"]],
        "status": [["status", "--shipper", "SHIPPER"]],
        "doctor": [["doctor"]],
        "config check": [["config", "check"]],
        "config show": [["config", "show"]],
        "lake check": [["lake", "check", "--lake", "http://127.0.0.1:1"]],
        "cost": [["cost"], ["cost", "make"], ["cost", "--by", "task"], ["cost", "--by", "tool"], ["cost", "--by", "user"],
                 ["cost", "--by", "host"], ["cost", "--by", "day"], ["cost", "--by", "sample"],
                 ["cost", "--by", "centre", "--centres", "CENTRES"]],
        "cost --co2": [["cost", "--co2"], ["cost", "--co2", "make"], ["cost", "--co2", "--by", "host"],
                       ["cost", "--co2", "--by", "sample"]],
        "prices check": [["prices", "check", "PRICES"]],
        "prices show": [["prices", "show", "--prices", "PRICES"]],
        "rules check": [["rules", "check", "RULES"]],
        "rules list": [["rules", "list"]],
        "rules test": [["rules", "test", "bwa", "mem"]],
    }
    ONLY_IN_LAKES = {"parts[]", "runs[].parts[]"}
    NAMES_ARE_DATA = {"store.rows"}

    @staticmethod
    def read(name):
        return pathlib.Path(DOCS, name).read_text(encoding="utf-8")

    def keys(self, cell):
        """Keys in a table cell, including those of the model's tables that it names."""
        while "(" in cell:
            cell = re.sub(r"\([^()]*\)", "", cell)
        keys = set()
        for table in re.findall(r"columns of \[`(\w+)`\]", cell):
            described = self.read("model.md").split(f"### `{table}`\n")[1].split("\n### ")[0]
            keys |= set(re.findall(r"^\| `(\w+)` \|", described, re.M)) - {"rev"}
        return keys | set(re.findall(r"`(\w+)`", re.sub(r"\[.*?\]", "", cell)))

    def section(self, name):
        """path: keys that must exist, keys that may exist, None for any."""
        text = self.read("json.md").split(f"\n## {name}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (`\S+`|the whole) \| (.*) \| (.*?) *\|$", text, re.M)
        return {"" if path == "the whole" else path.strip("`"):
                (self.keys(there), None if besides and "`" not in besides else self.keys(besides))
                for path, there, besides in rows}

    def compare(self, value, path, documented, seen):
        if isinstance(value, list):
            for item in value:
                self.compare(item, path + "[]", documented, seen)
        if not isinstance(value, dict) or path in self.NAMES_ARE_DATA:
            return
        self.assertIn(path, documented)
        seen.add(path)
        there, besides = documented[path]
        keys = {key for key in value if not key.endswith("_escaped")}
        self.assertEqual(there - keys, set(), path)
        self.assertEqual(keys - there - (keys if besides is None else besides), set(), path)
        for key, item in value.items():
            self.compare(item, f"{path}.{key}" if path else key, documented, seen)

    def test_it_is_as_documented(self):
        """With a running correlator, for verbs that report on daemons."""
        correlator = Daemon("correlator", [CORRELATOR, "--store", f"{self.directory}/own.db", "--socket", f"{self.directory}/socket",
                                           "--log-level", "warning"], f"{self.directory}/log")
        with correlator:
            correlator.wait_ready()
            self.check_documented()

    def check_documented(self):
        shipper = os.path.join(self.directory, "shipper")
        os.mkdir(shipper)
        texts = {"sink", "target", "last_error", "cloud"}
        with open(os.path.join(shipper, "status.json"), "w", encoding="ascii") as file:
            json.dump({key: "x" if key in texts else 1 for key in self.section("status")["shipper"][0]}, file)
        runs = self.json("runs")["runs"]
        words = {"SHIPPER": shipper, "RULES": self.make_file("rules.yaml", b"rules: []\n"),
                 "CENTRES": self.make_file("centres.csv", b"Centre,User\nnorth,1000\n"),
                 "PRICES": self.make_file("prices.csv", b"AssetClass,MarketPriceHourly\nnode,0.5\n"),
                 "LIVE": os.path.join(self.directory, "live.db"),
                 "LOSSY": [run["id"] for run in runs if run["lost_count"]][0]}
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("check_live.py"), TRACER, sys.argv[2], "--store", words["LIVE"]],
                       check=True)
        sections = re.findall(r"^## (.*)$", self.read("json.md"), re.M)
        self.assertEqual(sections, list(self.COMMANDS))
        for section, commands in self.COMMANDS.items():
            documented, seen = self.section(section), set()
            for command in commands:
                result = self.run_tracer(command[0], "--json", *(words.get(word, word) for word in command[1:]))
                self.assertNotIn(b"\033", result.stdout)
                self.compare(json.loads(result.stdout.decode("ascii")), "", documented, seen)
            self.assertEqual(documented.keys() - seen - self.ONLY_IN_LAKES, set(), section)


class Times(Case):
    def count(self, *arguments, name="runs"):
        return len(self.json(*arguments)[name])

    def test_since_and_until(self):
        runs = self.json("runs", "--all")["runs"]
        begun = sorted({run["started_unix_ns"] for run in runs})
        middle = datetime.datetime.fromtimestamp(begun[len(begun) // 2] // 10**9, datetime.timezone.utc)
        later = sum(run["started_unix_ns"] >= int(middle.timestamp()) * 10**9 for run in runs)
        self.assertTrue(0 < later < len(runs))
        for text in (middle.strftime("%Y-%m-%dT%H:%M:%SZ"), middle.strftime("%Y-%m-%d %H:%M:%S")):
            self.assertEqual(self.count("runs", "--all", "--since", text), later)
            self.assertEqual(self.count("runs", "--all", "--until", text), len(runs) - later)
        self.assertEqual(self.count("runs", "--all", "--since", "2w", "--until", "1s"), len(runs))
        east = {**self.environment, "TZ": "UTC-3"}
        there = (middle + datetime.timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%S")
        self.assertEqual(len(self.json("runs", "--all", "--since", there, env=east)["runs"]), later)

    def test_samples_until(self):
        samples = self.json("host")["hosts"][0]["samples"]
        latest = datetime.datetime.fromtimestamp(samples[0]["unix_ns"] // 10**9, datetime.timezone.utc)
        fewer = self.json("host", "--until", latest.strftime("%Y-%m-%dT%H:%M:%SZ"))
        self.assertEqual(fewer["hosts"][0]["samples"], samples[1:])


class Filters(Case):
    """--host, --user and --limit."""

    def test_the_run_is_looked_for_among_them(self):
        with self.changed("filtered") as (store, database):
            run, = database.execute("SELECT id FROM runs WHERE name = 'gzip'").fetchone()
            database.execute("UPDATE runs SET user_id = 4711 WHERE id = ?", (run,))
        wanted = f"{run & 0xffffffffffffffff:016x}"
        ask, ask_json = (functools.partial(verb, env={**self.environment, "TRACER_STORE": store}) for verb in (self.run_tracer, self.json))
        shown = {"show": lambda document: document["run"]["id"], "tune": lambda document: document["run_id"],
                 "cost": lambda document: document["run_id"], "explain": lambda document: document["explained"][0]["id"]}
        for verb, find in shown.items():
            for operand in ("gzip", wanted, "latest"):
                if (verb, operand) != ("explain", "latest"):
                    self.assertEqual(find(ask_json(verb, operand, "--user", "4711", "--host", "example")), wanted, (verb, operand))
            for nobody in (["--user", "4712"], ["--host", "elsewhere"]):
                self.assertEqual(ask(verb, "gzip", *nobody).returncode, 1, verb)
        self.assertIn(wanted.encode(), ask("export", "--user", "4711", "--format", "csv").stdout)
        self.assertIn(b"# gzip", ask("report", "--user", "4711", "--format", "md").stdout)
        self.assertIn(b"of this host or user", ask("compare", "make", "gzip", "--user", "4711").stderr)
        self.assertEqual([size["name"] for size in ask_json("tune", "--right-size", "--user", "4711")["names"]], ["gzip"])
        self.assertEqual(len(ask_json("tune", "--trend", "gzip", "--user", "4711")["runs"]), 1)
        for refused in (["tune", "--list", "--user", "1"], ["show", "--user", "no-such-user"]):
            self.assertEqual(ask(*refused).returncode, 2, refused)

    def test_rows_are_filtered(self):
        def rows(*arguments, name):
            return self.json(*arguments)[name]
        for arguments, name in ((["runs", "--all"], "runs"), (["top", "--all"], "tools"), (["cost"], "rows"), (["prices", "show"], "hosts"),
                                (["sweep", "--by", "host", "--since", "3650d"], "hosts")):
            every = rows(*arguments, name=name)
            self.assertGreater(len(every), 0)
            if arguments[0] != "top":
                self.assertEqual(rows(*arguments, "--host", "example", name=name), every, arguments)
            if arguments[0] in ("runs", "top"):
                for user in {row["user_id"] for row in every}:
                    self.assertEqual(len(rows(*arguments, "--user", str(user), name=name)),
                                     sum(row["user_id"] == user for row in every), arguments)
                self.assertEqual(len(rows(*arguments, "--limit", "1", name=name)), 1, arguments)
        cost = self.json("cost", "--user", "4711")
        self.assertEqual((cost["rows"], cost["work_micros"]), ([], 0))
        self.assertEqual(cost["bill_micros"], sum(cost[key] for key in ("other_runs_micros", "system_micros", "idle_micros")))
        self.fails(2, "cost", "--format", "focus", "--user", "1")

    def test_a_host_that_does_not_exist_is_an_error(self):
        for arguments in (["runs"], ["show"], ["top", "--once"], ["host"], ["cost"], ["sweep"], ["sweep", "--by", "user"], ["prices", "show"],
                          ["tune", "--right-size"], ["tune", "--trend", "gzip"], ["explain", "latest"]):
            failed = self.fails(1, *arguments, "--host", "elsewhere")
            self.assertIn(b"no host is named 'elsewhere'; hosts: example\n", failed.stderr, arguments)
            self.assertEqual(failed.stdout, b"", arguments)

    def test_a_time_in_which_no_host_was_watched_is_said(self):
        for arguments in (["cost"], ["cost", "--json"], ["sweep"], ["sweep", "--by", "user"]):
            self.assertIn(b"no host was watched in that time; the last was heard of at 20",
                          self.run_tracer(*arguments, "--since", "2200-01-01").stderr)
            self.assertEqual(self.run_tracer(*arguments).stderr, b"")


class Cut(Case):
    """Lists that --limit cuts say so, on standard error."""

    def test_a_list_that_was_cut_says_so(self):
        runs = len(self.json("runs", "--all")["runs"])
        self.assertGreater(runs, 2)
        for arguments, said in ((["runs", "--all", "--limit", "2"], f"2 of {runs} runs"), (["top", "--all", "--limit", "1"], "1 of 3 tools"),
                                (["cost", "--limit", "1"], "1 of 4 rows"), (["compare", "gzip", "snakemake", "--limit", "1"], "1 of 5 names of tasks"),
                                (["sweep", "--since", "2016-01-01", "--set", "task_failures.least=1ms", "--limit", "1"], None)):
            for form in ("table", "ndjson"):
                result = self.run_tracer(*arguments, "--format", form)
                lines = result.stderr.decode().splitlines()
                if said and (form == "table" or arguments[0] in ("runs", "top")):
                    self.assertEqual(lines[:1], [f"{said}; --limit 0 shows all"], arguments)
                self.assertEqual([line for line in lines if "not shown" not in line][1:], [], arguments)
            whole = self.run_tracer(*arguments[:-2], "--limit", "0").stderr
            self.assertNotIn(b"--limit 0", whole)
            self.assertNotIn(b"--limit 0", self.run_tracer(*arguments[:-1], "1000").stderr)
        for key, said in (("task", rb"1 of \d names of tasks; --limit 0 shows all\n"), ("tool", rb"1 of \d+ tools; --limit 0 shows all\n")):
            shown = self.run_tracer("show", "snakemake: Snakefile", "--by", key, "--limit", "1")
            self.assertEqual(len(shown.stdout.split(b"\n\n")[-1].splitlines()), 2)
            self.assertRegex(shown.stderr, said)
        for form in ("csv", "ndjson"):
            for options in ([], ["--by", "tool"], ["--processes"], ["--series"]):
                lines = [self.run_tracer("show", "make", "--format", form, *options, *limit).stdout.splitlines()
                         for limit in (["--limit", "2"], ["--limit", "0"])]
                self.assertEqual(lines[0], lines[1][:2 + (form == "csv")], options)
        self.assertEqual(self.run_tracer("query", "runs", "--limit", "2").stderr, b"2 rows, as many as --limit allows: a larger one shows more\n")
        self.assertEqual(self.run_tracer("query", "runs").stderr, b"")


class Formats(Case):
    """The same rows as JSON, as lines of JSON and as CSV."""

    # Commands, and the array that the rows are; None: the document.
    COMMANDS = [
        (["runs", "--all"], "runs"), (["show"], "tasks"), (["show", "--by", "sample"], "samples"), (["failed", "LOSSY"], "failures"),
        (["top", "--all"], "tools"), (["explain", "1000"], "explained"), (["explain", "map"], "explained"),
        (["tune", "snakemake: Snakefile", "--set", "serial_task.least=0s", "--set", "serial_task.overlap-share=100%"], "findings"),
        (["tune", "--right-size"], "names"), (["tune", "--trend", "snakemake: Snakefile"], "steps"), (["tune", "--list"], "findings"),
        (["compare", "gzip", "snakemake: Snakefile"], "steps"), (["cost"], "rows"), (["cost", "make"], "rows"),
        (["cost", "--co2", "--by", "user"], "rows"), (["cost", "--by", "host"], "rows"),
        (["sweep", "--since", "2016-01-01", "--set", "task_failures.least=1ms"], "findings"), (["sweep", "--by", "host"], "hosts"),
        (["sweep", "--by", "user", "--since", "2016-01-01", "--set", "user_jobs.least-failed-core-hours=0"], "users"),
        (["sweep", "--list"], "findings"), (["query", "processes", "--run", "make"], "rows"), (["query", "runs"], "rows"),
        (["query", "--list"], "queries"), (["host"], "hosts"), (["status"], "checks"), (["doctor"], "checks"), (["config", "check"], "daemons"),
        (["lake", "check", "--lake", "http://127.0.0.1:1"], "checks"), (["prices", "show"], "hosts"), (["prices", "check", "PRICES"], None),
        (["rules", "list"], "rules"), (["rules", "check", "RULES"], None), (["rules", "test", "bwa", "mem"], None)]
    # Those that answer even if nothing ran.
    WITHOUT_RUNS = ["runs", "cost", "sweep", "query runs", "prices show", "top"]
    CHANGING = {"top", "status", "doctor", "lake"}  # from call to call

    def rows(self, form, command, store=None):
        text = self.run_tracer(*command, "--format", form, *(["--store", store] if store else [])).stdout.decode("utf-8")
        if form == "ndjson":
            return [json.loads(line) for line in text.splitlines()]
        lines = text.split("\n")
        self.assertEqual(lines.pop(), "", command)
        self.assertEqual([line for line in lines if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in line)], [])
        self.assertGreater(len(lines), 0, command)
        header, *rows = csv.reader(lines)
        self.assertEqual({len(row) for row in rows} - {len(header)}, set(), command)
        self.assertEqual(len(rows), len(lines) - 1, command)  # a row is a line
        return [header, *rows]

    def flat(self, row, prefix=""):
        """{column: its text}, unknown is empty."""
        cells = {}
        for name, value in row.items():
            if isinstance(value, dict):
                cells.update(self.flat(value, f"{prefix}{name}."))
            elif isinstance(value, list):
                cells[prefix + name] = json.dumps(value, separators=(",", ":"))
            elif isinstance(value, str):
                cells[prefix + name] = value
            else:
                cells[prefix + name] = "" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
        return {name: cell for name, cell in cells.items() if not name.endswith("_escaped")}

    @staticmethod
    def is_same(cell, text):
        try:
            if text[:1] == "[":
                return json.loads(cell) == json.loads(text)
            return cell == text or float(cell) == float(text)
        except ValueError:  # escaped again by CSV, and no formula
            return cell.lstrip("'") == text or "\n" in text or not text.isascii() or not text.isprintable()

    def check(self, command, array):
        document = self.json(*command)
        expected = document[array] if array else [document]
        rows, (header, *lines) = self.rows("ndjson", command), self.rows("csv", command)
        self.assertGreater(len(expected), 0, command)
        if command[0] not in self.CHANGING:
            self.assertEqual((len(rows), len(lines)), (len(expected), len(expected)), command)
            inner = {"tools", "processes", "series"} if command[0] == "show" else set()
            self.assertEqual(rows, [{key: value for key, value in row.items() if key not in inner} for row in expected], command)
        for row, line in zip(rows, lines):
            cells, shown = self.flat(row), dict(zip(header, line))
            self.assertEqual(set(cells) - set(header) - {"samples"}, set(), command)
            for name, cell in cells.items():
                if command[0] not in self.CHANGING and name in shown:
                    self.assertTrue(self.is_same(shown[name], cell), (command, name, shown[name], cell))

    def test_same_rows_in_all(self):
        runs = self.json("runs")["runs"]
        words = {"RULES": self.make_file("rules.yaml", b"rules: []\n"), "LOSSY": [run["id"] for run in runs if run["lost_count"]][0],
                 "PRICES": self.make_file("prices.csv", b"AssetClass,MarketPriceHourly\nnode,0.5\n")}
        for command, array in self.COMMANDS:
            self.check([words.get(word, word) for word in command], array)

    def test_rows_of_a_run(self):
        document = self.json("show", "--processes", "--series", "make")
        for options, inner in ((["--by", "tool"], "tools"), (["--processes"], "processes"), (["--series"], "series")):
            expected = [row for task in document["tasks"] for row in task[inner]]
            self.assertEqual(self.rows("ndjson", ["show", "make", *options]), expected)
            header, *lines = self.rows("csv", ["show", "make", *options])
            self.assertGreater(len(lines), 0)
            self.assertEqual([self.flat(dict(zip(header, line))) for line in lines], [
                {name: unittest.mock.ANY if "\\" in cell else cell for name, cell in self.flat(row).items()} for row in expected])

    def test_without_rows_there_is_a_header(self):
        with self.changed("empty") as (empty, database):
            for table in ("runs", "tasks", "tools", "process_rows", "hosts", "incidents"):
                database.execute(f"DELETE FROM {table}")
        for command, _ in self.COMMANDS:
            if any(" ".join(command).startswith(verb) for verb in self.WITHOUT_RUNS) and "--list" not in command:
                command = [word for word in command if word != "make"]
                self.assertEqual(self.rows("csv", command, empty)[1:], [], command)
                if command[0] != "cost":  # which is by task if there is a run
                    self.assertEqual(self.rows("csv", command, empty), self.rows("csv", command)[:1], command)
                self.assertEqual(self.rows("ndjson", command, empty), [], command)

    def test_hostile_names(self):
        names = ["=cmd|' /C calc'!A1", "+1", "-bash", "@SUM(A1)", 'a "quoted", name', "two\nlines\r", "\x1b[2J", " padded ", "",
                 b"\xff\x80bytes"]
        with self.changed("hostile") as (store, database):
            ids = [row[0] for row in database.execute("SELECT id FROM tasks LIMIT 10")]
            database.execute("DELETE FROM tasks WHERE id NOT IN (SELECT id FROM tasks LIMIT 10)")
            for task, name in zip(ids, names):
                database.execute("UPDATE tasks SET name = CAST(? AS TEXT), run_id = (SELECT min(id) FROM runs) WHERE id = ?", (name, task))
            run = database.execute("SELECT id FROM runs WHERE id = (SELECT min(id) FROM runs)").fetchone()[0]
        header, *lines = self.rows("csv", ["show", f"{run & 0xffffffffffffffff:016x}"], store)
        shown = {dict(zip(header, line))["name"] for line in lines}
        self.assertEqual(shown, {"'=cmd|' /C calc'!A1", "'+1", "'-bash", "'@SUM(A1)", 'a "quoted", name', "two\\nlines\\r",
                                 "\\e[2J", " padded ", "", "\\xff\\x80bytes"})
        header, *lines = self.rows("csv", ["query", "processes", "--run", "make"])
        self.assertIn('["tool","-t"," 2 it\'s","-n","evil\\\\e[2J\\\\nname\\\\x80\\\\xff\\\\u{202e}"]', lines[0])


class Watched(Case):
    """A host that is watched all the time: its runs are in the bill."""

    @classmethod
    def write_store(cls, path):
        super().write_store(path)
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE runs SET end_boot_ns = NULL WHERE kind = 'system'")


class Centres(Watched):
    """Cost centres by a list of the site."""

    def test_centres_add_up_to_the_bill(self):
        centres = self.make_file("sums.csv", b'Centre,Run\n"\x1b[2Jred",make*\nblue,snakemake*\nnone,x\n')
        options = ["--since", "2020-01-01"]
        bill = self.json("cost", "--by", "centre", "--centres", centres, *options)
        runs = self.json("cost", "--by", "run", *options)
        rows = {row["centre"]: row["cost_micros"] for row in bill["rows"]}
        self.assertEqual(rows.keys(), {"\x1b[2Jred", "blue", "(no centre)"})
        self.assertEqual(sum(rows.values()) + bill["system_micros"] + bill["idle_micros"], bill["bill_micros"])
        self.assertEqual(bill["work_micros"], runs["work_micros"])
        blue = sum(row["cost_micros"] for row in runs["rows"] if row["run"].startswith("snakemake"))
        self.assertLessEqual(abs(rows["blue"] - blue), 1)
        self.assertGreater(blue, 0)
        text = self.run_tracer("cost", "--by", "centre", "--centres", centres, *options).stdout
        self.assertNotIn(b"\x1b[2J", text)
        self.assertIn(b"(no centre)", text)

    def test_a_broken_list_is_refused_with_file_line_and_reason(self):
        for text, reason in ((b"Run\nx\n", ":1: the header line has no column Centre"),
                             (b"Centre,User\na,1\nb,no-such-user\n", ":3: User: this host knows no user 'no-such-user'"),
                             (b"Centre\n\"a\n", ":2: the file ends inside a quoted field")):
            centres = self.make_file("broken.csv", text)
            result = self.fails(1, "cost", "--by", "centre", "--centres", centres)
            self.assertIn((centres + reason).encode(), result.stderr)
        self.assertIn(b"missing.csv", self.fails(1, "cost", "--by", "centre", "--centres", "missing.csv").stderr)
        if not os.path.exists("/etc/tracer/centres.csv"):
            self.assertIn(b"no list of cost centres: write /etc/tracer/centres.csv", self.fails(1, "cost", "--by", "centre").stderr)


class Energy(Watched):
    """Energy and CO2: all parts are the host's."""

    OF = "_milliwatt_hours"

    def energy(self, *options):
        return self.json("cost", "--co2", "--since", "2020-01-01", *options)

    def test_rows_and_idle_are_the_host(self):
        whole = self.energy()
        self.assertEqual((whole["basis"], whole["carbon_intensity_grams"], whole["carbon_intensity_is_default"]),
                         ("modelled", 475, 1))
        for key in ("run", "task", "tool", "sample", "user", "host", "day"):
            found = self.energy("--by", key)
            parts = sum(found[part + self.OF] for part in ("work", "other_runs", "system", "idle"))
            self.assertEqual(parts, found["total" + self.OF])
            self.assertAlmostEqual(found["total" + self.OF], whole["total" + self.OF], delta=1)
            self.assertAlmostEqual(found["co2_milligrams"], found["total" + self.OF] * 475 / 1000, delta=1)
            rows = sum(row["total" + self.OF] for row in found["rows"])
            outside = 0 if key in ("host", "day") else found["system" + self.OF] + found["idle" + self.OF]
            self.assertEqual(rows + outside, found["total" + self.OF])
            carbon = sum(row["co2_milligrams"] for row in found["rows"])
            self.assertEqual(carbon + sum(found[f"{part}_co2_milligrams"] for part in ("other_runs", "system", "idle")),
                             found["co2_milligrams"])

    def test_printed_figures_add_up(self):
        for limit in ("1", "0"):
            text = self.text("cost", "--co2", "--since", "2020-01-01", "--by", "run", "--limit", limit)
            _, head, *lines = text.split("Modelled")[0].splitlines()
            for column in ("kWh", "kg CO2"):
                end = head.index(column) + len(column)
                *parts, total = [decimal.Decimal(line[end - 8:end].strip() or 0) for line in lines]
                self.assertEqual(sum(parts), total, text)
                self.assertGreater(total, 0)

    def test_what_is_not_known_is_said(self):
        text = self.text("cost", "--co2", "--since", "2020-01-01")
        for note in ("Modelled from CPU time and memory, not measured", "processors of 1 host is not known", "475 g/kWh"):
            self.assertIn(note, text)
        with self.changed("known") as (known, database):
            database.execute("UPDATE hosts SET cpu_model = 'AMD EPYC 7742 64-Core Processor'")
        text = self.text("cost", "--co2", "--carbon-intensity", "56", "--store", known)
        self.assertNotIn("is not known", text)
        self.assertNotIn("g/kWh", text)
        found = self.energy("--carbon-intensity", "56", "--store", known)
        self.assertEqual((found["average_power_count"], found["carbon_intensity_grams"],
                          found["carbon_intensity_is_default"]), (0, 56, 0))


class Focus(Watched):
    """The bill as FOCUS 1.2."""

    # The columns whose feature level is Mandatory in version 1.2 of the specification, and which may be NULL.
    MANDATORY = set("""BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd
        BillingPeriodStart ChargeCategory ChargeClass ChargeDescription ChargePeriodEnd ChargePeriodStart
        ContractedCost EffectiveCost InvoiceIssuerName ListCost PricingQuantity PricingUnit ProviderName
        PublisherName ServiceCategory ServiceName""".split())
    MAY_BE_NULL = {"BillingAccountName", "ChargeClass"}

    SINCE = "2020-01-01"

    def focus(self, *options):
        """The rows of a file, and the bill for the same time."""
        until = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=2)).strftime("%Y-%m-%d")
        prices = self.make_file("focus.csv", b"AssetClass,MarketPriceHourly,Currency\nnode,40,EUR\n")
        time = ["--since", self.SINCE, "--until", until, "--prices", prices]
        bill = self.json("cost", *time)
        rows = list(csv.DictReader(self.text("cost", "--format", "focus", *time, *options).splitlines()))
        self.assertEqual(self.MANDATORY - rows[0].keys(), set())
        self.assertGreater(len(rows), 1)
        self.assertEqual(sum(decimal.Decimal(row["BilledCost"]) for row in rows) * 10**6, bill["bill_micros"])
        self.assertGreater(bill["bill_micros"], 0)
        hours = sum(float(row["PricingQuantity"]) for row in rows)
        self.assertAlmostEqual(hours, bill["observed_ms"] / 3.6e6, 4)
        for row in rows:
            self.assertEqual([name for name in self.MANDATORY - self.MAY_BE_NULL if not row[name]], [])
            self.assertEqual({row["ContractedCost"], row["EffectiveCost"], row["ListCost"]}, {row["BilledCost"]})
            self.assertEqual((row["BillingCurrency"], row["ChargeCategory"], row["PricingUnit"]), ("EUR", "Usage", "Hours"))
            self.assertEqual((row["BillingPeriodStart"], row["BillingPeriodEnd"]),
                             (f"{self.SINCE}T00:00:00Z", f"{until}T00:00:00Z"))
            begin, end = (datetime.datetime.fromisoformat(row[f"ChargePeriod{side}"]) for side in ("Start", "End"))
            self.assertEqual((begin.hour, begin.minute, end - begin), (0, 0, datetime.timedelta(days=1)))
        idle = sum(decimal.Decimal(row["BilledCost"]) for row in rows if row["ChargeDescription"] == "idle")
        self.assertLessEqual(abs(idle * 10**6 - bill["idle_micros"]), len(rows))
        return rows, bill

    @staticmethod
    def tagged(rows):
        """What each tag costs, {name: {value: micros}}."""
        sums = collections.defaultdict(collections.Counter)
        for row in rows:
            for name, value in json.loads(row["Tags"] or "{}").items():
                sums[name][value] += int(decimal.Decimal(row["BilledCost"]) * 10**6)
        return sums

    def test_focus_adds_up_to_the_bill(self):
        rows, bill = self.focus()
        self.assertEqual({row["Tags"] for row in rows}, {""})
        self.assertEqual(self.focus("--by", "host"), (rows, bill))
        self.assertEqual(self.focus("--by", "day"), (rows, bill))

    def test_charges_have_tags(self):
        centres = self.make_file("centres.csv", b'Centre,Run\n"\x1b[2Jred",make*\nblue,snakemake*\n')
        rows, bill = self.focus("--by", "run", "--centres", centres)
        sums = self.tagged(rows)
        self.assertGreater(bill["work_micros"], 0)
        self.assertEqual(sums.keys(), {"tracer/run", "tracer/run_id", "tracer/user", "tracer/centre"})
        self.assertEqual(sum(sums["tracer/run_id"].values()), sum(sums["tracer/centre"].values()))
        self.assertLessEqual(abs(sum(sums["tracer/run_id"].values()) - bill["work_micros"]), len(rows))
        self.assertEqual(sums["tracer/centre"].keys(), {r"\e[2Jred", "blue", "(no centre)"})
        for row in bill["rows"]:
            self.assertLessEqual(abs(sums["tracer/run_id"][row["run_id"]] - row["cost_micros"]), len(rows))
        for key in ("user", "tool", "sample"):
            tags = self.tagged(self.focus("--by", key)[0])
            self.assertEqual(tags.keys(), {f"tracer/{key}"})
            self.assertEqual(sum(tags[f"tracer/{key}"].values()), sum(sums["tracer/run_id"].values()))
        by_centre = self.tagged(self.focus("--by", "centre", "--centres", centres)[0])["tracer/centre"]
        self.assertEqual(by_centre.keys(), sums["tracer/centre"].keys())


class Query(Case):
    """A site's questions, and the output formats."""

    HEAD = "-- title: T\n-- explanation: E\n"
    SLOW = "-- column: i count; n\nWITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS i FROM n\n"

    def site(self, name, **files):
        folder = pathlib.Path(self.directory, name)
        folder.mkdir()
        for file, text in files.items():
            (folder / f"{file}.sql").write_text(self.HEAD + text)
        return str(folder)

    def test_a_file_is_all_that_a_question_takes(self):
        site = self.site("one", busiest="-- parameter: least_ns duration = 1s; at least so long\n"
                         "-- column: id id; the process\n-- column: cpu_ns duration; on processors\n"
                         "-- column: cpu_share share; of all\n-- column: paid_micros money; for it\n"
                         "-- column: program text; p\nSELECT id, cpu_ns, 1.0 * cpu_ns / 100000000000 AS cpu_share, cpu_ns AS paid_micros,"
                         " program FROM processes WHERE cpu_ns >= :least_ns ORDER BY cpu_ns DESC, id LIMIT 2\n")
        ask = functools.partial(self.run_tracer, "query", "busiest", "--queries", site)
        self.assertRegex(ask().stdout.decode(), r"^id +cpu +cpu share +paid +program\n[0-9a-f]{16} +57\.0 s +57 % +57000\.00 +cc1plus\n")
        self.assertRegex(ask("--raw").stdout.decode(), r"\n[0-9a-f]{16} +57000000000 +0\.57 +57000000000 +cc1plus\n")
        rows = [json.loads(line) for line in ask("--format", "ndjson", "--least", "2s").stdout.splitlines()]
        self.assertEqual([(row["cpu_ns"], row["cpu_share"], row["program"]) for row in rows][0], (57000000000, 0.57, "cc1plus"))
        self.assertEqual(json.loads(ask("--json", "--param", "least_ns=2s").stdout)["rows"], rows)
        lines = ask("--format=csv", "--param=least=2s").stdout.split(b"\n")
        self.assertEqual(lines[:2], [b"id,cpu_ns,cpu_share,paid_micros,program",
                                     f"{rows[0]['id']},57000000000,0.57,57000000000,cc1plus".encode()])
        self.assertEqual((ask("--least", "1d").stdout, ask("--least", "1d", "-f", "csv").stdout.count(b"\n")), (b"", 1))
        help_text = self.text("query", "busiest", "--help", f"--queries={site}")
        for text in ("--least DURATION", "at least so long (1s)", "cpu_ns                   on processors", f"{site}/busiest.sql"):
            self.assertIn(text, help_text)
        self.assertRegex(self.text("query", "--list", "--queries", site), rf"busiest +T +{site}/busiest.sql")
        self.assertEqual(self.run_tracer("help", "query", "runs").stdout, self.run_tracer("query", "runs", "--help").stdout)

    def test_what_is_broken_leaves_the_rest(self):
        site = self.site("two", bad="-- column: id id; it\nSELECT id FROM nowhere\n", good="-- column: id id; it\nSELECT id FROM runs\n",
                         runs="-- column: id id; it\nSELECT id FROM runs\n")
        result = self.run_tracer("query", "good", "--queries", site)
        self.assertEqual((result.returncode, result.stdout.count(b"\n") > 2), (0, True))
        said = result.stderr.decode().splitlines()
        self.assertIn(f"{site}/bad.sql: no such table: nowhere", said[0])
        self.assertIn(f"{site}/runs.sql:1: a shipped question has this name", said[1])
        self.assertIn(b"unknown question 'bad'", self.fails(2, "query", "bad", "--queries", site).stderr)
        self.assertIn(b"cannot read the questions", self.fails(1, "query", "runs", "--queries", "/nonexistent").stderr)

    def test_an_endless_one_can_be_interrupted(self):
        site = self.site("three", slow=self.SLOW)
        process = subprocess.Popen([TRACER, "query", "slow", "--queries", site], env=self.environment)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), -signal.SIGINT)


class Rules(Case):
    def test_check(self):
        good = self.make_file("good.yaml", b"rules:\n  - rule: x\n    match:\n"
                              b"      executable: x\n    role: tool\n")
        self.assertIn(b"1 rule, no errors", self.run_tracer("rules", "check", good).stdout)
        bad = self.make_file("bad.yaml", b"rules:\n  - rule: x\n    rle: tool\n")
        self.assertRegex(self.fails(1, "rules", "check", bad).stderr, rb"bad\.yaml:3: ")
        self.fails(1, "rules", "check", "/nonexistent.yaml")
        for arguments in (["list"], ["test", "ls"]):
            self.assertIn(b"No such file", self.fails(1, "rules", "--rules", "/nonexistent", *arguments).stderr)

    def test_test(self):
        found = self.json("rules", "test", "--", "samtools", "sort", "-@", "2")
        self.assertEqual(found["name"], "samtools sort")
        site = os.path.join(self.directory, "site")
        os.mkdir(site)
        self.make_file("site/a.yaml", b"rules:\n  - rule: mine\n    match:\n      executable: samtools\n"
                       b"    role: tool\n    name: ours\n")
        found = self.json("rules", "test", "--rules", site, "--", "samtools", "sort")
        self.assertEqual((found["rule"], found["name"]), ("mine", "ours"))
        self.make_file("site/b.yaml", "secrets:\n- secret: ours\n  programs: ours\n  commands: -x SECRET\n"
                       "  examples: [ours -x «abc», ours -y abc]\n".encode())
        shown = self.run_tracer("rules", "test", "--rules", site, "--", "ours", "-x", "abc", "--password=x\x1b y").stdout
        self.assertIn(b"  stored       ours -x [redacted] --password=[redacted]\n", shown)


if __name__ == "__main__":
    sys.exit(run_cases("cli-verbs", sys.argv[7:]))
