"""The Chromium of the distribution, driven by its own chromedriver; without a network, or with one server.

    with Chromium() as browser:
        browser.open(path)
        browser.script("return document.title")
        browser.complaints()        # what it wrote to the console, and requested

Raises Skip where the packages are not installed.
"""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import Skip, wait_until  # noqa: E402 (found by the path above)

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
           "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1", "--lang=en-US")
SIZE = (1366, 900)
READY_LIMIT_S = 120
# In the page: whether all of its parts are drawn, or it has said that they cannot be.
READY = """return document.querySelector("#about .part")?.childElementCount > 0 ||
    /damaged/.test(document.querySelector("#loading")?.textContent ?? "")"""
# Keys of the DevTools protocol.
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
        "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33, "Backspace": 8}


def require():
    """Skips where it cannot be had: Ubuntu has Chromium only as a snap, which a test cannot confine."""
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    if webdriver is None:
        missing.append("python3-selenium")
    if missing:
        raise Skip(f"{', '.join(missing)} not installed")


class Chromium:
    """`options`: more of them; `logs`: whether console and requests are recorded, `trace`: what the threads do. Both cost
    time."""

    def __init__(self, *options, logs=True, trace=False, size=SIZE):
        require()
        self.directory = tempfile.TemporaryDirectory(prefix="tracer-chromium-", ignore_cleanup_errors=True)
        home = pathlib.Path(self.directory.name)
        chosen = webdriver.ChromeOptions()
        chosen.binary_location = shutil.which("chromium")
        for option in (*OPTIONS, f"--user-data-dir={home / 'profile'}", f"--window-size={size[0]},{size[1]}", *options):
            chosen.add_argument(option)
        self.logs, self.threads = logs, {}
        if logs:
            chosen.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "XDG_CONFIG_HOME": str(home / "config"),
                       "XDG_CACHE_HOME": str(home / "cache"), "CHROMIUM_FLAGS": "", "NO_PROXY": "localhost,127.0.0.1"}
        if trace:
            chosen.set_capability("goog:loggingPrefs", {"performance": "ALL"})
            chosen.add_experimental_option("perfLoggingPrefs", {
                "enableNetwork": False, "enablePage": False, "traceCategories": "toplevel"})
        with changed_environment(NO_PROXY="localhost,127.0.0.1", no_proxy="localhost,127.0.0.1"):
            self.driver = webdriver.Chrome(options=chosen, service=Service(shutil.which("chromedriver"), env=environment))
        self.driver.set_script_timeout(READY_LIMIT_S)
        self.command("Network.enable")
        self.connect(None)
        self.complaints()  # of what Chromium itself opened
        self.downloads = home / "downloads"
        self.downloads.mkdir()
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(WebDriverException):
            self.driver.quit()
        self.directory.cleanup()

    def connect(self, origin):
        """Lets it ask this server, such as "http://127.0.0.1:7070"; None: nothing."""
        self.origin = origin
        self.command("Network.emulateNetworkConditions", offline=origin is None, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def command(self, name, **arguments):
        """Of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def script_async(self, text, *arguments):
        """Returns what the script gives to its last argument, a function."""
        return self.driver.execute_async_script(text, *arguments)

    def resize(self, width, height=SIZE[1]):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, theme):
        """As the system's setting: "light" or "dark"."""
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def open(self, path, fragment=""):
        """Returns when the page has drawn all of its parts."""
        self.driver.get("about:blank")
        self.driver.get(pathlib.Path(path).resolve().as_uri() + fragment)
        self.wait_ready()

    def wait_ready(self):
        wait_until("the page is ready", lambda: self.script(READY), READY_LIMIT_S)
        self.settle()

    def settle(self):
        """Waits until what was begun is drawn."""
        self.script_async("""const done = arguments[arguments.length - 1];
            let left = 3;
            const next = () => (left-- > 0 ? requestAnimationFrame(next) : setTimeout(done));
            next();""")

    def screenshot(self, path, whole=False):
        """Of the window, or of the whole page."""
        more = {}
        if whole:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {
                "x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}}
        image = base64.b64decode(self.command("Page.captureScreenshot", format="png", **more)["data"])
        pathlib.Path(path).write_bytes(image)
        return image

    def print(self):
        """The page as a PDF."""
        return base64.b64decode(self.command("Page.printToPDF", printBackground=False)["data"])

    def complaints(self):
        """What the console says and what was requested since the last call, as texts."""
        if not self.logs:
            return []
        found = [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated", "Network.webTransportCreated"):
                url = message["params"].get("request", message["params"])["url"]
                if not url.startswith(("about:", "blob:", "file:", "data:", *([f"{self.origin}/"] if self.origin else []))) or (
                        url.startswith("file:") and message["params"].get("type") != "Document"):
                    found.append(f"request: {url[:200]}")
        return found

    def longest_task_ms(self):
        """Of the page's main thread since the last call: how long the longest task was on a processor."""
        entries = self.driver.get_log("performance")  # asks for what was traced, which then comes
        time.sleep(1)
        entries += self.driver.get_log("performance")
        events = [message["params"] for message in (json.loads(entry["message"])["message"] for entry in entries)
                  if message["method"] == "Tracing.dataCollected"]
        self.threads |= {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
        return max((event.get("tdur", 0) / 1000 for event in events if event["name"].endswith("RunTask") and
                    self.threads.get((event["pid"], event["tid"])) == "CrRendererMain"), default=None)

    # ---- input, as from a person ------------------------------------------------------

    def mouse(self, kind, x, y, **more):
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, count=1):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=count)
        self.settle()

    def drag(self, start, end, steps=8, modifiers=0):
        self.move(*start)
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for step in range(1, steps + 1):
            self.mouse("mouseMoved", *(a + (b - a) * step / steps for a, b in zip(start, end)), button="left", buttons=1,
                       modifiers=modifiers)
        self.mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, delta_y, delta_x=0, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=delta_x, deltaY=delta_y, modifiers=modifiers)

    def key(self, name, modifiers=0):
        """One of KEYS, or a letter."""
        code = KEYS.get(name, ord(name.upper()) if len(name) == 1 else 0)
        more = {"key": name, "windowsVirtualKeyCode": code, "modifiers": modifiers,
                "code": f"Key{name.upper()}" if len(name) == 1 and name.isalpha() else name}
        typed = {"text": "\r" if name == "Enter" else name} if len(name) == 1 or name == "Enter" else {}
        self.command("Input.dispatchKeyEvent", type="keyDown" if typed else "rawKeyDown", **more, **typed)
        self.command("Input.dispatchKeyEvent", type="keyUp", **more)

    def hold(self, name, seconds):
        """Keeps a letter pressed."""
        more = {"key": name, "windowsVirtualKeyCode": ord(name.upper()), "code": f"Key{name.upper()}"}
        self.command("Input.dispatchKeyEvent", type="keyDown", text=name, **more)
        time.sleep(seconds)
        self.command("Input.dispatchKeyEvent", type="keyUp", **more)
        self.settle()

    def type(self, text):
        self.command("Input.insertText", text=text)
        self.settle()

    def downloaded(self):
        """The bytes of the file that was saved, once it is there."""
        def file():
            return [path for path in self.downloads.iterdir() if path.suffix != ".crdownload"]
        wait_until("a file was saved", file, 20)
        path, = file()
        content = path.read_bytes()
        path.unlink()
        return path.name, content


@contextlib.contextmanager
def changed_environment(**changes):
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
