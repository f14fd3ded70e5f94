#!/usr/bin/env python3
"""The page of a run in a real Firefox: drawn, silent, and the same as in Chromium where browsers differ.

usage: check_firefox.py BUILD-DIRECTORY [NAME...]
"""

import base64
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from firefox import Firefox  # noqa: E402 (found by the path above)
from pages import run  # noqa: E402
from testing import hold, same, wait_until  # noqa: E402

KINDS = ("failed", "running", "empty", "gpu", "hostile", "snakemake")


def test_tables_have_their_rows_and_the_console_is_silent(browser, pages):
    for kind in KINDS:
        browser.open(pages.page(kind))
        (pages.kept / f"firefox-{kind}.png").write_bytes(base64.b64decode(browser.screenshot()))
        hold([f"{kind}: {line}" for line in browser.complaints()])
        same(f"{kind}: parts that cannot be shown", browser.script("document.querySelectorAll('[role=alert]').length"), 0)
        for table, count in tables_of(pages, kind).items():
            browser.open(pages.page(kind), f"#table={table}")
            rows = browser.script("Number(document.querySelector('#tables [aria-rowcount]').getAttribute('aria-rowcount'))")
            same(f"{kind}: rows of the table of {table} and their head", rows, count + 1)
        assert browser.script("document.title") != "EVIL", "a name is executed"


def tables_of(pages, kind):
    tasks = pages.json(kind, "show")["tasks"]
    steps = [task for task in tasks if task["kind"] != "main"]
    return {"tasks": len(steps or tasks), "processes": sum(task["process_count"] for task in tasks)}


def test_the_timeline_is_drawn(browser, pages):
    browser.open(pages.page("failed"))
    colours = browser.script("""(() => {
        const canvas = [...document.querySelectorAll("#timeline canvas")].sort((a, b) => b.width * b.height - a.width * a.height)[0];
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const found = new Set();
        for (let at = 0; at < data.length; at += 4) found.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
        return found.size;
    })()""")
    assert colours > 5, f"{colours} colours"


def test_a_fragment_restores_what_was_chosen(browser, pages):
    browser.open(pages.page("failed"), "#search=HAPLOTYPECALLER&table=tasks")
    wait_until("the search is as it was", lambda: browser.script(
        "[...document.querySelectorAll('input')].some((input) => input.value === 'HAPLOTYPECALLER')"), 10)
    hold(browser.complaints())


if __name__ == "__main__":
    sys.exit(run(__doc__, "page-firefox", globals(), lambda test, pages, browser: test(browser, pages), Firefox))
