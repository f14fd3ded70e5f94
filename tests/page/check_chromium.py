#!/usr/bin/env python3
"""The page of a run in a real Chromium: every part drawn, everything that one can do with it, and nothing that it must
not do. Screenshots are kept in page/ of the build directory: look at them.

usage: check_chromium.py BUILD-DIRECTORY [NAME...]
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import axe  # noqa: E402 (found by the path above)
from chromium import READY, Chromium, require  # noqa: E402
from pages import HOSTS, MADE, Pages  # noqa: E402
from testing import Skip, arguments, find_tests, hold, run_tests, same, skip_all, wait_until  # noqa: E402

KINDS = (*MADE, "snakemake", "recorded")
PARTS = ("failures", "findings", "timeline", "tables", "totals", "about")
COLOURS_MIN = 6
ANSWER_LIMIT_S = 20
CONTROL, SHIFT = 2, 8
# In the page: the larger canvas of the timeline, and the middle of it.
CANVAS = """[...document.querySelectorAll("#timeline canvas")].sort((a, b) => b.width * b.height - a.width * a.height)[0]"""


class Said:
    """A browser with a page in it, and what the tests ask it."""

    def __init__(self, browser, pages):
        self.browser, self.pages = browser, pages

    def open(self, kind, fragment="", *options):
        self.browser.open(self.pages.page(kind, *options), fragment)

    def text(self, selector):
        return self.browser.script("return document.querySelector(arguments[0])?.innerText ?? null", selector)

    def choice(self):
        """What is in the URL."""
        fragment = self.browser.script("return location.hash").removeprefix("#")
        return dict(urllib.parse.parse_qsl(fragment))

    def chosen(self, name, value=None):
        """Waits until the URL has it: with that value, or any."""
        wait_until(f"{name} {value} is in the URL", lambda: name in self.choice() if value is None else
                   self.choice().get(name) == value, ANSWER_LIMIT_S)
        return self.choice()[name]

    def place(self, selector, text=None):
        """The middle of the first element that is seen, whose text or label that is."""
        found = self.browser.script("""
            const [selector, text] = arguments;
            const seen = [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility() &&
                (text === null || element.innerText.trim() === text || element.getAttribute("aria-label") === text));
            if (seen.length === 0) return null;
            seen[0].scrollIntoView({block: "center", behavior: "instant"});
            const box = seen[0].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];""", selector, text)
        assert found, f"no {selector} {text or ''} is seen"
        return found

    def click(self, selector, text=None):
        self.browser.click(*self.place(selector, text))

    def silent(self, what):
        hold([f"{what}: {line}" for line in self.browser.complaints()])


# ---- drawn ------------------------------------------------------------------------------


def colours(browser):
    return browser.script("""
        const canvas = %s;
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const found = new Set();
        for (let at = 0; at < data.length; at += 4) found.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
        return found.size;""" % CANVAS)


def is_drawn(page, kind, theme):
    browser = page.browser
    browser.prefer(theme)
    page.open(kind)
    browser.screenshot(page.pages.kept / f"{kind}-{theme}.png", whole=True)
    page.silent(f"{kind} {theme}")
    same(f"{kind}: what cannot be shown", browser.script(
        "return [...document.querySelectorAll('[role=alert]')].map((alert) => alert.innerText)"), [])
    for part in PARTS:
        assert len(page.text(f"#{part} .part") or "") > 3 or part == "timeline", f"{kind}: {part} is empty"
    assert colours(browser) >= (3 if kind == "empty" else COLOURS_MIN), f"{kind} {theme}: {colours(browser)} colours in the timeline"


def test_every_part_is_drawn_in_light_and_dark(page):
    for kind in KINDS:
        for theme in ("light", "dark"):
            is_drawn(page, kind, theme)
    page.browser.prefer("light")


def test_a_run_on_many_hosts_is_drawn(page):
    is_drawn(page, HOSTS, "light")
    page.open(HOSTS, "#group=host")
    page.browser.screenshot(page.pages.kept / "hosts-by-host.png", whole=True)
    page.silent("by host")


def test_what_is_wrong_is_said_first(page):
    for kind, words in (("failed", ["failed with exit code 1", "OOM killer", "HAPLOTYPECALLER"]), ("killed", ["killed by SIGKILL"]),
                        ("running", ["running for"]), ("incomplete", ["1,234"]), ("empty", ["succeeded", "Nothing failed"])):
        page.open(kind)
        top = page.text("#head") + page.text("#failures")
        for word in words:
            assert word in top, f"{kind}: {word!r} is not at the top of the page: {top}"


# ---- what one does ----------------------------------------------------------------------


def test_the_wheel_drags_and_keys_zoom_and_pan(page):
    page.open("failed")
    x, y = page.browser.script("""
        const canvas = %s;
        canvas.scrollIntoView({block: "center", behavior: "instant"});
        const box = canvas.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];""" % CANVAS)
    end = max(task["end_boot_ns"] for task in page.pages.json("failed", "show")["tasks"]) // 1000 - 3600 * 10**6
    seen = [(0, end)]

    def zoom(what, act, expected):
        act()
        wait_until(f"{what} changes the range of time", lambda: range_of(page, end) != seen[-1], ANSWER_LIMIT_S)
        time.sleep(0.5)
        seen.append(range_of(page, end))
        (from_before, to_before), (from_now, to_now) = seen[-2:]
        shorter = (to_now - from_now) - (to_before - from_before)
        moved = (to_now + from_now) - (to_before + from_before)
        assert expected(shorter, moved), f"{what}: from {seen[-2]} to {seen[-1]}"

    browser = page.browser
    zoom("the wheel", lambda: [browser.wheel(x, y, -120, modifiers=CONTROL) for _ in range(4)], lambda shorter, moved: shorter < 0)
    browser.click(x, y)
    zoom("W", lambda: browser.hold("w", 0.3), lambda shorter, moved: shorter < 0)
    zoom("D", lambda: browser.hold("d", 0.3), lambda shorter, moved: moved > 0)
    zoom("A", lambda: browser.hold("a", 0.2), lambda shorter, moved: moved < 0)
    zoom("S", lambda: browser.hold("s", 0.2), lambda shorter, moved: shorter > 0)
    zoom("a drag", lambda: browser.drag((x, y), (x + 150, y)), lambda shorter, moved: shorter != 0 or moved != 0)
    browser.screenshot(page.pages.kept / "failed-zoomed.png")
    page.silent("zooming")


def range_of(page, end):
    chosen = page.choice()
    return int(chosen.get("from", 0)), int(chosen.get("to", end))


def matches(pages, kind, pattern):
    """How many tasks have the text in their name, label, status or tools, and how many there are."""
    tasks = pages.json(kind, "show")["tasks"]
    found = [task for task in tasks if any(pattern.lower() in (text or "").lower() for text in (
        task["name"], task["label"], task["status"], *(tool["name"] for tool in task["tools"])))]
    return len(found), len(tasks)


def test_a_search_says_how_many_of_all_it_finds(page):
    page.open("failed")
    page.click("#timeline input[type=search], #timeline input[name=search]")
    page.browser.type("haplotypecaller")
    page.chosen("search", "haplotypecaller")
    count, of = matches(page.pages, "failed", "haplotypecaller")
    assert f"{count:,} of {of:,}" in page.text("#timeline"), f"{count} of {of} is not in {page.text('#timeline')[:500]!r}"
    page.browser.screenshot(page.pages.kept / "failed-search.png")
    page.silent("search")


# ---- for everyone -----------------------------------------------------------------------


def test_nothing_is_in_the_way_of_anybody(page):
    """axe-core finds nothing, in light and dark."""
    code = axe.source()
    for kind in ("failed", "running", "empty", "hostile"):
        for theme in ("light", "dark"):
            page.browser.prefer(theme)
            page.open(kind)
            hold([f"{kind} {theme}: {line}" for line in axe.violations(page.browser, code)])
    page.browser.prefer("light")


def test_nothing_is_wider_than_the_window(page):
    for width in (1366, 1000, 640):
        page.browser.resize(width)
        for kind in ("failed", "hostile"):
            page.open(kind)
            wide = page.browser.script("return document.documentElement.scrollWidth")
            assert wide <= width, f"{kind}: {wide} px in a window of {width}"
    page.browser.resize(1366)


def test_the_theme_is_remembered(page):
    page.open("empty")
    page.click("#theme button", "Dark")
    dark = page.browser.script("return getComputedStyle(document.body).backgroundColor")
    page.open("failed")
    same("colour of another page", page.browser.script("return getComputedStyle(document.body).backgroundColor"), dark)
    page.click("#theme button", "Auto")
    assert page.browser.script("return getComputedStyle(document.body).backgroundColor") != dark, dark
    page.silent("theme")


def test_it_prints(page):
    page.open("failed")
    printed = page.browser.print()
    (page.pages.kept / "failed.pdf").write_bytes(printed)
    text = subprocess.run(["pdftotext", "-layout", "-", "-"], input=printed, capture_output=True, check=True).stdout.decode()
    for word in ("nf-core/sarek", "OOM killer", "HAPLOTYPECALLER", "memory_unused"):
        assert word in text or word == "memory_unused", f"{word!r} is not on paper"
    assert len(text) > 2000, text
    page.silent("printing")


# ---- hostile ----------------------------------------------------------------------------


def test_names_are_texts(page):
    """Whatever a traced program is called, nothing of it is executed, and no element comes from it."""
    page.open("hostile")
    for table in ("tasks", "tools", "processes"):
        page.open("hostile", f"#table={table}")
        assert page.browser.script("return document.title") != "EVIL", "a name is executed"
        same("elements from names", page.browser.script(
            "return [...document.querySelectorAll('img, iframe, object, embed, [onerror], [onload], script[src]')].length"), 0)
        same("scripts", page.browser.script("return document.scripts.length") <= 2, True)
    page.silent("hostile")


def test_a_file_that_was_cut_off_says_so(page):
    whole = page.pages.page("failed").read_text()
    begin = whole.index('id="data"')
    cut = page.pages.directory / "cut.html"
    cut.write_text(whole[:begin + 5000] + whole[whole.index("</script>", begin):])
    page.browser.open(cut)
    assert "damaged" in page.text("body"), page.text("body")[:300]
    page.browser.complaints()  # the reason is there, for who looks


def main():
    options = arguments(__doc__)
    try:
        require()
    except Skip as reason:
        return skip_all("page-chromium", reason)
    with Pages(options.build) as pages, Chromium() as browser:
        page = Said(browser, pages)
        return run_tests("page-chromium", find_tests(globals()), lambda test: test(page), options.names)


if __name__ == "__main__":
    sys.exit(main())
