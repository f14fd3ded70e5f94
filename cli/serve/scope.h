/* Who asks, and what they may see.
 *
 * On a Unix socket the kernel says who the peer is (SO_PEERCRED, SO_PEERGROUPS): root, our own user and members of the
 * group see everything, all others what ran as them. On TCP, a client with the token sees everything. A proxy that has
 * authenticated a user can name it in a header, if told so: then that user's rights are the limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct scope {
	bool everything;
	uid_t uid; /* if not everything */
};

struct scope_policy {
	const char *token;          /* on TCP */
	const char *trusted_header; /* NULL: none is trusted */
	const char *host_name;      /* accepted in the header Host besides addresses and localhost; NULL: none */
	gid_t group;                /* its members see everything; SCOPE_NO_GROUP */
};

#define SCOPE_NO_GROUP ((gid_t)-1)

struct scope_request {
	int unix_socket; /* -1: TCP */
	bool has_data;   /* false: a file of the dashboard, the same for all */
	bool is_navigation;
	/* Headers, NULL if absent: */
	const char *host, *origin, *fetch_site, *authorization, *user;
};

/* Returns 0; or the status of HTTP with which to refuse, and why, for the client. */
int scope_find(const struct scope_policy *policy, const struct scope_request *request, struct scope *ret_scope,
	       const char **ret_reason);

/* The user of a connected Unix socket, or -1. */
uid_t scope_peer(int unix_socket);

/* Replaces scope_policy.token by 32 random bytes as text. Returns 0 or -errno. */
#define SCOPE_TOKEN_BYTES 65
int scope_make_token(char ret_token[SCOPE_TOKEN_BYTES]);
