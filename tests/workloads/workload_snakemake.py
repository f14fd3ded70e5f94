"""A workflow engine: each of its jobs is a task, its own helper processes are not."""

import pwd

import model
import pipeline


def check(bench):
    command = pipeline.command(bench)
    reports, waited_ns = bench.watch(command, bench.work_directory("work", "nobody"))
    if len(reports) != 1:
        return [f"{len(reports)} runs, not 1"]
    return (model.check_run(pipeline.expected(pwd.getpwnam("nobody").pw_uid), reports[0]) +
            model.check_cpu(reports[0], waited_ns))
