/* The HTTP server: libmicrohttpd on the loop of libuv, in one thread. It answers GET and nothing else. */
#pragma once

#include "cli/serve/scope.h"

#define SERVER_LISTENERS_MAX 2

struct server_options {
	struct scope_policy policy;
	const char *source;                /* the option that names the store or the lake: "--store=FILE" */
	const char *store_path;            /* NULL: a lake */
	int sockets[SERVER_LISTENERS_MAX]; /* they listen; -1: none */
	int ready_fd;                      /* -1: none */
	void (*announce)(const struct server_options *options); /* called once it serves */
};

/* Serves until SIGTERM or SIGINT. Returns 0 or, after logging, -errno. */
int server_run(const struct server_options *options);
