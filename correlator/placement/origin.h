/* Where runs begin and what else belongs to them.
 *
 * Beneath an origin (service manager, sshd, cron, a batch step daemon, an interactive
 * shell, `tracer run`) every child, process group or cgroup begins a run; any other
 * process belongs to its parent's run. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct placing;

/* Whether `process` begins a run. `origin` is its parent or the keeper of its container. */
bool origin_begins_run(struct model *model, const struct process *process, const struct process *origin,
		       const struct placing *placing, enum rules_boundary *ret_boundary);
/* Returns the run that `process` begins or joins, and the class of its origin. */
struct run *origin_begin_run(struct model *model, struct process *process, struct process *origin,
			     const struct placing *placing, enum rules_boundary boundary,
			     struct rules_class *ret_class);
/* Whether `process` is the run's root, or only wrappers stand between the two. */
bool origin_leads_to(const struct run *run, const struct process *process);
/* Whether an interactive shell in the run of `process` turns it into a session or begins one. */
bool origin_allows_session(const struct process *process);
struct run *origin_begin_session(struct model *model, struct process *process);
/* What is executed beneath the host's own and begins no run is the host's own too, if root executes it outside a
 * container. Anything else begins an unlisted run: users choose the names of programs. `is_container` says that
 * it is the first of a container. Returns NULL if it is the host's own. */
struct run *origin_begin_unlisted(struct model *model, struct process *process, bool is_container,
				  const struct rules_class *class);
/* Sets the key by which the run's parts on this and other hosts find each other, unless it has one. What users can
 * write (a script's name, the path of a cgroup of theirs) joins only runs of the same user. */
void origin_set_key(struct model *model, struct run *run, const struct process *process,
		    const struct rules_class *class);
/* What su or the like starts as another user in a run that was found running begins a run: such a run may be a
 * daemon that works for many. Returns NULL for anything else. */
struct run *origin_begin_for_user(struct model *model, struct process *process);
