#!/usr/bin/env python3
"""Cuts a recording down to the processes of marked commands, so that it contains nothing else of
the machine on which it was made.

    recording_cut.py RECORDING RESULT

The mark is a program called `tracer` with the argument `run`. The result keeps the processes that
executed the mark (without their parents) and their descendants, every scan, and the cgroups of
these processes. Names of machine and cgroups are replaced by fixed values, so this tool does not
suit containers. Losses are left out: they belong to the machine.
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from wire_client import MAGIC, frame, message, padded, read_recording, record  # noqa: E402 (found by the path above)

DISGUISE = {"cpu_count": 2, "memory_bytes": 4 << 30, "boot_id": "00000000-0000-4000-8000-000000000000",
            "host_id": "0" * 32, "hostname": "golden", "kernel": "6.1.0"}
NOBODY = [0, 0, 0]


class Cut:
    """Selects what is kept. A cgroup is announced before it is used, so a recording is read twice."""

    def __init__(self):
        self.is_root = {}  # {kept process: whether it executed the mark itself}
        self.cgroups = set()

    def keeps(self, event):
        """Returns whether an event is kept; updates the sets of kept processes and cgroups."""
        kind, image = event["message"], tuple(event.get("image", NOBODY)[:2])
        if kind == "cgroup":
            event |= dict(path="/golden", flags=0)
            return event["cgroup_id"] in self.cgroups
        if kind == "fork" and tuple(event["parent"][:2]) in self.is_root:
            self.is_root[image] = False
        if kind == "exec" and event["filename"].endswith("/tracer") and event["argv"][1:2] == ["run"]:
            self.is_root.setdefault(image, True)
        if image not in self.is_root:
            return False
        if kind in ("exec", "sample") and self.is_root[image]:
            event["parent"] = NOBODY
        if kind in ("fork", "exec"):
            self.cgroups.add(event["cgroup_id"])
        return True

    def frames(self, path):
        """Frames of what is kept of a recording."""
        for values in read_recording(path):
            kind = values["message"]
            if kind == "hello":
                yield frame(message(kind, **reported(values | DISGUISE)))
            elif kind == "scan":
                yield frame(message(kind, **reported(values)))
            elif kind != "loss" and self.keeps(values):
                offset = values.pop("offset", None)  # present for records in the ring
                data = record(kind, **reported(values))
                yield frame(message("sample", records=padded(data)) if offset is None
                            else message("event", offset=offset, record=data))


def reported(values):
    """The fields in the form that wire_client takes, without unknown ones."""
    values = {name: value for name, value in values.items() if name != "message"}
    if "counters" in values:
        values["counters"] = {name: value for name, value in values["counters"].items() if value is not None}
    return values


def main():
    recording, result = map(pathlib.Path, sys.argv[1:])
    cut = Cut()
    for _ in cut.frames(recording):
        pass
    if not cut.is_root:
        sys.exit(f"{recording}: nobody in it executed `tracer run`")
    cut.is_root = dict.fromkeys((image for image, is_root in cut.is_root.items() if not is_root), False)
    result.write_bytes(MAGIC + b"".join(cut.frames(recording)))


if __name__ == "__main__":
    main()
