#!/usr/bin/env python3
"""The page of a run in a real Chromium: every part drawn, everything that one can do with it, and nothing that it must
not do. Screenshots are kept in page/ of the build directory: look at them.

usage: check_chromium.py BUILD-DIRECTORY [NAME...]
"""

import csv
import io
import pathlib
import subprocess
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import axe  # noqa: E402 (found by the path above)
from chromium import Chromium  # noqa: E402
from pages import HOSTS, MADE, run  # noqa: E402
from testing import hold, same, wait_until  # noqa: E402

KINDS = (*MADE, "snakemake", "recorded")
PARTS = ("failures", "findings", "timeline", "tables", "totals", "about")
COLOURS_MIN = 6
CONTROL = 2
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
                   self.choice().get(name) == value)
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


def tracks_of(page):
    """{name of a track: (its values in words, whether a curve is drawn)}."""
    found = page.browser.script("""
        const canvas = document.querySelector(".timeline-tracks canvas");
        const names = [...document.querySelectorAll(".timeline-tracks .timeline-names > div")];
        const gutter = parseFloat(getComputedStyle(document.querySelector(".timeline-picture")).getPropertyValue("--gutter"));
        const density = canvas.width / canvas.getBoundingClientRect().width;
        const from = Math.ceil(gutter * density), width = canvas.width - from;
        const { data } = canvas.getContext("2d").getImageData(from, 0, width, canvas.height);
        return names.map((name, at) => {
            const height = canvas.height / names.length;
            const colours = new Set();
            for (let pixel = at * height * width; pixel < ((at + 1) * height - 2 * density) * width; pixel++)
                colours.add(data[4 * pixel] << 16 | data[4 * pixel + 1] << 8 | data[4 * pixel + 2]);
            return [name.querySelector("b").innerText, name.querySelector("span").innerText, colours.size];
        });""")
    least = min(colours for _, _, colours in found)  # of a track without a curve: the background and its lines
    return {name: (words, colours > least) for name, words, colours in found}


def test_gpus_are_shown_where_there_are_some(page):
    for width in (1280, 390):
        page.browser.resize(width)
        for theme in ("light", "dark"):
            page.browser.prefer(theme)
            page.open("gpu")
            page.browser.screenshot(page.pages.kept / f"gpu-{width}-{theme}.png", whole=True)
            tracks = tracks_of(page)
            for name, most in ("GPUs", "used "), ("GPU memory", "GiB"):
                assert name in tracks and most in tracks[name][0] and tracks[name][1], f"{name} at {width} px, {theme}: {tracks}"
            same("a track without a curve", tracks["network"][1], False)
    page.browser.prefer("light")
    page.browser.resize(1366)
    page.open("gpu")
    for word in ("GPU time", "13.7 GiB in the largest process", "clocks lowered for", "Wh while held alone"):
        assert word in page.text("#head"), page.text("#head")
    assert "nvidia3 reported Xid 94 (contained memory error)" in page.text("#failures"), page.text("#failures")
    assert "GPU-hours" in page.text("#totals"), page.text("#totals")
    page.click("#tables th", "GPU time")
    page.chosen("sort", "-gpu_busy_us")
    most = max(tasks_of(page.pages, "gpu"), key=lambda task: task["gpu_busy_ns"] or 0)
    wait_until("the largest is first", lambda: cells(page)["label"] == most["label"])
    page.browser.screenshot(page.pages.kept / "gpu-sorted.png")
    page.open("gpu", "#search=haplotypecaller")
    same("of a slice", (cells(page)["GPU time"], cells(page)["GPU memory"]), ("–", "4.10 GiB"))
    page.open("failed")
    assert "GPU" not in page.text("body") and not {"GPUs", "GPU memory"} & set(tracks_of(page)), "figures that no sampler reported"


def test_a_run_on_many_hosts_is_drawn(page):
    is_drawn(page, HOSTS, "light")
    page.open(HOSTS, "#group=host")
    page.browser.screenshot(page.pages.kept / "hosts-by-host.png", whole=True)


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
        wait_until(f"{what} changes the range of time", lambda: range_of(page, end) != seen[-1])
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


def range_of(page, end):
    chosen = page.choice()
    return int(chosen.get("from", 0)), int(chosen.get("to", end))


def tasks_of(pages, kind):
    """Without the run's own part."""
    return [task for task in pages.json(kind, "show", "-p")["tasks"] if task["kind"] != "main"]


def matches(pages, kind, pattern):
    """How many tasks have the text in their name, label, status or tools, and how many there are."""
    tasks = tasks_of(pages, kind)
    found = [task for task in tasks if any(pattern.lower() in (text or "").lower() for text in (
        task["name"], task["label"], task["status"], *(tool["name"] for tool in task["tools"])))]
    return len(found), len(tasks)


def choose(page, label):
    """Puts the keyboard into the field of the timeline with that label."""
    found = page.browser.script("""
        const label = [...document.querySelectorAll("#timeline label")].find((each) => each.innerText.trim().startsWith(arguments[0]));
        label?.scrollIntoView({block: "center", behavior: "instant"});
        label?.querySelector("input, select").focus();
        return label !== undefined;""", label)
    assert found, f"no field {label}"


def rows_listed(page):
    return page.browser.script("return Number(document.querySelector('#tables [aria-rowcount]').getAttribute('aria-rowcount')) - 1")


def cells(page, row=0):
    """{title of the column: text} of a row of the table that is seen."""
    heads, texts = page.browser.script("""
        const table = document.querySelector("#tables [role=grid]");
        return [[...table.tHead.rows[0].cells].map((cell) => cell.innerText.trim()),
                [...table.tBodies[0].rows[arguments[0]].cells].map((cell) => cell.innerText)];""", row)
    return dict(zip((head.replace("\n", " ") for head in heads), texts))


def test_a_search_says_how_many_of_all_it_finds(page):
    page.open("failed")
    choose(page, "Search")
    page.browser.type("haplotypecaller")
    page.chosen("search", "haplotypecaller")
    count, of = matches(page.pages, "failed", "haplotypecaller")
    assert f"{count:,} of {of:,} tasks" in page.text("#timeline"), f"{count} of {of} is not in {page.text('#timeline')[:500]!r}"
    same("rows of the table", rows_listed(page), count)
    assert f"{count:,} of {of:,} tasks" in page.text("#tables"), page.text("#tables")[:500]
    page.browser.screenshot(page.pages.kept / "failed-search.png")


def test_what_is_hidden_is_not_listed_and_what_is_highlighted_is(page):
    page.open("failed")
    count, of = matches(page.pages, "failed", "samtools")
    choose(page, "Hide")
    page.browser.type("/^samtools/")
    page.chosen("hide", "/^samtools/")
    hidden = sum(task["name"].lower().startswith("samtools") or any(tool["name"].startswith("samtools") for tool in task["tools"])
                 for task in tasks_of(page.pages, "failed"))
    same("rows of the table", rows_listed(page), of - hidden)
    assert hidden <= count and f"{of - hidden:,} of {of:,} tasks" in page.text("#timeline"), page.text("#timeline")[:300]
    choose(page, "Hide")
    page.browser.script("document.activeElement.select()")
    page.browser.key("Backspace")
    wait_until("all rows are there again", lambda: rows_listed(page) == of)
    choose(page, "Highlight")
    page.browser.type("fastqc")
    page.chosen("highlight", "fastqc")
    same("rows of the table", rows_listed(page), of)
    page.browser.screenshot(page.pages.kept / "failed-highlight.png")
    choose(page, "Search")
    page.browser.type("/(/")
    wait_until("an invalid pattern is marked", lambda: page.browser.script(
        "return document.activeElement.getAttribute('aria-invalid')") == "true")


def test_rows_are_grouped_and_coloured(page):
    page.open("snakemake")
    drawn = lambda: page.browser.script("return %s.toDataURL()" % CANVAS)  # noqa: E731
    before = drawn()
    for label, name, values in (("Rows by", "group", ("sample", "host", "status", "none", "name")),
                                ("Colour by", "colour", ("status", "tool", "efficiency", "user", "name", "bound_by"))):
        for value in values:
            page.browser.script("""
                const select = [...document.querySelectorAll("#timeline label")].find(
                    (each) => each.innerText.trim().startsWith(arguments[0])).querySelector("select");
                select.value = arguments[1];
                select.dispatchEvent(new Event("change", {bubbles: true}));""", label, value)
            if value not in ("name", "bound_by") or (name, value) == ("colour", "name"):
                page.chosen(name, value)
            page.browser.settle()
            assert drawn() != before or value == {"group": "name", "colour": "bound_by"}[name], f"{name} {value} changes nothing"
            page.place("#timeline .part")
            page.browser.screenshot(page.pages.kept / f"snakemake-{name}-{value}.png")


def test_a_fragment_restores_what_was_chosen(page):
    page.open("failed", "#from=60000000&to=300000000&group=sample&colour=status&search=bwa&table=processes&sort=-cpu_us&selected=tasks.5")
    wait_until("the URL is kept", lambda: page.choice().get("search") == "bwa")
    chosen = page.choice()
    # Selecting a task opens the table of tasks.
    for name, value in (("from", "60000000"), ("to", "300000000"), ("group", "sample"), ("colour", "status"), ("search", "bwa")):
        same(name, chosen.get(name), value)
    same("fields", page.browser.script("return [...document.querySelectorAll('#timeline select')].map((select) => select.value)"),
         ["sample", "status"])
    assert page.browser.script("return document.querySelector('#timeline aside').checkVisibility()"), "no details are shown"
    page.browser.screenshot(page.pages.kept / "failed-restored.png")


def test_tables_are_sorted(page):
    page.open("failed")
    tasks = tasks_of(page.pages, "failed")
    most = max(tasks, key=lambda task: task["cpu_ns"])
    page.click("#tables th", "CPU time")
    page.chosen("sort", "-cpu_us")
    wait_until("the largest is first", lambda: (cells(page)["task"], cells(page)["label"]) == (most["name"], most["label"]))
    same("what screen readers say", page.browser.script(
        "return [...document.querySelectorAll('#tables th')].find((head) => head.innerText.trim() === 'CPU time').getAttribute('aria-sort')"),
        "descending")
    page.click("#tables th", "CPU time")
    page.chosen("sort", "cpu_us")
    least = min(tasks, key=lambda task: task["cpu_ns"])
    wait_until("the smallest is first", lambda: (cells(page)["task"], cells(page)["label"]) == (least["name"], least["label"]))


# Titles of the columns of a CSV, what the JSON calls them, and their units.
TASK_COLUMNS = {
    "task": ("name", None), "label": ("label", None), "wall time (s)": ("wall_ns", 1e9), "CPU time (s)": ("cpu_ns", 1e9),
    "waited for CPU (s)": ("run_delay_ns", 1e9), "peak memory (bytes)": ("peak_rss_bytes", 1), "memory limit (bytes)": ("memory_limit_bytes", 1),
    "read (bytes)": ("read_bytes", 1), "written (bytes)": ("write_bytes", 1), "processes": ("process_count", 1),
    "failed processes": ("failed_count", 1), "memory at once (bytes)": ("concurrent_memory_bytes", 1),
    "peak of the cgroup (bytes)": ("cgroup_peak_bytes", 1), "sent (bytes)": ("sent_bytes", 1), "received (bytes)": ("received_bytes", 1),
    "threads requested": ("requested_thread_count", 1), "waited for storage (s)": ("block_io_delay_ns", 1e9)}
PROCESS_COLUMNS = {
    "program": ("program", None), "wall time (s)": ("wall_ns", 1e9), "CPU time (s)": ("cpu_ns", 1e9), "peak memory (bytes)": ("peak_rss_bytes", 1),
    "read (bytes)": ("read_bytes", 1), "written (bytes)": ("write_bytes", 1), "pid": ("pid", 1)}


def cell_of(row, name, unit):
    """A figure of the JSON as it is in a file."""
    if row[name] is None:
        return ""
    return row[name] if unit is None else round(row[name] // 1000 / 1e6, 6) if unit == 1e9 else row[name]


def saved(page, columns, rows, what):
    """Saves the table that is seen, and compares it with the rows of the JSON, whatever their order."""
    page.click("#tables button", "Save as CSV")
    name, content = page.browser.downloaded()
    assert name.endswith(".csv"), name
    found = list(csv.DictReader(io.StringIO(content.decode())))
    missing = set(columns) - set(found[0])
    assert not missing, f"{what}: no column {missing} in {list(found[0])}"
    number = lambda text, unit: text if unit is None or text == "" else float(text)  # noqa: E731
    hold([f"{what}: {left}, expected {right}" for left, right in zip(
        sorted(str([number(row[title], unit) for title, (_, unit) in columns.items()]) for row in found),
        sorted(str([number(cell_of(row, name, unit), unit) for name, unit in columns.values()]) for row in rows)) if left != right])
    same(f"lines of {what}", len(found), len(rows))


def test_tables_are_saved_as_they_are_shown(page):
    """With the figures of tracer show."""
    page.open("snakemake")
    tasks = tasks_of(page.pages, "snakemake")
    columns = {title: column for title, column in TASK_COLUMNS.items() if any(task[column[0]] is not None for task in tasks)}
    saved(page, columns, tasks, "tasks")
    page.open("snakemake", "#search=bwa")
    saved(page, columns, [task for task in tasks if "bwa" in task["name"]], "tasks that a search finds")
    page.open("failed", "#table=processes")
    saved(page, PROCESS_COLUMNS, [process for task in page.pages.json("failed", "show", "-p")["tasks"] for process in task["processes"]], "processes")


def test_formulas_are_no_formulas_in_a_saved_table(page):
    page.open("hostile")
    page.click("#tables button", "Save as CSV")
    _, content = page.browser.downloaded()
    rows = list(csv.reader(io.StringIO(content.decode())))
    same("rows", len(rows) - 1, len(tasks_of(page.pages, "hostile")))
    hold([cell for row in rows for cell in row if cell.startswith(("=", "@", "\t")) or "\n" in cell])
    assert any(cell.startswith("'=HYPERLINK") for row in rows for cell in row), rows[1]


def test_a_row_is_copied(page):
    page.open("failed")
    page.browser.command("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    page.click("#tables td")
    page.chosen("selected")
    page.click("#tables button", "Copy row")
    text = page.browser.script_async("const done = arguments[arguments.length - 1]; navigator.clipboard.readText().then(done, (error) => done(String(error)))")
    lines = [line.split("\t") for line in text.splitlines()]
    same("lines", len(lines), 2)
    first = dict(zip(*lines))
    task = next(task for task in tasks_of(page.pages, "failed") if (task["name"], task["label"]) == (first["task"], first["label"]))
    same("its CPU time", float(first["CPU time (s)"]), cell_of(task, "cpu_ns", 1e9))


def test_details_have_every_figure(page):
    page.open("failed")
    page.click("#tables td")
    row = int(page.chosen("selected", None).split(".")[1])
    wait_until("details are shown", lambda: page.browser.script("return document.querySelector('#timeline aside').checkVisibility()"))
    text, task = page.text("#timeline aside"), page.pages.json("failed", "show")["tasks"][row]
    for word in (task["name"], task["label"], "CPU time", "peak memory", "memory limit"):
        assert word in text, f"{word!r} is not in the details: {text}"
    page.browser.screenshot(page.pages.kept / "failed-details.png")
    page.browser.key("Escape")
    wait_until("Escape closes them", lambda: not page.browser.script("return document.querySelector('#timeline aside').checkVisibility()"))


def focused(page):
    return page.browser.script("""
        const element = document.activeElement;
        return [element.tagName, element.getAttribute("role") ?? "", element.getAttribute("aria-label") ?? element.innerText.trim().slice(0, 40)];""")


def test_the_keyboard_alone_is_enough(page):
    """Tab comes to everything, is always seen, and leaves the table again; arrows and Enter choose a row in it."""
    page.open("failed")
    stops, invisible = [], []
    for _ in range(120):
        page.browser.key("Tab")
        stop = focused(page)
        if stop[0] == "BODY":
            break
        stops.append(tuple(stop))
        if not page.browser.script("""
                const box = document.activeElement.getBoundingClientRect();
                const style = getComputedStyle(document.activeElement);
                return box.width > 0 && (style.outlineStyle !== "none" || style.boxShadow !== "none" || style.borderStyle !== "none" ||
                    document.activeElement.querySelector(".active") !== null);"""):
            invisible.append(stop)
    hold([f"the focus of {stop} is not seen" for stop in invisible])
    assert 10 < len(stops) < 110, f"{len(stops)} places to tab to: {stops}"
    grid = [stop for stop in stops if stop[1] == "grid"]
    same("places in the table", len(grid), 1)
    for part in ("INPUT", "SELECT", "BUTTON", "A", "SUMMARY"):
        assert any(stop[0] == part for stop in stops), f"no {part} among {stops}"
    page.browser.script("document.querySelector('#tables [role=grid]').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.browser.key(key)
    page.chosen("selected")
    page.browser.script("document.querySelector('#timeline [tabindex=\"0\"]').focus()")
    before = page.choice()["selected"]
    page.browser.key("Escape")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Enter"):
        page.browser.key(key)
    wait_until("Enter selects a task in the timeline", lambda: page.choice().get("selected", before) != before)
    page.browser.screenshot(page.pages.kept / "failed-keyboard.png")


# ---- for everyone -----------------------------------------------------------------------


def test_nothing_is_in_the_way_of_anybody(page):
    """axe-core finds nothing, in light and dark."""
    code = axe.source()
    for kind in ("failed", "running", "empty", "gpu", "hostile"):
        for theme in ("light", "dark"):
            page.browser.prefer(theme)
            page.open(kind)
            hold([f"{kind} {theme}: {line}" for line in axe.violations(page.browser, code)])
    page.browser.prefer("light")


def test_nothing_is_wider_than_the_window(page):
    for width in (1366, 1000, 640, 390):
        page.browser.resize(width)
        for kind in ("failed", "gpu", "hostile"):
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


def test_it_prints(page):
    page.open("failed")
    printed = page.browser.print()
    (page.pages.kept / "failed.pdf").write_bytes(printed)
    text = subprocess.run(["pdftotext", "-layout", "-", "-"], input=printed, capture_output=True, check=True).stdout.decode()
    for word in ("nf-core/sarek", "OOM killer", "HAPLOTYPECALLER", "What costs most", "The first 200 of 2"):
        assert word in text, f"{word!r} is not on paper"


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


def test_a_file_that_was_cut_off_says_so(page):
    whole = page.pages.page("failed").read_text()
    begin = whole.index('id="data"')
    cut = page.pages.directory / "cut.html"
    cut.write_text(whole[:begin + 5000] + whole[whole.index("</script>", begin):])
    page.browser.open(cut)
    assert "damaged" in page.text("body"), page.text("body")[:300]
    page.browser.complaints()  # the reason is there, for who looks


def run_on(test, pages, browser):
    """With nothing said or requested meanwhile."""
    test(Said(browser, pages))
    hold(browser.complaints())


if __name__ == "__main__":
    sys.exit(run(__doc__, "page-chromium", globals(), run_on, Chromium))
