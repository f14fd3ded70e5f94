"""CPU, I/O and network of each actor, and the CPU time of the whole run, against what actors and wait4 know."""

from truth import EXIT, HOLD, KILL, MAPPED

CPU_NS = 100_000
# Between the last thing that an actor can measure and its end the kernel frees its memory. Where an actor reaped it, wait4
# knows that too.
TEARDOWN_NS, TEARDOWN_NS_PER_MIB = 2_000_000, 300_000
AFTER_REAP_NS = 500_000 # a process that ends on another processor may be reaped before it has given that up
BEGIN_NS = 10_000_000 # likewise from its begin to the first thing that it can measure: an exec, the copy of a memory map
IO = ("rchar_bytes", "wchar_bytes", "syscr_count", "syscw_count")
TRAFFIC = ("sent_bytes", "received_bytes")


def held_mib(image):
    return sum(number for _, _, number, kind in image.events if kind in (HOLD, MAPPED)) >> 20


def check_cpu(image, row):
    if not image.end_boot_ns:
        return []
    used_ns = image.end_cpu_ns - image.begin_cpu_ns
    most_ns = used_ns + BEGIN_NS + image.begin_cpu_ns + TEARDOWN_NS + TEARDOWN_NS_PER_MIB * held_mib(image)
    if used_ns - CPU_NS <= row["cpu_ns"] <= most_ns:
        return []
    return [f"CPU of {image.name}: {row['cpu_ns'] / 1e6:.3f} ms, it used {used_ns / 1e6:.3f} ms (pid {image.pid})"]


def check_reaped(images, answer):
    """The CPU time of children as wait4 reported it to actors."""
    problems, totals, below = [], {}, {}
    for image in images:
        below.setdefault(image.pid, 0)
        for pid, cpu_ns in image.reaped.items():
            totals[pid] = cpu_ns
            below[image.pid] += cpu_ns
    for pid, cpu_ns in totals.items():
        rows = [row for row in answer.processes if row["pid"] == pid]
        if any(row["totals"] == "exit" for row in rows):
            continue
        if pid in below and rows and not any(image.name == "tracer" for image in images if image.pid == pid):
            found_ns, own_ns = sum(row["cpu_ns"] for row in rows), cpu_ns - below[pid]
            slack_ns = CPU_NS + 2000 * len(rows) + sum(2000 for image in images if image.pid == pid for _ in image.reaped)
            if not own_ns - slack_ns <= found_ns <= own_ns + slack_ns + AFTER_REAP_NS:
                problems.append(f"CPU of a reaped process: {found_ns / 1e6:.3f} ms, wait4 said {own_ns / 1e6:.3f} (pid {pid})")
    return problems


def check_run(execution):
    """What wait4 reported of the whole command, unless some process outlived its parent: then another one reaped it."""
    [tracer] = [image for image in execution.images if image.name == "tracer"]
    [(root, cpu_ns)] = tracer.reaped.items()
    run, count = execution.answer.run, len(execution.answer.processes)
    ends = {}
    for row in execution.answer.processes:
        ends[row["pid"]] = max(row["end_boot_ns"], ends.get(row["pid"], 0))
    parents = {row["id"]: row["pid"] for row in execution.answer.processes}
    if any(row["totals"] == "exit" or row["end_boot_ns"] > ends.get(parents.get(row["parent_id"]), ends[root])
           for row in execution.answer.processes):
        return []
    if abs(run["cpu_ns"] - cpu_ns) <= CPU_NS * (count + 1):
        return []
    return [f"CPU of the run: {run['cpu_ns'] / 1e6:.3f} ms, wait4 said {cpu_ns / 1e6:.3f} ms of {count} processes"]


def check_io(image, answer, images):
    """The kernel's account of a process holds that of the children that it reaped, and of all its images."""
    if image.end not in (EXIT, KILL):
        return []
    last = {other.pid: other for other in images if other.end in (EXIT, KILL)}
    reaped = [last.get(pid) for other in images if other.pid == image.pid for pid in other.reaped]
    if None in reaped:
        return []
    problems, rows = [], [row for row in answer.processes if row["pid"] == image.pid]
    if len(rows) != sum(other.pid == image.pid for other in images): # a shell became the actor: what it reaped is not known
        return []
    for name in IO:
        found = sum(row[name] for row in rows)
        expected = getattr(image, name) - sum(getattr(child, name) for child in reaped)
        if found != expected:
            problems.append(f"{name} of {image.name}: {found}, truly {expected} (pid {image.pid})")
    return problems


def check_traffic(image, row):
    return [f"{name} of {image.name}: {row[name]}, truly {getattr(image, name)} (pid {image.pid})" for name in TRAFFIC
            if row[name] not in (None, getattr(image, name))]


def check_status(image, row):
    found = ("exit", row["exit_code"]) if row["signal"] is None else ("kill", row["signal"])
    expected = {EXIT: ("exit", image.status), KILL: ("kill", image.status)}.get(image.end)
    if expected in (None, found) or row["ended"] != "exit":
        return []
    return [f"end of {image.name}: {found}, truly {expected} (pid {image.pid})"]


def check(executions):
    problems = []
    for execution in executions:
        answer = execution.answer
        if answer.losses or answer.run["lost_count"]:
            problems.append(f"losses: {answer.losses}")
        for image in execution.images:
            if image.name == "tracer":
                continue
            row = answer.process_of(image)
            if not row:
                problems.append(f"a process is missing: {image.name}, pid {image.pid}, of {execution.work}")
                continue
            problems += check_cpu(image, row) + check_status(image, row) + check_traffic(image, row)
            problems += check_io(image, answer, execution.images)
        problems += check_reaped(execution.images, answer) + check_run(execution)
    return problems
