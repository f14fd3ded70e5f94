"""A Slurm job with two steps: one run with a task for each step, derived from slurmd's cgroups."""

import model
from harness import require
from slurm import PROGRAMS, run_jobs

JOB_TIMEOUT_S = 60


def check_tasks(report):
    """Each step is a task with its tool; the script and its sruns may be in any task together."""
    own = {"slurm_script", "srun", "slurmstepd"}
    steps = [(task["kind"], task["name"], model.tools_of(task, without=own))
             for task in report["tasks"] if model.tools_of(task, without=own)]
    if sorted(steps, key=str) != [("batch", "step 0", {"align": 1}),
                                  ("batch", "step 1", {"call": 1})]:
        return [f"steps are {steps}"]
    return []


def check(bench):
    require(*PROGRAMS)
    bench.worker("align", "call")
    directory = bench.work_directory("work", "nobody")
    report, = run_jobs(bench, {"slurm.job": "COMPLETED"}, directory, JOB_TIMEOUT_S)
    problems = model.check_consistent(report) + check_tasks(report)
    if report["run"]["status"] != "succeeded":
        problems.append(f"run.status is {report['run']['status']!r}")
    return problems
