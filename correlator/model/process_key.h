/* What identifies a process of a boot: a pid may be used again, but not with the same start. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct process_key {
	uint64_t start_boot_ns;
	uint64_t pid;
};

static inline bool process_key_is(const struct process_key *key, const struct process_key *other)
{
	return key->pid == other->pid && key->start_boot_ns == other->start_boot_ns;
}
