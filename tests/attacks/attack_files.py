"""What root opens where others can write: it follows no link and takes nothing that others made."""

import subprocess
import sys

from testing import ENVIRONMENT, same

FOREIGN = "is a link, or others own it or may write to it"


def probe(daemons, *options, status):
    """Runs a probe to its end as root; returns what it logs."""
    result = subprocess.run([daemons.probe_program, *map(str, options)], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, check=False, env=ENVIRONMENT, timeout=60)
    same(f"status ({result.stderr})", result.returncode, status)
    return result.stderr


def public_pins(scene):
    """A BPF filesystem in which anybody may create directories, as some hosts mount it."""
    daemons = scene.daemons()
    daemons.mount_pins()
    daemons.pin_directory.parent.chmod(0o1777)
    return daemons


def test_a_pin_directory_that_others_made(scene):
    """It is named and refused, and left alone."""
    daemons = public_pins(scene)
    scene.run(["mkdir", daemons.pin_directory])
    for options in (["--detach"], ["--duration", "1"]):
        said = probe(daemons, "--pin-dir", daemons.pin_directory, *options, status=1)
        assert FOREIGN in said and str(daemons.pin_directory) in said, said
    same("what is there", list(daemons.pin_directory.iterdir()), [])


def test_a_link_in_place_of_a_pin_directory(scene):
    """Root removes nothing through it."""
    daemons = public_pins(scene)
    other = daemons.pin_directory.parent / "other"
    (other / "load").mkdir(parents=True)
    scene.run(["ln", "-s", other, daemons.pin_directory])
    said = probe(daemons, "--pin-dir", daemons.pin_directory, "--detach", status=1)
    assert FOREIGN in said, said
    same("what is there", [path.name for path in other.iterdir()], ["load"])


def test_a_recording_where_others_can_write(scene):
    """Neither a link nor a file of another user is written to. (fs.protected_symlinks and protected_regular
    prevent that only in directories like /tmp.)"""
    daemons = scene.daemons()
    daemons.directory.chmod(0o777)
    victim, link, foreign = (daemons.directory / name for name in ("victim", "link", "foreign"))
    victim.write_text("precious")
    scene.run(["ln", "-s", victim, link])
    scene.run([sys.executable, "-c", f"open({str(foreign)!r}, 'w').write('mine')"])
    for path in (link, foreign):
        said = probe(daemons, "--record", path, "--duration", "1", status=1)
        assert f"cannot write {path}" in said, said
    same("contents", [victim.read_text(), foreign.read_text()], ["precious", "mine"])
