/* Containers, forks and kernel threads: to which run, task and tool they belong. */
#include "correlator/model/container.h"
#include "correlator/model/model.h"
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

/* Process 10 keeps the containers, 20 to 22 start them. */
#define ID(digit) digit "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ENGINE \
	"cgroup 600 /docker/" ID("a") "; cgroup 601 /docker/" ID("b") "; cgroup 602 /docker/" ID( \
		"c") "; " \
		     "1>10 mntns=5 containerd-shim-runc-v2; "
#define MAKE "2>20 make -j8; "
#define MAKE_TASK "main: make [make] running\n"

static const struct {
	const char *story, *tasks;
} clients[] = {
	/* in the order of their start, whatever their directories */
	{MAKE "20>21 docker run image sort x; 20>22 cwd=/b docker run image gzip y; restart; "
	      "10>30 cgroup=600 cwd=/ gzip y; 10>31 cgroup=601 cwd=/ sort x",
	 MAKE_TASK "engine: sort [docker run, sort] running\nengine: gzip [docker run, gzip] running\n"},
	/* the same command twice: the directory decides, then the user, then the order */
	{MAKE "20>21 cwd=/a docker run image sort x; 20>22 cwd=/b docker run image sort x; "
	      "10>30 cgroup=600 cwd=/b sort x; ends; 10>31 cgroup=601 cwd=/c sort x; 31>32 gzip",
	 MAKE_TASK "engine: sort + gzip [docker run, sort, gzip] running\nengine: sort [docker run, sort] running\n"},
	{MAKE "20>21 docker run -w /a image sort x; 20>22 docker run --workdir=/b image sort x; "
	      "10>30 cgroup=600 cwd=/b sort x; 30>31 gzip",
	 MAKE_TASK "engine: docker run [docker run] running\nengine: sort + gzip [docker run, sort, gzip] running\n"},
	{MAKE "20>21 docker run -u 7:7 image sort x; 20>22 docker run --user=8 image sort x; "
	      "10>30 cgroup=600 uid=8 cwd=/ sort x; 30>31 gzip",
	 MAKE_TASK "engine: docker run [docker run] running\nengine: sort + gzip [docker run, sort, gzip] running\n"},
	/* behind an entrypoint; the longer command, as it says more */
	{MAKE "20>21 docker run image mem x; 20>22 docker run image bwa mem x; 10>30 cgroup=600 sh /enter bwa mem x; "
	      "30 bwa mem x; 10>31 cgroup=601 bwa mem x; 31>32 gzip",
	 MAKE_TASK "engine: bwa mem + gzip [docker run, bwa mem, gzip] running\n"
		   "engine: bwa mem [docker run, enter, bwa mem] running\n"},
	/* a script in the image has its interpreter before it, and its path */
	{"2>20 bash a.sh; 20>21 docker run image job.sh x; 10>30 cgroup=600 sh /opt/job.sh x",
	 "main: a.sh + job.sh [a.sh, docker run, job.sh] running\n"},
	/* the runtime that is on its way into the container is not what runs in it */
	{"2>20 docker run image sort x; 10>30 mntns=5 runc create; 30>31 cgroup=600 mntns=5 runc init; "
	 "30>32 cgroup=600 mntns=6 sort x",
	 "main: sort [docker run, sort] running\n"},
	/* a stranger's container, while a client pulls its image, talks to another engine, or has its own */
	{"2>20 docker run image sort x; later 600000; 10>30 cgroup=600 gzip y; 10>31 cgroup=601 sort x",
	 "main: sort [docker run, sort] running\nmain: gzip [gzip] running\n"},
	{"2>20 docker run web; 10>30 cgroup=600 nginx; 10>31 cgroup=601 gzip y",
	 "main: nginx [docker run, nginx] running\nmain: gzip [gzip] running\n"},
	{"2>20 docker run web; later 600000; 10>30 cgroup=600 gzip y",
	 "main: docker run [docker run] running\nmain: gzip [gzip] running\n"},
	{"2>20 docker start web; later 600000; 10>30 cgroup=600 gzip y",
	 "main: docker start [docker start] running\nmain: gzip [gzip] running\n"},
	/* what enters a container belongs to who asked for it; healthchecks, to the container */
	{"10>30 cgroup=600 nginx; 2>20 docker exec web sort x; 10>31 cgroup=600 sort x; 10>32 cgroup=600 curl x; "
	 "10>33 cgroup=601 sort x",
	 "main: nginx + curl [nginx, curl] running\nmain: sort [docker exec, sort] running\nmain: sort [sort] running\n"},
	{"2>20 docker run --name web image nginx; 10>30 cgroup=600 nginx; 2>21 docker exec other sort x; "
	 "2>22 docker exec web sort x; 10>31 cgroup=600 sort x; 31>32 gzip",
	 "main: nginx [docker run, nginx] running\nmain: docker exec [docker exec] running\n"
	 "main: sort + gzip [docker exec, sort, gzip] running\n"},
	/* `docker compose run`: its plugin is the client; `up` waits for nothing that can be told */
	{"2>20 docker compose run svc sort x; 20>21 docker-compose compose -f x.yml run --rm -T svc sort x; "
	 "10>30 cgroup=600 sort x",
	 "main: docker compose + sort [docker compose, docker-compose run, sort] running\n"},
	{"2>20 docker compose up; 20>21 docker-compose compose up; 10>30 cgroup=600 nginx; 10>31 cgroup=601 postgres",
	 "main: docker compose + docker-compose compose [docker compose, docker-compose compose] running\n"
	 "main: nginx [nginx] running\nmain: postgres [postgres] running\n"},
	{"2>20 ctr run --rm --env A=b image " ID("a") " sort x; 10>30 cgroup=601 sort x; 10>31 cgroup=600 sort x; ends",
	 "main: sort [ctr run, sort] running\nmain: sort [sort] running\n"},
	/* a client by a rule of the site */
	{"2>20 bash a.sh; 20>21 boxctl run --rm --label web image sort x; 10>30 cgroup=600 sort x",
	 "main: sort [a.sh, boxctl, sort] running\n"},
	/* clients of two users, of which one only waits for what the other asks for; none starts pods */
	{"2>20 uid=7 docker run image sort x; 2>21 docker run image sort x; 10>30 cgroup=600 sort x",
	 "main: docker run [docker run] running\nmain: docker run [docker run] running\nmain: sort [sort] running\n"},
	{"2>20 uid=7 docker run image bwa mem x; 2>21 docker run image mem x; 10>30 cgroup=600 sh /enter bwa mem x",
	 "main: docker run [docker run] running\nmain: docker run [docker run] running\nmain: enter [enter] running\n"},
	{"2>20 uid=7 docker run image; 2>21 docker run image sort x; 10>30 cgroup=600 sort x",
	 "main: docker run [docker run] running\nmain: sort [docker run, sort] running\n"},
	{"cgroup 603 /kubepods/pod1/" ID("d") "; 2>20 uid=7 docker run image; 10>30 cgroup=603 sort x",
	 "main: docker run [docker run] running\nmain: sort [sort] running\n"},
	/* restarted by its policy, not by a client that runs the same command */
	{"2>20 bash a.sh; 10>30 cgroup=600 sort x; ends; 20>21 docker run image sort x; 10>31 cgroup=600 sort x; "
	 "10>32 cgroup=601 sort x; 32>33 gzip",
	 "main: sort + gzip [a.sh, docker run, sort, gzip] running\nmain: sort [sort] running\n"},
	/* an interactive shell: its client's run becomes a session, and no other */
	{"2>20 docker run image sort x; 2>21 tty=5 docker exec -it web bash; 10>30 cgroup=600 tty=5 bash; "
	 "30>31 gzip x; 10>32 cgroup=601 sort x",
	 "main: sort [docker run, sort] running\nmain: docker exec [docker exec] running\n"
	 "main: bash [bash] running\nmain: gzip [gzip] running\n"},
};

TEST_EACH(containers_and_their_clients, clients)
{
	tell(ENGINE "%s", clients[_i].story);
	ck_assert_tasks(clients[_i].tasks);
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

/* The kernel gives its number to the next one at once, and jobs have cgroups of the same name. */
TEST(a_namespace_of_the_same_number_and_name_is_another_container)
{
	tell("cgroup 600 /job_1/task_0; cgroup 601 /job_2/task_0; 2>20 bash a.sh; 20>21 cgroup=600 pidns=7 bwa mem x; "
	     "21 cgroup=600 pidns=7 bwa mem y; 21>22 pidns=7 bwa mem z; ends; "
	     "2>23 cgroup=601 pidns=7 sort x; ends; " /* nsenter */
	     "21 ends; restart; 20>31 cgroup=600 pidns=7 gzip x; ends; 20>41 cgroup=601 pidns=7 gzip y; "
	     "41>42 pidns=7 gzip z");
	ck_assert_rows(
		"SELECT c.cgroup_path, group_concat(p.pid || p.program, ' ') FROM containers c JOIN processes p ON "
		"p.container_id = c.id GROUP BY c.id ORDER BY p.begin_boot_ns",
		"/job_1/task_0 21bwa 21bwa 22bwa 23sort\n/job_1/task_0 31gzip\n/job_2/task_0 41gzip 42gzip\n");
}

/* Any user can make thousands of them, and none can come back. */
TEST(ended_containers_are_not_kept_for_long)
{
	WITHOUT_RESTARTS();
	for (unsigned pid = 1000; pid < 7000; pid++) {
		tell("1>%u pidns=%u true; ends", pid, pid);
		if (pid % 1000 == 999)
			commit();
	}
	ck_assert_uint_le(HASH_COUNT(model->containers), 2 * 4096);
	wait_ms(61000);
	commit();
	wait_ms(61000);
	ck_assert_uint_lt(HASH_COUNT(model->containers), 10);
	for (unsigned pid = 7000; pid < 13000; pid++) {
		tell("cgroup %u /x/docker-%064u.scope; 1>%u cgroup=%u true; ends", pid, pid, pid, pid);
		if (pid % 1000 == 999)
			commit();
	}
	wait_ms(61000);
	commit();
	wait_ms(61000);
	ck_assert_uint_eq(HASH_COUNT(model->containers), 4096);
}

/* The path of a container's cgroup distinguishes it from others with a name as their id. */
TEST(containers_of_two_users_may_have_the_same_name)
{
	tell("cgroup 600 /user-1/lxc.payload.web; cgroup 601 /user-2/lxc.payload.web; 2>20 cgroup=600 sort x; "
	     "2>21 cgroup=601 sort y");
	ck_assert_rows("SELECT count(*), count(DISTINCT run_id) FROM containers", "2 2\n");
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
	     "nginx; scan; 2>40 true; ends"); /* later than the scan, which shows that nothing older follows */
	ck_assert_rows(namespaces, HEX64 " 4026532201 4026532199\n");
}

/* A fork record has no namespaces: the parent's apply. */
TEST(a_fork_has_the_namespaces_of_its_parent)
{
	tell("cgroup 600 /user.slice/box; 2>11 " INSIDE "bash y.sh; "
	     "11>12; " /* in an unknown cgroup */
	     "restart; 12>13 bwa mem x; ends");
	ck_assert_rows(namespaces, "box 4026532201 4026532199\n");
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
	tell("71<0 seen 0 stray; scan; later 1; 2>10 bwa mem x; ends");
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
	tell("scan; later 1; 10>%u bwa mem x; ends", DEEP + 1);
	ck_assert_rows("SELECT count(*), max(process_count) FROM runs WHERE kind <> 'system'", "1 19992\n");
}

#define ECS_TASK "0123456789abcdef0123456789abcdef"
#define OTHER_ECS_TASK "f123456789abcdef0123456789abcdef"

static const struct {
	const char *task, *container, *end;
} ecs_layouts[] = {
	{"/ecstasks.slice/ecstasks-", ".slice/docker-", ".scope"}, /* cgroup v2, as on Amazon Linux 2023 */
	{"/ecs/", "/", ""},                                        /* v1, as on Amazon Linux 2 */
};

/* AWS Batch uses ECS. Its agent is a container, and tasks with a network of their own have one that only sleeps. */
TEST_EACH(containers_of_an_ecs_task_have_its_key, ecs_layouts)
{
	const char *const cgroups[][2] = {{ECS_TASK, ID("b")}, {ECS_TASK, ID("c")}, {OTHER_ECS_TASK, ID("d")}};

	for (unsigned i = 0; i < 3; i++)
		tell("cgroup %u %s%s%s%s%s", 601 + i, ecs_layouts[_i].task, cgroups[i][0], ecs_layouts[_i].container,
		     cgroups[i][1], ecs_layouts[_i].end);
	tell("cgroup 600 /system.slice/docker-%s.scope", ID("a"));
	tell("1>10 containerd-shim-runc-v2; 10>20 cgroup=600 /agent; 1>11 containerd-shim-runc-v2; "
	     "11>21 cgroup=601 /pause; 1>12 containerd-shim-runc-v2; 12>22 cgroup=602 bwa mem x; ends; "
	     "1>13 containerd-shim-runc-v2; 13>25 cgroup=603 python train.py; ends 1");
	ck_assert_rows("SELECT kind, name, status, run_key FROM runs WHERE kind <> 'system' ORDER BY begin_boot_ns",
		       "host-service agent running -\n"
		       "host-service pause running ecs:" ECS_TASK "\n"
		       "container bwa mem succeeded ecs:" ECS_TASK "\n"
		       "container train.py failed ecs:" OTHER_ECS_TASK "\n");
}

int main(void)
{
	return streams_run("place");
}
