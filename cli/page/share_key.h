/* The key of pseudonyms in pages for others (analysis/report/share.h): ~/.local/state/tracer/share.key. */
#pragma once

/* Reads the key, or makes one. Returns 0 or, after printing an error, VERB_FAILED. */
int share_key_load(const char *verb);
