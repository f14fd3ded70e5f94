#!/usr/bin/env python3
"""The file that tracer report writes, read without a browser: its figures are those of the other commands, what is
shared says nothing about its origin, and nothing in it can be requested or executed that is not its own.

usage: check_data.py BUILD-DIRECTORY [NAME...]
"""

import base64
import contextlib
import hashlib
import pathlib
import re
import shlex
import sqlite3
import sys
import zlib

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from page_data import Page  # noqa: E402 (found by the path above)
from pages import HOSTS, run  # noqa: E402
from testing import hold, same  # noqa: E402

KINDS = ("snakemake", "recorded", "failed", "killed", "running", "incomplete", "empty", "gpu", "hostile")
SHELL_BYTES_MAX = 250_000
COMMAND_SIZE = 8000 # longer ones are cut
# A pixel of 1,000 is less than what rounding to microseconds takes from the figures of a series.
SERIES_DIFFERENCE_MAX = 0.001
UNSEEN = ((0x00, 0x1f), (0x7f, 0x9f), (0xad, 0xad), (0x34f, 0x34f), (0x61c, 0x61c), (0x115f, 0x1160), (0x17b4, 0x17b5),
          (0x180b, 0x180f), (0x200b, 0x200f), (0x2028, 0x202e), (0x2060, 0x206f), (0x3164, 0x3164), (0xfe00, 0xfe0f),
          (0xfeff, 0xfeff), (0xffa0, 0xffa0), (0xfff9, 0xfffb), (0x1bca0, 0x1bca3), (0x1d173, 0x1d17a), (0xe0000, 0xe0fff))
NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}


def is_unseen(character):
    return any(first <= ord(character) <= last for first, last in UNSEEN)


def escaped(text):
    """As common/text.h does it."""
    return "".join(character if not is_unseen(character) else NAMED.get(character) or
                   (f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"\\u{{{ord(character):04x}}}")
                   for character in text)


def text_of(row, name):
    """A text of the JSON as it is shown; what is not UTF-8 is escaped there already."""
    if row[name] is None or row[name] == "":
        return None
    return row[name] if row.get(f"{name}_escaped") else escaped(row[name])


def microseconds(nanoseconds):
    return None if nanoseconds is None else nanoseconds // 1000


def span(row, run):
    """The columns that tasks, tools and processes share, from the JSON."""
    return {"begin_us": microseconds(row["begin_boot_ns"] - run["begin_boot_ns"]), "wall_us": microseconds(row["wall_ns"]),
            "cpu_us": microseconds(row["cpu_ns"]), "wait_us": microseconds(row["run_delay_ns"]),
            "gpu_busy_us": microseconds(row["gpu_busy_ns"]), "gpu_peak_bytes": row["gpu_peak_bytes"],
            **{name: row[name] for name in ("peak_rss_bytes", "read_bytes", "write_bytes", "sent_bytes", "received_bytes")}}


def tasks_expected(said):
    index = {task["id"]: number for number, task in enumerate(said["tasks"])}
    for task in said["tasks"]:
        yield {
            **{name: text_of(task, name) for name in ("name", "label", "status", "kind")}, **span(task, said["run"]),
            "id": task["id"], "parent": index.get(task["parent_task_id"]), "retried_by": index.get(task["retried_by_id"]),
            "storage_us": microseconds(task["block_io_delay_ns"]), "memory_wait_us": microseconds(task["memory_delay_ns"]),
            **{name: task[name] for name in (
                "concurrent_memory_bytes", "memory_limit_bytes", "cgroup_peak_bytes", "core_limit_milli",
                "requested_thread_count", "process_count", "failed_count", "lost_count", "partial_count", "exit_code",
                "signal")}}


def task_rows(page):
    for row in page.rows("tasks"):
        row |= {name: page.text(row[name]) for name in ("name", "label", "status", "kind", "command", "sample", "bound_by")}
        yield row | {"id": f"{row['id_high'] << 32 | row['id_low']:016x}"}


def differences(what, found, expected):
    """Lines about columns of `expected` that differ; the rows must be in the same order."""
    same(f"number of {what}", len(found), len(expected))
    return [f"{what} {number}: {name} {row.get(name)!r}, expected {value!r}"
            for number, (row, wanted) in enumerate(zip(found, expected)) for name, value in wanted.items()
            if row.get(name, "no such column") != value]


def check_tasks(page, said):
    hold(differences("task", list(task_rows(page)), list(tasks_expected(said))))


def key_of(row, task):
    return task, row["begin_us"], row["name"]


def check_tools(page, said):
    """All tools of all tasks, whatever their order within a task."""
    found = [row | {"name": page.text(row["name"]), "role": page.text(row["role"])} for row in page.rows("tools")]
    expected = [{"task": number, "name": text_of(tool, "name"), "role": tool["role"], **span(tool, said["run"]),
                 "process_count": tool["process_count"], "failed_count": tool["failed_count"]}
                for number, task in enumerate(said["tasks"]) for tool in task["tools"]]
    assert [row["task"] for row in found] == sorted(row["task"] for row in found), "tools are not by task"
    hold(differences("tool", *(sorted(rows, key=lambda row: (row["task"], row["begin_us"], row["name"] or "", row["cpu_us"] or 0))
                               for rows in (found, expected))))


def put_on_one_clock(said):
    """Times of processes are those of their hosts; those of tools and tasks are on the clock of the run."""
    for task in said["tasks"]:
        begun = min((process["begin_boot_ns"] for process in task["processes"]), default=0)
        late = min((tool["begin_boot_ns"] for tool in task["tools"]), default=0) - begun
        for process in task["processes"]:
            process["begin_boot_ns"] += late


def check_processes(page, said):
    tools = page.tables["tools"]["task"]
    found = [row | {"task": tools[row["tool"]], "program": page.text(row["program"]), "command": page.text(row["command"])}
             for row in page.rows("processes")]
    expected = [{"task": number, "pid": process["pid"], "program": text_of(process, "program"), **span(process, said["run"]),
                 **{name: process[name] for name in ("exit_code", "signal", "failed", "oom_killed")},
                 "given": process["arguments"]}
                for number, task in enumerate(said["tasks"]) for process in task["processes"]]
    assert [row["tool"] for row in found] == sorted(row["tool"] for row in found), "processes are not by tool"
    found, expected = (sorted(rows, key=lambda row: (row["task"], row["begin_us"], row["pid"], row["cpu_us"] or 0))
                       for rows in (found, expected))
    given = [row.pop("given") for row in expected]
    hold(differences("process", found, expected))
    hold([f"command {row['command']!r}, expected {words!r}" for row, words in zip(found, given)
          if words and row["command"] and len(row["command"]) < COMMAND_SIZE and
          not any(is_unseen(letter) or letter == "\\" for letter in "".join(words))
          and shlex.split(row["command"]) != words])
    by_id = {(number, process["pid"], process["begin_boot_ns"]): process["id"]
             for number, task in enumerate(said["tasks"]) for process in task["processes"]}
    assert len(by_id) == len(found), "processes that cannot be told apart"


def check_series(page, said):
    """What was used over time adds up to the run's own figures, unless some of it was used before the run began."""
    run = said["run"]
    for title, total in (("cpu_us", run["cpu_ns"] / 1000), ("read_bytes", run["read_bytes"]),
                         ("write_bytes", run["write_bytes"]), ("gpu_us", (run["gpu_busy_ns"] or 0) / 1000)):
        found = sum(value or 0 for value in page.tables["series"][title])
        # Each step of each process is rounded down.
        least = total * (1 - SERIES_DIFFERENCE_MAX) - page.counts["series"] - page.counts["processes"]
        assert least <= found <= total * (1 + SERIES_DIFFERENCE_MAX) + 1, f"{title} of all steps is {found}, of the run {total}"
    for title, peak in ("memory_bytes", "peak_rss_bytes"), ("gpu_memory_bytes", "gpu_peak_bytes"):
        peaks = [process[peak] or 0 for task in said["tasks"] for process in task["processes"]]
        most = max((value or 0 for value in page.tables["series"][title]), default=0)
        assert most <= sum(peaks), f"{title}: {most}"
    at_once = [part["concurrent_memory_bytes"] for part in said.get("parts", [run])]
    most = max((value or 0 for value in page.tables["series"]["memory_bytes"]), default=0)
    assert None in at_once or most <= sum(at_once), f"memory over time: {most}, at one time: {at_once}"


def figures_are_those_of_show(pages, kind):
    page = Page(pages.page(kind))
    said = pages.json(kind, "show", "-p")
    put_on_one_clock(said)
    check_tasks(page, said)
    check_tools(page, said)
    check_processes(page, said)
    check_series(page, said)
    run = page.facts["run"]
    hold([f"{name} of the run is {run.get(name)!r}, expected {value!r}" for name, value in said["run"].items()
          if run.get(name) != value and name not in ("host", "core_limit_milli") and (name, value) != ("wall_ns", None)])
    for name in ("losses", "containers", "lower_bounds"):
        same(f"{name} of the page", page.facts[name], said[name])
    same("parts", [part["id"] for part in page.facts["parts"]], [part["id"] for part in said.get("parts", [])])
    for name, command in (("failures", ("failed",)), ("tune", ("tune",)), ("cost", ("cost", "--by", "task"))):
        answer, found = pages.json(kind, *command), page.facts[name]
        same(name, found, answer["failures"] if name == "failures" else answer)


def test_figures_are_those_of_tracer_show(pages):
    for kind in KINDS:
        try:
            figures_are_those_of_show(pages, kind)
        except AssertionError as error:
            raise AssertionError(f"{kind}: {error}") from error


def test_figures_of_a_run_on_many_hosts(pages):
    figures_are_those_of_show(pages, HOSTS)
    page = Page(pages.page(HOSTS))
    same("hosts of the tasks", set(page.tables["tasks"]["host"]), {0, 1, 2})
    same("names", sorted(host["hostname"] for host in page.facts["hosts"]), ["host-1", "host-2", "host-3"])


def test_gpus_are_over_time_and_unknown_where_nothing_is_reported(pages):
    """Of processes whose device is held by several, in a slice: memory, and no time."""
    page = Page(pages.page("gpu"))
    processes = page.rows("processes")
    used = {(row["gpu_busy_us"] is not None, row["gpu_peak_bytes"]) for row in processes}
    same("what is known of processes", used, {(False, None), (False, 4200 << 20), *((True, mib << 20) for mib in (14000, 5000, 6000))})
    # Every process with a GPU runs for longer than a step, and its peak is there from its begin to its end.
    assert max(page.tables["series"]["gpu_memory_bytes"]) >= 14000 << 20
    for kind in "succeeded", "snakemake":
        same(f"GPUs of {kind}", {row["gpu_peak_bytes"] for row in Page(pages.page(kind)).rows("tasks")}, {None})


def test_samples_are_those_of_tracer_show(pages):
    page, said = Page(pages.page("snakemake")), pages.json("snakemake", "show", "--by", "sample")
    same("samples", [row["sample"] for row in task_rows(page)], [text_of(task, "sample") for task in said["tasks"]])


def test_texts_are_escaped(pages):
    """No character of a traced program can hide or reorder what the page shows, and none ends an element."""
    page = Page(pages.page("hostile"))
    hold([f"{text[:100]!r} has a character that is not seen" for text in page.texts if any(map(is_unseen, text))])
    joined = "".join(page.texts)
    for shown in ("\\u{202e}gnp.exe", "\\nof two\\tlines\\r\\n", "\\xff\\xfe EVIL \\x80", "\\e[2J", "</script><!--"):
        assert shown in joined, f"{shown!r} is in no text"
    assert "EVIL" not in page.html, "a text of a traced program is in the file as it is"


def test_a_line_of_texts_that_is_too_long_is_left_out(pages):
    """With --commands-size, and the page says of how many processes it has the command."""
    whole, part = Page(pages.page("succeeded")), Page(pages.page("succeeded", "--commands-size=10K"))
    same("commands", whole.facts["commands"]["shown"], whole.facts["commands"]["known"])
    same("known", part.facts["commands"]["known"], whole.facts["commands"]["known"])
    assert 0 < part.facts["commands"]["shown"] < part.facts["commands"]["known"], part.facts["commands"]
    same("shown", sum(index is not None for index in part.tables["processes"]["command"]), part.facts["commands"]["shown"])


def words_of(store):
    """What a store says about where it comes from: {text: column}."""
    columns = {"runs": ("name", "working_directory", "run_key"), "tasks": ("name", "label", "working_directory"),
               "tools": ("name",), "processes": ("program", "path", "arguments", "working_directory"),
               "hosts": ("hostname", "host_key", "kernel_build", "vendor", "product", "asset_tag", "boot_id"),
               "containers": ("name", "image", "cgroup_path", "runtime_id"), "incidents": ("sender_program",)}
    words = {}
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        database.text_factory = lambda data: data.decode(errors="backslashreplace")
        for table, names in columns.items():
            for name in names:
                for value, in database.execute(f"SELECT DISTINCT {name} FROM {table} WHERE {name} IS NOT NULL"):
                    parts = value.decode(errors="backslashreplace").split("\0") if isinstance(value, bytes) else [value]
                    words |= {part: f"{table}.{name}" for part in parts}
    return words


def is_telling(word):
    """Not a word of the language or of the model, such as `bash`, `sort` or `--threads`."""
    return len(word) > 4 and word not in ENGINES and (re.search(r"[/._]|[A-Z]{3}", word) or " " in word or word in PROGRAMS)


ENGINES = ("snakemake", "nextflow", "make")
PROGRAMS = ("wgsim", "samtools", "reference.py")


def test_what_is_shared_does_not_say_where_it_comes_from(pages):
    for kind in ("snakemake", "recorded", "failed", "hostile"):
        page = Page(pages.page(kind, "--share"))
        whole = page.html + page.data.decode(errors="backslashreplace")
        assert page.facts["shared"] is True, page.facts["shared"]
        found = [f"{kind}: {word[:80]!r} of {column}" for word, column in words_of(pages.store(kind)).items()
                 if is_telling(word) and word in whole]
        hold(found + [f"{kind}: {word!r}" for word in ("EVIL", "4242424242", "cohort7", "golden", "node17")
                      if word.encode() in page.data])
        same("commands", set(page.tables["processes"]["command"]) | set(page.tables["tasks"]["command"]), {None})
        same("users", set(page.tables["tasks"].get("user_id", [None])), {None})
        assert page.facts["run"].get("user_id") is None, page.facts["run"]["user_id"]


def test_shared_names_are_stable(pages):
    """The same name has the same replacement, in one page and in the next, and two names have two."""
    whole, shared = ([row["name"] for row in task_rows(Page(pages.page("failed", *options)))] for options in ((), ("--share",)))
    pairs = set(zip(whole, shared))
    same("names and their replacements", len(pairs), len(set(whole)))
    same("replacements", len(set(shared)), len(set(whole)))
    other = [row["name"] for row in task_rows(Page(pages.page("succeeded", "--share")))]
    assert set(other) & set(shared), "no name of another run is replaced alike"
    figures = [[row["cpu_us"] for row in task_rows(Page(pages.page("failed", *options)))] for options in ((), ("--share",))]
    same("figures", figures[1], figures[0])


def test_nothing_is_requested_or_executed_but_its_own(pages):
    page = Page(pages.page("hostile"))
    policy = page.elements.find("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    rules = dict(rule.split(maxsplit=1) for rule in filter(None, map(str.strip, policy.split(";"))))
    same("default", rules.get("default-src"), "'none'")
    allowed = {"script-src", "style-src", "default-src", "img-src", "base-uri", "form-action"}
    assert set(rules) <= allowed, f"more than is needed: {policy}"
    assert rules.get("img-src", "'none'") in ("'none'", "data:"), policy
    for kind in ("script", "style"):
        texts = ["".join(text) for tag, attributes, text in page.elements.all
                 if tag == kind and attributes.get("type", "text/javascript") in ("text/javascript", "module", "text/css")]
        same(f"hashes of {kind}", sorted(rules[f"{kind}-src"].split()), sorted(
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts))
    for tag, attributes, _ in page.elements.all:
        for name, value in attributes.items():
            assert name not in ("src", "srcset", "action", "data", "style") and not name.startswith("on"), f"{tag} {name}={value}"
            assert name != "href" or value.startswith(("#", "data:,")), f"{tag} {name}={value}"
    shell = page.html.replace("http://www.w3.org/", "")
    found = re.findall(r"(?:https?|wss?)://\S{0,40}|(?<![.\w])(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts)\(", shell)
    assert not found, f"can request: {found}"


def test_the_data_alone(pages):
    path = pages.directory / "data"
    pages.ask("failed", "report", "--format", "data", "-o", str(path))
    alone, page = zlib.decompress(path.read_bytes()), Page(pages.page("failed"))
    same("its data are those in the page", alone, page.data)


def test_the_shell_is_small(pages):
    bytes_ = Page(pages.page("empty")).shell_bytes
    assert bytes_ <= SHELL_BYTES_MAX, f"{bytes_} bytes without data, {SHELL_BYTES_MAX} at most"


if __name__ == "__main__":
    sys.exit(run(__doc__, "page-data", globals(), lambda test, pages, _: test(pages)))
