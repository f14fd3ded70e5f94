/* Which container a cgroup path belongs to. */

#include "correlator/model/container_name.h"
#include "tests/suite.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static struct rules *rules;

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
	{"/kubepods.slice/kubepods-pod1.slice/docker-" ID ".scope", "docker", ID, 0}, /* by cri-dockerd */
	{"/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope/container", "crio", ID,
	 sizeof("/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope") - 1},
	/* kind: the node is a container */
	{"/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1_2.slice/cri-containerd-" OTHER
	 ".scope",
	 "containerd", OTHER, 0},
	{"/system.slice/docker-" ID ".scope/kubelet/kubepods/besteffort/pod1-2/" OTHER "/init", "kubernetes", OTHER,
	 sizeof("/system.slice/docker-" ID ".scope/kubelet/kubepods/besteffort/pod1-2/" OTHER) - 1},
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

	ck_assert_int_eq(container_parse(rules, containers[_i].path, &name), containers[_i].runtime != NULL);
	if (!containers[_i].runtime)
		return;
	ck_assert_str_eq(name.runtime, containers[_i].runtime);
	ck_assert_str_eq(name.runtime_id, containers[_i].id);
	ck_assert_uint_eq(name.path_size, expected);
}

static const char site[] = "runtimes:\n- {runtime: falcon, cgroup: '/falcon-(?:(?<id>[0-9]{4,})|(x*))$'}\n";

TEST(a_site_has_a_runtime_of_its_own)
{
	struct container_name name;
	struct tree_error error;
	struct rules *own;

	ck_assert_int_eq(rules_load_memory("site.yaml", site, strlen(site), &own, &error), 0);
	ck_assert(container_parse(own, "/a/falcon-12345/b", &name));
	ck_assert_str_eq(name.runtime, "falcon");
	ck_assert_str_eq(name.runtime_id, "12345");
	ck_assert_uint_eq(name.path_size, strlen("/a/falcon-12345"));
	ck_assert(!container_parse(own, "/a/falcon-123", &name));
	ck_assert(!container_parse(own, "/a/falcon-xx", &name)); /* matches, without an id */
	ck_assert(!container_parse(own, "/docker/" ID, &name));
	rules_free(own);
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
	struct tree_error error;
	int status;

	if (rules_load(NULL, &rules, &error) < 0)
		return 1;
	status = suite_run("container_name", NULL, NULL);
	rules_free(rules);
	return status;
}
