"""Names that group and labels that identify: make, xargs, parallel, Snakemake, and a JVM that runs
tasks like Nextflow, with and without jspawnhelper, alone and under make, with a retry."""

import collections
import hashlib

from harness import HERE, require

KINDS = 49
TASKS = 98

SNAKEFILE = """
rule all:
    input: expand("{s}.stats", s=["s3", "s4"])
rule sort:
    output: "{s}.sorted"
    shell: "sort /etc/passwd -o {output}"
rule stats:
    input: "{s}.sorted"
    output: "{s}.stats"
    run:
        open(output[0], "w").write(str(len(open(input[0]).readlines())))
"""

MAKEFILE = """
all: a.o b.o
%.o: %.c
\tgcc -c -o $@ $<
"""

# Files, a command, and the expected tasks: {(name, label)}.
CASES = {
    "make": ({"Makefile": MAKEFILE, "a.c": "int a;\n", "b.c": "int b;\n"}, ["make", "-j2"],
             {("gcc", "a.o"), ("gcc", "b.o")}),
    "xargs": ({"list": "in/x1.txt\nin/x2.txt\nin/x3.txt\n"},
              ["xargs", "-a", "list", "-n1", "-P2", "crunch", "--cpu", "5", "--sleep", "1"],
              {("crunch", "x1.txt"), ("crunch", "x2.txt"), ("crunch", "x3.txt")}),
    "parallel": ({}, ["parallel", "--will-cite", "-j2", "crunch --cpu 5 --sleep 1 {} conf.yaml", ":::", "liver", "kidney"],
                 {("crunch", "liver"), ("crunch", "kidney")}),
    "snakemake": ({"Snakefile": SNAKEFILE}, ["snakemake", "--cores", "1", "--quiet"],
                  {("sort", "s3.sorted"), ("sort", "s4.sorted"), ("stats", "s=s3"), ("stats", "s=s4")}),
}


def tasks_of(report):
    return [task for task in report["tasks"] if task["kind"] != "main"]


def check_case(bench, name):
    files, command, expected = CASES[name]
    directory = bench.work_directory(name, "nobody")
    for path, text in files.items():
        (directory / path).write_text(text)
    reports, _ = bench.watch(command, directory)
    if len(reports) != 1:
        return [f"{name}: {len(reports)} runs, not 1"]
    found = {(task["name"], task["label"]) for task in tasks_of(reports[0])}
    return [] if found == expected else [f"{name}: tasks are {sorted(map(str, found))}, not {sorted(map(str, expected))}"]


# ---- like Nextflow

def script_of(kind, sample):
    """(interpreter, .command.sh) of a task."""
    if kind == 0:
        return "Rscript", f"# {sample}\n"
    if kind == 1:
        return "python3", f"open('{sample}.out', 'w').write('x')\n"
    return "/bin/bash -euo pipefail", (
        f"[ -f {sample}.in ] || ln -s /dev/null {sample}.in\n"
        f"tool{kind:02} --cpu 2 --sleep 1 {sample}.in\n"
        f"printf 'version: %s' \"$(tool{kind:02} --version 2>&1 | sed 1q)\" > versions.yml || true\n")


def write_task(folder, kind, sample, fails=False):
    interpreter, script = script_of(kind, sample)
    folder.mkdir(parents=True)
    (folder / ".command.run").write_text((HERE / "command.run").read_text().replace("INTERPRETER", interpreter))
    (folder / ".command.sh").write_text(script + ("exit 3\n" if fails else ""))


def folder_of(directory, kind, number, attempt=0):
    digest = hashlib.md5(f"{kind} {number} {attempt}".encode()).hexdigest()
    return directory / "work" / digest[:2] / digest[2:]


def hash_of(folder):
    return f"{folder.parent.name}/{folder.name[:6]}"


def check_nextflow(bench, classes, name, kinds, count, starter, under_make):
    directory = bench.work_directory(name, "nobody")
    lines, expected = [], collections.Counter()
    for number in range(count):
        kind = number % kinds
        folder = folder_of(directory, kind, number)
        fails = number == 5
        write_task(folder, kind, f"s{number}", fails)
        folders = [folder]
        if fails:
            folders.append(folder_of(directory, kind, number, 1))
            write_task(folders[1], kind, f"s{number}")
        lines.append(" ".join(map(str, folders)))
        for each in folders:
            expected[({0: "Rscript", 1: "python"}.get(kind, f"tool{kind:02}"), hash_of(each))] += 1
    (directory / "list").write_text("\n".join(lines) + "\n")
    for path in directory.glob("**/*"):
        path.chmod(0o777)
    mechanism = "POSIX_SPAWN" if starter else "VFORK"
    command = ["java", "-Xmx64m", f"-Djdk.lang.Process.launchMechanism={mechanism}", "-cp",
               str(classes), "nextflow.cli.Launcher", "run", "list"]
    if under_make:
        (directory / "Makefile").write_text("test:\n\t" + " ".join(command) + "\n")
        command = ["make", "test"]
    reports, _ = bench.watch(command, directory)
    if len(reports) != 1:
        return [f"{name}: {len(reports)} runs, not 1"]
    tasks = [task for task in tasks_of(reports[0]) if task["label"] and "/" in task["label"]]
    found = collections.Counter((task["name"], task["label"]) for task in tasks)
    problems = [f"{name}: {key} is {found[key]} times there, not {expected[key]}"
                for key in sorted(map(tuple, (found - expected) + (expected - found)))[:8]]
    tools = {tool["name"] for task in reports[0]["tasks"] for tool in task["tools"]}
    named = {tool["name"] for task in tasks for tool in task["tools"] if tool["role"] == "tool"}
    if any("jspawnhelper" in tool for tool in tools):
        problems.append(f"{name}: jspawnhelper is a tool")
    if named != {key[0] for key in expected}:
        problems.append(f"{name}: tools are {sorted(named)}")
    rows = bench.daemons.tell("show", reports[0]["run"]["id"], "--by", "task").split("\n\n")[-1].strip().splitlines()[1:]
    if not kinds <= len(rows) <= kinds + 2:
        problems.append(f"{name}: --by task has {len(rows)} rows of {kinds} kinds")
    return problems


def check(bench):
    require("make", "gcc", "xargs", "parallel", "snakemake", "java", "javac")
    bench.worker("crunch", "Rscript", *(f"tool{kind:02}" for kind in range(KINDS)))
    classes = bench.compile_java(HERE / "Launcher.java")
    problems = [problem for name in CASES for problem in check_case(bench, name)]
    problems += check_nextflow(bench, classes, "nextflow", KINDS, TASKS, True, False)
    problems += check_nextflow(bench, classes, "nextflow-vfork", 6, 18, False, False)
    return problems + check_nextflow(bench, classes, "nextflow-make", 6, 18, True, True)
