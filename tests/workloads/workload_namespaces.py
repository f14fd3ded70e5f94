"""Three pid namespaces one after the other: the kernel gives them the same number, and yet each is a
container of its own."""


def check(bench):
    bench.worker("crunch")
    loop = "for i in 1 2 3; do unshare --pid --fork crunch --cpu 20; done"
    reports, _ = bench.watch(["bash", "-c", loop], bench.work_directory("work", "root"), user="root")
    if len(reports) != 1:
        return [f"{len(reports)} runs, not 1"]
    found = sorted(row["id"] for row in reports[0]["containers"])
    inside = sorted(process["container_id"] for task in reports[0]["tasks"] for process in task["processes"]
                    if process["program"] == "crunch")
    return [] if len(found) == 3 and inside == found else [f"containers {found}, processes in {inside}"]
