"""A Slurm cluster of one node, for workloads: controller, node daemon and munge in one directory."""

import os
import pathlib
import secrets
import signal
import socket
import subprocess
import time

import harness
from cgroups import unified_hierarchy
from harness import die_with_parent
from testing import free_port, wait_until

NODE = f"tracer{os.getpid()}" # also the name of its cgroups
READY_TIMEOUT_S = 120
STOP_TIMEOUT_S = 60

# Memory limits make slurmd create a memory cgroup for every step, and Contain makes a step_extern, as on most sites.
SLURM_CONF = """
ClusterName={node}
FirstJobId={first_job}
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
PrologFlags=Contain
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerType=sched/builtin
SelectType=select/cons_tres
NodeName={node} NodeAddr=127.0.0.1 NodeHostname={host} CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=10 State=UP
"""
CGROUP_CONF = """
CgroupPlugin={plugin}
ConstrainRAMSpace=yes
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel")


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
            node=NODE, first_job=os.getpid(), host=socket.gethostname().split(".")[0], directory=self.directory,
            controller_port=free_port(), daemon_port=free_port()))
        paths = {"key-file": "munge.key", "socket": "munge.sock", "pid-file": "munged.pid",
                 "log-file": "munged.log", "seed-file": "munge.seed"}
        self._start("munged", "--foreground", "--force",
                    *[f"--{option}={self.directory / name}" for option, name in paths.items()])
        self._start("slurmctld", "-D", "-i")
        # With systemd on a hybrid host, slurmd has a cgroup of the v2 hierarchy for all its jobs.
        self.service = None if pure_v2 else unified_hierarchy() / f"{NODE}.slice/slurmd.service"
        self._start("slurmd", "-D", "-N", NODE, group=self.service)
        self._poll("the node to be idle", READY_TIMEOUT_S,
                   lambda: "idle" in self.ask("sinfo", "--noheader"))

    def _start(self, *command, group=None):
        def prepare():
            die_with_parent()
            if group:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        if group:
            group.mkdir(parents=True)
        with open(self.directory / f"{command[0]}.out", "wb") as log:
            self.processes.append(subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment,
                preexec_fn=prepare))

    def _poll(self, what, timeout_s, condition):
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-500:] for path in self.directory.glob("*.out"))
                raise AssertionError(f"waited {timeout_s} s for {what}\n{logs}")
            time.sleep(0.1)

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              check=False).stdout

    def submit(self, bench, script, directory):
        """Submits a job as an ordinary user, with the workers in the path. Returns the job number."""
        process = bench.start(
            ["env", f"SLURM_CONF={self.environment['SLURM_CONF']}", "sbatch", "--parsable",
             "--output", directory / "job.output", bench.fixture(script)], directory, marked=False)
        bench.wait(process)
        return pathlib.Path(process.output_path).read_text().strip()

    def wait_for_job(self, job, state, timeout_s):
        def ended():
            return f"JobState={state} " in self.ask("scontrol", "--oneliner", "show", "job", job)
        self._poll(f"job {job} to be {state}", timeout_s, ended)

    def stop(self):
        """Cancels jobs first: their step daemons would outlive slurmd."""
        if self.ask("squeue", "--noheader"):
            self.ask("scancel", "--user=nobody")
            self._poll("jobs to end", STOP_TIMEOUT_S, lambda: not self.ask("squeue", "--noheader"))
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        harness.remove_cgroups(f"slurm_{NODE}")
        harness.remove_cgroups(f"{NODE}.slice")


def run_jobs(bench, states, directory, timeout_s, when_found=None):
    """Runs jobs under the daemons until each, by job file, has its state. Returns the reports of their runs.
    `when_found`: the jobs begin before the daemons, and are ended by this function of the cluster and the jobs."""
    slurm = Slurm(bench.work_directory("slurm", "root"))
    try:
        slurm.start()
        if not when_found:
            bench.daemons.start()
        jobs = [slurm.submit(bench, harness.HERE / job_file, directory) for job_file in states]
        if when_found:
            wait_until("each job is at work", lambda: len(list(directory.glob("*.began"))) == len(jobs))
            bench.daemons.start()
            when_found(slurm, jobs)
        for job, state in zip(jobs, states.values()):
            slurm.wait_for_job(job, state, timeout_s)
    finally:
        slurm.stop()
    bench.daemons.finish()
    reports = [report for report in bench.daemons.reports(directory)
               if report["run"]["kind"] == "batch"]
    by_key = {report["run"]["run_key"]: report for report in reports}
    keys = [f"slurm:{job}" for job in jobs] # the controller decides which of two jobs begins first
    if len(reports) != len(jobs) or by_key.keys() != set(keys):
        raise AssertionError(f"not a batch run a job: {[report['run'] for report in reports]}")
    return [by_key[key] for key in keys]
