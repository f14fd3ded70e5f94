"""Runs that fail, each in another way, live from the kernel to what `tracer show` says of them:
out of memory, ^C, timeout(1), kill(1), no such command, a crash."""

import contextlib
import os
import pathlib
import pty
import pwd
import re
import signal
import subprocess

from harness import HERE, PATH, remove_cgroups
from testing import Skip, wait_until

MEMORY_LIMIT_MIB = 64
USER = "nobody"


def pid_of(program, directory):
    """The process of that name that works in that directory; None."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "comm").read_text().strip() == program and \
                    os.readlink(path / "cwd") == str(directory):
                return int(path.name)
    return None


class Case:
    """One run that fails. `incidents`: {kind: what its sentence and its cause match}; `status` and
    `sender` are those of the run and of the process that ended it."""

    script = None  # run under the mark of `tracer run`
    incidents = {}
    sender = None
    exit_status = 0

    def __init__(self, bench):
        self.bench = bench
        self.name = type(self).__name__
        self.directory = bench.work_directory(self.name, USER)
        self.process = None

    def start(self):
        script = self.bench.fixture(HERE / "failures" / self.script)
        self.process = self.bench.start(["bash", script], self.directory, USER)

    def wait(self):
        self.bench.wait(self.process, self.exit_status)

    def close(self):
        pass

    def check(self):
        reports = self.bench.daemons.reports(self.directory)
        if len(reports) != 1:
            return [f"{len(reports)} runs, not 1"]
        shown = self.bench.daemons.tell("show", reports[0]["run"]["id"])
        problems = self.check_incidents(reports[0]["incidents"], shown)
        senders = {row["sender_program"] for row in reports[0]["incidents"]} - {None}
        if senders != ({self.sender} if self.sender else set()):
            problems.append(f"senders are {senders}, not {self.sender}")
        return problems + self.check_report(reports[0])

    def check_report(self, report):
        return []

    def check_incidents(self, incidents, shown):
        problems = []
        found = sorted(row["kind"] for row in incidents)
        if found != sorted(kind for kind, _, _ in self.incidents):
            problems.append(f"incidents are {found}")
        for kind, sentence, cause in self.incidents:
            rows = [row for row in incidents if row["kind"] == kind and
                    re.fullmatch(sentence, row["sentence"]) and
                    re.fullmatch(cause, row["cause"] or "")]
            if len(rows) != 1:
                told = [f"{row['kind']}: {row['sentence']}: {row['cause']}" for row in incidents]
                problems.append(f"{len(rows)} incidents as expected of {kind}: {told}")
                continue
            line = rows[0]["sentence"] + (f": {rows[0]['cause']}" if rows[0]["cause"] else "")
            if line not in shown:
                problems.append(f"`tracer show` does not print {line!r}: {shown}")
        return problems


TIME = r"(\d+(\.\d+)? (ms|s))"


class OutOfMemory(Case):
    """By the kernel, in a cgroup with a limit."""

    script = "hungry.sh"
    exit_status = 137
    group = f"tracer-failures-{os.getpid()}"
    killed = rf"hungry \(pid \d+\) was killed by the kernel's OOM killer after {TIME}"
    why = (rf"its cgroup /{group} reached its memory limit of {MEMORY_LIMIT_MIB}\.0 MiB "
           r"\(at most 6[34]\.\d MiB used\)")
    incidents = [("oom-kill", f"task hungry was killed: {killed}", why)]

    def start(self):
        self.path = self.make_group()
        script = self.bench.fixture(HERE / "failures" / self.script)
        enter = f"echo $$ >{self.path}/cgroup.procs && exec setpriv --reuid={USER} --clear-groups " \
                f"{self.bench.bin}/tracer run -- bash {script}"
        self.process = self.bench.start(["bash", "-c", enter], self.directory, "root", marked=False)

    def make_group(self):
        """In the hierarchy that limits memory here."""
        version_1, version_2 = (pathlib.Path("/sys/fs/cgroup/memory"),
                                pathlib.Path("/sys/fs/cgroup"))
        limit = str(MEMORY_LIMIT_MIB << 20)
        if (version_1 / "memory.limit_in_bytes").exists():
            path, settings = version_1 / self.group, {"memory.limit_in_bytes": limit}
        elif "memory" in (version_2 / "cgroup.subtree_control").read_text().split():
            path, settings = version_2 / self.group, {"memory.max": limit, "memory.swap.max": "0"}
        else:
            raise Skip("no memory cgroups here")
        path.mkdir()
        for name, value in settings.items():
            (path / name).write_text(value)
        return path

    def close(self):
        remove_cgroups(self.group)

    def check_report(self, report):
        tasks = {task["name"]: task for task in report["tasks"]}
        limit = tasks["hungry"]["memory_limit_bytes"]
        peak = tasks["hungry"]["cgroup_peak_bytes"]
        if limit != MEMORY_LIMIT_MIB << 20 or not limit - (1 << 20) <= peak <= limit:
            return [f"of {limit} bytes the task is said to have used {peak}"]
        return []


class Interrupted(Case):
    """By a user's ^C, typed at the terminal of an interactive shell."""

    incidents = [("interrupted", r"run \S+ was interrupted: endless \(pid \d+\) was killed by SIGINT "
                                 rf"from the terminal \(\^C\) after {TIME}",
                  "it was interrupted at its terminal")]

    def start(self):
        account = pwd.getpwnam(USER)
        environment = {"PATH": f"{self.bench.bin}:{PATH}", "HOME": str(self.directory),
                       "HISTFILE": "/dev/null", "PS1": "$ ", "TERM": "dumb"}
        self.shell, self.terminal = pty.fork()
        if self.shell == 0:
            os.chdir(self.directory)
            os.setgroups([])
            os.setresgid(*[account.pw_gid] * 3)
            os.setresuid(*[account.pw_uid] * 3)
            os.execvpe("bash", ["-bash", "--norc", "--noprofile"], environment)
        self.type("endless --sleep 60000\n")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self):
        wait_until("the command", lambda: pid_of("endless", self.directory))
        self.type("\x03")
        wait_until("its end", lambda: not pid_of("endless", self.directory))
        self.type("exit\n")
        wait_until("the shell's end", self.has_ended)

    def has_ended(self):
        if self.shell and os.waitpid(self.shell, os.WNOHANG)[0]:
            self.shell = None
        return not self.shell

    def close(self):
        os.close(self.terminal)
        if self.shell and not self.has_ended():
            os.kill(self.shell, signal.SIGKILL)
            os.waitpid(self.shell, 0)


class TimedOut(Case):
    """By timeout(1)."""

    script = "timeout.sh"
    exit_status = 124
    sender = "timeout"
    incidents = [("signal", r"task endless failed: endless \(pid \d+\) was killed by SIGTERM "
                            rf"from timeout \(pid \d+, uid \d+\) after {TIME}",
                  "its parent timeout ended it")]


class Killed(Case):
    """By root, from elsewhere."""

    script = "killed.sh"
    exit_status = 137
    sender = "sh -c"
    incidents = [("signal", r"task endless was killed: endless \(pid \d+\) was killed by SIGKILL "
                            rf"from sh -c \(pid \d+, user root\) after {TIME}",
                  "sh -c, which is not of its run, ended it")]

    def wait(self):
        pid = wait_until("the command", lambda: pid_of("endless", self.directory))
        subprocess.run(["sh", "-c", f"kill -KILL {pid}"], check=True)
        super().wait()


class Missing(Case):
    """No such command, and one that is no program: the script goes on, and is said to."""

    script = "missing.sh"
    incidents = [
        ("failed-command", r"missing\.sh \(pid \d+\) could not execute a command \(code 127\)",
         "there is no such command"),
        ("failed-command", r"missing\.sh \(pid \d+\) could not execute a command \(code 126\)",
         "the command is there but cannot be executed")]

    def start(self):
        (self.directory / "plain-file").write_text("text\n")
        super().start()


class Crashed(Case):
    """With a core file, where this host writes one."""

    script = "crash.sh"
    exit_status = 139
    killed = rf"broken \(pid \d+\) was killed by SIGSEGV( and dumped core)? after {TIME}"
    incidents = [("crash", f"task broken was killed: {killed}", "invalid memory access")]

    def check_report(self, report):
        dumped = {process["core_dumped"] for task in report["tasks"] if task["name"] == "broken"
                  for process in task["processes"]}
        files = [path.name for path in self.directory.iterdir() if path.name.startswith("core")]
        if files and dumped != {1}:
            return [f"core_dumped is {dumped}, and there is {files}"]
        return []


CASES = [OutOfMemory, Interrupted, TimedOut, Killed, Missing, Crashed]


def check(bench):
    bench.worker("prepare", "hungry", "endless", "broken", "conclude")
    cases, problems = [], []
    try:
        bench.daemons.start()
        for kind in CASES:
            cases.append(kind(bench))
            cases[-1].start()
        for case in cases:
            case.wait()
        bench.daemons.finish()
        for case in cases:
            problems += [f"{case.name}: {line}" for line in case.check()]
    finally:
        for case in cases:
            case.close()
    return problems
