/* The database of `tracer run --store FILE`. See keep.h. */
#include "cli/keep.h"

#include <sys/stat.h>

#include "cli/output.h"
#include "query/ask.h"

static int refuse(const char *words, int error)
{
	say("tracer run: --store: %s", words);
	return error;
}

int keep_begin(struct keep *keep, const char *path, const struct user *user)
{
	struct user_saved saved;
	struct store_error text;
	mode_t mask;
	int error;

	*keep = (struct keep){.path = path, .user = user};
	if (!path)
		return 0;
	error = user_enter(user, &saved);
	if (error < 0)
		return refuse("cannot become the user whose file it is", error);
	mask = umask(0077);
	error = store_open_writer(path, &keep->store, &text);
	umask(mask);
	user_leave(user, &saved);
	return error < 0 ? refuse(text.text, error) : 0;
}

int keep_run(struct keep *keep, struct store *from, const struct row_run *run)
{
	struct user_saved saved;
	int error = user_enter(keep->user, &saved);

	if (error < 0)
		return refuse("cannot become the user whose file it is", error);
	error = store_copy_run(keep->store, from, run, query_ask);
	if (error == 0)
		error = store_settle(keep->store);
	user_leave(keep->user, &saved);
	return error < 0 ? refuse(store_error_text(keep->store), error) : 0;
}

void keep_end(struct keep *keep)
{
	struct user_saved saved;

	if (!keep->store || user_enter(keep->user, &saved) < 0)
		return;
	store_close(keep->store);
	keep->store = NULL;
	user_leave(keep->user, &saved);
}
