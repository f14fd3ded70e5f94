/* See check.h. */
#include "probe/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include "probe/sample.h"

struct item {
	const char *name;
	bool ok;
	bool needed; /* the probe does not work without */
	const char *detail;
};

#define ITEMS_MAX 16

struct check {
	struct item item[ITEMS_MAX];
	int count;
};

static void check_add(struct check *check, const char *name, bool ok, bool needed,
		      const char *detail)
{
	check->item[check->count++] = (struct item){name, ok, needed, detail};
}

static void check_hooks(struct check *check)
{
	static const char *const hooks[] = {
		"btf_trace_sched_process_fork", "btf_trace_sched_process_exec",
		"btf_trace_sched_process_exit", "btf_trace_sched_process_free",
	};
	struct btf *btf = btf__load_vmlinux_btf();

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		bool ok = !libbpf_get_error(btf) &&
			  btf__find_by_name_kind(btf, hooks[i], BTF_KIND_TYPEDEF) > 0;

		check_add(check, hooks[i] + strlen("btf_trace_"), ok, true,
			  ok ? "tracepoint found" : "no such tracepoint in this kernel's BTF");
	}
	if (!libbpf_get_error(btf))
		btf__free(btf);
}

static void check_variants(struct check *check, const struct kernel_variants *variants)
{
	check_add(check, "exit", true, true, variants->exit_group_dead
		  ? "tells the last thread, memory still there: peak memory is exact"
		  : "after the memory is gone: peak memory is signal.maxrss");
	check_add(check, "iterator", variants->iterator_waits, true, variants->iterator_waits
		  ? "may wait: arguments of processes that are already running are read"
		  : "cannot read arguments: Linux 5.18 or newer is needed");
	check_add(check, "network", variants->network, false, variants->network
		  ? "sockets tell what is sent and received"
		  : "bytes sent and received are unknown: before Linux 6.3");
}

/* Everything at once: the verifier's word, permissions, the iterator. */
static void check_load(struct check *check)
{
	const struct kernel_options options = {.ring_bytes = 64 * 1024};
	static struct sampler sampler;
	struct kernel kernel;
	int result = kernel_open(&kernel, &options);

	if (result == 0) {
		result = sampler_begin(&sampler, &kernel, false);
		if (result == 0)
			sampler_end(&sampler);
		kernel_close(&kernel);
	}
	check_add(check, "load", result == 0, true,
		  result == 0 ? "programs load, attach and iterate"
		  : result == -EPERM
			? "no permission: run as root, or with CAP_BPF and CAP_PERFMON"
			: "the kernel refuses the programs");
}

/* The pin directory may be missing: its parent tells. */
static void check_pins(struct check *check, const char *pin_dir)
{
	char parent[256];
	struct statfs filesystem;

	snprintf(parent, sizeof(parent), "%s", pin_dir);
	if (access(parent, F_OK) && strrchr(parent, '/') > parent)
		*strrchr(parent, '/') = '\0';
	bool ok = statfs(parent, &filesystem) == 0 && filesystem.f_type == BPF_FS_MAGIC;
	check_add(check, "bpffs", ok, true, ok
		  ? "pins are possible: a restarted probe loses nothing"
		  : "no BPF filesystem there: mount -t bpf bpf /sys/fs/bpf, or use --no-pin");
}

static void check_print_lines(const struct check *check)
{
	for (int i = 0; i < check->count; i++)
		printf("%-4s %-22s %s\n", check->item[i].ok ? "ok" : "no", check->item[i].name,
		       check->item[i].detail);
}

static void check_print_json(const struct check *check, bool works)
{
	printf("{\"works\": %s, \"items\": [", works ? "true" : "false");
	for (int i = 0; i < check->count; i++)
		printf("%s\n  {\"name\": \"%s\", \"ok\": %s, \"needed\": %s, \"detail\": \"%s\"}",
		       i ? "," : "", check->item[i].name, check->item[i].ok ? "true" : "false",
		       check->item[i].needed ? "true" : "false", check->item[i].detail);
	printf("\n]}\n");
}

int check_print(const struct kernel_options *options, bool json)
{
	struct kernel_variants variants;
	struct check check = {0};
	bool works = true;
	bool has_btf = kernel_variants_read(&variants) == 0;

	check_add(&check, "btf", has_btf, true, has_btf
		  ? "/sys/kernel/btf/vmlinux"
		  : "missing: a kernel built with CONFIG_DEBUG_INFO_BTF is needed");
	if (has_btf) {
		check_hooks(&check);
		check_variants(&check, &variants);
		check_load(&check);
	}
	if (options->pin_dir)
		check_pins(&check, options->pin_dir);
	for (int i = 0; i < check.count; i++)
		works = works && (check.item[i].ok || !check.item[i].needed);
	if (json)
		check_print_json(&check, works);
	else
		check_print_lines(&check);
	return works ? 0 : -ENOTSUP;
}
