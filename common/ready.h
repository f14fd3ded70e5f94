/* Readiness notification: one byte written to a descriptor that the program inherited
 * (--ready-fd).
 */
#pragma once

/* Writes '1' to `*fd`, closes it and sets it to -1. Does nothing if it is already negative. */
void ready_tell(int *fd);
