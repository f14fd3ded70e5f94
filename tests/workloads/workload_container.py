"""A container that a script starts: what runs in it belongs to the script's run and task, and
says which container it ran in."""

import json
import secrets
import shutil
import subprocess

import model
from harness import HERE, remove_cgroups, require
from model import Run, Task

CONTAINER = secrets.token_hex(32)
# Where Docker has runc put its containers: a cgroup path is all that tells of the runtime.
CGROUP = f"/docker/{CONTAINER}"

# runc starts itself over several times to enter the container; how often is its own business.
EXPECTED = Run(
    kind="command", main={"container.sh": 1}, tasks_may_have=frozenset({"runc"}),
    tasks=[
        Task("generic", "prepare", {"prepare": 1}),
        Task("generic", "assemble + polish", {"sh -c": 1, "assemble": 1, "polish": 1}),
        Task("generic", "conclude", {"conclude": 1}),
    ])
INSIDE = {"sh", "assemble", "polish"}


def make_bundle(bench):
    bundle = bench.directory / "bundle"
    for name in ("bin", "dev", "proc", "sys"):
        (bundle / "rootfs" / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), bundle / "rootfs/bin/sh")
    for name in ("assemble", "polish"):
        shutil.copy(bench.programs / "tests/workloads/worker", bundle / "rootfs/bin" / name)
    subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
    config = json.loads((bundle / "config.json").read_text())
    config["process"]["terminal"] = False
    config["process"]["args"] = ["sh", "-c", "assemble --cpu 20 --namespaces; polish --cpu 20; true"]
    # No limit can be raised on every machine, and none is needed.
    config["process"].pop("rlimits", None)
    config["linux"]["cgroupsPath"] = CGROUP
    (bundle / "config.json").write_text(json.dumps(config))
    return bundle


def check(bench):
    require("runc", "busybox")
    bench.worker("prepare", "conclude")
    bundle = make_bundle(bench)
    directory = bench.work_directory("work", "root")
    command = ["bash", bench.fixture(HERE / "container.sh"), bundle, CONTAINER]
    try:
        reports, waited_ns = bench.watch(command, directory, user="root")
    finally:
        subprocess.run(["runc", "--root", bundle / "state", "delete", "--force", CONTAINER],
                       stderr=subprocess.DEVNULL, check=False)
        remove_cgroups("docker")
    if len(reports) != 1:
        return [f"{len(reports)} runs, not 1"]
    report = reports[0]
    problems = model.check_run(EXPECTED, report) + model.check_cpu(report, waited_ns)

    containers = {(row["runtime"], row["runtime_id"]): row["id"] for row in report["containers"]}
    if list(containers) != [("docker", CONTAINER)]:
        return problems + [f"containers are {list(containers)}"]
    container_id = containers["docker", CONTAINER]
    for task in report["tasks"]:
        # It executes itself by descriptor, too, under the number's name.
        runtime = {tool["id"] for tool in task["tools"] if tool["name"] == "runc"}
        for process in task["processes"]:
            expected = container_id if process["program"] in INSIDE else None
            if process["tool_id"] not in runtime and process["container_id"] != expected:
                problems.append(f"{process['program']} has container {process['container_id']}, "
                                f"not {expected}")
    return problems + model.check_namespaces(report, bench.output_path(directory).read_text())
