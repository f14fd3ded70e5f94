"""Draws workloads: one for each seed, always the same."""

import random

import engines
import places
from workload import Node, Workload

NAMES = ["align", "call", "merge", "trim", "index2", "stats2", "filter2"]
SIGNALS = [6, 9, 11, 15]
# A scan of processes each second sees what lasts longer; most of what runs does not.
DURATIONS_MS = [0, 0, 20, 100, 300, 300, 1300]
# Most work has a memory cgroup of its own: that of its job, container, service or session.
PLACES = [(), (("own", None),), (("own", None),), (("own", None),), (("limit", 900),), (("limit", 900),),
          (("own", None), ("quota", 50))]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(f"oracle {seed}")
        self.names = self.random.sample(NAMES, 4)

    def chance(self, share):
        return self.random.random() < share

    def name(self):
        return self.random.choice(self.names)

    def duration(self):
        return self.random.choice(DURATIONS_MS)

    def sleep(self):
        ms = self.duration()
        return [f"sleep={ms}"] if ms else []

    # ---- actors

    def step(self):
        draw = self.random
        return draw.choice([
            lambda: f"cpu={draw.choice([2, 5, 10, 30])}", lambda: f"cpu={draw.choice([2, 5, 10])}",
            lambda: f"anon={draw.choice([1, 4, 16, 40])}", lambda: f"file={draw.choice([1, 50, 2000])}",
            lambda: f"tcp={draw.choice([1, 30])}", lambda: f"threads={draw.choice([5, 20])}",
            lambda: f"lock={draw.choice([20, 100])}", lambda: f"shm={draw.choice([4, 20])}",
            lambda: f"map={draw.choice([2, 20])}", lambda: f"sleep={draw.choice([30, 200])}"])()

    def steps(self, most=3):
        return [self.step() for _ in range(self.random.randint(1, most))] + self.sleep()

    def family(self):
        """A parent with children: forks, programs, and what they share."""
        draw = self.random
        how = draw.choice(["fork", "fork", "spawn", "vfork"])
        begin = f"{how}={draw.randint(1, 4)}"
        body = self.steps(2)
        if how != "fork":
            body = [self.name(), *body]
        return [*self.steps(1), begin, *body, "end", *self.steps(1)[:1], "wait"]

    def actor(self):
        draw = self.random.random()
        if draw < 0.15:
            return Node(self.name(), steps=tuple(self.family()))
        if draw < 0.2:
            return Node(self.name(), steps=(*self.steps(2), "become", self.name(), *self.steps(2)))
        return Node(self.name(), steps=tuple(self.steps()))

    def pipe(self):
        kib = self.random.choice([1, 40, 400])
        middle = [Node(self.name(), steps=("in", f"out={kib}", *self.steps(1))) for _ in range(self.random.choice([0, 0, 1]))]
        first = Node(self.name(), steps=(*self.steps(1)[:1], f"out={kib}", *self.sleep()))
        last = Node(self.name(), steps=(*(["in"] if self.chance(0.8) else []), *self.steps(1)))
        return Node("pipe", (), (first, *middle, last))

    # ---- commands

    def command(self, depth):
        draw = self.random.random()
        if depth == 0 or draw < 0.45:
            return self.actor()
        if draw < 0.6:
            return self.pipe()
        if draw < 0.7:
            return Node(self.random.choice(["nice", "env", "timeout"]), (), (self.actor(),))
        kind = self.random.choice(["seq", "all", "par", "sub", "func", "bash", "sh", "strict", "or", "if"])
        count = self.random.randint(1, 3)
        return Node(kind, (), tuple(self.command(depth - 1) for _ in range(count)))

    def engine(self, kind, depth=1):
        jobs = tuple(self.command(depth) for _ in range(self.random.randint(2, 5)))
        options = (self.random.choice([1, 2, 4]),) if kind in ("make", "xargs", "parallel", "snakemake", "futures") else ()
        return Node(kind, options, jobs)

    def any_engine(self):
        kinds = {kind: 1 / engine.cost for kind, engine in engines.ENGINES.items() if kind not in ("pool", "mclapply")}
        return self.engine(*self.random.choices(list(kinds), list(kinds.values())))

    # ---- memory: ways to hold it together

    def memory(self):
        draw = self.random
        big, small, count = draw.choice([30, 80, 160]), draw.choice([1, 5, 20]), draw.randint(2, 5)
        ms = draw.choice([100, 300, 1300, 2600])
        seen = max(ms, 2600) # what only scans can see has to last
        name, other = self.name(), self.name()
        shapes = {
            "read": [f"anon={big}", f"fork={count}", "look", f"sleep={ms}", "end", "wait"],
            "copied": [f"anon={big}", f"fork={count}", f"touch={min(small, big)}", f"sleep={ms}", "end", "wait"],
            "all copied": [f"anon={small * 4}", f"fork={count}", f"touch={small * 4}", f"sleep={ms}", "end", "wait"],
            "own beside": [f"anon={big}", f"fork={count}", f"anon={small}", f"sleep={ms}", "end", "wait"],
            "shared mapping": [f"shm={big}", f"fork={count}", "look", f"sleep={ms}", "end", "wait"],
            "shared, some own": [f"shm={big}", f"fork={count}", "look", f"shm={small}", f"anon={small}", f"sleep={ms}", "end",
                                 "wait"],
            "memfd over exec": [f"memfd={big}", f"anon={small}", f"spawn={count}", other, f"attach={big}", f"sleep={seen}",
                                "end", "wait"],
            "memfd becomes": [f"memfd={big}", "become", other, f"attach={big}", f"sleep={ms}"],
            "mapped file": [f"map={big}", f"sleep={ms}", f"fork={count}", f"anon={small}", f"sleep={ms}", "end", "wait"],
            "tmpfs": [f"tmpfs={big}", f"sleep={seen}"],
            "tmpfs of children": [f"anon={small}", f"fork={count}", f"tmpfs={small}", f"sleep={seen}", "end", "wait"],
            "pool of pools": [f"anon={big}", "fork=2", f"touch={min(small, big)}", "fork=2", f"touch={min(small, big)}",
                              f"sleep={ms}", "end", f"sleep={ms}", "wait", "end", "wait"],
            "parent frees": [f"anon={big}", f"fork={count}", "look", f"sleep={seen}", "end", "sleep=100", "free",
                             f"sleep={seen}", "wait"],
            "parent rewrites": [f"anon={big}", f"fork={count}", "look", f"sleep={seen}", "end", "sleep=100", f"touch={big}",
                                f"sleep={seen}", "wait"],
            "parent grows": [f"anon={big}", f"fork={count}", "look", f"sleep={ms}", "end", f"anon={big // 2}", f"sleep={ms}",
                             "wait"],
            "hand over": [f"anon={big}", "fork=1", f"sleep={ms}", "anon=2", f"sleep={ms}", "end", "sleep=50"],
            "daemon": [f"anon={big}", "daemon", f"touch={min(small, big)}", f"sleep={ms}"],
            "sequence": [word for _ in range(count) for word in ("fork=1", f"anon={big}", f"sleep={ms // 3}", "end", "wait")],
            "staggered": [f"fork={count}", f"anon={small * 3}", f"sleep={ms}", "end", f"anon={small}", f"fork={count}",
                          f"anon={small}", f"sleep={ms}", "end", "wait"],
            "grows and shrinks": [f"anon={big}", f"sleep={ms // 2}", "free", f"anon={small}", f"sleep={ms // 2}"],
            "spike": [f"anon={small}", f"sleep={ms}", f"anon={big}", "free", f"sleep={ms}"],
            "threads": [f"anon={big}", "threads=20", f"anon={small}", f"sleep={ms}"],
            "huge pages": [f"thp={big}", f"fork={count}", "look", f"thp={small * 2}", f"sleep={ms}", "end", "wait"],
            "spawned": [f"anon={small}", f"spawn={count}", other, f"anon={big // 2}", f"sleep={ms}", "end", "wait"],
            "fresh in place of old": [f"anon={big}", f"fork={count}", "free", f"anon={big}", f"sleep={ms}", "end", "wait"],
        }
        root = Node(name, steps=tuple(draw.choice(list(shapes.values()))))
        around = draw.random()
        if around < 0.3:
            return root
        if around < 0.5:
            return Node("par", (), (root, self.actor(), self.actor()))
        if around < 0.65:
            return Node("seq", (), (self.actor(), root, self.actor()))
        if around < 0.8:
            return Node("make", (2,), (root, self.actor(), Node(other, steps=(f"anon={small}", f"sleep={ms}"))))
        return Node("pipe", (), (Node(name, steps=(*root.steps, "out=1")), Node(other, steps=("in", f"anon={small}"))))

    def interpreter(self):
        draw = self.random
        kind = draw.choice(["pool"] * 4 + ["mclapply"])
        return Node(kind, (draw.randint(2, 4), draw.choice([20, 60]), draw.choice([2, 10]), draw.choice([300, 1300])))

    # ---- workloads

    def root(self):
        draw = self.random.random()
        if draw < 0.3:
            return self.memory()
        if draw < 0.35:
            return self.interpreter()
        if draw < 0.65:
            return self.any_engine()
        return Node("seq" if self.chance(0.6) else "all", (), tuple(self.command(2) for _ in range(self.random.randint(1, 4))))

    def fail(self, node, target):
        """The tree in which the actor of that number fails."""
        if node.is_actor:
            if next(target) != 0:
                return node
            end = f"exit={self.random.choice([1, 2, 3, 77])}" if self.chance(0.7) else f"kill={self.random.choice(SIGNALS)}"
            return Node(node.kind, steps=(*node.steps, end))
        return Node(node.kind, node.options, tuple(self.fail(child, target) for child in node.children))

    def workload(self):
        root = self.root()
        count = len(list(root.actors()))
        if count and self.chance(0.35):
            chosen = self.random.randrange(count)
            root = self.fail(root, iter(range(-chosen, count - chosen)))
        place = self.random.choice(PLACES)
        return Workload(root, place if all(places.can_have(word) for word, _ in place) else ())


def generate(seed):
    return Generator(seed).workload()
