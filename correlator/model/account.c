/* See account.h. */
#include "correlator/model/account.h"

#include <stdlib.h>

#include "common/log.h"

struct account *account_get(struct account **accounts, uint32_t user_id)
{
	struct account *account;

	HASH_FIND(hh, *accounts, &user_id, sizeof(user_id), account);
	if (account)
		return account;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	account->user_id = user_id;
	account->accounts = accounts;
	HASH_ADD(hh, *accounts, user_id, sizeof(user_id), account);
	return account;
}

void account_release(struct account *account)
{
	if (account->command_bytes || account->process_count)
		return;
	HASH_DELETE(hh, *account->accounts, account);
	free(account);
}

struct account *account_charge_process(struct account **accounts, uint32_t user_id)
{
	struct account *account = account_get(accounts, user_id);

	if (account)
		account->process_count++;
	return account;
}

void account_discharge_process(struct account **account)
{
	if (!*account)
		return;
	(*account)->process_count--;
	account_release(*account);
	*account = NULL;
}

bool account_has_room(struct account *accounts, uint32_t user_id)
{
	struct account *account;

	if (user_id == 0)
		return true;
	HASH_FIND(hh, accounts, &user_id, sizeof(user_id), account);
	if (!account || account->process_count < PROCESSES_OF_USER_MAX)
		return true;
	if (!account->was_full)
		log_warning("user %u has %u running processes: further ones are not recorded", user_id,
			    account->process_count);
	account->was_full = true;
	return false;
}
