"""What is known to be true of a workload's processes: what its actors wrote (truth.h), and what the runner sampled."""

import collections
import dataclasses
import os
import struct

EVENT = struct.Struct("=4Q")
HEAD = struct.Struct("=4I 4Q 4Q 2Q Q 32s")
HOLD, FILE, MAPPED, REAPED = range(1, 5)
EXEC, FORK = 1, 2
RUNS, EXIT, KILL, BECOMES = range(4)
MAPPABLE = 1 << 63 # objects that several programs can map: actor.c


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


def held(images, with_files, apart_ns=0, by_mapping=False):
    """Curve of the memory that these images hold together, each object once, as their events say. What a killed image
    held ends with the last that is known of it. Files in memory stay. With `apart_ns` each holds it so much longer, before
    and after, as long as it lives: the most that can be said of what is looked at only so often. With `by_mapping` memory
    that several programs can map counts for each of them."""
    changes = []
    for image in images:
        mine, me = {}, (image.pid, image.begin_boot_ns)
        end_ns = image.end_boot_ns or (image.events[-1][0] if image.events else image.begin_boot_ns)
        released = [(end_ns, found, 0, HOLD) for _, found, _, kind in image.events if kind == HOLD]
        for boot_ns, found, number, kind in image.events + released:
            if kind == HOLD:
                later_ns = apart_ns if number < mine.get(found, 0) else -apart_ns
                mine[found] = number
                changes.append((min(max(boot_ns + later_ns, image.begin_boot_ns), end_ns), me, found, number))
            elif kind == FILE and with_files:
                changes.append((boot_ns - apart_ns, None, found, number))
    holders, total, points = collections.defaultdict(dict), 0, []
    for boot_ns, holder, found, number in sorted(changes, key=lambda change: change[0]):
        most = sum if by_mapping and found & MAPPABLE else max
        before = most(holders[found].values()) if holders[found] else 0
        holders[found][holder] = number
        total += most(holders[found].values()) - before
        points.append((boot_ns, total))
    return Curve(points)


class Samples:
    """What the runner sampled of processes: {pid: (program, bytes)} at times, in which shared memory counts by shares (PSS)."""

    def __init__(self):
        self.taken = []

    def add(self, boot_ns, processes):
        self.taken.append((boot_ns, processes))

    def of(self, rows):
        """Curve of the sum of these rows of processes. One sample reads them one after the other, and may see a page with one
        process before it ends and with another after it: what counts was there in the next sample, too."""
        paths = {row["path"]: os.path.realpath(row["path"] or "") for row in rows}
        sums = [(boot_ns, sum(held_by(row, boot_ns, processes.get(row["pid"]), paths) for row in rows))
                for boot_ns, processes in self.taken]
        return Curve((boot_ns, min(number, following)) for (boot_ns, number), (_, following) in zip(sums, sums[1:]))


def held_by(row, boot_ns, process, paths):
    """Before its exec a process has its parent's memory, and another program."""
    if not process or not row["begin_boot_ns"] <= boot_ns <= (row["end_boot_ns"] or boot_ns):
        return 0
    program, number = process
    return number if row["began"] != "exec" or program == paths[row["path"]] else 0
