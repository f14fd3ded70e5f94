/* Where runs begin, what belongs to them, and their names. */
#include "tests/streams.h"

TEST(a_command_beneath_an_origin_is_a_run)
{
	tell("2>10 bwa mem ref reads; ends");
	ck_assert_tasks("main: bwa mem [bwa mem] succeeded\n");
	ck_assert_rows("SELECT kind, name, status, process_count, living_count, exit_code, cpu_ns FROM "
		       "runs WHERE kind <> 'system'",
		       "command bwa mem succeeded 1 0 0 6000000\n");
}

TEST(a_run_that_no_probe_recorded_says_so)
{
	tell("2>10 bash outer.sh; 10>11 tracer run -- samtools sort x; 11>12 flags=%u samtools sort x; ends 3",
	     RECORD_WITHOUT_PROBE);
	ck_assert_rows("SELECT reason FROM runs WHERE name = 'samtools sort'", ROW_REASON_PARTIAL "\n");
}

TEST(tracer_run_marks_a_run_wherever_it_is)
{
	tell("2>10 bash outer.sh; 10>11 tracer run -- samtools sort x; 11>12 samtools sort x; ends 3");
	ck_assert_rows("SELECT name, kind, status, exit_code FROM runs WHERE kind <> 'system' "
		       "ORDER BY begin_boot_ns",
		       "outer.sh command running -\nsamtools sort command failed 3\n");
}

TEST(what_cron_starts_is_a_run_of_kind_cron)
{
	tell("1>10 cron -f; 10>11 backup.sh; ends");
	ck_assert_rows("SELECT kind, name, reason FROM runs WHERE kind <> 'system'",
		       "cron backup.sh child of an origin\n");
}

TEST(jobs_of_an_interactive_shell_are_runs)
{
	WITHOUT_RESTARTS(); /* which forget parts of a name */
	tell("2>10 tty=5 -bash; 10>11 tty=5 pgid=11 >77 gzip -dc a; 10>12 tty=5 pgid=11 <77 sort; "
	     "10>13 tty=5 pgid=13 make all");
	ck_assert_rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system' "
		       "ORDER BY begin_boot_ns",
		       "job gzip | sort 2\njob make all in work 1\n");
}

static const char *const runs_sql =
	"SELECT kind, name, user_id FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns";

/* sshd forks for each connection, and again as the user: both are still sshd. */
TEST(a_fork_of_an_origin_is_the_origin)
{
	tell("2>10; 10>11; 11>12 uid=1500 bash -c first~&&~second; 12>13 uid=1500 first");
	ck_assert_rows(runs_sql, "command first && second 1500\n");
}

/* su and sudo lead to a shell: each of its commands is a run of that user, also after a restart.
 * Commands in the shell's own process group are part of its profile. */
TEST(a_shell_behind_wrappers_is_a_session)
{
	tell("2>10 tty=5 -bash; 10>11 tty=5 pgid=11 su - bob; 11>12 tty=5 pgid=11 uid=1500 -bash; "
	     "12>13 tty=5 pgid=11 uid=1500 locale; 12>14 tty=5 pgid=14 uid=1500 align x; restart; "
	     "12>15 tty=5 pgid=15 uid=1500 sort x");
	ck_assert_rows("SELECT kind, name, user_id FROM runs WHERE kind NOT IN ('system', 'session') "
		       "ORDER BY begin_boot_ns",
		       "job align 1500\njob sort 1500\n");
	ck_assert_rows("SELECT r.kind, count(*) FROM processes p JOIN runs r ON r.id = p.run_id WHERE "
		       "p.program IN ('su', 'locale') OR p.pid = 12 GROUP BY r.kind",
		       "session 3\n");
	tell("12 ends 1; " /* status of its last command, not a failure of the session */
	     "11 ends 1; wait 20000");
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
}

/* The same if the wrapper becomes the shell: sudo -i, exec. */
TEST(a_wrapper_that_becomes_a_shell_is_a_session)
{
	tell("2>10 tty=5 uid=1500 env x; 10 tty=5 uid=1500 -bash; 10>11 tty=5 pgid=11 uid=1500 align x");
	ck_assert_rows(runs_sql, "session bash 1500\njob align 1500\n");
}

/* `docker exec -it`: the client is only the way in, and does not wait for another container. */
TEST(a_shell_in_a_container_has_jobs)
{
	tell("cgroup 600 /docker/" HEX64 "; 1>20 containerd-shim-runc-v2; 20>19 cgroup=600 sleep 9; "
	     "2>10 tty=5 -bash; 10>11 tty=5 pgid=11 docker exec -it box bash; 20>21 cgroup=1 runc exec box; "
	     "21>22 cgroup=600 tty=6 bash; 22>23 cgroup=600 tty=6 pgid=23 align x; "
	     "22>24 cgroup=600 tty=6 pgid=24 sort x");
	ck_assert_rows("SELECT kind, name, container_id IS NULL FROM runs WHERE kind <> 'system' "
		       "ORDER BY begin_boot_ns",
		       "container sleep 0\nsession docker exec 1\nsession bash 0\njob align 0\njob sort 0\n");
}

/* Shells that read a file (flags=64) or a descriptor are scripts, whatever started them. */
TEST(a_shell_that_reads_a_file_is_a_script)
{
	WITHOUT_RESTARTS(); /* which forget parts of a name */
	tell("2>10 tty=5 -bash; 10>11 tty=5 pgid=11 flags=64 bash; 11>12 tty=5 pgid=11 align x; "
	     "11>13 tty=5 pgid=11 call x; 10>20 tty=5 pgid=20 bash /dev/fd/63; 20>21 tty=5 pgid=20 trim x; "
	     "10>30 tty=5 pgid=30 make all; 30>31 tty=5 pgid=30 flags=64 bash; 31>32 tty=5 pgid=30 sort x; "
	     "10>40 tty=5 pgid=40 flags=64 bash -i; 40>41 tty=5 pgid=40 merge x");
	ck_assert_rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       "job align + call 3\njob trim 2\njob make all in work 3\njob merge 2\n");
}

/* A daemon that was found running starts work for users: it is theirs. What began since the probe is one run. */
TEST(another_users_command_in_a_found_run_is_theirs)
{
	sample(10, 2, "mom -D", cpu(0));
	scan(now + MS);
	now += 2 * MS;
	tell("10>11 setup x; ends; 10>12 su slurm -c align~x; 12>13 uid=64030 bash -c align~x; 13 uid=64030 align x; "
	     "10>14 timeout 9 call x; 14>15 call x; restart; 10>16 su bob -s /bin/bash -c a~&&~b; "
	     "16>17 uid=1500 bash -c a~&&~b; 17>18 uid=1500 a; "
	     "2>20 bash new.sh; 20>21 su bob -c sort~x; 21>22 uid=1500 sort x");
	ck_assert_rows("SELECT kind, name, user_id, reason FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       "command mom 0 child of an origin\n"
		       "command align 64030 another user's command in a run that was found running\n"
		       "command a && b 1500 another user's command in a run that was found running\n"
		       "command new.sh 0 child of an origin\n");
}

/* Root's service or cron job that works for people: su stays and waits, runuser -u and setpriv become the command, and a
 * program may change its user by itself. What it does for the accounts of daemons is its own work. */
TEST(a_users_command_in_roots_service_is_theirs)
{
	tell("cgroup 601 /system.slice/portal.service; 1 systemd; 1>10 cgroup=601 bash portal.sh; "
	     "10>11 cgroup=601 su ada -c align~x; 11>12 cgroup=601 uid=1500 align x; 12>13 cgroup=601 uid=1500 gzip x; ends; "
	     "12 ends 3; 11 ends 3; "
	     "10>20 cgroup=601 runuser -u bob call x; 20 cgroup=601 uid=1600 call x; ends; "
	     "10>30; 30>31 cgroup=601 setpriv --reuid 1600 sort x; 31 cgroup=601 uid=1600 sort x; "
	     "10>40 cgroup=601 uid=1500 trim x; ends; 10>50 cgroup=601 su www-data -c pack; 50>51 cgroup=601 uid=33 pack x; "
	     "10>60 cgroup=601 runuser -u nobody x; ends 1; 10>70 cgroup=601 runuser -u bob tmux; "
	     "70 cgroup=601 uid=1600 tmux new; 70>71 cgroup=601 uid=1600 merge x");
	ck_assert_rows(
		"SELECT kind, name, user_id, process_count, status FROM runs WHERE kind <> 'system' ORDER BY "
		"begin_boot_ns",
		"service portal.service 0 6 running\ncommand align 1500 2 failed\ncommand call 1600 1 succeeded\n"
		"command sort 1600 1 running\ncommand trim 1500 1 succeeded\nsession tmux 1600 1 running\n"
		"command merge 1600 1 running\n");
	ck_assert_rows("SELECT program FROM processes WHERE program IN ('su', 'runuser', 'setpriv') ORDER BY pid",
		       "su\nsu\nrunuser\n");
}

/* A step of a unit that root executes, and a command that leads to the user's, do not make the unit root's. */
TEST(a_unit_is_its_users)
{
	tell("cgroup 601 /system.slice/app.service; cgroup 602 /system.slice/direct.service; 1 systemd; "
	     "1>10 cgroup=601 mkdir x; ends; 1>11 cgroup=601 uid=1500 cwd=/home/ada align x; "
	     "1>20 cgroup=602 runuser -u bob sort x; 20 cgroup=602 uid=1600 sort x; "
	     "2>30 cron -f; 30>31 sh -c a~&&~sudo~-u~ada~b; 31>32 a; ends; 31>33 sudo -u ada b; 33>34 uid=1500 b");
	ck_assert_rows(
		"SELECT kind, name, user_id, working_directory FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		"service app.service 1500 /home/ada\nservice direct.service 1600 /work\n"
		"cron a && sudo -u ada b 0 /work\ncommand b 1500 /work\n");
}

/* `tracer run -- bash` covers everything done in that shell, and so does a batch job. */
TEST(tracer_run_keeps_what_a_shell_does)
{
	tell("2>10 tracer run -- bash; 10>11 tty=5 bash; 11>12 tty=5 pgid=12 align x; "
	     "11>13 tty=5 pgid=13 tmux; 13>14 tty=6 -bash; 14>15 tty=6 pgid=15 sort x");
	ck_assert_rows("SELECT kind, process_count FROM runs WHERE kind <> 'system'", "command 5\n");
}

/* A terminal opened inside a run (by a program, tmux) does not belong to that run. */
TEST(a_terminal_inside_a_run_is_a_session_of_its_own)
{
	tell("2>10 python3 monitor.py; 10>11 tty=6 uid=1500 bash -i; "
	     "11>12 tty=6 pgid=12 uid=1500 align x");
	/* A shell that reads a pipe is a script, whatever its terminal. */
	tell("10>13 tty=6 <7 bash");
	ck_assert_rows(runs_sql, "command monitor.py 0\nsession bash 1500\njob align 1500\n");
}

static const struct {
	const char *command, *name;
} asked[] = {
	{"sh -c javac~A.java~&&~java~-jar~x.jar", "javac A.java && java -jar x.jar"},
	{"bash -lc for~f~in~*.x;~do~wc~$f;~done", "for f in *.x; do wc $f; done"},
	{"sh -c /opt/bin/align~--threads~16~--reference~/data/genome.fa~|~/opt/bin/sort~-k1~>/data/out;~echo~done",
	 "align … | sort …; echo …"},
	{"sh -c a~2>&1~|~b~&>x", "a 2>&1 | b &>x"},
	{"sh -c cd~/x\nmake\n./test", "cd /x; make; ./test"},
	{"sh -c ~;~", "sh -c"},
	{"sh -c echo~'a;b'", "sh -c"}, /* one command: the name is what it executes */
	{"sh -c echo~'a", "sh -c"},
	{"bash /x/run.sh 1", "run.sh"},
	{"make all", "make all in work"},
	{"cp a b", "cp"},
};

TEST_EACH(a_run_is_named_by_what_was_asked, asked)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "%s\n", asked[_i].name);
	tell("2>10 %s; 10>11 mkdir -p x", asked[_i].command);
	ck_assert_rows("SELECT name FROM runs WHERE kind <> 'system'", expected);
}

/* The command line consists of arguments, which must not be stored. */
TEST(a_command_line_names_nothing_where_arguments_are_not_kept)
{
	keep_arguments_of(NULL);
	tell("2>10 sh -c align~/patients/7~&&~gzip~x; 10>11 align /patients/7");
	ck_assert_rows("SELECT name FROM runs WHERE kind <> 'system'", "align\n");
}

TEST(a_shell_that_reads_its_commands_is_named_by_the_first)
{
	WITHOUT_RESTARTS(); /* which forget parts of a name */
	tell("2>10 bash -s; 10>11 align x; ends; 10>12 mkdir y; ends; 10>13 sort x; ends; 10>14 pack x; ends; "
	     "10>15 unpack x; ends");
	ck_assert_rows("SELECT name FROM runs WHERE kind <> 'system'", "align + sort + pack\n");
}

/* make only starts the engine; the launcher's query of the Java version is not a task. */
TEST(a_workflow_engine_names_the_run_that_make_drives)
{
	tell("2>10 make test; 10>11 sh -c cd~x~&&~nextflow~run~main.nf; "
	     "11>12 bash /usr/bin/nextflow run main.nf; 12>13 java -version; ends; "
	     "12>14 awk -F. x; ends; 12>15 md5sum; ends; "
	     "12 java -cp x nextflow.cli.Launcher run main.nf; 12>16 bash .command.run; "
	     "16>17 align x; ends");
	ck_assert_rows("SELECT name, engine FROM runs WHERE kind <> 'system'", "nextflow main.nf nextflow\n");
	ck_assert_tasks("main: make [make] running\n"
			"engine: nextflow [sh -c, nextflow, java, nextflow] running\n"
			"engine: align [.command.run, align] running\n");
}

TEST(services_of_the_distribution_are_distinguished)
{
	tell("cgroup 600 /system.slice/systemd-journald.service; "
	     "cgroup 601 /system.slice/nightly.service; "
	     "cgroup 602 /user.slice/user-1500.slice/user@1500.service/app.slice/mine.service; "
	     "1 systemd; 1>10 cgroup=600 systemd-journald; 1>11 cgroup=601 systemd-executor x; "
	     "11 cgroup=601 uid=1500 align x; 1>12 cgroup=602 uid=1500 align y; "
	     "1>13 systemd-generator; ends");
	ck_assert_rows(runs_sql, "host-service systemd-journald.service 0\nservice nightly.service 1500\n"
				 "service mine.service 1500\n");
}

/* As Ubuntu 24.04 does; the manager was running before the probe. */
TEST(a_service_begins_behind_a_step_in_the_managers_cgroup)
{
	tell("cgroup 500 /init.scope; cgroup 601 /system.slice/nightly.service; 1 cgroup=500 systemd; "
	     "1>11 cgroup=500 systemd-executor x; 11 cgroup=601 uid=1500 sh x; 11>12 cgroup=601 uid=1500 align y; "
	     "1>13 cgroup=500 systemd-executor x; ends");
	ck_assert_rows(runs_sql, "service nightly.service 1500\n");
}

/* Whatever starts them: the service manager, a container, init. */
TEST(agents_that_watch_the_host_are_its_own)
{
	tell("cgroup 600 /system.slice/prometheus-node-exporter.service; cgroup 601 /system.slice/munge.service; "
	     "cgroup 602 /system.slice/datadog-agent.service; cgroup 603 /docker/" HEX64 "; "
	     "cgroup 604 /system.slice/postgresql.service; cgroup 605 /system.slice/falcon-assembly.service; "
	     "1 systemd; 1>10 cgroup=600 prometheus-node-exporter; 1>11 cgroup=601 munged; 1>12 cgroup=602 agent run; "
	     "1>20 containerd-shim-runc-v2; 20>13 cgroup=603 telegraf; 1>14 cgroup=604 postgres; "
	     "1>15 cgroup=605 falcon; 2>16 zabbix_agentd; ends");
	ck_assert_rows(runs_sql,
		       "host-service prometheus-node-exporter.service 0\nhost-service munge.service 0\n"
		       "host-service datadog-agent.service 0\nhost-service telegraf 0\nservice postgresql.service 0\n"
		       "service falcon-assembly.service 0\n");
}

TEST(a_process_without_a_known_parent_has_a_run_of_its_own)
{
	tell("90>10 stray"); /* 90 was never reported */
	ck_assert_rows("SELECT kind, name FROM runs WHERE kind <> 'system'", "found stray\n");
}

TEST(a_slurm_job_is_a_run_and_its_steps_are_tasks)
{
	tell("cgroup 500 /slurm_host/uid_0/job_9/step_batch; cgroup 501 /slurm_host/uid_0/job_9/step_0; "
	     "1>10 slurmd; 10>20 slurmstepd; 20>30 cgroup=500 bash job.sh; 10>21 slurmstepd; "
	     "21>31 cgroup=501 samtools index x; 21>32 cgroup=501 samtools index y; " /* srun -n 2 */
	     "30>40 gzip x; ends; 30>41 bwa index x; ends");
	ck_assert_rows("SELECT kind, count(*) FROM runs WHERE kind <> 'system'", "batch 1\n");
	ck_assert_rows("SELECT t.kind, t.process_count FROM standing_tasks t JOIN runs r ON "
		       "r.id = t.run_id WHERE r.kind = 'batch' ORDER BY t.begin_boot_ns",
		       "batch 3\nbatch 2\n");
}

/* With PrologFlags=Contain, root's sleep in step_extern comes first, and is terminated once the job has ended. */
TEST(a_slurm_job_is_its_users)
{
	tell("cgroup 500 /slurm_host/uid_1500/job_9/step_extern; cgroup 501 /slurm_host/uid_1500/job_9/step_batch; "
	     "1>10 slurmd; 10>20 slurmstepd; 20>30 cgroup=500 sleep 100000000; 10>21 slurmstepd; "
	     "21>31 cgroup=501 uid=1500 bash job.sh; 31>32 cgroup=501 uid=1500 align x; ends; 31 ends; 30 dies 15");
	ck_assert_rows("SELECT kind, name, user_id, status, process_count FROM runs WHERE kind <> 'system'",
		       "batch slurm job 9 1500 succeeded 2\n");
	ck_assert_rows("SELECT count(*) FROM incidents", "0\n");
}

/* Debian's alternatives call the file slurmstepd-wlm. It ends with 0, whatever becomes of the job. */
TEST(a_slurm_job_that_was_found_running_is_its_users)
{
	tell("cgroup 501 /slurm_host/uid_1500/job_9/step_batch; 10<1 seen 1 cgroup=501 slurmstepd-wlm infinity; "
	     "11<10 seen 1 cgroup=501 uid=1500 bash job.sh; 12<11 seen 1 cgroup=501 uid=1500 align x; scan; later 1; "
	     "12 gets 15 from 10; 12 dies 15; 11 dies 15; 10 ends");
	ck_assert_rows("SELECT kind, name, user_id, status, process_count FROM runs WHERE kind <> 'system'",
		       "batch slurm job 9 1500 killed 2\n");
}

TEST(a_job_goes_on_with_what_follows_at_once)
{
	tell("cgroup 500 /slurm_host/uid_0/job_9/step_batch; 1>10 slurmd; 10>20 slurmstepd; "
	     "20>30 cgroup=500 bash job.sh; ends; commit; later 1000; commit; 20>31 cgroup=500 bash job.sh; ends");
	ck_assert_rows("SELECT kind, process_count FROM runs WHERE kind <> 'system'", "batch 2\n");
}

TEST(a_daemon_stays_in_the_run_that_began_it)
{
	tell("2>10 bash driver.sh; 10>11; 11>12; "
	     "11 ends; " /* the first fork exits, the second continues */
	     "10 ends; wait 20000; commit; 12 cached");
	ck_assert_rows("SELECT kind, status, living_count FROM runs WHERE kind <> 'system'", "command succeeded 1\n");
}

/* Names are chosen by users. What a user executes is never the host's, whatever its name. */
static const struct {
	const char *story, *runs;
} roles[] = {
	/* a login shell is a session, and so is what hides there */
	{"2>10 tty=5 uid=1500 -bash; 10>11 tty=5 pgid=11 uid=1500 align x", "session bash 1500\njob align 1500\n"},
	{"2>10 tty=5 uid=1500 -bash; 10>11 tty=5 pgid=11 uid=1500 tmux; 11>12 uid=1500 align x; "
	 "10>13 tty=5 pgid=13 uid=1500 cron; 13>14 uid=1500 pack x; 10>15 tty=5 pgid=15 uid=1500 bash; "
	 "10>16 tty=5 pgid=16 uid=1500 tracer-probe; 10>17 tty=5 pgid=17 uid=1500 telegraf",
	 "session bash 1500\ncommand align 1500\ncron pack 1500\n"},
	{"2>10 tty=5 -bash; 10>11 tty=5 pgid=11 cc1 x; 10>12 tty=5 pgid=12 uid=1500 conmon x", "session conmon 1500\n"},
	{"2>10 uid=1500 sshd; 10>11 uid=1500 align x; 2>12 uid=1500 pause; 2>13 uid=1500 zabbix_agentd",
	 "session sshd 1500\ncommand align 1500\nsession pause 1500\nsession zabbix_agentd 1500\n"},
	/* its parent was lost */
	{"90>10 uid=1500 tmux; 10 uid=1500 align x; 90>11 uid=1500 tty=5 bash -i; 11>12 tty=5 pgid=12 uid=1500 pack x; "
	 "91>13 cron; 13>14 uid=1500 sort x",
	 "session tmux | align 1500\nsession bash 1500\njob pack 1500\ncron sort 1500\n"},
	{"cgroup 600 /docker/" HEX64 "; 90>10 cgroup=600 mntns=6 cron; 10>11 cgroup=600 align x",
	 "service cron 0\ncron align 0\n"},
	/* a user's service manager */
	{"cgroup 600 /user.slice/user-1500.slice/user@1500.service/init.scope; "
	 "cgroup 601 /user.slice/user-1500.slice/user@1500.service/app.slice/telegraf.service; "
	 "1 systemd; 1>10 cgroup=600 uid=1500 systemd --user; 10>11 cgroup=601 uid=1500 telegraf",
	 "session systemd 1500\nsession telegraf.service 1500\n"},
	/* what is left of a login session, and of what it started as another user */
	{"cgroup 600 /user.slice/user-1600.slice/session-5.scope; 1 systemd; scan; 1>10 cgroup=600 uid=1600 bash v.sh; "
	 "1>11 cgroup=600 uid=1500 snakemake x; ends 1; 1>12 cgroup=600 uid=1600 align x",
	 "session session-5.scope 1600\nsession session-5.scope 1500\n"},
	/* in a container, also as root */
	{"cgroup 600 /docker/" HEX64 "; 1>10 mntns=5 containerd-shim-runc-v2; 10>30 cgroup=600 mntns=6 cron; "
	 "30>31 cgroup=600 align x",
	 "service cron 0\ncron align 0\n"},
	{"cgroup 600 /docker/" HEX64 "; 1>10 mntns=5 containerd-shim-runc-v2; 10>30 cgroup=600 mntns=6 pause",
	 "host-service pause 0\n"},
	/* a keeper of containers that is a user's: nothing of another user's client */
	{"cgroup 600 /user.slice/user-1500.slice/user@1500.service/docker-" HEX64 ".scope; "
	 "2>20 uid=1600 docker run image sort x; 2>10 tty=5 uid=1500 -bash; "
	 "10>11 tty=5 pgid=11 uid=1500 mntns=5 containerd-shim; 11>30 cgroup=600 uid=1500 mntns=6 sort x",
	 "command docker run 1600\nsession bash 1500\ncontainer sort 1500\n"},
	{"cgroup 600 /user.slice/user-1600.slice/user@1600.service/docker-" HEX64 ".scope; "
	 "2>20 uid=1600 docker run image sort x; 2>10 tty=5 uid=1600 -bash; "
	 "10>11 tty=5 pgid=11 uid=1600 mntns=5 containerd-shim; 11>30 cgroup=600 uid=1600 mntns=6 sort x",
	 "command docker run | sort 1600\nsession bash 1600\n"},
	/* a batch daemon that is a user's: nothing of another user's job */
	{"cgroup 500 /slurm_host/uid_1600/job_9/step_batch; "
	 "cgroup 501 /user.slice/user-1500.slice/user@1500.service/slurm_host/uid_1600/job_9/step_batch; "
	 "1>10 slurmd; 10>20 slurmstepd; 20>30 cgroup=500 uid=1600 bash job.sh; "
	 "2>40 uid=1500 bash x.sh; 40>41 uid=1500 slurmstepd; 41>42 cgroup=501 uid=1500 bash job.sh; ends 1",
	 "batch slurm job 9 1600\ncommand x.sh 1500\nbatch slurm job 9 1500\n"},
};

TEST_EACH(roles_are_earned, roles)
{
	WITHOUT_RESTARTS(); /* each story would have rows of its own */
	tell("%s", roles[_i].story);
	ck_assert_rows("SELECT kind, name, user_id FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       roles[_i].runs);
	ck_assert_rows("SELECT group_concat(DISTINCT p.user_id) FROM processes p JOIN runs r ON r.id = p.run_id WHERE "
		       "r.kind = 'system'",
		       "0\n");
}

/* A session that computes is listed, and charged to its user: a loop in a shell, a program called tmux. */
static const struct {
	const char *story, *runs;
} computing[] = {
	{"2>10 tty=5 uid=1500 -bash; later 90000; 10<2 seen 61000", "service bash 1500\n"},
	{"2>10 tty=5 uid=1500 -bash; later 90000; 10<2 seen 59000", "session bash 1500\n"},
	{"2>10 tty=5 uid=1500 -bash; later 900000; scan; 10<2 seen 61000", "session bash 1500\n"},
	{"2>10 tty=5 uid=1500 -bash; 10>11 tty=5 uid=1500 tmux; later 90000; 11<10 seen 61000; 10>12 pgid=12 align x",
	 "service bash 1500\njob align 0\n"},
	{"cgroup 600 /docker/" HEX64 "; 1>10 mntns=5 containerd-shim-runc-v2; 10>30 cgroup=600 mntns=6 telegraf; "
	 "later 90000; 30<10 seen 61000",
	 "service telegraf 0\n"},
	/* a child of init by clone(CLONE_PARENT), or found, in the cgroup that it was started in */
	{"cgroup 600 /user.slice/user-1500.slice/session-5.scope; 1 systemd; scan; 1>10 cgroup=600 uid=1500 align x; "
	 "later 90000; 10<1 seen 61000",
	 "service session-5.scope 1500\n"},
	{"cgroup 600 /system.slice/cron.service; 1 systemd; scan; 1>10 cgroup=600 clean x; 1>11 cgroup=600 uid=1500 align x; "
	 "later 90000; 11<1 seen 61000",
	 "host-service cron.service 0\nservice cron.service 1500\n"},
	{"cgroup 600 /system.slice/munge.service; 1 systemd; 1>10 cgroup=600 uid=108 munged; later 90000; 10<1 seen 61000",
	 "host-service munge.service 108\n"},
};

TEST_EACH(a_session_that_computes_is_listed, computing)
{
	tell("%s; scan", computing[_i].story);
	ck_assert_rows("SELECT kind, name, user_id FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       computing[_i].runs);
}

/* Runs are joined by their keys. A user may write a script and a path of any name. */
static const struct {
	const char *story, *keys;
} keys[] = {
	{"1>10 pbs_mom; 10>11 uid=1600 bash /var/spool/pbs/mom_priv/jobs/123.SC; 11>12 uid=1600 align x",
	 "batch pbs:123 1600\n"},
	{"2>10 uid=1500 bash x/mom_priv/jobs/123.SC; 10>11 uid=1500 align x", "batch pbs:123@1500 1500\n"},
	{"2>9 uid=1500 bash y.sh; 9>10 uid=1500 pbs_mom; 10>11 uid=1500 bash x/mom_priv/jobs/123.SC; "
	 "11>12 uid=1500 align x",
	 "command - 1500\nbatch pbs:123@1500 1500\n"},
	{"1>10 sge_execd; 10>11 uid=1500 bash x/mom_priv/jobs/123.SC; 11>12 uid=1500 align x",
	 "batch pbs:123@1500 1500\n"},
	{"cgroup 500 /user.slice/user-1500.slice/user@1500.service/slurm/job_9; "
	 "2>10 cgroup=500 uid=1500 bash x.sh; 10>11 cgroup=500 uid=1500 align x",
	 "command slurm:9@1500 1500\n"},
	/* what root of a container names */
	{"cgroup 500 /lxc.payload.web/slurm/uid_0/job_9; 2>10 cgroup=500 uid=100000 bash x.sh",
	 "container slurm:9@100000 100000\n"},
	{"cgroup 500 /slurm/uid_1600/job_9/step_0/docker-" HEX64 ".scope; 2>10 cgroup=500 uid=1600 bash x.sh",
	 "container slurm:9 1600\n"},
	{"cgroup 500 /docker/" HEX64 "; 1>9 mntns=5 containerd-shim-runc-v2; 9>10 cgroup=500 mntns=6 pbs_mom; "
	 "10>11 cgroup=500 uid=1500 bash x/mom_priv/jobs/123.SC; 11>12 cgroup=500 uid=1500 align x",
	 "service - 0\nbatch pbs:123@1500 1500\n"},
	{"cgroup 500 /kubepods/burstable/pod01234567-89ab-cdef-0123-456789abcdef/" HEX64 "; "
	 "1>10 mntns=5 containerd-shim-runc-v2; 10>11 cgroup=500 mntns=6 uid=33 nginx",
	 "container pod:01234567-89ab-cdef-0123-456789abcdef 33\n"},
};

TEST_EACH(keys_of_runs_are_earned, keys)
{
	tell("%s", keys[_i].story);
	ck_assert_rows("SELECT kind, run_key, user_id FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       keys[_i].keys);
}

#define POD_STORY \
	"cgroup 500 /kubepods/besteffort/pod01234567-89ab-cdef-0123-456789abcdef/" HEX64 "; " \
	"1>10 mntns=5 containerd-shim-runc-v2; "
static const struct host_pod_container pod_container = {HEX64, "genomics/align-x7k2p/main"};

/* The kubelet names a container once it runs; until then its program does. */
TEST(a_pod_names_its_runs)
{
	tell(POD_STORY "10>11 cgroup=500 mntns=6 uid=33 nginx");
	ck_assert(apply_awaits_pods(model));
	ck_assert_rows("SELECT name FROM runs WHERE kind = 'container'", "nginx\n");
	apply_pod_container(model, &pod_container);
	ck_assert(!apply_awaits_pods(model));
	tell("11>12 cgroup=500 mntns=6 python3 /usr/bin/snakemake -j2; restart");
	ck_assert_rows("SELECT r.name, r.run_key, c.name FROM runs r JOIN containers c ON c.id = r.container_id "
		       "WHERE r.kind = 'container'",
		       "genomics/align-x7k2p pod:01234567-89ab-cdef-0123-456789abcdef genomics/align-x7k2p/main\n");
}

TEST(a_pod_names_a_run_that_begins_later)
{
	WITHOUT_RESTARTS();
	tell(POD_STORY "commit");
	apply_pod_container(model, &pod_container);
	tell("10>11 cgroup=500 mntns=6 nginx; 10>12 cgroup=500 mntns=6 tty=5 bash; 12>13 pgid=13 sort x");
	ck_assert_rows("SELECT kind, name FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       "container genomics/align-x7k2p\nsession bash\njob sort\n");
}

/* A sandbox is never named; another container of the same id is not of a pod. */
TEST(names_of_pods_are_not_awaited_for_ever)
{
	tell(POD_STORY "10>11 cgroup=500 mntns=6 pause");
	ck_assert(apply_awaits_pods(model));
	wait_ms(61000);
	ck_assert(!apply_awaits_pods(model));
	apply_pod_container(model, &pod_container);
	tell("cgroup 501 /docker/" HEX64 "; 10>12 cgroup=501 mntns=7 nginx");
	ck_assert(!apply_awaits_pods(model));
	apply_pod_container(model, &pod_container);
	ck_assert_rows("SELECT count(*) FROM containers WHERE name IS NOT NULL", "0\n");
}

int main(void)
{
	return streams_run("run");
}
