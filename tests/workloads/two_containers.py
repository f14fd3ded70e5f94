"""Expected results of parallel containers, whichever engine runs them."""

import tarfile

import model
from harness import HERE
from model import Run, Task

IMAGE = "tracer-workload"
PROGRAMS = ("assemble", "polish", "scan", "merge", "count")
COUNTS = 3


def expected(runtime):
    """`runtime`: tools that enter a container; their number is up to the runtime."""
    return Run(
        kind="command", main={"two_containers.sh": 1, "mkdir": 1}, tasks_may_have=runtime,
        tasks=[
            Task("generic", "prepare", {"prepare": 1}),
            Task("generic", "assemble + polish", {"sh -c": 1, "assemble": 1, "polish": 1}),
            Task("generic", "scan + merge", {"sh -c": 1, "scan": 1, "merge": 1}),
            Task("generic", "xargs", {"xargs": 1}),
            Task("engine", "count", {"count": 1}, COUNTS),
            Task("generic", "conclude", {"conclude": 1}),
        ])


def image_archive(bench):
    """A root file system with a shell and the programs, for import."""
    path = bench.directory / "image.tar"
    with tarfile.open(path, "w") as tar:
        tar.add("/bin/busybox", arcname="bin/sh")
        for name in PROGRAMS:
            tar.add(bench.programs / "tests/workloads/worker", arcname=f"bin/{name}")
    return path


def watch(bench, client):
    """Returns the report of the run, and the errors."""
    bench.worker("prepare", "conclude")
    directory = bench.work_directory("work", "root")
    bench.watch(["bash", bench.fixture(HERE / "two_containers.sh"), IMAGE, *client], directory, user="root")
    report = bench.only_report(directory)
    return report, model.check_namespaces(report, bench.output_path(directory).read_text())


def check(report, runtime, runtime_name):
    return model.check_run(expected(runtime), report) + check_containers(report, runtime_name)


def check_containers(report, runtime_name):
    """Each program's process has the container in which it ran, and no other."""
    problems = []
    runtimes = sorted(row["runtime"] for row in report["containers"])
    if runtimes != [runtime_name] * (2 + COUNTS):
        return [f"containers are of {runtimes}"]
    for inside, count in ((PROGRAMS[:2], 1), (PROGRAMS[2:4], 1), (PROGRAMS[4:], COUNTS)):
        found = {process["container_id"] for task in report["tasks"]
                 for process in task["processes"] if process["program"] in inside}
        if len(found) != count or None in found:
            problems.append(f"{', '.join(inside)} ran in containers {found}")
    return problems
