/* What a process is: the rules' verdict on its command line and its ancestors'. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct placing;

void classify(struct model *model, struct process *process, struct rules_verdict *ret_verdict);
/* What a child is that only forked. */
void classify_inherited(const struct process *process, struct rules_verdict *ret);
/* Whether a shell is called after the script it runs: "bash" and "bash -c" are not. */
bool classify_names_script(const struct process *process, const struct rules_verdict *verdict);
/* Helpers and components open no task and are no reason for one. */
bool classify_opens_subtree(const struct placing *placing);
