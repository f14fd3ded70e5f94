/* A real ClickHouse for the tests: the command line of its engine as a library.
 *
 * libchdb.so is clickhouse-local, which opens listeners on request of a query
 * (SYSTEM START LISTEN). tests/lake/lake.py builds this and writes its configuration.
 */
int chdb_query_cmdline(int argc, char **argv);

int main(int argc, char **argv)
{
	return chdb_query_cmdline(argc, argv);
}
