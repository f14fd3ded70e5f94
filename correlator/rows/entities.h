/* The tables of all fields of the entities that are stored: see fields.h. */
#pragma once

#include "correlator/rows/fields.h"

extern const struct field container_columns[], run_columns[], task_columns[], task_figure_columns[], tool_columns[],
	tool_tally_columns[], image_columns[];

/* That of a task includes its groups and their tools, that of a process its image. */
extern const struct field host_state[], container_state[], run_state[], task_state[], process_state[];

extern const char *const outcome_words[];
