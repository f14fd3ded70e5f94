/* Where a lake is and who we are there, for those who read it.
 *
 * What is given on the command line stands before the environment ($TRACER_LAKE_USER, ...), and
 * that before the file (lake.yaml, the section `lake:` of tracer-shipper's form, so that the
 * messages of both name the same keys). Secrets are in files of their own; here are names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LAKE_SETTINGS_FILE TRACER_CONFIG_DIR "/lake.yaml" /* where ~/.config/tracer/lake.yaml is not */
#define LAKE_TEXT_BYTES 1024

/* L(member, "key", "ENVIRONMENT"): every text that can be set. */
#define LAKE_SETTINGS(L) \
	L(url, "url", "TRACER_LAKE") \
	L(database, "database", "TRACER_LAKE_DATABASE") \
	L(user, "user", "TRACER_LAKE_USER") \
	L(password_file, "password-file", "TRACER_LAKE_PASSWORD_FILE") \
	L(token_file, "token-file", "TRACER_LAKE_TOKEN_FILE") \
	L(ca_file, "ca-file", "TRACER_LAKE_CA_FILE") \
	L(certificate_file, "certificate-file", "TRACER_LAKE_CERTIFICATE_FILE") \
	L(key_file, "key-file", "TRACER_LAKE_KEY_FILE") \
	L(proxy, "proxy", "TRACER_LAKE_PROXY") \
	L(proxy_user, "proxy-user", "TRACER_LAKE_PROXY_USER") \
	L(proxy_password_file, "proxy-password-file", "TRACER_LAKE_PROXY_PASSWORD_FILE") \
	L(insecure_http, "insecure-http", "TRACER_LAKE_INSECURE_HTTP")

/* Each ends with NUL; empty: not set. `insecure_http` is "true" or not. */
struct lake_settings {
#define L(member, key, environment) char member[LAKE_TEXT_BYTES];
	LAKE_SETTINGS(L)
#undef L
};

/* `url` and `user` as given on the command line, NULL: not given. `default_user` is who asks
 * where nobody says. Checks the address and what the database may be called. 0, or -EINVAL with
 * one line in `ret_reason`. */
int lake_settings_load(struct lake_settings *settings, const char *url, const char *user,
		       const char *default_user, char *ret_reason, size_t capacity);
