"""A Grid Engine job: qmaster and execd of one node on loopback; the script's steps are the tasks of its run."""

import os
import pathlib
import subprocess

import model
from harness import PATH, die_with_parent, require
from testing import free_port, wait_until

LIBRARY = pathlib.Path("/usr/lib/gridengine")
SHARED = pathlib.Path("/usr/share/gridengine")
HOST = os.uname().nodename
# Adapts the queue template to this cluster; jobs must run on a busy machine, too.
QUEUE = "sed -i 's/^pe_list.*/pe_list NONE/; s/^slots.*/slots 2/; s/^load_thresholds.*/load_thresholds NONE/'"
JOB = "#!/bin/bash\n{0}/align --cpu 20 --sleep 100\n{0}/call --cpu 20 --sleep 100\n"


class GridEngine:
    def __init__(self, directory):
        self.directory = directory
        self.environment = {"PATH": PATH, "SGE_ROOT": str(directory / "root"), "SGE_CELL": "cell", "SGE_ND": "1",
                            "SGE_QMASTER_PORT": str(free_port()), "SGE_EXECD_PORT": str(free_port())}
        self.processes = []

    def ask(self, *command, **more):
        return subprocess.run(command, env={**self.environment, **more}, capture_output=True, text=True,
                              check=False).stdout

    def prepare(self):
        root, common = self.directory / "root", self.directory / "root/cell/common"
        for path in (root / "bin", root / "lib", common, self.directory / "spool", self.directory / "execd",
                     self.directory / "qmaster/job_scripts"):
            path.mkdir(parents=True)
        for name in ("bin", "lib"):
            (root / name / "lx-amd64").symlink_to(LIBRARY)
        (root / "util").symlink_to(SHARED / "util")
        configuration = self.directory / "configuration"
        for name, path in (("bootstrap", common / "bootstrap"), ("configuration", configuration)):
            text = (SHARED / f"default-{name}").read_text().replace("sgeadmin", "root")
            path.write_text(text.replace("/var/spool/gridengine/spooldb", str(self.directory / "spool"))
                            .replace("/var/spool/gridengine", str(self.directory)))
        (common / "act_qmaster").write_text(f"{HOST}\n")
        (common / "host_aliases").write_text(f"{HOST} localhost\n")
        for command in (["spoolinit", "berkeleydb", "libspoolb", self.directory / "spool", "init"],
                        ["spooldefaults", "configuration", configuration],
                        ["spooldefaults", "complexes", SHARED / "util/resources/centry"],
                        ["spooldefaults", "usersets", SHARED / "util/resources/usersets"],
                        ["spooldefaults", "managers", "root"]):
            self.ask(LIBRARY / command[0], *command[1:])

    def start_daemon(self, name):
        with open(self.directory / f"{name}.out", "wb") as log:
            self.processes.append(subprocess.Popen([name], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                   env=self.environment, preexec_fn=die_with_parent))

    def start(self):
        self.prepare()
        self.start_daemon("sge_qmaster")
        wait_until("the queue master", lambda: "root" in self.ask("qconf", "-sm"), 60)
        self.ask("qconf", "-as", HOST)
        self.start_daemon("sge_execd")
        wait_until("the host to be known", lambda: HOST in self.ask("qconf", "-sel"), 60)
        editor = self.directory / "editor"
        editor.write_text(f'#!/bin/sh\n{QUEUE} "$1"\n')
        editor.chmod(0o755)
        self.ask("qconf", "-aq", "main.q", EDITOR=str(editor))
        self.ask("qconf", "-rattr", "queue", "hostlist", HOST, "main.q")

    def stop(self):
        self.ask("qdel", "-f", "-u", "*")
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def check(bench):
    require("sge_qmaster", "sge_execd", "qsub")
    bench.worker("align", "call")
    directory = bench.work_directory("work", "nobody")
    (directory / "job.sh").write_text(JOB.format(bench.bin))
    engine = GridEngine(bench.work_directory("gridengine", "root"))
    try:
        engine.start()
        bench.daemons.start()
        bench.environment = engine.environment
        bench.wait(bench.start(["qsub", "-cwd", "-S", "/bin/bash", "job.sh"], directory, marked=False))
        wait_until("the job to end", lambda: not engine.ask("qstat", "-u", "*"), 90)
    finally:
        engine.stop()
    bench.daemons.finish()
    reports = [report for report in bench.daemons.reports(directory) if report["run"]["kind"] == "batch"]
    if len(reports) != 1:
        return [f"{len(reports)} batch runs, not 1"]
    report = reports[0]
    problems = model.check_consistent(report)
    reported = {name: report["run"][name] for name in ("run_key", "name", "status")}
    if reported != {"run_key": "sge:1", "name": "sge job 1", "status": "succeeded"}:
        problems.append(f"the run is {reported}")
    tasks = sorted(task["name"] for task in report["tasks"] if task["kind"] != "main")
    return problems if tasks == ["align", "call"] else problems + [f"tasks are {tasks}"]
