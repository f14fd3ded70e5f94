"""Executes workloads on the real kernel below real daemons, and samples what only an outside view can tell."""

import contextlib
import dataclasses
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import places  # noqa: E402 (the line above has to come first)
import truth  # noqa: E402
import workload  # noqa: E402
from daemons import Daemons, die_with_parent, replay  # noqa: E402
from testing import PATH, remove_tree, wait_until  # noqa: E402

# Names of the actors: what pipelines call their programs, and no rule knows.
NAMES = ["align", "call", "merge", "trim", "index2", "stats2", "filter2", "tracer"]
PERIOD_S = 0.05         # between samples of memory
TIMEOUT_S = 60          # of one execution
RESTART_PERIOD_S = 3
FINAL_RECORDS_S = 0.3   # the kernel reports final figures so long after a process was reaped
USER = "nobody"
INTERPRETERS = {"python", "futures", "perl", "r", "pool", "mclapply", "parallel", "snakemake"}
HELD = '#!/bin/sh\necho $$ >"$ORACLE_HELD-$1/cgroup.procs" && shift && exec "$@"\n'
NICE = -15              # of the runner, whose samples are the only truth about interpreters


@dataclasses.dataclass
class Execution:
    """One workload, executed once."""

    workload: workload.Workload
    number: int           # unique
    repeat: int = 0
    situation: str = ""   # what happened meanwhile: load, restarts
    directory: pathlib.Path = None
    place: places.Place = None
    process: subprocess.Popen = None
    status: int = None    # exit status as a shell reports it
    samples: truth.Samples = dataclasses.field(default_factory=truth.Samples)
    group: list = dataclasses.field(default_factory=list) # (boot_ns, bytes) of its memory cgroup
    images: list = None   # of its actors

    @property
    def work(self):
        return self.directory / "work"

    def output(self):
        return (self.directory / "output").read_text(errors="replace")[-1000:]


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def sample_process(pid):
    """Its program, and its anonymous and shared memory, what it shares by shares."""
    total, program = 0, None
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        program = os.readlink(f"/proc/{pid}/exe")
        for line in file:
            if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                total += int(line.split()[1]) * 1024
    return program, total


class Runner:
    """Daemons, and a directory for everything. Executions are started, watched together, and looked at after stop()."""

    def __init__(self, build, record=False):
        self.build = pathlib.Path(build).resolve()
        self.daemons = Daemons(self.build)
        self.directory = self.daemons.directory
        self.recording = self.directory / "recording" if record else None
        self.daemons.own_directory = not record
        self.memory = pathlib.Path("/dev/shm") / self.directory.name
        self.memory.mkdir(mode=0o755)
        self.bin = self.directory / "bin"
        self.bin.mkdir()
        for name in NAMES:
            shutil.copy(self.build / "tests/oracle/oracle-actor", self.bin / name)
        (self.bin / "held").write_text(HELD)
        (self.bin / "held").chmod(0o755)
        self.count = 0

    def close(self):
        self.daemons.close()
        remove_tree(self.memory)

    def start(self):
        self.daemons.mount_pins()
        with as_others():
            if self.recording:
                self.daemons.start_probe("--record", self.recording)
            else:
                self.daemons.start()

    def restart(self):
        """Kills both daemons, as an accident would, and starts them again."""
        self.daemons.probe.kill()
        self.daemons.correlator.kill()
        with as_others():
            self.daemons.start()

    def restarting(self):
        """To be called often: restarts every RESTART_PERIOD_S."""
        due = time.monotonic() + RESTART_PERIOD_S

        def meanwhile():
            nonlocal due
            if time.monotonic() > due:
                self.restart()
                due = time.monotonic() + RESTART_PERIOD_S
        return meanwhile

    def stop(self, executions):
        if not self.recording:
            self.wait_stored(executions)
        time.sleep(FINAL_RECORDS_S)
        if self.recording:
            self.daemons.probe.stop()
            replay(self.build, self.recording, self.daemons.store)
        else:
            self.daemons.stop()

    def prepare(self, execution):
        self.count += 1
        execution.directory = self.directory / f"{execution.number}"
        script = workload.Script(execution.workload)
        account = pwd.getpwnam(USER)
        facts = self.memory / f"{execution.number}"
        facts.mkdir()
        execution.work.mkdir(parents=True)
        for name, text in script.files.items():
            (execution.work / name).write_text(text)
        for path in (facts, execution.work, *execution.work.iterdir()):
            os.chown(path, account.pw_uid, account.pw_gid)
        execution.place = places.Place(f"{self.directory.name}-{execution.number}", execution.workload, USER)
        environment = {"PATH": f"{self.bin}:{PATH}", "HOME": str(execution.work), "LANG": "C.UTF-8", "USER": USER,
                       "ORACLE_TRUTH": str(facts), "ORACLE_HELD": execution.place.held}
        return script.command, account, environment

    def begin(self, execution):
        command, account, environment = self.prepare(execution)

        def enter():
            execution.place.enter()
            os.setpriority(os.PRIO_PROCESS, 0, 0)
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            die_with_parent()

        with open(execution.directory / "output", "wb") as output:
            execution.process = subprocess.Popen(
                [self.bin / "tracer", "run", "--", *command], cwd=execution.work, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, preexec_fn=enter, start_new_session=True, env=environment)
        execution.deadline = time.monotonic() + TIMEOUT_S

    def sample(self, execution):
        """Only of an interpreter's memory the actors say nothing."""
        now_ns = boot_ns()
        if INTERPRETERS & set(execution.workload.root.kinds()):
            execution.samples.add(now_ns, {pid: sample_process(pid) for pid in execution.place.pids()})
        if execution.place.memory:
            execution.group.append((now_ns, execution.place.memory_bytes()))

    def is_over(self, execution):
        """Samples it; afterwards it is over, or not."""
        self.sample(execution)
        if execution.process.poll() is None or execution.place.pids():
            assert time.monotonic() < execution.deadline, f"does not end: {execution.workload}: {execution.output()}"
            return False
        execution.status = execution.process.returncode
        execution.images = truth.read_images(self.memory / f"{execution.number}")
        execution.place.remove()
        remove_tree(self.memory / f"{execution.number}")
        return True

    def run(self, executions, at_once, meanwhile=lambda: None):
        """Executes them, so many at a time."""
        waiting, running = list(executions), []
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    running.append(waiting.pop(0))
                    self.begin(running[-1])
                meanwhile()
                time.sleep(PERIOD_S)
                running = [execution for execution in running if not self.is_over(execution)]
        finally:
            for execution in running:
                self.abandon(execution)

    def abandon(self, execution):
        for _ in range(100):
            for pid in execution.place.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
            if not execution.place.pids():
                break
            time.sleep(0.05)
        execution.process.wait()
        execution.place.remove()

    def wait_stored(self, executions):
        """Waits until all of them are in the store."""
        directories = {str(execution.work) for execution in executions}

        def are_stored():
            rows = self.daemons.rows("SELECT working_directory, end_boot_ns FROM runs WHERE working_directory IS NOT NULL")
            return directories <= {row["working_directory"] for row in rows if row["end_boot_ns"] is not None}
        wait_until("the executions are stored", are_stored)


@contextlib.contextmanager
def as_others():
    """What is started here does not have the runner's priority."""
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)


@contextlib.contextmanager
def load(count):
    """So many processes that compute meanwhile."""
    command = ["sh", "-c", "while :; do :; done"]
    with as_others():
        processes = [subprocess.Popen(command, preexec_fn=die_with_parent, cwd="/") for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
