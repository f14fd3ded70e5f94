"""Starts tracer-probe for a test: with a recording, or with a correlator of the test's own.

Whatever happens, stop() ends what was started; pins are in a directory of the test's own.
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import CONFINED, EMULATED  # noqa: E402 (the line above comes first)

MAGIC = b"tracer-record-3\n"
READY_TIMEOUT_S = 120 if EMULATED else 60
SETTLE_TIMEOUT_S = 120 if EMULATED else 60
# The kernel frees a process, and says its final figures, up to this long after it was reaped.
FINAL_RECORDS_S = 0.5


class KernelSilent(AssertionError):
    """What comes in an interrupt, as the end of a process's memory or a timer's signal, some
    kernels tell nobody of, a few in a thousand: docs/model.md has what was found."""


class Messages(list):
    """What a probe has sent, in order."""

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


class Probe:
    """One tracer-probe process; `within`: a command that executes it."""

    def __init__(self, build, *options, directory=None, wait=True, within=()):
        self.build = pathlib.Path(build)
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="tracer-probe-"))
        self.log_path = self.directory / f"probe-{time.monotonic_ns()}.log"
        ready_read, ready_write = os.pipe()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*within, self.build / "probe/tracer-probe", "--ready-fd", str(ready_write),
                 *map(str, options)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[ready_write], env=CONFINED)
        os.close(ready_write)
        if wait:
            self._wait_ready(ready_read)
        os.close(ready_read)

    def _wait_ready(self, ready_read):
        os.set_blocking(ready_read, False)
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                if os.read(ready_read, 1) == b"1":
                    return
                break
            except BlockingIOError:
                time.sleep(0.02)
        self.kill()
        raise AssertionError(f"the probe did not get ready: {self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace")

    def wait_for_log(self, text, timeout_s=SETTLE_TIMEOUT_S):
        deadline = time.monotonic() + timeout_s
        while text not in self.log():
            assert time.monotonic() < deadline, f"{text!r} is not in the log: {self.log()}"
            time.sleep(0.05)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as a service manager would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(SETTLE_TIMEOUT_S)
        assert status == 0, f"the probe ended with {status}: {self.log()}"

    def resident_bytes(self):
        """Of its own: without the mapped ring."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no RssAnon")


def read_messages(build, path):
    result = subprocess.run([pathlib.Path(build) / "tests/wire_dump", path], capture_output=True,
                            check=False, env=CONFINED)
    assert result.returncode == 0, result.stderr.decode()
    return Messages(json.loads(line) for line in result.stdout.splitlines())


class Recording:
    """A probe that records what happens inside a `with` block; then `messages` has it."""

    def __init__(self, build, *options, within=()):
        self.build = build
        self.within = within
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tracer-probe-"))
        self.path = self.directory / "recording"
        self.options = options
        self.messages = None

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
            self.probe.stop()
        finally:
            self.probe.kill()
        self.messages = read_messages(self.build, self.path)

    def so_far(self):
        """The whole messages that are in it by now."""
        data = self.path.read_bytes()
        end = len(MAGIC)
        while (behind := end + 4 + int.from_bytes(data[end:end + 4], "big")) <= len(data):
            end = behind
        path = self.path.with_suffix(".so-far")
        path.write_bytes(data[:end])
        return read_messages(self.build, path)

    def wait_for(self, what, holds):
        """Until that is true of what it has by now."""
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while not holds(self.so_far()):
            assert time.monotonic() < deadline, f"{what} has not come in {SETTLE_TIMEOUT_S} s"
            time.sleep(0.1)

    def wait_for_look(self, pid):
        """Until the probe has looked at that process as it is now."""
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.wait_for(f"a look at process {pid}", lambda found: any(
            sample["boot_ns"] > now for sample in found.of("sample", pid)))


def unpack_unsigned(data, at):
    """One unsigned msgpack integer: (value, position behind it)."""
    first = data[at]
    if first < 0x80:
        return first, at + 1
    size = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "big"), at + 1 + size


def pack_message(*numbers):
    body = bytes([0x90 + len(numbers)]) + b"".join(b"\xcf" + n.to_bytes(8, "big") for n in numbers)
    return struct.pack(">I", len(body)) + body


VERSION = 3
HELLO, WELCOME, ACK, EVENT = 1, 2, 3, 16


class Correlator:
    """The other side of the socket: takes messages, keeps them, acknowledges what it is told to.

    `acknowledge`: whether it does so by itself. `frames` has every frame, of all connections.
    """

    def __init__(self, directory, acknowledge=True):
        self.path = pathlib.Path(directory) / "tracer.sock"
        self.acknowledge = acknowledge
        self.reading = True
        self.frames = []
        self.hellos = []
        self.epoch = 0
        self.committed = 0 # next offset wanted
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
            more = connection.recv(1 << 16)
            if not more:
                return
            data += more
            last = None
            while len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "big"):
                size = int.from_bytes(data[:4], "big")
                last = self._take(connection, data[4:4 + size]) or last
                data = data[4 + size:]
            if last and self.acknowledge:
                # A probe that has gone may have left more to read.
                with contextlib.suppress(OSError):
                    self.commit(last)

    def _take(self, connection, body):
        """The offset to acknowledge, if this message has one."""
        self.frames.append(struct.pack(">I", len(body)) + body)
        at = 1 if body[0] & 0xf0 == 0x90 else 3
        kind, at = unpack_unsigned(body, at)
        if kind == HELLO:
            for _ in range(2): # wire's and records' version
                _, at = unpack_unsigned(body, at)
            epoch, _ = unpack_unsigned(body, at)
            self.hellos.append(epoch)
            known = epoch == self.epoch
            self.epoch = epoch
            self.committed = self.committed if known else 0
            connection.sendall(self.welcome(epoch if known else 0))
        elif kind == EVENT:
            return unpack_unsigned(body, at)[0] + 1
        return None

    def welcome(self, epoch):
        return pack_message(WELCOME, VERSION, epoch, self.committed)

    def commit(self, offset):
        self.committed = max(self.committed, offset)
        self.connection.sendall(pack_message(ACK, self.committed))

    def send(self, data):
        self.connection.sendall(data)

    def drop_connection(self):
        self.connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Ends the thread first: blocked on a descriptor that is only closed, it would take
        the connections of the next listener that gets the same number."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.reading = True
        self.thread.join(SETTLE_TIMEOUT_S)
        assert not self.thread.is_alive(), "a probe that has ended is still connected"
        self.listener.close()
        self.path.unlink(missing_ok=True)

    def messages(self, build):
        """So far."""
        path = self.path.with_suffix(".recording")
        path.write_bytes(MAGIC + b"".join(list(self.frames)))
        return read_messages(build, path)

    def wait_for(self, build, condition):
        """The messages so far, once that is true of them."""
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while True:
            messages = self.messages(build)
            if condition(messages):
                return messages
            assert time.monotonic() < deadline, ("what was waited for has not come with "
                                                 f"{len(messages)} messages: {messages.of('loss')}")
            time.sleep(0.1)
