"""Roles are earned, not named: users choose the names of their programs, scripts and cgroups."""

import os
import shutil
import subprocess
import textwrap

from testing import Skip, same, wait_until

# As daemons do it: one that is init's child, and forks, changes the user and executes what it is asked to.
DAEMON = "#!/usr/bin/python3\n" + textwrap.dedent("""
    import os, signal, subprocess, sys
    user, requests, answers = int(sys.argv[1]), *sys.argv[2:]
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(120)
    for descriptor in range(3):
        os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
    with open(requests) as lines, open(answers, "w", buffering=1) as done:
        for line in lines:
            child = subprocess.run(line.split(), user=user, group=user, extra_groups=[], stdin=subprocess.DEVNULL)
            print(child.returncode, file=done)
    """)
NAMES = ("pause", "conmon", "cc1", "sshd", "cron", "tmux", "tracer-probe", "telegraf", "systemd", "containerd-shim")


class Programs:
    """Programs of those names that each user could have made, and daemons of root's."""

    def __init__(self, scene, daemons):
        self.scene = scene
        self.directory = daemons.directory / "programs"
        self.directory.mkdir()
        for name in NAMES:
            shutil.copy("/bin/bash", self.directory / name)

    def path(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def daemon(self, name, user):
        """Starts a daemon that executes commands as that user; returns the function that asks it to."""
        program = self.path(f"root/{name}", DAEMON)
        requests, answers = (self.directory / f"{name}.{end}" for end in ("requests", "answers"))
        for path in (requests, answers):
            os.mkfifo(path)
        self.scene.run([program, user, requests, answers], user=0)
        asked, answered = open(requests, "w", buffering=1), open(answers)
        self.scene.closing.callback(lambda: (asked.close(), answered.close()))

        def ask(*command):
            print(*command, file=asked)
            return int(answered.readline())
        return ask


def stop_and_check(daemons):
    daemons.stop()
    same("lost records", daemons.value("SELECT sum(lost_count) FROM losses"), None)


def test_a_process_without_a_name(scene):
    """It was running before the probe."""
    daemons = scene.daemons()
    hidden = scene.start_python("import ctypes\nctypes.CDLL(None).prctl(15, b'', 0, 0, 0)\nprint('hidden', flush=True)\n"
                                "while True: pass", stdout=subprocess.PIPE)
    hidden.stdout.readline()
    same("its name", open(f"/proc/{hidden.pid}/comm").read(), "\n")
    daemons.start()
    wait_until("its processor time is known", lambda: daemons.rows(
        "SELECT 1 FROM processes WHERE pid = ? AND user_id = ? AND cpu_ns > 1000000000", hidden.pid, scene.attacker))


def test_programs_called_like_daemons(scene):
    """What a user executes is in a run of that user."""
    daemons = scene.daemons()
    programs = Programs(scene, daemons)
    ask = programs.daemon("sshd", scene.attacker)
    script = programs.path("work", "sleep 0.1\n:\n")
    daemons.start()
    for name in NAMES:
        same(f"status of {name}", ask(programs.directory / name, script), 0)
    stop_and_check(daemons)
    found = daemons.rows("SELECT p.program, r.kind, r.user_id FROM processes p JOIN runs r ON r.id = p.run_id "
                         "WHERE p.user_id = ?", scene.attacker)
    same("programs", {row["program"] for row in found}, {*NAMES, "sleep"})
    same("in a run of the host or of another", [row for row in found if row["kind"] == "system"
                                                or row["user_id"] != scene.attacker], [])


def test_a_keeper_of_containers_of_a_user(scene):
    """Another user's client waits for a container with the same command."""
    enter = "unshare --user --map-root-user --pid --fork --mount-proc sleep 0.7"
    if subprocess.run(enter.split(), user=scene.attacker, group=scene.attacker, capture_output=True,
                      check=False).returncode:
        raise Skip("users may not create namespaces here")
    daemons = scene.daemons()
    programs = Programs(scene, daemons)
    ask = programs.daemon("sshd", scene.attacker)
    script = programs.path("keep", f"{enter}\n:\n")
    daemons.start()
    scene.start([programs.path("docker", "#!/bin/bash\nsleep 30\n:\n"), "run", "image", "sleep", "0.7"], user=scene.victim)
    wait_until("the client is seen", lambda: daemons.value("SELECT 1 FROM processes WHERE role = 'client'"))
    same("status", ask(programs.directory / "containerd-shim", script), 0)
    stop_and_check(daemons)
    same("containers", daemons.value("SELECT count(*) FROM processes WHERE user_id = ? AND program = 'sleep' AND "
                                     "container_id IS NOT NULL", scene.attacker), 1)
    same("runs of both users", daemons.rows(
        "SELECT r.name FROM processes p JOIN runs r ON r.id = p.run_id WHERE p.user_id IN (?, ?) GROUP BY r.id "
        "HAVING count(DISTINCT p.user_id) > 1", scene.attacker, scene.victim), [])


def test_a_key_of_another_users_job(scene):
    """A script with the name of a job's script."""
    daemons = scene.daemons()
    programs = Programs(scene, daemons)
    victim, attacker = programs.daemon("pbs_mom", scene.victim), programs.daemon("sshd", scene.attacker)
    job = programs.path("mom_priv/jobs/123.SC", "sleep 0.1\n:\n")
    daemons.start()
    same("statuses", (victim("bash", job), attacker("bash", job)), (0, 0))
    stop_and_check(daemons)
    # Batch systems of other suites may run jobs meanwhile.
    keys = daemons.rows("SELECT user_id, run_key FROM runs WHERE run_key IS NOT NULL AND user_id IN (?, ?) "
                        "ORDER BY begin_boot_ns", scene.victim, scene.attacker)
    same("keys", [(row["user_id"], row["run_key"]) for row in keys],
         [(scene.victim, "pbs:123"), (scene.attacker, f"pbs:123@{scene.attacker}")])
