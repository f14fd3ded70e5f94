/* What every request of ours to a lake has in common: only http and https, certificates
 * verified, no redirect followed, no .netrc, no proxy of the environment.
 */
#pragma once

#include <curl/curl.h>

/* All may be NULL: none. */
struct http_security {
	const char *user, *password; /* Basic */
	const char *token;           /* Bearer */
	const char *ca_file, *certificate_file, *key_file;
	const char *proxy, *proxy_user, *proxy_password;
};

/* libcurl copies what it is given. */
void http_security_apply(CURL *easy, const struct http_security *security);

/* Whether `url` is one that we send secrets to: http or https, a host, no user, password,
 * query or fragment in it; http only to this machine, unless `insecure_http`. 0 or -EINVAL,
 * and `ret_reason` is what is wrong with it. */
int http_security_check_url(const char *url, int insecure_http, char *ret_reason, size_t capacity);

/* Whether `proxy` is one that requests to `url` may pass. It is spoken to in clear text, as usual:
 * what is for an https URL is not, what is for an http one would be read on the way, unless the
 * proxy is on this machine or `insecure_http`. As above. */
int http_security_check_proxy(const char *proxy, const char *url, int insecure_http, char *ret_reason,
			      size_t capacity);
