"""Firefox, driven by WebDriver BiDi over its own websocket: Debian 12 has no geckodriver.

    with Firefox() as browser:
        browser.open(path)
        browser.script("document.title")    # an expression, maybe a promise; its value as JSON
        browser.complaints()                # what it wrote to the console, and requested
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]
from chromium import READY  # noqa: E402
from daemons import die_with_parent  # noqa: E402 (found by the path above)
from testing import Skip, free_port, wait_until  # noqa: E402

try:
    import websocket
except ImportError:
    websocket = None

START_LIMIT_S = ANSWER_LIMIT_S = 120
# Nothing of its own is requested, shown or asked. What a page requests fails at this proxy, where nothing listens.
PREFERENCES = {
    "app.normandy.enabled": False, "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank", "browser.startup.page": 0, "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "network.proxy.type": 1,
    "remote.prefs.recommended": True, "toolkit.telemetry.enabled": False,
}


def require():
    missing = [] if shutil.which("firefox-esr") else ["firefox-esr"]
    if websocket is None:
        missing.append("python3-websocket")
    if missing:
        raise Skip(f"{', '.join(missing)} not installed")


class Firefox:
    def __init__(self):
        require()
        self.directory = tempfile.TemporaryDirectory(prefix="tracer-firefox-", ignore_cleanup_errors=True)
        home = pathlib.Path(self.directory.name)
        profile = home / "profile"
        profile.mkdir()
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()))
        port = free_port()
        self.log_path = home / "log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                ["firefox-esr", "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", str(port),
                 "--width", "1366", "--height", "900", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent,
                env={**os.environ, "HOME": str(home), "TMPDIR": str(home), "MOZ_CRASHREPORTER_DISABLE": "1"})
        self.socket, self.number, self.events = None, 0, []
        try:
            wait_until("Firefox listens", lambda: self.connect(port), START_LIMIT_S)
            self.ask("session.new", capabilities={})
            self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
            self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self.close()
            raise

    def connect(self, port):
        assert self.process.poll() is None, f"Firefox has ended: {self.log_path.read_text(errors='replace')[-1500:]}"
        try:
            self.socket = websocket.create_connection(f"ws://127.0.0.1:{port}/session", timeout=ANSWER_LIMIT_S,
                                                      suppress_origin=True, http_no_proxy=["127.0.0.1"])
        except (OSError, websocket.WebSocketException):
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.socket:
            self.socket.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.directory.cleanup()

    def ask(self, method, **parameters):
        """Sends a command and returns its result; events that come before it are kept."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") != self.number:
                self.events.append(message)
                continue
            assert message["type"] == "success", f"{method}: {message.get('error')}: {message.get('message')}"
            return message["result"]

    def open(self, path, fragment=""):
        """Returns when the page has drawn all of its parts."""
        self.ask("browsingContext.navigate", context=self.context, wait="complete",
                 url=pathlib.Path(path).resolve().as_uri() + fragment)
        wait_until("the page is ready", lambda: self.script(f"(() => {{ {READY} }})()"), ANSWER_LIMIT_S)

    def script(self, expression):
        answer = self.ask("script.evaluate", target={"context": self.context}, awaitPromise=True, userActivation=True,
                          expression=f"(async () => JSON.stringify(await ({expression})))()")
        assert answer["type"] == "success", f"{expression}: {answer['exceptionDetails']['text']}"
        return json.loads(answer["result"].get("value", "null"))

    def resize(self, width, height):
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def screenshot(self):
        """A PNG in base64."""
        return self.ask("browsingContext.captureScreenshot", context=self.context)["data"]

    def complaints(self):
        """What the console says and what was requested since the last call, as texts."""
        self.script("null")
        time.sleep(0.2)
        self.script("null")
        found = []
        for event in self.events:
            if event.get("method") == "log.entryAdded":
                found.append(f"{event['params']['level']}: {event['params'].get('text')}")
            elif event.get("method") == "network.beforeRequestSent":
                request = event["params"]["request"]["url"]
                if event["params"].get("navigation") is None and not request.startswith(("blob:", "data:", "about:")):
                    found.append(f"request: {request[:200]}")
        self.events.clear()
        return found
