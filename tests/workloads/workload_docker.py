"""Two parallel Docker containers, started by a daemon for a script: their processes belong to the
script's run, and to the task of the client that waits for them."""

import two_containers
from docker_engine import Engine

RUNTIME = frozenset({"runc", "docker run"})


def check(bench):
    engine = Engine(bench.directory)
    try:
        engine.start()
        engine.image(two_containers.IMAGE, two_containers.image_archive(bench))
        bench.environment["DOCKER_HOST"] = engine.environment["DOCKER_HOST"]
        report, problems = two_containers.watch(
            bench, [engine.client, "run", "--rm", "--network", "none"])
    finally:
        engine.stop()
    return problems or two_containers.check(report, RUNTIME, "docker")
