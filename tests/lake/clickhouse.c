/* A real ClickHouse for the tests: the command line of its engine as a library.
 *
 * libchdb.so is clickhouse-local, which opens listeners on request of a query
 * (SYSTEM START LISTEN). tests/lake/lake.py builds this and writes its configuration.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

int chdb_query_cmdline(int argc, char **argv);

/* A node that cancels its part of a query on another one resets that connection. A server logs it; clickhouse-local
 * ends with any error of a thread (KillingErrorHandler). So a reset is an end here. */
ssize_t recv(int socket, void *buffer, size_t size, int flags)
{
	ssize_t received = recvfrom(socket, buffer, size, flags, NULL, NULL);

	return received < 0 && errno == ECONNRESET ? 0 : received;
}

int main(int argc, char **argv)
{
	return chdb_query_cmdline(argc, argv);
}
