"""Two Docker containers at once, which a daemon starts for a script: what runs in each belongs to
the script's run, and to the task of the client that waits for it."""

import model
from docker_engine import Engine
from harness import HERE
from model import Run, Task

INSIDE = {"one": {"sh", "assemble", "polish"}, "two": {"sh", "scan", "merge"}}

# Written before the program was asked. What the runtime does to enter a container is its own
# business, and so is how often.
EXPECTED = Run(
    kind="command", main={"docker.sh": 1, "mkdir": 1},
    tasks_may_have=frozenset({"runc", "containerd-shim-runc-v2", "dockerd", "docker-init",
                              "docker run"}),
    tasks=[
        Task("generic", "prepare", {"prepare": 1}),
        Task("generic", "assemble + polish", {"sh -c": 1, "assemble": 1, "polish": 1}),
        Task("generic", "scan + merge", {"sh -c": 1, "scan": 1, "merge": 1}),
        Task("generic", "conclude", {"conclude": 1}),
    ])


def check(bench):
    bench.worker("prepare", "conclude")
    engine = Engine(bench.directory)
    worker = bench.programs / "tests/workloads/worker"
    try:
        engine.start()
        engine.image("tracer-workload", {
            "bin/sh": "/bin/busybox",
            **{f"bin/{name}": worker for name in ("assemble", "polish", "scan", "merge")}})
        directory = bench.work_directory("work", "root")
        bench.environment["DOCKER_HOST"] = engine.environment["DOCKER_HOST"]
        reports, _ = bench.watch(
            ["bash", bench.fixture(HERE / "docker.sh"), engine.client, "tracer-workload"],
            directory, user="root")
    finally:
        engine.stop()
    if len(reports) != 1:
        return [f"{len(reports)} runs, not 1"]
    return model.check_run(EXPECTED, reports[0]) + check_containers(reports[0])


def check_containers(report):
    """Each program's process names the container that it ran in, and no other."""
    problems = []
    containers = {row["id"]: row["runtime"] for row in report["containers"]}
    if sorted(containers.values()) != ["docker", "docker"]:
        return [f"containers are {containers}"]
    for inside in INSIDE.values():
        found = {process["container_id"] for task in report["tasks"]
                 for process in task["processes"] if process["program"] in inside - {"sh"}}
        if len(found) != 1 or found <= {None}:
            problems.append(f"{inside} ran in containers {found}")
    return problems
