#!/usr/bin/env python3
"""The dashboards of deploy/grafana: against Grafana's own types, and every query of them asked.

usage: check_grafana.py BUILD [NAME...]

There is no Grafana here, so nothing is drawn.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "lake")]
import npm  # noqa: E402 (the lines above come first)
from check_metrics import ROOT, TRACER, command, known_store, many_runs, printed, read, scraping_prometheus  # noqa: E402
from check_queries import shipped  # noqa: E402
from lake import Lake, QueryError  # noqa: E402
from testing import Skip, find_tests, require, run_tests, same, wait_until  # noqa: E402

GENERATE = ROOT / "deploy/grafana/generate"
COLUMNS = 24
# Panels without data: of a store that no daemon writes, on a host without a shipper.
EMPTY = {"prometheus-overview": {"Network", "Processors used by runs in progress"},
         "prometheus-collection": {"Lag of the stream", "Waiting for the lake", "Rows waiting", "Rows delivered", "Attempts that failed",
                                   "Memory of the daemons", "Daemons"},
         "lake-overview": {"Memory available, the least", "Processors busy"}}


def dashboards():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([GENERATE, directory], check=True)
        return {path.stem: json.loads(path.read_text()) for path in sorted(pathlib.Path(directory).glob("*.json"))}


DASHBOARDS = dashboards()


def targets(kind):
    """(dashboard, panel, target) of all that ask that kind of source."""
    for name, dashboard in DASHBOARDS.items():
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                if target["datasource"]["type"] == kind:
                    yield name, panel, target


def test_panels_have_places_and_sources():
    same("uids", len({dashboard["uid"] for dashboard in DASHBOARDS.values()}), len(DASHBOARDS))
    for name, dashboard in DASHBOARDS.items():
        same(f"ids in {name}", len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
        taken = set()
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            assert cells and not cells & taken and place["x"] + place["w"] <= COLUMNS, (name, panel["title"])
            taken |= cells
            letters = [target["refId"] for target in panel["targets"]]
            same(f"letters in {panel['title']}", len(set(letters)), len(letters))
        text = json.dumps(dashboard)
        variables = {each["name"] for each in dashboard["templating"]["list"]}
        used = set(re.findall(r"\$\{?(?!__)([a-z]+)", text))
        same(f"variables of {name}", used - variables, set())
        same(f"unused in {name}", variables - used, set())
        for uid in re.findall(r"/d/([\w-]+)", text):
            assert uid in {each["uid"] for each in DASHBOARDS.values()}, uid


def fetch_types(cache):
    """Grafana's types, with enumerations of texts as unions: a text of JSON is no member of an enumeration."""
    npm.install(HERE, cache)
    types = cache / "node_modules/@grafana/schema/dist/types"

    def union(found):
        values = re.findall(r'= ("[^"]*")', found[2])
        return f"export declare type {found[1]} = {' | '.join(values)};" if values else found[0]

    for path in [*types.glob("raw/**/*.d.ts"), *types.glob("common/*.d.ts")]:
        path.write_text(re.sub(r"export declare enum (\w+) \{([^}]*)\}", union, path.read_text()))


def typed(dashboard, number):
    """The dashboard as TypeScript, and the options of its panels, which the type of a dashboard leaves open."""
    yield f"export const dashboard{number}: Dashboard = {json.dumps(dashboard, indent=1)};"
    for panel in dashboard["panels"]:
        options, custom = panel["options"], panel["fieldConfig"]["defaults"].get("custom")
        yield f"export const options{number}_{panel['id']}: {panel['type']}.Options = {json.dumps(options)};"
        if custom:
            yield f"export const custom{number}_{panel['id']}: {panel['type']}.FieldConfig = {json.dumps(custom)};"


def check_types(cache, dashboards, code=0):
    kinds = sorted({panel["type"] for dashboard in dashboards for panel in dashboard["panels"]})
    raw = "@grafana/schema/dist/types/raw"
    lines = [f'import type {{ Dashboard }} from "{raw}/dashboard/x/types.gen";',
             *(f'import type * as {kind} from "{raw}/composable/{kind}/panelcfg/x/types.gen";' for kind in kinds),
             *(line for number, dashboard in enumerate(dashboards) for line in typed(dashboard, number))]
    (cache / "check.ts").write_text("\n".join(lines))
    result = subprocess.run(["tsc", "--strict", "--noEmit", "--skipLibCheck", "--moduleResolution", "node", "--target", "es2022",
                             "check.ts"], cwd=cache, capture_output=True, text=True, timeout=300, check=False)
    assert (result.returncode != 0) == bool(code), result.stdout


def test_dashboards_have_grafanas_types():
    require("tsc", "npm")
    try:
        cache = npm.once("serve", (HERE / "package-lock.json", pathlib.Path(__file__)), fetch_types)
    except npm.Unavailable as reason:
        raise Skip(reason) from None
    check_types(cache, list(DASHBOARDS.values()))
    first = DASHBOARDS["lake-run"]["panels"][0]
    for wrong in ({"schemaVersion": "39"}, {"gridPos": 1}, {"panels": [first | {"gridPos": {"x": "0"}}]},
                  {"panels": [first | {"options": {"cellHeight": "tall"}}]}):  # are mistakes noticed at all?
        check_types(cache, [DASHBOARDS["lake-run"] | wrong], code=1)


def value_in_promql(text):
    """A query as Grafana sends it, for all hosts and the run `make`."""
    for name, value in {"$__rate_interval": "1m", "$host": ".+", "$user": ".+", "$run": "make"}.items():
        text = text.replace(name, value)
    assert "$" not in text, text
    return text


def many_runs_with_gpus(database):
    many_runs(database)
    use_gpus(database)


def use_gpus(database):
    """A second of a GPU, and 4 KiB of its memory, for all that runs."""
    database.execute("UPDATE samples SET gpu_busy_ns = 1000000000, gpu_memory_bytes = 4096")
    for table in "process_rows", "tools", "tasks", "runs":
        database.execute(f"UPDATE {table} SET gpu_busy_ns = 1000000000, gpu_peak_bytes = 4096 WHERE end_boot_ns IS NULL")


def test_prometheus_answers_every_query():
    with known_store(many_runs_with_gpus) as store:
        known = set(re.findall(r"^# TYPE (\S+)", printed(store, "--format", "prometheus"), re.M))
        with scraping_prometheus(store) as ask:
            wait_until("two scrapes", lambda: ask("count_over_time(tracer_running_runs[1m]) > 3"))
            asked, empty = 0, {}
            for name, panel, target in targets("prometheus"):
                same(f"unknown metrics of {panel['title']}", set(re.findall(r"\btracer_[a-z_]+", target["expr"])) - known, set())
                asked += 1
                if not ask(value_in_promql(target["expr"])):
                    empty.setdefault(name, set()).add(panel["title"])
            for dashboard in DASHBOARDS.values():
                for each in dashboard["templating"]["list"]:
                    if "label_values(" in each["query"]:
                        metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", each["query"]).groups()
                        assert ask(f"count by ({label}) ({value_in_promql(metric)})"), each
    assert asked > 50, asked
    for name, titles in empty.items():
        same(f"panels of {name} without data", titles - EMPTY.get(name, set()), set())


def value_in_sql(text, run):
    """A query as Grafana's ClickHouse source sends it: of the last day, in steps of a minute."""
    now = int(time.time())
    text = re.sub(r"\$__timeFilter\(([^()]*)\)", rf"\1 >= toDateTime({now - 86400}) AND \1 <= toDateTime({now})", text)
    for name, value in {"$__fromTime": f"toDateTime({now - 86400})", "$__toTime": f"toDateTime({now})", "$__interval_s": "60",
                        "${host:sqlstring}": "'example'", "${run:sqlstring}": f"'{run}'"}.items():
        text = text.replace(name, value)
    assert "$" not in text, text
    return text


def test_the_lake_answers_every_query():
    """As the user whom people have, with its limits."""
    try:
        lake = Lake()
    except npm.Unavailable as reason:
        raise Skip(reason) from None
    with lake, shipped(lake, "known", use_gpus):
        run = lake.value("SELECT run FROM tracer.readable_runs WHERE name = 'make'")

        def ask(text):
            try:
                return lake.rows(value_in_sql(text, run), user="analyst", database="tracer")
            except QueryError as error:
                raise AssertionError(f"{text}\n{error}") from None

        asked, empty = 0, {}
        for name, panel, target in targets("grafana-clickhouse-datasource"):
            asked += 1
            rows = ask(target["rawSql"])
            if not rows:
                empty.setdefault(name, set()).add(panel["title"])
            if panel["type"] == "stat":
                same(f"values of {panel['title']}", [len(row) for row in rows], [1])
        for dashboard in DASHBOARDS.values():
            for each in dashboard["templating"]["list"]:
                if each["query"].startswith("SELECT"):
                    assert ask(each["query"]), each
        same("failed runs", ask(next(target["rawSql"] for _, panel, target in targets("grafana-clickhouse-datasource")
                                     if panel["title"] == "Failed")), [["1"]])
    assert asked > 20, asked
    for name, titles in empty.items():
        same(f"panels of {name} without data", titles - EMPTY.get(name, set()), set())


def test_a_lake_has_the_metrics_of_its_hosts():
    """The same as the host's store, which has those of the daemons besides."""
    try:
        lake = Lake()
    except npm.Unavailable as reason:
        raise Skip(reason) from None
    with lake, shipped(lake, "known") as store:
        here = read(printed(store))
        there = read(command(TRACER, "metrics", "--lake", lake.url, environment=lake.environment()))
    daemons = ("tracer_daemon_", "tracer_stream_", "tracer_store_", "tracer_shipper_")
    same("metrics", there, {key: value for key, value in here.items() if not key[0].startswith(daemons)})


if __name__ == "__main__":
    sys.exit(run_tests("grafana", find_tests(globals()), names=sys.argv[2:]))
