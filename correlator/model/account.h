/* What the processes of one user take of the correlator's memory, so that they do not take it from those of others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

/* Running processes of one user, other than root. At up to 4 KB each, two users fit into what the service may take before
 * it is slowed down. */
#define PROCESSES_OF_USER_MAX 32768

struct account {
	uint32_t user_id;
	size_t command_bytes;   /* of all its commands */
	unsigned process_count; /* that run, or were found and wait to be placed */
	bool was_full;          /* this was logged */
	struct account **accounts;
	UT_hash_handle hh;
};

/* Returns the account of a user, NULL if out of memory. It lasts until it is released with nothing charged to it. */
struct account *account_get(struct account **accounts, uint32_t user_id);
void account_release(struct account *account);
/* Charges a running process to a user. Returns its account, NULL if out of memory. */
struct account *account_charge_process(struct account **accounts, uint32_t user_id);
/* Sets `*account`, which may be NULL, to NULL. */
void account_discharge_process(struct account **account);
/* Whether another process may be charged to the user. Logged the first time that it may not. */
bool account_has_room(struct account *accounts, uint32_t user_id);
