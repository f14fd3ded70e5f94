"""How the tests of the lake are run: every function test_* of a file, against one Lake.

Prints "ok - NAME" or "not ok - NAME" with what went wrong. Where there is no engine the
whole file is skipped (status 77, the reason on the last line).
"""

import sys
import time
import traceback

from lake import Lake, QueryError, Unavailable

SKIPPED = 77


class Skip(Exception):
    """Cannot be tested here; says why."""


def same(what, found, expected):
    assert found == expected, f"{what}: {found!r}, expected {expected!r}"


def refused(lake, words, sql, **settings):
    """The query fails, and the server's answer has these words in it."""
    try:
        found = lake.query(sql, **settings)
    except QueryError as error:
        assert words in error.text, f"{sql}: {error.text}, expected {words}"
        return
    raise AssertionError(f"{sql} was answered: {found[:200]!r}")


def wait_until(what, holds, timeout_s=30):
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s} s"
        time.sleep(0.05)


def run(prefix, tests, names=(), **settings):
    """`tests` is a file's globals(); the exit status."""
    chosen = {name[5:].replace("_", " "): test for name, test in tests.items()
              if name.startswith("test_")}
    failed = 0
    try:
        lake = Lake(**settings)
    except Unavailable as reason:
        print(reason)
        return SKIPPED
    with lake:
        for name in names or chosen:
            try:
                chosen[name](lake)
                print(f"ok - {prefix}: {name}", flush=True)
            except Skip as reason:
                print(f"skip - {prefix}: {name}: {reason}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok - {prefix}: {name}", flush=True)
                traceback.print_exc(file=sys.stdout)
                if lake.process and lake.process.poll() is not None:
                    print(lake.words())
                    break
    return 1 if failed else 0
