/* Loading what was remembered: the model goes on where it was. */
#pragma once

struct model;

/* 0 or -errno. */
int load_model(struct model *model);
