"""Parallel Docker containers, started by a daemon for a script: their processes belong to the script's run, and
to the task of the client that waits for them. A container that others start does not, whichever client waits."""

import os
import socket
import subprocess

import model
import two_containers
from docker_engine import Engine
from harness import HERE, require
from model import Run, Task

RUNTIME = frozenset({"runc", "docker run"})
CWL = Run(kind="command", engine="cwl", main={}, main_may_have=frozenset({"cwltool", "docker images", "docker stats"}), tasks=[Task("engine", "count", {"count": 1}, 3)],
          tasks_may_have=RUNTIME)


def check(bench):
    require("busybox", "cwltool")
    engine = Engine(bench.directory)
    try:
        engine.start()
        engine.image(two_containers.IMAGE, two_containers.image_archive(bench))
        bench.environment["DOCKER_HOST"] = engine.environment["DOCKER_HOST"]
        report, problems = two_containers.watch(
            bench, [engine.client, "run", "--rm", "--network", "none"])
        return problems or two_containers.check(report, RUNTIME, "docker") or check_cwl(bench, engine) or check_strangers(bench, engine)
    finally:
        engine.stop()


def check_cwl(bench, engine):
    """cwltool starts three containers at once, each for a job."""
    bench.environment["PATH"] = f"{os.path.dirname(engine.client)}:{os.environ['PATH']}"
    directory = bench.work_directory("cwl", "root")
    (directory / "job.yml").write_text("cpus: [10, 20, 30]")
    bench.watch(["cwltool", "--parallel", "--custom-net", "none", bench.fixture(HERE / "cwltool/docker.cwl"), "job.yml"],
                directory, user="root")
    report = bench.only_report(directory)
    containers = {process["container_id"] for task in report["tasks"] for process in task["processes"]
                  if process["program"] == "count"}
    return model.check_run(CWL, report) + model.difference(["3 containers"], [f"{len(containers - {None})} containers"])


def check_strangers(bench, engine):
    for words in (["run", "--detach", "--name", "web"], ["create", "--name", "stray"]):
        subprocess.run([engine.client, *words, "--network", "none", two_containers.IMAGE, "assemble", "--sleep", "60000"],
                       env=engine.environment, stdout=subprocess.DEVNULL, check=True)
    with socket.create_server(("127.0.0.1", 0)) as registry: # it never answers
        reports, _ = bench.watch(["bash", bench.fixture(HERE / "docker_strangers.sh"), engine.client,
                                  f"127.0.0.1:{registry.getsockname()[1]}/none"],
                                 bench.work_directory("strangers", "root"), user="root")
    found = [f"{task['name']}: {', '.join(sorted(model.tools_of(task)))}"
             for task in reports[0]["tasks"] if task["kind"] != "main"]
    return model.difference(["docker restart: docker restart"] * 2 + [
        "docker run: docker run", "scan + merge: docker exec, merge, scan, sh -c"], found)
