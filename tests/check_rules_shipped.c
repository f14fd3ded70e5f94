/* The shipped rules against real command lines.
 *
 * Expectations were written from the tools' documentation, not from what the rules
 * answer. A command is written as a shell would split it (no quotes but '...');
 * its first word is the program as executed unless `path` says otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rules/rule.h"
#include "common/rules/rules.h"
#include "common/rules/shipped.h"
#include "tests/suite.h"

#define WORDS_MAX 64

static struct rules *rules;

struct command {
	char text[2048];
	const char *words[WORDS_MAX];
	struct rules_subject subject;
};

static void command_split(struct command *command, const char *text)
{
	char *out = command->text;

	ck_assert_uint_lt(strlen(text), sizeof(command->text));
	while (*text) {
		char end = ' ';

		if (*text == ' ') {
			text++;
			continue;
		}
		ck_assert_uint_lt(command->subject.argc, WORDS_MAX);
		command->words[command->subject.argc++] = out;
		if (*text == '\'')
			end = *text++;
		while (*text && *text != end)
			*out++ = *text++;
		if (*text)
			text++;
		*out++ = '\0';
	}
}

/* `~name` as the first word: run as program `name`, argv[0] is the next word. */
static void command_init(struct command *command, const char *text)
{
	memset(command, 0, sizeof(*command));
	command_split(command, text);
	command->subject.path = command->words[0];
	command->subject.argv = command->words;
	command->subject.working_directory = "/home/ada/project";
	command->subject.cgroup = "/user.slice";
	if (command->words[0][0] == '~') {
		command->subject.path++;
		command->subject.argv++;
		command->subject.argc--;
	}
}

static void classify(const char *text, struct rules_verdict *ret_verdict)
{
	struct command command;

	command_init(&command, text);
	rules_classify(rules, &command.subject, ret_verdict);
}

struct expectation {
	const char *command;
	const char *name;
	enum rules_role role;
	const char *rule; /* NULL: no rule needs to match */
	const char *engine;
	enum rules_rank rank;
};

#define TOOL RULES_ROLE_TOOL
#define SHELL RULES_ROLE_SHELL
#define WRAPPER RULES_ROLE_WRAPPER
#define CLIENT RULES_ROLE_CLIENT
#define HELPER RULES_ROLE_HELPER
#define COMPONENT RULES_ROLE_COMPONENT
#define ORIGIN RULES_ROLE_ORIGIN
#define ENGINE RULES_ROLE_ORCHESTRATOR
#define PARALLEL RULES_RANK_PARALLEL
#define WORKFLOW RULES_RANK_WORKFLOW

static const struct expectation expectations[] = {
	/* genomics, with subcommands */
	{"bwa mem -t 4 ref.fa a.fq b.fq", "bwa mem", TOOL, "genomics-command"},
	{"bwa index ref.fa", "bwa index", TOOL, "genomics-command"},
	{"bwa", "bwa", HELPER, "genomics-command"},
	{"/nix/store/abc-bwa-0.7.17/bin/bwa mem r.fa x.fq", "bwa mem", TOOL, "genomics-command"},
	{"bwa-mem2.avx2 mem -t 8 ref a b", "bwa-mem2 mem", TOOL, "bwa-mem2"},
	{"samtools sort -@ 4 -o x.bam -", "samtools sort", TOOL, "samtools"},
	{"samtools --version", "samtools", HELPER, "samtools"},
	{"samtools-1.16 view -b x.sam", "samtools-1.16 view", TOOL, "samtools"},
	{"bcftools call -mv -Ob -o x.bcf", "bcftools call", TOOL, "samtools"},
	{"bcftools +fill-tags in.bcf", "bcftools +fill-tags", TOOL, "samtools"},
	{"bedtools intersect -a a.bed -b b.bed", "bedtools intersect", TOOL, "genomics-command"},
	{"salmon quant -i idx -l A -1 a -2 b", "salmon quant", TOOL, "genomics-command"},
	{"kallisto quant -i idx a b", "kallisto quant", TOOL, "genomics-command"},
	{"seqtk sample -s100 a.fq 0.1", "seqtk sample", TOOL, "genomics-command"},
	{"python3 /usr/bin/macs2 callpeak -t x.bam", "macs2 callpeak", TOOL, "genomics-command"},
	{"sambamba markdup x.bam y.bam", "sambamba markdup", TOOL, "genomics-command"},
	{"diamond blastp -q a -d b", "diamond blastp", TOOL, "genomics-command"},
	{"wgsim -N 1000 ref.fa a.fq b.fq", "wgsim", TOOL, "genomics-tool"},
	{"minimap2 -ax sr ref.fa a.fq", "minimap2", TOOL, "genomics-tool"},
	{"STAR --runThreadN 8 --genomeDir g", "STAR", TOOL, "star"},
	{"STAR --runMode genomeGenerate --genomeDir g", "STAR genomeGenerate", TOOL, "star"},
	{"fastp -i a.fq -o b.fq", "fastp", TOOL, "genomics-tool"},
	{"freebayes -f ref.fa x.bam", "freebayes", TOOL, "genomics-tool"},
	{"blastn -query a -db b", "blastn", TOOL, "genomics-tool"},
	{"plink2 --bfile x --pca", "plink2", TOOL, "plink"},
	{"python3 /opt/conda/bin/cutadapt -a AGAT in.fq", "cutadapt", TOOL, "genomics-tool"},
	{"python3.11 /usr/bin/multiqc .", "multiqc", TOOL, "genomics-tool"},
	{"/usr/bin/perl /usr/bin/trim_galore --paired a b", "trim_galore", TOOL, "genomics-tool"},
	{"perl /usr/bin/bowtie2 -x idx -U a.fq", "bowtie2", TOOL, "genomics-tool"},
	{"bowtie2-align-s --wrapper basic-0 -x idx", "bowtie2", TOOL, "bowtie2-align"},
	{"hisat2-align-s --wrapper basic-0 -x idx", "hisat2", TOOL, "hisat2-align"},
	{"perl /opt/vep/vep -i x.vcf", "vep", TOOL, "vep"},
	{"perl /usr/bin/bismark --genome g x.fq", "bismark", TOOL, "bismark"},
	{"python3 /usr/bin/spades.py -1 a -2 b -o out", "spades.py", TOOL, "spades"},
	{"/opt/kraken2/classify -H hash.k2d -t taxo.k2d", "kraken2", TOOL, "kraken2-classify"},
	{"classify --in x", "classify", TOOL, NULL},
	/* jars and classes */
	{"java -Xmx4g -jar picard.jar MarkDuplicates I=a O=b", "picard MarkDuplicates", TOOL, "picard"},
	{"java -Xmx4g -XX:+UseParallelGC -Djava.io.tmpdir=/tmp -jar /opt/picard-2.27.jar SortSam I=a",
	 "picard SortSam", TOOL, "picard"},
	{"java -Xmx8g -jar /gatk/gatk-package-4.3.0.0-local.jar HaplotypeCaller -R r -I i",
	 "gatk HaplotypeCaller", TOOL, "gatk"},
	{"python3 /opt/gatk/gatk --java-options '-Xmx4g -Xms2g' HaplotypeCaller -R r", "gatk HaplotypeCaller",
	 WRAPPER, "genomics-command-launcher"},
	{"java -jar GenomeAnalysisTK.jar -T UnifiedGenotyper -R r", "gatk UnifiedGenotyper", TOOL, "gatk3"},
	{"java -jar /usr/share/java/trimmomatic-0.39.jar PE a b", "trimmomatic PE", TOOL, "trimmomatic"},
	{"java -Xmx250m -classpath /opt/fastqc:/opt/fastqc/htsjdk.jar uk.ac.babraham.FastQC.FastQCApplication a.fq",
	 "fastqc", TOOL, "fastqc"},
	{"perl /usr/bin/fastqc a.fq", "fastqc", WRAPPER, "genomics-launcher"},
	{"java -Xmx8g -jar snpEff.jar ann GRCh38 x.vcf", "snpEff ann", TOOL, "snpeff"},
	{"java -ea -Xmx1g -cp /opt/bbmap/current jgi.BBDuk in=a out=b", "bbduk", TOOL, "bbtools-bbduk"},
	{"java -jar my-tool.jar --x", "my-tool.jar", TOOL, "java"},
	{"java -cp a.jar:b.jar com.example.Main x", "com.example.Main", TOOL, "java"},
	{"java -version", "java", HELPER, "java"},
	/* interpreters */
	{"python3 train.py --epochs 5", "train.py", TOOL, "python"},
	{"python3 -u -W ignore train.py", "train.py", TOOL, "python"},
	{"python -m mypkg.cli --x", "mypkg.cli", TOOL, "python"},
	{"python3 -Im json.tool", "json.tool", TOOL, "python"},
	{"python3 -c 'print(1)'", "python -c", TOOL, "python"},
	{"python3 -Ic 'print(1)' x.py", "python -c", TOOL, "python"},
	{"python3", "python", TOOL, "python"},
	{"python3 - arg", "python", TOOL, "python"},
	{"python3.11 /home/ada/tool/__main__.py x", "tool", TOOL, "python"},
	{"python3 -m cProfile -o out.prof run.py", "run.py", TOOL, "python-runner"},
	{"python3 -c 'from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)' --multiprocessing-fork",
	 "python3", COMPONENT, "python-worker"},
	{"python3 /tmp/p/.snakemake/scripts/tmpk3_x9a.plot.py", "plot.py", TOOL, "snakemake-script"},
	{"bash -c 'set -e; python3 /tmp/p/.snakemake/scripts/tmpk3_x9a.plot.py'", "bash -c", SHELL, "posix-shell"},
	{"bash /root/.pyenv/shims/python3 s.py", "python3", WRAPPER, "version-shim"},
	{"bash /root/.pyenv/libexec/pyenv-which python3", "pyenv-which", HELPER, "version-manager-step"},
	{"bash /root/.pyenv/libexec/pyenv exec python3 s.py", "pyenv", WRAPPER, "version-manager"},
	{"/root/.pyenv/versions/3.11.7/bin/python3 s.py", "s.py", TOOL, "python"},
	{"perl -I lib -w x.pl a", "x.pl", TOOL, "perl"},
	{"perl -ne 'print if /x/' file", "perl -e", TOOL, "perl"},
	{"perl -lane 'print $F[0]' file", "perl -e", TOOL, "perl"},
	{"perl -MFile::Spec -Ilib x.pl", "x.pl", TOOL, "perl"},
	{"Rscript --vanilla plot.R a b", "plot.R", TOOL, "Rscript"},
	{"Rscript -e 'x <- 1'", "Rscript -e", TOOL, "Rscript"},
	{"/usr/lib/R/bin/exec/R --no-echo --no-restore --file=plot.R --args a", "plot.R", TOOL, "R"},
	{"R CMD BATCH fit.R", "R CMD BATCH", TOOL, "R-command"},
	{"R", "R", TOOL, "R"},
	{"node --max-old-space-size=4096 server.js", "server.js", TOOL, "node"},
	{"ruby -Ilib x.rb", "x.rb", TOOL, "ruby"},
	{"julia --project=. -t 4 sim.jl", "sim.jl", TOOL, "julia"},
	{"busybox wget http://x/", "wget", TOOL, "multi-call"},
	{"~/bin/busybox sh -c 'ls'", "sh -c", SHELL, "posix-shell"},
	{"/lib64/ld-linux-x86-64.so.2 --library-path /x ./prog a", "prog", TOOL, "dynamic-linker"},
	{"~/usr/libexec/valgrind/memcheck-amd64-linux valgrind --leak-check=full ./prog", "prog", TOOL, "valgrind"},
	{"dotnet /app/Tool.dll x", "Tool.dll", TOOL, "dotnet-program"},
	{"dotnet build -c Release", "dotnet build", TOOL, "dotnet"},
	/* shells */
	{"bash script.sh a b", "script.sh", SHELL, "posix-shell"},
	{"/bin/bash -euo pipefail run.sh", "run.sh", SHELL, "posix-shell"},
	{"/bin/bash -c 'set -euo pipefail; bwa mem x'", "bash -c", SHELL, "posix-shell"},
	{"sh -ec 'x'", "sh -c", SHELL, "posix-shell"},
	{"bash -o pipefail -c 'x'", "bash -c", SHELL, "posix-shell"},
	{"dash ./configure --prefix=/usr", "configure", SHELL, "posix-shell"},
	{"tcsh -f job.csh", "job.csh", SHELL, "c-shell"},
	{"pwsh -NoProfile -File x.ps1", "x.ps1", SHELL, "powershell"},
	/* workflow engines */
	{"java -Xms64m -Djava.awt.headless=true -cp /home/a/.nextflow/capsule/nextflow-22.10.1-one.jar "
	 "nextflow.cli.Launcher -log x.log run nf-core/rnaseq -profile docker", "nextflow", ENGINE, "nextflow",
	 "nextflow", WORKFLOW},
	{"java -jar /home/a/.nextflow/framework/24.04.2/nextflow-24.04.2-one.jar run main.nf", "nextflow", ENGINE,
	 "nextflow", "nextflow", WORKFLOW},
	{"java -cp x nextflow.cli.Launcher pull nf-core/rnaseq", "nextflow pull", TOOL, "nextflow-command"},
	{"bash /usr/local/bin/nextflow run main.nf", "nextflow", WRAPPER, "nextflow-launcher"},
	{"/bin/bash -ue .command.sh", ".command.sh", WRAPPER, "nextflow-task-elsewhere"},
	{"/usr/bin/python3 /usr/bin/snakemake -s x -j 2", "snakemake", ENGINE, "snakemake", "snakemake", WORKFLOW},
	{"python3 -m snakemake -j 2", "snakemake", ENGINE, "snakemake", "snakemake", WORKFLOW},
	{"python3.11 /opt/conda/bin/snakemake --cores all", "snakemake", ENGINE, "snakemake", "snakemake", WORKFLOW},
	{"python3 -m snakemake --snakefile S --target-jobs map:sample=a --allowed-rules map --cores 1 --mode 1",
	 "snakemake map", TOOL, "snakemake-job"},
	{"python3 -m snakemake --snakefile S --target-jobs map:sample=a --mode remote", "snakemake map", TOOL,
	 "snakemake-job"},
	{"/usr/bin/python3 /usr/bin/cwltool --outdir o wf.cwl job.yml", "cwltool", ENGINE, "cwltool", "cwl", WORKFLOW},
	{"python3 -m cwltool wf.cwl", "cwltool", ENGINE, "cwltool", "cwl", WORKFLOW},
	{"python3 /usr/bin/toil-cwl-runner --jobStore j wf.cwl", "toil-cwl-runner", ENGINE, "toil", "toil", WORKFLOW},
	{"python3 /usr/bin/_toil_worker bwa file:/js job1", "_toil_worker", WRAPPER, "toil-worker", "toil"},
	{"java -Dconfig.file=c -jar /opt/cromwell-85.jar run wf.wdl -i in.json", "cromwell", ENGINE, "cromwell",
	 "cromwell", WORKFLOW},
	{"java -jar womtool-85.jar validate wf.wdl", "womtool validate", TOOL, "womtool"},
	{"python3 /usr/bin/miniwdl run wf.wdl", "miniwdl", ENGINE, "miniwdl", "miniwdl", WORKFLOW},
	{"python3 /usr/bin/miniwdl check wf.wdl", "miniwdl check", TOOL, "miniwdl-command"},
	{"python3 /usr/bin/airflow scheduler", "airflow scheduler", ORIGIN, "airflow-service", "airflow"},
	{"python3 /usr/bin/luigi --module m T", "luigi", ENGINE, "luigi", "luigi", WORKFLOW},
	{"python3 -m prefect.engine", "prefect", ENGINE, "prefect-run", "prefect", WORKFLOW},
	{"java -cp b.jar bpipe.Runner run p.groovy", "bpipe", ENGINE, "bpipe", "bpipe", WORKFLOW},
	{"python3 /usr/bin/cylc play flow", "cylc", ENGINE, "cylc", "cylc", WORKFLOW},
	{"ecflow_server --port 3141", "ecflow_server", ENGINE, "ecflow", "ecflow", WORKFLOW},
	{"python3 /usr/bin/redun run wf.py main", "redun", ENGINE, "redun", "redun", WORKFLOW},
	{"python3 /usr/bin/dvc repro", "dvc", ENGINE, "dvc", "dvc", WORKFLOW},
	/* build and parallel */
	{"make -j4 all", "make", ENGINE, "make", "make", PARALLEL},
	{"gmake", "make", ENGINE, "make", "make", PARALLEL},
	{"ninja -C build", "ninja", ENGINE, "ninja", "ninja", PARALLEL},
	{"/usr/bin/perl /usr/bin/parallel -j 4 bwa mem {} ::: a b", "parallel", ENGINE, "parallel", "parallel", PARALLEL},
	{"xargs -P 4 -n 1 gzip", "xargs", ENGINE, "xargs-many", "xargs", PARALLEL},
	{"xargs -0 -I{} cp {} x", "xargs", ENGINE, "xargs-many", "xargs", PARALLEL},
	{"xargs -0 rm -f", "xargs", WRAPPER, "xargs"},
	{"cmake --build build -j4", "cmake --build", WRAPPER, "cmake-build"},
	{"cmake -S . -B build", "cmake", TOOL, "cmake"},
	{"cmake -E copy a b", "cmake", HELPER, "cmake-script"},
	{"ctest -j4", "ctest", ENGINE, "ctest", "ctest", PARALLEL},
	{"python3 /usr/bin/meson setup build", "meson setup", TOOL, "meson"},
	{"python3 /usr/bin/meson test -C build", "meson test", ENGINE, "meson-test", "meson", PARALLEL},
	{"python3 /usr/bin/meson --internal exe --capture x", "meson", HELPER, "meson-internal"},
	{"cargo build --release", "cargo build", ENGINE, "cargo", "cargo", PARALLEL},
	{"cargo --version", "cargo", HELPER, "package-manager"},
	{"python3 /usr/bin/scons -j2", "scons", ENGINE, "scons", "scons", PARALLEL},
	{"java -jar A-server.jar --max_idle_secs=10", "bazel", ENGINE, "bazel-server", "bazel", PARALLEL},
	{"gcc -c x.c", "gcc", TOOL, "gcc"},
	{"gcc-12 -c x.c", "gcc", TOOL, "gcc"},
	{"x86_64-linux-gnu-gcc-12 -c x.c", "gcc", TOOL, "gcc"},
	{"gcc-ar-12 rcs x.a", "gcc-ar-12", TOOL, "gcc-binutils"},
	{"x86_64-conda-linux-gnu-cc -c x.c", "cc", TOOL, "cc"},
	{"g++-12 x.cc", "g++", TOOL, "g++"},
	{"clang-19 -c x.c", "clang", TOOL, "clang"},
	{"clang-19 -cc1 -triple x", "clang-19", COMPONENT, "clang-frontend"},
	{"/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet x.c", "cc1", COMPONENT, "compiler-pass"},
	{"as --64 -o x.o /tmp/x.s", "as", COMPONENT, "compiler-pass"},
	{"/usr/bin/ld.bfd -o x y.o", "ld.bfd", COMPONENT, "compiler-pass"},
	{"collect2 -o x", "collect2", COMPONENT, "compiler-pass"},
	{"/usr/lib/go/pkg/tool/linux_amd64/compile -o x", "compile", COMPONENT, "go-pass"},
	{"ccache gcc -c x.c", "ccache", WRAPPER, "compiler-cache"},
	{"rustc --crate-name x", "rustc", TOOL, "compiler"},
	{"git clone https://x/y", "git clone", TOOL, "git"},
	{"git -C /x status", "git status", TOOL, "git"},
	{"git-remote-https origin https://x", "git-remote-https", COMPONENT, "git-component"},
	{"python3 /usr/bin/pip3 install numpy", "pip install", TOOL, "pip"},
	{"python3 -m pip install numpy", "pip install", TOOL, "pip"},
	{"apt-get install -y bwa", "apt-get install", TOOL, "package-manager"},
	{"python3 -m pytest tests", "pytest", TOOL, "test-runner"},
	{"run-parts --report /etc/cron.daily", "run-parts", ENGINE, "run-parts", "run-parts", PARALLEL},
	/* batch systems */
	{"slurmstepd: [1.0]", "slurmstepd:", TOOL, NULL},
	{"/usr/sbin/slurmstepd infinity", "slurmstepd", ORIGIN, "slurmstepd", "slurm"},
	{"/usr/sbin/slurmd -D", "slurmd", ORIGIN, "slurmd", "slurm"},
	{"srun -n 4 prog", "srun", TOOL, "slurm-client"},
	{"sbatch job.sh", "sbatch", TOOL, "slurm-client"},
	{"salloc -n 1 bash", "salloc", WRAPPER, "salloc"},
	{"/opt/pbs/sbin/pbs_mom", "pbs_mom", ORIGIN, "pbs-mom", "pbs"},
	{"~/usr/lib/gridengine/sge_shepherd sge_shepherd-12 -bg", "sge_shepherd", ORIGIN, "sge-execd", "sge"},
	{"/opt/lsf/10.1/linux/etc/res", "res", ORIGIN, "lsf-res", "lsf"},
	{"condor_starter -f -a slot1", "condor_starter", ORIGIN, "htcondor-starter", "htcondor"},
	{"flux-shell 12345", "flux-shell", WRAPPER, "flux-shell"},
	/* containers */
	{"/usr/bin/containerd-shim-runc-v2 -namespace moby -id abc", "containerd-shim-runc-v2", ORIGIN,
	 "containerd-shim"},
	{"/usr/bin/conmon --api-version 1 -c abc", "conmon", COMPONENT, "conmon"},
	{"/usr/bin/dockerd -H fd://", "dockerd", ORIGIN, "container-daemon"},
	{"runc run -b bundle id", "runc", WRAPPER, "container-runtime"},
	{"~/proc/self/exe runc init", "runc", WRAPPER, "container-runtime"},
	{"docker run --rm img cmd", "docker run", CLIENT, "container-start"},
	{"docker -H unix:///x.sock run img", "docker run", CLIENT, "container-start"},
	{"podman --root /x --runtime runc run img", "podman run", CLIENT, "container-start"},
	{"docker container run img", "docker run", CLIENT, "container-start"},
	{"docker ps -a", "docker ps", TOOL, "container-client"},
	{"singularity exec img.sif bwa mem", "singularity exec", WRAPPER, "apptainer-run"},
	{"apptainer build x.sif x.def", "apptainer build", TOOL, "apptainer"},
	/* origins */
	{"/lib/systemd/systemd --user", "systemd", ORIGIN, "systemd"},
	{"/sbin/init", "init", ORIGIN, "init"},
	{"/usr/sbin/sshd -D", "sshd", ORIGIN, "ssh-server"},
	{"/usr/sbin/cron -f", "cron", ORIGIN, "cron", "cron"},
	{"/sbin/agetty tty1", "agetty", ORIGIN, "login"},
	{"/usr/bin/python3 /usr/bin/supervisord -c x", "supervisord", ORIGIN, "service-supervisor"},
	{"/usr/bin/tini -- prog", "tini", WRAPPER, "container-init"},
	{"tmux new -s x", "tmux", ORIGIN, "terminal-multiplexer"},
	{"gitlab-runner run --user x", "gitlab-runner", ORIGIN, "gitlab-runner"},
	{"/actions/bin/Runner.Listener run", "Runner.Listener", ORIGIN, "github-runner"},
	{"/actions/bin/Runner.Worker spawnclient 1 2", "Runner.Worker", ENGINE, "github-worker", "github-actions", WORKFLOW},
	{"java -jar /opt/agent.jar -jnlpUrl x", "jenkins", ORIGIN, "jenkins"},
	{"buildkite-agent start", "buildkite-agent", ORIGIN, "buildkite-agent"},
	{"/opt/conda/bin/python /opt/conda/bin/jupyter-lab --no-browser", "jupyter-lab", ORIGIN, "notebook-server"},
	{"/usr/bin/tracer run -- make", "tracer run", ORIGIN, "tracer-run"},
	{"tracer record file.rec -- make", "tracer record", ORIGIN, "tracer-run"},
	{"/usr/bin/tracer show", "tracer", TOOL, NULL},
	{"/usr/bin/tracer-probe --socket x", "tracer-probe", ORIGIN, "tracer-itself"},
	/* wrappers */
	{"/usr/bin/env python3 ./x.py", "env", WRAPPER, "command-wrapper"},
	{"nice -n 10 bwa mem", "nice", WRAPPER, "command-wrapper"},
	{"/usr/bin/time -v bwa mem", "time", WRAPPER, "command-wrapper"},
	{"timeout 60 bwa mem", "timeout", WRAPPER, "command-wrapper"},
	{"sudo -u ada make", "sudo", WRAPPER, "identity-wrapper"},
	{"strace -f ls", "strace", WRAPPER, "tracing-wrapper"},
	{"perf stat -e cycles ls", "perf stat", WRAPPER, "perf-run"},
	{"perf report", "perf", TOOL, NULL},
	{"python3 /opt/conda/bin/conda run -n env samtools", "conda run", WRAPPER, "environment-run"},
	{"python3 /opt/conda/bin/conda install bwa", "conda install", TOOL, "environment-manager"},
	{"micromamba run -n env x", "micromamba run", WRAPPER, "environment-run"},
	/* helpers and plain tools */
	{"mkdir -p x", "mkdir", HELPER, "core-utilities"},
	{"[ -f x ]", "[", HELPER, "core-utilities"},
	{"grep -c x y", "grep", HELPER, "text-utilities"},
	{"sed s/a/b/", "sed", HELPER, "text-utilities"},
	{"hostname", "hostname", HELPER, "core-utilities"},
	{"nvidia-smi -q", "nvidia-smi", HELPER, "process-utilities"},
	{"sort -k1,1 x", "sort", TOOL, NULL},
	{"gzip -9 x", "gzip", TOOL, NULL},
	{"awk '{print $1}' x", "awk", TOOL, NULL},
	{"/home/ada/bin/my_tool --x", "my_tool", TOOL, NULL},
	/* machine learning */
	{"/usr/bin/python3 /usr/bin/torchrun --nproc_per_node 4 train.py", "torchrun", WRAPPER, "torch-launcher"},
	{"python3 -m torch.distributed.run train.py", "torchrun", WRAPPER, "torch-launcher"},
	{"python3 /usr/bin/accelerate launch train.py", "accelerate", WRAPPER, "accelerate"},
	{"python3 /usr/bin/deepspeed train.py", "deepspeed", WRAPPER, "deepspeed"},
	{"mpirun -np 4 gmx_mpi mdrun", "mpirun", WRAPPER, "mpi-launcher"},
	{"orted -mca ess env", "orted", WRAPPER, "mpi-daemon"},
	{"python3 -m ipykernel_launcher -f k.json", "python kernel", TOOL, "notebook-kernel-python"},
	{"python3 /usr/bin/jupyter lab", "jupyter lab", ORIGIN, "notebook-server-command"},
	{"python3 /usr/bin/jupyter kernelspec list", "jupyter kernelspec", TOOL, "jupyter-command"},
	{"python3 /usr/bin/tensorboard --logdir x", "tensorboard", TOOL, "ml-tool"},
	{"/x/ray/core/src/ray/raylet/raylet --raylet_socket_name=x", "raylet", ENGINE, "ray-node", "ray", WORKFLOW},
	{"python3 /usr/bin/dask worker tcp://x", "dask worker", TOOL, "ml-command"},
};

TEST_EACH(test_expectation, expectations)
{
	const struct expectation *expected = &expectations[_i];
	struct rules_verdict verdict;

	classify(expected->command, &verdict);
	ck_assert_msg(strcmp(verdict.name, expected->name) == 0, "%s: name \"%s\", expected \"%s\" (rule %s)",
		      expected->command, verdict.name, expected->name, verdict.rule ? verdict.rule : "-");
	ck_assert_msg(verdict.role == expected->role, "%s: role %s, expected %s (rule %s)", expected->command,
		      rules_role_text(verdict.role), rules_role_text(expected->role),
		      verdict.rule ? verdict.rule : "-");
	ck_assert_msg(!expected->rule == !verdict.rule &&
			      (!verdict.rule || strcmp(verdict.rule, expected->rule) == 0),
		      "%s: rule %s, expected %s", expected->command, verdict.rule ? verdict.rule : "-",
		      expected->rule ? expected->rule : "-");
	ck_assert_msg(strcmp(verdict.engine, expected->engine ? expected->engine : "") == 0, "%s: engine \"%s\"",
		      expected->command, verdict.engine);
	ck_assert_msg(verdict.rank == expected->rank, "%s: rank %d", expected->command, verdict.rank);
}

/* Beneath the given parent, what the program is. */
static const struct {
	const char *parent;
	const char *command;
	enum rules_role role;
	const char *name;
} parented[] = {
	{"perl /usr/bin/bowtie2 -x i", "bowtie2-align-s --wrapper basic-0", COMPONENT, "bowtie2-align-s"},
	{"/usr/bin/python3 /usr/bin/hisat2-build r i", "hisat2-build-s r i", COMPONENT, "hisat2-build-s"},
	{"bash run.sh", "hisat2-align-s -x i", TOOL, "hisat2"},
	{"perl /usr/bin/parallel gzip ::: a", "sh -c '/usr/bin/echo ccccccccccccccc'", HELPER, "sh"},
	{"perl /usr/bin/parallel gzip ::: a", "bash -c 'testfun && true'", HELPER, "bash"},
	{"perl /usr/bin/parallel gzip ::: a", "bash -c 'gzip a'", SHELL, "bash -c"},
	{"bash run.sh", "bash -c 'testfun && true'", SHELL, "bash -c"},
	{"/usr/bin/python3 /usr/bin/snakemake -j 2", "cbc /tmp/x.mps", COMPONENT, "cbc"},
	{"git clone x", "git index-pack --stdin", COMPONENT, "git"},
	{"python3 /usr/bin/megahit -r x", "megahit_core local", COMPONENT, "megahit_core"},
	{"python3 /usr/bin/spades.py -o x", "spades-core a.yaml", COMPONENT, "spades-core"},
};

TEST_EACH(test_parent, parented)
{
	struct command parent, command;
	struct rules_verdict verdict;

	command_init(&parent, parented[_i].parent);
	command_init(&command, parented[_i].command);
	command.subject.parent = &parent.subject;
	rules_classify(rules, &command.subject, &verdict);
	ck_assert_str_eq(verdict.name, parented[_i].name);
	ck_assert_str_eq(rules_role_text(verdict.role), rules_role_text(parented[_i].role));
}

static const struct {
	const char *command;
	const char *cgroup;
	const char *run_key;
	const char *run_name;
} keyed[] = {
	{"bwa mem x", "/slurm_localhost/uid_0/job_1/step_0", "slurm:1", "slurm job 1"},
	{"bwa mem x", "/system.slice/localhost_slurmstepd.scope/job_77/step_0/user/task_special", "slurm:77",
	 "slurm job 77"},
	{"bash /var/spool/slurmd/job00042/slurm_script", "/slurm/uid_1000/job_42/step_batch", "slurm:42",
	 "slurm job 42"},
	{"bwa mem x", "/system.slice/slurmd.service", "", ""},
	{"bwa mem x", "/user.slice/job_1/step_0", "", ""},
	{"bwa mem x", "/pbs_jobs.service/jobid/123.head", "pbs:123.head", "pbs job 123.head"},
	{"bash /var/spool/pbs/mom_priv/jobs/9.head.SC", "/", "pbs:9.head", "pbs job 9.head"},
	{"bwa mem x", "/lsf/cluster1/job.1234.5678.1700000000", "lsf:1234", "lsf job 1234"},
	{"sh /home/a/.lsbatch/1699999999.1234", "/", "lsf:1234", "lsf job 1234"},
	{"bash /var/spool/sge/node1/job_scripts/55", "/", "sge:55", "sge job 55"},
	{"flux-shell 12345", "/", "flux:12345", "flux job 12345"},
	{"x", "/ecs/0123456789abcdef0123456789abcdef/9876", "ecs:0123456789abcdef0123456789abcdef", ""},
	{"x", "/ecstasks.slice/ecstasks-0123456789abcdef0123456789abcdef.slice/docker-1.scope",
	 "ecs:0123456789abcdef0123456789abcdef", ""},
	{"python3 /usr/bin/airflow tasks run etl load manual__2024-01-01 --local", "/",
	 "airflow:etl:manual__2024-01-01", "airflow etl"},
	{"bash /g/jobs/000/7/galaxy_7.sh", "/", "galaxy:7", "galaxy job 7"},
	{"python3 flow.py --quiet step train --run-id 17 --task-id 3 --input-paths x", "/", "metaflow:flow.py:17",
	 "flow.py"},
};

TEST_EACH(test_run_key, keyed)
{
	struct command command;
	struct rules_verdict verdict;

	command_init(&command, keyed[_i].command);
	command.subject.cgroup = keyed[_i].cgroup;
	rules_classify(rules, &command.subject, &verdict);
	ck_assert_str_eq(verdict.run_key, keyed[_i].run_key);
	ck_assert_str_eq(verdict.run_name, keyed[_i].run_name);
}

static const struct {
	const char *command;
	const char *directory;
	const char *run_name;
	const char *task_name;
	const char *task_label;
} named[] = {
	{"java -jar nextflow-24.04.2-one.jar run nf-core/rnaseq -profile docker", "/w", "nextflow rnaseq", "", ""},
	{"java -cp x nextflow.cli.Launcher run -name tiny_curie main.nf", "/w", "nextflow tiny_curie", "", ""},
	{"bash /var/spool/slurmd/job7/slurm_script", "/w/work/ab/cdef0123456789abcdef0123456789", "", "", "ab/cdef01"},
	{"bash .command.run", "/w/work/ab/cdef0123456789abcdef0123456789", "", "", "ab/cdef01"},
	{"python3 /usr/bin/snakemake -j 2", "/home/ada/rnaseq", "snakemake rnaseq", "", ""},
	{"python3 /usr/bin/snakemake -s workflow/Snakefile -j 2", "/w", "snakemake workflow/Snakefile", "", ""},
	{"python3 -m snakemake --target-jobs map:sample=a --mode 1", "/w", "", "map", "sample=a"},
	{"python3 -m snakemake --target-jobs all: --allowed-rules all --mode 1", "/w", "", "all", ""},
	{"python3 -m snakemake --mode 2 --allowed-rules all", "/w", "", "all", ""},
	{"python3 /usr/bin/cwltool --outdir o /data/wf.cwl job.yml", "/w", "cwltool wf.cwl", "", ""},
	{"make -j4 all", "/src/hello", "make all in hello", "", ""},
	{"make -C lib all", "/src/hello", "make all in lib", "", ""},
	{"perl /usr/bin/parallel -j 4 gzip ::: a b", "/w", "parallel gzip", "", ""},
	{"bash /r/cromwell-executions/wf/3f/call-align/shard-3/execution/script", "/w", "", "align", "3"},
	{"bash /r/cromwell-executions/wf/3f/call-merge/execution/script", "/w", "", "merge", ""},
	{"bash /c/run1/log/job/20200101T00/model/01/job", "/w", "", "model", "20200101T00"},
	{"python3 /usr/bin/_toil_worker bwa file:/js job1", "/w", "", "bwa", ""},
};

TEST_EACH(test_run_and_task_name, named)
{
	struct command command;
	struct rules_verdict verdict;

	command_init(&command, named[_i].command);
	command.subject.working_directory = named[_i].directory;
	rules_classify(rules, &command.subject, &verdict);
	ck_assert_str_eq(verdict.run_name, named[_i].run_name);
	ck_assert_str_eq(verdict.task_name, named[_i].task_name);
	ck_assert_str_eq(verdict.task_label, named[_i].task_label);
}

static const struct {
	const char *command;
	bool has_terminal;
	bool interactive;
} shells[] = {
	{"~/bin/bash -bash", true, true},
	{"bash", true, true},
	{"bash", false, false},
	{"bash -i", false, false},
	{"bash -l", true, true},
	{"zsh --login", true, true},
	{"bash -s arg", true, false},
	{"bash -c ls", true, false},
	{"bash -ic ls", true, false},
	{"bash -lc ls", true, false},
	{"bash x.sh", true, false},
	{"bash --rcfile /x", true, true},
	{"sh -e x.sh", true, false},
	{"python3", true, false},
};

TEST_EACH(test_interactive, shells)
{
	struct command command;
	struct rules_verdict verdict;

	command_init(&command, shells[_i].command);
	command.subject.has_terminal = shells[_i].has_terminal;
	rules_classify(rules, &command.subject, &verdict);
	ck_assert_msg(verdict.interactive == shells[_i].interactive, "%s", shells[_i].command);
	if (verdict.role == SHELL)
		ck_assert_int_eq(verdict.boundary, RULES_BOUNDARY_PROCESS_GROUP);
}

/* What the kernel shows for `./x` whose first line is #!INTERPRETER. */
static const struct {
	const char *command;
	const char *script;
	enum rules_role role;
	const char *name;
} scripts[] = {
	{"/usr/bin/python3 /usr/bin/snakemake -s x", "/usr/bin/snakemake", ENGINE, "snakemake"},
	{"/usr/bin/python3 -s /usr/bin/cwltool wf.cwl", "/usr/bin/cwltool", ENGINE, "cwltool"},
	{"/usr/bin/perl /usr/bin/parallel echo", "/usr/bin/parallel", ENGINE, "parallel"},
	{"/bin/sh ./driver.sh a", "./driver.sh", SHELL, "driver.sh"},
	{"/bin/bash -c ./-c", "./-c", SHELL, "-c"},
	{"/usr/bin/env python3 ./x.py", "./x.py", WRAPPER, "env"},
	{"/opt/odd/interpreter ./job.odd a", "./job.odd", TOOL, "job.odd"},
	{"/usr/bin/make -f ./rules clean", "./rules", ENGINE, "make"},
};

TEST_EACH(test_script, scripts)
{
	struct command command;
	struct rules_verdict verdict;

	command_init(&command, scripts[_i].command);
	command.subject.script = scripts[_i].script;
	rules_classify(rules, &command.subject, &verdict);
	ck_assert_str_eq(verdict.name, scripts[_i].name);
	ck_assert_str_eq(rules_role_text(verdict.role), rules_role_text(scripts[_i].role));
}

TEST(test_origins)
{
	struct rules_verdict verdict;

	classify("/usr/sbin/slurmstepd", &verdict);
	ck_assert(verdict.nested);
	ck_assert_int_eq(verdict.boundary, RULES_BOUNDARY_CGROUP);
	classify("/usr/bin/tracer run -- x", &verdict);
	ck_assert(verdict.nested);
	ck_assert_int_eq(verdict.boundary, RULES_BOUNDARY_COMMAND);
	classify("/lib/systemd/systemd", &verdict);
	ck_assert(!verdict.nested);
	ck_assert_int_eq(verdict.boundary, RULES_BOUNDARY_CGROUP);
	classify("/usr/sbin/sshd -D", &verdict);
	ck_assert(verdict.nested);
	classify("/usr/bin/containerd-shim-runc-v2 -id x", &verdict);
	ck_assert(!verdict.nested);
}

/* Every folder's file is in the program, in byte order: that order is documented. */
TEST(test_files_in_order)
{
	for (size_t i = 1; i < rules_shipped_count; i++)
		ck_assert_int_lt(strcmp(rules_shipped[i - 1].name, rules_shipped[i].name), 0);
}

static bool rule_lists(const struct rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->match.executable.count; i++) {
		if (strcmp(rule->match.executable.items[i].text, name) == 0)
			return true;
	}
	return false;
}

/* A rule that asks for nothing but a name hides every later rule for that name. */
TEST(test_nothing_hidden)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!rule->match.only_executable || rule->passes)
			continue;
		for (size_t k = 0; k < rule->match.executable.count; k++) {
			const char *name = rule->match.executable.items[k].text;

			for (size_t later = i + 1; later < rules->count; later++)
				ck_assert_msg(rules->items[later].passes || !rule_lists(&rules->items[later], name),
					      "%s: rule %s is hidden by %s", name,
					      rules->items[later].name, rule->name);
		}
	}
}

TEST(test_examples)
{
	struct tree_error error;

	ck_assert_msg(rules_check_examples(rules, rules_count(rules), &error) == 0, "%s:%u: %s", error.file,
		      error.line, error.reason);
}

int main(void)
{
	struct tree_error error = {.line = 0};

	if (rules_load(NULL, &rules, &error) != 0) {
		fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.reason);
		return EXIT_FAILURE;
	}
	setenv("CK_FORK", "no", 1); /* hundreds of short ones, which only read the rules */
	int status = suite_run("rules_shipped", NULL, NULL);

	rules_free(rules);
	return status;
}
