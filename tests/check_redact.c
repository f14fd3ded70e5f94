/* Secrets leave command lines; everything else stays as it is, byte for byte.
 *
 * In the tables arguments are separated by a vertical bar. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "correlator/redact/redact.h"
#include "correlator/redact/secret.h"
#include "tests/suite.h"

static char *redact(enum redact_mode mode, const char *line, uint32_t *ret_count)
{
	size_t size = strlen(line) + 1, out_size;
	char *argv = strdup(line), *out, *text;

	for (size_t i = 0; i < size; i++) {
		if (argv[i] == '|')
			argv[i] = '\0';
	}
	ck_assert_int_eq(redact_arguments(mode, argv, size, &out, &out_size, ret_count), 0);
	ck_assert_int_eq(out[out_size - 1], '\0');
	text = calloc(1, out_size);
	for (size_t i = 0; i + 1 < out_size; i++)
		text[i] = out[i] ? out[i] : '|';
	free(argv);
	free(out);
	return text;
}

#define MARK "[redacted]"

static const struct {
	const char *line;
	const char *expected;
} secrets[] = {
	/* options */
	{"prog|--password=hunter2", "prog|--password=" MARK},
	{"prog|--password=two words", "prog|--password=" MARK},
	{"prog|--password|hunter2|x", "prog|--password|" MARK "|x"},
	{"prog|--db-password|hunter2", "prog|--db-password|" MARK},
	{"prog|--passphrase=abc def", "prog|--passphrase=" MARK},
	{"prog|--token|abcdef", "prog|--token|" MARK},
	{"prog|--auth-token=abcdef", "prog|--auth-token=" MARK},
	{"prog|--secret|s3cr3t", "prog|--secret|" MARK},
	{"prog|--client-secret=s3cr3t", "prog|--client-secret=" MARK},
	{"prog|--api-key=abc", "prog|--api-key=" MARK},
	{"prog|--api_key|abc", "prog|--api_key|" MARK},
	{"prog|--apikey=abc", "prog|--apikey=" MARK},
	{"prog|-token|abcdef", "prog|-token|" MARK},
	{"java|-Ddb.password=hunter2|Main", "java|-Ddb.password=" MARK "|Main"},
	{"helm|--set|db.password=hunter2", "helm|--set|db.password=" MARK},
	{"openssl|rsa|-passin|pass:hunter2", "openssl|rsa|-passin|pass:" MARK},
	/* assignments */
	{"env|PASSWORD=hunter2|prog", "env|PASSWORD=" MARK "|prog"},
	{"env|DB_PASS=a b c|prog", "env|DB_PASS=" MARK "|prog"},
	{"env|AWS_SECRET_ACCESS_KEY=abc/def+g|aws|s3|ls", "env|AWS_SECRET_ACCESS_KEY=" MARK "|aws|s3|ls"},
	{"docker|run|-e|GITHUB_TOKEN=abc|img", "docker|run|-e|GITHUB_TOKEN=" MARK "|img"},
	{"prog|dbPassword=x1y2", "prog|dbPassword=" MARK},
	{"mount|-o|user=a,password=b,rw", "mount|-o|user=a,password=" MARK ",rw"},
	{"prog|{\"user\": \"a\", \"password\": \"b c\"}", "prog|{\"user\": \"a\", \"password\": \"" MARK "\"}"},
	{"prog|Server=x;Password=b;Timeout=3", "prog|Server=x;Password=" MARK ";Timeout=3"},
	{"prog|DefaultEndpointsProtocol=https;AccountKey=ab+/c==;E=x",
	 "prog|DefaultEndpointsProtocol=https;AccountKey=" MARK ";E=x"},
	/* headers */
	{"curl|-H|Authorization: Bearer abc.def|https://x/", "curl|-H|Authorization: Bearer " MARK "|https://x/"},
	{"curl|-H|Authorization: Basic dXNlcg==|x", "curl|-H|Authorization: Basic " MARK "|x"},
	{"curl|-HAuthorization: token abc|x", "curl|-HAuthorization: token " MARK "|x"},
	{"curl|-H|authorization: abc def|x", "curl|-H|authorization: " MARK "|x"},
	{"curl|-H|PRIVATE-TOKEN: abc|x", "curl|-H|PRIVATE-TOKEN: " MARK "|x"},
	{"curl|-H|X-Api-Key: abc|x", "curl|-H|X-Api-Key: " MARK "|x"},
	{"curl|--header=Authorization: Bearer abc|x", "curl|--header=Authorization: Bearer " MARK "|x"},
	/* URLs */
	{"git|clone|https://ada:hunter2@host/x.git", "git|clone|https://ada:" MARK "@host/x.git"},
	{"psql|postgresql://ada:hun@ter2@db:5432/x?y=z", "psql|postgresql://ada:" MARK "@db:5432/x?y=z"},
	{"prog|--url=redis://:hunter2@h:6379/0", "prog|--url=redis://:" MARK "@h:6379/0"},
	{"wget|https://h/x?token=abc&y=1", "wget|https://h/x?token=" MARK "&y=1"},
	{"curl|https://a.blob.core.windows.net/c?sv=2020&sig=ab%2Bc&se=1",
	 "curl|https://a.blob.core.windows.net/c?sv=2020&sig=" MARK "&se=1"},
	{"curl|https://s3/x?X-Amz-Signature=0a1b2c&X-Amz-Date=1", "curl|https://s3/x?X-Amz-Signature=" MARK "&X-Amz-Date=1"},
	{"curl|https://m/api?key=0123abcd&q=1", "curl|https://m/api?key=" MARK "&q=1"},
	/* tokens by their shape */
	{"prog|AKIAIOSFODNN7EXAMPLE", "prog|" MARK},
	{"prog|ghp_abcdefghijklmnopqrstuvwxyz0123456789", "prog|" MARK},
	{"prog|--x=glpat-abcdefghijklmnopqrst", "prog|--x=" MARK},
	{"prog|xoxb-1234567890-abcdefghij", "prog|" MARK},
	{"prog|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def", "prog|" MARK},
	{"prog|hf_abcdefghijklmnopqrstuvwxyz", "prog|" MARK},
	{"prog|sk-proj-abcdefghijklmnop0123", "prog|" MARK},
	{"git|clone|https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/x",
	 "git|clone|https://" MARK "@github.com/x"},
	/* programs */
	{"/usr/bin/mysqldump|-px y|db", "/usr/bin/mysqldump|-p" MARK "|db"},
	{"sudo|mysql|-phunter2", "sudo|mysql|-p" MARK},
	{"docker|login|-u|ada|-p|hunter2|reg", "docker|login|-u|ada|-p|" MARK "|reg"},
	/* in shell code */
	{"bash|-c|mysql -uada -phunter2 db < x.sql", "bash|-c|mysql -uada -p" MARK " db < x.sql"},
	{"bash|-c|TOKEN=abc curl x && echo done", "bash|-c|TOKEN=" MARK " curl x && echo done"},
	{"sh|-ec|export DB_PASSWORD='a b'; run --x", "sh|-ec|export DB_PASSWORD='" MARK "'; run --x"},
	{"bash|-c|curl -H \"Authorization: Bearer abc\" https://x/ > y",
	 "bash|-c|curl -H \"Authorization: Bearer " MARK "\" https://x/ > y"},
	{"bash|-c|prog --password hunter2 --x 1", "bash|-c|prog --password " MARK " --x 1"},
	{"bash|-c|ssh h \"mysql -phunter2 -e 'select 1'\"", "bash|-c|ssh h \"mysql -p" MARK " -e 'select 1'\""},
	{"bash|-c|set -euo pipefail\nwget https://a:b@h/x\nbwa mem x", "bash|-c|set -euo pipefail\nwget https://a:" MARK "@h/x\nbwa mem x"},
	{"ssh|host|mysql -phunter2 db", "ssh|host|mysql -p" MARK " db"},
};

/* Options of programs: * is the secret. */
static const struct {
	const char *programs;
	char words[24]; /* in place: with sanitizers the compiler takes a pointer for one that may be NULL */
} program_secrets[] = {
	{"mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump mariadb-admin sshpass 7z 7za", "|-p*|x"},
	{"mongo mongosh mongodump mongorestore sshpass", "|-p|*|x"},
	{"redis-cli", "|-a|*|x"},
	{"curl", "|-uada:*|x"},
	{"curl", "|-u|ada:*|x"},
	{"curl", "|--user|ada:*|x"},
	{"curl", "|-U|ada:*|x"},
	{"curl", "|--proxy-user|ada:*|x"},
	{"docker podman helm skopeo oc az apptainer singularity", "|login|-p|*|x"},
	{"ldapsearch ldapmodify ldapadd ldapwhoami", "|-w|*|x"},
	{"zip unzip sqlcmd bcp ipmitool", "|-P|*|x"},
	{"openssl", "|-k|*|x"},
	{"openssl", "|-K|*|x"},
	{"lftp", "|-u|ada,*|x"},
	{"smbclient smbmount", "|-U|ada%*|x"},
};

static void words_with(char *line, size_t size, const char *program, const char *words, const char *secret)
{
	size_t star = strcspn(words, "*");

	snprintf(line, size, "%s%.*s%s%s", program, (int)star, words, secret, words + star + 1);
}

TEST_EACH(secrets_of_programs, program_secrets)
{
	char programs[256], line[128], expected[128], *rest;
	uint32_t count;

	snprintf(programs, sizeof(programs), "%s", program_secrets[_i].programs);
	for (char *program = strtok_r(programs, " ", &rest); program; program = strtok_r(NULL, " ", &rest)) {
		words_with(line, sizeof(line), program, program_secrets[_i].words, "hunter2");
		words_with(expected, sizeof(expected), program, program_secrets[_i].words, MARK);
		char *text = redact(REDACT_SECRETS, line, &count);
		ck_assert_str_eq(text, expected);
		ck_assert_uint_eq(count, 1);
		free(text);
	}
	words_with(line, sizeof(line), "program", program_secrets[_i].words, "hunter2"); /* says nothing of it */
	free(redact(REDACT_SECRETS, line, &count));
	ck_assert_uint_eq(count, 0);
}

TEST_EACH(test_secret, secrets)
{
	uint32_t count;
	char *text = redact(REDACT_SECRETS, secrets[_i].line, &count);

	ck_assert_str_eq(text, secrets[_i].expected);
	ck_assert_uint_eq(count, 1);
	free(text);
}

/* Already redacted stays as it is: a replayed command line does not change. */
TEST_EACH(test_twice, secrets)
{
	uint32_t count;
	char *text = redact(REDACT_SECRETS, secrets[_i].expected, &count);

	ck_assert_str_eq(text, secrets[_i].expected);
	ck_assert_uint_eq(count, 0);
	free(text);
}

static const char *const innocent[] = {
	"bwa|mem|-t|4|-R|@RG\\tID:a\\tSM:b|ref.fa|a.fq",
	"sort|-k1,1|-k2,2n|--key=3",
	"sort|--sort-key|name",
	"samtools|sort|-@|4|-o|token.bam|-",
	"prog|--key-file|/etc/x.key",
	"prog|--key-file=/etc/x.key",
	"prog|--password-file|/run/secrets/db",
	"prog|--password-file=pw.txt",
	"prog|--passwordfile|x.txt|--password-stdin|y",
	"prog|--token-file=/x|--token-url=https://x/token",
	"train.py|--max-tokens|512|--num_tokens=1000000|--tokenizer|bert",
	"train.py|--pad-token|<pad>|--eos_token=</s>|--token_type_ids|x",
	"train.py|--max_new_tokens=256|--tokens-per-sample|512",
	"prog|--no-password|db",
	"prog|--password|--other|x",
	"psql|--password|db",
	"ssh|-i|/home/a/.ssh/id_rsa|host",
	"git|clone|git@github.com:ada/x.git",
	"git|clone|https://github.com/ada/secret-santa.git",
	"curl|https://example.org/a@b/c:d",
	"curl|-u|ada|https://x/",
	"STAR|--twopassMode|Basic|--outSAMtype|BAM",
	"ffmpeg|-pass|1|-i|x",
	"aws|s3|cp|s3://b/tokens/x|.",
	"prog|--private-key=/path/to.pem",
	"prog|--credentials|~/.config/x.json",
	"prog|--secret-name|db|--secret-id=x",
	"bash|-c|echo $TOKEN; curl -H \"Authorization: Bearer $TOKEN\" x",
	"bash|-c|export PASSWORD=$(cat /run/x)",
	"mysql|-p|db",
	"mysql|-P|3306|-h|h",
	"perl|-pe|s/a/b/",
	"ssh|-p|2222|h",
	"docker|run|-p|8080:80|-v|secret:/run/secret|img",
	"docker|pull|registry/auth-token:1.2",
	"PWD=/x|env",
	"env|PWD=/home/ada|OLDPWD=/tmp|prog",
	"cmake|-DKEY=value|-DENABLE_AUTH=ON",
	"snakemake|--config|key=value|--keep-going",
	"gzip|-k|monkey.txt|keyboard|passport.pdf",
	"prog|--author=Ada|--authority|x|--keyword=abc|--compass=north",
	"find|.|-name|*.key",
	"make|PASS=1|KEYS=a,b",
	"apt-key|add|-",
	"python3|-c|import getpass; print(1)",
	"bcftools|query|-f|%CHROM\\t%POS|x.vcf",
	"R|--args|token",
	"nextflow|run|x|--sk-learn|yes|--dask-cluster",
	"awk|BEGIN{FS=\":\"} {print $1}|/etc/passwd",
	"cat|/etc/passwd|/run/secrets/token",
	"prog||empty||args",
	"prog|\xff\xfe\x1b[31m",
};

TEST_EACH(test_innocent, innocent)
{
	uint32_t count;
	char *text = redact(REDACT_SECRETS, innocent[_i], &count);

	ck_assert_str_eq(text, innocent[_i]);
	ck_assert_uint_eq(count, 0);
	free(text);
}

TEST(test_several)
{
	uint32_t count;
	char *text = redact(REDACT_SECRETS, "p|--password=a|x|--token|bcde|https://u:v@h/", &count);

	ck_assert_str_eq(text, "p|--password=" MARK "|x|--token|" MARK "|https://u:" MARK "@h/");
	ck_assert_uint_eq(count, 3);
	free(text);
}

TEST(test_modes)
{
	enum redact_mode mode = REDACT_FULL;
	uint32_t count;
	char *text = redact(REDACT_FULL, "p|--password=a|x", &count);

	ck_assert_str_eq(text, "p|--password=a|x");
	ck_assert_uint_eq(count, 0);
	free(text);
	text = redact(REDACT_PROGRAM_ONLY, "p|--password=a|x", &count);
	ck_assert_str_eq(text, "p");
	ck_assert_uint_eq(count, 2);
	free(text);
	ck_assert_int_eq(redact_mode_parse("program-only", &mode), 0);
	ck_assert_int_eq(mode, REDACT_PROGRAM_ONLY);
	ck_assert_int_eq(redact_mode_parse("redacted", &mode), 0);
	ck_assert_int_eq(mode, REDACT_SECRETS);
	ck_assert_int_eq(redact_mode_parse("full", &mode), 0);
	ck_assert_int_eq(redact_mode_parse("Full", &mode), -EINVAL);
	ck_assert_int_eq(mode, REDACT_FULL);
}

TEST(test_needed)
{
	static const char plain[] = "tool\0--threads=4", secret[] = "tool\0--password=hunter22";

	ck_assert(!redact_is_needed(REDACT_FULL, secret, sizeof(secret)));
	ck_assert(!redact_is_needed(REDACT_SECRETS, plain, sizeof(plain)));
	ck_assert(redact_is_needed(REDACT_SECRETS, secret, sizeof(secret)));
	ck_assert(redact_is_needed(REDACT_PROGRAM_ONLY, plain, sizeof(plain)));
	ck_assert(!redact_is_needed(REDACT_PROGRAM_ONLY, plain, 0));
}

/* A cut command line: the last argument has no NUL, and may end anywhere. */
TEST(test_cut)
{
	static const char line[] = "prog\0--password=hunter2\0--x\0https://a:secret@h/x\0Authorization: Bearer abc";

	for (size_t size = 0; size <= sizeof(line); size++) {
		uint32_t count;
		size_t out_size;
		char *copy = malloc(size ? size : 1), *out;

		memcpy(copy, line, size); /* exact: a sanitizer sees a read past the end */
		ck_assert_int_eq(redact_arguments(REDACT_SECRETS, copy, size, &out, &out_size, &count), 0);
		ck_assert_ptr_null(out_size ? memmem(out, out_size, "hunter2", 7) : NULL);
		free(out);
		free(copy);
	}
}

int main(void)
{
	return suite_run("redact", NULL, NULL);
}
