"""Workloads with planted faults, for two processors, and their twins without the fault.

Each says beforehand what `tracer tune` has to name first, and how much of the run's wall time is to
be saved; a twin must give no finding. `expects` is (finding, subject, seconds): None for the seconds
means that no saving can be promised, "twin" that it is the time by which the twin is shorter. tests/tune/record runs them on a real kernel; their programs
are the worker of tests/workloads under other names, and programs of Debian.
"""

from dataclasses import dataclass, field


@dataclass
class Scenario:
    script: str
    twin: str
    expects: tuple
    workers: tuple = ()
    files: dict = field(default_factory=dict)  # name: text
    prepare: str = ""  # run before, as root, in the work directory, not recorded
    cgroup: dict = field(default_factory=dict)  # {hierarchy/file: value}: the workload runs in it
    twin_cgroup: dict = field(default_factory=dict)
    swap: bool = False
    beside: str = ""  # runs beside the faulty workload, outside of it


LEDGER = """import os, sys
descriptor = os.open("ledger.data", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
for number in range(300):
    os.write(descriptor, b"entry" * 100)
    if sys.argv[1] == "each":
        os.fsync(descriptor)
"""

# Touches all pages again and again.
CACHE = """import mmap, sys, time
pages = mmap.mmap(-1, 160 << 20)
end = time.monotonic() + 30
for turn in range(int(sys.argv[1])):
    for offset in range(0, len(pages), 4096):
        pages[offset] = turn & 255
"""

DRIVE = """import subprocess, sys, time
subprocess.run(["trim", "--cpu", "1000"])
if sys.argv[1] == "sleep":
    time.sleep(3)
while time.process_time() < 3 and sys.argv[1] == "compute":
    pass
subprocess.run(["align", "--cpu", "1000"])
"""

# One start of Python, and nine forks of it.
POOL = """import multiprocessing, time
def work(_):
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass
multiprocessing.Pool(2, maxtasksperchild=1).map(work, range(8), 1)
"""

SCENARIOS = {
    # The one long step uses one of two processors for 8 s: half of that could be saved.
    "serial": Scenario(
        script="trim --cpu 1000 & sketch --cpu 1000 & wait\nalign --cpu 8000",
        twin="trim --cpu 1000 & sketch --cpu 1000 & wait\nalign --cpu 4000 & map --cpu 4000 & wait",
        expects=("serial_task", "align", 4.0), workers=("trim", "sketch", "align", "map")),
    # Eight threads on two processors. They compute, so fewer would not be faster: nothing is promised.
    "threads": Scenario(
        script="xz -T8 -3 --block-size=2MiB -k -c random > packed", twin="xz -T2 -3 --block-size=2MiB -k -c random > packed",
        expects=("too_many_threads", "xz", None), prepare="head -c 48M /dev/urandom > random; chmod 644 random"),
    # One processor of two: enough for one thread, not for four.
    "cpuset": Scenario(
        script="taskset -c 0 xz -T4 -3 --block-size=2MiB -k -c random > packed\ntrim --cpu 1000 & map --cpu 1000 & wait",
        twin="taskset -c 0 align --cpu 6000\ntrim --cpu 1000 & map --cpu 1000 & wait",
        expects=("too_many_threads", "xz", None), workers=("align", "trim", "map"),
        prepare="head -c 24M /dev/urandom > random; chmod 644 random"),
    # 300 times fsync on a device that may write 100 times a second.
    "fsync": Scenario(
        script="python3 ledger.py each", twin="python3 ledger.py never; trim --cpu 300",
        expects=("storage_wait", "ledger.py", "twin"), files={"ledger.py": LEDGER}, workers=("trim",),
        cgroup={"blkio/blkio.throttle.write_iops_device": "DEVICE 100"},
        twin_cgroup={"blkio/blkio.throttle.write_iops_device": "DEVICE 100"}),
    # 160 MiB in a cgroup of 96 MiB, the rest in swap.
    "swap": Scenario(
        script="python3 cache.py 6", twin="python3 cache.py 6", expects=("memory_wait", "cache.py", "twin"),
        files={"cache.py": CACHE}, swap=True,
        cgroup={"memory/memory.limit_in_bytes": str(96 << 20)}, twin_cgroup={"memory/memory.limit_in_bytes": str(400 << 20)}),
    # A quota of half a processor: 3 s of CPU time take 6 s.
    "throttled": Scenario(
        script="align --cpu 3000", twin="align --cpu 3000", expects=("throttled", "align", 3.0), workers=("align",),
        cgroup={"cpu/cpu.cfs_quota_us": "50000"}, twin_cgroup={"cpu/cpu.cfs_quota_us": "200000"}),
    "gap": Scenario(
        script="trim --cpu 1000\nsleep 30\nalign --cpu 1000", twin="trim --cpu 1000\nalign --cpu 1000",
        expects=("gaps_between_tasks", "pipeline.sh", 30.0), workers=("trim", "align")),
    # An engine that looks every 50 ms whether the task has ended; batches of 50 save nearly all of it.
    "short": Scenario(
        script="for i in {1..500}; do step --cpu 50; read -t 0.05 <> pause; done; true",
        twin="for i in {1..10}; do step --cpu 2500; read -t 0.05 <> pause; done; true",
        expects=("short_tasks", "step", 25.0), workers=("step",), prepare="mkfifo pause; chmod 666 pause"),
    # The long step begins a second late, and runs alone at the end.
    "tail": Scenario(
        script="trim --cpu 2000 & sketch --cpu 2000 & read -t 1 <> pause\nassemble --cpu 8000 & wait",
        twin="assemble --cpu 4000 & trim --cpu 2000; sketch --cpu 2000; wait",
        expects=("idle_tail", "assemble", 1.0), workers=("trim", "sketch", "assemble"),
        prepare="mkfifo pause; chmod 666 pause"),
    # The largest of six begins last: both slots are taken for 2 s, and then it runs alone for 7 s.
    "straggler": Scenario(
        script="printf '%s\\n' 1000 1000 1000 1000 1000 8000 | xargs -P2 -n1 align --cpu",
        twin="printf '%s\\n' 8000 1000 1000 1000 1000 1000 | xargs -P2 -n1 align --cpu",
        expects=("idle_tail", "align", 2.0), workers=("align",)),
    # The same file is decompressed for both steps.
    "twice": Scenario(
        script="bzip2 -dck data.bz2 > first\ntrim --cpu 1000\nbzip2 -dck data.bz2 > second\nalign --cpu 1000",
        twin="bzip2 -dck data.bz2 > first\ntrim --cpu 1000\nalign --cpu 1000",
        expects=("work_done_twice", "bzip2 -dck data.bz2", "twin"), workers=("trim", "align"),
        prepare="head -c 40M /dev/urandom | bzip2 > data.bz2; chmod 644 data.bz2"),
    # 3 s of work are lost when the first attempt exceeds its limit; the second has more.
    "memory": Scenario(
        script="bash -c 'echo $BASHPID > LIMITED/cgroup.procs; assemble --cpu 3000 --memory 120' || assemble --cpu 3000 --memory 120",
        twin="assemble --cpu 3000 --memory 120 & trim --cpu 3000 & wait", expects=("out_of_memory", "assemble", 3.0), workers=("assemble", "trim")),
    # The first steps are done when the script fails.
    "broken": Scenario(
        script="trim --cpu 6000 & sketch --cpu 6000 & wait\nexit 3", twin="trim --cpu 6000 & sketch --cpu 6000 & wait",
        expects=("failed_run", "pipeline.sh", None), workers=("trim", "sketch")),
    # 40 Java programs, one after the other, that do nothing.
    "startup": Scenario(
        script="for i in {1..40}; do java -Xshare:off -cp classes Nothing; done\nalign --cpu 2000 & map --cpu 2000 & wait",
        twin="java -Xshare:off -cp classes Nothing\nalign --cpu 2000 & map --cpu 2000 & wait",
        expects=("start_up", "java", "twin"), workers=("align", "map"),
        files={"Nothing.java": "public class Nothing { public static void main(String[] words) {} }\n"},
        prepare="javac -d classes Nothing.java; chmod -R a+rX classes"),
    # make -j1 on two processors: six tasks of 2 s.
    "engine": Scenario(
        script="make -j1", twin="make -j2", expects=("engine_limit", "make", 6.0), workers=("step",),
        files={"Makefile": "all: a b c d e f\na b c d e f:\n\t@step --cpu 2000 && touch $@\n"}),
    # A script waits between its tasks; the twin computes.
    "driver": Scenario(
        script="python3 drive.py sleep", twin="python3 drive.py compute",
        expects=("gaps_between_tasks", "pipeline.sh", 3.0), workers=("trim", "align"), files={"drive.py": DRIVE}),
    # Decompression while the task that needs it waits.
    "helper": Scenario(
        script="bash -c 'bzip2 -dck data.bz2 > unpacked; align --copy --cpu 2000 < unpacked'\ntrim --cpu 2000 & map --cpu 2000 & wait",
        twin="bash -c 'align --copy --cpu 2000 < raw'\ntrim --cpu 2000 & map --cpu 2000 & wait",
        expects=("helper_overhead", "bzip2", "twin"), workers=("align", "trim", "map"),
        prepare="head -c 40M /dev/urandom | tee raw | bzip2 > data.bz2; chmod 644 raw data.bz2"),
    # Four programs that are not part of the run keep both processors busy: the task gets 2 of 5 parts.
    "contention": Scenario(
        script="align --cpu 3000", twin="align --cpu 3000", expects=("processor_contention", "align", "twin"),
        workers=("align", "hog"), beside="hog --cpu 20000 & hog --cpu 20000 & hog --cpu 20000 & hog --cpu 20000 & wait"),
}

# Nothing is wrong with these, although it looks so.
HEALTHY = {
    "chain": ("make -j4", ("step",), {"Makefile": "f: e\ne: d\nd: c\nc: b\nb: a\na b c d e f:\n\t@step --cpu 2000 && touch $@\n"}),
    # The long one cannot begin earlier.
    "together": ("trim --cpu 2000 & align --cpu 8000 & wait", ("trim", "align"), {}),
    # The long one needs the result of the first.
    "needed": ("sketch --cpu 4000 & trim --cpu 1000; assemble --cpu 8000; wait", ("sketch", "trim", "assemble"), {}),
    "pool": ("python3 pool.py\nalign --cpu 1000 & map --cpu 1000 & wait", ("align", "map"), {"pool.py": POOL}),
}
