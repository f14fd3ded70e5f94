"""Two Slurm jobs, ended by their time limit and by their user: the batch system's daemon is named
as the sender and, for the second job, the user who asked for it."""

import re

from harness import require
from slurm import PROGRAMS, run_jobs

# The controller checks limits every 30 s; a step that does not end is killed 5 s later.
LIMIT_S = 60
JOB_TIMEOUT_S = 180
SENTENCE = (r"task step 0 was killed: {} \(pid \d+\) was killed by SIGTERM from slurmstepd "
            r"\(pid \d+, user root\) after (?:(\d+)m)?([\d.]+) ?(ms|s)")
ENDED = "slurmstepd, the batch system's daemon, ended the job: "
LIMIT = ENDED + "its time limit or another limit was reached, or it was cancelled"
CANCELLED = ENDED + r"scancel \(pid \d+, uid \d+\) cancelled it"


def check_job(bench, report, program, cause, least_s):
    run, tasks = report["run"], {task["id"]: task["name"] for task in report["tasks"]}
    incidents = [row for row in report["incidents"] if tasks[row["task_id"]] == "step 0"]
    if len(incidents) != 1:
        return [f"{program}: {len(incidents)} incidents of the step: {report['incidents']}"]
    row, problems = incidents[0], []
    reported = re.fullmatch(SENTENCE.format(program), row["sentence"])
    if row["kind"] != "signal" or not reported or not re.fullmatch(cause, row["cause"] or ""):
        problems.append(f"the incident is {row['kind']}: {row['sentence']}: {row['cause']}")
    elif int(reported[1] or 0) * 60 + float(reported[2]) * (0.001 if reported[3] == "ms" else 1) < least_s:
        problems.append(f"it ended before its limit: {row['sentence']}")
    if (row["sender_program"], row["sender_user_id"]) != ("slurmstepd", 0):
        problems.append(f"sent by {row['sender_program']} of user {row['sender_user_id']}")
    if f"{row['sentence']}: {row['cause']}" not in bench.daemons.tell("show", run["id"]):
        problems.append(f"`tracer show` does not print the incident of {program}")
    if run["status"] not in ("killed", "failed"):
        problems.append(f"the run of {program} is {run['status']!r}")
    return problems


def check(bench):
    require(*PROGRAMS)
    bench.worker("prepare", "endless", "cancelled")
    directory = bench.work_directory("work", "nobody")
    limited, cancelled = run_jobs(bench, {"slurm_limit.job": "TIMEOUT",
                                          "slurm_cancel.job": "CANCELLED"}, directory, JOB_TIMEOUT_S)
    return (check_job(bench, limited, "endless", LIMIT, LIMIT_S - 5) +
            check_job(bench, cancelled, "cancelled", CANCELLED, 0))
