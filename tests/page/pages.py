"""The pages that the tests open: of recorded runs (tests/golden), of made ones (make_run.c), and of a lake.

    with Pages(build) as pages:
        pages.store("failed")               # a store with one run
        pages.page("failed")                # its page, written once
        pages.page("failed", "--share")
        pages.json("failed", "show", "-p")  # what a command says of the run
"""

import contextlib
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "lake")]
import loader  # noqa: E402 (found by the path above)
from checks import refresh  # noqa: E402
from daemons import replay  # noqa: E402
from lake import Lake, Unavailable  # noqa: E402
from testing import ENVIRONMENT, Skip, arguments, find_tests, run_tests, same, skip_all  # noqa: E402

PROCESSES = 1500
TRACER_LIMIT_S = 300
# Recordings, and which of its runs.
RECORDED = {"snakemake": ("snakemake", "snakemake"), "make": ("make", "make"), "recorded": ("failures", "one_of_many")}
MADE = ("succeeded", "failed", "killed", "running", "incomplete", "empty", "gpu", "hostile")
MADE_RUN, HOSTS_RUN = "780ab6e67011bb18", "2f43a495ffc2a818"
HOSTS = "hosts" # of a lake


class Pages:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.tracer = self.build / "cli/tracer"
        self.held = contextlib.ExitStack()
        self.directory = pathlib.Path(self.held.enter_context(tempfile.TemporaryDirectory(prefix="tracer-page-")))
        # What a person looks at after the tests.
        self.kept = self.build / "page"
        self.kept.mkdir(exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.held.close()

    def store(self, kind, processes=PROCESSES):
        return self.made(kind, processes)

    @functools.cache
    def made(self, kind, processes):
        path = self.directory / f"{kind}-{processes}.db"
        if kind in RECORDED:
            return replay(self.build, HERE.parent / f"golden/{RECORDED[kind][0]}.rec", path)
        result = subprocess.run([self.build / "tests/page/make_run", path, kind, str(processes)], capture_output=True,
                                text=True, check=False, env=ENVIRONMENT)
        same(f"status of make_run ({result.stderr})", result.returncode, 0)
        return path

    @functools.cache
    def lake(self):
        """A lake with one run on three hosts. Skips where there is no ClickHouse."""
        try:
            lake = self.held.enter_context(Lake())
        except Unavailable as reason:
            raise Skip(reason) from None
        self.run(["lake", "init"], **self.access(lake, "migrator"))
        for number in range(1, 4):
            loader.load(lake, self.store("snakemake"),
                        change=loader.on_another_host(number, late_ns=number * 10**9, cluster="alps"))
        for view, in lake.rows("SELECT view FROM system.view_refreshes WHERE database = 'tracer'"):
            refresh(lake, view.removesuffix("_refresh"))
        return lake

    def access(self, lake, user="analyst"):
        return {"TRACER_LAKE": lake.url, "TRACER_LAKE_USER": user, "TRACER_LAKE_PASSWORD_FILE": str(lake.secret(user))}

    def run(self, arguments, status=0, **environment):
        """Standard output."""
        result = subprocess.run([self.tracer, *arguments], capture_output=True, text=True, check=False,
                                timeout=TRACER_LIMIT_S, stdin=subprocess.DEVNULL,
                                env={**ENVIRONMENT, "LC_ALL": "C.UTF-8", **environment})
        same(f"status of {arguments}: {result.stderr[-1500:]}", result.returncode, status)
        return result.stdout

    def ask(self, kind, verb, *arguments, processes=PROCESSES):
        """What that command says of the run."""
        run = MADE_RUN if kind in MADE else HOSTS_RUN if kind == HOSTS else RECORDED[kind][1]
        named = [verb, run, *arguments]
        if kind == HOSTS:
            return self.run(named, **self.access(self.lake()))
        return self.run([*named, "--store", str(self.store(kind, processes))])

    def json(self, kind, verb, *arguments):
        return json.loads(self.ask(kind, verb, "--json", *arguments))

    @functools.cache
    def page(self, kind, *options, processes=PROCESSES):
        path = self.directory / f"{'-'.join([kind, str(processes), *(option.strip('-') for option in options)])}.html"
        self.ask(kind, "report", "-o", str(path), *options, processes=processes)
        return path


def run(description, prefix, namespace, run_test, browser=contextlib.nullcontext):
    """Runs the tests of a file with the pages and a browser, or skips them where there is none. Returns the exit status."""
    options = arguments(description)
    with Pages(options.build) as pages, contextlib.ExitStack() as opened:
        try:
            browser = opened.enter_context(browser())
        except Skip as reason:
            return skip_all(prefix, reason)
        return run_tests(prefix, find_tests(namespace), lambda test: run_test(test, pages, browser), options.names)
