/* Arguments of processes that ran before the probe did, read from /proc by a process of its own.
 *
 * Memory of another process may take for ever to read: whoever provides a page of it (a FUSE
 * server, say) may never answer. So no program in the kernel reads it, and the probe does not
 * either: it asks a reader, which /proc serves only from memory that is anonymous. What may hold
 * up even that (the owner's lock on its memory) ends with a signal: the reader is killed by its
 * own timer, another one takes its place, and the arguments of that process are unknown.
 */
#pragma once

#include <stddef.h>

#include "bpf/record.h"

/* The reader's side: answers on the socket `fd` (SOCK_SEQPACKET) until the other end is closed. */
void arguments_serve(int fd);

/* The arguments of a running process, each ended by NUL, in `argv` of RECORD_ARGV_MAX bytes;
 * `*ret_flags` is RECORD_ARGV_TRUNCATED where there are more of them. 0: not to be had. Takes
 * at most ARGUMENTS_WAIT_MS. */
size_t arguments_read(int fd, const struct image_key *image, char *argv, uint32_t *ret_flags);

#define ARGUMENTS_WAIT_MS 200
