/* Classification of processes, by their command lines and those of their ancestors. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;

void classify(struct model *model, struct process *process, struct rules_class *ret_class);
/* Classifies a child that forked and has not executed anything. */
void classify_inherited(const struct process *process, struct rules_class *ret);
/* Whether a shell is named after the script it runs; "bash" and "bash -c" are not. */
bool classify_names_script(const struct process *process, const struct rules_class *class);
