/* The description of the API as OpenAPI 3.1, from the routes, the options of verbs and the headers of questions. */
#pragma once

/* Prints it. Returns 0 or -errno. */
int openapi_print(void);
