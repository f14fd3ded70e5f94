/* What paths and names of container images say about versions (rules/versions.yaml): as they are on real systems. */
#include <string.h>

#include "common/rules/rules.h"
#include "tests/suite.h"

static struct rules *rules;

#define UNKNOWN NULL
#define HASH "x5kq1l4qav8ygrgz1b1h5p0rz4d8vd6n"
#define SPACK "/opt/spack/opt/spack/linux-rocky8-zen3/gcc-12.2.0/"
#define SPACK_HASH "3bqmzkvpazkzx2pm7cbzpokcyvzxbt3q"
#define BIO "quay.io/biocontainers/"

static const struct {
	const char *text, *program, *expected; /* "package version" */
} paths[] =
	{
		/* Nix and Guix */
		{"/nix/store/" HASH "-samtools-1.17/bin/samtools", "samtools", "samtools 1.17"},
		{"/nix/store/" HASH "-bwa-0.7.17/bin/bwa", "bwa", "bwa 0.7.17"},
		{"/nix/store/" HASH "-coreutils-9.3/bin/sort", "sort", "coreutils 9.3"},
		{"/nix/store/" HASH "-gcc-wrapper-12.3.0/bin/gcc", "gcc", "gcc-wrapper 12.3.0"},
		{"/nix/store/" HASH "-python3-3.11.6/bin/python3.11", "python", "python3 3.11.6"},
		{"/nix/store/" HASH "-python3-3.11.6-env/bin/snakemake", "snakemake", UNKNOWN},
		{"/nix/store/" HASH "-R-4.2.3-wrapper/bin/R", "R", "R 4.2.3"},
		{"/nix/store/" HASH "-tool-unstable-2022-09-23/bin/tool", "tool", "tool-unstable 2022-09-23"},
		{"/nix/store/" HASH "-user-environment/bin/samtools", "samtools", UNKNOWN},
		{"/nix/store/" HASH "-bash-5.2-p15-dev/bin/bash", "bash", "bash 5.2"},
		{"/gnu/store/" HASH "-samtools-1.14/bin/samtools", "samtools", "samtools 1.14"},
		{"/run/current-system/sw/bin/samtools", "samtools", UNKNOWN},
		{"/home/ada/.nix-profile/bin/samtools", "samtools", UNKNOWN},
		/* Spack */
		{SPACK "samtools-1.17-" SPACK_HASH "/bin/samtools", "samtools", "samtools 1.17"},
		{SPACK "bwa-mem2-2.2.1-" SPACK_HASH "/bin/bwa-mem2", "bwa-mem2", "bwa-mem2 2.2.1"},
		{SPACK "py-multiqc-1.15-" SPACK_HASH "/bin/multiqc", "multiqc", "py-multiqc 1.15"},
		{SPACK "star-2.7.10b-" SPACK_HASH "/bin/STAR", "STAR", "star 2.7.10b"},
		{SPACK "sratoolkit-3.0.0-" SPACK_HASH "/bin/fasterq-dump", "fasterq-dump", "sratoolkit 3.0.0"},
		{"/opt/spack/var/spack/environments/rnaseq/.spack-env/view/bin/samtools", "samtools", UNKNOWN},
		/* EasyBuild, EESSI */
		{"/software/SAMtools/1.17-GCC-12.2.0/bin/samtools", "samtools", "SAMtools 1.17"},
		{"/cvmfs/software.eessi.io/versions/2023.06/software/linux/x86_64/amd/zen3/software/SAMtools/1.18-GCC-12.3.0/bin/"
		 "samtools",
		 "samtools", "SAMtools 1.18"},
		{"/apps/software/GATK/4.4.0.0-GCCcore-12.2.0-Java-17/gatk", "gatk", "GATK 4.4.0.0"},
		{"/apps/software/picard/2.25.1-Java-11/picard.jar", "picard", "picard 2.25.1"},
		{"/apps/software/SRA-Toolkit/3.0.3-gompi-2022a/bin/fasterq-dump", "fasterq-dump", "SRA-Toolkit 3.0.3"},
		{"/apps/software/SciPy-bundle/2023.02-gfbf-2022b/bin/f2py", "f2py", UNKNOWN},
		{"/apps/software/Nextflow/23.10.0/nextflow", "nextflow", "Nextflow 23.10.0"},
		/* modules of sites, and unpacked archives */
		{"/opt/apps/samtools/1.17/bin/samtools", "samtools", "samtools 1.17"},
		{"/opt/apps/HISAT2/2.2.1/hisat2-build", "hisat2-build", "HISAT2 2.2.1"},
		{"/opt/apps/blast/2.14.0/bin/blastn", "blastn", "blast 2.14.0"},
		{"/opt/apps/sratoolkit/3.0.3/bin/fasterq-dump", "fasterq-dump", "sratoolkit 3.0.3"},
		{"/opt/apps/blast/2.14.0/bin/samtools", "samtools", UNKNOWN},
		{"/opt/R/4.3.2/lib/R/bin/exec/R", "R", "R 4.3.2"},
		{"/opt/samtools-1.17/samtools", "samtools", "samtools 1.17"},
		{"/home/ada/bin/bwa-0.7.17/bwa", "bwa", "bwa 0.7.17"},
		{"/opt/gatk-4.4.0.0/gatk", "gatk", "gatk 4.4.0.0"},
		{"/opt/FastQC_v0.11.9/fastqc", "fastqc", "FastQC 0.11.9"},
		{"/opt/STAR-2.7.10a/bin/Linux_x86_64_static/STAR", "STAR", "STAR 2.7.10a"},
		{"/opt/salmon-1.10.0_linux_x86_64/bin/salmon", "salmon", "salmon 1.10.0"},
		{"/opt/bowtie2-2.5.1-linux-x86_64/bowtie2-align-s", "bowtie2-align-s", "bowtie2 2.5.1"},
		{"/opt/TrimGalore-0.6.10/trim_galore", "trim_galore", UNKNOWN},
		{"/home/linuxbrew/.linuxbrew/Cellar/samtools/1.17_1/bin/samtools", "samtools", "samtools 1.17"},
		{"/opt/pipelines/rnaseq/3.14/bin/samtools", "samtools", UNKNOWN},
		{"/data/project-2.0/bin/samtools", "samtools", UNKNOWN},
		/* conda */
		{"/opt/conda/pkgs/samtools-1.17-h00cdaf9_0/bin/samtools", "samtools", "samtools 1.17"},
		{"/opt/conda/envs/rnaseq-3.14/bin/samtools", "samtools", UNKNOWN},
		{"/opt/conda/envs/samtools/bin/samtools", "samtools", UNKNOWN},
		{"/opt/conda/envs/samtools-1.17/bin/samtools", "samtools", UNKNOWN},
		{"/opt/conda/envs/samtools/1.17/bin/samtools", "samtools", UNKNOWN},
		{"/work/conda/samtools-1.17-1d9d3aa5bdbfb9e4/bin/samtools", "samtools", UNKNOWN},
		{"/work/conda/env-1d9d3aa5bdbfb9e4/bin/samtools", "samtools", UNKNOWN},
		{"/opt/conda/share/picard-2.27.5-0/picard.jar", "picard", "picard 2.27.5"},
		{"/opt/conda/share/gatk4-4.4.0.0-0/gatk-package-4.4.0.0-local.jar", "gatk", "gatk4 4.4.0.0"},
		/* Java, Python, compilers */
		{"/home/ada/.nextflow/framework/23.10.1/nextflow-23.10.1-one.jar", "nextflow", "nextflow 23.10.1"},
		{"/opt/snpEff/snpEff.jar", "snpEff", UNKNOWN},
		{"/opt/Trimmomatic-0.39/trimmomatic-0.39.jar", "trimmomatic", "trimmomatic 0.39"},
		{"/usr/bin/python3.11", "python", "python 3.11"},
		{"/usr/bin/python3", "python", UNKNOWN},
		{"/usr/bin/perl", "perl", UNKNOWN},
		{"/usr/bin/perl5.36.0", "perl", "perl 5.36.0"},
		{"/home/ada/.pyenv/versions/3.11.4/bin/python3.11", "python", "python 3.11.4"},
		{"/apps/software/Python/3.10.8-GCCcore-12.2.0/bin/python3.10", "python", "Python 3.10.8"},
		{"/usr/lib/python3.11/venv/scripts/common/x", "x", UNKNOWN},
		{"/home/ada/venv/bin/multiqc", "multiqc", UNKNOWN},
		{"/usr/bin/x86_64-linux-gnu-gcc-12", "gcc", "gcc 12"},
		{"/usr/local/bin/samtools-1.17", "samtools", "samtools 1.17"},
		/* none */
		{"/usr/bin/samtools", "samtools", UNKNOWN},
		{"/usr/local/bin/bowtie2", "bowtie2", UNKNOWN},
		{"samtools", "samtools", UNKNOWN},
		{"./bin/run-1.sh", "run-1.sh", UNKNOWN},
		{"/proc/self/exe", "exe", UNKNOWN},
		{"/usr/local/cuda-12.2/bin/nvcc", "nvcc", UNKNOWN},
		{"/home/ada/2023.01.02/bin/step1.2", "step1.2", UNKNOWN},
		{"", "x", UNKNOWN},
},
  images[] = {
	  /* BioContainers by name, by URL, and as Singularity's files */
	  {BIO "samtools:1.17--h00cdaf9_0", "samtools", "samtools 1.17"},
	  {BIO "samtools:1.17--h00cdaf9_0", "bgzip", UNKNOWN}, /* of htslib */
	  {BIO "star:2.7.10a--h9ee0642_0", "STAR", "star 2.7.10a"},
	  {BIO "bwa-mem2:2.2.1--hd03093a_2", "bwa-mem2", "bwa-mem2 2.2.1"},
	  {BIO "trim-galore:0.6.10--hdfd78af_0", "trim_galore", "trim-galore 0.6.10"},
	  {BIO "gatk4:4.4.0.0--py36hdfd78af_0", "gatk", "gatk4 4.4.0.0"},
	  {BIO "hisat2:2.2.1--h1b792b2_3", "hisat2-build", "hisat2 2.2.1"},
	  {BIO "ucsc-bedgraphtobigwig:445--h954228d_0", "bedGraphToBigWig", UNKNOWN},
	  {BIO "subread:2.0.1--hed695b0_0", "featureCounts", "subread 2.0.1"},
	  {BIO "subread:2.0.1--hed695b0_0", "sort", UNKNOWN},
	  {BIO "htslib:1.17--h81da01d_2", "bgzip", "htslib 1.17"},
	  {BIO "sra-tools:3.0.8--h9f5acd7_0", "fasterq-dump", "sra-tools 3.0.8"},
	  {BIO "deeptools:3.5.1--py_0", "bamCoverage", "deeptools 3.5.1"},
	  {BIO "mulled-v2-fe8faa35dbf6dc65a0f7f5d4ea12e31a79f73e40:66ed1b38d280722529bb8a0167b0cf02f8a0b488-0",
	   "samtools", UNKNOWN},
	  {"https://depot.galaxyproject.org/singularity/samtools:1.17--h00cdaf9_0", "samtools", "samtools 1.17"},
	  {"/cvmfs/singularity.galaxyproject.org/all/samtools:1.17--h00cdaf9_0", "samtools", "samtools 1.17"},
	  {"/c/depot.galaxyproject.org-singularity-samtools-1.17--h00cdaf9_0.img", "samtools", "samtools 1.17"},
	  {"/c/depot.galaxyproject.org-singularity-bwa-mem2-2.2.1--hd03093a_2.img", "bwa-mem2", "bwa-mem2 2.2.1"},
	  {"/c/quay.io-biocontainers-fastqc-0.12.1--hdfd78af_0.img", "fastqc", "fastqc 0.12.1"},
	  {"/c/samtools_1.17--h00cdaf9_0.sif", "samtools", "samtools 1.17"},
	  {"/c/depot.galaxyproject.org-singularity-mulled-v2-fe8faa35dbf6dc65a0f7f5d4ea12e31a79f73e40-66ed1b38d280722529bb8a0167b"
	   "0cf02f8a0b488-0.img",
	   "samtools", UNKNOWN},
	  {"community.wave.seqera.io/library/samtools:1.21--84e4d2c3c5a1b0e5", "samtools", "samtools 1.21"},
	  {"community.wave.seqera.io/library/bwa_htslib_samtools:83b50ff84ead50d0", "samtools", UNKNOWN},
	  /* others */
	  {"biocontainers/fastqc:v0.11.9_cv8", "fastqc", "fastqc 0.11.9"},
	  {"staphb/samtools:1.17", "samtools", "samtools 1.17"},
	  {"docker://staphb/samtools:1.17", "samtools", "samtools 1.17"},
	  {"broadinstitute/gatk:4.4.0.0", "gatk", "gatk 4.4.0.0"},
	  {"localhost:5000/samtools:1.17", "samtools", "samtools 1.17"},
	  {"localhost:5000/samtools", "samtools", UNKNOWN},
	  {"staphb/samtools:latest", "samtools", UNKNOWN},
	  {"staphb/samtools", "samtools", UNKNOWN},
	  {"staphb/samtools:1.17@sha256:0123456789abcdef0123456789abcdef", "samtools", "samtools 1.17"},
	  {"staphb/samtools@sha256:0123456789abcdef0123456789abcdef", "samtools", UNKNOWN},
	  {"python:3.11-slim", "python", "python 3.11"},
	  {"python:3.13.0-rc1", "python", "python 3.13.0-rc1"},
	  {"python:3", "python", UNKNOWN},
	  {"ubuntu:22.04", "samtools", UNKNOWN},
	  {"nfcore/rnaseq:1.4.2", "samtools", UNKNOWN},
	  {"ensemblorg/ensembl-vep:release_110.1", "vep", UNKNOWN},
	  {"/images/samtools_1.17.sif", "samtools", "samtools 1.17"},
	  {"/images/samtools-1.17.simg", "samtools", "samtools 1.17"},
	  {"/images/pipeline.sif", "samtools", UNKNOWN},
	  {"/images/sandbox/", "samtools", UNKNOWN},
};

static void version_check(enum rules_version_source source, const char *text, const char *program, const char *expected)
{
	struct rules_version found;
	char is[256] = "unknown";

	if (rules_read_version(rules, source, program, text, &found))
		snprintf(is, sizeof(is), "%s %s", found.package, found.version);
	ck_assert_msg(strcmp(is, expected ? expected : "unknown") == 0, "%s: %s: %s, expected %s", text, program, is,
		      expected ? expected : "unknown");
}

TEST_EACH(test_paths, paths)
{
	version_check(RULES_VERSION_PATH, paths[_i].text, paths[_i].program, paths[_i].expected);
}

TEST_EACH(test_images, images)
{
	version_check(RULES_VERSION_IMAGE, images[_i].text, images[_i].program, images[_i].expected);
}

/* A pattern meets what it would take too long to match, or what no version is as long as. */
TEST(test_hostile_texts)
{
	static char text[1 << 16];
	struct rules_version found;

	for (const char *part = "a-1/:_."; *part; part++) {
		memset(text, *part, sizeof(text) - 1);
		text[0] = '/';
		rules_read_version(rules, RULES_VERSION_PATH, "a", text, &found);
		rules_read_version(rules, RULES_VERSION_IMAGE, "a", text, &found);
	}
	memset(text, '1', 300);
	strcpy(text, "/opt/tool/1.1");
	memset(text + strlen(text), '1', 300);
	strcpy(text + 300, "/tool");
	ck_assert(!rules_read_version(rules, RULES_VERSION_PATH, "tool", text, &found));
}

static const struct {
	const char *entry, *error;
} refused[] = {
	{"{path: '/(?<package>x)-(?<version>1)'}", "add \"version: NAME\""},
	{"{version: x}", "needs one of path, image and packages"},
	{"{version: x, path: '/(?<package>x)'}", "has no group (?<version>...)"},
	{"{version: x, path: '/(?<package>'}", "bad regular expression"},
	{"{version: x, path: '(?<package>x)(?<version>1)', image: '(?<package>x)(?<version>1)'}",
	 "needs one of path, image and packages"},
	{"{version: x, packages: y}", "needs both packages and programs"},
	{"{version: x, packages: y, programs: a/b}", "is not a name without folders"},
	{"{version: x, paths: '/'}", "unknown key \"paths\""},
	{"{version: x, path: '(?<package>x)(?<version>1)', examples: [{path: /x}]}", "needs \"version: ...\""},
	{"{version: x, path: '(?<package>x)(?<version>1)', examples: [{image: x, version: 1}]}",
	 "needs \"program: ...\""},
};

TEST_EACH(test_refused_entries, refused)
{
	struct tree_error error;
	struct rules *none;
	char text[512];
	int size = snprintf(text, sizeof(text), "versions:\n- %s\n", refused[_i].entry);

	ck_assert_int_eq(rules_load_memory("x.yaml", text, (size_t)size, &none, &error), -22);
	ck_assert_msg(strstr(error.reason, refused[_i].error), "%s: %s", refused[_i].entry, error.reason);
	ck_assert_uint_eq(error.line, 2);
}

TEST(test_site_entries_come_first)
{
	const char *path = suite_file(
		NULL, "site.yaml",
		"versions:\n"
		"- version: site\n"
		"  path: '^/sw/(?<package>[^/]+)@(?<version>[^/]+)/'\n"
		"  examples: [{path: /sw/bwa@7/bin/bwa, package: bwa, version: 7}, {path: /sw/bwa/bin/bwa, version: unknown}]\n");
	struct tree_error error;
	size_t count;

	ck_assert_msg(rules_check_file(path, &count, &error) == 0, "%s", error.reason);
	ck_assert_uint_eq(count, 1);
	path = suite_file(NULL, "site.yaml",
			  "versions:\n"
			  "- version: site\n"
			  "  path: '^/sw/(?<package>[^/]+)@(?<version>[^/]+)/'\n"
			  "  examples: [{path: /sw/bwa@7/bin/bwa, version: 8}]\n");
	ck_assert_int_eq(rules_check_file(path, &count, &error), -22);
	ck_assert_msg(strstr(error.reason, "gives bwa 7"), "%s", error.reason);
}

int main(void)
{
	struct tree_error error;

	if (rules_load(NULL, &rules, &error) != 0) {
		fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.reason);
		return EXIT_FAILURE;
	}
	int status = suite_run("versions", NULL, NULL);

	rules_free(rules);
	return status;
}
