"""What is known to be true of a workload's processes: what its actors wrote (truth.h), and what the runner sampled."""

import collections
import dataclasses
import struct

EVENT = struct.Struct("=4Q")
HEAD = struct.Struct("=4I 4Q 4Q 2Q Q 32s")
HOLD, FILE, REAPED = 1, 2, 3
EXEC, FORK = 1, 2
RUNS, EXIT, KILL, BECOMES = range(4)


@dataclasses.dataclass
class Image:
    """One program image of an actor."""

    pid: int
    begin: int
    end: int
    status: int
    begin_boot_ns: int
    end_boot_ns: int
    begin_cpu_ns: int
    end_cpu_ns: int
    rchar_bytes: int
    wchar_bytes: int
    syscr_count: int
    syscw_count: int
    sent_bytes: int
    received_bytes: int
    name: str
    events: list

    @property
    def reaped(self):
        """{pid of a child: its CPU time in ns, and that of its reaped children}."""
        return {found: number * 1000 for _, found, number, kind in self.events if kind == REAPED}


def read_image(path):
    data = path.read_bytes()
    *numbers, count, name = HEAD.unpack_from(data)
    events = [EVENT.unpack_from(data, HEAD.size + EVENT.size * i) for i in range(count)]
    return Image(*numbers, name.rstrip(b"\0").decode(), events)


def read_images(directory):
    """Those of all actors, in the order of their begins."""
    images = [read_image(path) for path in directory.glob("[0-9]*-[0-9]*")]
    return sorted((image for image in images if image.pid), key=lambda image: image.begin_boot_ns)


class Curve:
    """A number of bytes over time."""

    def __init__(self, points=()):
        self.points = sorted(points)

    def peak(self):
        return max((number for _, number in self.points), default=0)


def held(images, with_files):
    """Curve of the memory that these images hold together, each object once, as their events say. What a killed image
    held ends with the last that is known of it. Files in memory stay."""
    changes = []
    for image in images:
        mine = {}
        for boot_ns, found, number, kind in image.events:
            if kind == HOLD:
                mine[found] = number
                changes.append((boot_ns, (image.pid, image.begin_boot_ns), found, number))
            elif kind == FILE and with_files:
                changes.append((boot_ns, None, found, number))
        end_ns = image.end_boot_ns or (image.events[-1][0] if image.events else image.begin_boot_ns)
        changes += [(end_ns, (image.pid, image.begin_boot_ns), found, 0) for found, number in mine.items() if number]
    holders, total, points = collections.defaultdict(dict), 0, []
    for boot_ns, holder, found, number in sorted(changes, key=lambda change: change[0]):
        before = max(holders[found].values(), default=0)
        holders[found][holder] = number
        total += max(holders[found].values()) - before
        points.append((boot_ns, total))
    return Curve(points)


class Samples:
    """What the runner sampled of processes: {pid: bytes} at times, in which shared memory counts by shares (PSS)."""

    def __init__(self):
        self.taken = []

    def add(self, boot_ns, shares):
        self.taken.append((boot_ns, shares))

    def of(self, rows):
        """Curve of the sum of these rows of processes."""
        return Curve((boot_ns, sum(shares.get(row["pid"], 0) for row in rows
                                   if row["begin_boot_ns"] <= boot_ns <= (row["end_boot_ns"] or boot_ns)))
                     for boot_ns, shares in self.taken)
