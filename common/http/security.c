/* What every request of ours to a lake has in common. See security.h. */
#include "common/http/security.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <arpa/inet.h>

void http_security_apply(CURL *easy, const struct http_security *security)
{
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	/* What has timed out does not wait for name servers that are silent: theirs may be minutes. */
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (security->ca_file) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, security->ca_file);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(easy, CURLOPT_SSLCERT, security->certificate_file);
	curl_easy_setopt(easy, CURLOPT_SSLKEY, security->key_file);
	curl_easy_setopt(easy, CURLOPT_PROXY, security->proxy ? security->proxy : "");
	curl_easy_setopt(easy, CURLOPT_NOPROXY, ""); /* nor exceptions of the environment */
	curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, security->proxy_user);
	curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, security->proxy_password);
	if (security->token) {
		curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, security->token);
	} else if (security->user) {
		curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		curl_easy_setopt(easy, CURLOPT_USERNAME, security->user);
		curl_easy_setopt(easy, CURLOPT_PASSWORD, security->password ? security->password : "");
	}
}

static bool url_has(CURLU *parsed, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_url_get(parsed, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return has;
}

/* By its name alone: what a name server says is not to be trusted with a password. */
static bool is_this_machine(CURLU *parsed)
{
	struct in_addr address;
	char *host = NULL;
	bool is = false;

	if (curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		is = strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
		     (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
	curl_free(host);
	return is;
}

static const char *url_fault(CURLU *parsed, const char *url, int insecure_http)
{
	char *scheme = NULL;
	bool is_http, is_https;

	if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK)
		return "is no address: https://HOST:8443";
	curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0);
	is_http = scheme && strcmp(scheme, "http") == 0;
	is_https = scheme && strcmp(scheme, "https") == 0;
	curl_free(scheme);
	if (!is_http && !is_https)
		return "must begin with https:// (or http://)";
	if (url_has(parsed, CURLUPART_USER) || url_has(parsed, CURLUPART_PASSWORD))
		return "must not hold a user or a password: lake.user and lake.password-file do";
	if (url_has(parsed, CURLUPART_QUERY) || url_has(parsed, CURLUPART_FRAGMENT))
		return "must end before ? and #";
	if (is_http && !insecure_http && !is_this_machine(parsed))
		return "would send the password and everything else in clear text: use https://, or "
		       "say lake.insecure-http: true";
	return NULL;
}

int http_security_check_url(const char *url, int insecure_http, char *ret_reason, size_t capacity)
{
	CURLU *parsed = curl_url();
	const char *fault = parsed ? url_fault(parsed, url, insecure_http) : "out of memory";

	curl_url_cleanup(parsed);
	if (!fault)
		return 0;
	/* What is wrong with it may be a password in it. */
	if (strpbrk(url, "@?#"))
		snprintf(ret_reason, capacity, "lake.url %s", fault);
	else
		snprintf(ret_reason, capacity, "lake.url %.200s %s", url, fault);
	return -EINVAL;
}

int http_security_check_proxy(const char *proxy, const char *url, int insecure_http, char *ret_reason,
			      size_t capacity)
{
	char ignored[512];

	if (http_security_check_url(proxy, true, ignored, sizeof(ignored)) < 0)
		snprintf(ret_reason, capacity, "lake.proxy: expected http://HOST:PORT; user and password "
					       "are lake.proxy-user and lake.proxy-password-file");
	else if (strncasecmp(url, "http:", strlen("http:")) == 0 &&
		 http_security_check_url(proxy, insecure_http, ignored, sizeof(ignored)) < 0)
		snprintf(ret_reason, capacity, "lake.proxy: would get the password and everything else in "
					       "clear text, since lake.url is http: use https://, or say "
					       "lake.insecure-http: true");
	else
		return 0;
	return -EINVAL;
}
