"""A workflow engine: each of its jobs is a task, its own helper processes are not."""

import pwd

import pipeline


def check(bench):
    problems, _ = bench.check(pipeline.expected(pwd.getpwnam("nobody").pw_uid), pipeline.command(bench),
                              bench.work_directory("work", "nobody"))
    return problems
