/* Where runs begin and what else belongs to them.
 *
 * Beneath an origin (service manager, sshd, cron, a batch step daemon, an interactive
 * shell, `tracer run`) every child, process group or cgroup begins one; everything else
 * is in its parent's. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct placing;

/* `origin`: what `process` is beneath, its parent or the keeper of its container. */
bool origin_begins_run(struct model *model, const struct process *process, const struct process *origin,
		       const struct placing *placing, enum rules_boundary *ret_boundary);
/* The run that `process` begins, or the one it joins; and the verdict on its origin. */
struct run *origin_begin_run(struct model *model, struct process *process, struct process *origin,
			     const struct placing *placing, enum rules_boundary boundary,
			     struct rules_verdict *ret_verdict);
/* `process` is its root, or what wrappers alone lead to from there. */
bool origin_leads_to(const struct run *run, const struct process *process);
/* Whether an interactive shell in the run of `process` makes a session of it, or of its own. */
bool origin_allows_session(const struct process *process);
struct run *origin_begin_session(struct model *model, struct process *process);
