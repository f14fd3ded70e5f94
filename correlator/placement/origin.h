/* Where runs begin and what else belongs to them.
 *
 * Beneath an origin (service manager, sshd, cron, a batch step daemon, an interactive
 * shell, `tracer run`) every child, process group or cgroup begins a run; any other
 * process belongs to its parent's run. */
#pragma once

#include "common/rules/rules.h"
#include "correlator/model/run.h"

struct model;
struct process;
struct placing;

/* Returns the run that `process` begins or joins, and the class of its origin; NULL if it does neither. `origin` is its
 * parent or the keeper of its container. */
struct run *origin_begin_run(struct model *model, struct process *process, struct process *origin,
			     const struct placing *placing, struct rules_class *ret_class);
/* Whether a service manager's child executes only a step before the service, in the manager's own cgroup: systemd-executor
 * of systemd 254 and 255 changes the cgroup itself. The service is what it executes next. */
bool origin_is_step(const struct process *process, const struct placing *placing);
/* Begins a run that no other process joins. */
struct run *origin_begin_own(struct model *model, struct process *process, enum run_kind kind, enum reason reason);
/* Whether `process` is the run's root, or only wrappers stand between the two. */
bool origin_leads_to(const struct run *run, const struct process *process);
/* An interactive shell is not work itself; its commands are. If only wrappers (su, sudo) led to it, or to the client
 * that waits for it, the run becomes a session. */
void origin_become_session(struct model *model, struct run *run, const struct process *process);
/* Otherwise an interactive shell begins a session. Returns NULL if it is placed like any other process. */
struct run *origin_begin_session(struct model *model, struct process *process);
/* What is executed beneath the host's own and begins no run is the host's own too, if root executes it outside a
 * container. Anything else begins an unlisted run: users choose the names of programs. `is_container` says that
 * it is the first of a container. Returns NULL if it is the host's own. */
struct run *origin_begin_unlisted(struct model *model, struct process *process, bool is_container,
				  const struct rules_class *class);
/* Writes the key by which the parts of the run (NULL: it has not begun) on this and other hosts find each other. What
 * users can write (a script's name, the path of a cgroup of theirs) joins only runs of the same user: it gets the user's
 * number. */
void origin_earn_key(struct model *model, const struct run *run, const struct process *process, uint64_t cgroup_id,
		     const struct rules_class *class, char ret_key[RULES_NAME_MAX]);
/* What su or the like starts as another user in a run that was found running begins a run: such a run may be a
 * daemon that works for many. So does what root's service or cron job starts for a person, in whatever way. Returns NULL for
 * anything else. */
struct run *origin_begin_for_user(struct model *model, struct process *process, const struct rules_class *class);
/* Whether `process`, which has executed a program of that class and has no place yet, may execute one for a person next: in
 * the same process, as runuser -u and setpriv do. */
bool origin_awaits_user(const struct process *process, const struct rules_class *class);
