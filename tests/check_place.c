/* Containers, forks and kernel threads: whose run, task and tool they are. */
#include "tests/streams.h"

TEST(a_container_belongs_to_the_client_that_waits_for_it)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn(2, 20, "bash driver.sh");
	run_process(20, 21, "bwa index x");
	spawn(20, 22, "docker run image samtools sort x");
	spawn_in(10, 30, (struct where){.cgroup_id = 600, .cwd = "/"}, "samtools sort x");
	run_process(30, 31, "gzip x");
	ck_assert_str_eq(rows("SELECT t.name, count(*), count(p.container_id) FROM processes p JOIN "
			      "standing_tasks t ON t.id = p.task_id WHERE p.pid >= 20 GROUP BY t.id "
			      "ORDER BY t.begin_boot_ns"),
			 "driver.sh 1 0\nbwa index 1 0\nsamtools sort + gzip 3 1\n");
	ck_assert_str_eq(rows("SELECT c.runtime, t.name FROM containers c JOIN tasks t ON t.id = c.task_id"),
			 "docker samtools sort + gzip\n");
}

/* Of those who wait, the one in the container's directory is meant; not who waits no more, nor
 * one whose container has come. */
TEST(a_client_waits_across_a_restart_and_no_longer_than_it_lives)
{
	const struct where in_a = {.cgroup_id = 600, .cwd = "/a"}, in_b = {.cgroup_id = 601, .cwd = "/b"};

	cgroup(600, "/docker/" HEX64);
	cgroup(601, "/docker/f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn(2, 20, "python3 /usr/bin/snakemake -j2");
	spawn_in(20, 21, (struct where){.cwd = "/b"}, "docker run image bwa mem x");
	exit_process(21, 0);
	spawn_in(20, 22, (struct where){.cwd = "/b"}, "docker run image gzip x");
	spawn_in(20, 23, (struct where){.cwd = "/a"}, "docker run image sort x");
	restart();
	spawn_in(10, 30, in_a, "sort x");
	spawn_in(10, 31, in_b, "gzip x");
	spawn_in(10, 32, in_a, "bwa index y"); /* docker exec */
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: docker run [docker run] succeeded\n"
			"engine: gzip [docker run, gzip] running\n"
			"engine: sort + bwa index [docker run, sort, bwa index] running\n");
}

/* As Docker has it: the shim runs runc in no container of its own, and what runc leaves behind
 * in the container's cgroup becomes the container's program. */
TEST(the_runtime_that_makes_a_container_is_the_hosts)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn_in(10, 30, (struct where){.cgroup_id = 1}, "runc create");
	spawn_in(30, 31, (struct where){.cgroup_id = 600}, "nginx");
	exit_process(30, 0);
	spawn_in(31, 32, (struct where){.cgroup_id = 600}, "gzip x");
	ck_assert_str_eq(rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system'"),
			 "container nginx 2\n");
	ck_assert_str_eq(rows("SELECT r.kind FROM processes p JOIN runs r ON r.id = p.run_id "
			      "WHERE p.program = 'runc'"),
			 "system\n");
	ck_assert_str_eq(rows("SELECT r.name FROM containers c JOIN runs r ON r.id = c.run_id"),
			 "nginx\n");
}

/* Plain runc leaves no id in the path: the container is called after its cgroup. */
TEST(a_pid_namespace_is_a_container)
{
	const uint32_t hosts = 0xEFFFFFFC, its_own = 4026532201;

	cgroup(600, "/user.slice/box");
	spawn_in(2, 10, (struct where){.cgroup_id = 600, .pid_namespace = hosts}, "bwa mem x");
	ck_assert_str_eq(rows("SELECT count(*) FROM containers"), "0\n");
	spawn_in(2, 11, (struct where){.cgroup_id = 600, .pid_namespace = its_own}, "bwa mem y");
	ck_assert_str_eq(rows("SELECT c.runtime, c.runtime_id, c.pid_namespace, p.pid FROM containers c JOIN "
			      "processes p ON p.container_id = c.id"), "namespace box 4026532201 11\n");
}

/* A pass finds it alive. */
static void see_in(unsigned pid, unsigned parent, struct where where, const char *name)
{
	struct event_sample *s = &begin_event(EVENT_SAMPLE)->sample;

	s->boot_ns = now;
	s->image = key(pid);
	s->parent = key(parent);
	s->cgroup_id = where.cgroup_id;
	s->pid_namespace = where.pid_namespace;
	s->mount_namespace = where.mount_namespace;
	s->comm = bytes(name);
	s->filename = s->cwd = bytes("");
	apply();
}

static const char namespaces[] = "SELECT runtime_id, pid_namespace, mount_namespace FROM containers "
				 "ORDER BY runtime_id";

/* Not the host's, which the runtime has on its way in, nor those that somebody inside makes. */
TEST(a_container_has_the_namespaces_of_its_first_process)
{
	const struct where runtime = {.cgroup_id = 600, .pid_namespace = 0xEFFFFFFC, .mount_namespace = 4026531841};
	const struct where inside = {.cgroup_id = 600, .pid_namespace = 4026532201, .mount_namespace = 4026532199};
	const struct where deeper = {.cgroup_id = 600, .pid_namespace = 4026532301, .mount_namespace = 4026532299};

	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn_in(10, 30, runtime, "runc init");
	ck_assert_str_eq(rows(namespaces), HEX64 " - -\n");
	spawn_in(30, 31, inside, "nginx");
	spawn_in(31, 32, deeper, "sandbox");
	ck_assert_str_eq(rows(namespaces), HEX64 " 4026532201 4026532199\n");
	restart();
	spawn_in(31, 33, deeper, "sandbox");
	ck_assert_str_eq(rows(namespaces), HEX64 " 4026532201 4026532199\n");
}

TEST(a_container_that_was_alive_before_has_its_namespaces)
{
	cgroup(600, "/docker/" HEX64);
	see_in(30, 1, (struct where){.cgroup_id = 600, .pid_namespace = 4026532201, .mount_namespace = 4026532199}, "nginx");
	pass(now);
	run_process(2, 40, "true"); /* later than the pass: nothing older comes */
	ck_assert_str_eq(rows(namespaces), HEX64 " 4026532201 4026532199\n");
}

/* A fork tells of none: they are its parent's. */
TEST(a_fork_has_the_namespaces_of_its_parent)
{
	cgroup(600, "/user.slice/box");
	spawn_in(2, 11,
		 (struct where){.cgroup_id = 600, .pid_namespace = 4026532201, .mount_namespace = 4026532199},
		 "bash y.sh");
	fork_process(11, 12); /* in a cgroup that has not been told of */
	restart();
	run_process(12, 13, "bwa mem x");
	ck_assert_str_eq(rows(namespaces), "box 4026532201 4026532199\n"
					   "pid:[4026532201] 4026532201 4026532199\n");
}

TEST(a_container_that_nobody_waits_for_is_a_run)
{
	cgroup(600, "/docker/" HEX64);
	spawn(1, 10, "containerd-shim-runc-v2");
	spawn_in(10, 30, (struct where){.cgroup_id = 600}, "nginx");
	spawn_in(10, 31, (struct where){.cgroup_id = 600}, "ps"); /* docker exec, its client on another host */
	ck_assert_str_eq(rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system'"),
			 "container nginx 2\n");
}

TEST(a_container_is_called_as_its_monitor_or_client_says)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char monitor[256], group[128];

	snprintf(group, sizeof(group), "/machine.slice/libpod-%s.scope/container", id);
	cgroup(300, group);
	snprintf(monitor, sizeof(monitor), "conmon -c %s -n gallant_bell -r runc", id);
	spawn(2, 10, "podman run --rm docker.io/library/debian:12 bwa mem");
	spawn(10, 11, monitor);
	spawn_in(11, 12, (struct where){.cgroup_id = 300}, "bwa mem x");
	cgroup(301, "/system.slice/docker-fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope");
	spawn(1, 20, "containerd-shim-runc-v2 -namespace moby");
	spawn(2, 21, "docker run --name web nginx:1");
	spawn_in(20, 22, (struct where){.cgroup_id = 301}, "nginx -g daemon off;");
	restart(); /* and after a restart */
	spawn_in(12, 13, (struct where){.cgroup_id = 300}, "sort");
	ck_assert_str_eq(rows("SELECT runtime, name, image FROM containers ORDER BY runtime"),
			 "docker web nginx:1\npodman gallant_bell docker.io/library/debian:12\n");
}

TEST(a_subshell_is_a_subtree_and_a_worker_a_part_of_its_tool)
{
	spawn(2, 10, "bash driver.sh");
	run_process(10, 11, "bwa index x");
	fork_process(10, 12); /* ( gzip; sort ) */
	run_process(12, 13, "gzip x");
	run_process(12, 14, "sort y");
	exit_process(12, 0);
	spawn(10, 15, "train");
	fork_process(15, 16); /* a worker that only computes */
	exit_process(16, 0);
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: gzip + sort [driver.sh, gzip, sort] succeeded\n"
			"generic: train [train] running\n");
	ck_assert_str_eq(rows("SELECT process_count FROM tools WHERE name = 'train'"), "2\n");
}

TEST(kernel_threads_are_the_host_s_own)
{
	sample_as(70, 0, "kworker", cpu(0), RECORD_KERNEL_THREAD);
	sample(71, 0, "stray", cpu(0));
	pass(now);
	now += MS;
	run_process(2, 10, "bwa mem x");
	ck_assert_str_eq(rows("SELECT r.kind FROM processes p JOIN runs r ON r.id = p.run_id WHERE "
			      "p.pid IN (70, 71) ORDER BY p.pid"),
			 "system\nfound\n");
}

enum { DEEP = 20000 };

/* How deep processes fork is for others to choose. */
TEST(a_deep_line_of_forks_is_placed)
{
	spawn(2, 10, "bash driver.sh");
	for (unsigned pid = 11; pid < DEEP; pid++)
		fork_process(pid - 1, pid);
	exit_process(DEEP - 1, 0);
	spawn(DEEP - 2, DEEP, "bwa mem x");
	ck_assert_str_eq(rows("SELECT process_count, failed_count FROM runs WHERE kind = 'command'"),
			 "19991 0\n");
	ck_assert_str_eq(rows("SELECT program, began FROM processes WHERE pid IN (19998, 20000) ORDER BY pid"),
			 "bash fork\nbwa exec\n");
}

TEST(a_deep_line_of_found_is_placed)
{
	/* The youngest is the root: who comes first in time is the deepest. */
	for (unsigned pid = 10; pid < DEEP; pid++)
		sample(pid, pid + 1, "bash driver.sh", cpu(0));
	sample(DEEP, 2, "bash driver.sh", cpu(0));
	pass(now);
	now += MS;
	run_process(10, DEEP + 1, "bwa mem x");
	ck_assert_str_eq(rows("SELECT count(*), max(process_count) FROM runs WHERE kind <> 'system'"),
			 "1 19992\n");
}

int main(void)
{
	return streams_run("place");
}
