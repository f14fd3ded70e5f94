/* See output_file.h. */
#include "cli/screen/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/screen/output.h"
#include "cli/verb.h"

int output_file_open(struct output_file *target, const char *verb, const char *path)
{
	mode_t mask;
	int fd;

	*target = (struct output_file){.file = stdout, .path = path};
	if (!path)
		return 0;
	if (asprintf(&target->temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkstemp(target->temporary);
	umask(mask = umask(0));
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask); /* as for any new file */
	target->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (target->file)
		return 0;
	say("tracer %s: cannot write to %s: %s", verb, path, strerror(errno));
	free(target->temporary);
	return VERB_FAILED;
}

int output_file_close(struct output_file *target, const char *verb, int error)
{
	if (!target->temporary)
		return error; /* main() checks standard output */
	if (ferror(target->file) | fclose(target->file) || (error == 0 && rename(target->temporary, target->path) < 0))
		error = error ? error : say("tracer %s: cannot write %s: %s", verb, target->path, strerror(errno));
	if (error)
		unlink(target->temporary);
	free(target->temporary);
	return error;
}
