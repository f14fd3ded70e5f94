#!/usr/bin/env python3
"""Who sees what: a real `tracer serve` on a socket, asked by real users.

    check_users.py TRACER MAKE_STORE [TEST...]

Alice and Bob ran something, Carol nothing, and Mallory is a member of the group tracer. What Alice is shown is compared
with a store that has only her rows. With the daemons, each is shown what they start by `tracer run`. Needs root, to be
these users, in a mount namespace of its own.
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import PATH, Skip, enter_own_mounts, run_cases, same, skip_all, wait_until  # noqa: E402 (the line above has to come first)

TRACER, MAKE_STORE = map(os.path.abspath, sys.argv[1:3])
STATE, SOCKET = pathlib.Path("/var/lib/tracer"), pathlib.Path("/run/tracer-serve/serve.sock")
GROUP, ALICE, BOB, CAROL, MALLORY, SERVER = range(40000, 40006)
USERS = {"tracer": GROUP, "alice": ALICE, "bob": BOB, "carol": CAROL, "mallory": MALLORY, "tracer-serve": SERVER}
COMMAND = pathlib.Path("/run/command/tracer")
SECRET = "bobs-secret"


def execute(path, *statements):
    """Never creates the file: it would be root's, and a correlator that is still starting could not open it."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True)) as database, database:
        database.text_factory = bytes
        return [database.execute(statement).fetchall() for statement in statements]


def give_runs(path):
    """Of the store's runs, each second one becomes Bob's, and everything in it is marked; the system's stays root's."""
    runs = [row[0] for row in execute(path, "SELECT id FROM runs WHERE kind <> 'system' ORDER BY id")[0]]
    for place, run in enumerate(runs):
        execute(path, f"UPDATE runs SET user_id = {BOB if place % 2 else ALICE} WHERE id = {run}")
    of_bob = f"SELECT id FROM runs WHERE user_id = {BOB}"
    tools = f"SELECT id FROM tools WHERE run_id IN ({of_bob})"
    execute(path,
            f"UPDATE runs SET name = '{SECRET}', working_directory = '/{SECRET}' WHERE user_id = {BOB}",
            f"UPDATE tasks SET name = '{SECRET}', label = '{SECRET}' WHERE run_id IN ({of_bob})",
            f"UPDATE tools SET name = '{SECRET}' WHERE run_id IN ({of_bob})",
            f"UPDATE incidents SET sentence = '{SECRET}' WHERE run_id IN ({of_bob})",
            f"UPDATE process_rows SET arguments = CAST('{SECRET}' AS BLOB), working_directory = '/{SECRET}', "
            f"pid = pid + 100000 "
            f"WHERE tool_id IN ({tools})",
            f"UPDATE losses SET cgroup_path = '/{SECRET}'")


def leave_only(path, user):
    """Deletes what that user may not see."""
    execute(path,
            f"DELETE FROM runs WHERE user_id <> {user}",
            "DELETE FROM tasks WHERE run_id NOT IN (SELECT id FROM runs)",
            "DELETE FROM tools WHERE run_id NOT IN (SELECT id FROM runs)",
            "DELETE FROM incidents WHERE run_id IS NULL OR run_id NOT IN (SELECT id FROM runs)",
            "DELETE FROM process_rows WHERE tool_id NOT IN (SELECT id FROM tools)",
            "DELETE FROM samples WHERE process_id NOT IN (SELECT id FROM process_rows)",
            "DELETE FROM containers WHERE run_id IS NULL OR run_id NOT IN (SELECT id FROM runs)",
            "DELETE FROM host_samples",
            "UPDATE losses SET cgroup_path = NULL")


def run_as(user, command, groups=(), **environment):
    """Returns exit status, standard output and standard error."""
    ended = subprocess.run(command, check=False, capture_output=True, cwd="/", timeout=120, user=user, group=user,
                           extra_groups=groups, env={"PATH": PATH, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **environment})
    return ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")


def tracer(user, *arguments, groups=()):
    return run_as(user, [COMMAND, *arguments], groups)


def get(user, path, headers=(), groups=()):
    """The status and body of one request to the socket, by a child that is this user."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(os.fspath(SOCKET))
            lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers, "", ""]
            connection.sendall("\r\n".join(lines).encode())
            with connection.makefile("rb") as answer, open(theirs, "wb") as pipe:
                pipe.write(answer.read())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as pipe:
        head, _, body = pipe.read().partition(b"\r\n\r\n")
    os.waitpid(child, 0)
    return int(head.split()[1]), body.decode(errors="replace")


def rows_of(answer):
    return json.loads(answer)["rows"] if answer else []


class Host(unittest.TestCase):
    """The directories and users of a host with the services, and `tracer serve`."""

    @classmethod
    def make_host(cls):
        for folder in ("/var/lib", "/run"):
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir="/run"))
        for file, line in (("passwd", "{0}:x:{1}:{1}::/nonexistent:/bin/sh"), ("group", "{0}:x:{1}:")):
            copy = cls.folder / file
            others = [entry for entry in pathlib.Path("/etc", file).read_text().splitlines()
                      if entry.split(":")[0] not in USERS]
            copy.write_text("\n".join(others + [line.format(*user) for user in USERS.items()]) + "\n")
            copy.chmod(0o644)
            subprocess.run(["mount", "--bind", copy, f"/etc/{file}"], check=True)
        COMMAND.parent.mkdir(mode=0o755)
        shutil.copy(TRACER, COMMAND) # all users can reach it there
        STATE.mkdir(mode=0o750)
        os.chown(STATE, SERVER, GROUP)
        SOCKET.parent.mkdir(mode=0o755)
        os.chown(SOCKET.parent, SERVER, SERVER)

    @classmethod
    def start(cls, name, command, **more):
        """Starts a program that runs until the end of these tests. Returns it, and the file with what it says."""
        log = cls.folder / f"{name}.log"
        with open(log, "wb") as said:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **more)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.terminate)
        return process, log

    @classmethod
    def start_server(cls):
        server, log = cls.start("server", [COMMAND, "serve", "--socket", SOCKET], user=SERVER, group=GROUP, extra_groups=[])
        wait_until("the server listens", lambda: SOCKET.is_socket() or server.poll() is not None)
        same(log.read_text(errors="replace"), server.poll(), None)


class Live(Host):
    """With the daemons."""

    @classmethod
    def setUpClass(cls):
        cls.make_host()
        try:
            cls.start_daemons()
            cls.start_server()
        except BaseException:
            cls.doClassCleanups()
            raise

    @classmethod
    def start_daemons(cls):
        folder = pathlib.Path("/run/tracer")
        folder.mkdir(mode=0o755)
        os.chown(folder, SERVER, GROUP)
        build = pathlib.Path(TRACER).parents[1]
        cls.start("correlator", [build / "correlator/tracer-correlator"], user=SERVER, group=GROUP, extra_groups=[],
                  umask=0o027)
        wait_until("the correlator listens", (folder / "tracer.sock").is_socket)
        probe, log = cls.start("probe", [build / "probe/tracer-probe", "--no-pin", "--peer-uid", str(SERVER)])
        wait_until("a scan is stored", lambda: probe.poll() is not None or cls.has_host(), 180)
        if probe.poll() is not None:
            raise Skip(f"no probe: {log.read_text(errors='replace').strip()}")

    @staticmethod
    def has_host():
        try:
            return execute(STATE / "tracer.db", "SELECT id FROM hosts")[0]
        except sqlite3.OperationalError: # not yet made
            return False

    def test_tracer_run_shows_a_user_their_run(self):
        status, _, said = run_as(ALICE, [COMMAND, "run", "--", "sh", "-c", "sleep 0.2; exit 3"])
        same(said, status, 3)
        assert "failed with exit code 3" in said, said
        status, _, said = run_as(BOB, [COMMAND, "run", "--", "sort", "/etc/passwd"])
        same(said, status, 0)
        assert "succeeded" in said, said
        for user, result in ((ALICE, "failed"), (BOB, "succeeded"), (CAROL, None)):
            runs = json.loads(tracer(user, "runs", "--all", "--json")[1])["runs"]
            same("runs", [(run["user_id"], run["status"]) for run in runs], [(user, result)] if result else [])


class Users(Host):
    """On a store with known content."""

    @classmethod
    def setUpClass(cls):
        cls.make_host()
        cls.store = STATE / "tracer.db"
        subprocess.run([MAKE_STORE, cls.store], check=True)
        give_runs(cls.store)
        cls.alices = cls.folder / "alice.db"
        shutil.copy(cls.store, cls.alices)
        leave_only(cls.alices, ALICE)
        for path in STATE.iterdir():
            os.chown(path, SERVER, GROUP)
            path.chmod(0o640)
        cls.bobs = [f"{row[0]:016x}" for row in execute(cls.store, f"SELECT id FROM runs WHERE user_id = {BOB}")[0]]
        cls.own = [f"{row[0]:016x}" for row in execute(cls.store, f"SELECT id FROM runs WHERE user_id = {ALICE}")[0]]
        cls.host = execute(cls.store, "SELECT id FROM hosts")[0][0][0]
        cls.start_server()

    def expect_as_own(self, *arguments):
        """Alice is shown what is in the store that has only her rows."""
        answered = tracer(ALICE, *arguments)
        same(f"tracer {' '.join(arguments)}", answered, tracer(0, *arguments, "--store", str(self.alices)))
        assert SECRET not in answered[1] + answered[2], answered
        return answered[1]

    def test_a_user_sees_what_ran_as_them(self):
        for run in self.own:
            for arguments in (["show", run], ["show", run, "--processes"], ["show", run, "--json"], ["failed", run],
                              ["failed", run, "--json"], ["tune", run], ["tune", run, "--json"], ["explain", run],
                              ["export", run, "--format", "ndjson"], ["export", run, "--format", "perfetto"],
                              ["export", run, "--format", "otlp"]):
                self.expect_as_own(*arguments)
            same("report", tracer(ALICE, "report", run)[::2], (0, ""))
            status, printed, said = tracer(ALICE, "report", run, "--format", "md")
            same(said, status, 0)
            assert run[:8] in printed and SECRET not in printed and "| Cost |" not in printed, printed
        for arguments in (["runs"], ["runs", "--all"], ["runs", "--all", "--json"], ["show"], ["failed"], ["tune"],
                          ["top", "--once"], ["compare", *self.own[:2]], ["tune", "--right-size"], ["explain"]):
            self.expect_as_own(*arguments)

    def test_every_question_is_about_their_own(self):
        for question in json.loads(tracer(0, "query", "--list", "--json")[1])["queries"]:
            name = question["name"]
            needed = [f"--param={parameter['name']}=1" for parameter in question["parameters"]
                      if parameter["default"] is None]
            status, printed, said = tracer(ALICE, "query", name, *needed, "--json")
            assert SECRET not in printed + said, (name, printed, said)
            if "all users" in said:
                same(name, (status, printed), (1, ""))
                continue
            _, expected, reason = tracer(0, "query", name, *needed, "--json", "--store", str(self.alices))
            same(name, (said, *rows_of(printed)), (reason, *rows_of(expected)))

    def test_a_run_of_another_is_unknown(self):
        for run in self.bobs:
            for verb in ("show", "failed", "tune", "explain", "export", "report"):
                for wanted in (run, run[:6], SECRET, SECRET[:5]):
                    arguments = [verb, wanted, *(["--format", "ndjson"] if verb == "export" else
                                                 ["--format", "md"] if verb == "report" else [])]
                    answered = tracer(ALICE, *arguments)
                    unknown = tracer(ALICE, *[word.replace(wanted, "nothing") for word in arguments])
                    same(f"{arguments}", [text.replace(wanted, "nothing") if isinstance(text, str) else text
                                          for text in answered], list(unknown))
        tools = f"SELECT id FROM tools WHERE run_id IN (SELECT id FROM runs WHERE user_id = {BOB})"
        pids, processes, tasks = execute(
            self.store, f"SELECT DISTINCT pid FROM process_rows WHERE tool_id IN ({tools})",
            f"SELECT id FROM process_rows WHERE tool_id IN ({tools})",
            f"SELECT id FROM tasks WHERE run_id IN (SELECT id FROM runs WHERE user_id = {BOB})")
        assert pids and processes and tasks, "Bob has none"
        for wanted in [str(row[0]) for row in pids] + [f"{row[0]:016x}" for row in processes + tasks]:
            status, printed, said = tracer(ALICE, "explain", wanted)
            same(wanted, (status, printed, said.replace(wanted, "nothing")), tracer(ALICE, "explain", "nothing"))
        for run in self.bobs:
            same("the status", tracer(ALICE, "compare", self.own[0], run)[0], 1)

    def test_filters_do_not_reach_further(self):
        host = execute(self.store, "SELECT hostname FROM hosts")[0][0][0].decode()
        for arguments in (["runs", "--all", "--user", "bob"], ["runs", "--all", "--user", str(BOB)], ["runs", "--user", "root"],
                          ["runs", "--all", "--host", host], ["show", "--user", "bob"], ["show", "--host", host],
                          ["query", "runs", "--param", "user_id=bob"], ["query", "user_totals", "--param", "user_id=bob"],
                          ["query", "tasks", "--param", f"run_id={self.bobs[0]}"]):
            self.expect_as_own(*arguments)

    def test_what_is_of_all_users_is_refused(self):
        for arguments in (["cost"], ["sweep"], ["host"], ["query", "user_totals"], ["cost", self.own[0]],
                          ["query", "host_samples", "--host", f"{self.host:016x}"]):
            status, printed, said = tracer(ALICE, *arguments)
            same(f"{arguments} {said}", (status, printed), (1, ""))
            assert "needs to see the work of all users: ask a member of the group tracer" in said, (arguments, said)

    def test_status_says_what_is_seen(self):
        assert "you see what ran as you" in (answered := tracer(ALICE, "status"))[1], answered
        assert "you see" not in (answered := tracer(MALLORY, "status", groups=[GROUP]))[1], answered

    def test_a_user_without_runs_sees_none(self):
        status, printed, said = tracer(CAROL, "runs", "--all", "--json")
        same(said, (status, json.loads(printed)["runs"]), (0, []))
        status, printed, said = tracer(CAROL, "show")
        same(said, (status, printed), (1, ""))
        assert "nothing has run as you yet" in said, said

    def test_the_group_and_root_see_everything(self):
        everything = tracer(0, "runs", "--all", "--json", "--store", str(self.store))
        assert SECRET in everything[1], everything
        same("a member", tracer(MALLORY, "runs", "--all", "--json", groups=[GROUP]), everything)
        same("root", tracer(0, "runs", "--all", "--json"), everything)

    def test_members_and_root_may_ask_the_socket(self):
        for user, groups in ((0, []), (MALLORY, [GROUP])):
            status, body = get(user, "/api/v1/runs?all=1", groups=groups)
            same(body, status, 200)
            assert SECRET in body, body

    def test_the_api_shows_no_more(self):
        run = self.bobs[0]
        number = int(run, 16)
        forged = [[], [f"X-Remote-User: {name}" for name in ("bob", "root")], ["Authorization: Bearer x"],
                  ["X-Forwarded-User: bob"]]
        for path in (f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/failures", f"/api/v1/runs/{run}/tune", "/api/v1/runs?all=1",
                     f"/api/v1/runs?user={BOB}", "/api/v1/runs?user=bob", "/api/v1/queries/runs?user_id=bob",
                     f"/api/v1/queries/tasks?run_id={run}", f"/api/v1/runs/{run}/export/ndjson", "/api/v1/top",
                     f"/api/v1/rows/run?first_id=i:{number}&last_id=i:{number}", "/api/v1/rows/runs?limit=i:100",
                     f"/api/v1/rows/tasks?run_id=i:{number}&host_id=i:{self.host}", f"/api/v1/runs?name={SECRET}",
                     f"/api/v1/rows/runs?user_id=i:{BOB}&limit=i:100&with_system=i:1", "/api/v1/hosts", "/api/v1/sweep",
                     "/api/v1/cost", "/metrics", "/api/v1/rows/run?--store=/etc/passwd",
                     f"/api/v1/rows/--store={self.store}", "/api/v1/rows/states", "/api/v1/rows/host_samples?limit=i:9"):
            for lines in forged:
                status, body = get(ALICE, path, lines)
                assert SECRET not in body, (path, lines, status, body)
        status, body = get(ALICE, f"/api/v1/runs/{run}")
        same(body, (status, body), tuple(part.replace("nothing", run) if isinstance(part, str) else part
                                         for part in get(ALICE, "/api/v1/runs/nothing")))

    def test_without_the_server_the_reason_is_said(self):
        moved = SOCKET.with_name("moved.sock")
        SOCKET.rename(moved)
        try:
            status, _, said = tracer(ALICE, "runs")
        finally:
            moved.rename(SOCKET)
        same(said, status, 1)
        assert "permission denied" in said and "tracer-serve" in said, said


def main():
    if os.geteuid() != 0:
        return skip_all("serve users", "needs root, to be several users")
    if subprocess.run(["unshare", "--mount", "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        return skip_all("serve users", "no mount namespace of its own is allowed here")
    enter_own_mounts()
    return run_cases("serve users", sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
