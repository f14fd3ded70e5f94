/* Loading what was remembered: the model goes on where it was. */
#ifndef TRACER_CORRELATOR_LOAD_H
#define TRACER_CORRELATOR_LOAD_H

struct model;

/* 0 or -errno. */
int load_model(struct model *model);

#endif
