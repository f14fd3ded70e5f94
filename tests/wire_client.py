"""The probe's side of the protocol in Python, for tests: encodes records and messages into frames,
decodes answers and recordings.

Messages and records are defined by the headers that the programs are compiled from, so a new field
or counter needs no change here. The code is independent, to reveal mistakes that encoder and
decoder of the programs share.

As a program, it prints a recording (tracer-probe --record) as JSON, one line for each record and each
other message:

    wire_client.py RECORDING
"""

import fcntl
import json
import pathlib
import re
import socket
import struct
import sys
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ANSWER_TIMEOUT_S = 60


def read_definitions(path):
    """{macro: its text} of a header's #define blocks, without comments, lines joined."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    return dict(re.findall(r"^#define (\w+)(?:\([^)]*\))?[ \t]*(.*)$", text, flags=re.M))


def read_structures(path):
    """{structure: [(type, field, items)]}; there is no implicit padding, pads are named fields."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)
    return {name: [(kind.split()[-1], field, size) for kind, field, size in re.findall(
        r"((?:struct )?\w+) (\w+)(?:\[(\w+)\])?;", body)]
        for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, flags=re.S | re.M)}


_messages = read_definitions("common/wire/messages.h")
VERSION = int(_messages["WIRE_VERSION"])
SAMPLER_VERSION = int(_messages["SAMPLER_VERSION"])
TYPES = {name: (int(number), re.findall(r"\b([UT])\((\w+)\)", _messages[f"WIRE_{upper}_FIELDS"]))
         for upper, name, number
         in re.findall(r"M\((\w+), (\w+), (\d+)\)", _messages["WIRE_MESSAGES"])}
NAMES = {number: name for name, (number, _) in TYPES.items()}
_records = read_definitions("bpf/record.h")
RECORD_VERSION = int(_records["RECORD_VERSION"])
COUNTERS = re.findall(r"X\((\w+),", _records["RECORD_COUNTERS"])
STRUCTURES = read_structures("bpf/record.h")
RECORD_TYPES = {name.lower(): int(number) for name, number in re.findall(
    r"^\tRECORD_(\w+) = (\d+),", (ROOT / "bpf/record.h").read_text(), flags=re.M)}
RECORD_NAMES = {number: name for name, number in RECORD_TYPES.items()}
RECORD_FLAGS = {name: 1 << int(shift) for name, shift in re.findall(
    r"^#define (\w+) \(1U << (\d+)\)", (ROOT / "bpf/record.h").read_text(), flags=re.M)}
FRAME_MAX = 64 * 1024
MAGIC = b"tracer-record-3\n" # of a recording; frames follow


def pack_unsigned(value):
    if value < 0x80:
        return bytes([value])
    for code, size in ((0xcc, 1), (0xcd, 2), (0xce, 4), (0xcf, 8)):
        if value < 1 << 8 * size:
            return bytes([code]) + value.to_bytes(size, "big")
    raise OverflowError(value)


def pack_array(count):
    return bytes([0x90 | count]) if count < 16 else b"\xdc" + struct.pack(">H", count)


def octets(value):
    """Bytes of a text in the form that text() returns."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def text(value):
    """Bytes as text without loss: what is not UTF-8 becomes lone surrogates, also in JSON."""
    return value.decode("utf-8", "surrogateescape")


def pack_bytes(value):
    value = octets(value)
    return b"\xc5" + struct.pack(">H", len(value)) + value


KINDS = {"U": (pack_unsigned, 0), "T": (pack_bytes, b"")}


def pack_counters(values):
    valid = sum(1 << COUNTERS.index(name) for name in values if name != "partial")
    valid |= bool(values.get("partial")) << 63 # COUNTERS_PARTIAL
    return struct.pack(f"={len(COUNTERS) + 1}Q", valid,
                       *[values.get(name, 0) for name in COUNTERS])


def pack_image(image):
    pid, start_boot_ns, exec_id = image
    return struct.pack("=IIQ", pid, exec_id, start_boot_ns)


NUMBERS = {"uint64_t": "=Q", "uint32_t": "=I", "int32_t": "=i", "uint16_t": "=H"}


def pack_structure(name, values):
    """The bytes of a structure of bpf/record.h; nested structures are given by field name."""
    data = b""
    for kind, field, size in STRUCTURES[name]:
        if kind == "counters":
            data += pack_counters(values.get(field, {}))
        elif kind == "image_key":
            data += pack_image(values.get(field, (0, 0, 0)))
        elif kind == "char":
            data += octets(values.get(field, b"")).ljust(int(_records[size]), b"\0")
        elif kind in NUMBERS:
            data += struct.pack(NUMBERS[kind], values.get(field, 0))
        else:
            data += pack_structure(kind, values)
    return data


def names_of(path):
    """An absolute path as the kernel side encodes it: names from the leaf to the root."""
    return b"".join(name + b"\0" for name in reversed(octets(path).split(b"/")[1:]))


def structure_of(name):
    return "record_" + {"sample": "exec", "final": "exit"}.get(name, name)


def record(name, filename="", cwd=b"", argv=(), path=b"", **values):
    """The bytes of one record."""
    texts = b""
    if name in ("exec", "sample"):
        cwd = names_of(cwd)
        filename = octets(filename) + b"\0" if name == "exec" else names_of(filename)
        arguments = b"".join(octets(word) + b"\0" for word in argv)[:int(_records["RECORD_ARGV_MAX"])]
        values |= dict(filename_size=len(filename), cwd_size=len(cwd), argv_size=len(arguments))
        texts = filename + cwd + arguments
    elif name == "cgroup":
        texts = names_of(path)
        values |= dict(path_size=len(texts))
    structure = structure_of(name)
    size = len(pack_structure(structure, {})) + len(texts)
    return pack_structure(structure, values | dict(type=RECORD_TYPES[name], size=size)) + texts


def unpack_structure(name, data, at=0):
    """({field: value} of a structure of bpf/record.h at that position, the position after it)."""
    values = {}
    for kind, field, size in STRUCTURES[name]:
        if kind == "counters":
            layout = f"={len(COUNTERS) + 1}Q"
            valid, *numbers = struct.unpack_from(layout, data, at)
            values[field] = {counter: number if valid >> bit & 1 else None
                             for bit, (counter, number) in enumerate(zip(COUNTERS, numbers))}
            values[field]["partial"] = bool(valid >> 63)
        elif kind == "image_key":
            layout = "=IIQ"
            pid, exec_id, start_boot_ns = struct.unpack_from(layout, data, at)
            values[field] = [pid, start_boot_ns, exec_id]
        elif kind == "char":
            layout = f"={_records[size]}s"
            values[field] = text(struct.unpack_from(layout, data, at)[0].split(b"\0")[0])
        elif kind in NUMBERS:
            layout = NUMBERS[kind]
            values[field], = struct.unpack_from(layout, data, at)
        else:
            nested, at = unpack_structure(kind, data, at)
            values |= nested
            continue
        at += struct.calcsize(layout)
    return values, at


def path_of(names, is_cut):
    """The path whose names from the leaf to the root are given, after a mark if it lacks the first ones."""
    assert names == b"" or names.endswith(b"\0"), names
    return "…" * (is_cut and names != b"") + "".join("/" + text(name) for name in reversed(names.split(b"\0")[:-1]))


def unpack_record(data):
    """{field: value} of a record, in the form that record() takes, with its name as "message"."""
    name = RECORD_NAMES[struct.unpack_from("=I", data)[0]]
    values, at = unpack_structure(structure_of(name), data)
    sizes = [values.pop(field) for field in ("filename_size", "cwd_size", "argv_size", "path_size")
             if field in values]
    assert values.pop("size") == len(data) == at + sum(sizes), f"a record {name} of impossible size"
    texts = [data[at + sum(sizes[:i]):at + sum(sizes[:i + 1])] for i in range(len(sizes))]

    def is_cut(flag):
        return bool(values["flags"] & RECORD_FLAGS[flag])
    if name == "cgroup":
        values["path"] = path_of(texts[0], is_cut("RECORD_CGROUP_TRUNCATED")) or "/"
    elif texts:
        program, cwd, arguments = texts
        cut = is_cut("RECORD_PATH_TRUNCATED")
        values["filename"] = text(program.split(b"\0")[0]) + "…" * cut if name == "exec" else path_of(program, cut)
        values["cwd"] = path_of(cwd, is_cut("RECORD_CWD_TRUNCATED"))
        values["argv"] = [text(word) for word in arguments.removesuffix(b"\0").split(b"\0")] if arguments else []
        if not is_cut("RECORD_CORE_LIMIT"):
            values["core_limit_milli"] = 0
    return {"message": name} | values


def padded(data):
    """A record padded to 8 bytes, as iterators write consecutive records."""
    return data.ljust(-(-len(data) // 8) * 8, b"\0")


def message(name, /, **values):
    """The bytes of one message; fields not given are 0 or empty."""
    number, fields = TYPES[name]
    unknown = set(values) - {field for _, field in fields}
    assert not unknown, f"{name} has no field {unknown}"
    body = [pack_array(len(fields) + 1), pack_unsigned(number)]
    for kind, field in fields:
        pack, default = KINDS[kind]
        body.append(pack(values.get(field, default)))
    return b"".join(body)


def frame(body):
    return struct.pack(">I", len(body)) + body


def unpack(data, at):
    """Decodes one unsigned integer or byte string of msgpack: (value, next position)."""
    first = data[at]
    if first < 0x80:
        return first, at + 1
    if first in (0xcc, 0xcd, 0xce, 0xcf):
        end = at + 1 + (1 << first - 0xcc)
        return int.from_bytes(data[at + 1:end], "big"), end
    assert first in (0xc4, 0xc5, 0xc6), f"a value begins with {first:#x}"
    begin = at + 1 + (1 << first - 0xc4)
    end = begin + int.from_bytes(data[at + 1:begin], "big")
    return data[begin:end], end


def unpack_message(body):
    """(name, {field: value}) of an encoded message."""
    number, position = unpack(body, 1 if body[0] & 0xf0 == 0x90 else 3)
    name, values = NAMES[number], {}
    for _, field in TYPES[name][1]:
        values[field], position = unpack(body, position)
    assert position == len(body), f"{name} has {len(body) - position} bytes more"
    return name, values


def split_frames(data):
    """(bodies of the complete frames, remaining bytes)."""
    bodies, at = [], 0
    while at + 4 <= len(data) and (end := at + 4 + int.from_bytes(data[at:at + 4], "big")) <= len(data):
        bodies.append(data[at + 4:end])
        at = end
    return bodies, data[at:]


def unpack_losses(slots):
    """Each slot is a cumulative count."""
    size = unpack_structure("loss_slot", bytes(len(slots)))[1]
    for at in range(0, len(slots), size):
        slot = unpack_structure("loss_slot", slots, at)[0]
        if slot["count"]:
            yield {"message": "loss"} | slot


def read_frames(data):
    """{field: value} of each record and other message in complete frames, with its name as "message"."""
    bodies, rest = split_frames(data)
    assert not rest, "the last message is cut"
    for name, values in map(unpack_message, bodies):
        if name == "event":
            yield unpack_record(values["record"]) | {"offset": values["offset"]}
        elif name == "sample":
            records, at = values["records"], 0
            while at < len(records):
                size = struct.unpack_from("=I", records, at + 4)[0]
                yield unpack_record(records[at:at + size])
                at += len(padded(records[at:at + size]))
        elif name == "losses":
            yield from unpack_losses(values["slots"])
        else:
            yield {"message": name} | {field: text(value) if isinstance(value, bytes) else value
                                       for field, value in values.items()}


def read_recording(path):
    data = pathlib.Path(path).read_bytes()
    assert data.startswith(MAGIC), f"{path}: not a recording of this version"
    return read_frames(data[len(MAGIC):])


class Peer:
    """One connection to a correlator."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ANSWER_TIMEOUT_S)
        self.socket.connect(str(path))
        self.received = b""
        self.acknowledged = None

    def send(self, data):
        self.socket.sendall(data)

    def send_message(self, name, /, **values):
        self.send(frame(message(name, **values)))

    def receive(self):
        """The next answer, or None if the correlator has closed the connection."""
        while not (bodies := split_frames(self.received)[0]):
            try:
                data = self.socket.recv(65536)
            except (ConnectionResetError, BrokenPipeError):
                return None
            if not data:
                return None
            self.received += data
        self.received = self.received[4 + len(bodies[0]):]
        name, values = unpack_message(bodies[0])
        if name == "ack":
            self.acknowledged = values["offset"]
        return name, values

    def greet(self, hello):
        """Sends the hello; returns the offset that the correlator requests."""
        self.send(hello)
        answer = self.receive()
        assert answer and answer[0] == "welcome", f"{answer!r} came instead of a welcome"
        assert answer[1]["version"] == VERSION
        return answer[1]["offset"]

    def wait_acknowledged(self, offset):
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while self.acknowledged is None or self.acknowledged < offset:
            assert time.monotonic() < deadline, f"no ack of {offset}, last {self.acknowledged}"
            assert self.receive(), f"closed before an ack of {offset}"

    def unread_bytes(self):
        """Bytes sent but not yet read by the correlator."""
        return struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4)))[0]

    def is_closed(self):
        """Whether the correlator ends the connection; pending answers are read first."""
        try:
            while self.receive():
                pass
        except TimeoutError:
            return False
        return True

    def close(self):
        self.socket.close()


class Story:
    """A possible event stream of a probe, as (offset, frame): processes that begin, do a little and end.

    Offsets are those of a ring; boot_ns increases with every event. Deterministic.
    """

    BOOT_ID = b"6d9b3f4e-0000-4000-8000-000000000001"
    CGROUP = 100
    INIT, SSHD = (1, 10, 0), (2, 20, 0)
    START_NS, EVENT_NS = 1_000_000_000, 1_000_000
    RING_STEP = 64

    def __init__(self, epoch=7):
        self.epoch = epoch
        self.events = []  # (offset, frame)
        self.running = {}  # pid: (image, parent, argv) of running processes
        self.moments = [({}, self.START_NS)]  # running processes and time before each event
        self.now = self.START_NS

    def hello(self, **values):
        defaults = dict(version=VERSION, record_version=RECORD_VERSION,
                        ring_epoch=self.epoch, boot_ns=self.now,
                        unix_ns=10**18 + self.now, cpu_count=2, memory_bytes=2**30,
                        boot_id=self.BOOT_ID, host_id=b"0123456789", hostname=b"host",
                        kernel=b"6.1", machine=b"x86_64", probe_version=b"1")
        return frame(message("hello", **(defaults | values)))

    def _event(self, name, **values):
        self.now += self.EVENT_NS
        offset = len(self.events) * self.RING_STEP
        self.events.append((offset, frame(message(
            "event", offset=offset, record=record(name, boot_ns=self.now, **values)))))

    def fork(self, parent, pid):
        image = (pid, pid * 1000, parent[2])
        self._event("fork", image=image, parent=parent, cgroup_id=self.CGROUP, pgid=pid)
        self._changed(pid, image, parent, self.running.get(parent[0], (0, 0, ("sshd",)))[2])
        return image

    def exec(self, image, parent, *argv):
        image = (image[0], image[1], image[2] + 1)
        self._event("exec", image=image, parent=parent, cgroup_id=self.CGROUP, pgid=image[0],
                    counters={"cpu_ns": 1_000_000}, comm=b"comm", cwd=b"/work",
                    filename="/usr/bin/" + argv[0], argv=argv)
        self._changed(image[0], image, parent, argv)
        return image

    def exit(self, image, status=0):
        for name, cpu_ns in (("exit", 4_000_000), ("final", 5_000_000)):
            self._event(name, image=image, counters={"cpu_ns": cpu_ns}, wait_status=status)
            self._changed(image[0])

    def _changed(self, pid, *process):
        self.running = {key: value for key, value in self.running.items() if key != pid}
        if process:
            self.running[pid] = process
        self.moments.append((self.running, self.now))

    def command(self, parent, pid, *argv, status=0):
        """A process from fork to exit: four events."""
        image = self.exec(self.fork(parent, pid), parent, *argv)
        self.exit(image, status)

    def commands(self, count, first_pid=100):
        for pid in range(first_pid, first_pid + count):
            self.command(self.SSHD, pid, "bwa", "index", str(pid), status=(pid % 7 == 0) << 8)
        return self

    @property
    def end(self):
        """The offset that acknowledges everything."""
        return self.events[-1][0] + 1 if self.events else 0

    def tell(self, wanted=0, until=None):
        """The frames of the events from offset `wanted` on, up to that event."""
        return b"".join(data for offset, data in self.events[:until] if offset >= wanted)

    def process_scan(self, moment=-1, now_ns=None):
        """A full scan: init, sshd, and the processes running before event `moment`."""
        running, now = self.moments[moment]
        now = now_ns or now
        crowd = [(self.INIT, (0, 0, 0), ("systemd",)), (self.SSHD, self.INIT, ("sshd",)),
                 *running.values()]
        samples = [record(
            "sample", boot_ns=now, image=image, parent=parent, cgroup_id=self.CGROUP,
            pgid=image[0], comm=b"comm", cwd=b"/work", counters={"cpu_ns": 0},
            filename="/usr/bin/" + argv[0], argv=argv) for image, parent, argv in crowd]
        return b"".join(frame(message("sample", records=padded(sample))) for sample in samples) + \
            frame(message("scan", boot_ns=now, unix_ns=10**18 + now, with_text=1,
                          backlog_bytes=0 if moment == -1 else len(self.events) - moment))


def connect(path, story, begin=0, until=None, acknowledged=False):
    """A probe that has sent its hello, a scan from before event `begin`, and the events up to `until`."""
    peer = Peer(path)
    wanted = peer.greet(story.hello())
    peer.send(story.process_scan(begin) + story.tell(wanted, until))
    if acknowledged:
        peer.wait_acknowledged(story.events[:until][-1][0] + 1)
    return peer


if __name__ == "__main__":
    for line in read_recording(sys.argv[1]):
        print(json.dumps(line))
