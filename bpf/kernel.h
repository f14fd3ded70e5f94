/* All kernel structures that Tracer can read.
 *
 * Declared by hand: only the structures and fields that are read. CO-RE finds
 * their real offsets in the running kernel's BTF when the programs are loaded.
 * A name with three underscores is a variant of the structure named before them,
 * as in other kernel versions; BTF tells, field by field, which one applies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16; /* named by libbpf's helper declarations */
typedef __u32 __be32;
typedef __u32 __wsum;

/* From the kernel's user-space ABI (linux/bpf.h). */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_MMAPABLE = 1U << 10,
	BPF_RB_NO_WAKEUP = 1,
};

/* Kernel constants that are not in its BTF and have not changed for a long time. */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
enum { RLIMIT_CPU = 0, RLIMIT_FSIZE = 1, RLIMIT_DATA = 2, RLIMIT_AS = 9 };
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_NOLOAD 0x0400 /* with TASK_UNINTERRUPTIBLE: idle, as a waiting kernel thread is */
#define SIGNAL_GROUP_EXIT 0x00000004
#define PIDTYPE_PGID 2
#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFREG 0100000
#define FMODE_WRITE 0x2
#define MINOR_BITS 20
#define TTY_AUXILIARY_MAJOR 5 /* /dev/tty, /dev/console */
#define PAGE_COUNTER_MAX (0x7fffffffffffffffULL / page_size)
enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES };

#define KERNEL __attribute__((preserve_access_index))

/* A table: one structure per line. */
/* clang-format off */
struct list_head { struct list_head *next; } KERNEL;
typedef struct { int counter; } KERNEL atomic_t;
typedef struct { __s64 counter; } KERNEL atomic_long_t;

/* Namespaces and credentials */

struct ns_common { unsigned int inum; } KERNEL;
struct pid_namespace { struct ns_common ns; } KERNEL;
struct mnt_namespace { struct ns_common ns; } KERNEL;
struct nsproxy { struct mnt_namespace *mnt_ns; } KERNEL;
struct upid { int nr; struct pid_namespace *ns; } KERNEL;
struct pid { unsigned int level; struct upid numbers[1]; } KERNEL;
typedef struct { __u32 val; } KERNEL kuid_t, kgid_t;
struct cred { kuid_t uid; kgid_t gid; } KERNEL;

/* Files and paths: names and numbers, never contents */

struct qstr { const unsigned char *name; } KERNEL;
struct dentry { struct dentry *d_parent; struct qstr d_name; } KERNEL;
struct vfsmount { struct dentry *mnt_root; } KERNEL;
struct mount { struct mount *mnt_parent; struct dentry *mnt_mountpoint; struct vfsmount mnt; } KERNEL;
struct path { struct vfsmount *mnt; struct dentry *dentry; } KERNEL;
struct fs_struct { struct path root; struct path pwd; } KERNEL;
struct inode { unsigned short i_mode; __u32 i_rdev; unsigned long i_ino; __s64 i_size; } KERNEL;
struct file { unsigned int f_mode; __s64 f_pos; struct path f_path; struct inode *f_inode; } KERNEL;
struct fdtable { struct file **fd; } KERNEL;
struct files_struct { struct fdtable *fdt; } KERNEL;
struct tty_driver { int major; int minor_start; } KERNEL;
struct tty_struct { struct tty_driver *driver; int index; } KERNEL;

/* Sockets: their kind, never their endpoints or contents */

struct sock_common { unsigned short skc_family; } KERNEL;
struct sock { struct sock_common __sk_common; __u16 sk_protocol; } KERNEL;

/* Signals: which one, its sender, and whether it is handled */

struct kernel_siginfo { int si_code; } KERNEL;
struct sigaction { void *sa_handler; } KERNEL;
struct k_sigaction { struct sigaction sa; } KERNEL;
struct sighand_struct { struct k_sigaction action[64]; } KERNEL;

/* Control groups */

struct kernfs_node {
	struct kernfs_node *__parent; /* since 6.15 */
	const char *name;
	__u64 id;
} KERNEL;

struct kernfs_node___parent { struct kernfs_node *parent; } KERNEL;
struct cgroup_root { int hierarchy_id; } KERNEL;
struct cgroup { int level; struct kernfs_node *kn; struct cgroup_root *root; } KERNEL;
struct cgroup_subsys_state { struct cgroup *cgroup; } KERNEL;
struct css_set { struct cgroup_subsys_state *subsys[1]; struct cgroup *dfl_cgrp; } KERNEL;
enum cgroup_subsys_id { cpu_cgrp_id, memory_cgrp_id, freezer_cgrp_id, pids_cgrp_id };

struct page_counter {
	unsigned long watermark; /* pages */
	unsigned long max;
	struct page_counter *parent;
} KERNEL;

/* Pages of a memory cgroup on one NUMA node: in lists, for each zone five; and in generations (by age, kind and zone), where
 * a kernel has these. A page is in one of them. (Named lru_gen_struct before 6.3.) */
struct lru_gen_folio { long nr_pages[40]; } KERNEL;
struct lruvec { struct lru_gen_folio lrugen; } KERNEL;
struct mem_cgroup_per_node { struct lruvec lruvec; unsigned long lru_zone_size[25]; } KERNEL;

/* Both begin with their cgroup_subsys_state. */
struct mem_cgroup { struct page_counter memory; struct mem_cgroup_per_node *nodeinfo[1]; } KERNEL;

struct cfs_bandwidth {
	__s64 period; /* ns */
	__u64 quota;  /* ns of each period */
	__u64 throttled_time;
} KERNEL;

struct task_group { struct task_group *parent; struct cfs_bandwidth cfs_bandwidth; } KERNEL;

/* Accounting */

struct sched_entity { __u64 sum_exec_runtime; } KERNEL;
struct sched_info { unsigned long long run_delay; } KERNEL;

struct task_delay_info {
	__u64 blkio_delay;
	__u64 swapin_delay;
	__u64 freepages_delay;
	__u64 thrashing_delay;
} KERNEL;

struct task_io_accounting {
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 cancelled_write_bytes;
} KERNEL;

struct percpu_counter { __s64 count; } KERNEL;

struct mm_struct {
	unsigned long hiwater_rss; /* pages */
	atomic_long_t hugetlb_usage; /* pages of the base size */
	unsigned long arg_start;
	unsigned long arg_end;
	struct file *exe_file;
	struct percpu_counter rss_stat[4]; /* since 6.2, pages */
} KERNEL;

struct mm_rss_stat { atomic_long_t count[4]; } KERNEL;
struct mm_struct___rss { struct mm_rss_stat rss_stat; } KERNEL;

struct rlimit {
	unsigned long rlim_cur;
	unsigned long rlim_max;
} KERNEL;

struct signal_struct {
	atomic_t live;
	int nr_threads;
	struct list_head thread_head;
	int group_exit_code;
	unsigned int flags;
	struct pid *pids[4];
	struct tty_struct *tty;
	__u64 utime;
	__u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	unsigned long maxrss; /* pages */
	unsigned long long sum_sched_runtime;
	struct mm_struct *oom_mm;
	struct rlimit rlim[16];
} KERNEL;

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	struct sched_entity se;
	struct sched_info sched_info;
	int nr_cpus_allowed;
	struct mm_struct *mm;
	int exit_state;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct list_head thread_node;
	__u64 utime;
	__u64 stime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 start_boottime;
	unsigned long min_flt;
	unsigned long maj_flt;
	const struct cred *cred;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	__u64 self_exec_id;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	struct task_delay_info *delays;
	unsigned int in_memstall : 1;
} KERNEL;

struct task_struct___state { long state; } KERNEL; /* before 5.14 */
struct task_struct_rh { __u64 self_exec_id; } KERNEL;
struct task_struct___rhel_8 { __u64 real_start_time; struct task_struct_rh *task_struct_rh; } KERNEL;

struct linux_binprm { const char *filename; const char *interp; } KERNEL;

/* Iterators */

struct seq_file;
struct bpf_map;
struct bpf_iter_meta { struct seq_file *seq; __u64 session_id; } KERNEL;
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; } KERNEL;

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
} KERNEL;
