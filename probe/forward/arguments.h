/* Arguments of processes that started before the probe, read from /proc by a separate process.
 *
 * Reading the memory of another process may block forever: whatever provides one of its pages (a
 * FUSE server, for example) may never answer. So neither the BPF programs nor the probe read it:
 * the probe asks a reader, for which /proc reads anonymous memory only. What may block even that
 * (the owner's lock on its memory) is interrupted by a signal: the reader is killed by its own
 * timer and replaced, and the arguments of that process are unknown.
 */
#pragma once

#include <stddef.h>

#include "bpf/record.h"

/* The reader: answers requests on the socket `fd` (SOCK_SEQPACKET) until the other end is closed. */
void arguments_serve(int fd);

/* Reads the arguments of a running process, each NUL-terminated, into `argv` of RECORD_ARGV_MAX bytes;
 * sets `*ret_flags` to RECORD_ARGV_TRUNCATED if there are more. Returns their size, or 0 if they are
 * not available. Takes at most ARGUMENTS_WAIT_MS. */
size_t arguments_read(int fd, const struct image_key *image, char *argv, uint32_t *ret_flags);

#define ARGUMENTS_WAIT_MS 200
