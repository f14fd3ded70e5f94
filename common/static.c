/* A static program looks up users, groups and hosts in files and by DNS alone, whatever /etc/nsswitch.conf says.
 * The C library would load the host's modules (sss, systemd, ldap) for the rest, and with them the host's own C
 * library, which fits only if it is of the same release. So users of a directory service are shown by number. */
#include <nss.h>

static void __attribute__((constructor)) lookups_restrict(void)
{
	static const struct {
		const char *database, *services;
	} lookups[] = {
		{"passwd", "files"},    {"group", "files"},    {"initgroups", "files"},
		{"hosts", "files dns"}, {"services", "files"},
	};

	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++)
		__nss_configure_lookup(lookups[i].database, lookups[i].services);
}
