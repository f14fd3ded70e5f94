/* The connection to the correlator. Nothing is kept for a correlator that does not answer: figures of that time are
 * missing. */
#pragma once

#include "common/wire/wire.h"

struct link {
	const char *path;
	int fd; /* -1: not connected */
	bool is_failing;
	struct wire_output output;
};

/* Connects if it is not connected, and sends `hello` first. Returns whether it is connected. */
bool link_open(struct link *link, const struct wire_message *hello);
void link_add(struct link *link, const struct wire_message *message);
/* Sends what was added, without waiting: a correlator that does not read is disconnected. */
void link_send(struct link *link);
void link_close(struct link *link);
