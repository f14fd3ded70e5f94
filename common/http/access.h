/* How a lake is reached: where it is, who we are there, and what every request to it has in common:
 * only http and https, certificates verified, no redirect followed, no .netrc, no proxy of the
 * environment. Secrets are in files of their own, read when a request is made; here are names.
 */
#pragma once

#include <curl/curl.h>

#define ACCESS_TEXT_BYTES 1024

/* A(member, "key", "ENVIRONMENT"): every text of the section `lake:` of a configuration, and the
 * variable that stands before it for those who read. */
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

/* Each ends with NUL; empty: not set. `insecure_http` is "true", "false" or not set. */
struct access {
#define A(member, key, environment) char member[ACCESS_TEXT_BYTES];
	ACCESS_TEXTS(A)
#undef A
};

/* What is left empty but the database, which is "tracer". */
void access_init(struct access *access);

/* One text, by its key. 0; -ENOENT: there is no such key; -EINVAL: it cannot have that value, and
 * `ret_reason` says why in one line. */
int access_set(struct access *access, const char *key, const char *value, char *ret_reason, size_t capacity);

/* What must hold together, and that no secret would be sent in clear text over a network. 0, or -EINVAL
 * with one line in `ret_reason`; the address must be there. */
int access_check(const struct access *access, char *ret_reason, size_t capacity);

/* Sets up one request; `access` NULL: to somebody else, without credentials. 0, or -errno with one line
 * in `ret_reason`, where a secret cannot be read.
 * libcurl copies what it is given; of a secret no other copy is left. */
int access_apply(const struct access *access, CURL *easy, char *ret_reason, size_t capacity);
