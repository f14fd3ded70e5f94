/* How a program tells whoever started it that it is at work: one byte to a descriptor that it
 * was given (--ready-fd).
 */
#pragma once

/* Writes '1' to `*fd`, closes it and sets it to -1. Nothing where it is -1 already. */
void ready_tell(int *fd);
