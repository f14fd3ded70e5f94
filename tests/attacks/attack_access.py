"""What a local user outside the group can reach: nothing."""

import textwrap

from testing import same

REACH = textwrap.dedent("""
    import os, socket, sys
    def attempt(what, action):
        try:
            action()
        except OSError as error:
            return
        print(what)
    def connect(path):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
    for path in sys.argv[1:]:
        if path.endswith(".sock"):
            attempt(f"connected to {path}", lambda: connect(path))
        attempt(f"opened {path}", lambda: os.close(os.open(path, os.O_RDONLY)))
        attempt(f"removed {path}", lambda: os.remove(path))
""")


def test_a_user_outside_the_group(scene):
    """It can neither connect, read, list nor remove."""
    daemons = scene.daemons()
    daemons.mount_pins()
    daemons.start()
    found = [str(path) for path in daemons.directory.iterdir()
             if path.name.startswith("tracer.") or path == daemons.socket]
    found += [f"/proc/{daemon.pid}/{name}" for daemon in (daemons.probe, daemons.correlator)
              for name in ("fd", "mem", "environ")]
    same("reached", scene.run_python(REACH, *found, daemons.pin_directory, daemons.pin_directory / "ring"), "")
