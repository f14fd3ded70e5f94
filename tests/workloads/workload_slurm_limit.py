"""A Slurm job that reaches its time limit: the batch system's daemon ended it, and is said to."""

import re

from harness import require
from slurm import PROGRAMS, run_job

# The controller looks at limits every 30 s; a step that does not end is killed 5 s later.
LIMIT_S = 60
JOB_TIMEOUT_S = 180
SENTENCE = (r"task step 0 was killed: endless \(pid \d+\) was killed by SIGTERM from slurmstepd "
            r"\(pid \d+, user root\) after (\d+)\.\d s")
CAUSE = ("slurmstepd, the batch system's daemon, ended the job: its time limit or another limit "
         "was reached, or it was cancelled")


def check_incident(report, shown):
    tasks = {task["id"]: task["name"] for task in report["tasks"]}
    incidents = [row for row in report["incidents"] if tasks[row["task_id"]] == "step 0"]
    if len(incidents) != 1:
        return [f"{len(incidents)} incidents of the step: {report['incidents']}"]
    row, problems = incidents[0], []
    told = re.fullmatch(SENTENCE, row["sentence"])
    if row["kind"] != "signal" or row["cause"] != CAUSE or not told:
        problems.append(f"the incident is {row['kind']}: {row['sentence']}: {row['cause']}")
    elif int(told[1]) < LIMIT_S - 5:
        problems.append(f"it ended before its limit: {row['sentence']}")
    if (row["sender_program"], row["sender_user_id"]) != ("slurmstepd", 0):
        problems.append(f"sent by {row['sender_program']} of user {row['sender_user_id']}")
    if f"{row['sentence']}: {row['cause']}" not in shown:
        problems.append(f"`tracer show` does not print the incident: {shown}")
    return problems


def check(bench):
    require(*PROGRAMS)
    bench.worker("prepare", "endless")
    directory = bench.work_directory("work", "nobody")
    job, reports = run_job(bench, "slurm_limit.job", directory, "TIMEOUT", JOB_TIMEOUT_S)
    if len(reports) != 1:
        return [f"{len(reports)} batch runs, not 1"]
    run = reports[0]["run"]
    problems = check_incident(reports[0], bench.daemons.tell("show", run["id"]))
    if run["run_key"] != f"slurm:{job}" or run["status"] not in ("killed", "failed"):
        problems.append(f"the run is {run['run_key']!r}, {run['status']!r}")
    return problems
