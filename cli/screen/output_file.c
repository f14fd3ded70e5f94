/* See output_file.h. */
#include "cli/screen/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/screen/output.h"
#include "cli/verb.h"

/* Opens a new file beside the one at `path`. Returns NULL and sets errno if it cannot. */
static FILE *temporary_open(struct output_file *target, const char *path)
{
	mode_t mask;
	int fd;

	if (asprintf(&target->temporary, "%s.XXXXXX", path) < 0) {
		target->temporary = NULL;
		return NULL;
	}
	fd = mkstemp(target->temporary);
	umask(mask = umask(0));
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask); /* as for any new file */
	return fd < 0 ? NULL : fdopen(fd, "w");
}

/* Root must not replace /dev/null or /dev/stdout by a file, nor write where another user's link leads. */
static FILE *target_open(struct output_file *target, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return fopen(path, "we");
	if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
		errno = ELOOP;
		return NULL;
	}
	return temporary_open(target, path);
}

int output_file_open(struct output_file *target, const char *verb, const char *path)
{
	*target = (struct output_file){.file = stdout, .path = path};
	if (!path)
		return 0;
	target->file = target_open(target, path);
	if (target->file)
		return 0;
	say("tracer %s: cannot write to %s: %s", verb, path, strerror(errno));
	free(target->temporary);
	return VERB_FAILED;
}

int output_file_close(struct output_file *target, const char *verb, int error)
{
	if (!target->path)
		return error; /* main() checks standard output */
	if (ferror(target->file) | fclose(target->file) ||
	    (error == 0 && target->temporary && rename(target->temporary, target->path) < 0))
		error = error ? error : say("tracer %s: cannot write %s: %s", verb, target->path, strerror(errno));
	if (error && target->temporary)
		unlink(target->temporary);
	free(target->temporary);
	return error;
}
