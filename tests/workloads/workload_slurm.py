"""A Slurm job with two steps: one run, each step a task, by the cgroups that slurmd makes."""

import pathlib
import secrets
import signal
import socket
import subprocess
import time

import harness
import model
from harness import HERE, Failure, require

NODE = "tracertest"
READY_TIMEOUT_S = 30
JOB_TIMEOUT_S = 60

# Memory limits are what makes slurmd give every step a memory cgroup, on most sites as here.
SLURM_CONF = """
ClusterName={node}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.sock
CredType=cred/munge
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
NodeName={node} NodeAddr=127.0.0.1 NodeHostname={host} CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=10 State=UP
"""
CGROUP_CONF = """
CgroupPlugin={plugin}
ConstrainRAMSpace=yes
"""


class Slurm:
    """munged, slurmctld and slurmd of one node on 127.0.0.1, all in one directory."""

    def __init__(self, directory):
        self.directory = directory
        self.environment = {"SLURM_CONF": str(directory / "slurm.conf"), "PATH": harness.PATH}
        self.processes = []

    def start(self):
        for name in ("state", "spool"):
            (self.directory / name).mkdir()
        key = self.directory / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        pure_v2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
        (self.directory / "cgroup.conf").write_text(
            CGROUP_CONF.format(plugin="cgroup/v2" if pure_v2 else "cgroup/v1"))
        (self.directory / "slurm.conf").write_text(SLURM_CONF.format(
            node=NODE, host=socket.gethostname().split(".")[0], directory=self.directory,
            controller_port=free_port(), daemon_port=free_port()))
        paths = {"key-file": "munge.key", "socket": "munge.sock", "pid-file": "munged.pid",
                 "log-file": "munged.log", "seed-file": "munge.seed"}
        self._start("munged", "--foreground", "--force",
                    *[f"--{option}={self.directory / name}" for option, name in paths.items()])
        self._start("slurmctld", "-D", "-i")
        self._start("slurmd", "-D", "-N", NODE)
        self._poll("the node to be idle", READY_TIMEOUT_S,
                   lambda: "idle" in self.ask("sinfo", "--noheader"))

    def _start(self, *command):
        log = open(self.directory / f"{command[0]}.out", "wb")
        self.processes.append(subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment))

    def _poll(self, what, timeout_s, condition):
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-500:] for path in self.directory.glob("*.out"))
                raise Failure(f"waited {timeout_s} s for {what}\n{logs}")
            time.sleep(0.1)

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              check=False).stdout

    def wait_for_job(self, job):
        def ended():
            return "JobState=COMPLETED" in self.ask("scontrol", "--oneliner", "show", "job", job)
        self._poll(f"job {job} to complete", JOB_TIMEOUT_S, ended)

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for top in pathlib.Path("/sys/fs/cgroup").glob(f"*/slurm_{NODE}"):
            for path in [*sorted(top.glob("**/"), key=lambda path: -len(path.parts))]:
                path.rmdir()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def submit(bench, slurm, directory):
    """Submits as an ordinary user, with the workers in the path. Returns the job's number."""
    command = ["env", f"SLURM_CONF={slurm.environment['SLURM_CONF']}", "sbatch", "--parsable",
               "--output", directory / "job.output", bench.fixture(HERE / "slurm.job")]
    process = bench.start(command, directory, marked=False)
    bench.wait(process)
    return pathlib.Path(process.output_path).read_text().strip()


def check_tasks(report):
    """Both steps a task with its tool; the script and its sruns wherever they stand together."""
    own = {"slurm_script", "srun", "slurmstepd"}
    steps = [(task["kind"], task["name"], model.tools_of(task, without=own))
             for task in report["tasks"] if model.tools_of(task, without=own)]
    if sorted(steps, key=str) != [("batch", "step 0", {"align": 1}),
                                  ("batch", "step 1", {"call": 1})]:
        return [f"steps are {steps}"]
    return []


def check(bench):
    require("munged", "slurmctld", "slurmd", "sbatch", "srun")
    bench.worker("align", "call")
    directory = bench.work_directory("work", "nobody")
    slurm = Slurm(bench.work_directory("slurm", "root"))
    try:
        slurm.start()
        bench.daemons.start()
        job = submit(bench, slurm, directory)
        slurm.wait_for_job(job)
    finally:
        slurm.stop()
    bench.daemons.finish()

    reports = [report for report in bench.daemons.reports(directory)
               if report["run"]["kind"] == "batch"]
    if len(reports) != 1:
        return [f"{len(reports)} batch runs, not 1"]
    report = reports[0]
    problems = model.check_consistent(report) + check_tasks(report)
    if job not in (report["run"]["run_key"] or ""):
        problems.append(f"run.run_key is {report['run']['run_key']!r} for job {job}")
    if report["run"]["status"] != "succeeded":
        problems.append(f"run.status is {report['run']['status']!r}")
    return problems
