"""How the tests of the lake are run: every function test_* of a file, against one Lake.

Prints "ok - NAME" or "not ok - NAME" with what went wrong. Where there is no engine the
whole file is skipped (status 77, the reason on the last line).
"""

import pathlib
import sys

from lake import Lake, QueryError, Unavailable, with_engine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import Skip, find_tests, same, succeeds, wait_until  # noqa: E402,F401

SKIPPED = 77


def refused(lake, words, sql, **settings):
    """The query fails, and the server's answer has these words in it."""
    try:
        found = lake.query(sql, **settings)
    except QueryError as error:
        assert words in error.text, f"{sql}: {error.text}, expected {words}"
        return
    raise AssertionError(f"{sql} was answered: {found[:200]!r}")


def run(prefix, tests, names=(), **settings):
    """`tests` is a file's globals(); the exit status."""
    chosen, failed = find_tests(tests, names), 0
    try:
        lake = Lake(**settings)
    except Unavailable as reason:
        print(reason)
        return SKIPPED
    with lake:
        for name, test in chosen.items():
            failed += not succeeds(f"{prefix}: {name}", with_engine(test, [lake]), lake)
    return 1 if failed else 0
