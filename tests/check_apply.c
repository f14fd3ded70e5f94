/* Boots, restarts, repetition, nonsense, and what must not be stored. */
#include "tests/streams.h"

TEST(another_boot_ends_everything)
{
	spawn(2, 10, "bwa mem x");
	hello("boot-2");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes WHERE ended IS NULL"), "0\n");
	run_process(2, 10, "bwa mem x");
	ck_assert_str_eq(rows("SELECT count(DISTINCT id) FROM processes WHERE pid = 10"), "2\n");
}

TEST(init_of_the_next_boot_is_another_one)
{
	hello("boot-2");
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, "systemd", cpu(0)); /* begun at the very same time */
	sample(2, 1, "sshd -D", cpu(0));
	pass(now);
	now += MS;
	run_process(2, 10, "bwa mem x");
	ck_assert_str_eq(rows("SELECT pid, ifnull(ended, 'lives') FROM processes WHERE pid < 3 "
			      "ORDER BY pid, 2"),
			 "1 lives\n1 lost\n2 lives\n2 lost\n");
	ck_assert_str_eq(rows("SELECT kind, living_count FROM runs ORDER BY kind, living_count"),
			 "command 0\nsystem 0\nsystem 2\n");
}

/* Numbers of cgroups begin anew, and so does the clock. */
TEST(a_service_of_the_next_boot_is_another_run)
{
	cgroup(600, "/system.slice/a.service");
	spawn_in(1, 10, (struct where){.cgroup_id = 600}, "a");
	commit();
	hello("boot-2");
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, "systemd", cpu(0));
	pass(now);
	cgroup(600, "/system.slice/b.service");
	spawn_in(1, 20, (struct where){.cgroup_id = 600}, "b");
	ck_assert_str_eq(rows("SELECT name, living_count FROM runs WHERE kind = 'service' ORDER BY name"),
			 "a.service 0\nb.service 1\n");
}

/* Where the next boot is younger than the one before grew, its clock says nothing of those. */
TEST(what_was_of_a_boot_before_is_let_go)
{
	now += 1000 * 1000 * MS;
	spawn(2, 10, "bwa mem x");
	commit();
	now -= 1000 * 1000 * MS;
	hello("boot-2");
	exec_ids[1] = exec_ids[2] = 0;
	sample(1, 0, "systemd", cpu(0));
	sample(2, 1, "sshd -D", cpu(0));
	pass(now + MS);
	for (unsigned i = 0; i < 3; i++) {
		commit(); /* what was let go at one is deleted with the next */
		wait_ms(100);
	}
	ck_assert_str_eq(rows("SELECT count(*) FROM states"), "4\n"); /* init, sshd, run and task */
}

TEST(a_program_that_forks_itself_on_is_not_remembered_for_ever)
{
	spawn(2, 10, "perl x.pl");
	for (unsigned pid = 10; pid < 1010; pid++) {
		fork_process(pid, pid + 1);
		exit_process(pid, 0);
		if (pid % 100 == 0)
			commit();
	}
	commit();
	commit();
	ck_assert_str_eq(rows("SELECT count(*) < 200 FROM states"), "1\n");
	exec_process(1010, "gzip x");
	ck_assert_str_eq(rows("SELECT process_count, living_count FROM runs WHERE kind = 'command'"), "1001 1\n");
}

/* A script that runs a script that runs commands, and the same with an engine. */
TEST(a_run_that_is_over_is_let_go)
{
	spawn(2, 10, "bash outer.sh");
	spawn(10, 11, "bash inner.sh");
	for (unsigned i = 0; i < 3; i++)
		run_process(11, 12 + i, "bwa mem x");
	exit_process(11, 0);
	exit_process(10, 0);
	spawn(2, 20, "python3 /usr/bin/snakemake -j2");
	spawn(20, 21, "bash -c x");
	run_process(21, 22, "bwa mem x");
	exit_process(21, 0);
	exit_process(20, 0);
	for (unsigned i = 0; i < 3; i++) {
		commit();
		wait_ms(20000);
	}
	ck_assert_str_eq(rows("SELECT count(*) FROM states"), "4\n"); /* init, sshd, run and task */
}

TEST(an_event_told_twice_counts_once)
{
	spawn(2, 10, "bwa mem x");
	exec_ids[10]--;
	exec_process(10, "bwa mem x");
	exit_process(10, 0);
	exit_process(10, 0);
	end_as(EVENT_FINAL, 10, 0, cpu(4 * MS)); /* programs of another build: less was left then */
	ck_assert_str_eq(rows("SELECT process_count, cpu_ns FROM runs WHERE kind <> 'system'"), "1 6000000\n");
}

TEST(a_restart_changes_nothing)
{
	spawn(2, 10, "bash outer.sh");
	spawn(10, 11, "bash inner.sh");
	run_process(11, 12, "bwa index x");
	spawn(11, 13, "bwa mem x");
	fork_process(10, 14); /* forked, nothing more is known */
	restart();
	exec_process(14, "multiqc .");
	exit_process(14, 0);
	exit_process(13, 0);
	exit_process(11, 0);
	exit_process(10, 0);
	ck_assert_tasks("main: outer.sh [outer.sh] succeeded\n"
			"generic: inner.sh [inner.sh, bwa index, bwa mem] succeeded\n"
			"generic: multiqc [multiqc] succeeded\n");
	ck_assert_str_eq(rows("SELECT count(*), sum(cpu_ns), min(totals) FROM processes WHERE pid >= 10"),
			 "5 30000000 final\n");
	wait_ms(60000);
	commit();
	commit(); /* what has gone is forgotten with the commit after */
	/* left: the system run, its task, systemd and sshd */
	ck_assert_str_eq(rows("SELECT count(*) FROM states"), "4\n");
}

/* A step of a story that has of all that is remembered. */
static void tell(unsigned step)
{
	switch (step) {
	case 0: cgroup(600, "/system.slice/docker-" HEX64 ".scope"); break;
	case 1: spawn(2, 10, "python3 /usr/bin/snakemake -j2"); break;
	case 2: fork_process(10, 11); break;
	case 3: exec_in(11, (struct where){.stdout_pipe = 7, .tty = 5}, "bash -c x"); break;
	case 4: spawn(11, 12, "bwa mem a.fq"); break;
	case 5: sample(12, 11, NULL, in_cgroup(9 * MIB, 3 * MIB, 4 * MS)); break;
	case 6: fork_process(12, 13); break;
	case 7: exec_process(12, "samtools sort a.bam"); break;
	case 8: end_as(EVENT_EXIT, 13, 0, cpu(2 * MS)); break;
	case 9: end_as(EVENT_FINAL, 13, 0, cpu(3 * MS)); break;
	case 10: send_signal(12, 11, 15, 0); break;
	case 11: exit_process(12, 15); break;
	case 12: exit_process(11, 143 << 8); break;
	case 13: spawn(10, 14, "bash -c x"); break;
	case 14: spawn(14, 15, "bwa mem b.fq"); break;
	case 15: exec_process(15, "hidden"); break;
	case 16: exit_process(15, 0); break;
	case 17: exit_process(14, 0); break;
	case 18: spawn(2, 20, "bash outer.sh"); break;
	case 19: spawn(20, 21, "bash inner.sh"); break;
	case 20: run_process(21, 22, "grep x"); break;
	case 21: fork_process(21, 23); break;
	case 22: exec_in(23, (struct where){.cgroup_id = 600, .pid_namespace = 5, .mount_namespace = 6}, "gzip z"); break;
	case 23: fork_process(20, 24); break;
	case 24: exec_in(24, (struct where){.stdout_pipe = 9}, "sort y"); break;
	case 25: fork_process(20, 25); break;
	case 26: exec_in(25, (struct where){.stdin_pipe = 9}, "uniq"); break;
	case 27: exit_process(24, 3 << 8); break;
	case 28: exit_process(25, 0); break;
	case 29: exit_process(23, 0); break;
	case 30: exit_process(21, 1 << 8); break;
	case 31: exit_process(20, 1 << 8); break;
	case 32: exit_process(10, 0); break;
	}
}

#define STORY_STEPS 33

/* All that a reader sees, but for how often it was written. */
static char *everything(void)
{
	static const char *const tables[] = {"containers", "runs", "tasks", "tools", "processes", "incidents"};
	static char text[1 << 16];
	char sql[64];

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY id", tables[i]);
		strncat(text, rows_but(sql, "rev"), sizeof(text) - strlen(text) - 1);
	}
	return strdup(text);
}

/* The story is told with a commit and a message more between any two steps, and of the two times
 * once with another correlator from that message on. */
TEST_TIMES(a_restart_anywhere_changes_nothing, STORY_STEPS)
{
	char *told[2];

	for (int again = 0; again < 2; again++) {
		if (again)
			begin_anew();
		for (unsigned step = 0; step < STORY_STEPS; step++) {
			tell(step);
			commit();
			if (again && step == (unsigned)_i) {
				close_model();
				open_model();
			}
			hello("boot-1");
		}
		told[again] = everything();
	}
	ck_assert_str_eq(told[1], told[0]);
	free(told[0]);
	free(told[1]);
}

static const char sums_of_runs[] =
	"SELECT sum(r.cpu_ns), sum(r.process_count), sum(r.failed_count), (SELECT sum(cpu_ns) FROM tasks), "
	"(SELECT sum(cpu_ns) FROM tools), (SELECT sum(cpu_ns) FROM processes WHERE run_id IN (SELECT id FROM "
	"runs WHERE kind <> 'system')) FROM runs r WHERE r.kind <> 'system'";

/* Busy from its fork to its end, the teardown after its exit included: one core, at every level. */
TEST(one_thread_uses_one_core_at_most)
{
	fork_process(2, 10);
	now += 1 * MS; /* 2 ms of CPU at its exec */
	exec_process(10, "bwa mem x");
	now += 2 * MS;
	end_as(EVENT_EXIT, 10, 0, cpu(5 * MS));
	now += 60 * MS; /* which tells nothing of how long the teardown took */
	end_as(EVENT_FINAL, 10, 0, cpu(6 * MS));
	ck_assert_str_eq(rows("SELECT cpu_ns, end_boot_ns - begin_boot_ns FROM processes WHERE pid = 10 UNION ALL "
			      "SELECT cpu_ns, wall_ns FROM standing_tools WHERE name LIKE 'bwa%' UNION ALL "
			      "SELECT cpu_ns, wall_ns FROM standing_tasks WHERE run_id IN (SELECT id FROM runs WHERE "
			      "kind <> 'system') UNION ALL SELECT cpu_ns, wall_ns FROM standing_runs WHERE "
			      "kind <> 'system'"),
			 "6000000 6000000\n6000000 6000000\n6000000 6000000\n6000000 6000000\n");
}

/* As from the release that knew no states. */
static void upgrade(void)
{
	commit();
	close_model();
	change_store("DELETE FROM states WHERE entity <> 'host'");
	open_model();
	hello("boot-1");
}

TEST(an_upgrade_lets_no_sum_fall)
{
	spawn(2, 10, "bash outer.sh");
	run_process(10, 11, "bwa index x");
	spawn(10, 12, "bwa mem x");
	run_process(10, 13, "sort y");
	sample(10, 2, NULL, cpu(20 * MS));
	sample(12, 10, NULL, cpu(30 * MS));
	pass(now);
	ck_assert_str_eq(rows(sums_of_runs), "62000000 4 0 62000000 62000000 62000000\n");
	upgrade();
	ck_assert_str_eq(rows(sums_of_runs), "62000000 4 0 62000000 62000000 62000000\n");
	ck_assert_str_eq(rows("SELECT status, living_count, end_boot_ns IS NULL FROM runs WHERE kind <> 'system'"),
			 "ended 0 0\n");
	ck_assert_str_eq(rows("SELECT program, ended FROM processes WHERE pid IN (10, 12) ORDER BY pid"),
			 "bash lost\nbwa lost\n");
	sample(1, 0, "systemd", cpu(0));
	sample(2, 1, "sshd", cpu(0));
	sample(10, 2, "bash outer.sh", cpu(21 * MS));
	sample(12, 10, "bwa mem x", cpu(40 * MS));
	pass(now);
	now += MS;
	exit_process(12, 0);
	run_process(10, 14, "bwa index x");
	exit_process(10, 0);
	ck_assert_str_eq(rows("SELECT began, ended, count(*) FROM processes WHERE pid IN (10, 12) GROUP BY 1, 2 "
			      "ORDER BY 1, 2"),
			 "exec lost 2\nfound exit 2\n");
	ck_assert_str_eq(rows("SELECT status, process_count FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns, "
			      "status"),
			 "succeeded 3\nended 4\n");
	ck_assert_str_eq(rows("SELECT count(*) FROM tools t WHERE cpu_ns <> (SELECT total(cpu_ns) FROM processes p "
			      "WHERE p.tool_id = t.id)"),
			 "0\n");
	restart(); /* and the generation is remembered */
	run_process(2, 15, "gzip x");
	upgrade();
	run_process(2, 16, "gzip x");
	ck_assert_str_eq(rows("SELECT count(*) FROM runs WHERE kind <> 'system'"), "4\n");
}

/* Cut off anywhere, one after the other: what they spoke of is found again, or is over. */
TEST_TIMES(broken_states_are_survived, 40)
{
	char cut[128];

	snprintf(cut, sizeof(cut), "UPDATE states SET state = substr(state, 1, length(state) * %d / 40) "
		 "WHERE id %% 3 = %d", _i, _i % 3);
	begin_step();
	send_signal(12, 13, 15, 0);
	commit();
	close_model();
	change_store(cut);
	open_model();
	hello("boot-1");
	sample(10, 2, "python3 /usr/bin/snakemake -j2", cpu(9 * MS));
	sample(12, 11, "bwa mem x", cpu(9 * MS));
	pass(now);
	now += MS;
	end_step(0);
	run_process(10, 14, "sort x");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = "
			      "p.task_id WHERE t.id IS NULL"),
			 "0\n");
}

/* Hostile: links in a circle, ids of nobody, exits of the unknown. */
TEST(nonsense_is_survived)
{
	exec_ids[50] = exec_ids[51] = 1;
	sample(50, 51, "a", cpu(0));
	sample(51, 50, "b", cpu(0));
	pass(now);
	now += MS;
	fork_process(60, 60);
	spawn(60, 61, "c");
	exit_process(70, 0);
	end_as(EVENT_FINAL, 61, 0, cpu(0));
	end_as(EVENT_EXIT, 61, 0, cpu(0));
	exec_process(61, "too late");
	ck_assert_str_eq(rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = "
			      "p.task_id WHERE t.id IS NULL"),
			 "0\n");
}

TEST(what_a_rule_ignores_is_not_stored_but_leads_to_its_children)
{
	spawn(2, 10, "bash driver.sh");
	spawn(10, 11, "hidden");
	run_process(11, 12, "bwa mem x");
	exit_process(11, 0);
	spawn(10, 13, "hidden");
	exec_process(13, "gzip"); /* it shows itself after all */
	exit_process(13, 0);
	ck_assert_str_eq(rows("SELECT p.program, q.program, p.cpu_ns FROM processes p LEFT JOIN processes q ON "
			      "q.id = p.parent_id WHERE p.pid > 10 ORDER BY p.begin_boot_ns"),
			 "bwa - 6000000\ngzip bash 4000000\n");
	ck_assert_str_eq(rows("SELECT kind, process_count FROM runs WHERE kind <> 'system'"), "command 3\n");
}

/* Its root became a program that a rule ignores, or that the kernel side does. */
TEST(a_run_ends_with_its_root_though_that_is_ignored)
{
	spawn(2, 10, "bwa mem x");
	exec_process(10, "hidden");
	ck_assert_str_eq(rows("SELECT status FROM runs WHERE kind = 'command'"), "running\n");
	restart();
	exit_process(10, 3 << 8);
	ck_assert_str_eq(rows("SELECT status, exit_code FROM runs WHERE kind = 'command'"), "failed 3\n");
	ck_assert_str_eq(rows("SELECT status, exit_code FROM tasks WHERE kind = 'main' AND exit_code > 0"),
			 "failed 3\n");
}

TEST(what_the_kernel_ignores_is_followed_no_further)
{
	struct event_ignored *ignored;

	spawn(2, 10, "bwa mem x");
	ignored = &begin_event(EVENT_IGNORED)->ignored;
	exec_ids[10]++;
	ignored->boot_ns = now;
	ignored->image = key(10);
	apply();
	ck_assert_str_eq(rows("SELECT program, ended FROM processes WHERE pid = 10"), "bwa exec\n");
	ck_assert_str_eq(rows("SELECT status FROM runs WHERE kind = 'command'"), "ended\n");
	wait_ms(20000);
	commit();
	commit();
	/* left: the system run, its task, systemd and sshd */
	ck_assert_str_eq(rows("SELECT count(*) FROM states"), "4\n");
}

TEST(program_only_stores_no_argument)
{
	commit();
	close_model();
	arguments = REDACT_PROGRAM_ONLY;
	open_model();
	hello("boot-1");
	run_process(2, 10, "mysql --host db secret");
	ck_assert_str_eq(rows("SELECT hex(arguments) FROM processes WHERE pid = 10"), "6D7973716C00\n");
}

TEST(secrets_are_gone_before_anything_is_stored)
{
	run_process(2, 10, "mysql --password=hunter2 db");
	ck_assert_str_eq(rows("SELECT redacted_count, instr(CAST(arguments AS TEXT), 'hunter2') FROM "
			      "processes WHERE pid = 10"),
			 "1 0\n");
}

int main(void)
{
	return streams_run("apply");
}
