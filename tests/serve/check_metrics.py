#!/usr/bin/env python3
"""tracer metrics: read by the real Prometheus, promtool and node_exporter; the alerts of deploy/prometheus.

usage: check_metrics.py BUILD [NAME...]
"""

import collections
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import ENVIRONMENT, Skip, copy_rows, find_tests, free_port, require, run_tests, same, wait_until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
TRACER, MAKE_STORE = BUILD / "cli/tracer", BUILD / "tests/cli/make_store"
DEPLOYED = ROOT / "deploy/prometheus"
# What changes between two readings.
RESTLESS = {"tracer_stream_lag_seconds", "tracer_daemon_age_seconds", "tracer_daemon_memory_bytes", "tracer_daemon_processes",
            "tracer_store_free_bytes", "tracer_store_size_bytes", "tracer_shipper_lag_seconds"}
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?\d+(?:\.\d+)?)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
SHIPPED = {"sink": "clickhouse", "target": "http://lake", "store_rev": 500, "shipped_rev": 100, "shipped_unix_ns": 10**18,
           "last_success_unix_ns": 1795 * 10**15 + 5 * 10**8, "attempt_count": 3, "sent_batch_count": 4, "sent_row_count": 50,
           "sent_bytes": 600, "quarantined_row_count": 7, "quarantine_dropped_row_count": 1}


def command(*arguments, code=0, environment=ENVIRONMENT, **settings):
    result = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120, check=False,
                            env=environment | {"LC_ALL": "C.UTF-8"}, **settings)
    assert result.returncode == code, f"{arguments} ended with {result.returncode}: {result.stdout}{result.stderr}"
    return result.stdout


@contextlib.contextmanager
def known_store(change=None):
    """The store with known content, as it is now, perhaps changed; and the status file of a shipper beside it."""
    with tempfile.TemporaryDirectory(prefix="tracer-metrics-") as directory:
        os.chmod(directory, 0o755)
        path = pathlib.Path(directory, "tracer.db")
        command(MAKE_STORE, path)
        if change:
            with contextlib.closing(sqlite3.connect(path)) as database, database:
                change(database)
        (path.parent / "status.json").write_text(json.dumps(SHIPPED))
        yield path


def printed(store, *options):
    return command(TRACER, "metrics", "--store", store, "--shipper", store.parent, *options)


def unescaped(text):
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def read(text):
    """{(name, labels): value} of the samples. Fails if the text is not OpenMetrics in the strict sense."""
    assert text.endswith("\n# EOF\n"), text[-80:]
    samples, families, family = {}, {}, None
    for line in text.removesuffix("# EOF\n").splitlines():
        if line.startswith("# "):
            word, name, value = line[2:].split(" ", 2)
            if word == "TYPE":
                assert name not in families and value in ("gauge", "counter"), line
                family = families[name] = {"type": value}
            assert name == list(families)[-1] and (word == "TYPE" or word not in family), line
            assert word != "UNIT" or name.endswith(f"_{value}"), line
            family[word] = value
            continue
        found = SAMPLE.fullmatch(line)
        assert found, line
        suffix = "_total" if family["type"] == "counter" else ""
        same("name of a sample", found[1], list(families)[-1] + suffix)
        labels = LABEL.findall(found[2] or "")
        assert len(dict(labels)) == len(labels), line
        key = (found[1], tuple(sorted((name, unescaped(value)) for name, value in labels)))
        assert key not in samples, f"twice: {line}"
        samples[key] = float(found[3])
    assert all({"TYPE", "HELP"} <= set(family) for family in families.values()), families
    return samples


def test_the_reference_parser_reads_it():
    """The strict one of OpenMetrics, in the client of the Prometheus project."""
    try:
        from prometheus_client.openmetrics import parser  # noqa: PLC0415 (optional)
    except ImportError:
        raise Skip("python3-prometheus-client not installed") from None
    for change in (None, many_runs, hostile_names):
        with known_store(change) as store:
            text = printed(store)
            samples = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                       for family in parser.text_string_to_metric_families(text) for sample in family.samples}
            same("samples", samples, read(text))


def values_of(samples, name):
    return {tuple(value for _, value in labels): value for (of, labels), value in samples.items() if of == name}


def test_the_text_is_openmetrics():
    with known_store() as store:
        samples = read(printed(store))
        same("host", values_of(samples, "tracer_host_processors"), {("example",): 4})
        same("mode, in seconds", values_of(samples, "tracer_host_cpu_seconds_total")["example", "user"], 130)
        same("running", values_of(samples, "tracer_running_cpu_seconds"), {("example", "make", "daemon"): 57.62})
        same("share of the limit", round(values_of(samples, "tracer_running_memory_limit_ratio")["example", "make", "daemon"], 6),
             round(620 / 1024, 6))
        same("ended", values_of(samples, "tracer_ended_runs"), {("example", "failed"): 1, ("example", "succeeded"): 2})
        same("lost", values_of(samples, "tracer_host_lost_records"), {("example", "exec"): 12})
        same("never", values_of(samples, "tracer_host_network_sent_bytes_total"), {})  # unknown: no sample
        same("shipper", values_of(samples, "tracer_shipper_last_success_timestamp_seconds"), {(): 1795 * 10**6 + 0.5})
        same("refused", values_of(samples, "tracer_shipper_quarantined_rows_total"), {(): 7})
        same("another user's", values_of(read(printed(store, "--user", "12345")), "tracer_running_runs"), {})
        same("another host", values_of(read(printed(store, "--host", "other")), "tracer_host_processors"), {})
        (store.parent / "status.json").unlink()
        same("no shipper", values_of(read(printed(store)), "tracer_shipper_sent_rows_total"), {})


def many_runs(database):
    """Fifty more in progress, and two of one name."""
    for number in range(50):
        copy_rows(database, "runs", "status = 'running' AND name = 'make'", id=f"id + {number} + 1", name=f"'job {number % 49}'",
                  cpu_ns=f"1000000000 * {number}", user_id=f"{number % 2}", memory_limit_bytes="NULL")


def test_names_are_few_and_add_up():
    with known_store(many_runs) as store:
        complete = values_of(read(printed(store, "--limit", 1000)), "tracer_running_cpu_seconds")
        same("names", len(complete), 51)
        for limit in (20, 1, 0):
            samples = read(printed(store, "--limit", limit))
            cpu = values_of(samples, "tracer_running_cpu_seconds")
            same("rows", len(cpu), limit + 1)
            assert math.isclose(sum(cpu.values()), sum(complete.values())), cpu
            same("runs", sum(values_of(samples, "tracer_running_runs").values()), 51)
            rest = cpu.pop(("example", "(other)", "(other)"))
            same("the largest", sorted(cpu.values()), sorted(complete.values())[51 - limit:])
            assert math.isclose(rest, sum(sorted(complete.values())[:51 - limit])), rest


def hostile_names(database):
    """Names that would be the same if only what cannot be shown were escaped."""
    for number, name in enumerate(("a\nb", "a\\nb", "a\\\\nb", '"', '\\"', "(other)", "x\x1b[31m", "\\x1b", "\u202e", "{", "#")):
        copy_rows(database, "runs", "status = 'running' AND name = 'make'", id=f"id + 1 + {number}", name=f"'{name}'")
    copy_rows(database, "runs", "status = 'running' AND name = 'make'", id="id + 100", name="CAST(x'61ff' AS TEXT)")
    copy_rows(database, "runs", "status = 'running' AND name = 'make'", id="id + 101", name="'a\\xff'")


def test_no_name_spoils_the_scrape():
    with known_store(hostile_names) as store:
        text = printed(store)
        names = [dict(labels)["run"] for (name, labels) in read(text) if name == "tracer_running_runs"]
        same("names", len(names), 14)
        assert not re.search(r"[^\n\x20-\x7e]", text), text
        assert scraped_by_node_exporter(store) == sorted(set(names))


def scraped_by_node_exporter(store):
    """Names of the running runs, as the real node_exporter serves them."""
    require("prometheus-node-exporter")
    directory = store.parent / "textfile"
    directory.mkdir()
    command(TRACER, "metrics", "--store", store, "--shipper", store.parent, "--format", "prometheus", "-o", directory / "tracer.prom")
    same("files", [path.name for path in directory.iterdir()], ["tracer.prom"])
    same("mode", (directory / "tracer.prom").stat().st_mode & 0o777, 0o644)
    with server("prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                f"--collector.textfile.directory={directory}", "--web.listen-address=127.0.0.1:PORT") as url:
        with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
            text = answer.read().decode()
    assert "\nnode_textfile_scrape_error 0\n" in text, text[:2000]
    assert "\n# TYPE tracer_host_cpu_seconds_total counter\n" in text, text[:2000]
    lines = [line for line in text.splitlines() if line.startswith("tracer_running_runs{")]
    return sorted(unescaped(dict(LABEL.findall(line))["run"]) for line in lines)


@contextlib.contextmanager
def server(program, *options, log=None):
    """Runs it with PORT in the options replaced by a free one, until it answers. Yields its URL."""
    port = free_port()
    with tempfile.TemporaryFile() if log is None else open(log, "w+b") as output:
        process = subprocess.Popen([program, *(option.replace("PORT", str(port)) for option in map(str, options))],
                                   stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        try:
            def answers():
                if process.poll() is not None:
                    output.seek(0)
                    raise AssertionError(f"{program} ended: {output.read().decode()[-2000:]}")
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5)
                except urllib.error.HTTPError as error:
                    return error.code != 503  # of Prometheus, until it is ready
                except OSError:
                    return False
                return True

            wait_until(f"{program} answers", answers)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def test_promtool_has_no_complaint():
    require("promtool")
    with known_store() as store:
        command("promtool", "check", "metrics", input=printed(store, "--format", "prometheus"))


@contextlib.contextmanager
def prometheus(directory, target, token):
    """A real one, with the example's configuration, that scrapes `target`. Yields a function that asks it in PromQL."""
    require("prometheus", "promtool")
    shutil.copy(DEPLOYED / "tracer.rules.yml", directory)
    text = (DEPLOYED / "prometheus.yml").read_text()
    config = directory / "prometheus.yml"
    for example, here in (("localhost:7070", target), ("/etc/prometheus/tracer-token", str(token)), ("interval: 30s", "interval: 1s")):
        assert example in text, example
        text = text.replace(example, here)
    config.write_text(text)
    command("promtool", "check", "config", config)
    with server("prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/data",
                "--web.listen-address=127.0.0.1:PORT", "--log.level=warn") as url:
        def ask(query):
            with urllib.request.urlopen(f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}", timeout=30) as answer:
                return json.load(answer)["data"]["result"]

        yield ask


@contextlib.contextmanager
def scraping_prometheus(store):
    """A Prometheus that has scraped a `tracer serve` of this store."""
    token = store.parent / "token"
    token.write_text("0123456789abcdef" * 4 + "\n")
    token.chmod(0o600)
    with server(TRACER, "serve", "--store", store, "--listen", "127.0.0.1:PORT", "--token-file", token) as url:
        with prometheus(store.parent, url.removeprefix("http://"), token) as ask:
            wait_until("the scrape", lambda: ask('up{job="tracer"} == 1'))
            wait_until("its samples", lambda: ask("tracer_running_runs"))
            yield ask


def test_a_real_prometheus_has_the_same_values():
    """What a scrape of tracer serve gives is what the command prints."""
    with known_store(many_runs) as store:
        with scraping_prometheus(store) as ask:
            found = ask('{__name__=~"tracer_.*"}')
            total = ask("sum by (host) (tracer_running_cpu_seconds)")
        samples = read(printed(store))
    expected = {key: value for key, value in samples.items() if key[0] not in RESTLESS and not key[0].startswith("tracer_shipper")}
    scraped = {}
    for each in found:
        labels = dict(each["metric"])
        name = labels.pop("__name__")
        del labels["job"], labels["instance"]
        if name not in RESTLESS:
            scraped[name, tuple(sorted(labels.items()))] = float(each["value"][1])
    same("samples", scraped, expected)
    assert math.isclose(float(total[0]["value"][1]), sum(values_of(samples, "tracer_running_cpu_seconds").values())), total


def test_what_is_old_is_not_counted():
    """A window instead of totals, and nothing of hosts that are gone."""
    def two_hours_later(database):
        for table in ("runs", "tasks"):
            database.execute(f"UPDATE {table} SET started_unix_ns = started_unix_ns - 7200000000000")
        for table in ("incidents", "losses"):
            database.execute(f"UPDATE {table} SET unix_ns = unix_ns - 7200000000000")

    def unseen(seconds):
        return lambda database: database.execute(f"UPDATE hosts SET last_seen_unix_ns = last_seen_unix_ns - {seconds}000000000")

    with known_store(two_hours_later) as store:
        samples = read(printed(store))
        for name in ("tracer_ended_runs", "tracer_incidents", "tracer_host_lost_records"):
            same(name, values_of(samples, name), {})
        same("running", values_of(samples, "tracer_running_runs"), {("example", "make", "daemon"): 1})
    for seconds, seen, running in ((300, 1, 1), (660, 1, 0), (100000, 0, 0)):
        with known_store(unseen(seconds)) as store:
            samples = read(printed(store))
            same(f"seen {seconds} s ago", [len(values_of(samples, f"tracer_{name}")) for name in (
                "host_last_seen_timestamp_seconds", "running_runs", "host_processors")], [seen, running, running])


def test_alerts_are_tested_and_name_what_exists():
    require("promtool")
    text = (DEPLOYED / "tracer.rules.yml").read_text()
    with known_store() as store:
        known = {name.removesuffix("_total") for name in re.findall(r"^# TYPE (\S+)", printed(store), re.M)}
    named = {name.removesuffix("_total") for name in re.findall(r"\btracer_[a-z_]+", re.sub(r"#.*", "", text))}
    same("unknown metrics", named - known, set())
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        rules, tests = directory / "tracer.rules.yml", directory / "tests.yml"
        tests.write_text((ROOT / "tests/serve/tracer.rules.test.yml").read_text().replace("../../deploy/prometheus/", ""))
        rules.write_text(text)
        command("promtool", "check", "rules", rules)
        command("promtool", "test", "rules", tests)
        lines = text.splitlines()
        expressions = [index for index, line in enumerate(lines) if line.strip().startswith("expr:")]
        assert len(expressions) > 8, expressions
        for index in expressions:  # one that never fires is noticed, and one that always does
            for broken in ("vector(0) > 1", "vector(2) > 1"):
                rules.write_text("\n".join([*lines[:index], f"        expr: {broken}", *lines[index + 1:]]))
                command("promtool", "test", "rules", tests, code=1)


def test_families_do_not_depend_on_what_there_is():
    """Dashboards and docs/metrics.md know all of them."""
    with known_store() as store, known_store(many_runs) as other:
        heads = [re.findall(r"^# .*", printed(path, *options), re.M) for path, *options in ((store,), (other,), (store, "--host", "no"))]
    same("heads", heads[1], heads[0])
    same("heads of none", heads[2], heads[0])
    assert len(collections.Counter(heads[0])) == len(heads[0])


def test_a_file_is_only_replaced_as_a_whole():
    with known_store() as store:
        target = store.parent / "tracer.prom"
        target.write_text("before\n")
        command(TRACER, "metrics", "--store", store.parent / "none.db", "-o", target, code=1)
        same("after a failure", target.read_text(), "before\n")
        printed(store, "-o", target)
        read(target.read_text())
        same("files", sorted(path.name for path in store.parent.glob("tracer.prom*")), ["tracer.prom"])
        command(TRACER, "metrics", "--store", store, "-o", "/nonexistent/tracer.prom", code=1)


def test_what_is_no_file_is_not_replaced():
    """As by root, who may replace /dev/null."""
    with known_store() as store:
        target, link, pipe, device = (store.parent / name for name in ("target", "link", "pipe", "device"))
        target.write_text("before\n")
        link.symlink_to(target)
        command(TRACER, "metrics", "--store", store, "-o", link, code=1)
        same("behind a link", target.read_text(), "before\n")
        device.symlink_to("/dev/null")
        printed(store, "-o", device)
        assert link.is_symlink() and device.is_symlink() and pathlib.Path("/dev/null").is_char_device()
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            printed(store, "-o", pipe)
            read(reader.communicate(timeout=30)[0])
        assert pipe.is_fifo(), pipe


if __name__ == "__main__":
    sys.exit(run_tests("metrics", find_tests(globals()), names=sys.argv[2:]))
