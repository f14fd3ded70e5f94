/* Loading of the saved model, so that it continues where it stopped. */
#pragma once

struct model;

/* Returns 0 or -errno. */
int load_model(struct model *model);
