/* Access to a lake: address, credentials, and the settings common to all requests: only http and
 * https, certificates are verified, redirects are not followed, .netrc and proxies of the environment
 * are ignored. Secrets are in separate files, read for each request; only file names are kept here.
 */
#pragma once

#include <curl/curl.h>

#define ACCESS_TEXT_BYTES 1024

/* A(member, "key", "ENVIRONMENT"): a setting in the section `lake:` of a configuration file, and the
 * environment variable that overrides it for readers of the lake. */
#define ACCESS_TEXTS(A) \
	A(url, "url", "TRACER_LAKE") \
	A(database, "database", "TRACER_LAKE_DATABASE") \
	A(user, "user", "TRACER_LAKE_USER") \
	A(password_file, "password-file", "TRACER_LAKE_PASSWORD_FILE") \
	A(token_file, "token-file", "TRACER_LAKE_TOKEN_FILE") \
	A(ca_file, "ca-file", "TRACER_LAKE_CA_FILE") \
	A(certificate_file, "certificate-file", "TRACER_LAKE_CERTIFICATE_FILE") \
	A(key_file, "key-file", "TRACER_LAKE_KEY_FILE") \
	A(proxy, "proxy", "TRACER_LAKE_PROXY") \
	A(proxy_user, "proxy-user", "TRACER_LAKE_PROXY_USER") \
	A(proxy_password_file, "proxy-password-file", "TRACER_LAKE_PROXY_PASSWORD_FILE") \
	A(insecure_http, "insecure-http", "TRACER_LAKE_INSECURE_HTTP")

/* NUL-terminated; empty: not set. `insecure_http` is "true", "false" or not set. */
struct access {
#define A(member, key, environment) char member[ACCESS_TEXT_BYTES];
	ACCESS_TEXTS(A)
#undef A
};

/* Sets the database to "tracer" and leaves the rest empty. */
void access_init(struct access *access);

/* Sets one member by its key. Returns 0; -ENOENT if there is no such key; -EINVAL if the value is not valid,
 * with one line in `ret_reason`. */
int access_set(struct access *access, const char *key, const char *value, char *ret_reason, size_t capacity);

/* Checks that the settings are consistent and that no secret would be sent over a network in clear text.
 * Returns 0, or -EINVAL with one line in `ret_reason`. The URL is required. */
int access_check(const struct access *access, char *ret_reason, size_t capacity);

/* Sets up one request; if `access` is NULL, one to another server, without credentials. Returns 0, or -errno
 * with one line in `ret_reason` if a secret cannot be read.
 * libcurl keeps its own copies; no other copy of a secret remains. */
int access_apply(const struct access *access, CURL *easy, char *ret_reason, size_t capacity);
