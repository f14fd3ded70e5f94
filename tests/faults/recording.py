"""Rewrites recordings: the same stream with other clocks, or repeated.

The layouts are those of docs/wire.md and bpf/record.h; anything that is not a time is unchanged.
"""

import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from wire_client import MAGIC, RECORD_TYPES, frame, message, split_frames, unpack_message  # noqa: E402

# struct record_header: type, size, boot_ns, pid, exec_id, start_boot_ns; an image_key follows in
# records about a second process.
HEADER, BOOT_AT, START_AT, SECOND_START_AT = "<IIQIIQ", 8, 24, 40
WITH_SECOND = {RECORD_TYPES[name] for name in ("fork", "exec", "sample", "signal")}


def read(path):
    """[(name, {field: value})] of a recording; one that is still being written may end anywhere."""
    return [unpack_message(body) for body in split_frames(path.read_bytes()[len(MAGIC):])[0]]


def write(path, messages):
    with open(path, "wb") as file:
        file.write(MAGIC)
        file.writelines(frame(message(name, **values)) for name, values in messages)


def record_shift(record, at, shift):
    """Applies `shift` to every time in the record at that position."""
    kind = struct.unpack_from(HEADER, record, at)[0]
    places = (BOOT_AT, START_AT) + ((SECOND_START_AT,) if kind in WITH_SECOND else ())
    for place in places:
        time, = struct.unpack_from("<Q", record, at + place)
        struct.pack_into("<Q", record, at + place, shift(time) if time else 0)


def samples_shift(records, shift):
    """Shifts the records of a message, each padded to 8 bytes."""
    whole, at = bytearray(records), 0
    while at < len(whole):
        record_shift(whole, at, shift)
        at += (struct.unpack_from(HEADER, whole, at)[1] + 7) & ~7
    return bytes(whole)


def shifted(messages, shift_boot=lambda ns: ns, shift_unix=lambda unix_ns, boot_ns: unix_ns,
            shift_offset=0):
    """The stream with other times. `shift_unix` also gets the original boot time."""
    reported = []
    for name, values in messages:
        values = dict(values)
        for field in [field for field in values if field.endswith("boot_ns")]:
            if "unix_ns" in values and field == "boot_ns":
                values["unix_ns"] = shift_unix(values["unix_ns"], values["boot_ns"])
            values[field] = shift_boot(values[field])
        for field in ("offset", "ring_offset"):
            if field in values:
                values[field] += shift_offset
        if name == "event":
            record = bytearray(values["record"])
            record_shift(record, 0, shift_boot)
            values["record"] = bytes(record)
        if name == "sample":
            values["records"] = samples_shift(values["records"], shift_boot)
        reported.append((name, values))
    return reported
