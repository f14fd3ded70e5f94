"""What Tracer says of one execution: `tracer show --json`, with what the checks look up in it."""

import dataclasses
import functools


@dataclasses.dataclass
class Answer:
    run: dict
    tasks: list
    incidents: list
    losses: list

    @functools.cached_property
    def processes(self):
        return [process for task in self.tasks for process in task["processes"]]

    @functools.cached_property
    def programs(self):
        """{(pid, program): rows in the order of their begins}."""
        found = {}
        for process in sorted(self.processes, key=lambda row: row["begin_boot_ns"]):
            found.setdefault((process["pid"], process["program"]), []).append(process)
        return found

    def process_of(self, image):
        """The row of an actor's image, or None."""
        rows = [row for row in self.programs.get((image.pid, image.name), ())
                if row["begin_boot_ns"] <= image.begin_boot_ns and image.end_boot_ns <= (row["end_boot_ns"] or 2**63)]
        return rows[-1] if rows else None

    def task_named(self, identifier):
        return next((task for task in self.tasks if task["id"] == identifier), None)


def ask(daemons, executions):
    """Gives each execution its answer."""
    runs = {}
    for row in daemons.rows("SELECT id, working_directory, kind FROM runs WHERE process_count > 0"):
        runs.setdefault(row["working_directory"], []).append(row)
    for execution in executions:
        found = runs.get(str(execution.work), [])
        assert len(found) == 1, f"{len(found)} runs of {execution.workload} ({execution.work})"
        report = daemons.tracer("show", f"{found[0]['id'] & (2**64 - 1):016x}", "--processes")
        execution.answer = Answer(report["run"], report["tasks"], report["incidents"], report["losses"])
