"""Three pid namespaces one after the other, by unshare and by bwrap: the kernel gives them the same number, and
yet each is a container of its own. So are three of parallel jobs of make, each in its own task."""

from harness import require

COMMANDS = {
    "unshare": "unshare --pid --fork",
    "bwrap": "bwrap --dev-bind / / --unshare-pid --die-with-parent",
}
MAKEFILE = "all: a b c\na b c: ; {} crunch --cpu 20 $@\n"


def problems_of(report, count):
    """Of a run with `count` containers, each with one crunch."""
    found = sorted(row["id"] for row in report["containers"])
    inside = sorted(process["container_id"] for task in report["tasks"] for process in task["processes"]
                    if process["program"] == "crunch")
    return [] if len(found) == count and inside == found else [f"containers {found}, processes in {inside}"]


def check(bench):
    require("bwrap", "make")
    bench.worker("crunch")
    problems = []
    for name, command in COMMANDS.items():
        directory = bench.work_directory(name, "root")
        (directory / "Makefile").write_text(MAKEFILE.format(command))
        for words in (["bash", "-c", f"for i in 1 2 3; do {command} crunch --cpu 20; done"], ["make", "-j3"]):
            reports, _ = bench.watch(words, directory, user="root")
            report = reports[-1]
            problems += [f"{name}: {words}: {problem}" for problem in problems_of(report, 3)]
            if words[0] == "make":
                labels = sorted(task["label"] for task in report["tasks"] if task["kind"] != "main")
                problems += [] if labels == ["a", "b", "c"] else [f"{name}: tasks are {labels}"]
    return problems
