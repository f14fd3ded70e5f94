/* Which container a cgroup path belongs to. */

#include "correlator/model/container_name.h"
#include "tests/suite.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const struct {
	const char *path, *runtime, *id;
	size_t path_size; /* 0: the whole path */
} containers[] = {
	{"/docker/" ID, "docker", ID, 0},
	{"/docker/" ID "/init", "docker", ID, sizeof("/docker/" ID) - 1},
	{"/system.slice/docker-" ID ".scope", "docker", ID, 0},
	{"/machine.slice/libpod-" ID ".scope/container", "podman", ID,
	 sizeof("/machine.slice/libpod-" ID ".scope") - 1},
	{"/libpod_parent/libpod-" ID, "podman", ID, 0},
	/* Docker: both drivers, in a user slice, and on ECS */
	{"/ecs/0123456789abcdef0123456789abcdef/" ID, "docker", ID, 0},
	{"/ecstasks.slice/ecstasks-0123.slice/docker-" ID ".scope", "docker", ID, 0},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", "docker", ID, 0},
	/* podman: rootless, and its monitor, which is not inside the container */
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container", "podman", ID,
	 sizeof("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope") - 1},
	{"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, 0},
	{"/libpod_parent/conmon", NULL, NULL, 0},
	/* Kubernetes: containerd and CRI-O, both drivers */
	{"/system.slice/containerd.service/kubepods-burstable-pod1.slice:cri-containerd:" ID, "containerd", ID, 0},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2.slice/cri-containerd-" ID ".scope",
	 "containerd", ID, 0},
	{"/kubepods.slice/kubepods-pod1.slice/crio-conmon-" ID ".scope", NULL, NULL, 0},
	{"/kubepods/pod1/crio-" ID, "crio", ID, 0},
	{"/kubepods/besteffort/pod6d9b3f4e/" ID "/init", "kubernetes", ID,
	 sizeof("/kubepods/besteffort/pod6d9b3f4e/" ID) - 1},
	/* containerd alone: ctr, nerdctl */
	{"/default/" ID, "containerd", ID, 0},
	{"/user.slice/nerdctl-" ID ".scope", "containerd", ID, 0},
	{"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "containerd", ID, 0},
	{"/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", "crio", ID, 0},
	{"/kubepods/burstable/pod1/" ID, "kubernetes", ID, 0},
	{"/docker/" ID "/docker/" OTHER, "docker", OTHER, 0},
	{"/lxc.payload.web/init.scope", "lxc", "web", sizeof("/lxc.payload.web") - 1},
	{"/machine.slice/systemd-nspawn@build.service/payload", "nspawn", "build",
	 sizeof("/machine.slice/systemd-nspawn@build.service") - 1},
	{"/machine.slice/machine-web.scope", "nspawn", "web", 0},
	{"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", NULL, NULL, 0}, /* a virtual machine */
	{"/lxc/web", "lxc", "web", 0},
	{"/lxc/web/system.slice/ssh.service", "lxc", "web", sizeof("/lxc/web") - 1},
	{"/lxc.payload/web", "lxc", "web", 0},
	/* not containers: systemd slices and Slurm steps, v1 and v2 */
	{"/system.slice/ssh.service", NULL, NULL, 0},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/run-r01.scope", NULL, NULL, 0},
	{"/slurm_host/uid_0/job_1/step_0", NULL, NULL, 0},
	{"/system.slice/host_slurmstepd.scope/job_1/step_0/user/task_special", NULL, NULL, 0},
	{"/", NULL, NULL, 0},
	{"", NULL, NULL, 0},
	{"/user.slice/user-0.slice/session-1.scope", NULL, NULL, 0},
	{"/docker/0123456789abcdef", NULL, NULL, 0},
	{"/docker-" ID "0", NULL, NULL, 0}, /* 65 digits are not an id */
};

TEST_EACH(paths, containers)
{
	struct container_name name;
	size_t expected = containers[_i].path_size ? containers[_i].path_size : strlen(containers[_i].path);

	ck_assert_int_eq(container_parse(containers[_i].path, &name), containers[_i].runtime != NULL);
	if (!containers[_i].runtime)
		return;
	ck_assert_str_eq(name.runtime, containers[_i].runtime);
	ck_assert_str_eq(name.runtime_id, containers[_i].id);
	ck_assert_uint_eq(name.path_size, expected);
}

static const struct {
	const char *command, *name, *image, *runtime_id, *user, *directory;
	size_t command_index; /* 0: none */
} labels[] = {
	{"docker run debian:12", "", "debian:12", "", "", "", 0},
	{"docker run --rm -it --name web -p 80:80 -v/a:/b nginx:1 nginx -g x", "web", "nginx:1", "", "", "", 10},
	{"docker -H unix:///x --log-level debug container run --name=web --cpus 2 -m 1g img", "web", "img", "", "", "",
	 0},
	{"podman run -d -e A=run -w /work --pull=never quay.io/x/y@sha256:00 run", "", "quay.io/x/y@sha256:00", "", "",
	 "/work", 9},
	{"nerdctl run -i --init -u 0:0 img -- sh", "", "img", "", "0:0", "", 7},
	{"docker run -u7 --workdir=/a -- img x", "", "img", "", "7", "/a", 6},
	{"docker exec -it -u root web sh -c x", "web", "", "", "root", "", 6},
	{"docker start -ai web", "web", "", "", "", "", 0},
	{"docker-compose compose -f x.yml run -T --rm web sh", "", "", "", "", "", 8},
	{"ctr -n x run --rm --env A=b --cwd /w img " ID " sh", "", "img", ID, "", "/w", 11},
	{"ctr task exec --exec-id 1 " ID " sh", ID, "", "", "", "", 6},
	{"docker build -t run .", "", "", "", "", "", 0},
	{"docker run", "", "", "", "", "", 0},
	{"docker run --name", "", "", "", "", "", 0},
	{"docker", "", "", "", "", "", 0},
	{"conmon --api-version 1 -c " ID " -u " ID " -r /usr/bin/runc -n gallant_bell -b /x", "gallant_bell", "", ID,
	 "", "", 0},
	{"systemd-nspawn -D /root -M build --boot", "build", "", "", "", "", 0},
	{"systemd-nspawn --machine=build --image=/x.raw", "build", "/x.raw", "", "", "", 0},
	{"bash run.sh", "", "", "", "", "", 0},
};

static void assert_word(const char *word, const char *expected)
{
	ck_assert_str_eq(word ? word : "", expected);
}

TEST_EACH(command_lines, labels)
{
	const char *argv[32];
	struct container_label label;
	char arguments[512];
	size_t argc = 0;

	snprintf(arguments, sizeof(arguments), "%s", labels[_i].command);
	for (char *word = strtok(arguments, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	container_label_parse(argv[0], argv, argc, &label);
	assert_word(label.name, labels[_i].name);
	assert_word(label.image, labels[_i].image);
	assert_word(label.runtime_id, labels[_i].runtime_id);
	assert_word(label.user, labels[_i].user);
	assert_word(label.directory, labels[_i].directory);
	ck_assert_uint_eq(label.command_index, labels[_i].command_index ? labels[_i].command_index : argc);
}

TEST(units)
{
	char buffer[64];

	ck_assert_str_eq(cgroup_unit("/system.slice/ssh.service", buffer, sizeof(buffer)), "ssh.service");
	ck_assert_str_eq(cgroup_unit("/user.slice/user@0.service/app.slice/run-1.scope/x", buffer, sizeof(buffer)),
			 "run-1.scope");
	ck_assert_ptr_null(cgroup_unit("/user.slice", buffer, sizeof(buffer)));
	ck_assert_ptr_null(cgroup_unit("/.service", buffer, sizeof(buffer)));
}

int main(void)
{
	return suite_run("container_name", NULL, NULL);
}
