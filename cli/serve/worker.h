/* The process that computes one answer. See answers.h. */
#pragma once

#include <sys/types.h>

#include "cli/serve/scope.h"
#include "cli/serve/routes.h"

/* Exit status beyond those of verbs (cli/verb.h): the store or the lake cannot be read. */
#define WORKER_NO_STORE 3

/* Starts a child that writes its answer and its errors to these descriptors. Returns its pid or -errno. */
pid_t worker_start(const struct route_command *command, const struct scope *scope, int output, int errors);
