/* See scope.h. */
#include "cli/serve/scope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/crypto.h>

#define GROUPS_MAX 1024
#define HOST_BYTES 256

enum { UNAUTHORIZED = 401, FORBIDDEN = 403, MISDIRECTED = 421 };

/* ---- Unix socket */

static bool peer_credentials(int fd, struct ucred *ret_credentials)
{
	socklen_t size = sizeof(*ret_credentials);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_credentials, &size) == 0;
}

uid_t scope_peer(int unix_socket)
{
	struct ucred credentials;

	return peer_credentials(unix_socket, &credentials) ? credentials.uid : (uid_t)-1;
}

static bool peer_is_member(int fd, gid_t primary, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);

	if (group == SCOPE_NO_GROUP || primary == group)
		return group != SCOPE_NO_GROUP;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (size_t i = 0; i < size / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

static bool peer_scope(const struct scope_policy *policy, int fd, struct scope *ret_scope)
{
	struct ucred credentials;

	if (!peer_credentials(fd, &credentials) || credentials.uid == (uid_t)-1)
		return false;
	ret_scope->uid = credentials.uid;
	ret_scope->everything = credentials.uid == 0 || credentials.uid == geteuid() ||
				peer_is_member(fd, credentials.gid, policy->group);
	return true;
}

/* ---- TCP */

/* A name that an attacker's domain resolves to our address never is an address itself. */
static bool host_is_ours(const struct scope_policy *policy, const char *header)
{
	char host[HOST_BYTES], *port;
	struct in6_addr address;
	size_t size = strlen(header);

	if (size == 0 || size >= sizeof(host))
		return false;
	memcpy(host, header, size + 1);
	port = strrchr(host, ':');
	if (*host == '[' && size > 1) {
		char *end = strchr(host, ']');

		if (!end)
			return false;
		*end = '\0';
		return inet_pton(AF_INET6, host + 1, &address) == 1;
	}
	if (port)
		*port = '\0';
	return strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, &address) == 1 ||
	       (policy->host_name && strcasecmp(host, policy->host_name) == 0);
}

static bool token_is_right(const struct scope_policy *policy, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	size_t size = strlen(policy->token);

	if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return false;
	authorization += strlen(scheme);
	return strlen(authorization) == size && CRYPTO_memcmp(authorization, policy->token, size) == 0;
}

/* "http://HOST" and "https://HOST" are the same place, as a proxy may speak TLS for us. */
static bool origin_is_ours(const char *origin, const char *host)
{
	const char *rest = strncmp(origin, "https://", 8) == 0 ? origin + 8 : origin + 7;

	return (rest == origin + 8 || strncmp(origin, "http://", 7) == 0) && strcmp(rest, host) == 0;
}

/* What a browser says about the page that asks. */
static bool page_is_foreign(const struct scope_request *request)
{
	if (request->origin && !origin_is_ours(request->origin, request->host ? request->host : ""))
		return true;
	return request->fetch_site && !request->is_navigation && strcmp(request->fetch_site, "same-origin") != 0 &&
	       strcmp(request->fetch_site, "none") != 0;
}

/* ---- the user whom a proxy names */

static bool user_is_member(const struct passwd *user, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	int count = GROUPS_MAX;

	if (group == SCOPE_NO_GROUP || getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0)
		return false;
	for (int i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return false;
}

static bool user_scope(const struct scope_policy *policy, const char *name, struct scope *ret_scope)
{
	const struct passwd *user = name ? getpwnam(name) : NULL;

	if (!user)
		return false;
	ret_scope->uid = user->pw_uid;
	ret_scope->everything = user->pw_uid == 0 || user_is_member(user, policy->group);
	return true;
}

/* ---- all of it */

int scope_find(const struct scope_policy *policy, const struct scope_request *request, struct scope *ret_scope,
	       const char **ret_reason)
{
	*ret_scope = (struct scope){.everything = request->unix_socket < 0, .uid = (uid_t)-1};
	if (request->unix_socket < 0 && !(request->host && host_is_ours(policy, request->host))) {
		*ret_reason = "this server does not go by that host name: see --host-name";
		return MISDIRECTED;
	}
	if (page_is_foreign(request)) {
		*ret_reason = "pages of other sites may not ask";
		return FORBIDDEN;
	}
	if (!request->has_data)
		return 0;
	if (request->unix_socket < 0 && !token_is_right(policy, request->authorization)) {
		*ret_reason = "a token is needed: open the link that tracer serve has printed, or send "
			      "Authorization: Bearer TOKEN";
		return UNAUTHORIZED;
	}
	if (request->unix_socket >= 0 && !peer_scope(policy, request->unix_socket, ret_scope)) {
		*ret_reason = "the kernel does not say who asks";
		return FORBIDDEN;
	}
	/* Only those who see everything can say for whom they ask. */
	if (policy->trusted_header && ret_scope->everything && !user_scope(policy, request->user, ret_scope)) {
		*ret_reason = "the proxy named no user of this host";
		return FORBIDDEN;
	}
	return 0;
}

int scope_make_token(char ret_token[SCOPE_TOKEN_BYTES])
{
	unsigned char bytes[(SCOPE_TOKEN_BYTES - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}
