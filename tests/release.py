"""An earlier release, built from this repository's history, for upgrade tests."""

import fcntl
import pathlib
import subprocess

from testing import Skip

ROOT = pathlib.Path(__file__).resolve().parent.parent
EARLIER = "bfb5c12f3eb3d6e759c33595bfcf1da6382f682a"
PROGRAMS = ("probe/tracer-probe", "correlator/tracer-correlator", "cli/tracer")


def git(*arguments, **settings):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *arguments], check=False, **settings)


def earlier_build():
    """Directory of its programs; built once for each checkout, in .cache."""
    directory = ROOT / ".cache/releases" / EARLIER[:12]
    if git("cat-file", "-e", EARLIER, stderr=subprocess.DEVNULL).returncode:
        raise Skip(f"this clone has no commit {EARLIER[:12]}")
    (directory / "tree").mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "build/done").exists():
            archive = git("archive", EARLIER, stdout=subprocess.PIPE).stdout
            subprocess.run(["tar", "-C", directory / "tree", "-x"], input=archive, check=True)
            for command in (["meson", "setup", directory / "build", directory / "tree"],
                            ["ninja", "-C", directory / "build", *PROGRAMS]):
                result = subprocess.run(command, capture_output=True, text=True, check=False)
                assert result.returncode == 0, f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
            (directory / "build/done").touch()
    return directory / "build"
