"""Starts tracer-probe for a test, with a recording or with a correlator of the test.

stop() ends it in any case; pins are in a directory of the test.
"""

import atexit
import contextlib
import os
import pathlib
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from daemons import Daemon  # noqa: E402 (the line above comes first)
from testing import EMULATED, PATIENCE_S, Repeatable, same, wait_until  # noqa: E402
from wire_client import MAGIC, VERSION, frame, message, read_frames, split_frames, unpack_message  # noqa: E402

# The kernel frees a process, and reports its final figures, up to this long after it was reaped; on a busy
# machine later, so a recording waits longer for those that it lacks: emulated beside 15 others, 6.1 took 4.9 s.
FINAL_RECORDS_S = 0.5
LATE_FINAL_RECORDS_S = 30 if EMULATED else 5


class KernelSilent(Repeatable, AssertionError):
    """Some kernels do not report a few in a thousand of the events that happen in an interrupt,
    such as the freeing of a process or a timer's signal: docs/model.md has the details."""


class Messages(list):
    """The messages that a probe has sent, in order."""

    def of(self, kind, pid=None):
        return [m for m in self if m["message"] == kind and (pid is None or m["image"][0] == pid)]

    def one(self, kind, pid):
        found = self.of(kind, pid)
        if kind == "final" and not found:
            raise KernelSilent(f"no final message of process {pid}")
        assert len(found) == 1, f"{len(found)} {kind} messages of process {pid}"
        return found[0]


def as_bytes(text):
    return text.encode("utf-8", "surrogateescape")


class Probe(Daemon):
    """One tracer-probe process; `within` is a command that executes it."""

    def __init__(self, build, *options, directory=None, wait=True, within=()):
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="tracer-probe-"))
        super().__init__("probe", [*within, pathlib.Path(build) / "probe/tracer-probe", *options],
                         self.directory / f"probe-{time.monotonic_ns()}.log")
        if wait:
            self.wait_ready()


class Recording:
    """A probe that records during a `with` block; afterwards `messages` has all messages."""

    def __init__(self, build, *options, within=(), directory=None):
        self.build = build
        self.within = within
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="tracer-probe-"))
        self.path = self.directory / "recording"
        self.options = options
        self.messages = Messages()
        self.read_bytes = len(MAGIC)

    def __enter__(self):
        self.probe = Probe(self.build, "--record", self.path, *self.options,
                           directory=self.directory, within=self.within)
        return self

    def __exit__(self, kind, value, traceback):
        if kind:
            self.probe.kill()
            return
        time.sleep(FINAL_RECORDS_S)
        try:
            self.wait_for_finals()
            self.probe.stop()
        finally:
            self.probe.kill()
        self.so_far()
        same("size of what is recorded", self.path.stat().st_size, self.read_bytes)

    def so_far(self):
        """The complete messages recorded so far. Each is decoded once: tests ask many times."""
        with open(self.path, "rb") as file:
            file.seek(self.read_bytes)
            data = file.read()
        _, rest = split_frames(data)
        if complete := data[:len(data) - len(rest)]:
            self.messages += read_frames(complete)
            self.read_bytes += len(complete)
        return self.messages

    def wait_for_finals(self, begin=0):
        """Until every process that has ended by now, after the first messages, has its final record, or it will
        never come. Returns the messages after the first ones."""
        deadline = time.monotonic() + LATE_FINAL_RECORDS_S
        found = Messages(self.so_far()[begin:])
        ended = {tuple(m["image"]) for m in found.of("exit")}
        while ended - {tuple(m["image"]) for m in found.of("final")} and time.monotonic() < deadline:
            time.sleep(0.1)
            found = Messages(self.so_far()[begin:])
        return found

    def wait_for(self, what, holds):
        """Waits until `holds` is true of the messages so far."""
        wait_until(what, lambda: holds(self.so_far()))

    def wait_for_sample(self, pid):
        """Waits until the probe has sampled that process from now on."""
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.wait_for(f"a look at process {pid}", lambda found: any(
            sample["boot_ns"] > now for sample in found.of("sample", pid)))


class Window:
    """A part of the recording of one probe, for tests that need none of their own: on emulated processors a start takes
    seconds. `messages` is set afterwards."""

    recording = None

    def __init__(self, build):
        self.build = build

    def __enter__(self):
        if not Window.recording:
            directory = tempfile.TemporaryDirectory(prefix="tracer-probe-", dir=os.environ.get("TMPDIR", "/tmp"))
            atexit.register(directory.cleanup)
            Window.recording = Recording(self.build, directory=directory.name)
            Window.recording.__enter__()
            atexit.register(Window.recording.probe.stop)
        self.begin = len(Window.recording.so_far())
        return self

    def __exit__(self, kind, value, traceback):
        if not kind:
            time.sleep(FINAL_RECORDS_S)
            self.messages = Window.recording.wait_for_finals(self.begin)


class Correlator:
    """The other end of the socket: receives messages, keeps them, and acknowledges them.

    `acknowledge`: whether it does so automatically. `frames` has the frames of all connections.
    """

    def __init__(self, directory, acknowledge=True):
        self.path = pathlib.Path(directory) / "tracer.sock"
        self.acknowledge = acknowledge
        self.reading = True
        self.delay_s = 0 # before each read
        self.frames = []
        self.known = Messages() # those of the first `known_frames`
        self.known_frames = 0
        self.hellos = []
        self.epoch = 0
        self.committed = 0 # next offset to request
        self.connection = None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        os.chmod(self.path, 0o666)
        os.chmod(directory, 0o755)
        self.listener.listen(4)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                self.connection, _ = self.listener.accept()
            except OSError:
                return
            try:
                self._talk(self.connection)
            except OSError:
                pass
            self.connection.close()

    def _talk(self, connection):
        data = b""
        while True:
            while not self.reading:
                time.sleep(0.02)
            time.sleep(self.delay_s)
            more = connection.recv(1 << 16)
            if not more:
                return
            bodies, data = split_frames(data + more)
            offsets = [self._take(connection, body) for body in bodies]
            if self.acknowledge and (last := max(filter(None, offsets), default=None)):
                # A probe that has ended may have left more to read.
                with contextlib.suppress(OSError):
                    self.commit(last)

    def _take(self, connection, body):
        """Returns the offset to acknowledge, if this message has one."""
        self.frames.append(frame(body))
        name, values = unpack_message(body)
        if name == "hello":
            epoch = values["ring_epoch"]
            self.hellos.append(epoch)
            known = epoch == self.epoch
            self.epoch = epoch
            self.committed = self.committed if known else 0
            connection.sendall(self.welcome(epoch if known else 0))
        return values["offset"] + 1 if name == "event" else None

    def welcome(self, epoch):
        return frame(message("welcome", version=VERSION, ring_epoch=epoch, offset=self.committed))

    def commit(self, offset):
        self.committed = max(self.committed, offset)
        self.connection.sendall(frame(message("ack", offset=self.committed)))

    def send(self, data):
        self.connection.sendall(data)

    def drop_connection(self):
        self.connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Ends the thread first: blocked on a descriptor that was merely closed, it would take the
        connections of the next listener with the same number."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.reading = True
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive(), "a probe that has ended is still connected"
        self.listener.close()
        self.path.unlink(missing_ok=True)

    def messages(self):
        """All messages so far."""
        if more := self.frames[self.known_frames:]:
            self.known += read_frames(b"".join(more))
            self.known_frames += len(more)
        return self.known

    def wait_for(self, condition):
        """Waits until `condition` is true of the messages so far, and returns them."""
        def known():
            messages = self.messages()
            return messages if condition(messages) else None
        return wait_until("the messages of the probe", known)


@contextlib.contextmanager
def connected(build, directory, *options, acknowledge=True):
    """A correlator of the test, and a function that starts a probe for it. Yields both."""
    correlator, probes = Correlator(directory, acknowledge), []

    def start():
        probes.append(Probe(build, "--socket", correlator.path, *options, directory=directory))
        return probes[-1]
    try:
        yield correlator, start
    finally:
        for probe in probes:
            probe.kill()
        correlator.close()
