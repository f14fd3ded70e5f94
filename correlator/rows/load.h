/* Loading of the saved model, which continues where it stopped. */
#pragma once

struct model;

/* Returns 0 or -errno. */
int load_model(struct model *model);
