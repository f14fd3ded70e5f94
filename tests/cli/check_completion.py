#!/usr/bin/env python3
"""The output of `tracer completion`, in the shells themselves: how they complete a line.

    check_completion.py TRACER MAKE_STORE [TEST...]

Shells that are not installed are skipped.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from testing import OnTerminal, run_cases, wait_until  # noqa: E402 (the line above has to come first)

TRACER, MAKE_STORE = map(os.path.abspath, sys.argv[1:3])
DEADLINE_S = 120  # for an answer, even on a slow machine
REPORT = b"\x07"  # ^G prints the current line

BASH_SETTINGS = """
PS1= PS2=
report() { echo "<<$READLINE_LINE>>"; READLINE_LINE=; }
bind -x '"\\C-g": report'
. ./tracer.bash
"""
ZSH_SETTINGS = """
PS1= PS2= RPS1=
FINDS
autoload -U compinit && compinit -u -D
READS
report() { print -r -- "<<$BUFFER>>"; BUFFER= }
zle -N report
bindkey '^G' report
"""


class Terminal:
    """A shell running on a terminal, tested line by line."""

    def __init__(self, directory, environment, arguments):
        self.terminal = OnTerminal(arguments, environment, environment["TERM"], own=True, cwd=directory)
        self.answered = 0

    def complete(self, line):
        self.terminal.type(line.encode() + b"\t" + REPORT)
        found = wait_until(f"an answer to {line}", lambda: re.compile(rb"<<(.*?)>>", re.S).search(
            self.terminal.said, self.answered), DEADLINE_S)
        self.answered = found.end()
        return found[1].decode().strip()

    def close(self):
        self.terminal.process.kill()
        self.terminal.finish()


class Fish:
    """Queried for its completions: a single one is appended to the input."""

    def __init__(self, directory, environment, arguments):
        self.settings = {"cwd": directory, "env": environment}
        self.arguments = arguments

    def complete(self, line):
        result = subprocess.run(
            [*self.arguments, "-c", "source ./tracer.fish; complete -C $argv", "--", line], check=True, timeout=DEADLINE_S,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, **self.settings)
        assert not result.stderr, result.stderr
        offered = [offer.split("\t")[0] for offer in result.stdout.splitlines()]
        typed = line.rpartition(" ")
        return f"{typed[0]} {offered[0]}" if len(offered) == 1 else line.strip()

    def close(self):
        pass


class Shells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="tracer-completion-")))
        store = cls.directory / "tracer.db"
        subprocess.run([MAKE_STORE, store], check=True)
        for folder in ("bin", "folder-of-mine"):
            (cls.directory / folder).mkdir()
        (cls.directory / "bin/tracer").symlink_to(TRACER)
        (cls.directory / "bin/only-here").symlink_to("/bin/true")
        (cls.directory / "recording.rec").touch()
        (cls.directory / "bashrc").write_text(BASH_SETTINGS)
        for shell, name in (("bash", "tracer.bash"), ("zsh", "_tracer"), ("fish", "tracer.fish")):
            (cls.directory / name).write_bytes(
                subprocess.run([TRACER, "completion", shell], check=True, capture_output=True).stdout)
        home = str(cls.directory)
        cls.environment = {"PATH": f"{home}/bin:{os.environ['PATH']}", "TRACER_STORE": str(store), "TERM": "xterm",
                           "HOME": home, "ZDOTDIR": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home,
                           "LC_ALL": "C.UTF-8"}
        runs = json.loads(subprocess.run([TRACER, "runs", "--json"], env=cls.environment, check=True,
                                         capture_output=True).stdout)["runs"]
        cls.run_id = runs[0]["id"]

    def check(self, shell):
        try:
            for line, completed in (
                    ("tracer sho", "tracer show"),
                    ("tracer --vers", "tracer --version"),
                    ("tracer help doc", "tracer help doctor"),
                    ("tracer show --ser", "tracer show --series"),
                    ("tracer top --sort m", "tracer top --sort memory"),
                    ("tracer completion z", "tracer completion zsh"),
                    ("tracer show lat", "tracer show latest"),
                    (f"tracer explain {self.run_id[:8]}", f"tracer explain {self.run_id}"),
                    ("tracer rules --rules fol", "tracer rules --rules folder-of-mine/"),
                    ("tracer ship --from fol", "tracer ship --from folder-of-mine/"),
                    ("tracer query host_sa", "tracer query host_samples"),
                    ("tracer query runs --with-s", "tracer query runs --with-system"),
                    ("tracer query --form", "tracer query --format"),
                    ("tracer runs --format nd", "tracer runs --format ndjson"),
                    ("tracer cost --format f", "tracer cost --format focus"),
                    ("tracer replay rec", "tracer replay recording.rec"),
                    ("tracer replay --store rec", "tracer replay --store recording.rec"),
                    ("tracer run only-he", "tracer run only-here"),
                    ("tracer run --store x -- only-he", "tracer run --store x -- only-here"),
                    ("tracer run only-here rec", "tracer run only-here recording.rec"),
                    # Nothing is known about these, so nothing is inserted.
                    ("tracer runs --limit 1", "tracer runs --limit 1"),
                    ("tracer runs rec", "tracer runs rec"),
                    ("tracer help show --ser", "tracer help show --ser")):
                self.assertEqual(shell.complete(line), completed)
        finally:
            shell.close()

    def start(self, kind, *arguments):
        if not shutil.which(arguments[0]):
            self.skipTest(f"{arguments[0]} is not installed")
        return kind(self.directory, self.environment, arguments)

    def test_bash(self):
        self.check(self.start(Terminal, "bash", "--noprofile", "--rcfile", "bashrc", "-i"))

    def test_zsh(self):
        (self.directory / ".zshrc").write_text(ZSH_SETTINGS.replace("FINDS", "fpath=($HOME $fpath)").replace("READS", ""))
        self.check(self.start(Terminal, "zsh", "-d", "-i"))

    def test_zsh_that_reads_the_script(self):
        (self.directory / ".zshrc").write_text(ZSH_SETTINGS.replace("FINDS", "").replace("READS", ". ./_tracer"))
        self.check(self.start(Terminal, "zsh", "-d", "-i"))

    def test_fish(self):
        self.check(self.start(Fish, "fish", "--no-config"))


if __name__ == "__main__":
    sys.exit(run_cases("cli-completion", sys.argv[3:]))
