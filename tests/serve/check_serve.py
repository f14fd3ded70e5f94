#!/usr/bin/env python3
"""tracer serve: its answers are those of the commands; who may ask; hostile requests, slow clients, ends of children.

usage: check_serve.py BUILD-DIRECTORY [NAME...]
"""

import concurrent.futures
import contextlib
import functools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zlib

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from server import ANSWER_S, Answer, Server  # noqa: E402 (found by the path above)
from testing import ENVIRONMENT, Skip, arguments, find_tests, run_tests, same, wait_until  # noqa: E402

SLOW_CLIENTS = 200
USERS_CONNECTIONS = 100  # as in server.c
FUZZ_REQUESTS = 1500
UNFINISHED_S = 1  # for what the server takes for a part of a request
BIG_RUN = 20000
MADE_RUN = "780ab6e67011bb18"  # of make_run


class Serve:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.tracer = self.build / "cli/tracer"
        self.held = contextlib.ExitStack()
        self.directory = pathlib.Path(self.held.enter_context(tempfile.TemporaryDirectory(prefix="tracer-serve-test-")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.held.close()

    @functools.cache
    def store(self, name="series"):
        path = self.directory / f"{name}.db"
        command = ([self.build / "tests/page/make_run", path, "succeeded", str(BIG_RUN)] if name == "big" else
                   [self.build / "tests/page/make_run", path, "running", str(BIG_RUN)] if name == "running" else
                   [self.build / "tests/cli/make_store", path, name])
        subprocess.run(command, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        return path

    @functools.cache
    def server(self):
        """One for all tests that do not harm it."""
        return self.held.enter_context(Server(self.build, self.store()))

    def ask(self, *words):
        result = subprocess.run([self.tracer, *words, "--store", self.store()], capture_output=True, check=False, env=ENVIRONMENT)
        return result.stdout


def alive(server):
    same("the server's end", server.process.poll(), None)
    same("status", server.get("/api/v1/runs?limit=1").status, 200)


# ---- answers


def test_answers_are_those_of_the_commands(serve):
    server = serve.server()
    for path, words in (("runs", ["runs"]), ("runs?limit=3&all=true", ["runs", "--limit", "3", "--all"]),
                        ("runs?status=failed", ["runs", "--status", "failed"]), ("runs/latest", ["show"]),
                        ("runs/nightly.sh", ["show", "nightly.sh"]), ("runs/latest/failures", ["failed", "latest"]),
                        ("runs/latest/tune", ["tune"]), ("runs/latest/cost", ["cost", "latest"]),
                        ("compare/nightly.sh/nightly-new.sh", ["compare", "nightly.sh", "nightly-new.sh"]),
                        ("trends/nightly.sh", ["tune", "--trend", "nightly.sh"]), ("right-sizes", ["tune", "--right-size"]),
                        ("queries/tasks?run=latest", ["query", "tasks", "--run", "latest"]),
                        ("queries", ["query", "--list"])):
        answer = server.get(f"/api/v1/{path}")
        same(f"{path}: status", (answer.status, answer.headers["content-type"]), (200, "application/json"))
        same(path, answer.json(), json.loads(serve.ask(*words, "--json") if words != ["query", "--list"] else
                                             subprocess.run([serve.tracer, *words, "--json"], capture_output=True, check=True,
                                                            env=ENVIRONMENT).stdout))


def test_formats(serve):
    server = serve.server()
    for name, kind in (("csv", "text/csv; charset=utf-8"), ("ndjson", "application/x-ndjson")):
        answer = server.get(f"/api/v1/runs?format={name}")
        same(name, (answer.status, answer.headers["content-type"]), (200, kind))
        same(f"{name}: rows", answer.body, serve.ask("runs", "--format", name))
    same("table", server.get("/api/v1/runs?format=table").status, 400)
    perfetto = server.get("/api/v1/runs/latest/export/perfetto")
    same("export", perfetto.body, serve.ask("export", "--format", "perfetto"))
    for name, kind in (("perfetto", "application/json"), ("csv", "text/csv; charset=utf-8"), ("versions", "application/yaml"),
                       ("methods", "text/plain; charset=utf-8")):
        same(f"type of {name}", server.get(f"/api/v1/runs/latest/export/{name}").headers["content-type"], kind)
    page = server.get("/api/v1/runs/latest/page")
    same("page", (page.status, page.headers["content-type"]), (200, "application/octet-stream"))


def page_parts(data):
    """The facts of a page's data, and all the rest."""
    data = zlib.decompress(data)
    end = 4 + int.from_bytes(data[:4], "little")
    head = json.loads(data[4:end])
    return head.pop("facts"), (head, data[end:])


def test_the_page_is_that_of_the_report(serve):
    """With its findings, and in the two parts that the page of a large run asks for."""
    store = serve.store("running")
    report = subprocess.run([serve.tracer, "report", MADE_RUN, "--format", "data", "--store", store], capture_output=True,
                            check=True, env=ENVIRONMENT).stdout
    with Server(serve.build, store) as server:
        path = f"/api/v1/runs/{MADE_RUN}"
        same("the whole", server.get(f"{path}/page").body, report)
        facts, rest = page_parts(server.get(f"{path}/page?no-findings=true").body)
        same("findings", facts["tune"]["findings"], None)
        facts["tune"]["findings"] = server.get(f"{path}/tune").json()["findings"]
        whole_facts, whole_rest = page_parts(report)
        assert whole_facts["tune"]["findings"], "the run has no findings"
        same("facts", facts, whole_facts)
        same("tables", rest, whole_rest)


def test_errors_say_what_is_wrong(serve):
    server = serve.server()
    for path, status, reason in (("/api/v1/runs/nosuchrun", 404, "no run has a name"), ("/api/v1/runs?limit=x", 400, "--limit takes"),
                                 ("/api/v1/queries/nosuch", 400, "unknown question"), ("/api/v1/queries/tasks?run=latest&nosuch=1", 400, "no parameter 'nosuch'"),
                                 ("/api/v1/nosuch", 404, "no such answer"), ("/nosuch", 404, "no such page"),
                                 ("/api/v1/hosts?host=nosuch", 404, "no host is named"), ("/api/v1/top?host=nosuch", 404, "no host is named"),
                                 ("/api/v1/runs/latest/export/nosuch", 400, "--format takes")):
        answer = server.get(path)
        same(path, answer.status, status)
        assert reason in answer.reason(), f"{path}: {answer.reason()}"


def test_every_path_that_is_described_is_answered(serve):
    server = serve.server()
    host = server.get("/api/v1/queries/hosts").json()["rows"][0]["id"]
    values = {"run": "latest", "a": "nightly.sh", "b": "nightly-new.sh", "trend": "nightly.sh", "name": "nightly.sh", "subject": "nightly.sh",
              "host": host, "query": "runs", "window": "7d"}
    paths = server.get("/api/v1/openapi.json").json()["paths"]
    for path, item in paths.items():
        given = {}
        for parameter in item["get"]["parameters"]:
            if not parameter["required"] and parameter["name"] != "window":
                continue
            chosen = values.get(parameter["name"]) or parameter["schema"]["enum"][0]
            if parameter["in"] == "query":
                given[parameter["name"]] = chosen
            path = path.replace(f"{{{parameter['name']}}}", chosen)
        if path != "/api/v1/rows/runs":  # of tracer itself, which names the parameters of the query
            same(path, server.get(f"{path}?{urllib.parse.urlencode(given)}").status, 200)
    for path, name, words in (("runs/{run}/export/{format}", "format", {"perfetto", "otlp", "crate"}), ("summary", "window", set()), ("summary", "user", set())):
        found = [each for each in paths[f"/api/v1/{path}"]["get"]["parameters"] if each["name"] == name]
        same(f"{path}: {name}", (len(found), words - set(found[0]["schema"].get("enum", []))), (1, set()))


def test_an_answer_that_is_known_is_not_sent_again(serve):
    server = serve.server()
    for path in ("/api/v1/runs", "/"):
        first = server.get(path)
        again = server.get(path, If_None_Match=first.headers["etag"])
        same(path, (again.status, again.body, again.headers["etag"]), (304, b"", first.headers["etag"]))
        same("with another tag", server.get(path, If_None_Match='"0"').status, 200)


def test_a_later_period_with_nothing_new_is_no_other_answer(serve):
    server = serve.server()
    paths = ("/api/v1/sweep", "/api/v1/sweep?by=host", "/api/v1/sweep?by=user", "/api/v1/cost", "/api/v1/cost?by=host&since=3d")
    first = {path: server.get(path) for path in paths}
    for path, before in first.items():  # no answer is kept so long that it would still be the one before
        wait_until("it is answered anew", lambda path=path, before=before: server.get(path).body != before.body)
        same(path, server.get(path, If_None_Match=before.headers["etag"]).status, 304)
    same("of another question", server.get(paths[0], If_None_Match=first[paths[3]].headers["etag"]).status, 200)


def test_new_rows_are_seen_at_once(serve):
    store = serve.directory / "changing.db"
    shutil.copy(serve.store(), store)
    with Server(serve.build, store) as server:
        before = server.get("/api/v1/runs?limit=1")
        with contextlib.closing(sqlite3.connect(store)) as database, database:
            database.execute("UPDATE runs SET name = 'renamed' WHERE id = (SELECT id FROM runs ORDER BY started_unix_ns DESC LIMIT 1)")
        begun = time.monotonic()
        wait_until("the new name is seen", lambda: server.get("/api/v1/runs?limit=1", If_None_Match=before.headers["etag"]).status == 200
                   and server.get("/api/v1/runs?limit=1").json()["runs"][0]["name"] == "renamed")
        print(f"# seen after {time.monotonic() - begun:.2f} s")


def test_many_who_ask_the_same_cost_one(serve):
    """Their children's processor time is that of a few answers."""
    def children_ticks(pid):
        return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[13:15]))

    with Server(serve.build, serve.store("big")) as server:
        def one(_):
            return server.get("/api/v1/runs/latest").headers["etag"]

        before = children_ticks(server.process.pid)
        one(0)
        cost = children_ticks(server.process.pid) - before
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            tags = set(pool.map(one, range(200)))
        all_of_them = children_ticks(server.process.pid) - before - cost
        print(f"# one answer: {cost} ticks; 200 more: {all_of_them}")
        same("tags", len(tags), 1)
        assert all_of_them <= 40 * max(cost, 1), f"200 answers took {all_of_them} ticks, one {cost}"


# ---- who may ask


def test_without_the_token_there_is_no_data(serve):
    server = serve.server()
    for path in ("/api/v1/runs", "/metrics", "/api/v1/openapi.json", "/api/v1/nosuch"):
        for authorization in (None, "", "Bearer", "Bearer ", f"Bearer {server.token[:-1]}", f"Bearer {server.token}x",
                              f"Basic {server.token}", f"Bearer {'0' * len(server.token)}"):
            headers = {} if authorization is None else {"Authorization": authorization}
            answer = Answer(server.send(server.request(path, **headers)))
            same(f"{path} with {authorization!r}", (answer.status, list(answer.json())), (401, ["error"]))
    same("the token in the query string", Answer(server.send(server.request(f"/api/v1/runs?token={server.token}"))).status, 401)
    same("files of the dashboard", Answer(server.send(server.request("/"))).status, 200)
    same("a lower-case scheme", Answer(server.send(server.request("/api/v1/runs", Authorization=f"bearer {server.token}"))).status, 200)


def test_a_token_in_a_file(serve):
    path = serve.directory / "token"
    for text, mode, reason in (("short", 0o600, "at least 16"), ("0123456789abcdef", 0o644, "token"), ("", 0o600, "token")):
        path.write_text(text)
        path.chmod(mode)
        result = subprocess.run([serve.tracer, "serve", "--store", serve.store(), "--listen", "127.0.0.1:0", "--token-file", path],
                                capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=60)
        same(f"{text!r}, {mode:o}", (result.returncode, result.stdout), (1, ""))
        assert reason in result.stderr and "0123456789abcdef" not in result.stderr, result.stderr
    path.write_text("0123456789abcdef\n")
    path.chmod(0o600)
    with Server(serve.build, serve.store(), "--token-file", path) as server:
        assert "0123456789abcdef" not in server.said(), server.said()
        server.token = "0123456789abcdef"
        alive(server)


def test_only_under_its_own_name(serve):
    server = serve.server()
    port = server.port
    for host, status in ((f"127.0.0.1:{port}", 200), ("localhost", 200), (f"localhost:{port}", 200), (f"[::1]:{port}", 200),
                         ("192.0.2.1", 200), ("tracer.example", 421), (f"evil.example:{port}", 421), ("127.0.0.1.evil.example", 421),
                         ("localhost.evil.example", 421), ("", 421), ("[evil]", 421), ("[", 421), ("x" * 300, 421)):
        same(f"host {host!r}", server.get("/api/v1/runs", host=host or " ").status, status)
    with Server(serve.build, serve.store(), "--host-name", "Tracer.example") as named:
        for host, status in (("tracer.example:7070", 200), ("TRACER.example", 200), ("other.example", 421)):
            same(f"host {host!r}", named.get("/api/v1/runs", host=host).status, status)


def test_pages_of_other_sites_may_not_ask(serve):
    server = serve.server()
    here = f"http://127.0.0.1:{server.port}"
    for headers, status in (({"Origin": here}, 200), ({"Origin": here.replace("http", "https")}, 200), ({"Origin": "http://evil.example"}, 403),
                            ({"Origin": "null"}, 403), ({"Sec_Fetch_Site": "same-origin"}, 200), ({"Sec_Fetch_Site": "none"}, 200),
                            ({"Sec_Fetch_Site": "cross-site"}, 403), ({"Sec_Fetch_Site": "same-site"}, 403),
                            ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}, 403)):
        same(str(headers), server.get("/api/v1/runs", **headers).status, status)
    same("a link from elsewhere", server.get("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status, 200)
    policy = server.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy, policy


def test_a_proxy_names_the_user(serve):
    with Server(serve.build, serve.store(), "--trusted-header", "X-Remote-User") as server:
        same("root", server.get("/api/v1/sweep", X_Remote_User="root").status, 200)
        daemon = server.get("/api/v1/runs", X_Remote_User="daemon")  # user 1, whose the runs are
        same("daemon", (daemon.status, len(daemon.json()["runs"]) > 0), (200, True))
        same("daemon: what needs all", server.get("/api/v1/sweep", X_Remote_User="daemon").status, 403)
        same("nobody", server.get("/api/v1/runs", X_Remote_User="nobody").json()["runs"], [])
        for name in (None, "", "no-such-user", "0", "root daemon"):
            same(f"user {name!r}", server.get("/api/v1/runs", **({} if name is None else {"X_Remote_User": name})).status, 403)
        same("without the token", Answer(server.send(server.request("/api/v1/runs", X_Remote_User="root"))).status, 401)


# ---- hostile requests


def test_options_that_are_not_in_the_table(serve):
    """No file, no store, no lake; no words beyond one value."""
    server = serve.server()
    for name in ("store", "lake", "names", "prices", "centres", "queries", "rules", "output", "sample-sheet", "color", "help", "raw",
                 "shipper", "set", "list", "once", "j", "o", "limi", "-limit", "limit=1 --store"):
        for path in ("runs", "runs/latest", "runs/latest/tune", "runs/latest/cost", "runs/latest/page", "runs/latest/export/csv", "top",
                     "queries/tasks", "status", "hosts", "sweep"):
            answer = server.get(f"/api/v1/{path}?{urllib.parse.quote(name)}=/etc/passwd")
            same(f"{path}?{name}", answer.status, 400)
            assert "root:" not in answer.body.decode("latin-1"), answer.body
    for value in ("1 --all", "1\n--all", "--all", "1' OR 1=1"):
        same(value, server.get(f"/api/v1/runs?limit={urllib.parse.quote(value)}").status, 400)
    for operand in ("--help", "-h", "--store=/etc/passwd", "--", "..", "%2e%2e", "'; DROP TABLE runs"):
        assert server.get(f"/api/v1/runs/{urllib.parse.quote(operand)}").status in (400, 404), operand
    same("a question's own file", server.get("/api/v1/queries/runs?queries=/tmp").status, 400)
    same("names of assets", [server.get(path).status for path in ("/assets/../page", "/assets/..%2f..%2fetc/passwd", "/assets/")], [404] * 3)


def test_only_get(serve):
    server = serve.server()
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get"):
        answer = Answer(server.send(server.request("/api/v1/runs", method, Authorization=f"Bearer {server.token}")))
        assert answer.status in (400, 405), f"{method}: {answer.status}"
    raw = server.request("/api/v1/runs", "POST", Authorization=f"Bearer {server.token}", Content_Length="1000000")
    same("a body", Answer(server.send(raw + b"x" * 1000000)).status in (405, 413), True)
    alive(server)


def test_malformed_requests(serve):
    server = serve.server()
    token = f"Authorization: Bearer {server.token}\r\n"
    host = f"Host: localhost\r\nConnection: close\r\n{token}"
    for raw in (b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 5000, b"GET " + b"/" * 70000 + b" HTTP/1.1\r\n\r\n",
                b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n", f"GET /api/v1/runs?{'a=1&' * 5000} HTTP/1.1\r\n{host}\r\n".encode(),
                f"GET /api/v1/runs?limit=1%00 HTTP/1.1\r\n{host}\r\n".encode(), f"GET /api/v1/runs%00/latest HTTP/1.1\r\n{host}\r\n".encode(),
                f"GET /api/v1/runs?name={'x' * 3000} HTTP/1.1\r\n{host}\r\n".encode(), f"GET /api/v1/runs/{'x' * 3000} HTTP/1.1\r\n{host}\r\n".encode(),
                f"GET /api/v1/runs?name=%ff%fe HTTP/1.1\r\n{host}\r\n".encode(), f"GET http://x/api/v1/runs HTTP/1.1\r\n{host}\r\n".encode(),
                f"GET /api/v1/runs HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".encode(),
                f"GET /api/v1/runs HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n".encode()):
        with contextlib.closing(server.connect()) as connection:
            with contextlib.suppress(OSError):
                connection.settimeout(UNFINISHED_S)
                connection.sendall(raw)
                reply = b"".join(iter(lambda: connection.recv(1 << 16), b""))
                assert not reply or b" 500 " not in reply.split(b"\r\n")[0], (raw[:80], reply[:200])
    alive(server)


def test_fuzzed_requests(serve):
    """Mutations of valid requests: no child ends by a signal, and the server goes on."""
    server = serve.server()
    paths = ["/api/v1/runs?limit=3&status=failed", "/api/v1/runs/latest/failures?all=1", "/api/v1/compare/nightly.sh/nightly-new.sh?last=5",
             "/api/v1/queries/tasks?run=latest&limit=2&format=csv", "/api/v1/rows/runs?limit=i:3", "/api/v1/explain/1", "/metrics",
             "/api/v1/runs/latest/export/otlp", "/runs/x", "/assets/page.js"]
    generator = random.Random(36)
    alphabet = [b"%00", b"%2f", b"&", b"=", b"?", b"/", b"{", b"}", b"--", b" ", b"%", b"\xff", b"'", b'"', b"0" * 40, b"i:", b"\r\n", b"\t", b":"]

    def one(seed):
        own = random.Random(seed)
        raw = bytearray(server.request(own.choice(paths), Authorization=f"Bearer {server.token}"))
        for _ in range(own.randint(1, 6)):
            at = own.randrange(len(raw) if own.random() < 0.3 else raw.index(b" HTTP"))
            if own.random() < 0.5:
                raw[at:at + own.randint(0, 3)] = own.choice(alphabet)
            else:
                raw[at] = own.randrange(256)
            if b" HTTP" not in raw:
                break
        with contextlib.suppress(OSError), contextlib.closing(server.connect()) as connection:
            connection.settimeout(UNFINISHED_S)
            connection.sendall(raw)
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))[:200], bytes(raw)
        return b"", bytes(raw)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(one, [generator.random() for _ in range(FUZZ_REQUESTS)]))
    statuses = {}
    for reply, raw in replies:
        status = reply.split(b" ")[1].decode("latin-1") if b" " in reply else ""
        statuses[status] = statuses.get(status, 0) + 1
        assert status not in ("500", "504", "507"), (raw, reply)
    print(f"# statuses: {dict(sorted(statuses.items()))}")
    assert statuses.get("200", 0) > FUZZ_REQUESTS // 100 and statuses.get("400", 0) > 0, statuses
    alive(server)


# ---- clients that take


def test_slow_clients(serve):
    """They ask for a large answer and do not read it, or send half a request: others do not notice."""
    with Server(serve.build, serve.store("big")) as server, contextlib.ExitStack() as held:
        raw = server.request("/api/v1/runs/latest?processes=true", Authorization=f"Bearer {server.token}").replace(b"close", b"keep-alive")
        size = len(server.get("/api/v1/runs/latest?processes=true").body)
        connections = [held.enter_context(contextlib.closing(server.connect())) for _ in range(SLOW_CLIENTS)]
        for number, connection in enumerate(connections):
            connection.sendall(raw if number % 2 else raw[:20])
        for _ in range(20):
            begun = time.monotonic()
            same("status", server.get("/api/v1/runs?limit=1").status, 200)
            assert time.monotonic() - begun < 30, "the others wait"
        memory_kib = int(next(line for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
                              if line.startswith("VmRSS")).split()[1])
        print(f"# {SLOW_CLIENTS // 2} answers of {size} bytes unread, {SLOW_CLIENTS // 2} requests unfinished: {memory_kib} KiB")
        if b"asan" not in pathlib.Path(f"/proc/{server.process.pid}/maps").read_bytes():
            assert memory_kib < 64 << 10, f"{memory_kib} KiB"
        last = connections[-1]
        last.settimeout(ANSWER_S)
        received = 0
        while received < size and (part := last.recv(1 << 16)):
            received += len(part)
        assert received >= size, f"{received} of {size} bytes"


def test_one_user_cannot_take_all_connections(serve):
    if os.geteuid() != 0:
        raise Skip("needs root, to be several users")
    with Server(serve.build, serve.store()) as server:
        script = ("import socket, sys, time\nheld = []\nfor _ in range(300):\n c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1]); held.append(c)\n"
                  "print('held', flush=True); time.sleep(600)")
        taker = subprocess.Popen(["/usr/bin/python3", "-c", script, server.path], stdout=subprocess.PIPE, user=1500, group=1500, extra_groups=[])
        try:
            taker.stdout.readline()
            for uid in (1501, 0):
                same(f"user {uid}", server.get("/api/v1/runs", uid=uid).status, 200)
            same("the server's connections", len(os.listdir(f"/proc/{server.process.pid}/fd")) < USERS_CONNECTIONS + 60, True)
        finally:
            taker.kill()
            taker.wait()
        wait_until("the same user is served again", lambda: server.get("/api/v1/runs", uid=1500).status == 200)


# ---- ends


def test_children_end_with_the_server(serve):
    with Server(serve.build, serve.store("big")) as server:
        with contextlib.closing(server.connect()) as connection:
            connection.sendall(server.request("/api/v1/runs/latest?processes=true", Authorization=f"Bearer {server.token}"))
            children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
            [child] = wait_until("a child works", lambda: children.read_text().split())
            server.process.kill()
            server.process.wait()
            wait_until("it ended", lambda: not pathlib.Path(f"/proc/{child}").exists() or
                       pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_child_that_is_killed_is_one_error(serve):
    with Server(serve.build, serve.store("big")) as server:
        with contextlib.closing(server.connect()) as connection:
            connection.sendall(server.request("/api/v1/runs/latest?processes=true", Authorization=f"Bearer {server.token}"))
            children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
            [child] = wait_until("a child works", lambda: children.read_text().split())
            os.kill(int(child), signal.SIGKILL)
            answer = Answer(b"".join(iter(lambda: connection.recv(1 << 16), b"")))
        same("status", answer.status, 500)
        assert "signal 9" in answer.reason(), answer.reason()
        same("asked again", server.get("/api/v1/runs/latest?processes=true").status, 200)


def test_a_store_that_vanishes(serve):
    store = serve.directory / "vanishing.db"
    shutil.copy(serve.store(), store)
    with Server(serve.build, store) as server:
        alive(server)
        store.rename(store.with_suffix(".away"))
        answer = server.get("/api/v1/runs")
        same("status", answer.status, 503)
        assert "vanishing.db" in answer.reason(), answer.reason()
        store.with_suffix(".away").rename(store)
        wait_until("it is back", lambda: server.get("/api/v1/runs").status == 200)


def test_sockets(serve):
    directory = pathlib.Path(tempfile.mkdtemp(dir=serve.directory))
    path = directory / "s"

    def refused(*options):
        result = subprocess.run([serve.tracer, "serve", "--store", serve.store(), *options], capture_output=True, text=True, check=False,
                                env=ENVIRONMENT, timeout=60)
        same(str(options), (result.returncode, result.stdout), (1, ""))
        return result.stderr

    path.write_text("a file")
    assert "cannot listen" in refused("--socket", path) and path.read_text() == "a file"
    path.unlink()
    with Server(serve.build, serve.store()) as server:
        assert "in use" in refused("--socket", server.path).lower()
        assert "in use" in refused("--listen", f"127.0.0.1:{server.port}").lower()
        same("mode of the socket", os.stat(server.path).st_mode & 0o777, 0o666)
        stale = server.path
        server.process.kill()
        server.process.wait()
        again = subprocess.Popen([serve.tracer, "serve", "--store", serve.store(), "--socket", stale], env=ENVIRONMENT, stdout=subprocess.PIPE)
        assert b"serves" in again.stdout.readline()
        again.terminate()
        same("its end", (again.wait(30), os.path.exists(stale)), (0, False))
        again.stdout.close()
    for text in ("7070", "127.0.0.1:70000", "nowhere.invalid:1", "127.0.0.1:http", ":1", "127.0.0.1:"):
        assert "--listen" in refused("--listen", text), text
    assert "too long" in refused("--socket", "/tmp/" + "x" * 200)


def test_the_sandbox(serve):
    server = serve.server()
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines() if ":\t" in line)
    same("no_new_privs, seccomp", (status["NoNewPrivs"].strip(), status["Seccomp"].strip()), ("1", "2"))
    capabilities = {name: int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")}
    assert capabilities["CapEff"] & ~2 == 0 and capabilities["CapPrm"] & ~2 == 0 and capabilities["CapInh"] == 0, capabilities
    if os.geteuid() == 0:
        same("bounding set", capabilities["CapBnd"], 0)


if __name__ == "__main__":
    options = arguments(__doc__)
    with Serve(options.build) as shared:
        sys.exit(run_tests("serve", find_tests(globals()), lambda test: test(shared), options.names))
