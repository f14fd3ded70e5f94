"""Failures, and the reports that a person expects, written before the implementation.

A scenario is a script (NAME.sh, run by bash, unless `command` says otherwise) with its files.
`says` is the complete text that `tracer failed` reports as fatal, with pids written as N and
durations as T; None if nothing failed. `status` is the run's, `code` its exit code, or minus the
signal that killed it. `failed` is the number of failed processes, None if not checked. `beside` are
further sentences about crashes and commands that could not be executed, which did not cause the run
to fail. `retried` counts tasks that succeeded when retried.
"""

import dataclasses


@dataclasses.dataclass
class Scenario:
    name: str
    script: str
    says: str | None
    status: str = "failed"
    code: int = 1
    files: dict = dataclasses.field(default_factory=dict)
    command: list | None = None
    needs: tuple = ()
    failed: int | None = None
    beside: tuple = ()
    retried: int = 0
    kind: str | None = None  # of the incident
    cause: str | None = None  # part of the explanation


def ok(name, script, **more):
    return Scenario(name, script, None, "succeeded", 0, **more)


def exited(program, code, itself=False):
    return f"{program} (pid N) {'itself ' if itself else ''}exited with code {code} after T"


def killed(program, signal, sender=""):
    return f"{program} (pid N) was killed by {signal}{sender} after T"


def python(name, text, says, **more):
    return Scenario(name, "", says, command=["python3", "main.py"], files={
        "main.py": "import os, subprocess, sys, time\n" + text.replace("; ", "\n")}, **more)


def program(name, suffix, interpreter, text, says, **more):
    return Scenario(name, "", says, command=[*interpreter, f"main.{suffix}"], files={f"main.{suffix}": text}, **more)


def java(name, after, says, **more):
    return Scenario(name, "", says, command=["java", "-cp", ".", "Main"], needs=("java", "javac"), files={
        "Main.java": "class Main { public static void main(String[] a) throws Exception { int code = new ProcessBuilder("
                     "\"crunch\", \"--exit\", \"3\").inheritIO().start().waitFor(); " + after + " } }\n"}, **more)


def make(name, text, says):
    return Scenario(name, "", says, code=2, command=["make"], files={"Makefile": text})


CRUNCH = "subprocess.run(['crunch', '--exit', '3']); "
MAYBE = "possibly because crunch (pid N) exited with code 3"
MAIN = exited("main.py", 1)
POOL = "import multiprocessing; with multiprocessing.Pool(3) as pool:\n    "
WELL = {"Makefile": "all:\n\tgood\n\tcrunch --exit 3\n"}
SNAKEMAKE = ["snakemake", "--cores", "2", "--nolock", "--quiet"]

SHELLS = [
    Scenario("last_command", "good\ncrunch --exit 3", exited("crunch", 3), code=3),
    Scenario("set_e", "set -e\ngood\ncrunch --exit 3\ngood", exited("crunch", 3), code=3),
    Scenario("tolerated_before", "set -e\ncrunch --exit 3 || true\nalign --exit 4\ngood",
             exited("align", 4), code=4),
    Scenario("tolerated_same_code", "crunch --exit 1 || true\ngood\nexit 1",
             exited("tolerated_same_code.sh", 1, True), cause="crunch (pid N) exited with code 1"),
    ok("tolerated_and_well", "crunch --exit 3 || true\ngood"),
    Scenario("if_grep", "if grep -q nothing /dev/null; then :; fi\npython3 -c 'import sys; sys.exit(3)'",
             exited("python -c", 3), code=3, failed=2),
    Scenario("grep_or_true", "grep -q nothing /dev/null || true\nexit 2",
             exited("grep_or_true.sh", 2, True), code=2, failed=1),
    Scenario("grep_fatal", "set -e\ngrep -q nothing /dev/null\ngood", exited("grep", 1)),
    Scenario("grep_broken", "set -e\ngrep nothing /no/such/file\ngood", exited("grep", 2), code=2),
    ok("diff_tolerated", "diff one two\ngood", files={"one": "1\n", "two": "2\n"}, failed=0),
    Scenario("diff_fatal", "good\ndiff one two", exited("diff", 1),
             files={"one": "1\n", "two": "2\n"}),
    Scenario("exit_trap", "set -e\ntrap 'rm -f leftover' EXIT\ncrunch --exit 1", exited("crunch", 1)),
    Scenario("exit_trap_tool", "set -e\ntrap good EXIT\ncrunch --exit 7", exited("crunch", 7), code=7),
    Scenario("code_kept", "crunch --exit 1\nstatus=$?\nrm -f leftover\nexit $status",
             exited("crunch", 1)),
    Scenario("subshell", "good\n(cd / && crunch --exit 5)", exited("crunch", 5), code=5),
    Scenario("substitution", "set -e\nvalue=$(crunch --exit 6)\ngood", exited("crunch", 6), code=6),
    Scenario("nested_shells", "set -e\nbash -c 'sh -c \"good; crunch --exit 8\"; exit $?'\ngood",
             exited("crunch", 8), code=8),
    Scenario("background", "crunch --exit 3 &\npid=$!\ngood --sleep 50\nwait $pid",
             exited("crunch", 3), code=3),
    Scenario("pipefail", "set -o pipefail\ncrunch --exit 3 | good --copy", exited("crunch", 3), code=3),
    Scenario("pipe_last", "align --sleep 50 --exit 1 | crunch --exit 1", exited("crunch", 1)),
    ok("no_pipefail", "crunch --exit 3 | good --copy"),
    ok("pipe_left", "yes | head -n 1", failed=0),
    Scenario("pipe_left_pipefail", "set -o pipefail\nyes | head -n 1", killed("yes", "SIGPIPE"),
             code=141, cause="it wrote to a pipe or socket whose reader had closed it"),
    Scenario("chain", "env A=1 nice nohup setsid -w crunch --exit 9", exited("crunch", 9), code=9),
    Scenario("not_found", "set -e\nno-such-command --threads 4\ngood",
             "not_found.sh (pid N) could not execute a command (code 127)", code=127,
             kind="failed-command", cause="the command does not exist"),
    Scenario("not_found_dash", "set -e\nno-such-command\ngood", exited("not_found_dash.sh", 127, True),
             code=127, command=["dash", "not_found_dash.sh"], needs=("dash",),
             cause="shells exit with 127 if a command does not exist"),
    Scenario("not_executable", "set -e\n./plain\ngood",
             "not_executable.sh (pid N) could not execute a command (code 126)", code=126,
             kind="failed-command", files={"plain": "text\n"}),
    ok("missing", "no-such-command --threads 4\n./plain\ngood", files={"plain": "text\n"},
       beside=("missing.sh (pid N) could not execute a command (code 127)",
               "missing.sh (pid N) could not execute a command (code 126)")),
    Scenario("exec_format", "set -e\n./binary\ngood",
             "exec_format.sh (pid N) could not execute a command (code 126)", code=126,
             files={"binary": "\0\0\0\0\0\0garbage"}),
    ok("outer_inner", "bash inner.sh &\nsleep 0.3\ngood\nwait $!",
       files={"inner.sh": "crunch --sleep 800 --exit 1 &\nalign --sleep 300 &\nwait %2\nexit 0\n"}),
    Scenario("zsh_pipefail", "set -o pipefail\ncrunch --exit 3 | good --copy", exited("crunch", 3),
             code=3, command=["zsh", "zsh_pipefail.sh"], needs=("zsh",)),
    ok("retry_loop", "n=0\nuntil ./flaky.sh; do sleep 0.05; done\ngood",
       files={"flaky.sh": "#!/bin/bash\n[ -e tried ] && exit 0\ntouch tried\nexit 75\n"}, retried=1),
]

PROGRAMS = [
    Scenario("launcher", 'here=$(dirname "$(readlink "$0" || echo "$0")")\npython3 $here/fails.py',
             exited("fails.py", 1), files={"fails.py": "raise ValueError('no')\n"}, failed=2),
    Scenario("exec_launcher", 'link=$(readlink "$0")\ntest -n "$link" || link=.\nexec python3 $link/fails.py',
             exited("fails.py", 1), files={"fails.py": "raise ValueError('no')\n"}),
    python("python_tests_first", "subprocess.call(['readlink', 'main.py']); subprocess.call(['dirname', 'a/b']); "
           "raise ValueError('no')", MAIN),
    python("python_tolerated", CRUNCH + "subprocess.call(['good']); raise ValueError('no')", MAIN),
    python("python_check", "subprocess.check_call(['good']); subprocess.check_call(['crunch', '--exit', '3'])",
           exited("crunch", 3)),
    python("python_passes_on", "code = subprocess.call(['crunch', '--exit', '4']); subprocess.call(['good']); sys.exit(code)",
           exited("crunch", 4), code=4),
    python("python_timeout", "subprocess.run(['endless', '--sleep', '60000'], timeout=0.3)", MAIN),
    python("pool_teardown", POOL + "print(pool.map(abs, range(9)))", None, status="succeeded", code=0, failed=0),
    python("pool_and_error", POOL + "print(pool.map(abs, range(9)))\n    raise ValueError('no')", MAIN, failed=1),
    python("pool_error", POOL + "print(pool.map(int, ['1', 'x']))", MAIN, failed=1),
    Scenario("pool_crash", "", killed("main.py", "SIGSEGV"), command=["python3", "main.py"], kind="crash",
             files={"main.py": "import concurrent.futures, os\n"
                               "with concurrent.futures.ProcessPoolExecutor(2) as pool:\n"
                               "    print(list(pool.map(os.kill, [0], [0])))\n"
                               "    print(pool.submit(eval, '__import__(\"os\").kill("
                               "__import__(\"os\").getpid(), 11)').result())\n"}),
    Scenario("perl_system", "", exited("crunch", 3), code=3,
             command=["perl", "-e", "system('crunch', '--exit', '3') == 0 or die"]),
    Scenario("java_exception", "", exited("Fails", 1), command=["java", "-cp", ".", "Fails"],
             needs=("javac", "java"),
             files={"Fails.java": "class Fails { public static void main(String[] a) "
                                  "{ throw new RuntimeException(\"no\"); } }\n"}),
    Scenario("javac_then_java", "", exited("nothing.jar", 1),
             command=["sh", "-c", "javac Fine.java && java -jar nothing.jar"], needs=("javac", "java"),
             files={"Fine.java": "class Fine { }\n"}),
]

# Who tolerates a failure and then fails by itself is the cause, in every language; who passes it on is not.
TOLERATED = [
    python("python_run_exit", CRUNCH + "sys.exit(1)", MAIN, cause=MAYBE),
    python("python_run_raise", CRUNCH + "raise ValueError('no')", MAIN, cause=MAYBE),
    python("python_run_own_code", CRUNCH + "sys.exit(5)", exited("main.py", 5), code=5),
    python("python_run_later", CRUNCH + "time.sleep(0.4); sys.exit(1)", MAIN),
    python("python_run_works_on", CRUNCH + "sum(range(20000000)); raise ValueError('no')", MAIN),
    python("python_system_exit", "os.system('crunch --exit 3'); sys.exit(1)", MAIN, cause=MAYBE),
    python("python_unwaited", "child = subprocess.Popen(['crunch', '--exit', '3']); time.sleep(0.3); raise ValueError('no')",
           MAIN),
    python("python_check_true", "subprocess.run(['crunch', '--exit', '3'], check=True)", exited("crunch", 3)),
    python("python_check_output", "subprocess.check_output(['crunch', '--exit', '3'])", exited("crunch", 3)),
    python("python_caught", "try:\n    subprocess.check_call(['crunch', '--exit', '3'])\nexcept Exception:\n    pass; "
           "time.sleep(0.4); sys.exit(4)", exited("main.py", 4), code=4),
    python("python_crash_tolerated", "subprocess.run(['broken', '--crash']); subprocess.run(['good']); sys.exit(1)", MAIN,
           beside=(killed("broken", "SIGSEGV"),)),
    python("python_fork_crash", "child = os.fork() or os.kill(os.getpid(), 11); os.waitpid(child, 0); sys.exit(1)",
           killed("main.py", "SIGSEGV")),
    python("python_many", "for code in '345':\n    subprocess.run(['crunch', '--exit', code]); sys.exit(1)", MAIN),
    program("perl_ignored", "pl", ["perl"], "system('crunch --exit 3'); exit 1;", exited("main.pl", 1), cause=MAYBE),
    program("perl_passes", "pl", ["perl"], "exit(system('crunch --exit 3') >> 8);", exited("crunch", 3), code=3),
    program("perl_backticks", "pl", ["perl"], "my $x = `crunch --exit 3`; system('good'); exit 2;", exited("main.pl", 2),
            code=2),
    program("r_stop", "R", ["Rscript"], 'system("crunch --exit 3"); stop("no")', exited("main.R", 1), needs=("Rscript",)),
    program("r_quit", "R", ["Rscript"], 'system("crunch --exit 3"); quit(status = 4)', exited("main.R", 4), code=4,
            needs=("Rscript",)),
    program("r_passes", "R", ["Rscript"], 'quit(status = system("crunch --exit 3"))', exited("crunch", 3), code=3,
            needs=("Rscript",)),
    java("java_exits", "System.exit(1);", exited("Main", 1), cause=MAYBE),
    java("java_throws", 'throw new Exception("no");', exited("Main", 1)),
    java("java_passes", "System.exit(code);", exited("crunch", 3), code=3),
    Scenario("awk_exit", "", exited("awk", 1), command=["awk", 'BEGIN { system("crunch --exit 3"); exit 1 }']),
    Scenario("bash_exit", "crunch --exit 3\nexit 1", exited("bash_exit.sh", 1, True)),
    Scenario("dash_exit", "crunch --exit 3\nexit 4", exited("dash_exit.sh", 4, True), code=4,
             command=["dash", "dash_exit.sh"], needs=("dash",)),
    Scenario("crash_or_true", "broken --crash || true\nsleep 0.3\nexit 1", exited("crash_or_true.sh", 1, True),
             beside=(killed("broken", "SIGSEGV"),)),
    Scenario("crash_or_exit", "broken --crash || exit 1", killed("broken", "SIGSEGV")),
    Scenario("crash_loop", "for i in 1 2 3; do broken --crash; done\nexit 1", exited("crash_loop.sh", 1, True),
             beside=(killed("broken", "SIGSEGV"),) * 3),
    Scenario("make_or_exit", "make || exit 9", exited("make_or_exit.sh", 9, True), code=9, files=WELL, cause=MAYBE),
    ok("make_or_true", "make || true\ngood", files=WELL),
    Scenario("make_or_true_then", "make || true\ngood\nexit 9", exited("make_or_true_then.sh", 9, True), code=9, files=WELL),
    make("make_error", "x := $(shell crunch --exit 3)\n$(error no)\n", exited("make", 2, True)),
    make("make_error_target", "x := $(shell crunch --exit 3)\nall:\n\tgood\n\talign --exit 4\n", exited("align", 4)),
    Scenario("find_plus", "", exited("grep", 1), command=["find", ".", "-name", "main.txt", "-exec", "grep", "-q", "x", "{}", "+"],
             files={"main.txt": "\n"}),
    Scenario("find_plus_tool", "", exited("crunch", 3), command=["find", ".", "-name", "main.txt", "-exec", "crunch", "--exit",
             "3", "{}", "+"], files={"main.txt": "\n"}),
    Scenario("find_each", "", exited("find", 1), command=["find", ".", "none", "-name", "main.txt", "-exec", "crunch", "--exit",
             "3", ";"], files={"main.txt": "\n"}),
    Scenario("ninja_keeps_going", "", exited("crunch", 3), command=["ninja", "-k", "0"], needs=("ninja",), files={
        "build.ninja": "rule run\n  command = $do\nbuild a: run\n  do = crunch --exit 3\nbuild b: run\n  do = good\n"}),
    Scenario("snakemake_no_output", "", exited("snakemake", 1, True), command=SNAKEMAKE, needs=("snakemake",), files={
        "Snakefile": "rule all:\n    output: 'a'\n    shell: 'crunch --exit 3 || true; good'\n"}),
    Scenario("snakemake_tolerated", "", exited("align", 4), command=SNAKEMAKE, needs=("snakemake",), files={
        "Snakefile": "rule all:\n    input: 'b'\nrule a:\n    output: 'a'\n    shell: '(crunch --exit 3 || true); touch a'\n"
                     "rule b:\n    input: 'a'\n    output: 'b'\n    shell: 'align --exit 4'\n"}),
    Scenario("parallel_tolerated", "parallel crunch --exit ::: 0 3 || true\ngood\nexit 9",
             exited("parallel_tolerated.sh", 9, True), code=9, needs=("parallel",)),
    Scenario("flock", "good\nflock lock crunch --exit 3", exited("crunch", 3), code=3),
    Scenario("script", "good\nscript -qec 'crunch --exit 3' /dev/null", exited("crunch", 3), code=3),
]

# Further cases.
MORE = [
    Scenario("set_e_grep_pipe", "set -eo pipefail\ngood\ngrep nothing /dev/null | wc -l\ngood", exited("grep", 1)),
    Scenario("and_list", "good && crunch --exit 6 && good", exited("crunch", 6), code=6),
    python("python_shell", "subprocess.run('good && crunch --exit 7', shell=True, check=True)", exited("crunch", 7)),
    python("python_system", "sys.exit(os.WEXITSTATUS(os.system('crunch --exit 7')))", exited("crunch", 7), code=7),
    # It started others afterwards: only its text tells whether it failed because of this one.
    Scenario("python_pool_of_commands", "", exited("main.py", 1), cause="crunch (pid N) exited with code 3", command=["python3", "main.py"], files={
        "main.py": "import subprocess\nfrom concurrent.futures import ThreadPoolExecutor\n"
                   "def job(n):\n    subprocess.check_call(['crunch', '--sleep', '50', '--exit', str(n)])\n"
                   "with ThreadPoolExecutor(2) as pool:\n    list(pool.map(job, [0, 3, *[0] * 6]))\n"}),
    Scenario("exec_missing", "good\nexec no-such-command", exited("exec_missing.sh", 127, True), code=127),
    Scenario("self_killed", "good\nkill -TERM $$", killed("self_killed.sh", "SIGTERM", " from itself"),
             "killed", -15),
    Scenario("script_in_script", "set -e\nbash step.sh\ngood", exited("crunch", 9), code=9,
             files={"step.sh": "set -e\ngood\ngrep -q nothing /dev/null || crunch --exit 9\n"}),
    Scenario("halted_parallel", "", exited("crunch", 3), code=3, command=[
        "bash", "-c", "parallel -j2 --halt now,fail=1 'if [ {} = 3 ]; then crunch --exit 3; else good --sleep 100; "
        "fi' ::: 1 2 3 4 5 6; exit $?"], needs=("parallel",)),
    Scenario("xargs_shells", "", exited("crunch", 4), code=123, command=[
        "bash", "-c", "printf '%s\\n' 0 4 0 | xargs -P3 -I{} sh -c 'good; crunch --exit {}'; exit $?"]),
    ok("make_ignores", "", command=["make"], files={"Makefile": "all:\n\t-crunch --exit 3\n\tgood\n"}),
    Scenario("wait_n", "crunch --sleep 100 --exit 5 &\ngood --sleep 300 &\nwait -n || exit 5\nwait",
             exited("crunch", 5), code=5),
    Scenario("snakemake_run", "", exited("crunch", 3), command=SNAKEMAKE, needs=("snakemake",), files={
        "Snakefile": "rule all:\n    output: 'a'\n    run:\n        shell('good')\n        shell('crunch --exit 3')\n"}),
    Scenario("snakemake_script", "", exited("fails.py", 1), command=SNAKEMAKE, needs=("snakemake",), files={
        "Snakefile": "rule all:\n    output: 'a'\n    script: 'fails.py'\n",
        "fails.py": "raise ValueError('no')\n"}),
    Scenario("trap_term", "trap 'exit 5' TERM\ngood\nendless --sleep 60000 & wait",
             exited("trap_term.sh", 5, True) + ", T after SIGTERM from sh -c (pid N, user root)", code=5),
    Scenario("missing_file", "set -e\ngood\ncat no-such-file | sort >sorted\ncat no-such-file >copy\ngood",
             exited("cat", 1)),
    Scenario("missing_input", "set -e\ngood\nsort no-such-file\ngood", exited("sort", 2), code=2),
    Scenario("heredoc_python", "set -e\npython3 - <<'X'\nimport sys\nsys.exit(11)\nX\ngood", exited("python", 11), code=11),
    Scenario("subshell_background", "(good; crunch --exit 8) &\ngood\nwait $!", exited("crunch", 8), code=8),
    Scenario("function_return", "step() { crunch --exit 4 || return 17; }\nstep",
             exited("function_return.sh", 17, True), code=17, cause="crunch (pid N) exited with code 4"),
    Scenario("container", "", exited("crunch", 3), code=3, needs=("runc", "busybox")),
]

SIGNALS = [
    Scenario("timeout", "good\ntimeout 0.3 endless --sleep 60000",
             killed("endless", "SIGTERM", " from timeout (pid N, uid N)"), code=124, kind="signal",
             cause="its parent timeout ended it"),
    Scenario("timeout_kill", "good\ntimeout -s KILL 0.3 endless --sleep 60000",
             killed("endless", "SIGKILL", " from timeout (pid N, uid N)"), code=137),
    Scenario("crash", "good\nbroken --crash", killed("broken", "SIGSEGV"), code=139, kind="crash",
             cause="invalid memory access"),
    ok("crash_in_pipe", "broken --crash | good --copy", beside=(killed("broken", "SIGSEGV"),)),
    Scenario("abort", "python3 -c 'import os; os.abort()'\nexit $?", killed("python -c", "SIGABRT"), code=134,
             kind="crash"),
    ok("abort_tolerated", "python3 -c 'import os; os.abort()'\ngood",
       beside=(killed("python -c", "SIGABRT"),)),
    Scenario("killed_by_root", "good\nendless --sleep 60000",
             killed("endless", "SIGKILL", " from sh -c (pid N, user root)"), code=137, kind="signal",
             cause="sh -c, which is not part of its run, ended it"),
    Scenario("shell_kills", "endless --sleep 60000 &\npid=$!\nsleep 0.1\nkill $pid\nwait $pid",
             killed("endless", "SIGTERM", " from shell_kills.sh (pid N, uid N)"), code=143),
    ok("server_stopped", "endless --sleep 60000 &\npid=$!\ngood\nkill $pid\nwait $pid\ngood", failed=0),
    Scenario("interrupted", "", killed("endless", "SIGINT", " from the terminal (^C)"), "killed", -2,
             kind="interrupted", command=["pty"]),
    Scenario("interrupted_at_a_prompt", "", killed("endless", "SIGINT", " from the terminal (^C)"), "killed", -2,
             kind="interrupted", command=["pty"], cause="it was interrupted at its terminal"),
    Scenario("timeout_shell", "", killed("endless", "SIGTERM", " from timeout (pid N, uid N)"), code=124,
             command=["timeout", "0.3", "bash", "-c", "good; endless --sleep 60000; good"]),
    Scenario("timeout_trap", "", killed("endless", "SIGTERM", " from timeout (pid N, uid N)"), code=124, command=[
        "timeout", "-k", "5", "0.3", "bash", "-c", "trap 'exit 7' TERM; good; endless --sleep 60000; good"]),
    Scenario("timeout_ignored", "", killed("endless", "SIGKILL", " from timeout (pid N, uid N)"), code=137, command=[
        "bash", "-c", "timeout -k 0.2 0.2 bash -c \"trap '' TERM; good; endless --sleep 60000; good\"; exit $?"]),
    Scenario("kill_segv", "good\nendless --sleep 60000", killed("endless", "SIGSEGV", " from sh -c (pid N, user root)"), code=139,
             cause="sh -c, which is not part of its run, ended it"),
    Scenario("shell_kills_segv", "endless --sleep 60000 &\nsleep 0.1\nkill -SEGV $!\nwait $!",
             killed("endless", "SIGSEGV", " from shell_kills_segv.sh (pid N, uid N)"), code=139),
    Scenario("cpu_time_hard", "ulimit -t 1\ncrunch --cpu 20000", killed("crunch", "SIGKILL", " from the kernel"), code=137,
             cause="it reached its CPU time limit (RLIMIT_CPU)"),
    Scenario("file_size_python", "ulimit -f 8\npython3 -c 'open(\"big\", \"wb\").write(bytes(40960))'",
             exited("python -c", 1), cause="possibly because the size of its files was limited (RLIMIT_FSIZE, ulimit -f)"),
    Scenario("file_size", "ulimit -f 8\ndd if=/dev/zero of=big bs=4096 count=10 status=none",
             killed("dd", "SIGXFSZ", " from the kernel"), code=153,
             cause="it reached its file size limit (RLIMIT_FSIZE)"),
    Scenario("cpu_time", "ulimit -S -t 1\ncrunch --cpu 20000", killed("crunch", "SIGXCPU", " from the kernel"), code=152,
             cause="it reached its CPU time limit (RLIMIT_CPU)"),
    Scenario("address_space", "ulimit -v 200000\npython3 -c 'bytearray(1 << 30)'", exited("python -c", 1),
             cause="possibly because its address space was limited (RLIMIT_AS, ulimit -v)"),
    Scenario("full_disk", "set -e\ngood\ndd if=/dev/zero of=full/big bs=4096 count=1000 status=none",
             exited("dd", 1)),
    Scenario("out_of_memory", "good\nhungry --memory 200",
             "hungry (pid N) was killed by the kernel's OOM killer after T", code=137, kind="oom-kill",
             cause="reached its memory limit of 64.0 MiB (at most 6"),
]

ENGINES = [
    make("make", "all:\n\tgood\n\tcrunch --exit 3\n\tgood\n", exited("crunch", 3)),
    make("make_ignored", "all: one two\none:\n\t-crunch --exit 3\ntwo:\n\tgood\n\talign --exit 4\n", exited("align", 4)),
    Scenario("make_keep_going", "", exited("crunch", 3), code=2, command=["make", "-k", "-j2"], files={
        "Makefile": "all: one two three\none:\n\tgood\ntwo:\n\tcrunch --exit 3\nthree:\n\tgood --sleep 100\n"}),
    Scenario("make_recursive", "", exited("crunch", 5), code=2, command=["make"], files={
        "Makefile": "all:\n\tgood\n\t$(MAKE) -f inner.mk\n",
        "inner.mk": "all:\n\ttrue; crunch --exit 5\n"}),
    Scenario("ninja", "", exited("crunch", 3), command=["ninja"], needs=("ninja",), files={
        "build.ninja": "rule run\n  command = $do\nbuild a: run\n  do = good && touch a\n"
                       "build b: run | a\n  do = crunch --exit 3\n"}),
    Scenario("parallel", "", exited("crunch", 3), command=["bash", "-c", "parallel -j2 'if [ {} = 3 ]; then crunch "
             "--exit 3; else good; fi' ::: 1 2 3 4 5 6; exit $?"], needs=("parallel",)),
    Scenario("xargs", "", exited("crunch", 3), code=123, command=[
        "bash", "-c", "printf '%s\\n' 0 0 3 0 0 | xargs -P2 -n1 crunch --exit; exit $?"]),
    Scenario("xargs_one", "", exited("crunch", 3), code=123, command=[
        "bash", "-c", "echo 3 | xargs crunch --exit; exit $?"]),
    Scenario("snakemake", "", exited("crunch", 3), command=SNAKEMAKE, needs=("snakemake",), files={
        "Snakefile": "rule all:\n    input: 'b'\nrule a:\n    output: 'a'\n    shell: 'good; touch a'\n"
                     "rule b:\n    input: 'a'\n    output: 'b'\n    shell: 'crunch --exit 3; touch b'\n"}),
    ok("snakemake_retry", "", command=[*SNAKEMAKE, "--retries", "2"], needs=("snakemake",), retried=1, files={
        "Snakefile": "rule all:\n    input: 'a'\nrule a:\n    output: 'a'\n    shell: 'good; bash flaky.sh; touch a'\n",
        "flaky.sh": "[ -e tried ] && exit 0\ntouch tried\ncrunch --exit 75\n"}),
    Scenario("snakemake_one_of_many", "", exited("crunch", 3),
             command=[*SNAKEMAKE, "--keep-going"], needs=("snakemake",), files={
                 "Snakefile": "rule all:\n    input: expand('{n}', n=[1, 2, 3, 4])\nrule a:\n    output: '{n}'\n"
                              "    shell: 'if [ {wildcards.n} = 2 ]; then crunch --exit 3; fi; good; "
                              "touch {output}'\n"}),
    Scenario("cwltool", "", exited("crunch", 3), command=["cwltool", "--quiet", "tool.cwl"], needs=("cwltool",), files={
        "tool.cwl": "cwlVersion: v1.0\nclass: CommandLineTool\nbaseCommand: [crunch, --exit, '3']\n"
                    "inputs: []\noutputs: []\n"}),
]

# Like Nextflow: a launcher that becomes the engine and, for each task, .command.run in a directory
# named by a hash, which runs .command.sh in the background.
COMMAND_RUN = """#!/bin/bash
on_exit() { exit_status=${nxf_main_ret:=$?}; printf $exit_status >.exitcode; sync; exit $exit_status; }
nxf_main() {
    trap on_exit EXIT
    mkdir -p scratch; date >/dev/null
    set +e
    (set -o pipefail; /bin/bash -ue $PWD/.command.sh | tee .command.out) &
    wait $! || nxf_main_ret=$?
    grep -q nothing /dev/null
    cp .command.out unstaged
}
nxf_main
"""
LAUNCHER = """package nextflow.cli;
import java.nio.file.*;
class Launcher {
    static int attempt(String folder, int number) throws Exception {
        Path where = Paths.get("work", folder, String.format("%030x", number));
        Files.createDirectories(where);
        Files.copy(Paths.get("command.run"), where.resolve(".command.run"));
        Files.copy(Paths.get(folder), where.resolve(".command.sh"));
        return new ProcessBuilder("/bin/bash", ".command.run").directory(where.toFile()).inheritIO()
            .start().waitFor();
    }
    public static void main(String[] arguments) throws Exception {
        for (int i = 2; i < arguments.length; i += 2) {
            int number = 0, code = 1;
            while (code != 0 && number < Integer.parseInt(arguments[i + 1]))
                code = attempt(arguments[i], number++);
            if (code != 0)
                System.exit(1);
        }
    }
}
"""


def nextflow_files(files):
    """The engine's files, in addition to those of the tasks."""
    return {"command.run": COMMAND_RUN, "Launcher.java": LAUNCHER,
            **{name: text for name, text in files.items() if name != "nextflow"}}


NEXTFLOW_COMMAND = ["java", "-cp", ".", "nextflow.cli.Launcher", "run", "x.nf"]
NEXTFLOW = [
    Scenario("nextflow", "", exited("crunch", 3), command=[*NEXTFLOW_COMMAND, "aa", "1", "bb", "1"],
             needs=("java", "javac"),
             files={"nextflow": "", "aa": "good --sleep 20\n", "bb": "good\ncrunch --exit 3\ngood\n"}),
    ok("nextflow_retry", "", command=[*NEXTFLOW_COMMAND, "aa", "1", "bb", "3"], retried=1,
       needs=("java", "javac"), files={
           "nextflow": "", "aa": "good --sleep 20\n",
           "crunch.py": "import os, sys\nif not os.path.exists('../tried'):\n"
                        "    open('../tried', 'w')\n    sys.exit(75)\n",
           "bb": "good\npython3 ../../../crunch.py s1.fastq\n"}),
]

SCENARIOS = SHELLS + PROGRAMS + TOLERATED + MORE + SIGNALS + ENGINES + NEXTFLOW
