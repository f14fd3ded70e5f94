"""The ways of starting work: the steps done inside the machine, and the expected runs.

A row is one way. `inside` does its steps in the machine; `check` compares the store with the
expected runs. The table in docs/model.md ("Whose run is it") shows the same rows, and
`check` compares it too. Programs such as `align` are sleeping programs in PROGRAMS, each with a
unique name that is looked up afterwards: no two rows share one.
"""

import dataclasses

PROGRAMS = "/usr/local/bin"
BOB, ROOT = 1500, 0


@dataclasses.dataclass
class Run:
    """An expected run: its name, the user who ran it, its kind, and programs in it."""
    name: str
    user: int
    kind: str
    programs: tuple


@dataclasses.dataclass
class Row:
    title: str      # the way of starting, as in the document
    says: tuple     # the other cells in the document: run, user, name
    runs: list      # of Run: exactly these contain the row's programs
    start: object = None  # a command, on its own terminal; a string is run by a shell
    typed: tuple = ()     # lines typed there in order
    files: dict = dataclasses.field(default_factory=dict)  # written before anything starts
    where: str = "machine"  # or "host"
    needs: str = ""         # a program that the row requires
    beside: tuple = ()      # further runs that are listed: name and user


def each_command(prefix, user):
    """Lines typed into a shell, and the expected runs."""
    typed = (f"{prefix}-one 0.1", f"{prefix}-gen 0.1 | {prefix}-pack 0.2",
             f"for i in 1 2; do {prefix}-step 0.1; done", f"{prefix}-back 0.3 &", "wait",
             f"sh -c '{prefix}-a 0.1 && {prefix}-b 0.1'", f"{prefix}.sh x")
    runs = [Run(f"{prefix}-one", user, "job", (f"{prefix}-one",)),
            Run(f"{prefix}-gen | {prefix}-pack", user, "job", (f"{prefix}-gen", f"{prefix}-pack")),
            Run(f"{prefix}-step", user, "job", (f"{prefix}-step",)),
            Run(f"{prefix}-step", user, "job", (f"{prefix}-step",)),
            Run(f"{prefix}-back", user, "job", (f"{prefix}-back",)),
            Run(f"{prefix}-a 0.1 && {prefix}-b 0.1", user, "job", (f"{prefix}-a", f"{prefix}-b")),
            Run(f"{prefix}.sh", user, "job", (f"{prefix}-s1", f"{prefix}-s2"))]
    return typed, runs


def shell(title, prefix, user, start, where="machine", needs="", before=()):
    """A way to get an interactive shell. `before` are lines typed on the way there."""
    typed, runs = each_command(prefix, user)
    return Row(title, ("each command (process group)", "who is logged in there", "its program or script"),
               runs, start, tuple(before) + typed, where=where, needs=needs,
               files={f"{PROGRAMS}/{prefix}.sh":
                      f"#!/bin/bash\n{prefix}-s1 0.1\n{prefix}-s2 0.1\n"})


SSH = "ssh -i /opt/check/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "
ASKED = ("one", "who asked for it", "the command line, or the script if it is one alone")
UNIT = ("one", "the unit's", "the unit")

# Servers that are not available here are replaced by process trees of the same shape: programs with
# these names and command lines, which start what the real ones start.
PYTHON = "#!/usr/bin/python3\nimport sys\nsys.path.insert(0, '/opt/check')\nimport shape\n"
CODE = "/home/bob/.vscode-server/cli/servers/Stable-1a2b3c/server"
KERNEL = "/home/bob/.local/share/jupyter/runtime/kernel-3f2a9c1b-77aa-4c1e-9d11-0123456789ab.json"
R_KERNEL = KERNEL.replace("3f2a9c1b", "5d6e7f80")
ECS = "0123456789abcdef0123456789abcdef"
ECS_CONTAINER = 2 * ECS

ROWS = [
    shell("`ssh HOST`, a terminal", "ssh", BOB, SSH + "-tt bob@127.0.0.1"),
    shell("`ssh root@HOST`, a terminal", "sshroot", ROOT, SSH + "-tt root@127.0.0.1"),
    Row("`ssh HOST COMMAND`", ASKED,
        [Run("sshc-first 0.1 && sshc-second 0.1", BOB, "command", ("sshc-first", "sshc-second"))],
        SSH + "bob@127.0.0.1 'sshc-first 0.1 && sshc-second 0.1'"),
    Row("`ssh HOST SCRIPT`", ASKED,
        [Run("sshs.sh", BOB, "command", ("sshs-first", "sshs-second"))],
        SSH + "bob@127.0.0.1 sshs.sh a b",
        files={f"{PROGRAMS}/sshs.sh": "#!/bin/bash\nsshs-first 0.1\nsshs-second 0.1\n"}),
    Row("`ssh HOST bash -s < SCRIPT`", ("one", "who asked for it", "the first programs that it runs"),
        [Run("sshi-first + sshi-second", BOB, "command", ("sshi-first", "sshi-second"))],
        "printf 'sshi-first 0.1\\nsshi-second 0.1\\n' | " + SSH + "bob@127.0.0.1 bash -s"),
    shell("a terminal program (xterm and its like)", "term", ROOT, "bash -i"),
    shell("`su - USER`", "sul", BOB, "bash -i", before=("su - bob",)),
    shell("`su USER`", "su", BOB, "bash -i", before=("su bob -s /bin/bash",)),
    shell("`sudo -i`", "sudoi", ROOT, SSH + "-tt bob@127.0.0.1", before=("sudo -i",)),
    shell("`sudo -u USER -s`", "sudos", BOB, "bash -i", before=("sudo -u bob -s",)),
    Row("`sudo COMMAND`", ("one", "the one that the command runs as", "the command's"),
        [Run("sudoc-one", ROOT, "job", ("sudoc-one",))],
        SSH + "-tt bob@127.0.0.1", (f"sudo {PROGRAMS}/sudoc-one 0.2",)),
    Row("`su USER -c COMMAND`", ("one", "the one that the command runs as", "the command line"),
        [Run("suc-one 0.1; suc-two 0.1", BOB, "job", ("suc-one", "suc-two"))],
        "bash -i", ("su bob -s /bin/bash -c 'suc-one 0.1; suc-two 0.1'",)),
    Row("`bash < SCRIPT`, typed", ("one", "who is logged in there", "the first programs that it runs"),
        [Run("redir-one + redir-two", ROOT, "job", ("redir-one", "redir-two"))],
        "bash -i", ("bash < /opt/check/redir",), files={"/opt/check/redir": "redir-one 0.2\nredir-two 0.2\n"}),
    Row("`bash <(COMMAND)`, typed", ("one", "who is logged in there", "the first programs that it runs"),
        [Run("subst-one + subst-two", ROOT, "job", ("subst-one", "subst-two"))],
        "bash -i", ("bash <(echo 'subst-one 0.2; subst-two 0.2')",)),
    shell("`tmux`", "tmux", BOB, SSH + "-tt bob@127.0.0.1", before=("tmux new-session",)),
    Row("`tmux new-session -d COMMAND`", ASKED,
        [Run("tmuxc-one 0.1; tmuxc-two 0.1", BOB, "command", ("tmuxc-one", "tmuxc-two"))],
        SSH + "bob@127.0.0.1 \"tmux -L other new-session -d 'tmuxc-one 0.1; tmuxc-two 0.1'\"",
        beside=(("tmux", BOB),)),  # the command given to ssh
    shell("`screen`", "screen", BOB, SSH + "-tt bob@127.0.0.1", before=("screen",)),
    Row("cron, a user's crontab", ("one", "whose crontab it is", "the command line"),
        [Run("cronu-one 0.1 && cronu-two 0.1", BOB, "cron", ("cronu-one", "cronu-two"))],
        files={"/var/spool/cron/crontabs/bob":
               f"PATH={PROGRAMS}:/usr/bin\n@reboot cronu-one 0.1 && cronu-two 0.1\n"}),
    Row("cron, `/etc/cron.d`", ("one", "the one in its line", "the command line, or the script"),
        [Run("crond.sh", BOB, "cron", ("crond-one", "crond-two"))],
        files={"/etc/cron.d/check": f"PATH={PROGRAMS}:/usr/bin\n@reboot bob {PROGRAMS}/crond.sh x\n",
               f"{PROGRAMS}/crond.sh": "#!/bin/bash\ncrond-one 0.1\ncrond-two 0.1\n"}),
    Row("at", ("one", "who asked for it", "the first programs that it runs"),
        [Run("at-one + at-two", BOB, "cron", ("at-one", "at-two"))],
        "runuser -u bob -- sh -c 'printf \"at-one 0.1\\nat-two 0.1\\n\" | at now'",
        beside=((r'printf "at-one 0.1\nat-two 0.1\n" | at now', BOB),)),  # by the driver, root's service
    Row("a systemd service", UNIT,
        [Run("nightly.service", BOB, "service", ("unit-one", "unit-two"))],
        "systemctl start nightly.service",
        files={"/etc/systemd/system/nightly.service":
               f"[Service]\nType=oneshot\nUser=bob\nEnvironment=PATH={PROGRAMS}:/usr/bin\n"
               "ExecStart=/bin/sh -c 'unit-one 0.1; unit-two 0.1'\n"}),
    Row("root's service, for a user (su, sudo, runuser, setpriv)", ("one a command", "whose command it is", "the command's"),
        [Run("portal.service", ROOT, "service", ("portal-own",)),
         Run("portal-su", BOB, "command", ("portal-su",)), Run("portal-sudo", BOB, "command", ("portal-sudo",)),
         Run("portal-runuser", BOB, "command", ("portal-runuser",)),
         Run("portal-setpriv", BOB, "command", ("portal-setpriv",))],
        "systemctl start portal.service",
        files={"/etc/systemd/system/portal.service":
               f"[Service]\nType=oneshot\nEnvironment=PATH={PROGRAMS}:/usr/bin:/usr/sbin\nExecStart={PROGRAMS}/portal.sh\n",
               f"{PROGRAMS}/portal.sh":
               f"#!/bin/bash\nportal-own 0.1\nsu bob -s /bin/sh -c '{PROGRAMS}/portal-su 0.1'\n"
               f"sudo -u bob {PROGRAMS}/portal-sudo 0.1\nrunuser -u bob -- portal-runuser 0.1\n"
               "setpriv --reuid 1500 --regid 1500 --clear-groups portal-setpriv 0.1\n"}),
    Row("root's cron, for a user", ("one a command", "whose command it is", "the command's"),
        [Run("cronr-own 0.1 && sudo -u bob /usr/local/bin/cronr-bob 0.1", ROOT, "cron", ("cronr-own",)),
         Run("cronr-bob", BOB, "command", ("cronr-bob",))],
        files={"/etc/cron.d/check-root": f"PATH={PROGRAMS}:/usr/bin\n@reboot root cronr-own 0.1 && sudo -u bob "
                                         f"{PROGRAMS}/cronr-bob 0.1\n"}),
    Row("a systemd timer", UNIT,
        [Run("timed.service", BOB, "service", ("timer-one", "timer-two"))],
        "systemctl start timed.timer; sleep 2",
        files={"/etc/systemd/system/timed.service":
               f"[Service]\nType=oneshot\nUser=bob\nEnvironment=PATH={PROGRAMS}:/usr/bin\n"
               "ExecStart=/bin/sh -c 'timer-one 0.1; timer-two 0.1'\n",
               "/etc/systemd/system/timed.timer":
               "[Timer]\nOnActiveSec=0\nAccuracySec=1us\n"}),
    Row("a user's systemd service", UNIT,
        [Run("mine.service", BOB, "service", ("user-one", "user-two"))],
        "systemctl start user@1500.service; "
        "systemctl --machine=bob@ --user start mine.service",
        files={"/home/bob/.config/systemd/user/mine.service":
               f"[Service]\nType=oneshot\nEnvironment=PATH={PROGRAMS}:/usr/bin\n"
               "ExecStart=/bin/sh -c 'user-one 0.1; user-two 0.1'\n"}),
    Row("Jupyter", ("one a kernel, and each command of its terminals", "the server's",
                    "`python kernel 3f2a9c1b`: the language, and digits of its connection file"),
        [Run("python kernel 3f2a9c1b", BOB, "command", ("kernel-one", "kernel-two")),
         Run("R kernel 5d6e7f80", BOB, "command", ("kernel-three",)),
         Run("jterm-one", BOB, "job", ("jterm-one",)),
         Run("jterm-two", BOB, "job", ("jterm-two",))],
        "runuser -u bob -- jupyter-lab --no-browser --port=8888",
        files={f"{PROGRAMS}/jupyter-lab": PYTHON +
               f"shape.all_of(['python3', '-m', 'ipykernel_launcher', '-f', '{KERNEL}'],\n"
               f"             ['R', '--slave', '-e', 'IRkernel::main()', '--args', '{R_KERNEL}'])\n"
               "shape.terminal(['/bin/bash', '-l'], 'jterm-one 0.1', 'jterm-two 0.1')\n",
               "/opt/check/ipykernel_launcher.py":
               "import shape\nshape.all_of(['kernel-one', '0.1'])\nshape.all_of(['sh', '-c', 'kernel-two 0.1'])\n",
               f"{PROGRAMS}/R": "#!/bin/sh\nkernel-three 0.1\n"}),
    Row("RStudio", ("one a session, and each command of its terminals", "who is logged in there", "`rstudio session`"),
        [Run("rstudio session", BOB, "command", ("rsession-one",)), Run("rterm-one", BOB, "job", ("rterm-one",))],
        "rserver --server-daemonize 0",
        files={f"{PROGRAMS}/rserver": PYTHON +
               "shape.all_of(['rsession', '-u', 'bob', '--session-use-secure-cookies', '0'], user=1500)\n",
               f"{PROGRAMS}/rsession": PYTHON +
               "shape.all_of(['sh', '-c', 'rsession-one 0.1'])\n"
               "shape.terminal(['/bin/bash', '-l'], 'rterm-one 0.1')\n"}),
    Row("VS Code's server", ("each command of its terminals, each task, each kernel or debugger of an extension",
                             "the server's", "its program or script"),
        [Run("vterm-one", BOB, "job", ("vterm-one",)),
         Run("vtask-one 0.1 && vtask-two 0.1", BOB, "command", ("vtask-one", "vtask-two")),
         Run("train.py", BOB, "command", ("vext-one",))],
        f"runuser -u bob -- {CODE}/node {CODE}/out/server-main.js --start-server --port=0",
        files={f"{CODE}/out/server-main.js": PYTHON +
               f"shape.all_of(['{CODE}/node', '{CODE}/out/bootstrap-fork', '--type=ptyHost', '--logsLevel=info'],\n"
               f"             ['{CODE}/node', '{CODE}/out/bootstrap-fork', '--type=fileWatcher'],\n"
               f"             ['{CODE}/node', '{CODE}/out/bootstrap-fork', '--type=extensionHost'])\n",
               f"{CODE}/out/bootstrap-fork": PYTHON +
               "if '--type=ptyHost' in sys.argv:\n"
               "    shape.terminal(['/bin/bash', '--init-file', '/home/bob/.bashrc'], 'vterm-one 0.1')\n"
               "    shape.terminal(['/bin/bash', '-c', 'vtask-one 0.1 && vtask-two 0.1'])\n"
               "if '--type=extensionHost' in sys.argv:\n"
               "    shape.all_of(['git', 'status', '-z'], ['python3', '/home/bob/train.py'],\n"
               f"                 ['{CODE}/node', '/home/bob/ext/dist/server.js', '--node-ipc', '--clientProcessId=7'])\n",
               "/home/bob/ext/dist/server.js": "",
               "/home/bob/train.py": "import subprocess\nsubprocess.run(['vext-one', '0.1'])\n"}),
    Row("AWS Batch and ECS", ("one a container", "the container's", "its program"),
        [Run("ecs-one", ROOT, "container", ("ecs-two",))],
        f"mkdir -p /sys/fs/cgroup/ecs/{ECS}/{ECS_CONTAINER}; amazon-ecs-init start; "
        f"containerd-shim-runc-v2 -namespace moby -id {ECS_CONTAINER}; rmdir -p /sys/fs/cgroup/ecs/{ECS}/{ECS_CONTAINER} || :",
        files={f"{PROGRAMS}/amazon-ecs-init": PYTHON + "shape.all_of(['true'])\n",
               f"{PROGRAMS}/containerd-shim-runc-v2": PYTHON +
               f"shape.all_of(['sh', '/usr/local/bin/ecs-one', '0.1'], cgroup='/sys/fs/cgroup/ecs/{ECS}/{ECS_CONTAINER}')\n",
               f"{PROGRAMS}/ecs-one": "#!/bin/sh\necs-two 0.1\n"}),
    shell("`podman exec -it` (and `docker exec -it`)", "pod", ROOT, "bash -i", where="host", needs="podman",
          before=("$TRACER_TEST_PODMAN",)),
    shell("`runc run`, a terminal", "runc", ROOT, "bash -i", where="host", needs="runc",
          before=("$TRACER_TEST_RUNC",)),
    Row("`tracer run -- bash`", ("one, with all that is typed", "who asked for it", "the first programs that it runs"),
        [Run("trun-one + trun-two", ROOT, "command", ("trun-one", "trun-two"))],
        "bash -i", ("tracer run -q -- bash -i", "trun-one 0.1", "trun-two 0.1"),
        where="host"),
]


def document():
    """The table of docs/model.md."""
    lines = []
    for row in ROWS:
        lines.append(f"| {row.title} | {' | '.join(row.says)} |")
    return lines
