"""Engines: what runs jobs, and how a workload is written for it.

`render(script, options, jobs)` gets the jobs as commands of the shell, adds what files it needs (script.file) and returns the
command that runs them all. With `separate` each job is a task of its own, as docs/model.md says of engines that rules know.
"""

import dataclasses
import shlex
import typing


@dataclasses.dataclass(frozen=True)
class Engine:
    render: typing.Callable
    needs: str | None = None # a program
    separate: bool = False   # each job is a task
    decides: bool = False    # its status is its own: where a job fails, nobody outside can tell whether it is why
    cost: float = 1          # about its CPU time, in processes of a shell: dear ones are drawn less often


def lines(*texts):
    return "\n".join(texts) + "\n"


def quoted(jobs):
    return " ".join(shlex.quote(job) for job in jobs)


def make(script, options, jobs):
    targets = " ".join(f"job{i}" for i in range(len(jobs)))
    text = lines(f".PHONY: all {targets}", f"all: {targets}",
                 *(f"job{i}:\n\t@{job.replace('$', '$$')}" for i, job in enumerate(jobs)))
    return f"make -s -j{options[0]} -f {script.file('Makefile', text)}"


def snakemake(script, options, jobs):
    outputs = ", ".join(f"'done{i}'" for i in range(len(jobs)))
    text = lines(f"rule all:\n    input: {outputs}",
                 *(f"rule job{i}:\n    output: touch('done{i}')\n    shell: {escaped(job)!r}" for i, job in enumerate(jobs)))
    return f"snakemake --nocolor --quiet --cores {options[0]} --snakefile {script.file('Snakefile', text)}"


def escaped(job):
    return job.replace("{", "{{").replace("}", "}}")


def xargs(script, options, jobs):
    return f"xargs -a {script.file('jobs', lines(*jobs))} -d '\\n' -P {options[0]} -I CMD bash -c CMD"


def parallel(script, options, jobs):
    return f"parallel --will-cite -j {options[0]} -a {script.file('jobs', lines(*jobs))}"


def python(script, options, jobs):
    text = lines("import subprocess, sys", "worst = 0", f"for job in {list(jobs)!r}:",
                 "    worst = max(worst, abs(subprocess.run(job, shell=True).returncode))", "sys.exit(min(worst, 100))")
    return f"/usr/bin/python3 {script.file('driver.py', text)}"


def futures(script, options, jobs):
    text = lines("import concurrent.futures, subprocess, sys", "def run(job):",
                 "    return abs(subprocess.run(job, shell=True).returncode)", "if __name__ == '__main__':",
                 f"    with concurrent.futures.ProcessPoolExecutor({options[0]}) as pool:",
                 f"        sys.exit(min(max(pool.map(run, {list(jobs)!r})), 100))")
    return f"/usr/bin/python3 {script.file('pool.py', text)}"


def perl(script, options, jobs):
    text = lines("my $worst = 0;", *(f"system({perl_quoted(job)}) == 0 or $worst = 4;" for job in jobs), "exit $worst;")
    return f"perl {script.file('driver.pl', text)}"


def perl_quoted(job):
    return "'" + job.replace("\\", "\\\\").replace("'", "\\'") + "'"


def r(script, options, jobs):
    text = lines("worst <- 0", *(f"if (system({r_quoted(job)}) != 0) worst <- 5" for job in jobs), "quit(status = worst)")
    return f"Rscript --vanilla {script.file('driver.R', text)}"


def r_quoted(job):
    return '"' + job.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Memory in interpreters: options are workers, MiB that they inherit, MiB that each writes, ms. They have no jobs.

def pool(script, options, jobs):
    workers, inherited, written, ms = options
    text = lines("import multiprocessing, time", f"data = bytearray({inherited} << 20)", "def work(number):",
                 "    total = sum(data[::4096])",
                 f"    mine = bytearray(b'x') * ({written} << 20)", f"    time.sleep({ms} / 1000)",
                 "    return len(mine) + total", "if __name__ == '__main__':", "    for i in range(0, len(data), 4096):",
                 "        data[i] = 1",
                 f"    with multiprocessing.get_context('fork').Pool({workers}) as pool:",
                 f"        pool.map(work, range({workers}), 1)")
    return f"/usr/bin/python3 {script.file('pool.py', text)}"


def mclapply(script, options, jobs):
    workers, inherited, written, ms = options
    text = lines(f"data <- rep(1, {inherited} * 131072)", "work <- function(i) {",
                 f"  mine <- rep(2, {written} * 131072)", f"  Sys.sleep({ms} / 1000)", "  sum(mine) + sum(data)", "}",
                 f"invisible(parallel::mclapply(1:{workers}, work, mc.cores = {workers}))")
    return f"Rscript --vanilla {script.file('apply.R', text)}"


ENGINES = {
    "make": Engine(make, "make", separate=True, cost=2),
    "xargs": Engine(xargs, separate=True, cost=2),
    "parallel": Engine(parallel, "parallel", separate=True, cost=30),
    "snakemake": Engine(snakemake, "snakemake", separate=True, cost=150),
    "python": Engine(python, decides=True, cost=6),
    "futures": Engine(futures, decides=True, cost=12),
    "perl": Engine(perl, "perl", decides=True, cost=2),
    "r": Engine(r, "Rscript", decides=True, cost=40),
    "pool": Engine(pool, cost=12),
    "mclapply": Engine(mclapply, "Rscript", cost=45),
}
