"""A container started by a script: its processes belong to the script's run and task, and have the
container in which they ran."""

import json
import secrets
import shutil
import subprocess

import model
from harness import HERE, remove_cgroups, require
from model import Run, Task

CONTAINER = secrets.token_hex(32)
# The path that Docker gives to runc's containers: only the cgroup path reveals the runtime.
CGROUP = f"/docker/{CONTAINER}"

INSIDE = {"sh", "assemble", "polish"}
COMMAND = ["sh", "-c", "assemble --cpu 20 --namespaces; polish --cpu 20; true"]


def expected(runtime):
    """`runtime`: programs that enter a container; how often they re-execute themselves does not matter."""
    return Run(
        kind="command", main={"container.sh": 1}, tasks_may_have=runtime,
        tasks=[
            Task("generic", "prepare", {"prepare": 1}),
            Task("generic", "assemble + polish", {"sh -c": 1, "assemble": 1, "polish": 1}),
            Task("generic", "conclude", {"conclude": 1}),
        ])


def make_root(path, bench):
    """A root file system with a shell and the programs."""
    for name in ("bin", "dev", "etc", "proc", "sys", "tmp"):
        (path / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), path / "bin/sh")
    for name in ("assemble", "polish"):
        shutil.copy(bench.programs / "tests/workloads/worker", path / "bin" / name)
    return path


def make_bundle(bench):
    bundle = bench.directory / "bundle"
    make_root(bundle / "rootfs", bench)
    subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
    config = json.loads((bundle / "config.json").read_text())
    config["process"]["terminal"] = False
    config["process"]["args"] = COMMAND
    # Not every machine allows raising a limit, and none is needed.
    config["process"].pop("rlimits", None)
    config["linux"]["cgroupsPath"] = CGROUP
    (bundle / "config.json").write_text(json.dumps(config))
    return bundle


def watch(bench, user, command, runtime, container, is_waited_for=True):
    """Errors of a run in which a script starts the container with that command. `runtime`: the
    runtime's own tools. `container`: its (runtime, id), with id None if only its namespace reveals
    it; None if it is not recognized. `is_waited_for`: by the command, not by a daemon."""
    bench.worker("prepare", "conclude")
    directory = bench.work_directory("work", user)
    _, waited_ns = bench.watch(["bash", bench.fixture(HERE / "container.sh"), *command], directory, user)
    report = bench.only_report(directory)
    problems = model.check_run(expected(runtime), report)
    if is_waited_for:
        problems += model.check_cpu(report, waited_ns)
    found = [(row["runtime"], row["runtime_id"] if container and container[1] else None)
             for row in report["containers"]]
    if found != ([container] if container else []):
        return problems + [f"containers are {found}"]
    container_id = report["containers"][0]["id"] if container else None
    for task in report["tasks"]:
        # runc also executes itself by descriptor, under the number's name.
        entering = {tool["id"] for tool in task["tools"] if tool["name"] in runtime}
        for process in task["processes"]:
            expected_id = container_id if process["program"] in INSIDE else None
            if process["tool_id"] not in entering and process["container_id"] != expected_id:
                problems.append(f"{process['program']} has container {process['container_id']}, not {expected_id}")
    if container:
        problems += model.check_namespaces(report, bench.output_path(directory).read_text())
    return problems


def check(bench):
    require("runc", "busybox")
    bundle = make_bundle(bench)
    try:
        return watch(bench, "root", ["runc", "--root", bundle / "state", "run", "--bundle", bundle, CONTAINER],
                     frozenset({"runc"}), ("docker", CONTAINER))
    finally:
        subprocess.run(["runc", "--root", bundle / "state", "delete", "--force", CONTAINER],
                       stderr=subprocess.DEVNULL, check=False)
        remove_cgroups("docker")
