/* Answers to requests: each is computed by a child process that runs a command of `tracer`, and kept for a while.
 *
 * The child is a fork of the server that runs no other program: it has the same sandbox, its limits of time and memory,
 * and a store restricted to what its user may see. So an error in a command, or an answer that takes too long, ends
 * that child and nothing else. All who ask the same meanwhile get the same answer: a hundred open pages cost as much
 * as one. The text is in memory of the kernel (memfd), which all connections that send it share.
 */
#pragma once

#include <uv.h>

#include "cli/serve/scope.h"
#include "cli/serve/routes.h"

#define ANSWER_ETAG_BYTES 40
#define ANSWER_REASON_BYTES 512

struct answer {
	bool is_ready;
	/* Once it is ready: */
	int status; /* of HTTP */
	int body;   /* descriptor, of `size` bytes; valid while the answer is held */
	uint64_t size;
	const char *type;
	char etag[ANSWER_ETAG_BYTES];     /* with quotes */
	char reason[ANSWER_REASON_BYTES]; /* why there is none */
};

/* The tag of HTTP for these bytes: a weak one, which the bounds of a period of the present do not change. Returns 0 or
 * -ENOMEM. */
int answer_make_etag(const void *bytes, size_t size, char ret_etag[ANSWER_ETAG_BYTES]);

/* The rest is private to answers.c. */
struct answers;

struct answers_options {
	uv_loop_t *loop;
	const char *store_path; /* whose changes end the life of answers; NULL: a lake */
	unsigned children_most;
	void *context;
	void (*on_ready)(void *context, struct answer *answer); /* called once for each that was not ready when asked */
};

/* Returns NULL if out of memory. */
struct answers *answers_new(const struct answers_options *options);
/* Ends all children. */
void answers_free(struct answers *answers);

/* Returns the answer to a command, held for the caller, and takes ownership of the command. Returns NULL with `*ret_status`,
 * of HTTP: too many requests of this user, or in all. */
struct answer *answers_ask(struct answers *answers, struct route_command *command, const struct scope *scope,
			   int *ret_status);
void answers_release(struct answers *answers, struct answer *answer);
