"""Workloads: their language, and the commands and files that make one of it.

    bash:(seq(align[anon=40 cpu=20], pipe(call[out=100], merge[in])))
    make:2(align[cpu=20], call[cpu=5 exit=3]) @ own

A node is an actor, NAME[STEP...] (actor.c), or KIND:OPTIONS(NODE, ...): a way of the shell to combine commands (SHELL)
or an engine with jobs (engines.py). After `@` stands where it runs: `own`, a memory cgroup of its own; `limit=MIB`, the
same with a limit; `quota=PERCENT` of one processor.
"""

import dataclasses
import re
import shlex

import engines

MAIN = "main.sh"


@dataclasses.dataclass(frozen=True)
class Node:
    kind: str                # of an actor: its name
    options: tuple = ()
    children: tuple = ()
    steps: tuple | None = None # of an actor

    @property
    def is_actor(self):
        return self.steps is not None

    def nodes(self):
        yield self
        for child in self.children:
            yield from child.nodes()

    def actors(self):
        return (node for node in self.nodes() if node.is_actor)

    def kinds(self):
        return (node.kind for node in self.nodes() if not node.is_actor)

    def __str__(self):
        if self.is_actor:
            return f"{self.kind}[{' '.join(self.steps)}]"
        options = ":" + ",".join(map(str, self.options)) if self.options else ""
        return f"{self.kind}{options}({', '.join(map(str, self.children))})"


@dataclasses.dataclass(frozen=True)
class Workload:
    root: Node
    place: tuple = () # ((word, number or None), ...)

    def __str__(self):
        words = [word if number is None else f"{word}={number}" for word, number in self.place]
        return f"{self.root} @ {' '.join(words)}" if words else str(self.root)

    def placed(self, word):
        """Whether it runs in such a place; its number, if it has one."""
        for known, number in self.place:
            if known == word:
                return True if number is None else number
        return False

    def planted(self):
        """The actors that are made to fail."""
        return [actor for actor in self.root.actors() if fails(actor.steps)]

    def needs(self):
        """Programs that it cannot do without."""
        return {engines.ENGINES[kind].needs for kind in self.root.kinds() if kind in engines.ENGINES} - {None}


def fails(steps):
    return any(re.fullmatch(r"exit=[1-9]\d*|kill=\d+", step) for step in steps)


# ---- text

TOKEN = re.compile(r"\s*(?:(?P<word>[\w.-]+)|(?P<mark>[][(),:@=]))")


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def fail(self, what):
        raise ValueError(f"{what} at {self.text[self.at:self.at + 20]!r} of {self.text!r}")

    def peek(self):
        match = TOKEN.match(self.text, self.at)
        return match and match[match.lastgroup]

    def take(self, wanted=None):
        match = TOKEN.match(self.text, self.at)
        found = match and match[match.lastgroup]
        if not found or wanted and found != wanted:
            self.fail(f"expected {wanted or 'a word'}")
        self.at = match.end()
        return found

    def node(self):
        kind = self.take()
        if self.peek() == "[":
            end = self.text.index("]", self.at)
            steps = tuple(self.text[self.text.index("[", self.at) + 1:end].split())
            self.at = end + 1
            return Node(kind, steps=steps)
        if kind not in {*SHELL, *WRAPPERS, *engines.ENGINES}:
            self.fail(f"no kind {kind}")
        options, children = [], []
        while self.peek() in (":", ",") and (not options or self.peek() == ","):
            self.take()
            options.append(int(self.take()))
        self.take("(")
        while self.peek() != ")":
            children.append(self.node())
            if self.peek() == ",":
                self.take()
        self.take(")")
        return Node(kind, tuple(options), tuple(children))

    def workload(self):
        root, place = self.node(), []
        if self.peek() == "@":
            self.take()
            while self.peek():
                word, number = self.take(), None
                if self.peek() == "=":
                    self.take()
                    number = int(self.take())
                place.append((word, number))
        if self.peek():
            self.fail("something after the workload")
        return Workload(root, tuple(place))


def parse(text):
    return Reader(text).workload()


# ---- commands

def group(*commands):
    return "{ " + " ".join(text if text.endswith("&") else text + ";" for text in commands) + " }"


def in_shell(shell, before=""):
    return lambda *texts: f"{shell} -c {shlex.quote(before + '; '.join(texts))}"


# How the shell combines commands: kind -> function of their texts.
SHELL = {
    "seq": group, # whatever the status of the others
    "all": lambda *texts: " && ".join(texts),
    "pipe": lambda *texts: " | ".join(texts),
    "par": lambda *texts: group(*(f"{text} &" for text in texts), "wait"),
    "sub": lambda *texts: f"( {'; '.join(texts)} )",
    "func": lambda *texts: group(f"step() {group(*texts)}", "step"),
    "bash": in_shell("bash"),
    "sh": in_shell("sh"),
    "strict": in_shell("bash", "set -e -o pipefail; "),
    "or": lambda *texts: group(f"{' && '.join(texts)} || true"), # a failure is tolerated
    "if": lambda *texts: group(f"if {' && '.join(texts)}; then :; fi"),
}
# `held:MIB,N` has a memory cgroup of its own with that limit, the N-th of the workload.
WRAPPERS = {"nice": "nice -n 1", "env": "env LC_ALL=C", "timeout": "timeout 60", "held": "held"}
COMPOUND = ("seq", "all", "pipe", "par", "sub", "func", "or", "if") # no program, but syntax of a shell


class Script:
    """The commands and files of one workload: `files` are {name: text}, `command` is what to execute."""

    def __init__(self, workload):
        self.files = {}
        root = workload.root
        text = self.text(root)
        if root.kind in engines.ENGINES or root.is_actor:
            self.command = shlex.split(text)
        else:
            self.files[MAIN] = f"#!/bin/bash\n{text}\n"
            self.command = ["bash", MAIN]

    def text(self, node):
        """A command of the shell."""
        if node.is_actor:
            return " ".join([node.kind, *node.steps])
        texts = [self.part(node.kind, child) for child in node.children]
        if node.kind in SHELL:
            return SHELL[node.kind](*texts)
        if node.kind in WRAPPERS:
            return " ".join([WRAPPERS[node.kind], *map(str, node.options[1:]), texts[0]])
        return engines.ENGINES[node.kind].render(self, node.options, texts)

    def part(self, above, node):
        """The same, so that it means in its place what the tree says."""
        text = self.text(node)
        if above in WRAPPERS and node.kind in COMPOUND:
            return in_shell("bash")(text)
        return group(text) if above == "pipe" and node.kind in ("all", "pipe") else text

    def file(self, suffix, text):
        """Adds a file; returns its name."""
        name = f"{suffix}{len(self.files) or ''}"
        self.files[name] = text
        return name
