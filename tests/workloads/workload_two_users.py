"""The same pipeline run by two users at the same time: two runs, nothing mixed."""

import pwd

import model
import pipeline

USERS = ["nobody", "daemon"]


def check(bench):
    command = pipeline.command(bench)
    directories = {user: bench.work_directory(user, user) for user in USERS}
    bench.daemons.start()
    started = [bench.start(command, directories[user], user) for user in USERS]
    for process in started:
        bench.wait(process)
    bench.daemons.finish()

    problems = []
    for user in USERS:
        uid = pwd.getpwnam(user).pw_uid
        reports = bench.daemons.reports(directories[user])
        if len(reports) != 1:
            problems.append(f"{len(reports)} runs of {user}, not 1")
            continue
        problems += model.check_run(pipeline.expected(uid), reports[0])
        problems += [f"the run of {user} has {process['program']} of user {process['user_id']}"
                     for task in reports[0]["tasks"] for process in task["processes"]
                     if process["user_id"] != uid]
    return problems
