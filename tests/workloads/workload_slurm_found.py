"""Slurm jobs that run before the probe starts: each belongs to its user and ends with its own status."""

import pwd

import model
from harness import require
from slurm import PROGRAMS, run_jobs

JOB_TIMEOUT_S = 60


def check(bench):
    require(*PROGRAMS)
    bench.worker("long", "endless")
    directory = bench.work_directory("work", "nobody")

    def end(slurm, jobs):
        (directory / "may-end").touch()
        slurm.ask("scancel", jobs[1])

    reports = run_jobs(bench, {"slurm_found.job": "COMPLETED", "slurm_found_cancel.job": "CANCELLED"}, directory,
                       JOB_TIMEOUT_S, end)
    problems = [problem for report in reports for problem in model.check_consistent(report)]
    user = pwd.getpwnam("nobody").pw_uid
    found = [(report["run"]["user_id"], report["run"]["status"],
              sorted({process["program"] for task in report["tasks"] for process in task["processes"]}))
             for report in reports]
    expected = [(user, "succeeded", ["bash", "long"]), (user, "killed", ["bash", "endless"])]
    return problems + ([f"the jobs are {found}, not {expected}"] if found != expected else [])
