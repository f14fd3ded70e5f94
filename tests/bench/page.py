#!/usr/bin/env python3
"""The page of a large run in a real Chromium: its size, how soon it is there, its memory, and its frames while one zooms
and pans in it.

usage: page.py BUILD [--processes N]... [--smoke]

Times are those of this machine at this moment, with drawing by processors and without a network; beside them are the
frames of an empty page. Sizes and numbers do not depend on load: exceeding them is a failure. --smoke measures a small
run for moments only, for tests.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "page")]
from chromium import READY, Chromium, require  # noqa: E402 (found by the path above)
from page_data import Page  # noqa: E402
from testing import Skip, measured_run, skip_all, succeeds  # noqa: E402

MIB = 1 << 20
SHELL_BYTES_MAX = 250_000
# Processes: bytes of the file, first paint in ms, MiB of heap, elements, ms of a task, ms of 95 % of the frames. None: no goal.
BUDGETS = {35_000: (3_000_000, 1000, 150, 3000, 50, 20), 500_000: (20_000_000, None, None, 3000, None, 50)}
PHASE_S, SMOKE_PHASE_S = 3, 0.3
EVENT_EVERY_S = 1 / 60

# Runs in the page before its own script does: notes long tasks, the moment when all parts are there, and frames.
OBSERVER = """
    window.measured = {tasks: [], ready: null, frames: []};
    new PerformanceObserver((list) => {
        for (const task of list.getEntries()) measured.tasks.push([task.startTime, task.duration]);
    }).observe({type: "longtask", buffered: true});
    let last = 0;
    const frame = (now) => {
        if (last) measured.frames.push(now - last);
        last = now;
        if (measured.ready === null && (() => { %s })()) measured.ready = performance.now();
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
""" % READY


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else None


class Table:
    """Budget, measured, and whether it holds, line by line."""

    def __init__(self):
        self.wrong = []
        print(f"{'':48} {'budget':>12} {'measured':>12}")

    def add(self, what, measured, budget, unit, must_hold=False):
        holds = budget is None or (measured is not None and measured <= budget)
        show = lambda value: "-" if value is None else f"{value:,.0f} {unit}"  # noqa: E731
        print(f"{what:48} {show(budget):>12} {show(measured):>12}  {'' if budget is None else 'ok' if holds else 'EXCEEDED'}",
              flush=True)
        if must_hold and not holds:
            self.wrong.append(f"{what}: {show(measured)}, {show(budget)} at most")


def during(seconds, act):
    """Calls act(i) as often as a screen is drawn."""
    begun, i = time.monotonic(), 0
    while time.monotonic() < begun + seconds:
        act(i)
        i += 1
        time.sleep(max(0, begun + i * EVENT_EVERY_S - time.monotonic()))


def frames_of(browser, act, seconds):
    browser.settle()
    browser.script("measured.frames.length = 0; measured.before = performance.now()")
    during(seconds, act)
    browser.settle()
    return browser.script("return measured.frames")


def phases(browser, x, y):
    """{what one does: what is called for each frame}, in the timeline around a point of it."""
    def dragging(i):
        if i == 0:
            browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        browser.mouse("mouseMoved", x + 200 * ((i // 20) % 2 * 2 - 1) * (i % 20) / 20, y, button="left", buttons=1)

    yield "zooming in by wheel", lambda i: browser.wheel(x, y, -60, modifiers=2)
    yield "dragging", dragging
    browser.mouse("mouseReleased", x, y, button="left", clickCount=1)
    for name, key in (("panning right by D", "d"), ("panning left by A", "a"), ("zooming out by S", "s"), ("zooming in by W", "w")):
        yield name, lambda i, key=key: browser.key(key)
    yield "zooming out by wheel", lambda i: browser.wheel(x, y, 60, modifiers=2)
    yield "moving over it", lambda i: browser.move(x + i % 200 - 100, y + i % 90 - 45)


def place(browser, selector):
    """The middle of the largest element of those, brought into view."""
    return browser.script("""
        const area = (box) => box.width * box.height;
        const element = [...document.querySelectorAll(arguments[0])].sort(
            (a, b) => area(b.getBoundingClientRect()) - area(a.getBoundingClientRect()))[0];
        if (!element) return null;
        element.scrollIntoView({block: "center", behavior: "instant"});
        const box = element.getBoundingClientRect();
        return [box.x + box.width / 2, Math.min(Math.max(box.y + box.height / 2, 50), innerHeight - 50)];""", selector)


def measure_frames(browser, table, budget, seconds):
    x, y = place(browser, "#timeline canvas")
    browser.click(x, y)
    browser.key("Escape")
    every = []
    for name, act in phases(browser, x, y):
        frames = frames_of(browser, act, seconds)
        every += frames
        table.add(f"95 % of the frames while {name}", percentile(frames, 0.95), budget, "ms")
    x, y = place(browser, "#tables [role=table], #tables table")
    frames = frames_of(browser, lambda i: browser.wheel(x, y, 120 if i % 200 < 150 else -120), seconds)
    table.add("95 % of the frames while scrolling a table", percentile(frames, 0.95), budget, "ms")
    table.add("95 % of all frames", percentile(every + frames, 0.95), budget, "ms")
    table.add("half of all frames", percentile(every + frames, 0.5), None, "ms")


def longest_task(file, seconds):
    """In a browser of its own, since tracing slows it: the most that one task of the page has a processor, with all that
    measure_frames() does. What other programs take from it does not count, unlike in the browser's own long tasks."""
    with Chromium(logs=False, trace=True) as browser:
        browser.open(file)
        time.sleep(1)
        loading = browser.longest_task_ms()
        x, y = place(browser, "#timeline canvas")
        browser.click(x, y)
        browser.key("Escape")
        for _, act in phases(browser, x, y):
            during(seconds, act)
        for fragment in ("#search=bwa", "#group=sample", "#colour=tool", "#table=processes", "#table=processes&sort=-cpu_us"):
            browser.script("location.hash = arguments[0]", fragment)
            browser.settle()
            time.sleep(seconds)
        return loading, browser.longest_task_ms()


def measure(options, directory, count):
    store, file = (pathlib.Path(directory) / f"{count}.{suffix}" for suffix in ("db", "html"))
    budget = BUDGETS.get(count, BUDGETS[35_000])
    seconds = SMOKE_PHASE_S if options.smoke else PHASE_S
    subprocess.run([options.build / "tests/page/make_run", store, "succeeded", str(count)], check=True)
    wall_s, cpu_s, memory_kib = measured_run([options.build / "cli/tracer", "report", "--store", store, "-o", file])
    print(f"{count:,} processes: tracer report took {wall_s:.1f} s, {cpu_s:.1f} s of processors, {memory_kib / 1024:.0f} MiB")
    page, table = Page(file), Table()
    processes = page.counts["processes"]
    assert processes >= count, processes
    table.add("file", file.stat().st_size, budget[0], "B", must_hold=True)
    table.add("of that, what is no data", page.shell_bytes, SHELL_BYTES_MAX, "B", must_hold=True)
    del page
    with Chromium("--enable-precise-memory-info", logs=False) as browser:
        browser.command("Page.addScriptToEvaluateOnNewDocument", source=OBSERVER)
        browser.driver.get("data:text/html,<title>empty</title>")
        idle = frames_of(browser, lambda i: browser.move(100 + i % 50, 100), seconds)
        table.add("95 % of the frames of an empty page", percentile(idle, 0.95), None, "ms")
        browser.open(file)
        paints = dict(browser.script("return performance.getEntriesByType('paint').map((paint) => [paint.name, paint.startTime])"))
        ready = browser.script("return measured.ready")
        browser.settle()
        time.sleep(0 if options.smoke else 2)
        loading = [duration for _, duration in browser.script("return measured.tasks")]
        table.add("first paint", paints.get("first-contentful-paint"), budget[1], "ms")
        table.add("all parts are there", ready, None, "ms")
        table.add("longest task until then, by the clock", max(loading, default=0), None, "ms")
        measure_frames(browser, table, budget[5], seconds)
        later = [duration for begun, duration in browser.script("return measured.tasks") if begun > ready]
        table.add("longest task after that, by the clock", max(later, default=0), None, "ms")
        browser.command("HeapProfiler.collectGarbage")
        table.add("heap", browser.script("return performance.memory.usedJSHeapSize") / MIB, budget[2], "MiB")
        elements, nodes = browser.script("""
            const walker = document.createTreeWalker(document);
            let count = 1;
            while (walker.nextNode()) count++;
            return [document.getElementsByTagName("*").length, count];""")
        table.add("elements", elements, budget[3], "", must_hold=True)
        table.add("elements, texts and comments", nodes, None, "")
        browser.open(file, "#table=processes")
        listed = browser.script("return Number(document.querySelector('#tables [aria-rowcount]')?.getAttribute('aria-rowcount') ?? 0)")
        print(f"{'processes in the table':48} {processes:>12,} {listed - 1:>12,}")
        assert listed - 1 == processes, f"{listed - 1} of {processes} processes are listed"
    loading, later = longest_task(file, seconds)
    table.add("longest task until all is there, on a processor", loading, None, "ms")
    table.add("longest task after that, on a processor", later, budget[4], "ms")
    print()
    assert not table.wrong, "\n".join(table.wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--processes", type=int, action="append")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    counts = options.processes or ([3000] if options.smoke else list(BUDGETS))
    try:
        require()
    except Skip as reason:
        return skip_all("page-speed", reason)
    print(f"1..{len(counts)}")
    with tempfile.TemporaryDirectory(prefix="tracer-bench-") as directory:
        return 0 if all([succeeds(f"page-speed: {count} processes", measure, options, directory, count) for count in counts]) else 1


if __name__ == "__main__":
    sys.exit(main())
