"""A process cannot hide what it uses."""

import sys

from testing import wait_until

# The main thread ends; another goes on. ctypes calls need no compiler.
WITHOUT_LEADER = """
import ctypes, threading
def spin():
    while True:
        pass
threading.Thread(target=spin).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_process_whose_main_thread_has_ended(scene):
    """It is sampled like any other, and its CPU time is known while it runs."""
    daemons = scene.daemons()
    daemons.start()
    process = scene.start([sys.executable, "-c", WITHOUT_LEADER])

    def cpu_ns():
        return daemons.value("SELECT max(s.cpu_ns) FROM samples s JOIN processes p ON p.id = s.process_id "
                             "WHERE p.pid = ?", process.pid) or 0

    wait_until("the main thread has ended", lambda: "State:\tZ" in open(f"/proc/{process.pid}/status").read())
    seen = cpu_ns()
    wait_until("samples go on", lambda: cpu_ns() > seen + 10**9)
    daemons.stop()
