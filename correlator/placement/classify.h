/* Classification of processes: the rules' verdict on a command line and those of its ancestors. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct placing;

void classify(struct model *model, struct process *process, struct rules_verdict *ret_verdict);
/* Classifies a child that forked and has not executed anything. */
void classify_inherited(const struct process *process, struct rules_verdict *ret);
/* Whether a shell is named after the script it runs; "bash" and "bash -c" are not. */
bool classify_names_script(const struct process *process, const struct rules_verdict *verdict);
/* Helpers and components neither open a task nor count as subtrees. */
bool classify_opens_subtree(const struct placing *placing);
