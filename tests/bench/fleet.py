"""A fleet of simulated hosts and one lake: insert rate, size of the rows, and response time of
typical questions.

Rows that a replay cannot produce are added to each store: a sample of the host every ten seconds,
with counters that grow at random; and one continuing process with a sample every second.
"""

import concurrent.futures
import contextlib
import random
import resource
import shutil
import sqlite3
import time

import simulated
from measuring import note
from simulated import command

ROUND_MS = 30_000   # a pipeline of 10 s begins every 30 s
SHIPPERS = 4        # concurrent: they mostly wait for the lake
ASKED = 5           # times, or until the time limit
ASK_LIMIT_S = 60
HOST_SAMPLE_S = 10
SECOND_NS = 10**9

P95_PEAK = ("SELECT name, count(*) AS uses, quantileExact(0.95)(peak_rss_bytes) AS p95_bytes"
            " FROM standing_tools WHERE peak_rss_bytes IS NOT NULL GROUP BY name"
            " ORDER BY 3 DESC, 1")


# --- rows that a replay cannot produce ----------------------------------------------------

def insert(database, table, rows):
    """Inserts rows given as dictionaries, each with the store's next revision."""
    rev, = database.execute("SELECT rev FROM stream").fetchone()
    for row in rows:
        rev += 1
        row["rev"] = rev
        places = ", ".join("?" * len(row))
        database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})",
                         list(row.values()))
    database.execute("UPDATE stream SET rev = ?", (rev,))


def add_host_samples(database, host, chance):
    """Counters that grow by a random share of what a busy host with two processors would add."""
    steps = {"cpu_user_ns": 8e9, "cpu_system_ns": 2e9, "cpu_idle_ns": 10e9, "cpu_iowait_ns": 1e8,
             "cpu_steal_ns": 1e7, "cpu_some_ns": 2e9, "memory_some_ns": 1e7, "memory_full_ns": 1e6,
             "io_some_ns": 5e8, "io_full_ns": 2e8, "disk_read_bytes": 4e7, "disk_write_bytes": 8e7,
             "disk_read_count": 800, "disk_write_count": 900, "disk_busy_ns": 1e9,
             "network_received_bytes": 2e6, "network_sent_bytes": 5e5, "network_dropped_count": 1}
    levels = {"running_count": 4, "blocked_count": 1, "load_milli": 3000,
              "memory_available_bytes": 3e9, "memory_free_bytes": 1e9, "memory_cache_bytes": 2e9,
              "memory_dirty_bytes": 5e6, "swap_used_bytes": 0}
    begin, end, boot_unix_ns = database.execute(
        "SELECT first_seen_unix_ns, last_seen_unix_ns, boot_unix_ns FROM hosts").fetchone()
    counters = {name: int(step * chance.uniform(0, 1e5)) for name, step in steps.items()}
    rows = []
    for unix_ns in range(begin, end, HOST_SAMPLE_S * SECOND_NS):
        for name, step in steps.items():
            counters[name] += int(step * chance.random())
        now = {name: int(level * chance.random()) for name, level in levels.items()}
        rows.append({"host_id": host, "unix_ns": unix_ns, "boot_ns": unix_ns - boot_unix_ns,
                     **counters, **now})
    insert(database, "host_samples", rows)


def add_process(database, begin_ns, samples):
    """Adds a running process with these samples, modelled on the first process of a pipeline."""
    database.row_factory = sqlite3.Row
    process = dict(database.execute(
        "SELECT * FROM process_rows WHERE cpu_ns > 0 AND tool_id IN"
        " (SELECT id FROM tools WHERE run_id NOT IN (SELECT id FROM runs WHERE kind = 'system'))"
        " ORDER BY begin_boot_ns LIMIT 1").fetchone())
    database.row_factory = None
    begin_unix_ns = process["started_unix_ns"] + begin_ns - process["begin_boot_ns"]
    process |= {"id": process["id"] ^ 1, "begin_boot_ns": begin_ns, "end_boot_ns": None,
                "ended": None, "started_unix_ns": begin_unix_ns, "totals": "sample",
                "exit_code": None, "sent_bytes": 0, "received_bytes": 0}
    process |= {name: samples[-1][name] for name in ("cpu_ns", "read_bytes", "write_bytes")}
    insert(database, "process_rows", [process])
    insert(database, "samples", [{"process_id": process["id"], "sent_bytes": 0,
                                  "received_bytes": 0, **sample} for sample in samples])


def add_worker(database, chance):
    """A process that works as long as the host."""
    begin_ns, end_ns = database.execute(
        "SELECT min(begin_boot_ns), max(end_boot_ns) FROM runs").fetchone()
    now = dict.fromkeys(("cpu_ns", "run_delay_ns", "read_bytes", "write_bytes"), 0)
    samples = []
    for boot_ns in range(begin_ns, end_ns, SECOND_NS):
        for name, most in (("cpu_ns", SECOND_NS), ("run_delay_ns", SECOND_NS // 10),
                           ("read_bytes", 10**7), ("write_bytes", 10**6)):
            now[name] += chance.randrange(most)
        samples.append({"boot_ns": boot_ns + chance.randrange(SECOND_NS // 100), **now,
                        "rss_anon_bytes": 4096 * chance.randrange(10**5), "thread_count": 4,
                        "rss_file_bytes": 4096 * 3000, "rss_shmem_bytes": 0, "swap_bytes": 0,
                        "uninterruptible_count": 0})
    add_process(database, begin_ns, samples)


def make_host(programs, directory, number, rounds):
    """Creates a host's directory with its store. Returns {entity: rows}."""
    place = directory / f"host-{number}"
    place.mkdir()
    store = place / "tracer.db"
    with simulated.Replay(programs, store, number, rounds, ROUND_MS) as replay:
        replay.finish()
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        host, = database.execute("SELECT id FROM hosts").fetchone()
        chance = random.Random(number)
        add_worker(database, chance)
        add_host_samples(database, host, chance)
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return simulated.row_counts(store)


# --- shipping -----------------------------------------------------------------------------

def ship(programs, lake, place):
    """Runs one host's shipper to its end. Returns its status."""
    command(*simulated.shipper_command(programs, lake, place / "tracer.db", place), "--once")
    return simulated.shipper_status(place)


def children_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def most_parts(lake):
    """The largest number of parts of any table."""
    return int(lake.value("SELECT max(parts) FROM (SELECT count() AS parts FROM system.parts"
                          " WHERE active AND database = 'tracer' GROUP BY table)"))


def ship_all(programs, lake, places):
    """Ships every host's store to the lake, with some shippers in parallel. Returns the costs."""
    server = lake.process.pid
    lake_s, shippers_s, begin = simulated.cpu_s(server), children_cpu_s(), time.monotonic()
    with simulated.Sampler(lambda: most_parts(lake), 1) as sampler, \
            concurrent.futures.ThreadPoolExecutor(SHIPPERS) as pool:
        statuses = list(pool.map(lambda place: ship(programs, lake, place), places))
    return {"wall_s": time.monotonic() - begin,
            "batches": sum(status["sent_batch_count"] for status in statuses),
            "wire_bytes": sum(status["sent_bytes"] for status in statuses),
            "sent_rows": sum(status["sent_row_count"] for status in statuses),
            "parts_most": max((count for _, count in sampler.seen), default=0),
            "lake_cpu_s": simulated.cpu_s(server) - lake_s,
            "shippers_cpu_s": children_cpu_s() - shippers_s,
            "lake_resident_bytes": lake.rss_bytes()}


def on_the_wire(programs, place):
    """{entity: (rows, bytes)} of one host's batches, measured with the file sink."""
    outbox, state = place / "outbox", place / "outbox-state"
    outbox.mkdir()
    state.mkdir()
    command(programs / "shipper/tracer-shipper", "--once", "--config", "/dev/null", "--store",
            place / "tracer.db", "--state", state, "--directory", outbox, "--log-level", "error")
    # HOST.ENTITY.FROM-TO.ROWS.ndjson.zst
    return {name.split(".")[1]: (int(name.split(".")[3]), (outbox / name).stat().st_size)
            for name in sorted(path.name for path in outbox.iterdir())}


# --- questions ----------------------------------------------------------------------------

# Columns that end in _id but are not ids of the model.
NOT_IDS = {"user_id", "sender_user_id", "exec_id", "boot_id", "runtime_id", "cloud_instance_id"}
COPY_AGE_NS = 40 * 86_400 * SECOND_NS # the tables' partitions are months


def multiply(lake, copies):
    """Copies each row `copies` times with other ids, each copy older, to simulate a larger fleet
    and the history of a year."""
    for entity in simulated.ENTITIES:
        columns = [name for name, in lake.rows(
            "SELECT name FROM system.columns WHERE database = 'tracer'"
            f" AND table = '{entity}_rows'")]
        cells = {name: f"bitXor({name}, bitShiftLeft(toInt64(copy), 52))" for name in columns
                 if (name == "id" or name.endswith("_id")) and name not in NOT_IDS}
        cells |= {name: f"{name} - copy * {COPY_AGE_NS}" for name in columns if name.endswith("unix_ns")}
        cells["hostname"] = "concat(hostname, '-', toString(copy))"
        lake.query(f"INSERT INTO tracer.{entity}_rows ({', '.join(columns)})"
                   f" SELECT {', '.join(cells.get(name, name) for name in columns)}"
                   f" FROM tracer.{entity}_rows ARRAY JOIN range(1, {copies + 1}) AS copy",
                   timeout=simulated.COMMAND_LIMIT_S)


def some_run(lake):
    """A run in the middle of a middle host's history."""
    return lake.value(
        "SELECT lower(leftPad(hex(id), 16, '0')) FROM tracer.runs WHERE kind = 'command'"
        " AND host_id = (SELECT id FROM tracer.hosts ORDER BY id LIMIT 1"
        "     OFFSET (SELECT intDiv(count(), 2) FROM tracer.hosts))"
        " ORDER BY started_unix_ns LIMIT 1 OFFSET 1")


def questions(programs, lake):
    """{question: function that asks it}"""
    run = some_run(lake)
    environment = simulated.settings_of(lake, "analyst")

    def tracer(*arguments):
        return lambda: command(programs / "cli/tracer", *arguments, env=environment).splitlines()

    def sql(text):
        return lambda: lake.rows(text, user="analyst", database="tracer",
                                 timeout=simulated.COMMAND_LIMIT_S)

    return {"this run: `tracer --lake URL show RUN`": tracer("show", run),
            "its processes: `show --processes RUN`": tracer("show", "--processes", run),
            "latest runs: `tracer --lake URL runs`": tracer("runs"),
            "p95 peak RSS of each tool, all hosts": sql(P95_PEAK),
            "idle hosts": tracer("query", "host_idle", "--csv")}


def ask(programs, lake):
    """{question: {seconds: [...], rows}}"""
    answers = {}
    for name, asked in questions(programs, lake).items():
        seconds = []
        while len(seconds) < ASKED and sum(seconds) < ASK_LIMIT_S:
            begin = time.monotonic()
            answer = asked()
            seconds.append(time.monotonic() - begin)
        answers[name] = {"seconds": seconds, "rows": len(answer)}
    return answers


def asked_at(programs, lake):
    rows = {name: count for name, (count, _) in simulated.stored(lake).items()}
    return {"hosts": int(lake.value("SELECT count() FROM tracer.hosts")),
            "rows": sum(rows.values()), "answers": ask(programs, lake)}


# --- the section --------------------------------------------------------------------------

def measure(programs, directory, lake, hosts, rounds, copies):
    command(programs / "cli/tracer", "lake", "init", env=simulated.settings_of(lake, "migrator"))
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda number: make_host(programs, directory, number, rounds),
                               range(1, hosts + 1)))
    rows = {name: sum(count[name] for count in counts) for name in simulated.ENTITIES}
    note(f"{hosts} stores with {sum(rows.values())} rows: {time.monotonic() - begin:.0f} s")
    places = [directory / f"host-{number}" for number in range(1, hosts + 1)]
    results = {"hosts": hosts, "rows": rows} | ship_all(programs, lake, places)
    note(f"shipped: {results['wall_s']:.0f} s")
    before_s = simulated.cpu_s(lake.process.pid)
    simulated.settle(lake)
    results["merge_cpu_s"] = simulated.cpu_s(lake.process.pid) - before_s
    results["stored"] = simulated.stored(lake)
    if {name: count for name, (count, _) in results["stored"].items()} != {
            name: count for name, count in rows.items() if count}:
        raise AssertionError(f"the stores have {rows}, the lake {results['stored']}")
    results["compared_rows"] = sum(simulated.compare(lake, place / "tracer.db")
                                   for place in (places[0], places[-1]))
    results["store_bytes"] = sum((place / "tracer.db").stat().st_size for place in places)
    results["wire"] = on_the_wire(programs, places[0])
    for place in places:
        shutil.rmtree(place)
    results["asked"] = [asked_at(programs, lake)]
    if copies:
        begin = time.monotonic()
        multiply(lake, copies)
        note(f"{copies} times as much: {time.monotonic() - begin:.0f} s")
        results["asked"].append(asked_at(programs, lake))
    return results
