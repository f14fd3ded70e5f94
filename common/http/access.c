/* Access to a lake. See access.h. */
#include "common/http/access.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "common/http/secret_file.h"

/* ---- settings ------------------------------------------------------------------ */

static const struct {
	const char *key;
	size_t offset;
} texts[] = {
#define A(member, key, environment) {key, offsetof(struct access, member)},
	ACCESS_TEXTS(A)
#undef A
};

void access_init(struct access *access)
{
	*access = (struct access){.database = "tracer"};
}

_Static_assert(ACCESS_TEXT_BYTES == 1024, "access_set() says how long a text may be");

int access_set(struct access *access, const char *key, const char *value, char *ret_reason, size_t capacity)
{
	const char *fault = NULL;
	size_t index = 0;

	while (index < sizeof(texts) / sizeof(texts[0]) && strcmp(texts[index].key, key) != 0)
		index++;
	if (index == sizeof(texts) / sizeof(texts[0]))
		return -ENOENT;
	if (value[0] == '\0')
		fault = "a value is missing";
	else if (strlen(value) >= ACCESS_TEXT_BYTES)
		fault = "longer than 1,023 bytes";
	else if (strcmp(key, "insecure-http") == 0 && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		fault = "expected true or false";
	for (const char *c = value; *c && !fault; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			fault = "contains a control character";
	if (fault) {
		snprintf(ret_reason, capacity, "lake.%s: %s", key, fault);
		return -EINVAL;
	}
	strcpy((char *)access + texts[index].offset, value);
	return 0;
}

/* ---- checks -------------------------------------------------------------------- */

static bool url_has(CURLU *parsed, CURLUPart part)
{
	char *text = NULL;
	bool has = curl_url_get(parsed, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return has;
}

/* Decides by the host name alone: an answer of a name server must not decide where a password is sent. */
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

static const char *url_fault(CURLU *parsed, const char *url, bool insecure_http)
{
	char *scheme = NULL;
	bool is_http, is_https;

	if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK)
		return "is not a valid URL: expected https://HOST:8443";
	curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0);
	is_http = scheme && strcmp(scheme, "http") == 0;
	is_https = scheme && strcmp(scheme, "https") == 0;
	curl_free(scheme);
	if (!is_http && !is_https)
		return "must begin with https:// (or http://)";
	if (url_has(parsed, CURLUPART_USER) || url_has(parsed, CURLUPART_PASSWORD))
		return "must not contain a user or password: use lake.user and lake.password-file";
	if (url_has(parsed, CURLUPART_QUERY) || url_has(parsed, CURLUPART_FRAGMENT))
		return "must not contain ? or #";
	if (is_http && !insecure_http && !is_this_machine(parsed))
		return "would send the password and all data in clear text: use https://, or set "
		       "lake.insecure-http: true";
	return NULL;
}

/* Checks that `url` is one to which secrets may be sent. */
static int url_check(const char *url, bool insecure_http, char *ret_reason, size_t capacity)
{
	CURLU *parsed = curl_url();
	const char *fault = parsed ? url_fault(parsed, url, insecure_http) : "out of memory";

	curl_url_cleanup(parsed);
	if (!fault)
		return 0;
	/* The URL may contain a password: do not show it then. */
	if (strpbrk(url, "@?#"))
		snprintf(ret_reason, capacity, "lake.url %s", fault);
	else
		snprintf(ret_reason, capacity, "lake.url %.200s %s", url, fault);
	return -EINVAL;
}

/* Connections to a proxy usually are clear text. Requests to an https URL are encrypted all the same; those to an
 * http URL could be read on the way. */
static int proxy_check(const struct access *access, bool insecure_http, char *ret_reason, size_t capacity)
{
	char ignored[512];

	if (url_check(access->proxy, true, ignored, sizeof(ignored)) < 0)
		snprintf(ret_reason, capacity,
			 "lake.proxy: expected http://HOST:PORT; set user and password "
			 "with lake.proxy-user and lake.proxy-password-file");
	else if (strncasecmp(access->url, "http:", strlen("http:")) == 0 &&
		 url_check(access->proxy, insecure_http, ignored, sizeof(ignored)) < 0)
		snprintf(ret_reason, capacity,
			 "lake.proxy: would receive the password and all data in "
			 "clear text, because lake.url is http: use https://, or set lake.insecure-http: true");
	else
		return 0;
	return -EINVAL;
}

/* The name becomes part of SQL statements. */
static bool is_database(const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return size > 0 && size <= 64 && !isdigit((unsigned char)name[0]);
}

int access_check(const struct access *access, char *ret_reason, size_t capacity)
{
	bool insecure_http = strcmp(access->insecure_http, "true") == 0;
	const char *fault = NULL;

	if (url_check(access->url, insecure_http, ret_reason, capacity) < 0 ||
	    (access->proxy[0] && proxy_check(access, insecure_http, ret_reason, capacity) < 0))
		return -EINVAL;
	if (!is_database(access->database))
		fault = "lake.database: expected at most 64 letters, digits and _, not beginning with a digit";
	else if (access->password_file[0] && !access->user[0])
		fault = "lake.password-file: requires lake.user";
	else if (access->password_file[0] && access->token_file[0])
		fault = "lake: password-file and token-file are mutually exclusive";
	else if (!access->certificate_file[0] != !access->key_file[0])
		fault = "lake: certificate-file and key-file require each other";
	if (fault)
		snprintf(ret_reason, capacity, "%s", fault);
	return fault ? -EINVAL : 0;
}

/* ---- a request ----------------------------------------------------------------- */

/* Returns NULL if not set. */
static const char *text_of(const char *text)
{
	return text[0] ? text : NULL;
}

static int secret_apply(CURL *easy, CURLoption option, const char *name, char *ret_reason, size_t capacity)
{
	struct secret_file secret;
	int error;

	if (!name[0])
		return 0;
	error = secret_file_read(name, &secret, ret_reason, capacity);
	if (error == 0)
		curl_easy_setopt(easy, option, secret.text);
	secret_file_wipe(&secret);
	return error;
}

/* Sets the credentials for the lake and for a proxy. */
static int identity_apply(const struct access *access, CURL *easy, char *ret_reason, size_t capacity)
{
	const struct {
		CURLoption option;
		const char *name;
	} secrets[] = {
		{CURLOPT_PASSWORD, access->password_file},
		{CURLOPT_XOAUTH2_BEARER, access->token_file},
		{CURLOPT_PROXYPASSWORD, access->proxy_password_file},
	};
	int error = 0;

	curl_easy_setopt(easy, CURLOPT_HTTPAUTH, access->token_file[0] ? (long)CURLAUTH_BEARER : (long)CURLAUTH_BASIC);
	if (!access->token_file[0] && access->user[0]) {
		curl_easy_setopt(easy, CURLOPT_USERNAME, access->user);
		curl_easy_setopt(easy, CURLOPT_PASSWORD, "");
	}
	curl_easy_setopt(easy, CURLOPT_SSLCERT, text_of(access->certificate_file));
	curl_easy_setopt(easy, CURLOPT_SSLKEY, text_of(access->key_file));
	curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, text_of(access->proxy_user));
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]) && error == 0; i++)
		error = secret_apply(easy, secrets[i].option, secrets[i].name, ret_reason, capacity);
	return error;
}

/* A distribution's libcurl knows the certificate authorities of its host. A static one (deploy/portable) does not:
 * it gets the first of these files that exists; without any of them no certificate is trusted. */
static void authorities_find(CURL *easy)
{
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Alpine, Arch */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* RHEL, Fedora, Amazon Linux */
		"/etc/ssl/ca-bundle.pem",             /* SUSE */
	};
	const char *known = NULL;

	if (curl_easy_getinfo(easy, CURLINFO_CAINFO, &known) == CURLE_OK && known)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (access(files[i], R_OK) == 0) {
			curl_easy_setopt(easy, CURLOPT_CAINFO, files[i]);
			curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, files[i]);
			return;
		}
	}
}

int access_apply(const struct access *access, CURL *easy, char *ret_reason, size_t capacity)
{
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	/* After a timeout, do not wait for unresponsive name servers: that may take minutes. */
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	authorities_find(easy);
	if (access && access->ca_file[0]) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, access->ca_file);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(easy, CURLOPT_PROXY, access ? access->proxy : ""); /* empty: ignore that of the environment */
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");                        /* and its exceptions */
	return access ? identity_apply(access, easy, ret_reason, capacity) : 0;
}
