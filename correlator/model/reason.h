/* Why a run, task or image was placed where it is. */
#pragma once

#include "common/store/rows.h"

/* R(name, text of the row) */
#define REASONS(R) \
	R(NONE, "") \
	R(MAIN, "the run's own") \
	R(SYSTEM, "the host's own processes") \
	R(SESSION, "an interactive shell: its commands are the runs") \
	R(OF_USER, "what a user or a container runs in the place of the host's own") \
	R(CHILD, "child of an origin") \
	R(USER, "another user's command in a run that was found running") \
	R(FOR_USER, "a user's command that root's service or cron job started") \
	R(JOB, "job of an interactive shell") \
	R(CGROUP, "cgroup beneath an origin") \
	R(CONTAINER, "container that nobody here waits for") \
	R(COMMAND, "command of tracer run") \
	R(KERNEL, "kernel thread") \
	R(ORIGIN, "origin: the host's own") \
	R(NO_PARENT, "its parent is not known") \
	R(HOST, "beneath the host's own") \
	R(COMPANION, "another process of its container") \
	R(CLIENT, "container that its client waits for") \
	R(ENGINE, "direct subtree of an engine") \
	R(STEP, "step of a batch job") \
	R(SUBTREE, "direct subtree of the outermost orchestrator") \
	R(ONLY_SUBTREE, "only subtree so far: the run's own") \
	R(INSIDE, "inside its parent's task") \
	R(PIPE, "joined to a sibling by a pipe") \
	R(HELPER, "helper beneath the orchestrator: its own") \
	R(FORK, "fork of its parent's program") \
	R(ENGINE_FORK, "fork of its orchestrator") \
	R(EXEC, "another image of its process") \
	R(PARTIAL, ROW_REASON_PARTIAL)

enum reason {
#define R(name, text) REASON_##name,
	REASONS(R)
#undef R
};
