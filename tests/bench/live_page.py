#!/usr/bin/env python3
"""How soon the live page of a large run shows what is new in its store.

usage: live_page.py BUILD PROCESSES [SECONDS]

PROCESSES are those of tests/page/make_run: a running run has begun nearly half of them. A change is committed every 0.3 to
0.5 s, as a correlator does. Its time ends when the last element of the page has changed that shows it. Times are those of
this machine at this moment: under load, give all of it real-time priority (chrt --rr 1).
"""

import contextlib
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "page"), str(TESTS / "serve")]
from chromium import Chromium  # noqa: E402 (found by the path above)
from server import Server  # noqa: E402
from testing import wait_until  # noqa: E402

RUN = "780ab6e67011bb18"  # of make_run
STEP_US = 1000
LAST_S = 60  # until the last change is shown

# Runs in the page before its own script does: notes of each answer its time, and when the page last changed after it.
OBSERVER = """
    globalThis.answers = [];
    const {parse} = JSON;
    JSON.parse = (text, ...rest) => {
        const value = parse(text, ...rest);
        if (value?.facts) answers.push({now_us: value.facts.now_us, came: Date.now(), drawn: Date.now()});
        return value;
    };
    addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
        if (answers.length) answers.at(-1).drawn = Date.now();
    }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true}));
"""


def change(database, seconds, first_us):
    """Commits changes for so long. Returns the time of the run after each, and when it was committed."""
    changes, end = [], time.time() + seconds
    while time.time() < end:
        with database:
            database.execute("UPDATE stream SET committed_boot_ns = committed_boot_ns + ?, rev = rev + 1", (STEP_US * 1000,))
            database.execute("UPDATE runs SET rev = rev + 1")
        changes.append((first_us + (len(changes) + 1) * STEP_US, time.time() * 1000))
        time.sleep(random.uniform(0.3, 0.5))
    return changes


def main(build, processes, seconds="20"):
    build = pathlib.Path(build).resolve()
    with contextlib.ExitStack() as held:
        store = pathlib.Path(held.enter_context(tempfile.TemporaryDirectory(prefix="tracer-live-page-"))) / "store.db"
        subprocess.run([build / "tests/page/make_run", store, "running", processes], check=True)
        browser = held.enter_context(Chromium())
        server = held.enter_context(Server(build, store, unix=False))
        browser.connect(f"http://127.0.0.1:{server.port}")
        browser.command("Page.addScriptToEvaluateOnNewDocument", source=OBSERVER)
        browser.driver.get(f"{browser.origin}/runs/{RUN}#token={server.token}")
        browser.wait_ready()
        database = held.enter_context(contextlib.closing(sqlite3.connect(store)))
        count, = database.execute("SELECT count(*) FROM process_rows").fetchone()
        changes = change(database, float(seconds), browser.script("return answers[0].now_us"))
        wait_until("the last change", lambda: browser.script("return answers.at(-1).now_us") >= changes[-1][0], LAST_S)
        browser.settle()
        answers = browser.script("return answers")
    late = sorted(next(answer["drawn"] for answer in answers if answer["now_us"] >= now_us) - committed
                  for now_us, committed in changes)
    drawing = [answer["drawn"] - answer["came"] for answer in answers[1:]]
    print(f"{count} processes, {len(late)} changes: shown after {statistics.median(late) / 1000:.1f} s in the median, "
          f"{late[-1] / 1000:.1f} s at most; drawn in {statistics.median(drawing)} ms; load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
