"""Packages of npm that tests need: pinned by a package-lock.json, kept in .cache of the checkout."""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess

CACHE = pathlib.Path(__file__).resolve().parent.parent / ".cache"
INSTALL_LIMIT_S = 600


class Unavailable(Exception):
    """Cannot be had here; the text is the reason."""


def install(source, cache):
    """Downloads the packages of source/package-lock.json into `cache`; none of their scripts is run."""
    if not shutil.which("npm"):
        raise Unavailable("npm is not installed")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, cache / name)
    try:
        result = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                                cwd=cache, capture_output=True, text=True, check=False,
                                timeout=INSTALL_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"npm ci was still downloading after {INSTALL_LIMIT_S} s") from error
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if "error" in line] or ["no words"]
        raise Unavailable(f"npm ci failed: {lines[0]}")


def once(name, sources, build):
    """Returns the folder of that name in the cache, after build(folder): once for each content of `sources`, in one
    process at a time."""
    cache = CACHE / name
    cache.mkdir(parents=True, exist_ok=True)
    stamp = cache / "stamp"
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            stamp.unlink(missing_ok=True)
            build(cache)
            stamp.write_text(wanted)
    return cache
