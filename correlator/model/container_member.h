/* Which container a process is in, and what its processes show of a container. */
#pragma once

struct container;
struct image;
struct model;
struct process;

/* Returns NULL if it is in none. */
struct container *container_of_process(struct model *model, const struct process *process);
/* Updates its container from `image`, which has just begun in it. */
void container_note_image(struct model *model, const struct image *image);
