/* Packages that own programs: of dpkg, rpm and conda, in a root of the test's own. */
#include <endian.h>
#include <sqlite3.h>
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

static void number_add(char **end, uint32_t number)
{
	number = htobe32(number);
	memcpy(*end, &number, sizeof(number));
	*end += sizeof(number);
}

/* A header as rpm keeps it: of the package bwa 0.7.17 with the files /usr/bin/bwa and /usr/share/doc/bwa. */
static size_t header_make(char *header)
{
	static const char data[] = "bwa\0"
				   "0.7.17\0"
				   "\0"
				   "\0\0\0\0"
				   "\0\0\0\1"
				   "/usr/bin/\0"
				   "/usr/share/doc/";
	static const uint32_t entries[][4] = {{1000, 6, 0, 1}, {1001, 6, 4, 1}, {1116, 4, 12, 2}, {1118, 8, 20, 2}};
	char *end = header;

	number_add(&end, 4);
	number_add(&end, sizeof(data));
	for (size_t i = 0; i < 16; i++)
		number_add(&end, entries[i / 4][i % 4]);
	memcpy(end, data, sizeof(data));
	return (size_t)(end - header) + sizeof(data);
}

/* Replaces rpm's database by one with this header. */
static void rpm_put(const char *header, size_t size)
{
	char path[512];
	sqlite3 *database;
	sqlite3_stmt *insert;

	put("/var/lib/rpm/rpmdb.sqlite", "");
	snprintf(path, sizeof(path), "%s/var/lib/rpm/rpmdb.sqlite", root);
	ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(database,
			     "CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL);"
			     "CREATE TABLE Basenames (key TEXT, hnum INTEGER NOT NULL, idx INTEGER NOT NULL);"
			     "INSERT INTO Basenames VALUES ('bwa', 1, 1), ('bwa', 1, 0), ('sort', 1, 7), ('ldd', 2, 0)",
			     NULL, NULL, NULL),
		SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(database, "INSERT INTO Packages VALUES (1, ?)", -1, &insert, NULL),
			 SQLITE_OK);
	sqlite3_bind_blob(insert, 1, header, (int)size, SQLITE_STATIC);
	ck_assert_int_eq(sqlite3_step(insert), SQLITE_DONE);
	sqlite3_finalize(insert);
	sqlite3_close(database);
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
	char header[256];

	rpm_put(header, header_make(header));
	for (const char *const *path =
		     (const char *const[]){"/usr/bin/samtools", "/usr/bin/sort", "/usr/bin/ldd", "/usr/bin/bwa",
					   "/opt/bin/bwa", "/usr/bin/unlisted", "/usr/share/java/picard.jar",
					   "/opt/conda/bin/bwa", "/opt/conda/envs/qc/bin/fastqc",
					   "/opt/conda/envs/qc/bin/own", NULL};
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
	{"/usr/bin/bwa", "rpm bwa 0.7.17"},
	{"/opt/bin/bwa", UNKNOWN},
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

/* Every header that is cut or has a wrong number is read without harm (by a build with sanitizers). */
TEST(test_broken_headers)
{
	struct owners *owners = owners_new(root);
	char header[256], broken[256];
	size_t size = header_make(header);

	for (size_t i = 0; i < size; i += 3) {
		struct package_owner owner;

		memcpy(broken, header, size);
		broken[i] = (char)0xff;
		rpm_put(broken, size);
		owners_find(owners, "/usr/bin/bwa", later(), &owner);
		rpm_put(header, i);
		owners_find(owners, "/usr/bin/bwa", later(), &owner);
	}
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
