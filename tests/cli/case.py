"""Shared by the tests of the command: its program, the first argument, and stores to ask."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from daemons import replay  # noqa: E402 (the line above has to come first)

TRACER = os.path.abspath(sys.argv[1])


class Case(unittest.TestCase):
    """Commands read `store` of the class unless they name another one."""

    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.store = os.path.join(cls.directory, "tracer.db")
        cls.write_store(cls.store)
        cls.environment = {**os.environ, "TRACER_STORE": cls.store, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        for name in ("NO_COLOR", "COLUMNS"):
            cls.environment.pop(name, None)

    @classmethod
    def write_store(cls, path):
        """That of make_store, the second argument, or of a recording, the third, replayed by the correlator."""
        if len(sys.argv) > 3 and sys.argv[3].endswith(".rec"):
            replay(pathlib.Path(sys.argv[2]).resolve().parents[1], sys.argv[3], path)
        else:
            subprocess.run([sys.argv[2], path], check=True)

    def run_tracer(self, *arguments, **options):
        options = {"env": self.environment, "stdin": subprocess.DEVNULL, "capture_output": "stdout" not in options} | options
        return subprocess.run([TRACER, *arguments], check=False, **options)

    def text(self, *arguments, status=0, **options):
        """Standard output or, for an expected failure, standard error."""
        result = self.run_tracer(*arguments, **options)
        self.assertEqual(result.returncode, status, (arguments, result))
        return (result.stderr if status else result.stdout).decode()

    def json(self, verb, *arguments, **options):
        return json.loads(self.run_tracer(verb, "--json", *arguments, **options).stdout)

    @classmethod
    @contextlib.contextmanager
    def changed(cls, name, of=None):
        """A copy of a store, and its database, which is changed within the block."""
        path = os.path.join(cls.directory, f"{name}.db")
        shutil.copy(of or cls.store, path)
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            yield path, database

    def make_file(self, name, content):
        path = os.path.join(self.directory, name)
        pathlib.Path(path).write_bytes(content)
        return path
