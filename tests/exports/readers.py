"""Readers of exports that are not Tracer's: packages of npm, which package-lock.json pins, kept in .cache of the checkout."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import npm  # noqa: E402 (found by the path above)
from testing import Skip, same  # noqa: E402


def packages():
    """The folder that has node_modules."""
    try:
        return npm.once("exports", [HERE / "package-lock.json"], lambda cache: npm.install(HERE, cache))
    except npm.Unavailable as reason:
        raise Skip(reason) from None


def read_otlp(requests):
    """OpenTelemetry's library reads these lines. Returns the number of spans."""
    result = subprocess.run(["node", HERE / "read_otlp.js", packages()], input="\n".join(requests), capture_output=True,
                            text=True, check=False)
    same(f"status of OpenTelemetry's reader: {result.stderr[-1500:]}", result.returncode, 0)
    return int(result.stdout)


def read_crate(text):
    """RO-Crate's library reads it, and follows its links. Returns what it says about actions."""
    result = subprocess.run(["node", HERE / "read_crate.js", packages()], input=text, capture_output=True, text=True, check=False)
    same(f"status of RO-Crate's reader: {result.stderr[-3000:]}", result.returncode, 0)
    return json.loads(result.stdout)


def spans_of(requests):
    """Every span with its resource and attributes as dictionaries."""
    for request in map(json.loads, requests):
        for part in request["resourceSpans"]:
            for scope in part["scopeSpans"]:
                for span in scope["spans"]:
                    yield {**span, "resource": plain(part["resource"]["attributes"]), "attributes": plain(span["attributes"])}


def plain(attributes):
    return {each["key"]: int(each["value"]["intValue"]) if "intValue" in each["value"] else each["value"]["stringValue"]
            for each in attributes}
