/* Rows of tables that have another order or partition than this release's, moved into new ones.
 *
 * The table of before steps aside under another name, the new one takes what hosts send from then on,
 * and the rows follow it, some hosts at a time. The old table's comment
 * records how far that is, so that an interrupted migration resumes there; rows that are copied twice
 * are the same rows. There are no views until all rows are moved: no question is answered in part.
 */
#ifndef TRACER_CLI_LAKE_MOVE_H
#define TRACER_CLI_LAKE_MOVE_H

#include "cli/lake_schema.h"

/* Tables of the old form step aside; what makes the new ones comes next. 0 or -errno. */
int lake_move_begin(struct lake_client *client, enum lake_layout layout);

/* Copies all that stepped aside, now or before an interruption, and removes it. 0 or -errno. */
int lake_move_finish(struct lake_client *client, enum lake_layout layout);

#endif
