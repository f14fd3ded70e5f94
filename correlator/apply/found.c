/* See found.h. */
#include "correlator/apply/found.h"

#include "correlator/apply/change.h"
#include "correlator/apply/state.h"
#include "correlator/incidents/loss.h"
#include "correlator/model/account.h"
#include "correlator/model/command.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/placement/place.h"
#include "correlator/placement/placing.h"

/* If a process is younger than FOUND_YOUNG_NS when a scan sees it, its fork and exec may still be
 * in the ring with timestamps slightly after the sample: an exec takes effect before its
 * tracepoint runs, and processors do not reserve ring space in the order of their clocks. */
#define FOUND_YOUNG_NS (500 * 1000 * 1000)
#define FOUND_SETTLE_NS (100 * 1000 * 1000)

/* A process that a scan found running, not yet placed because its parent may follow. */
struct found {
	struct process_key key;
	struct record_exec sample; /* the latest; its text is in: */
	struct command *command;
	struct account *account; /* of its user */
	struct found *next;      /* in the line being placed, topmost ancestor first */
	struct found_block *block;
	UT_hash_handle hh;
};

/* So many are allocated, and freed, at once: each for itself would leave a gap beside its command, which stays. */
#define FOUND_BLOCK_COUNT 128

struct found_block {
	unsigned used_count, waiting_count; /* of these, not yet placed */
	struct found item[FOUND_BLOCK_COUNT];
};

static struct found *found_new(struct model *model)
{
	struct found_block **block = &model->apply->found_block;
	struct found *found;

	if (!*block || (*block)->used_count == FOUND_BLOCK_COUNT)
		*block = model_alloc(model, sizeof(**block));
	if (!*block)
		return NULL;
	found = &(*block)->item[(*block)->used_count++];
	found->block = *block;
	found->block->waiting_count++;
	return found;
}

/* `found` is in the table no longer. */
static void found_drop(struct model *model, struct found *found)
{
	struct found_block *block = found->block;

	account_discharge_process(&found->account);
	command_unref(found->command);
	found->command = NULL;
	if (--block->waiting_count > 0)
		return;
	if (model->apply->found_block == block)
		model->apply->found_block = NULL;
	free(block);
}

void found_free(struct model *model, struct found *found)
{
	HASH_DELETE(hh, model->apply->found, found);
	found_drop(model, found);
}

void found_free_all(struct model *model)
{
	while (model->apply->found)
		found_free(model, model->apply->found);
}

struct found *found_find(struct model *model, const struct image_key *image)
{
	const struct process_key key = process_key_of(image);
	struct found *found;

	HASH_FIND(hh, model->apply->found, &key, sizeof(key), found);
	return found;
}

/* Returns `found` and its ancestors that were found too, linked by `next`, topmost first. All of
 * them are removed from the table, so a forged cycle of parents terminates. */
static struct found *take_line(struct model *model, struct found *found)
{
	struct found *line = NULL;

	while (found) {
		HASH_DELETE(hh, model->apply->found, found);
		found->next = line;
		line = found;
		found = found_find(model, &found->sample.context.parent);
	}
	return line;
}

/* Places a found process whose parent is placed or unknown. */
static struct process *found_place_one(struct model *model, struct found *found)
{
	const struct record_header *header = &found->sample.header;
	const struct record_context *context = &found->sample.context;
	struct rules_class class;
	struct process *parent = process_find(model, process_key_of(&context->parent));
	struct process *process = process_new(model, &header->image, parent);

	if (!process)
		return NULL;
	process->account = found->account;
	found->account = NULL;
	process->parent_exec_id = context->parent.exec_id;
	change_program(model, process, found->command, context, &class);
	if (process->ignored)
		return process;
	place_full(model, process,
		   &(struct placing){
			   .class = &class, .is_found = true, .boot_ns = process->fork_boot_ns, .context = context});
	if (process->image) {
		image_update(model, process->image, &found->sample.counters, TOTALS_SAMPLE);
		image_note_sample(process->image, header->boot_ns, &process->image->totals);
	}
	return process;
}

/* Places a found process, its ancestors first. */
static struct process *found_place(struct model *model, struct found *found)
{
	struct process *process = NULL;
	struct found *line = take_line(model, found);

	while ((found = line)) {
		line = found->next;
		process = found_place_one(model, found);
		found_drop(model, found);
	}
	return process;
}

struct process *found_resolve(struct model *model, const struct image_key *key)
{
	struct process *process;
	struct found *found;

	if (key->start_boot_ns == 0)
		return NULL;
	process = process_find(model, process_key_of(key));
	if (process)
		return process;
	found = found_find(model, key);
	return found ? found_place(model, found) : NULL;
}

static int compare_found(struct found *left, struct found *right)
{
	if (left->key.start_boot_ns != right->key.start_boot_ns)
		return left->key.start_boot_ns < right->key.start_boot_ns ? -1 : 1;
	return left->key.pid < right->key.pid ? -1 : left->key.pid > right->key.pid;
}

/* Places all remaining found processes, oldest first, so that siblings are placed in start order. */
void found_place_all(struct model *model)
{
	HASH_SORT(model->apply->found, compare_found);
	while (model->apply->found && !model->out_of_memory)
		found_place(model, model->apply->found);
}

static void note_settle_time(struct model *model, const struct record_header *sample)
{
	bool young = sample->boot_ns < sample->image.start_boot_ns + FOUND_YOUNG_NS;
	uint64_t settle_boot_ns = sample->boot_ns + (young ? FOUND_SETTLE_NS : 0);

	if (settle_boot_ns > model->apply->found_settle_boot_ns)
		model->apply->found_settle_boot_ns = settle_boot_ns;
}

/* Samples of scans without text carry only the name of the main thread. */
static bool has_text(const struct record *record)
{
	return record->path.size || record->argv.count;
}

/* Of many children that execute the same, each shares the command of the one before: only beneath the same parent, as in
 * change_read_exec(). */
static struct command *read_command(struct model *model, const struct found *found, const struct record *record)
{
	const struct found *before = found > found->block->item ? found - 1 : NULL;
	const struct process_key parent = process_key_of(&record->exec.context.parent);
	const struct process_key other = before ? process_key_of(&before->sample.context.parent) : parent;

	if (before && before->command && process_key_is(&other, &parent) && command_is_of(before->command, record))
		return command_ref(before->command);
	return change_read_command(model, record);
}

void found_note(struct model *model, const struct record *record)
{
	const struct record_exec *sample = &record->exec;
	const struct image_key *image = &sample->header.image;
	struct found *found = found_find(model, image);

	if (!found && !account_has_room(model->accounts, sample->context.uid)) {
		if (has_text(record)) /* once for each connection, not for each scan */
			loss_note_unrecorded(model, process_find(model, process_key_of(&sample->context.parent)));
		return;
	}
	if (!found || found->sample.header.image.exec_id != image->exec_id)
		note_settle_time(model, &sample->header);
	if (!found) {
		found = found_new(model);
		if (!found)
			return;
		found->key = process_key_of(image);
		found->account = account_charge_process(&model->accounts, sample->context.uid);
		HASH_ADD(hh, model->apply->found, key, sizeof(found->key), found);
	}
	if (!found->command || found->sample.header.image.exec_id != image->exec_id || has_text(record)) {
		command_unref(found->command);
		found->command = read_command(model, found, record);
	}
	found->sample = *sample;
}

void found_complete(struct model *model, struct process *process, struct command *command)
{
	struct image *image = process->image;

	if (image->began != IMAGE_FOUND)
		return;
	command_unref(process->command);
	process->command = command_ref(command);
	command_forget_latest(&model->latest_command);
	process_set_changed(model, process);
	command_unref(image->command);
	image->command = command_ref(command);
	image_set_dirty(model, image);
}

void found_complete_sample(struct model *model, struct process *process, const struct record *record)
{
	const struct command *known = process->image->command;
	struct command *command;

	if (process->image->began != IMAGE_FOUND || !has_text(record) ||
	    (known && (known->arguments_size || (known->path[0] && !record->argv.count))))
		return;
	command = change_read_command(model, record);
	if (command)
		found_complete(model, process, command);
	command_unref(command);
}

/* Events as old as the samples may still concern found processes, whose fork or exec waited
 * in the ring during the scan. Later events cannot. */
void found_settle(struct model *model, uint64_t boot_ns)
{
	if (model->apply->found && boot_ns > model->apply->found_settle_boot_ns)
		found_place_all(model);
}
