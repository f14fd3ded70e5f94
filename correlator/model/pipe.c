/* See pipe.h. */
#include "correlator/model/pipe.h"

#include <utlist.h>

#include "correlator/model/model.h"

static struct pipe *find(struct model *model, const struct process *process, enum pipe_side side)
{
	struct pipe_key key = {.inode = process->pipe_inodes[side]};
	struct pipe *pipe = NULL;

	if (!process->parent || key.inode == 0)
		return NULL;
	key.orchestrator = process->parent->key;
	HASH_FIND(hh, model->pipes, &key, sizeof(key), pipe);
	return pipe;
}

struct pipe_end *pipe_across(struct model *model, const struct process *process, enum pipe_side side)
{
	const struct pipe *pipe = find(model, process, side);

	return pipe ? pipe->ends[!side] : NULL;
}

void pipe_open(struct model *model, struct process *process, enum pipe_side side)
{
	const uint32_t inode = process->pipe_inodes[side];
	struct pipe *pipe = find(model, process, side);
	struct pipe_end *end;

	if (!process->parent || inode == 0 || process->pipe_ends[side])
		return;
	end = model_alloc(model, sizeof(*end));
	if (!end)
		return;
	if (!pipe) {
		pipe = model_alloc(model, sizeof(*pipe));
		if (!pipe) {
			free(end);
			return;
		}
		pipe->key = (struct pipe_key){.orchestrator = process->parent->key, .inode = inode};
		HASH_ADD(hh, model->pipes, key, sizeof(pipe->key), pipe);
	}
	process->pipe_ends[side] = end;
	*end = (struct pipe_end){.pipe = pipe, .process = process};
	DL_APPEND(pipe->ends[side], end);
}

static void forget(struct model *model, struct process *process, enum pipe_side side)
{
	struct pipe_end *end = process->pipe_ends[side];
	struct pipe *pipe = end ? end->pipe : NULL;

	if (!end)
		return;
	DL_DELETE(pipe->ends[side], end);
	process->pipe_ends[side] = NULL;
	free(end);
	if (pipe->ends[PIPE_READ] || pipe->ends[PIPE_WRITTEN])
		return;
	HASH_DELETE(hh, model->pipes, pipe);
	free(pipe);
}

void pipes_forget(struct model *model, struct process *process)
{
	forget(model, process, PIPE_READ);
	forget(model, process, PIPE_WRITTEN);
}

void pipe_close(struct model *model, struct process *process, enum pipe_side side)
{
	forget(model, process, side);
	process->pipe_inodes[side] = 0;
	process_set_changed(model, process);
}
