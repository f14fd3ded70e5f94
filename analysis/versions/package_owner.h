/* The package that owns a file. */
#pragma once

struct package_owner {
	const char *manager;             /* dpkg, rpm, conda */
	char package[256], version[128]; /* the version of the software: without epoch and revision */
};
