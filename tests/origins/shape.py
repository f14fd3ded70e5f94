"""What programs of a test do that stand for servers: start others, and open terminals."""

import os
import pty
import subprocess


def all_of(*commands, user=None, cgroup=None):
    """Runs them side by side, and waits."""
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
    """The command on a terminal of its own, into which the lines are typed."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    for line in (*lines, "exit") if lines else ():
        os.write(descriptor, line.encode() + b"\n")
    try:
        while os.read(descriptor, 4096):
            pass
    except OSError:  # nobody has the other end any more
        pass
    os.close(descriptor)
    os.waitpid(pid, 0)
