#!/usr/bin/env python3
"""The dashboard and the live page of tracer serve, in the Chromium of the distribution.

usage: check_dashboard.py BUILD-DIRECTORY [NAME...]
"""

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "page")]
import axe  # noqa: E402 (found by the path above)
from chromium import Chromium  # noqa: E402
from firefox import Firefox  # noqa: E402
from server import Server  # noqa: E402
from testing import ENVIRONMENT, Skip, arguments, copy_rows, find_tests, hold, run_tests, same, skip_all, wait_until  # noqa: E402

RUNS = 3000
NEEDLES = 3
LIVE_RUN = "780ab6e67011bb18" # of make_run
# Of stages of one run, which the live store has one after the other.
STAGES = (("running", 600), ("running", 900), ("running", 1200), ("succeeded", 1500))
PROCESSES = 75000 # some 35,000 of which have begun
HEAP_BYTES_MAX, ELEMENTS_MAX = 150e6, 3000
HOSTILE = ("<script>document.title = 'EVIL'</script>", "<img src=x onerror=\"document.title='EVIL'\">", "\u202egnp.exe",
           "javascript:alert(1)", "x" * 4096, "a\nb\tc", "&lt;b&gt;")
VIEWS = ("/", "/compare?a=nightly.sh&b=nightly-new.sh", "/hosts", "/sweep?since=2025-01-01", "/cost?since=2025-01-01", "/cost?by=day&since=2025-01-01",
         "/trends", "/trends?name=nightly.sh", "/status")


class Session:
    """Stores and servers, made once, and one browser."""

    def __init__(self, build, browser, held):
        self.build, self.browser, self.held = pathlib.Path(build).resolve(), browser, held
        self.directory = pathlib.Path(held.enter_context(tempfile.TemporaryDirectory(prefix="tracer-dashboard-")))
        self.kept = self.build / "page" # what a person looks at after the tests
        self.kept.mkdir(exist_ok=True)
        self.servers = {}

    def make(self, program, name, *words):
        path = self.directory / f"{name}.db"
        result = subprocess.run([self.build / program, path, *words], capture_output=True, text=True, check=False, env=ENVIRONMENT)
        same(f"status of {program} ({result.stderr})", result.returncode, 0)
        return path

    def server(self, name, make):
        """The server of a store, which is made when it is first asked for."""
        if name not in self.servers:
            self.servers[name] = self.held.enter_context(Server(self.build, make(), unix=False))
        return self.servers[name]

    def many(self):
        return self.server("many", lambda: many_runs(self.make("tests/cli/make_store", "many", "series")))

    def open(self, server, path, token=True):
        self.browser.connect(f"http://127.0.0.1:{server.port}")
        self.browser.complaints()
        self.browser.driver.get("about:blank")
        self.browser.driver.get(f"{self.browser.origin}{path}{f'#token={server.token}' if token else ''}")

    def text(self, selector="main"):
        return self.browser.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def wait(self, what, ready):
        wait_until(what, ready)

    def wait_text(self, text, selector="main"):
        self.wait(f"{text!r} in {selector}", lambda: text in self.text(selector))

    def click(self, selector, text=None):
        place = self.browser.script("""
            const [selector, text] = arguments;
            const found = [...document.querySelectorAll(selector)].find((each) => text === null || each.innerText.includes(text));
            if (!found) return null;
            found.scrollIntoView({block: "center", behavior: "instant"});
            const box = found.getBoundingClientRect();
            return [box.x + Math.min(box.width / 2, 20), box.y + box.height / 2];""", selector, text)
        assert place, f"no {selector} {text or ''}"
        self.browser.click(*place)

    def silent(self, what):
        hold([f"{what}: {line}" for line in self.browser.complaints()])


def many_runs(path):
    """Thousands of runs, all newer than a few needles; and one run for each hostile name."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TEMP TABLE numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n",
                         (RUNS,))
        first, = database.execute("SELECT min(id) FROM runs WHERE name = 'nightly.sh'").fetchone()
        for number in range(NEEDLES):
            copy_rows(database, "runs", f"id = {first}", id=str(100 + number), rev=str(10**6 + number), name="'needle in the hay'",
                      status="'failed'", started_unix_ns=f"started_unix_ns - {10**15 + number}")
        columns = [name for _, name, *_ in database.execute("PRAGMA table_info(runs)")]
        changed = {"id": "1000 + i", "rev": "2000000 + i", "name": "'hay ' || (i % 7)", "started_unix_ns": "started_unix_ns + i * 1000000000"}
        database.execute(f"INSERT INTO runs ({', '.join(columns)}) SELECT {', '.join(changed.get(name, name) for name in columns)}"
                         f" FROM runs, numbers WHERE id = {first}")
        for number, name in enumerate(HOSTILE):
            copy_rows(database, "runs", f"id = {first}", id=str(200 + number), rev=str(3 * 10**6 + number),
                      started_unix_ns=f"started_unix_ns + {10**13 + number}")
            database.execute("UPDATE runs SET name = ? WHERE id = ?", (name, 200 + number))
    return path


class Growing:
    """A store whose run goes on: its stages are copied into it, each as one commit."""

    def __init__(self, session, name, stages):
        self.path = session.directory / f"{name}.db"
        self.stages = [session.make("tests/page/make_run", f"{name}-{at}", *map(str, stage)) for at, stage in enumerate(stages)]
        self.database = session.held.enter_context(contextlib.closing(sqlite3.connect(self.path)))
        self.show(0)

    def show(self, stage):
        with contextlib.closing(sqlite3.connect(self.stages[stage])) as source:
            source.backup(self.database)
        with self.database: # a log with something in it, as that of a store that is written
            self.database.execute("UPDATE stream SET rev = rev + 1")


def two_hosts(path):
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        copy_rows(database, "hosts", "1", id="7", rev="1000000", hostname="'second'")
    return path


# ---- runs -------------------------------------------------------------------------------


def columns_seen(session):
    return session.browser.script("return [...document.querySelectorAll('main th[scope=col]')].filter((head) => head.checkVisibility()).map("
                                  "(head) => head.innerText.trim())")


def test_gpus_are_shown_where_there_are_some(session):
    server = session.server("gpu", lambda: session.make("tests/cli/make_store", "gpu", "gpu"))
    for width in 390, 1366:
        session.browser.resize(width)
        session.open(server, "/")
        session.wait("what runs use now", lambda: {"GPUs now", "GPU memory now", "GPU time", "GPU memory"} <= set(columns_seen(session)))
        session.browser.screenshot(session.kept / f"dashboard-gpu-{width}.png", whole=True)
    running = session.text("[aria-label='Runs that run now'] tbody tr").split("\t")
    assert "1.36" in running and "90.0 GiB" in running, running
    assert any("1h12m" in row and "60.5 GiB" in row for row in session.text("[aria-label='All runs'] tbody").split("pipeline.sh")), session.text()
    session.open(server, "/cost?since=2025-01-01")
    session.wait("costs of GPUs", lambda: {"GPUs", "GPUs unused"} <= set(columns_seen(session)))
    session.browser.screenshot(session.kept / "dashboard-gpu-cost.png", whole=True)
    session.open(server, "/sweep?since=2025-01-01")
    session.wait_text("holds 22.5 GiB of GPU memory")
    session.browser.screenshot(session.kept / "dashboard-gpu-sweep.png", whole=True)
    session.silent("pages with GPUs")
    for path, text in ("/", "nightly"), ("/cost?since=2025-01-01", "nightly"):
        session.open(session.many(), path)
        session.wait_text(text)
        same(f"columns of GPUs on {path}", [column for column in columns_seen(session) if "GPU" in column], [])


def test_of_several_hosts_one_is_chosen_for_what_they_use_now(session):
    server = session.server("hosts", lambda: two_hosts(session.make("tests/cli/make_store", "hosts", "fixed")))
    session.open(server, "/")
    session.wait_text("choose a host above")
    same("connection", session.text("#connection"), "live")
    session.click(".field", "host")
    session.browser.type("example")
    session.wait("usage is shown", lambda: "choose a host above" not in session.text())
    session.browser.type("x")
    session.wait_text("No host is named 'examplex'; hosts: ")
    same("connection", session.text("#connection"), "live")


def test_runs_are_filtered_before_the_limit(session):
    server = session.many()
    expected = server.get("/api/v1/runs?limit=1").json()["run_count"]
    assert expected > RUNS
    session.open(server, "/")
    session.wait_text(f"the latest 100 of {expected:,} runs")
    same("its rows", session.browser.script("return document.querySelectorAll('section:nth-of-type(2) tbody tr').length"), 100)
    assert "needle" not in session.text()
    session.browser.script("document.querySelector('input').focus()")
    session.browser.type("needle")
    session.wait_text(f"{NEEDLES} of {NEEDLES} runs")
    assert "name=needle" in session.browser.driver.current_url, "the filter is not in the URL"
    assert "token" not in session.browser.driver.current_url, "the token stays in the URL"
    session.browser.driver.refresh()
    session.wait_text(f"{NEEDLES} of {NEEDLES} runs")
    session.open(server, "/?status=failed&name=needle")
    session.wait_text(f"{NEEDLES} of {NEEDLES} runs")
    session.open(server, "/?name=hay")
    session.wait_text(f"the latest 100 of {RUNS + NEEDLES:,} runs")
    session.click("button", "Show more")
    session.wait_text(f"the latest 500 of {RUNS + NEEDLES:,} runs")
    session.silent("runs")


def test_a_wrong_filter_says_so(session):
    session.open(session.many(), "/?user=nobody-of-that-name")
    session.wait("what is wrong", lambda: "nobody-of-that-name" in session.text("[role=alert]"))


def test_two_ticked_runs_are_compared(session):
    server = session.many()
    session.open(server, "/?name=nightly")
    session.wait("its rows", lambda: session.browser.script("return document.querySelectorAll('tbody input').length") == 16)
    session.click("tbody tr:nth-child(1) input")
    session.click("tbody tr:nth-child(2) input")
    time.sleep(2) # rows that come again stay ticked
    same("ticked", session.browser.script("return document.querySelectorAll('tbody input:checked').length"), 2)
    session.click("a", "Compare these two")
    session.wait_text("(whole run)")
    ids = [run["id"] for run in server.get("/api/v1/runs?name=nightly&limit=2").json()["runs"]]
    said = server.get(f"/api/v1/compare/{ids[1]}/{ids[0]}").json()
    same("steps", session.browser.script("return [...document.querySelectorAll('tbody th')].map((cell) => cell.innerText)"),
         [step["name"] for step in said["steps"]])
    session.silent("compare")


def test_runs_of_two_names_are_compared(session):
    session.open(session.many(), "/?name=nightly")
    session.wait("its rows", lambda: session.browser.script("return document.querySelectorAll('tbody input').length") == 16)
    for row in (1, 2, 12):
        session.click(f"tbody tr:nth-child({row}) input")
    session.click("a", "all runs of these two names")
    session.wait_text("8 runs")
    assert "nightly.sh" in session.text() and "nightly-new.sh" in session.text()


def test_new_data_is_shown_soon(session):
    server = session.many()
    session.open(server, "/?name=new+one")
    session.wait_text("0 of 0 runs")
    with contextlib.closing(sqlite3.connect(session.directory / "many.db")) as database:
        with database:
            copy_rows(database, "runs", "id = 100", id="900", rev="4000000", name="'the new one'")
        begin = time.monotonic()
        wait_until("the new run is shown", lambda: "the new one" in session.text())
        print(f"# shown {time.monotonic() - begin:.1f} s after the commit", flush=True)


# ---- all views --------------------------------------------------------------------------


def test_every_view_is_drawn_in_light_and_dark(session):
    server, code = session.many(), None
    with contextlib.suppress(Skip):
        code = axe.source()
    for path in VIEWS:
        for theme in ("light", "dark"):
            session.browser.prefer(theme)
            session.open(server, path)
            session.wait(f"rows of {path}", lambda: session.browser.script("return document.querySelectorAll('tbody tr').length") > 0)
            session.browser.settle()
            name = path.strip("/").replace("/", "-").partition("&")[0].replace("?", "-") or "runs"
            session.browser.screenshot(session.kept / f"dashboard-{name}-{theme}.png")
            same(f"problems of {path}", session.browser.script(
                "return [...document.querySelectorAll('[role=alert]')].map((alert) => alert.innerText).filter(Boolean)"), [])
            same(f"{path} is wider than the window", session.browser.script("return document.documentElement.scrollWidth > innerWidth"), False)
            session.silent(f"{path} {theme}")
            if code:
                hold([f"{path} {theme}: {line}" for line in axe.violations(session.browser, code)])
    session.browser.prefer("light")


def test_every_view_is_drawn_in_firefox(session):
    server = session.many()
    origin = f"http://127.0.0.1:{server.port}/"
    with Firefox() as browser:
        for path in VIEWS:
            browser.ask("browsingContext.navigate", context=browser.context, wait="complete", url="about:blank")
            browser.ask("browsingContext.navigate", context=browser.context, wait="complete",
                        url=f"{origin[:-1]}{path}#token={server.token}")
            session.wait(f"rows of {path}", lambda: browser.script("document.querySelectorAll('tbody tr').length") > 0)
            same(f"problems of {path}", browser.script(
                "[...document.querySelectorAll('[role=alert]')].map((alert) => alert.innerText).filter(Boolean)"), [])
            hold([f"{path}: {line}" for line in browser.complaints() if not line.startswith(f"request: {origin}")])


def test_names_are_texts(session):
    server = session.many()
    session.open(server, "/?name=")
    session.wait_text("<script>")
    text = session.text()
    for shown in ("<img src=x", "\\u{202e}gnp.exe", "a\\nb\\tc", "&lt;b&gt;", "javascript:alert(1)", "xxx…xxx"):
        assert shown in text, f"{shown!r} is not shown as it is"
    assert "\u202e" not in text
    same("title", session.browser.script("return document.title"), "Runs – Tracer")
    for path in ("/trends", f"/trends?name=%3Cscript%3E", "/compare?a=%3Cscript%3E&b=c8"):
        session.open(server, path)
        time.sleep(1)
        assert "EVIL" not in session.browser.script("return document.title")
    hold([line for line in session.browser.complaints() if "Failed to load resource" not in line])


# ---- the server -------------------------------------------------------------------------


def test_without_a_token_it_says_how_to_get_one(session):
    server = session.many()
    session.open(server, "/")
    session.browser.driver.switch_to.new_window("tab")
    first = session.browser.driver.window_handles[0]
    session.browser.connect(session.browser.origin)
    try:
        session.browser.driver.get(session.browser.origin)
        session.browser.script("sessionStorage.clear()")
        # The other tab has it.
        session.browser.driver.refresh()
        session.wait_text("runs, newest first")
    finally:
        session.browser.driver.close()
        session.browser.driver.switch_to.window(first)
    session.browser.script("sessionStorage.clear()")
    session.browser.driver.refresh()
    session.wait("what to do", lambda: "tracer serve" in session.text("#notice"))
    same("connection", session.text("#connection"), "no access")
    session.browser.script(f"location.hash = 'token={server.token}'")
    session.wait_text("runs, newest first")
    same("notice", session.text("#notice"), "")


def test_a_server_that_is_gone_is_missed(session):
    store = session.make("tests/cli/make_store", "gone", "fixed")
    token = session.directory / "token"
    token.write_text("0123456789abcdef0123456789abcdef\n")
    token.chmod(0o600)
    with Server(session.build, store, "--token-file", str(token), unix=False) as server:
        server.token, port = token.read_text().strip(), server.port
        session.open(server, "/")
        session.wait_text("align.sh")
    session.wait("the loss is seen", lambda: "not connected since" in session.text("#connection"))
    assert "align.sh" in session.text(), "what was known is gone"
    session.browser.complaints()
    result = subprocess.Popen([session.build / "cli/tracer", "serve", "--store", store, "--listen", f"127.0.0.1:{port}", "--token-file", token],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    try:
        session.wait("it is live again", lambda: session.text("#connection") == "live")
    finally:
        result.terminate()
        result.wait()


def test_a_user_is_told_what_needs_all_users(session):
    store = session.make("tests/cli/make_store", "user", "fixed")
    with Server(session.build, store, "--trusted-header", "X-User", unix=False) as server:
        session.browser.command("Network.setExtraHTTPHeaders", headers={"X-User": "daemon"})
        try:
            session.open(server, "/")
            session.wait_text("align.sh")
            for path in ("/hosts", "/sweep", "/cost", "/status"):
                session.open(server, path)
                session.wait_text("needs to see the work of all users", "[role=alert]")
                same(f"rows of {path}", session.browser.script("return document.querySelectorAll('tbody tr').length"), 0)
        finally:
            session.browser.command("Network.setExtraHTTPHeaders", headers={})
    session.browser.driver.get("about:blank")
    session.browser.complaints()


# ---- the page of a run ------------------------------------------------------------------


def title_of(session):
    return session.text("#head .status")


def test_the_page_of_a_run_is_live(session):
    growing = Growing(session, "growing", STAGES)
    browser = session.browser
    server = session.server("growing", lambda: growing.path)
    session.open(server, f"/runs/{LIVE_RUN}")
    browser.wait_ready()
    first = title_of(session)
    assert first.startswith("running for"), first
    # What the reader does: zooms to the end, searches, selects, opens, scrolls, and is in the table with the keyboard.
    browser.script("document.querySelector('#about details').open = true")
    browser.script("""document.querySelector('.timeline-rows').focus()""")
    browser.key("ArrowDown")
    browser.key("Enter")
    session.wait("the details", lambda: not browser.script("return document.querySelector('.timeline-details').hidden"))
    chosen = session.text(".timeline-details h3")
    browser.script("location.hash = location.hash + '&from=60000000'")
    browser.script("document.querySelector('#tables .grid-scroller').scrollTop = 240; scrollTo(0, 900)")
    browser.script("document.querySelector('#tables table[role=grid]').focus({preventScroll: true})")
    browser.settle()
    scrolled = browser.script("return scrollY")
    for stage in (1, 2):
        before = title_of(session)
        growing.show(stage)
        session.wait("later data", lambda: title_of(session) != before)
        browser.settle()
        same("selected", session.text(".timeline-details h3"), chosen)
        same("what was open", browser.script("return document.querySelector('#about details').open"), True)
        same("table", browser.script("return document.querySelector('#tables .grid-scroller').scrollTop"), 240)
        same("focus", browser.script("return document.activeElement.getAttribute('role')"), "grid")
        same("the range follows the end", browser.script("return new URLSearchParams(location.hash.slice(1)).has('to')"), False)
        assert abs(browser.script("return scrollY") - scrolled) <= 60, f"scrolled from {scrolled} to {browser.script('return scrollY')}"
    browser.screenshot(session.kept / "live-page.png", whole=True)
    growing.show(3)
    session.wait("the end", lambda: session.text("#bar [role=status]") == "ended")
    assert title_of(session).startswith("succeeded"), title_of(session)
    session.silent("the live page")
    browser.driver.get_log("performance")
    time.sleep(4)
    asked = [line for line in browser.driver.get_log("performance") if "requestWillBeSent" in line["message"] and "/api/" in line["message"]]
    same("requests after the end", len(asked), 0)


# Remembers the data of runs, without keeping them.
SEEN = """globalThis.seen = [];
    const {parse} = JSON;
    JSON.parse = (text) => {
        const value = parse(text);
        if (value?.facts) seen.push(new WeakRef(value.facts));
        return value;
    };"""


def metrics(browser):
    browser.command("HeapProfiler.collectGarbage")
    found = {each["name"]: each["value"] for each in browser.command("Performance.getMetrics")["metrics"]}
    return {**{name: found[name] for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners")},
            "runs": browser.script("return (globalThis.seen ?? []).filter((facts) => facts.deref()).length")}


def test_nothing_grows_with_the_updates(session):
    growing = Growing(session, "leaking", STAGES[1:3])
    browser = session.browser
    server = session.server("leaking", lambda: growing.path)
    browser.command("Performance.enable")
    hook = browser.command("Page.addScriptToEvaluateOnNewDocument", source=SEEN)["identifier"]
    session.open(server, f"/runs/{LIVE_RUN}")
    browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=hook)
    browser.wait_ready()
    seen = []
    for turn in range(9):
        before = title_of(session)
        growing.show((turn + 1) % 2)
        session.wait("later data", lambda: title_of(session) != before)
        time.sleep(0.5)
        if turn in (2, 8): # the same data
            browser.driver.get_log("performance")
            seen.append(metrics(browser))
    print(f"# after 3 and after 9 updates: {seen}", flush=True)
    for name, slack in (("JSHeapUsedSize", 2e6), ("Nodes", 50), ("JSEventListeners", 3), ("runs", 0)):
        assert seen[1][name] <= seen[0][name] + slack, f"{name} grows from {seen[0][name]} to {seen[1][name]}"


def test_a_page_shows_gpus_from_when_they_are_used(session):
    growing = Growing(session, "gains", (("running", 600), ("gpu", 600)))
    tracks = "return [...document.querySelectorAll('.timeline-tracks .timeline-names b')].map((name) => name.innerText)"
    session.open(session.server("gains", lambda: growing.path), f"/runs/{LIVE_RUN}")
    session.browser.wait_ready()
    before = session.browser.script(tracks)
    growing.show(1)
    session.wait("tracks of GPUs", lambda: set(session.browser.script(tracks)) - set(before) == {"GPUs", "GPU memory"})
    same("height of the curves", *session.browser.script("""
        const place = document.querySelector(".timeline-tracks");
        return ["canvas", ".timeline-names"].map((of) => place.querySelector(of).getBoundingClientRect().height);"""))
    session.silent("a page that gains GPUs")


def test_a_large_run_is_live(session):
    growing = Growing(session, "large", (("running", PROCESSES), ("running", PROCESSES + 1000)))
    browser = session.browser
    server = session.server("large", lambda: growing.path)
    browser.command("Performance.enable")
    session.open(server, f"/runs/{LIVE_RUN}")
    browser.wait_ready()
    before = title_of(session)
    growing.show(1)
    began = time.monotonic()
    session.wait("later data", lambda: title_of(session) != before)
    print(f"# shown {time.monotonic() - began:.1f} s after the commit", flush=True)
    time.sleep(1)
    found = metrics(browser)
    elements = browser.script("return document.querySelectorAll('*').length")
    print(f"# {json.dumps(found)}, {elements} elements", flush=True)
    assert found["JSHeapUsedSize"] <= HEAP_BYTES_MAX and elements <= ELEMENTS_MAX, (found, elements)
    session.silent("a large run")


def main():
    options = arguments(__doc__)
    with contextlib.ExitStack() as held:
        try:
            browser = held.enter_context(Chromium())
        except Skip as reason:
            return skip_all("serve-dashboard", reason)
        session = Session(options.build, browser, held)
        return run_tests("serve-dashboard", find_tests(globals()), lambda test: test(session), options.names)


if __name__ == "__main__":
    sys.exit(main())
