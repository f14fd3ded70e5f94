/* Prints a store in its canonical form (store_dump), for tests that compare stores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/dump.h"

int main(int argc, char **argv)
{
	struct store_error error;
	struct store *store;
	int r;

	if (argc != 2) {
		fputs("usage: store_dump STORE\n", stderr);
		return 2;
	}
	if (store_open_reader(argv[1], &store, &error) < 0) {
		fprintf(stderr, "store_dump: %s\n", error.text);
		return EXIT_FAILURE;
	}
	r = store_dump(store, stdout);
	if (r < 0)
		fprintf(stderr, "store_dump: %s\n", strerror(-r));
	store_close(store);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
