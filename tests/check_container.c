/* Which container a cgroup path belongs to. */
#include <check.h>
#include <stdlib.h>

#include "correlator/container.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const struct {
	const char *path, *runtime, *id;
	size_t path_size; /* 0: all of it */
} containers[] = {
	{"/docker/" ID, "docker", ID, 0},
	{"/docker/" ID "/init", "docker", ID, sizeof("/docker/" ID) - 1},
	{"/system.slice/docker-" ID ".scope", "docker", ID, 0},
	{"/machine.slice/libpod-" ID ".scope/container", "podman", ID,
	 sizeof("/machine.slice/libpod-" ID ".scope") - 1},
	{"/libpod_parent/libpod-" ID, "podman", ID, 0},
	{"/system.slice/containerd.service/kubepods-burstable-pod1.slice:cri-containerd:" ID, NULL, NULL, 0},
	{"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "containerd", ID, 0},
	{"/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", "crio", ID, 0},
	{"/kubepods/burstable/pod1/" ID, "kubernetes", ID, 0},
	{"/docker/" ID "/docker/" OTHER, "docker", OTHER, 0},
	{"/lxc.payload.web/init.scope", "lxc", "web", sizeof("/lxc.payload.web") - 1},
	{"/machine.slice/systemd-nspawn@build.service/payload", "nspawn", "build.service",
	 sizeof("/machine.slice/systemd-nspawn@build.service") - 1},
	{"/", NULL, NULL, 0},
	{"", NULL, NULL, 0},
	{"/user.slice/user-0.slice/session-1.scope", NULL, NULL, 0},
	{"/docker/0123456789abcdef", NULL, NULL, 0},
	{"/docker-" ID "0", NULL, NULL, 0}, /* 65 digits are no id */
};

START_TEST(paths)
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
END_TEST

START_TEST(units)
{
	char buffer[64];

	ck_assert_str_eq(cgroup_unit("/system.slice/ssh.service", buffer, sizeof(buffer)), "ssh.service");
	ck_assert_str_eq(cgroup_unit("/user.slice/user@0.service/app.slice/run-1.scope/x", buffer,
				     sizeof(buffer)),
			 "run-1.scope");
	ck_assert_ptr_null(cgroup_unit("/user.slice", buffer, sizeof(buffer)));
	ck_assert_ptr_null(cgroup_unit("/.service", buffer, sizeof(buffer)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("container");
	TCase *all = tcase_create("paths");

	tcase_add_loop_test(all, paths, 0, sizeof(containers) / sizeof(*containers));
	tcase_add_test(all, units);
	suite_add_tcase(suite, all);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
