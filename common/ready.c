/* See ready.h. */
#include "common/ready.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

void ready_tell(int *fd)
{
	if (*fd < 0)
		return;
	if (write(*fd, "1", 1) != 1)
		log_warning("cannot write to --ready-fd: %s", strerror(errno));
	close(*fd);
	*fd = -1;
}
