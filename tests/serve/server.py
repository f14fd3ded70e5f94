"""A real `tracer serve`, and requests to it.

    with Server(build, store) as server:
        server.get("/api/v1/runs?limit=2")             # as one with the token
        server.get("/api/v1/runs", uid=1000)           # as that user, over the Unix socket
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import ENVIRONMENT, wait_until  # noqa: E402 (found by the path above)

ANSWER_S = 120


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if len(lines[0].split()) > 1 else 0
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}

    def json(self):
        return json.loads(self.body)

    def reason(self):
        return self.json()["error"]


class Server:
    def __init__(self, build, store, *options, tcp=True, unix=True):
        self.tracer = pathlib.Path(build).resolve() / "cli/tracer"
        self.directory = tempfile.TemporaryDirectory(prefix="tracer-serve-")
        os.chmod(self.directory.name, 0o755)
        self.path = f"{self.directory.name}/serve.sock"
        source = ["--store", str(store)] if store else []
        listeners = ["--listen", "127.0.0.1:0"] * tcp + ["--socket", self.path] * unix
        self.log = open(f"{self.directory.name}/log", "w+")
        self.process = subprocess.Popen([self.tracer, "serve", *source, *listeners, *options], stdout=self.log,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        try:
            wait_until("the server serves", lambda: self.process.poll() is not None or "serves" in self.said())
            assert self.process.poll() is None, self.said()
        except BaseException:
            self.__exit__()
            raise
        found = re.search(r"http://(\S+):(\d+)/(?:#token=(\w+))?", self.said())
        self.port, self.token = (int(found[2]), found[3]) if found else (None, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.log.close()
        self.directory.cleanup()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def said(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def connect(self, unix=False):
        if unix:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(self.path)
        else:
            connection = socket.create_connection(("127.0.0.1", self.port))
        connection.settimeout(ANSWER_S)
        return connection

    def send(self, raw, unix=False):
        """What comes back for these bytes, until the server closes the connection."""
        with contextlib.closing(self.connect(unix)) as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(raw)
                return b"".join(iter(lambda: connection.recv(1 << 16), b""))
            return b""

    def request(self, target, method="GET", host=None, **headers):
        headers = {"Host": host or f"127.0.0.1:{self.port}", "Connection": "close",
                   **{name.replace("_", "-"): value for name, value in headers.items()}}
        return f"{method} {target} HTTP/1.1\r\n{''.join(f'{name}: {value}{chr(13)}{chr(10)}' for name, value in headers.items())}\r\n".encode()

    def get(self, target, uid=None, gid=None, groups=(), **headers):
        """As one with the token; with `uid`, as that user over the Unix socket, from a process of theirs."""
        if uid is None:
            return Answer(self.send(self.request(target, Authorization=f"Bearer {self.token}", **headers)))
        become = {"user": uid, "group": uid if gid is None else gid, "extra_groups": groups} if os.geteuid() == 0 else {}
        script = ("import socket, sys; c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1]); "
                  "c.sendall(sys.stdin.buffer.read())\nwhile d := c.recv(65536): sys.stdout.buffer.write(d)")
        result = subprocess.run(["/usr/bin/python3", "-c", script, self.path], input=self.request(target, host="localhost", **headers),
                                capture_output=True, check=True, timeout=ANSWER_S, **become)
        return Answer(result.stdout)
