/* Iterators that can be read once all privileges are dropped.
 *
 * Since Linux 5.19 a process that holds a link may create them (BPF_ITER_CREATE). Before, that takes CAP_BPF, but a pinned
 * link is a file, and opening it creates an iterator.
 */
#pragma once

#include <stdbool.h>

bool iterator_needs_file(int link);

/* Returns a descriptor of the file of a link, or a negative errno: -ENODEV if `directory` is not in a BPF filesystem.
 * The file is opened through /proc/self/fd, and has no name any more: only this process can open it. */
int iterator_file(int link, const char *directory);
