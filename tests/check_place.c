/* Containers, forks and kernel threads: to which run, task and tool they belong. */
#include "tests/streams.h"

TEST(a_container_belongs_to_the_client_that_waits_for_it)
{
	tell("cgroup 600 /docker/" HEX64 "; 1>10 containerd-shim-runc-v2; 2>20 bash driver.sh; "
	     "20>21 bwa index x; ends; 20>22 docker run image samtools sort x; "
	     "10>30 cgroup=600 cwd=/ samtools sort x; 30>31 gzip x; ends");
	ck_assert_rows("SELECT t.name, count(*), count(p.container_id) FROM processes p JOIN "
		       "standing_tasks t ON t.id = p.task_id WHERE p.pid >= 20 GROUP BY t.id "
		       "ORDER BY t.begin_boot_ns",
		       "driver.sh 1 0\nbwa index 1 0\nsamtools sort + gzip 3 1\n");
	ck_assert_rows("SELECT c.runtime, t.name FROM containers c JOIN tasks t ON t.id = c.task_id",
		       "docker samtools sort + gzip\n");
}

/* Among waiting clients, the one in the container's directory is chosen, except if it has ended or
 * already has its container. */
TEST(a_client_waits_across_a_restart_and_no_longer_than_it_lives)
{
	tell("cgroup 600 /docker/" HEX64 "; "
	     "cgroup 601 /docker/f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef; "
	     "1>10 containerd-shim-runc-v2; 2>20 python3 /usr/bin/snakemake -j2; "
	     "20>21 cwd=/b docker run image bwa mem x; ends; 20>22 cwd=/b docker run image gzip x; "
	     "20>23 cwd=/a docker run image sort x; restart; 10>30 cgroup=600 cwd=/a sort x; "
	     "10>31 cgroup=601 cwd=/b gzip x; 10>32 cgroup=600 cwd=/a bwa index y"); /* docker exec */
	ck_assert_tasks("main: snakemake [snakemake] running\n"
			"engine: docker run [docker run] succeeded\n"
			"engine: gzip [docker run, gzip] running\n"
			"engine: sort + bwa index [docker run, sort, bwa index] running\n");
}

/* As with Docker: the shim runs runc outside any container, and what runc leaves in the container's
 * cgroup becomes the container's program. */
TEST(the_runtime_that_makes_a_container_is_the_hosts)
{
	tell("cgroup 600 /docker/" HEX64 "; 1>10 containerd-shim-runc-v2; 10>30 cgroup=1 runc create; "
	     "30>31 cgroup=600 nginx; 30 ends; 31>32 cgroup=600 gzip x");
	ck_assert_rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system'", "container nginx 2\n");
	ck_assert_rows("SELECT r.kind FROM processes p JOIN runs r ON r.id = p.run_id WHERE "
		       "p.program = 'runc'",
		       "system\n");
	ck_assert_rows("SELECT r.name FROM containers c JOIN runs r ON r.id = c.run_id", "nginx\n");
}

/* Plain runc leaves no id in the path: the container is named after its cgroup. */
TEST(a_pid_namespace_is_a_container)
{
	tell("cgroup 600 /user.slice/box; 2>10 cgroup=600 pidns=%u bwa mem x", 0xEFFFFFFC); /* the host's */
	ck_assert_rows("SELECT count(*) FROM containers", "0\n");
	tell("2>11 cgroup=600 pidns=4026532201 bwa mem y");
	ck_assert_rows("SELECT c.runtime, c.runtime_id, c.pid_namespace, p.pid FROM containers c JOIN "
		       "processes p ON p.container_id = c.id",
		       "namespace box 4026532201 11\n");
}

static const char namespaces[] = "SELECT runtime_id, pid_namespace, mount_namespace FROM containers "
				 "ORDER BY runtime_id";

#define INSIDE "cgroup=600 pidns=4026532201 mntns=4026532199 "
#define DEEPER "cgroup=600 pidns=4026532301 mntns=4026532299 "

/* Not those of the host, which the runtime still has on its way in, nor those created inside. */
TEST(a_container_has_the_namespaces_of_its_first_process)
{
	tell("cgroup 600 /docker/" HEX64 "; 1>10 containerd-shim-runc-v2; "
	     "10>30 cgroup=600 pidns=%u mntns=4026531841 runc init",
	     0xEFFFFFFC);
	ck_assert_rows(namespaces, HEX64 " - -\n");
	tell("30>31 " INSIDE "nginx; 31>32 " DEEPER "sandbox");
	ck_assert_rows(namespaces, HEX64 " 4026532201 4026532199\n");
	tell("restart; 31>33 " DEEPER "sandbox");
	ck_assert_rows(namespaces, HEX64 " 4026532201 4026532199\n");
}

TEST(a_container_that_ran_before_has_its_namespaces)
{
	tell("cgroup 600 /docker/" HEX64 "; 30<1 seen 0 " INSIDE
	     "nginx; pass; 2>40 true; ends"); /* later than the pass, which shows that nothing older follows */
	ck_assert_rows(namespaces, HEX64 " 4026532201 4026532199\n");
}

/* A fork record has no namespaces: the parent's apply. */
TEST(a_fork_has_the_namespaces_of_its_parent)
{
	tell("cgroup 600 /user.slice/box; 2>11 " INSIDE "bash y.sh; "
	     "11>12; " /* in an unknown cgroup */
	     "restart; 12>13 bwa mem x; ends");
	ck_assert_rows(namespaces, "box 4026532201 4026532199\n"
				   "pid:[4026532201] 4026532201 4026532199\n");
}

TEST(a_container_that_nobody_waits_for_is_a_run)
{
	tell("cgroup 600 /docker/" HEX64 "; 1>10 containerd-shim-runc-v2; 10>30 cgroup=600 nginx; "
	     "10>31 cgroup=600 ps"); /* docker exec, its client on another host */
	ck_assert_rows("SELECT kind, name, process_count FROM runs WHERE kind <> 'system'", "container nginx 2\n");
	/* A process that enters later does not change it. */
	tell("2>40 docker run --name other nginx; 40>41 cgroup=600 ps");
	ck_assert_rows("SELECT name FROM containers", "-\n");
}

TEST(a_container_is_named_by_its_monitor_or_client)
{
	tell("cgroup 300 /machine.slice/libpod-" HEX64 ".scope/container; "
	     "2>10 podman run --rm docker.io/library/debian:12 bwa mem; "
	     "10>11 conmon -c " HEX64 " -n gallant_bell -r runc; 11>12 cgroup=300 bwa mem x; "
	     "cgroup 301 /system.slice/docker-fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope; "
	     "1>20 containerd-shim-runc-v2 -namespace moby; 2>21 docker run --name web nginx:1; "
	     "20>22 cgroup=301 nginx -g daemon off;; restart; " /* the same after a restart */
	     "12>13 cgroup=300 sort");
	ck_assert_rows("SELECT runtime, name, image FROM containers ORDER BY runtime",
		       "docker web nginx:1\npodman gallant_bell docker.io/library/debian:12\n");
}

TEST(a_child_of_a_fork_is_the_child_of_what_that_executes)
{
	tell("2>10; 10>11; 10 bash x.sh; 11 bwa mem x");
	ck_assert_rows("SELECT q.program FROM processes p JOIN processes q ON q.id = p.parent_id WHERE p.pid = 11",
		       "bash\n");
}

TEST(a_subshell_is_a_subtree_and_a_worker_a_part_of_its_tool)
{
	tell("2>10 bash driver.sh; 10>11 bwa index x; ends; 10>12; " /* ( gzip; sort ) */
	     "12>13 gzip x; ends; 12>14 sort y; ends; 12 ends; 10>15 train; "
	     "15>16; " /* a worker that only computes */
	     "ends");
	ck_assert_tasks("main: driver.sh [driver.sh] running\n"
			"generic: bwa index [bwa index] succeeded\n"
			"generic: gzip + sort [driver.sh, gzip, sort] succeeded\n"
			"generic: train [train] running\n");
	ck_assert_rows("SELECT process_count FROM tools WHERE name = 'train'", "2\n");
}

TEST(kernel_threads_are_the_host_s_own)
{
	sample_as(70, 0, "kworker", cpu(0), RECORD_KERNEL_THREAD);
	tell("71<0 seen 0 stray; pass; later 1; 2>10 bwa mem x; ends");
	ck_assert_rows("SELECT r.kind FROM processes p JOIN runs r ON r.id = p.run_id WHERE "
		       "p.pid IN (70, 71) ORDER BY p.pid",
		       "system\nfound\n");
}

enum { DEEP = 20000 };

/* Users control how deep processes fork. */
TEST(a_deep_line_of_forks_is_placed)
{
	tell("2>10 bash driver.sh");
	for (unsigned pid = 11; pid < DEEP; pid++)
		tell("%u>%u", pid - 1, pid);
	tell("%u ends; %u>%u bwa mem x", DEEP - 1, DEEP - 2, DEEP);
	ck_assert_rows("SELECT process_count, failed_count FROM runs WHERE kind = 'command'", "19991 0\n");
	ck_assert_rows("SELECT program, began FROM processes WHERE pid IN (19998, 20000) ORDER BY pid",
		       "bash fork\nbwa exec\n");
}

TEST(a_deep_line_of_found_is_placed)
{
	/* The youngest process is the root: the earliest is the deepest. */
	for (unsigned pid = 10; pid < DEEP; pid++)
		sample(pid, pid + 1, "bash driver.sh", cpu(0));
	sample(DEEP, 2, "bash driver.sh", cpu(0));
	tell("pass; later 1; 10>%u bwa mem x; ends", DEEP + 1);
	ck_assert_rows("SELECT count(*), max(process_count) FROM runs WHERE kind <> 'system'", "1 19992\n");
}

int main(void)
{
	return streams_run("place");
}
