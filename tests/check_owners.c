/* Packages that own programs: of dpkg and conda, in a root of the test's own. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/versions/owners.h"
#include "common/identity.h"
#include "tests/suite.h"

#define NS_PER_S INT64_C(1000000000)

static char root[256];

/* Writes a file below the root, with its folders. */
static void put(const char *path, const char *text)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	FILE *file = fopen(full, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static int64_t later(void)
{
	return ((int64_t)time(NULL) + 60) * NS_PER_S;
}

static void begin(void)
{
	suite_directory(root, sizeof(root));
	put("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
	put("/var/lib/dpkg/info/samtools.list", "/.\n/usr\n/usr/bin\n/usr/bin/samtools\n/usr/share/doc/samtools\n");
	put("/var/lib/dpkg/info/coreutils.list", "/bin/sort\n");
	put("/var/lib/dpkg/info/libc-bin:amd64.list", "/usr/bin/ldd\n");
	put("/var/lib/dpkg/info/gone.list", "/usr/bin/gone\n/usr/bin/unlisted\n");
	put("/var/lib/dpkg/info/picard.list", "/usr/share/java/picard.jar\n");
	put("/var/lib/dpkg/status", "Package: coreutils\nStatus: install ok installed\nVersion: 9.1-1\n\n"
				    "Package: libc-bin\nVersion: 2.36-9+deb12u9\n\n"
				    "Package: libsamtools\nVersion: 7\n\n"
				    "Package: picard\nVersion: 2:2.27.5+dfsg-2\n\n"
				    "Package: samtools\nDepends: coreutils\nVersion: 1.16.1-1\nDescription: x\n\n"
				    "Package: unversioned\n");
	for (const char *const *path =
		     (const char *const[]){"/usr/bin/samtools", "/usr/bin/sort", "/usr/bin/ldd", "/usr/bin/unlisted",
					   "/usr/share/java/picard.jar", "/opt/conda/bin/bwa",
					   "/opt/conda/envs/qc/bin/fastqc", "/opt/conda/envs/qc/bin/own", NULL};
	     *path; path++)
		put(*path, "#!/bin/sh\n");
	put("/opt/conda/conda-meta/bwa-0.7.17-h5bf99c6_8.json",
	    "{\"name\": \"bwa\", \"version\": \"0.7.17\", \"files\": [\"bin/bwa\", \"bin/qualfa2fq.pl\"]}");
	put("/opt/conda/conda-meta/history", "bin/bwa");
	put("/opt/conda/envs/qc/conda-meta/broken.json", "{\"files\": [\"bin/fastqc\"]");
	put("/opt/conda/envs/qc/conda-meta/fastqc-0.12.1-hdfd78af_0.json",
	    "{\"files\": [\"bin/fastqc\"], \"name\": \"fastqc\", \"version\": \"0.12.1\"}");
}

static void end(void)
{
	suite_directory_remove(root);
}

#define UNKNOWN NULL

static const struct {
	const char *path, *expected;
} owned[] = {
	{"/usr/bin/samtools", "dpkg samtools 1.16.1"},
	{"/usr/bin/sort", "dpkg coreutils 9.1"}, /* as /bin/sort, before bin was a link to usr/bin */
	{"/usr/bin/ldd", "dpkg libc-bin 2.36"},
	{"/usr/share/java/picard.jar", "dpkg picard 2.27.5"},
	{"/opt/conda/bin/bwa", "conda bwa 0.7.17"},
	{"/opt/conda/envs/qc/bin/fastqc", "conda fastqc 0.12.1"},
	{"/opt/conda/envs/qc/bin/own", UNKNOWN},
	{"/usr/bin/gone", UNKNOWN},     /* listed, but not there */
	{"/usr/bin/unlisted", UNKNOWN}, /* of a package without a status */
	{"/etc/machine-id", UNKNOWN},
	{"/usr/bin", UNKNOWN},
	{"usr/bin/samtools", UNKNOWN},
	{"", UNKNOWN},
};

static void owner_check(struct owners *owners, const char *path, int64_t began_unix_ns, const char *expected)
{
	struct package_owner owner;
	char is[512] = "unknown";

	if (owners_find(owners, path, began_unix_ns, &owner))
		snprintf(is, sizeof(is), "%s %s %s", owner.manager, owner.package, owner.version);
	ck_assert_msg(strcmp(is, expected ? expected : "unknown") == 0, "%s: %s, expected %s", path, is,
		      expected ? expected : "unknown");
}

TEST_EACH(test_owners, owned)
{
	struct owners *owners = owners_new(root);

	owner_check(owners, owned[_i].path, later(), owned[_i].expected);
	owners_free(owners);
}

TEST(test_link_is_followed)
{
	struct owners *owners = owners_new(root);
	char link[512], target[512];

	snprintf(target, sizeof(target), "%s/usr/bin/samtools", root);
	snprintf(link, sizeof(link), "%s/usr/bin/sam", root);
	ck_assert_int_eq(symlink(target, link), 0);
	owner_check(owners, "/usr/bin/sam", later(), "dpkg samtools 1.16.1");
	owners_free(owners);
}

/* What was installed after the program began is not what ran. */
TEST(test_changed_file_has_no_owner)
{
	struct owners *owners = owners_new(root);

	owner_check(owners, "/usr/bin/samtools", ((int64_t)time(NULL) - 3600) * NS_PER_S, UNKNOWN);
	owner_check(owners, "/opt/conda/bin/bwa", 0, UNKNOWN);
	owners_free(owners);
}

TEST(test_hostile_metadata_is_not_read)
{
	struct owners *owners = owners_new(root);
	char path[512], target[512];

	snprintf(path, sizeof(path), "%s/opt/conda/envs/qc/conda-meta/a.json", root);
	ck_assert_int_eq(mkfifo(path, 0644), 0); /* would block */
	snprintf(path, sizeof(path), "%s/opt/conda/envs/qc/conda-meta/b.json", root);
	snprintf(target, sizeof(target), "%s/secret.json", root);
	put("/secret.json", "{\"name\": \"x\", \"version\": \"1\", \"files\": [\"bin/own\"]}");
	ck_assert_int_eq(symlink(target, path), 0);
	owner_check(owners, "/opt/conda/envs/qc/bin/own", later(), UNKNOWN);
	owners_free(owners);
}

TEST(test_host)
{
	struct owners *owners = owners_new(root), *none = owners_new("/nonexistent");
	struct identity identity;

	identity_begin(&identity, "host");
	identity_add_bytes(&identity, "0123456789abcdef0123456789abcdef", 32);
	ck_assert_int_eq(owners_host_id(owners), identity_end(&identity));
	ck_assert_int_eq(owners_host_id(none), 0);
	owner_check(none, "/usr/bin/samtools", later(), UNKNOWN);
	owners_free(owners);
	owners_free(none);
}

int main(void)
{
	return suite_run("owners", begin, end);
}
