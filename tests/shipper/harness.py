"""Shared by the tests of tracer-shipper: stores, the program, and a faulty proxy.

The lake is a real ClickHouse (tests/lake/lake.py), the stores are created by the real correlator
from recordings (tests/golden), and nginx provides TLS.
"""

import contextlib
import json
import pathlib
import random
import re
import select
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "lake")]
from lake import Lake, QueryError, Unavailable, free_port, with_engine  # noqa: E402,F401
from daemons import Daemon  # noqa: E402
from testing import (ENVIRONMENT, Skip, same, wait_until)  # noqa: E402,F401

ENTITIES = {path.stem: path.read_text() for path in (ROOT / "common/store/entities").glob("*.sql")}
# Prevents a silent name server from exceeding a test's time limit.
IMPATIENT = {"RES_OPTIONS": "timeout:1 attempts:1"}
ENVIRONMENT.update(IMPATIENT)
KEYS = {"samples": ("host_id", "process_id", "boot_ns"), "host_samples": ("host_id", "unix_ns"),
        "file_system_samples": ("host_id", "unix_ns", "mount_point")}


# ---- stores --------------------------------------------------------------------------------


def text_of(data):
    """As in docs/shipping.md: bytes that are not UTF-8 become \\xHH."""
    return data.decode(errors="backslashreplace")


def store_rows(path, entity):
    """{key: row} expected in the lake, computed with SQLite and Python only."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = text_of
    db.row_factory = sqlite3.Row
    rows = {}
    for found in db.execute(ENTITIES[entity], {"cursor": -1, "limit": 1 << 60}):
        row = dict(found)
        for name, value in row.items():
            if isinstance(value, bytes):
                row[name] = [text_of(word) for word in value.split(b"\0")[:-1]]
            elif name == "arguments" and value is None:
                row[name] = []  # arrays in ClickHouse cannot be NULL
        rows[tuple(row[name] for name in KEYS.get(entity, ("host_id", "id")))] = row
    db.close()
    return rows


def store_columns(path, entity):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = [column[0] for column in db.execute(ENTITIES[entity], {"cursor": 0, "limit": 0}).description]
    db.close()
    return names


# ---- the lake ------------------------------------------------------------------------------


def make_tables(lake, schema):
    """Creates empty tables with the lake's own schema; `schema` is the generated file."""
    lake.query("DROP DATABASE IF EXISTS tracer")
    lake.query("CREATE DATABASE tracer")
    for statement in (schema / "lake-one-node-tables.sql").read_text().split("\n--;\n")[1:]:
        lake.query(statement, database="tracer")


def lake_rows(lake, entity, columns):
    answer = lake.query(
        f"SELECT {', '.join(columns)} FROM tracer.{entity}_rows FINAL FORMAT JSONEachRow",
        output_format_json_quote_64bit_integers=0)
    rows = {}
    for line in answer.splitlines():
        row = json.loads(line)
        rows[tuple(row[name] for name in KEYS.get(entity, ("host_id", "id")))] = row
    return rows


def compare(lake, path, leave_out=()):
    """Checks that the lake has exactly the rows of the store, by key and content."""
    total = 0
    for entity in ENTITIES:
        columns = [name for name in store_columns(path, entity) if f"{entity}.{name}" not in leave_out]
        expected, found = store_rows(path, entity), lake_rows(lake, entity, columns)
        assert found.keys() == expected.keys(), (
            f"{entity}: {len(expected.keys() - found.keys())} of {len(expected)} rows are missing, "
            f"{len(found.keys() - expected.keys())} are too many")
        for key, row in expected.items():
            wanted = {name: row[name] for name in columns}
            same(f"{entity} {key}", found[key], wanted)
        total += len(expected)
    return total


# ---- the program ----------------------------------------------------------------------------


class Shipper(Daemon):
    """tracer-shipper, running."""

    def __init__(self, program, directory, store, *options, url=None, wait=True, **more):
        self.state = directory / "state"
        self.state.mkdir(exist_ok=True)
        self.arguments = [program, "--config", self.config(directory, more), "--store", store, "--state",
                          self.state, *(["--lake", url] if url else []), *options]
        # One that is killed leaves what it has in TMPDIR.
        super().__init__("shipper", self.arguments, directory / "shipper.log",
                         {**ENVIRONMENT, "TMPDIR": str(directory)}, None)
        if wait:
            self.wait_ready()

    @staticmethod
    def config(directory, more):
        path = directory / "shipper.yaml"
        path.write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in more.items()) + "\n")
        return path

    def status(self):
        try:
            return json.loads((self.state / "status.json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}


def settings_for(lake, **more):
    """Configuration of a lake; `more` is added to lake:."""
    return {"user": "shipper", "password-file": str(lake.secret("shipper")), **more}


# ---- faults --------------------------------------------------------------------------------


class Listener:
    """Serves each connection with serve() in its own thread; begin() supplies further arguments, in order."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Wakes accept() before closing: a descriptor closed under it could be reused by the next listener."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.socket.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                threading.Thread(target=self.serve_one, args=(client, *self.begin()), daemon=True).start()

    def begin(self):
        return ()

    def serve_one(self, client, *begun):
        with contextlib.suppress(OSError), client:
            self.serve(client, *begun)


class Proxy(Listener):
    """A faulty proxy between the shipper and the lake. `mood(proxy)` is chosen for each connection:
    pass; cut (after some bytes of the upload); deaf (the lake gets everything, the answer is
    dropped); hang (nothing moves); refuse; slow; twice (the whole request is sent again later on
    another connection: duplicated and reordered)."""

    def __init__(self, port, mood=lambda: "pass", seed=1):
        self.target = ("127.0.0.1", port)
        self.mood = mood
        self.random = random.Random(seed)
        self.counts = {}
        self.clients = set()
        self.kept = []  # complete requests, to be sent again
        self.stopped = False
        super().__init__()

    def __exit__(self, *_):
        self.stopped = True
        super().__exit__()

    def begin(self):
        mood = self.mood()
        self.counts[mood] = self.counts.get(mood, 0) + 1
        return (mood,)

    def serve(self, client, mood):
        self.clients.add(client)
        try:
            self.relay(client, mood)
        finally:
            self.clients.discard(client)

    def cut_off(self):
        """Cuts off the lake: new and existing connections."""
        self.mood = lambda: "refuse"
        for client in list(self.clients):
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def relay(self, client, mood):
        if mood == "refuse":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return
        if mood == "hang":
            while not self.stopped and not select.select([client], [], [], 0.2)[0]:
                pass
            time.sleep(0 if self.stopped else 5)
            return
        limit = self.random.randrange(1, 40000) if mood == "cut" else None
        sent, request = 0, bytearray()
        with socket.create_connection(self.target, timeout=60) as server:
            while True:
                readable = select.select([client, server], [], [], 60)[0]
                if not readable:
                    return
                if client in readable:
                    data = client.recv(16384)
                    if not data:
                        break
                    if limit is not None and sent + len(data) > limit:
                        server.sendall(data[:limit - sent])
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                        return
                    sent += len(data)
                    request += data
                    server.sendall(data)
                if server in readable:
                    data = server.recv(16384)
                    if mood == "slow":
                        time.sleep(0.3)
                    if mood == "deaf" or not data:
                        return
                    client.sendall(data)
                    if mood == "twice" and data.startswith(b"HTTP/1.1 200"):
                        self.kept.append(bytes(request))
                        request.clear()

    def resend(self):
        """Sends the kept requests in random order."""
        self.random.shuffle(self.kept)
        for request in self.kept:
            with socket.create_connection(self.target, timeout=60) as server:
                server.sendall(request)
                server.settimeout(60)
                assert server.recv(64).startswith(b"HTTP/1.1 200"), "a request that was taken once"
        count = len(self.kept)
        self.kept.clear()
        return count


class Answers(Listener):
    """A server that is not a lake. `answer` is bytes, or a function of the request's head that
    returns bytes, or an endless sequence of pieces."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        super().__init__()

    def serve(self, client):
        client.settimeout(10)
        while self.request(client):
            pass

    def request(self, client):
        data = b""
        while b"\r\n\r\n" not in data:
            more = client.recv(65536)
            if not more:
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        size = re.search(rb"(?i)content-length: (\d+)", head)
        while size and len(body) < int(size[1]):
            more = client.recv(65536)
            if not more:
                return False
            body += more
        self.requests.append((head.decode(), body))
        answer = self.answer(head.decode()) if callable(self.answer) else self.answer
        if not isinstance(answer, bytes):
            for piece in answer: # until the client hangs up
                client.sendall(piece)
            return False
        client.sendall(answer)
        return b"Content-Length" in answer


def http(status, body=b"", *headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


# ---- TLS ---------------------------------------------------------------------------------


class Authority:
    """The test's certificate authority."""

    def __init__(self, directory, name="authority"):
        self.directory, self.name = directory, name
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                     "-keyout", f"{name}.key", "-out", f"{name}.pem")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)

    def issue(self, name, host, begin=None, end=None):
        """Issues a certificate for `host`, valid now or between two moments (UTC, YYYYMMDDHHMMSSZ)."""
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={host}", "-keyout", f"{name}.key",
                     "-out", f"{name}.csr")
        (self.directory / "extensions").write_text(
            f"subjectAltName={'IP' if host[0].isdigit() else 'DNS'}:{host}\n")
        if begin:
            (self.directory / "index.txt").write_text("")
            (self.directory / "ca.cnf").write_text(
                "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\n"
                "default_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n")
            self.openssl("ca", "-batch", "-config", "ca.cnf", "-cert", f"{self.name}.pem", "-keyfile",
                         f"{self.name}.key", "-in", f"{name}.csr", "-out", f"{name}.pem", "-notext",
                         "-startdate", begin, "-enddate", end, "-extfile", "extensions")
        else:
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.pem", "-CAkey",
                         f"{self.name}.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions",
                         "-out", f"{name}.pem")
        return self.directory / f"{name}.pem", self.directory / f"{name}.key"


class Nginx:
    """A TLS proxy for the lake, on its own port."""

    def __init__(self, directory, lake, certificate, more=""):
        if not shutil.which("nginx"):
            raise Skip("nginx is not installed")
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        path = directory / "nginx.conf"
        path.write_text(f"""daemon off; master_process off; pid {directory}/nginx.pid;
            error_log {directory}/nginx.log; events {{}}
            http {{ access_log off; client_max_body_size 100m; client_body_temp_path {directory}/nginx-body;
              proxy_temp_path {directory}/nginx-proxy; fastcgi_temp_path {directory}/nginx-f;
              uwsgi_temp_path {directory}/nginx-u; scgi_temp_path {directory}/nginx-s;
              server {{ listen 127.0.0.1:{self.port} ssl; ssl_certificate {certificate[0]};
                ssl_certificate_key {certificate[1]}; {more}
                location / {{ proxy_pass {lake.url}; }} }} }}""")
        with open(directory / "nginx.log", "ab") as log:
            self.process = subprocess.Popen(["nginx", "-e", directory / "nginx.log", "-c", path], stdout=log,
                                            stderr=log)
        wait_until("nginx listens", self.listens)

    def listens(self):
        assert self.process.poll() is None, "nginx ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def tls(directory, lake, more="", valid=()):
    """The URL of a TLS server in front of the lake, the file to trust it by, and the authority that issued its certificate."""
    authority = Authority(directory)
    with Nginx(directory, lake, authority.issue("server", "127.0.0.1", *valid), more) as server:
        yield server.url, str(directory / "authority.pem"), authority
