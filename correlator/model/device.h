/* GPU devices that a process holds open. */
#pragma once

#include "correlator/record/event.h"

struct model;
struct image;

/* Adds a device; at most 256 bytes of names are kept per image. */
void device_add(struct model *model, struct image *image, uint64_t major, uint64_t minor);
