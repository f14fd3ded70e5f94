"""Runs the tests of the lake: every function test_* of a file, with one Lake.

Without an engine the whole file is skipped.
"""

import contextlib
import pathlib
import sys

from lake import Lake, QueryError, Unavailable, with_engine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import Skip, find_tests, run_tests, same, skip_all, wait_until  # noqa: E402,F401


def refused(lake, words, sql, **settings):
    """The query fails, and the server's answer contains these words."""
    try:
        found = lake.query(sql, **settings)
    except QueryError as error:
        assert words in error.text, f"{sql}: {error.text}, expected {words}"
        return
    raise AssertionError(f"{sql} was answered: {found[:200]!r}")


def refresh(lake, view):
    with contextlib.suppress(QueryError):  # of one that began before the rows arrived, or the other node had tables
        lake.query(f"SYSTEM WAIT VIEW tracer.{view}_refresh", user="migrator")
    for verb in ("REFRESH", "WAIT"):
        lake.query(f"SYSTEM {verb} VIEW tracer.{view}_refresh", user="migrator")


def run(prefix, tests, names=(), **settings):
    """Runs the tests in `tests`, a file's globals(). Returns the exit status."""
    try:
        lake = Lake(**settings)
    except Unavailable as reason:
        return skip_all(prefix, reason)
    with lake:
        return run_tests(prefix, find_tests(tests), lambda test: with_engine([lake], test, lake), names)
