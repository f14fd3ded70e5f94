/* See print.h. */
#include "common/print.h"

#include <errno.h>
#include <string.h>

#include "common/log.h"

int print_finish(FILE *file)
{
	int error = 0;

	if (fflush(file) != 0)
		error = -errno;
	else if (ferror(file))
		error = -EIO;
	if (error < 0 && error != -EPIPE)
		log_error("cannot write the output: %s", strerror(-error));
	return error;
}
