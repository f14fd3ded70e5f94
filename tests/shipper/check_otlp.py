#!/usr/bin/env python3
"""tracer-shipper with the sink otlp: against a receiver whose bodies OpenTelemetry's own library reads (tests/exports), and
which fails as receivers and networks do. No collector can be had here.

usage: check_otlp.py BUILD [NAME...]
"""

import collections
import contextlib
import gzip
import itertools
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "exports")]
from harness import Answers, ENVIRONMENT, Proxy, ROOT, Shipper, http, same, tls, wait_until  # noqa: E402 (found by the path above)
from daemons import replay  # noqa: E402
from readers import read_otlp, spans_of  # noqa: E402
from testing import enter_own_mounts, find_tests, remove_tree, run_tests  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
SHIPPER, TRACER = BUILD / "shipper/tracer-shipper", BUILD / "cli/tracer"
JSON = "Content-Type: application/json"
TAKEN = http("200 OK", b'{"partialSuccess":{}}', JSON)
REQUEST_BYTES_MAX = 4 << 20
SHOWN = "kind NOT IN ('system', 'session', 'host-service')"
OVER = "process_count > 0 AND end_boot_ns IS NOT NULL AND status <> 'running'"
QUICK = {"interval": "1s"}


class Receiver(Answers):
    """Answers with `answers`, then TAKEN."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.moments = []
        super().__init__(self.next)

    def next(self, _):
        self.moments.append(time.monotonic())
        return self.answers.pop(0) if self.answers else TAKEN

    def bodies(self):
        """Unpacked, after OpenTelemetry's library has read them."""
        bodies = [gzip.decompress(body).decode() for _, body in self.requests]
        assert all(len(body) < REQUEST_BYTES_MAX for body in bodies), [len(body) for body in bodies]
        if bodies:
            read_otlp(bodies)
        return bodies

    def spans(self):
        return list(spans_of(self.bodies()))


def once(directory, store, url, *options, code=0, **more):
    with Shipper(SHIPPER, directory, store, "--sink", "otlp", "--once", *options, url=url, **more) as shipper:
        shipper.wait(code)
        return shipper


def shipping(directory, store, url, *options, **more):
    return Shipper(SHIPPER, directory, store, "--sink", "otlp", *options, url=url, **more)


def query(store, *statements):
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        return [row for statement in statements for row in db.execute(statement)]


def expected(store):
    """Ids of the spans that should arrive."""
    rows = query(store, f"SELECT id FROM runs WHERE {SHOWN} AND {OVER}",
                 f"SELECT id FROM tasks WHERE {OVER} AND kind <> 'main' AND merged_into_id IS NULL AND run_id IN "
                 f"(SELECT id FROM runs WHERE {SHOWN})")
    return {f"{id:016x}" for (id,) in rows}


def arrived(receiver, store):
    """Every span has, once or as the same span again. Returns how often each."""
    spans = receiver.spans()
    counts = collections.Counter(span["spanId"] for span in spans)
    same("spans", set(counts), expected(store))
    same("contents", len({json.dumps(span, sort_keys=True) for span in spans}), len(counts))
    return counts


def frozen(shipper):
    return sorted(path.name for path in shipper.state.glob("*.zst"))


# ---- what is sent ------------------------------------------------------------------------


def test_spans_are_those_of_the_export(directory, store):
    with Receiver() as receiver:
        shipper = once(directory, store, receiver.url)
        counts = arrived(receiver, store)
        spans = {span["spanId"]: span for span in receiver.spans()}
        heads = [head for head, _ in receiver.requests]
    same("spans that arrived twice", set(counts.values()), {1})
    assert len(counts) > 100, len(counts)
    for head in heads:
        assert head.startswith("POST /v1/traces HTTP/1.1\r\n"), head
        assert "Content-Type: application/json" in head and "Content-Encoding: gzip" in head, head
    status = shipper.status()
    same("figures", (status["sink"], status["sent_row_count"], status["shipped_rev"]), ("otlp", len(spans), status["store_rev"]))
    runs = {span["resource"]["cicd.pipeline.run.id"] for span in spans.values()}
    over = {f"{id:016x}" for id, in query(store, f"SELECT id FROM runs WHERE {OVER}")}  # some left processes behind
    for run in sorted(runs & over):
        export = subprocess.run([TRACER, "export", run, "--format", "otlp", "--store", store], capture_output=True, text=True,
                                check=True, env=ENVIRONMENT).stdout
        for span in spans_of(export.splitlines()):
            if "process.executable.name" in span["attributes"]: # tools are not sent
                continue
            sent = spans[span["spanId"]]
            if "tracer.task.label" not in sent["attributes"]: # that of the store; the export has inferred ones, too
                span["attributes"].pop("tracer.task.label", None)
            same(f"span of {run}", sent, span)


def test_nothing_is_sent_before_it_is_over(directory, store):
    """And what changes after its end is sent again, as the same span."""
    (run, task) = query(store, f"SELECT run_id, id FROM tasks WHERE kind = 'engine' AND {OVER} LIMIT 1")[0]
    query(store, f"UPDATE tasks SET status = 'running', end_boot_ns = NULL WHERE id = {task}")
    with Receiver() as receiver, shipping(directory, store, receiver.url, send=QUICK) as shipper:
        wait_until("all is sent", lambda: shipper.status().get("shipped_rev", 0) == query(store, "SELECT rev FROM stream")[0][0])
        arrived(receiver, store)
        assert f"{task:016x}" not in {span["spanId"] for span in receiver.spans()}
        for end in 1, 2:
            receiver.requests.clear()
            query(store, "UPDATE stream SET rev = rev + 1",
                  f"UPDATE tasks SET status = 'succeeded', exit_code = 0, end_boot_ns = begin_boot_ns + {end}000, "
                  f"rev = (SELECT rev FROM stream) WHERE id = {task}")
            wait_until("it arrives", lambda: receiver.requests)
            span, = receiver.spans()
            same("span", (span["spanId"], int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]), span["traceId"][16:]),
                 (f"{task:016x}", end * 1000, f"{run:016x}"))
        shipper.stop()


def test_left_out_stays_here(directory, store):
    with Receiver() as receiver:
        once(directory, store, receiver.url, send={"leave-out": [
            "hosts.hostname", "runs.name", "runs.exit_code", "tasks.label", "tasks.status", "tasks.end_boot_ns"]})
        text, spans = "".join(receiver.bodies()), receiver.spans()
        receiver.requests.clear()
        (directory / "state/cursor").unlink()
        once(directory, store, receiver.url, send={"leave-out": ["hosts", "tasks"]})
        others = receiver.spans()
    for word in "host.name", "tracer.task.label", "cicd.pipeline.task.run.result", "cicd.pipeline.name":
        assert f'"{word}"' not in text, word
    same("names of runs", {span["name"] for span in spans if "cicd.pipeline.action.name" in span["attributes"]}, {"RUN"})
    same("spans", {span["spanId"] for span in spans}, expected(store))
    assert all("parentSpanId" not in span and "host.id" not in span["resource"] for span in others), others
    assert len(others) > 30, len(others)


def test_requests_are_small(directory, store):
    """20,000 tasks with labels of 500 bytes; batches are of at most so many rows and bytes."""
    task, = query(store, f"SELECT id FROM tasks WHERE kind = 'engine' AND {OVER} LIMIT 1")[0]
    columns = ", ".join(row[1] for row in query(store, "PRAGMA table_info(tasks)") if row[1] not in ("id", "rev", "label"))
    query(store, f"""INSERT INTO tasks (id, rev, label, {columns}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1
        FROM n WHERE i < 20000) SELECT i, (SELECT rev FROM stream) + i, hex(zeroblob(250)), {columns} FROM n,
        (SELECT * FROM tasks WHERE id = {task})""", "UPDATE stream SET rev = rev + 20000")
    with Receiver() as receiver:
        shipper = once(directory, store, receiver.url)
        same("spans that arrived twice", set(arrived(receiver, store).values()), {1})
        sizes = [len(body) for body in receiver.bodies()]
    assert len(sizes) >= 12 and max(sizes) > REQUEST_BYTES_MAX // 2, sizes
    print(f"    {len(sizes)} requests, at most {max(sizes)} bytes; {sum(len(body) for _, body in receiver.requests)} compressed; "
          f"{shipper.status()['sent_row_count']} spans")


def test_one_span_of_too_many_bytes(directory, store):
    """It is quarantined without a request; what is behind it arrives."""
    task, = query(store, f"SELECT id FROM tasks WHERE kind = 'engine' AND {OVER} LIMIT 1")[0]
    query(store, f"UPDATE tasks SET label = hex(zeroblob({REQUEST_BYTES_MAX // 2})) WHERE id = {task}")
    with Receiver() as receiver:
        shipper = once(directory, store, receiver.url, code=1)
        same("spans that are missing", expected(store) - {span["spanId"] for span in receiver.spans()}, {f"{task:016x}"})
    same("spans quarantined", shipper.status()["quarantined_row_count"], 1)


def test_one_span_that_the_receiver_refuses(directory, store):
    """It is sent once alone, and quarantined; what is behind it arrives."""
    task, = query(store, f"SELECT id FROM tasks WHERE kind = 'engine' AND {OVER} LIMIT 1")[0]
    query(store, f"UPDATE tasks SET label = 'too-large' WHERE id = {task}")

    def answer(_):
        return http("413 Payload Too Large") if b"too-large" in gzip.decompress(receiver.requests[-1][1]) else TAKEN

    with Receiver() as receiver:
        receiver.answer = answer
        shipper = once(directory, store, receiver.url, code=1)
        refused = [body for _, body in receiver.requests if b"too-large" in gzip.decompress(body)]
        receiver.requests = [request for request in receiver.requests if request[1] not in refused]
        same("spans that are missing", expected(store) - {span["spanId"] for span in receiver.spans()}, {f"{task:016x}"})
    same("requests that were repeated", len(refused) - len(set(refused)), 0)
    same("spans quarantined", shipper.status()["quarantined_row_count"], 1)


def test_dry_run_prints_what_is_sent(directory, store):
    result = subprocess.run([SHIPPER, "--config", "/dev/null", "--store", store, "--state", directory, "--lake", "http://127.0.0.1:4318/otel/",
                             "--sink", "otlp", "--dry-run"], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    lines = result.stdout.splitlines()
    assert lines[0] == "POST http://127.0.0.1:4318/otel/v1/traces", lines[0]
    printed = [line for line in lines if line.startswith("{")]
    with Receiver() as receiver:
        once(directory, store, receiver.url)
        same("spans", list(spans_of(f'{{"resourceSpans":[{line}]}}' for line in printed)), receiver.spans())


def test_token_and_hostile_names(directory, store):
    token = directory / "token"
    token.write_text("hunter2-token\n")
    token.chmod(0o600)
    query(store, "UPDATE tasks SET name = CAST(x'ff1b5d0a223c' AS TEXT), label = char(8238, 128300)", "UPDATE runs SET name = ''")
    with Receiver() as receiver:
        shipper = once(directory, store, receiver.url, lake={"token-file": str(token)})
        arrived(receiver, store)
        assert all("Authorization: Bearer hunter2-token\r\n" in head for head, _ in receiver.requests)
        names = {span["name"] for span in receiver.spans() if "parentSpanId" in span}
        same("names", names, {'\\xff\\e]\\n"<'})
    assert "hunter2" not in shipper.log() + json.dumps(shipper.status())


def test_tls_is_verified(directory, store):
    with Receiver() as receiver, tls(directory, receiver) as (url, authority, _):
        shipper = once(directory, store, url, code=1)
        assert "the certificate is not trusted" in shipper.status()["last_error"], shipper.status()
        same("requests", len(receiver.requests), 0)
        once(directory, store, url, lake={"ca-file": authority})
        arrived(receiver, store)


# ---- answers -----------------------------------------------------------------------------


def test_what_is_to_be_sent_again_is(directory, store):
    """The same bytes, after as long as the receiver asks for; the log says it once."""
    for status in "429 Too Many Requests", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout":
        with Receiver(*[http(status, b"", "Retry-After: 1")] * 2) as receiver:
            shipper = once(directory, store, receiver.url)
            same(f"requests of {status}", len({body for _, body in receiver.requests[:3]}), 1)
            assert receiver.moments[1] - receiver.moments[0] >= 1 <= receiver.moments[2] - receiver.moments[1], receiver.moments
            arrived(receiver, store)
        same("spans quarantined", shipper.status()["quarantined_row_count"], 0)
        (directory / "state/cursor").unlink()


def test_what_is_not_to_be_sent_again_is_not(directory, store):
    """It is quarantined with the receiver's words, and can be sent from there."""
    quarantine = directory / "state/quarantine"
    for status in "400 Bad Request", "401 Unauthorized", "404 Not Found", "500 Internal Server Error", "501 Not Implemented":
        with Receiver(http(status, b'{"code":3,"message":"no such field"}', JSON)) as receiver:
            shipper = once(directory, store, receiver.url, code=1)
            same(f"requests of {status}", len({body for _, body in receiver.requests}), len(receiver.requests))
            batch, = quarantine.glob("*.zst")
            assert "no such field" in (quarantine / f"{batch.name}.reason").read_text()
            assert status[:3] in shipper.log() and "no such field" in shipper.log(), shipper.log()
            receiver.requests.pop(0)
            missing = expected(store) - {span["spanId"] for span in receiver.spans()}
            same("spans quarantined", shipper.status()["quarantined_row_count"], len(missing))
            result = subprocess.run([TRACER, "ship", "--config", shipper.config(directory, {"sink": "otlp"}), "--lake", receiver.url,
                                     "--from", quarantine, "--remove"], capture_output=True, text=True, env=ENVIRONMENT, check=False)
            same(f"status of ship: {result.stderr}", result.returncode, 0)
            arrived(receiver, store)
            same("left in quarantine", list(quarantine.iterdir()), [])
        for path in "cursor", "status.json":
            (directory / "state" / path).unlink()


def test_too_large_requests_are_halved(directory, store):
    """As long as the receiver refuses them: here those of more than 20 spans."""
    def answer(_):
        body = gzip.decompress(receiver.requests[-1][1])
        return http("413 Payload Too Large") if body.count(b'"traceId"') > 20 else TAKEN

    with Receiver() as receiver:
        receiver.answer = answer
        shipper = once(directory, store, receiver.url)
        receiver.requests = [request for request in receiver.requests if gzip.decompress(request[1]).count(b'"traceId"') <= 20]
        same("spans that arrived twice", set(arrived(receiver, store).values()), {1})
    same("spans quarantined", shipper.status()["quarantined_row_count"], 0)


def test_partial_success_is_counted_and_not_repeated(directory, store):
    partial = json.dumps({"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old\n"}}).encode()
    with Receiver(http("200 OK", partial, JSON), http("200 OK", b'{"partialSuccess":{"errorMessage":"be gentle"}}', JSON)) as receiver:
        shipper = once(directory, store, receiver.url)
        same("spans that arrived twice", set(arrived(receiver, store).values()), {1})
    status = shipper.status()
    same("rejected", (status["rejected_row_count"], status["quarantined_row_count"]), (3, 0))
    assert "the receiver rejected 3 spans: too old" in shipper.log(), shipper.log()
    assert "be gentle" in shipper.log() and "rejected 0" not in shipper.log(), shipper.log()
    result = subprocess.run([TRACER, "status", "--json", "--store", store, "--shipper", directory / "state"], capture_output=True,
                            text=True, env=ENVIRONMENT, check=False)
    same("rejected, by tracer status", json.loads(result.stdout)["shipper"]["rejected_row_count"], 3)


def test_what_is_no_receiver(directory, store):
    """Nothing counts as sent, nothing as refused."""
    for answer, words in ((http("200 OK", b"<html>Log in", "Content-Type: text/html"), "as no OTLP receiver does"),
                          (http("302 Found", b"", "Location: https://portal.example.org/"), "not followed"),
                          (http("407 Proxy Authentication Required"), "lake.proxy-user"),
                          (b"SSH-2.0-x\r\n", "127.0.0.1")):
        with Receiver(*[answer] * 9) as receiver:
            shipper = once(directory, store, receiver.url, code=1)
        assert words in shipper.status()["last_error"], (words, shipper.status())
        same("sent, quarantined", (shipper.status()["sent_row_count"], shipper.status()["quarantined_row_count"]), (0, 0))


# ---- faults ------------------------------------------------------------------------------


def test_lost_requests_and_answers(directory, store):
    """Connections refused, cut in the middle of a request, without an answer, and slow ones."""
    moods = itertools.cycle(["cut", "refuse", "deaf", "slow", "pass"])
    with Receiver() as receiver, Proxy(receiver.port, lambda: next(moods)) as proxy:
        with shipping(directory, store, proxy.url, "--set", "send.rows=9") as shipper:
            wait_until("all is sent", lambda: shipper.status().get("shipped_rev", -1) == shipper.status().get("store_rev"), 120)
            shipper.stop()
        counts = arrived(receiver, store)
        assert all(proxy.counts.get(mood) for mood in ("cut", "refuse", "deaf", "slow")), proxy.counts
        assert max(counts.values()) > 1, "no answer was lost"


def test_a_receiver_that_hangs(directory, store):
    def wait_s(seconds):
        time.sleep(seconds)
        yield b""

    with Answers(lambda _: wait_s(60)) as silent:
        shipper = once(directory, store, silent.url, "--set", "lake.timeout=1s", code=1)
        assert "timed out" in shipper.status()["last_error"], shipper.status()
    with Receiver() as receiver:
        once(directory, store, receiver.url)
        arrived(receiver, store)


def test_batch_is_the_same_after_kill(directory, store):
    """Its rows have changed in the store since: the frozen spans are sent, then the changed ones."""
    with Receiver(*[http("503 Service Unavailable")] * 100) as receiver:
        for _ in range(2):
            count = len(receiver.requests)
            with shipping(directory, store, receiver.url) as shipper:
                wait_until("an attempt", lambda: len(receiver.requests) > count)
                shipper.kill()
                names = frozen(shipper)
            query(store, "UPDATE stream SET rev = rev + 1000", "UPDATE runs SET exit_code = 7, rev = (SELECT rev FROM stream)")
        same("bodies", len({body for _, body in receiver.requests}), 1)
        assert [name for name in names if ".runs_spans." in name], names
        receiver.answers.clear()
        receiver.requests.clear()
        once(directory, store, receiver.url)
        spans = receiver.spans()
    same("spans", {span["spanId"] for span in spans}, expected(store))
    codes = collections.defaultdict(list)
    for span in spans:
        if "parentSpanId" not in span:
            codes[span["spanId"]].append(span["attributes"].get("process.exit.code"))
    assert all(found[-1] == 7 for found in codes.values()) and any(len(found) > 1 for found in codes.values()), codes


def test_another_sink_before(directory, store):
    """What was frozen for a lake is no span: it is dropped. Nor does the sink take a lake's files, or a lake its quarantine."""
    with Receiver(*[http("503 Service Unavailable")] * 100) as lake:
        with Shipper(SHIPPER, directory, store, url=lake.url) as shipper:
            wait_until("an attempt", lambda: lake.requests)
            shipper.kill()
            assert [name for name in frozen(shipper) if ".hosts." in name], frozen(shipper)
    with Receiver() as receiver:
        shipper = once(directory, store, receiver.url)
        arrived(receiver, store)
        same("left", frozen(shipper), [])
        outbox = directory / "outbox"
        outbox.mkdir()
        (directory / "state/cursor").unlink()
        with Shipper(SHIPPER, directory, store, "--once", "--directory", outbox) as files:
            files.wait(0)
        count = len(receiver.requests)
        result = subprocess.run([SHIPPER, "--config", "/dev/null", "--sink", "otlp", "--lake", receiver.url, "--from", outbox],
                                capture_output=True, text=True, env=ENVIRONMENT, check=False)
        assert result.returncode == 1 and "has no spans: send it with the sink clickhouse" in result.stderr, result.stderr
        same("requests", len(receiver.requests), count)


def run_in_directory(test):
    """With a store of runs that failed in many ways."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-otlp-"))
    directory.chmod(0o755)
    try:
        test(directory, replay(BUILD, ROOT / "tests/golden/failures.rec", directory / "replayed.db"))
    finally:
        remove_tree(directory)


def main():
    if os.geteuid() == 0:
        enter_own_mounts()
    return run_tests("shipper-otlp", find_tests(globals()), run_in_directory, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
