/* Which sample each task worked on: command lines of pipelines, and what is made of them. */
#include "analysis/query/samples.h"

#include <errno.h>
#include <string.h>

#include "tests/suite.h"

#define TASKS_MAX 256
#define WORDS_MAX 64
#define TEXT_BYTES 65536

static char texts[TEXT_BYTES];
static size_t used;
static const char *words[TASKS_MAX][WORDS_MAX];
static struct samples_task tasks[TASKS_MAX];
static int sample_of[TASKS_MAX]; /* -1: of none or all of them */
static size_t task_count;

#define PIPELINE \
	"STAR_GENOMEGENERATE! STAR --genomeFastaFiles genome.fasta --runThreadN 2; " \
	"FASTQC fastqc --threads 2 @_1.fastq.gz @_2.fastq.gz; " \
	"TRIMGALORE trim_galore --cores 8 --paired --gzip @_1.fastq.gz @_2.fastq.gz; " \
	"STAR_ALIGN STAR --genomeDir star --readFilesIn input/@_1_val_1.fq.gz --outFileNamePrefix @.; " \
	"SAMTOOLS_SORT samtools sort -@@ 2 -o @.sorted.bam -T @.sorted @.Aligned.out.bam; " \
	"SAMTOOLS_INDEX samtools index @.sorted.bam; " \
	"PICARD_MARKDUPLICATES picard MarkDuplicates INPUT=@.sorted.bam OUTPUT=@.markdup.sorted.bam; " \
	"STRINGTIE stringtie @.markdup.sorted.bam -G genes.gtf -o @.transcripts.gtf; " \
	"MULTIQC* multiqc @.sorted.bam @_1_fastqc.zip; DUMPVERSIONS! dump versions.yml"
#define NOT_SAMPLES "; none in STAR_GENOMEGENERATE DUMPVERSIONS; all in MULTIQC"
#define PLAIN "liver,kidney,heart"
#define FEW "fewer than two names recur in several steps"
#define THREE(line) "A " line "; B " line "; C " line

/* Samples, steps separated by "; " and what is found. A step is a name and the command lines of its tasks: one for each
 * sample (@), or after "!" a single one, after "*" a single one with those of all samples, after "+" one for each sample
 * and each of two others (+), which follow the samples. */
static const struct {
	const char *samples, *steps, *found;
} cases[] = {
	{"WT_REP1,WT_REP2,RAP1_UNINDUCED_REP1,RAP1_UNINDUCED_REP2,RAP1_IAA_30M_REP1", PIPELINE,
	 "RAP1_IAA_30M_REP1 RAP1_UNINDUCED_REP1 RAP1_UNINDUCED_REP2 WT_REP1 WT_REP2" NOT_SAMPLES},
	{PLAIN, PIPELINE, "heart kidney liver" NOT_SAMPLES},
	{"S1,S10,S2", PIPELINE, "S1 S10 S2" NOT_SAMPLES}, /* one begins another */
	{"P1_normal,P1_tumour,P2_normal,P2_tumour", PIPELINE, "P1_normal P1_tumour P2_normal P2_tumour" NOT_SAMPLES},
	{"leaf.a,leaf.b,root.a", PIPELINE, "leaf.a leaf.b root.a" NOT_SAMPLES},
	{"SRR6357070,SRR6357071,SRR6357072", PIPELINE, "SRR6357070 SRR6357071 SRR6357072" NOT_SAMPLES},
	/* what is no sample, and why: a single step, a reference in all tasks, numbers, tools of one task each */
	{PLAIN, "", FEW},
	{PLAIN, "FASTQC fastqc @.fq", FEW},
	{PLAIN, "A a -x genome.fa; B b genome.fa; C c genome.fa", FEW},
	{PLAIN, "A a 12; B! b 12; C! c 12; D d 13", FEW},
	{PLAIN, "A! a x.fq; B! b x.bam; C! c x.vcf", FEW},
	/* several tasks for each; a single name; steps without the names */
	{PLAIN, "A a @.1; A a @.2; B b @.1; B b @.2; C c @", "only 1 of 3 steps have one task for each sample"},
	{PLAIN, "A! a liver.fq; A! a; B! b liver.fq; B! b; C! c liver.fq; C! c", FEW},
	{PLAIN, "A a @; B b @; C c @; D d; E e input.bam; F f genome.fa",
	 "only 3 of 6 steps have one task for each sample"},
	/* names in all steps with the same ends, and what remains of them */
	{"NA12875,NA12877,NA12878", THREE("tool @.bam"), "NA12875 NA12877 NA12878"},
	{"NA12875,NA12877,NA12878", THREE("tool @.sorted.bam @.sorted.bam.bai"), "NA12875 NA12877 NA12878"},
	{"NA1,NA2,NA3", THREE("tool @_1.fastq.gz @_2.fastq.gz"), "NA1 NA2 NA3"},
	{"NA1,NA2,NA3", THREE("tool @_S1_L001_R1_001.fastq.gz @_S1_L001_R2_001.fastq.gz"),
	 "NA1_S1_L001 NA2_S1_L001 NA3_S1_L001"},
	{"NA1.bam,NA2.cram,NA3.bam", THREE("tool @"), "NA1.bam NA2.cram NA3.bam"},
	{"WT_REP1,KO_REP1,HET_REP1", THREE("tool @.bam"), "HET_REP1 KO_REP1 WT_REP1"},
	{"WT_1,KO_1,HET_1", THREE("tool @.bam"), "HET_1 KO_1 WT_1"},
	{"leaf.a,leaf.b,root.a", THREE("tool @.fq.gz"), "leaf.a leaf.b root.a"},
	{"P1,P1_tumour,P2", THREE("tool @_1.fq.gz @_2.fq.gz"), "P1 P1_tumour P2"},
	{"P1.bam,P1_tumour.bam,P2.bam", THREE("tool @"), "P1 P1_tumour P2"},
	/* a merge of all of them that was tried twice */
	{"S1,S2,S3,S4,S5,S6,S7,S8,S9,S10,S11,S12",
	 "ALIGN bwa mem genome.fa @.fastq.gz; SORT samtools sort -o @.sorted.bam @.bam; "
	 "CALL gatk HaplotypeCaller -I @.sorted.bam -O @.g.vcf; MERGE* bcftools merge @.g.vcf; "
	 "MERGE* bcftools merge @.g.vcf",
	 "S1 S10 S11 S12 S2 S3 S4 S5 S6 S7 S8 S9; all in MERGE MERGE"},
	/* nf-core's mag: bins of an assembler and a binner of each sample */
	{PLAIN ",MEGAHIT,SPAdes",
	 "fastp fastp -i @_1.fastq.gz; fastqc fastqc @_1.fastq.gz; bowtie2 bowtie2 -x phix -1 @.fastp.fastq.gz; "
	 "quast+ quast +-@.contigs.fa; build+ bowtie2-build +-@.contigs.fa; "
	 "metabat2+ metabat2 -o +-MetaBAT2-@.fa -i +-@.contigs.fa; "
	 "MaxBin+ run_MaxBin.pl -contig +-@.contigs.fa -out +-MaxBin2-@; "
	 "busco+ busco -i +-MaxBin2-@.fa +-MetaBAT2-@.fa",
	 "only 3 of 8 steps have one task for each sample"},
	/* taxprofiler: each sample against several databases */
	{PLAIN ",db1,db2",
	 "fastp fastp -i @_1.fastq.gz; fastqc fastqc @_1.fastq.gz; "
	 "kraken2+ kraken2 --db + --report @_+.kraken2.report.txt @.fastq.gz; "
	 "bracken+ bracken -d + -o @_+.bracken.tsv; krona+ ktImportTaxonomy @_+.report.txt; "
	 "combine+ combine_kreports.py @_+.kreport.txt",
	 "only 2 of 6 steps have one task for each sample"},
	/* atacseq: half of the steps see replicates, the others their libraries merged */
	{PLAIN ",REP1,REP2",
	 "macs2 macs2 callpeak -n @.mRp.clN; homer homer @.mRp.clN_peaks.narrowPeak; "
	 "merge samtools merge @.mRp.clN.bam @_REP1.bam @_REP2.bam; bedtools bedtools genomecov -i @.mRp.clN.bam; "
	 "bigwig bigwig @.mRp.clN.bedGraph; fastqc+ fastqc @_+_1.fastq.gz; trim+ trim_galore @_+_1.fastq.gz; "
	 "bwa+ bwa mem genome.fa @_+_1_val_1.fq.gz; sort+ samtools sort @_+.bam; "
	 "picard+ picard MarkDuplicates @_+.mLb.sorted.bam",
	 "only 5 of 10 steps have one task for each sample"},
	/* a lane that most steps name is not the sample: the other steps would have none */
	{PLAIN,
	 "A tool @_L001.fq; B tool @_L001.fq; C tool @_L001.fq; D tool @_L001.fq; E tool @_L001.fq; F tool @_L001.fq; "
	 "G tool @.bam; H tool @.bam",
	 "heart kidney liver"},
	/* two names of one sample, such as its accession, are one */
	{"liver.bam --id ERR1,kidney.bam --id ERR2,heart.bam --id ERR3", "A a @; B b @; C c @; D d @",
	 "ERR1 ERR2 ERR3"},
};

static void begin(void)
{
	task_count = used = 0;
	memset(tasks, 0, sizeof(tasks));
}

/* Adds words to the task, with a sample for each @ and another name for each +; @@ is @. */
static void add_words(const char *line, const char *sample, const char *other)
{
	struct samples_task *task = &tasks[task_count];
	char *copy = texts + used, *at = copy;

	for (; *line; line++) {
		ck_assert_uint_lt((size_t)(at - texts), sizeof(texts) - 256);
		if (strncmp(line, "@@", 2) == 0)
			*at++ = *line++;
		else if (*line == '@' || (*line == '+' && other))
			at = stpcpy(at, *line == '@' ? sample : other);
		else
			*at++ = *line;
	}
	*at++ = '\0';
	used = (size_t)(at - texts);
	task->words = words[task_count];
	for (char *word = strtok(copy, " "); word && task->word_count < WORDS_MAX; word = strtok(NULL, " "))
		words[task_count][task->word_count++] = word;
}

static void end_task(const char *name, int sample)
{
	sample_of[task_count] = sample;
	tasks[task_count++].name = name;
}

static void add_step(char *step, char *const *samples, size_t count)
{
	char *line = strchrnul(step, ' '), kind = line[-1];
	size_t others = kind == '+' ? 2 : 0;

	line += *line == ' ';
	*strpbrk(step, "!*+ ") = '\0';
	for (size_t i = 0; i < count - others && kind != '!'; i++) {
		for (size_t other = 0; other < others; other++) {
			add_words(line, samples[i], samples[count - 1 - other]);
			end_task(step, (int)i);
		}
		if (others > 0)
			continue;
		add_words(line, samples[i], NULL);
		if (kind != '*')
			end_task(step, (int)i);
	}
	if (kind == '!')
		add_words(line, "", NULL);
	if (kind == '!' || kind == '*')
		end_task(step, -1);
}

/* Adds the tasks of `steps`. */
static void tell(const char *sample_list, const char *steps)
{
	static char names[256], story[2048];
	char *samples[16], *rest;
	size_t count = 0;

	snprintf(names, sizeof(names), "%s", sample_list);
	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		samples[count++] = name;
	ck_assert_int_lt(snprintf(story, sizeof(story), "%s", steps), sizeof(story));
	for (char *step = strtok_r(story, ";", &rest); step; step = strtok_r(NULL, ";", &rest))
		add_step(step + (*step == ' '), samples, count);
}

static void add_names(char *text, const char *label, const struct samples *samples, int which)
{
	const char *separator = label;

	for (size_t i = 0; i < task_count; i++) {
		if (samples->of_task[i] != which)
			continue;
		sprintf(text + strlen(text), "%s%s", separator, tasks[i].name);
		separator = " ";
	}
}

TEST_EACH(found_is, cases)
{
	struct samples samples;
	char text[1024] = "";

	tell(cases[_i].samples, cases[_i].steps);
	ck_assert_int_eq(samples_find(tasks, task_count, NULL, &samples), 0);
	strcpy(text, samples.misfit);
	for (size_t i = 0; i < samples.key_count; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", samples.keys[i]);
	if (samples.key_count > 0) {
		add_names(text, "; none in ", &samples, SAMPLES_NONE);
		add_names(text, "; all in ", &samples, SAMPLES_SHARED);
	}
	ck_assert_str_eq(text, cases[_i].found);
	for (size_t i = 0; i < task_count; i++) {
		ck_assert(samples.key_count > 0 || samples.of_task[i] == SAMPLES_NONE);
		for (size_t j = 0; j < i; j++)
			if (samples.of_task[i] >= 0 && samples.of_task[j] >= 0)
				ck_assert_int_eq(samples.of_task[i] == samples.of_task[j],
						 sample_of[i] == sample_of[j]);
	}
	samples_deinit(&samples);
}

/* Names that the user gives: a list, or a pattern with one group; what is found in a word, joined by blanks. */
static const struct {
	const char *list[4], *pattern, *word, *found;
} given[] = {
	{{"S1", "S10", "S1_tumour"}, NULL, "reads/S10.fastq.gz", "S10"},
	{{"S1", "S10", "S1_tumour"}, NULL, "S1_tumour_1.fq.gz", "S1_tumour"},
	{{"S1", "S10", "S1_tumour"}, NULL, "XS1.bam", ""},
	{{"S1", "S10", "S1_tumour"}, NULL, "MEGAHIT-MaxBin2-S1.001.fa", "S1"},
	{{"S1", "S10"}, NULL, "-I=S1.bam,S10.bam", "S1 S10"},
	{{"S1", "S10"}, NULL, "results/S1/reads.bam", "S1"},
	{{"4", "12"}, NULL, "--threads=4", ""},
	{{"4", "12"}, NULL, "4.bam", "4"},
	{{"M\xc3\xbcller"}, NULL, "M\xc3\xbcllerin.bam", ""},
	{{"a b"}, NULL, "a b.bam", "a b"},
	{{NULL}, NULL, "S1.bam", ""},
	{{NULL}, "/([A-Z]+[0-9]+)_", "x/NA1_1.fq/NA2_3", "NA1 NA2"},
	{{NULL}, "^(?:.*/)?(s[0-9]+)", "--in=s1", ""},
	{{NULL}, "(x?)", "abc", ""},
	{{NULL}, "(?=(abc))", "abc", ""},
	{{NULL}, "(a|b|ab)*c", "ababababababababababababababababababababababababababababababababab", ""},
};

TEST_EACH(names_that_are_given, given)
{
	struct sample_names *names = sample_names_new();
	char found[256] = "", reason[SAMPLE_NAMES_REASON_SIZE];
	const char *name;
	size_t at = 0, size;

	for (size_t i = 0; i < 4 && given[_i].list[i]; i++)
		ck_assert_int_eq(sample_names_add(names, given[_i].list[i]), 0);
	if (given[_i].pattern) {
		sample_names_free(names);
		ck_assert_int_eq(sample_names_compile(given[_i].pattern, &names, reason), 0);
	}
	while (sample_names_next(names, given[_i].word, &at, &name, &size)) {
		strcat(found, *found ? " " : "");
		strncat(found, name, size);
	}
	ck_assert_str_eq(found, given[_i].found);
	sample_names_free(names);
}

static const struct {
	const char *pattern, *reason;
} broken_patterns[] = {
	{"S[0-9]+", "needs one group ( ), has 0"},
	{"(S)([0-9]+)", "needs one group ( ), has 2"},
	{"(S", "missing closing parenthesis"},
};

TEST_EACH(pattern_is_refused, broken_patterns)
{
	struct sample_names *names;
	char reason[SAMPLE_NAMES_REASON_SIZE];

	ck_assert_int_eq(sample_names_compile(broken_patterns[_i].pattern, &names, reason), -EINVAL);
	ck_assert_str_eq(reason, broken_patterns[_i].reason);
}

/* Each of mag's bins has its sample, although nothing can be inferred; without names, none has one. */
TEST_TIMES(names_are_not_inferred, 2)
{
	struct sample_names *names = sample_names_new();
	struct samples samples;

	for (const char *const *name = (const char *const[]){"liver", "kidney", "heart", NULL}; *name && _i == 0;
	     name++)
		ck_assert_int_eq(sample_names_add(names, *name), 0);
	tell(PLAIN, "BIN run_MaxBin.pl -out MEGAHIT-MaxBin2-@; BIN run_MaxBin.pl -out SPAdes-MaxBin2-@; "
		    "MERGE* merge @.fa; INDEX! bwa index genome.fa");
	ck_assert_int_eq(samples_find(tasks, task_count, names, &samples), 0);
	ck_assert_str_eq(samples.misfit, _i ? "--sample-sheet none" : "");
	ck_assert_uint_eq(samples.key_count, _i ? 0 : 3);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(samples.of_task[i] >= 0, _i == 0);
	ck_assert_int_eq(samples.of_task[6], _i ? SAMPLES_NONE : SAMPLES_SHARED);
	ck_assert_int_eq(samples.of_task[7], SAMPLES_NONE);
	samples_deinit(&samples);
	sample_names_free(names);
}

int main(void)
{
	return suite_run("samples", begin, NULL);
}
