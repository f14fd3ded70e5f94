"""Used by a test's programs that act as servers: starts other programs, and opens terminals."""

import os
import pty
import subprocess


def all_of(*commands, user=None, cgroup=None):
    """Runs the commands in parallel and waits for them."""
    def before():
        if cgroup:
            with open(f"{cgroup}/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        if user:
            os.setgid(user)
            os.setuid(user)

    environment = os.environ | {"PYTHONPATH": "/opt/check"}
    for child in [subprocess.Popen(command, preexec_fn=before, env=environment) for command in commands]:
        child.wait(30)


def terminal(command, *lines):
    """Runs the command on its own terminal and types the lines."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    for line in (*lines, "exit") if lines else ():
        os.write(descriptor, line.encode() + b"\n")
    try:
        while os.read(descriptor, 4096):
            pass
    except OSError:  # the other end is closed
        pass
    os.close(descriptor)
    os.waitpid(pid, 0)
