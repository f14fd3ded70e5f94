/* Boots, restarts, repeated events, invalid events, and what must not be stored. */
#include "tests/streams.h"

TEST(another_boot_ends_everything)
{
	tell("2>10 bwa mem x");
	tell("later 300; 2>11; 11 ends; commit"); /* the last sign of life */
	close_model();
	open_model();
	hello("boot-2");
	ck_assert_rows("SELECT count(*) FROM processes WHERE ended IS NULL", "0\n");
	ck_assert_rows("SELECT end_boot_ns - begin_boot_ns > 300000000 FROM processes WHERE pid = 10", "1\n");
	ck_assert_rows("SELECT end_boot_ns - begin_boot_ns > 300000000 FROM runs WHERE kind = 'command'", "1\n");
	tell("2>10 bwa mem x; ends");
	ck_assert_rows("SELECT count(DISTINCT id) FROM processes WHERE pid = 10", "2\n");
}

TEST(init_of_the_next_boot_is_another_one)
{
	boot("boot-2"); /* starting at the same boot time */
	tell("2>10 bwa mem x; ends");
	ck_assert_rows("SELECT pid, ifnull(ended, 'lives') FROM processes WHERE pid < 3 ORDER BY pid, 2",
		       "1 lives\n1 lost\n2 lives\n2 lost\n");
	ck_assert_rows("SELECT kind, living_count FROM runs ORDER BY kind, living_count",
		       "command 0\nsystem 0\nsystem 2\n");
}

/* The next boot starts cgroup ids and the boot clock from the beginning. */
TEST(a_service_of_the_next_boot_is_another_run)
{
	tell("cgroup 600 /system.slice/a.service; 1>10 cgroup=600 a; commit");
	boot("boot-2");
	tell("cgroup 600 /system.slice/b.service; 1>20 cgroup=600 b");
	ck_assert_rows("SELECT name, living_count FROM runs WHERE kind = 'service' ORDER BY name",
		       "a.service 0\nb.service 1\n");
}

/* Even if the next boot is younger than the previous one ever was, so that its clock does not tell their age. */
TEST(the_rest_of_an_earlier_boot_is_freed)
{
	tell("later 1000000; 2>10 bwa mem x; commit; later -1000000");
	hello("boot-2");
	restart();
	boot("boot-2");
	for (unsigned i = 0; i < 3; i++)
		tell("commit; wait 100");                     /* what one commit releases is deleted with the next */
	ck_assert_rows("SELECT count(*) FROM states", "4\n"); /* init, sshd, run and task */
}

TEST(a_program_that_keeps_forking_itself_is_freed)
{
	tell("2>10 perl x.pl");
	for (unsigned pid = 10; pid < 1010; pid++) {
		tell("%u>%u; %u ends", pid, pid + 1, pid);
		if (pid % 100 == 0)
			commit();
	}
	tell("commit; commit");
	ck_assert_rows("SELECT count(*) < 200 FROM states", "1\n");
	tell("1010 gzip x");
	ck_assert_rows("SELECT process_count, living_count FROM runs WHERE kind = 'command'", "1001 1\n");
}

/* A script that runs a script that runs commands; the same with an engine. */
TEST(a_run_that_has_ended_is_freed)
{
	tell("2>10 bash outer.sh; 10>11 bash inner.sh; 11>12 bwa mem x; ends; 11>13 bwa mem x; ends; 11>14 bwa mem x; "
	     "ends; 11 ends; 10 ends; 2>20 python3 /usr/bin/snakemake -j2; 20>21 bash -c x; "
	     "21>22 bwa mem x; ends; 21 ends; 20 ends");
	for (unsigned i = 0; i < 3; i++)
		tell("commit; wait 20000");
	ck_assert_rows("SELECT count(*) FROM states", "4\n"); /* init, sshd, run and task */
}

TEST(an_event_received_twice_counts_once)
{
	tell("2>10 bwa mem x");
	exec_ids[10]--;
	tell("10 bwa mem x; ends; ends");
	end_as(RECORD_FINAL, 10, 0, cpu(4 * MS)); /* sent again by another build's programs, with a lower figure */
	ck_assert_rows("SELECT process_count, cpu_ns FROM runs WHERE kind <> 'system'", "1 6000000\n");
}

/* A story that involves every kind of remembered state. */
static const char *const story[] = {
	"cgroup 600 /system.slice/docker-" HEX64 ".scope",
	/* clang-format off */
	"2>10 python3 /usr/bin/snakemake -j2", "10>11", "11 >7 tty=5 bash -c x", "11>12 bwa mem a.fq",
	NULL, /* tell_step() samples 12 */
	"12>13", "12 samtools sort a.bam", NULL, NULL, /* in tell_step(): 13 exits, and is gone */
	"12 gets 15 from 11", "12 dies 15", "11 ends 143",
	"10>14 bash -c x", "14>15 bwa mem b.fq", "15 hidden", "15 ends", "14 ends",
	"2>20 bash outer.sh", "20>21 bash inner.sh", "21>22 grep x; ends",
	"21>23", "23 cgroup=600 pidns=5 mntns=6 gzip z", "20>24", "24 >9 sort y", "20>25", "25 <9 uniq",
	"24 ends 3", "25 ends", "23 ends", "21 ends 1", "20 ends 1", "10 ends",
	/* clang-format on */
};

static void tell_step(unsigned step)
{
	switch (step) {
	case 5: sample(12, 11, NULL, in_cgroup(9 * MIB, 3 * MIB, 4 * MS)); break;
	case 8: end_as(RECORD_EXIT, 13, 0, cpu(2 * MS)); break;
	case 9: end_as(RECORD_FINAL, 13, 0, cpu(3 * MS)); break;
	default: tell("%s", story[step]); break;
	}
}

/* All data visible to readers, except the revisions. */
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

enum { STEPS = sizeof(story) / sizeof(*story), GROUPS = 4 };

/* Everything after the story, with a commit and a hello after every step, and a restart after step `restarted`. */
static char *told(unsigned restarted)
{
	for (unsigned step = 0; step < STEPS; step++) {
		tell_step(step);
		commit();
		if (step == restarted) {
			close_model();
			open_model();
		}
		hello("boot-1");
	}
	return everything();
}

/* Each time every fourth step, for a limited duration. */
TEST_TIMES(a_restart_anywhere_changes_nothing, GROUPS)
{
	WITHOUT_RESTARTS();
	char *without = told(STEPS);

	for (unsigned step = (unsigned)_i; step < STEPS; step += GROUPS) {
		begin_again();
		char *with = told(step);

		ck_assert_msg(strcmp(with, without) == 0, "after step %u:\n%s\nnot\n%s", step, with, without);
		free(with);
	}
	free(without);
}

static const char sums_of_runs[] =
	"SELECT sum(r.cpu_ns), sum(r.process_count), sum(r.failed_count), (SELECT sum(cpu_ns) FROM tasks), "
	"(SELECT sum(cpu_ns) FROM tools), (SELECT sum(cpu_ns) FROM processes WHERE run_id IN (SELECT id FROM "
	"runs WHERE kind <> 'system')) FROM runs r WHERE r.kind <> 'system'";

/* Busy from fork to end, including the teardown after exit: uses one core at most, at every level. */
TEST(one_thread_uses_one_core_at_most)
{
	tell("2>10; later 1; " /* 2 ms of CPU at its exec */
	     "10 bwa mem x; later 2");
	end_as(RECORD_EXIT, 10, 0, cpu(5 * MS));
	now += 60 * MS; /* the length of the teardown is unknown */
	end_as(RECORD_FINAL, 10, 0, cpu(6 * MS));
	ck_assert_rows("SELECT cpu_ns, end_boot_ns - begin_boot_ns FROM processes WHERE pid = 10 "
		       "UNION ALL SELECT cpu_ns, wall_ns FROM standing_tools WHERE name LIKE 'bwa%' "
		       "UNION ALL SELECT cpu_ns, wall_ns FROM standing_tasks WHERE run_id IN (SELECT id "
		       "FROM runs WHERE kind <> 'system') UNION ALL SELECT cpu_ns, wall_ns FROM "
		       "standing_runs WHERE kind <> 'system'",
		       "6000000 6000000\n6000000 6000000\n6000000 6000000\n6000000 6000000\n");
}

/* Like an upgrade from a release that stored no states. */
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
	tell("2>10 bash outer.sh; 10>11 bwa index x; ends; 10>12 bwa mem x; 10>13 sort y; ends; "
	     "10<2 seen 20; 12<10 seen 30; scan");
	ck_assert_rows(sums_of_runs, "62000000 4 0 62000000 62000000 62000000\n");
	upgrade();
	ck_assert_rows(sums_of_runs, "62000000 4 0 62000000 62000000 62000000\n");
	ck_assert_rows("SELECT status, living_count, end_boot_ns IS NULL FROM runs WHERE "
		       "kind <> 'system'",
		       "ended 0 0\n");
	ck_assert_rows("SELECT program, ended FROM processes WHERE pid IN (10, 12) ORDER BY pid",
		       "bash lost\nbwa lost\n");
	tell("1<0 seen 0 systemd; 2<1 seen 0 sshd; 10<2 seen 21 bash outer.sh; 12<10 seen 40 bwa mem x; "
	     "scan; later 1; 12 ends; 10>14 bwa index x; ends; 10 ends");
	ck_assert_rows("SELECT began, ended, count(*) FROM processes WHERE pid IN (10, 12) GROUP BY 1, 2 "
		       "ORDER BY 1, 2",
		       "exec lost 2\nfound exit 2\n");
	ck_assert_rows("SELECT status, process_count FROM runs WHERE kind <> 'system' "
		       "ORDER BY begin_boot_ns, status",
		       "succeeded 3\nended 4\n");
	ck_assert_rows("SELECT count(*) FROM tools t WHERE cpu_ns <> (SELECT total(cpu_ns) FROM "
		       "processes p WHERE p.tool_id = t.id)",
		       "0\n");
	tell("restart; " /* the generation is remembered too */
	     "2>15 gzip x; ends");
	upgrade();
	tell("2>16 gzip x; ends");
	ck_assert_rows("SELECT count(*) FROM runs WHERE kind <> 'system'", "4\n");
}

/* States truncated or changed anywhere, one after the other: their processes are found again, or are over. */
TEST_TIMES(broken_states_are_survived, 80)
{
	char rest[64] = "x''", damage[256];

	WITHOUT_RESTARTS();
	if (_i % 2)
		snprintf(rest, sizeof(rest), "x'%02x' || substr(state, length(state) * %d / 80 + 2)", _i * 37 & 0xff,
			 _i);
	snprintf(
		damage, sizeof(damage),
		"UPDATE states SET state = CAST(substr(state, 1, length(state) * %d / 80) || %s AS BLOB) WHERE id %% 3 = %d",
		_i, rest, _i % 3);
	begin_step();
	tell("12 gets 15 from 13; commit");
	close_model();
	change_store(damage);
	open_model();
	hello("boot-1");
	tell("10<2 seen 9 python3 /usr/bin/snakemake -j2; 12<11 seen 9 bwa mem x; scan; later 1");
	end_step(0);
	tell("10>14 sort x; ends");
	ck_assert_rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = p.task_id "
		       "WHERE t.id IS NULL",
		       "0\n");
}

static const struct {
	const char *entity, *found, *put; /* SQL */
} damages[] = {
	{"process", "'place' || x'02'", "'place' || x'02'"}, /* none: all continues */
	{"process", "'place' || x'02'", "'place' || x'03'"}, /* beyond an enum, an index, the field's type */
	{"run", "'name_priority' || x'05'", "'name_priority' || x'40'"},
	{"process", "'spine_index' || x'00'", "'spine_index' || x'40'"},
	{"process", "'exec_id' || x'01'", "'exec_id' || x'CF0000000100000000'"},
	{"process", "'exec_id' || x'01'", "'exec_id' || x'C0'"}, /* of another kind */
	{"process", "'exec_id' || x'01'", "'exec_id' || x'C40101'"},
	{"task", "'groups' || x'91'", "'groups' || x'81'"},
	{"task", "'groups' || x'91'", "'groups' || x'9101'"},
	{"process", "'signals' || x'91'", "'signals' || x'95'"}, /* too many, and not there */
	{"process", "'program' || x'C4'", "'program' || x'C6'"},
	{"task", "'groups' || x'91'", "'groups' || x'DDFFFFFFFF'"},
};

/* States that are whole, but have values that cannot be. */
TEST_TIMES(states_that_cannot_be_close_what_ran_as_lost, sizeof(damages) / sizeof(*damages))
{
	char damage[512];

	WITHOUT_RESTARTS();
	snprintf(
		damage, sizeof(damage),
		"WITH change(found, put) AS (SELECT CAST(%s AS BLOB), CAST(%s AS BLOB)) UPDATE states SET state = (SELECT "
		"CAST(substr(state, 1, instr(state, found) - 1) || put || substr(state, instr(state, found) + length(found)) "
		"AS BLOB) FROM change) WHERE entity = '%s' AND (SELECT instr(state, found) FROM change) > 0",
		damages[_i].found, damages[_i].put, damages[_i].entity);
	begin_step();
	tell("12 gets 15 from 13; commit");
	close_model();
	change_store(damage);
	open_model();
	ck_assert_rows("SELECT count(*) > 0 FROM processes WHERE ended = 'lost'", _i == 0 ? "0\n" : "1\n");
}

/* Expiry deletes a run that has ended, though states of it are left: here of a process that is ignored by now. */
TEST(states_of_deleted_rows_are_discarded)
{
	WITHOUT_RESTARTS();
	tell("2>10 bash driver.sh; 10>11 bwa mem x; 11 hidden; 10 ends; commit");
	ck_assert_rows("SELECT count(*) FROM states", "7\n"); /* of 1, 2, their run and task, 11 and its own */
	close_model();
	change_store("CREATE TEMP TABLE gone AS SELECT id FROM runs WHERE kind = 'command';"
		     "DELETE FROM process_rows WHERE tool_id IN (SELECT id FROM tools WHERE run_id IN gone);"
		     "DELETE FROM tools WHERE run_id IN gone; DELETE FROM tasks WHERE run_id IN gone;"
		     "DELETE FROM runs WHERE id IN gone");
	open_model();
	hello("boot-1");
	tell("11 ends; 2>13 bwa mem y; commit");
	ck_assert_rows("SELECT kind, ended FROM processes p JOIN runs r ON r.id = p.run_id ORDER BY pid",
		       "system -\nsystem -\ncommand -\n");
	ck_assert_rows("SELECT count(*) FROM states", "7\n"); /* of 1, 2, their run and task, 13 and its own */
}

/* Hostile: cycles, unknown ids, exits of unknown processes. */
TEST(nonsense_is_survived)
{
	exec_ids[50] = exec_ids[51] = 1;
	tell("50<51 seen 0 a; 51<50 seen 0 b; scan; later 1; 60>60; 60>61 c; 70 ends");
	end_as(RECORD_FINAL, 61, 0, cpu(0));
	end_as(RECORD_EXIT, 61, 0, cpu(0));
	tell("61 too late");
	ck_assert_rows("SELECT count(*) FROM processes p LEFT JOIN standing_tasks t ON t.id = p.task_id "
		       "WHERE t.id IS NULL",
		       "0\n");
}

TEST(what_a_rule_ignores_is_not_stored_but_leads_to_its_children)
{
	tell("2>10 bash driver.sh; 10>11 hidden; 11>12 bwa mem x; 12 gets 15 from 11; ends; 11 ends; 10>13 hidden; "
	     "13 gzip; " /* the process shows itself after all */
	     "ends");
	ck_assert_rows("SELECT p.program, q.program, p.cpu_ns FROM processes p LEFT JOIN processes q ON "
		       "q.id = p.parent_id WHERE p.pid > 10 ORDER BY p.begin_boot_ns",
		       "bwa - 6000000\ngzip bash 4000000\n");
	ck_assert_rows("SELECT kind, process_count FROM runs WHERE kind <> 'system'", "command 3\n");
}

/* The root executes a program that is ignored by a rule, or by the kernel side. */
TEST(a_run_ends_with_its_root_though_that_is_ignored)
{
	tell("2>10 bwa mem x; 10 hidden");
	ck_assert_rows("SELECT status FROM runs WHERE kind = 'command'", "running\n");
	tell("restart; 10 ends 3");
	ck_assert_rows("SELECT status, exit_code FROM runs WHERE kind = 'command'", "failed 3\n");
	ck_assert_rows("SELECT status, exit_code FROM tasks WHERE kind = 'main' AND exit_code > 0", "failed 3\n");
}

TEST(what_the_kernel_ignores_is_followed_no_further)
{
	tell("2>10 bwa mem x");
	exec_ids[10]++;
	begin_record(RECORD_IGNORED, key(10));
	apply();
	ck_assert_rows("SELECT program, ended FROM processes WHERE pid = 10", "bwa exec\n");
	ck_assert_rows("SELECT status FROM runs WHERE kind = 'command'", "ended\n");
	tell("wait 20000; commit; commit");
	/* left: the system run, its task, systemd and sshd */
	ck_assert_rows("SELECT count(*) FROM states", "4\n");
}

/* The same command line again is another program beneath other ancestors. */
TEST(a_command_that_is_repeated_is_classified_again_where_it_must_be)
{
	tell("2>10 bowtie2 x; 2>20 bash y; 10>11 bowtie2-align-s z; ends; 20>21 bowtie2-align-s z; ends; "
	     "20>22 bowtie2-align-s z; ends; 20 bowtie2 x; 20>23 bowtie2-align-s z; ends");
	ck_assert_rows("SELECT pid, role FROM processes WHERE program = 'bowtie2-align-s' ORDER BY pid",
		       "11 component\n21 tool\n22 tool\n23 component\n");
	tell("2>29 bash y; 29>30 perl /usr/bin/parallel -e; 30>31 perl /usr/bin/parallel -e; ends");
	ck_assert_rows("SELECT pid, role FROM processes WHERE pid BETWEEN 30 AND 31 ORDER BY pid",
		       "30 orchestrator\n31 helper\n");
}

/* The command of its parent becomes known between two of its children. */
TEST(a_command_that_is_repeated_beneath_a_program_found_later)
{
	tell("30<2 seen 10; scan; 30>31 bowtie2-align-s z; ends; 30<2 seen 11 bowtie2 x; 30>32 bowtie2-align-s z; ends");
	ck_assert_rows("SELECT pid, role FROM processes WHERE pid > 30 ORDER BY pid", "31 tool\n32 component\n");
}

TEST(a_command_that_differs_a_little_is_not_the_same)
{
	tell("2>9 bash s.sh; 9>10 bwa mem x; ends; 9>11 bwa mem x; ends; 9>12 bwa mem y; ends; 9>13 bwa mem; ends; "
	     "9>14 bwa mem y z; ends; 9>15 bwa memy; ends; 9>16 cwd=/a bwa memy; ends; 9>17 cwd=/ab bwa memy; ends; "
	     "9>18 cwd=/ab bw memy");
	exec_ids[18]++; /* it executes a link of another name */
	struct record *exec = begin_record(RECORD_EXEC, key(18));

	exec->path = bytes("/usr/bin/bwa2");
	exec->cwd = bytes("/ab");
	exec->argv.item[exec->argv.count++] = bytes("bw");
	exec->argv.item[exec->argv.count++] = bytes("memy");
	apply();
	ck_assert_rows("SELECT pid, program, length(arguments), hex(substr(arguments, -2)), working_directory "
		       "FROM processes WHERE pid >= 10 ORDER BY pid, program",
		       "10 bwa 10 7800 /work\n11 bwa 10 7800 /work\n12 bwa 10 7900 /work\n13 bwa 8 6D00 /work\n"
		       "14 bwa 12 7A00 /work\n15 bwa 9 7900 /work\n16 bwa 9 7900 /a\n17 bwa 9 7900 /ab\n"
		       "18 bw 8 7900 /ab\n18 bwa2 8 7900 /ab\n");
}

TEST(program_only_keeps_arguments_of_listed_programs)
{
	keep_arguments_of("bwa,mysql");
	tell("2>10 mysql --password=hunter2 db; 2>11 mysqldump db; 2>12 bwa mem; 2>13 bw x; ends");
	keep_arguments_of(NULL); /* restarts */
	tell("2>14 bwa mem; ends");
	ck_assert_rows("SELECT program, length(arguments) FROM processes WHERE pid BETWEEN 10 AND 14 ORDER BY pid",
		       "mysql 31\nmysqldump 10\nbwa 8\nbw 3\nbwa 4\n"); /* mysql --password=[redacted] db */
}

TEST(secrets_are_gone_before_anything_is_stored)
{
	tell("2>10 mysql --password=hunter2 db; ends");
	ck_assert_rows("SELECT redacted_count, instr(CAST(arguments AS TEXT), 'hunter2') FROM processes "
		       "WHERE pid = 10",
		       "1 0\n");
}

/* One user's processes do not take the memory for what others run. */
TEST(long_commands_of_one_user_are_shortened)
{
	char words[500];

	WITHOUT_RESTARTS();
	for (size_t i = 0; i < sizeof(words) - 1; i++)
		words[i] = i % 2 ? 'a' : ' ';
	words[sizeof(words) - 1] = '\0';
	for (unsigned pid = 10; pid < 6510; pid++)
		tell("2>%u uid=1500 flood%s", pid, words);
	tell("2>7000 uid=1600 other%s", words);
	tell("commit; restart; 2>7001 uid=1500 flood%s", words);
	tell("2>7002 uid=1600 other%s", words);
	ck_assert_rows(
		"SELECT user_id, length(arguments) < 300, count(*) > 100 FROM processes WHERE pid >= 10 GROUP BY 1, 2",
		"1500 0 1\n1500 1 1\n1600 0 0\n");
	for (unsigned pid = 10; pid < 6510; pid++)
		tell("%u ends", pid);
	tell("wait 20000; commit; 2>7003 uid=1500 flood%s", words);
	ck_assert_rows("SELECT pid, length(arguments) > 300 FROM processes WHERE pid IN (7001, 7003) ORDER BY pid",
		       "7001 0\n7003 1\n");
}

int main(void)
{
	return streams_run("apply");
}
