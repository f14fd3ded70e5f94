/* The page of a run: one file of HTML that shows it (docs/page.md). */
#pragma once

#include "web/spans.h"

/* Whether this build has the page: false with -Dweb=disabled. */
bool web_page_is_available(void);

/* Writes the page; takes `facts` (docs/page.md) and completes them. Returns 0, -ENOMEM, the store's error, or -ENOSYS if
 * there is no page in this build; check ferror(). */
int web_page_write(FILE *file, const struct web_spans_request *request, json_t *facts);

/* Writes the data of the page alone, as a zlib stream. As web_page_write(). */
int web_page_data_write(FILE *file, const struct web_spans_request *request, json_t *facts);
