"""Runs one row of rows.py: types into a terminal, or executes a command."""

import os
import pty
import re
import select
import signal
import subprocess
import time

LINE_TIMEOUT_S = 30


class Terminal:
    """A program on its own terminal, with simulated typing."""

    def __init__(self, command):
        self.said = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp("sh", ["sh", "-c", f"exec {command}"])

    def read(self, timeout_s):
        if not select.select([self.fd], [], [], timeout_s)[0]:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            return False
        self.said += piece
        return bool(piece)

    def settle(self):
        """Waits for output followed by silence: a prompt."""
        deadline = time.monotonic() + LINE_TIMEOUT_S
        seen = len(self.said)
        while time.monotonic() < deadline:
            if not self.read(0.4) and len(self.said) > seen:
                return

    def type(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def run(self, line, number):
        """Types a line, and waits until the shell reports that it is done."""
        self.type(line)
        deadline = time.monotonic() + LINE_TIMEOUT_S
        again = 0
        while b"done-%d" % number not in self.said:
            assert time.monotonic() < deadline, f"{line!r} does not end: {self.said[-500:]!r}"
            if time.monotonic() >= again:
                if line.startswith("su"):
                    self.settle()
                self.type(f"echo do''ne-{number}")
                # su and sudo discard what is typed before they are ready.
                again = time.monotonic() + 3 if line.startswith("su") else deadline
            self.read(1)

    def close(self):
        for _ in range(4):  # leaves nested shells too
            try:
                os.write(self.fd, b"exit\n")
            except OSError:
                break
            self.read(0.3)
        deadline = time.monotonic() + 10
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                deadline += 10
            self.read(0.1)
        os.close(self.fd)


# Lines that start another shell: nothing is echoed before its prompt.
LEADS_ON = re.compile(r"^(\$TRACER_TEST|tracer run|su|sudo -i|sudo -u \w+ -s|tmux|screen|podman exec)\b(?!.*-c)")


def do_typed(row):
    terminal = Terminal(row.start)
    try:
        terminal.settle()
        for number, line in enumerate(row.typed):
            if LEADS_ON.match(line):
                terminal.type(line)
                terminal.settle()
                if line.startswith("screen"):
                    terminal.type("")
                    terminal.settle()
            else:
                terminal.run(line, number)
    finally:
        terminal.close()


def do_row(row):
    if row.typed:
        do_typed(row)
    elif row.start:
        subprocess.run(["sh", "-c", row.start], stdin=subprocess.DEVNULL, timeout=60, check=True,
                       env=os.environ)
