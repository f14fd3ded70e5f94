#!/usr/bin/env python3
"""Permissions of the users in datalake/users.d/tracer.xml, and that the harness's server is
durable: what it acknowledged survives kill -9.

usage: check_users.py [NAME...]
"""

import sys

sys.dont_write_bytecode = True
from checks import refused, run, same  # noqa: E402

DENIED = "Not enough privileges"
FIXED = "should not be changed"


def make_table(lake):
    lake.query("CREATE DATABASE IF NOT EXISTS tracer", user="migrator")
    lake.query("CREATE TABLE IF NOT EXISTS tracer.facts (id Int64, rev Int64)"
               " ENGINE = ReplacingMergeTree(rev) ORDER BY id"
               " SETTINGS non_replicated_deduplication_window = 100", user="migrator")


def insert(lake, rows, **settings):
    lake.query("INSERT INTO tracer.facts FORMAT JSONEachRow", body=rows, user="shipper", **settings)


def test_shipper_inserts_and_nothing_else(lake):
    make_table(lake)
    insert(lake, b'{"id":1,"rev":1,"of_a_later_release":3}\n')
    for sql in ("SELECT * FROM tracer.facts", "DROP TABLE tracer.facts", "TRUNCATE TABLE tracer.facts",
                "ALTER TABLE tracer.facts DELETE WHERE 1", "CREATE TABLE tracer.more (id Int8) ENGINE = Memory",
                "SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a Int8')",
                "SELECT * FROM file('/etc/passwd', 'LineAsString')",
                "INSERT INTO FUNCTION file('/tmp/x', 'CSV') SELECT 1"):
        refused(lake, DENIED, sql, user="shipper")


def test_shipper_cannot_ask_for_a_queue(lake):
    refused(lake, FIXED, "SELECT 1", user="shipper", async_insert=1)


def test_analyst_reads_and_nothing_else(lake):
    make_table(lake)
    lake.query("SELECT * FROM tracer.facts", user="analyst")
    for sql in ("INSERT INTO tracer.facts VALUES (1, 1)", "DROP TABLE tracer.facts",
                "SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a Int8')",
                "SELECT * FROM file('/etc/passwd', 'LineAsString')"):
        refused(lake, DENIED, sql, user="analyst")


def test_analyst_keeps_the_settings_and_limits(lake):
    for setting, value in (("join_use_nulls", 0), ("union_default_mode", "ALL"),
                           ("aggregate_functions_null_for_empty", 0),
                           ("prefer_column_name_to_alias", 0), ("cast_keep_nullable", 0)):
        refused(lake, FIXED, "SELECT 1", user="analyst", **{setting: value})
    refused(lake, "shouldn't be greater", "SELECT 1", user="analyst", max_execution_time=100000)
    refused(lake, "shouldn't be greater", "SELECT 1", user="analyst", max_memory_usage=20 * 10**9)
    for limit in ("max_memory_usage_for_user", "max_concurrent_queries_for_user"):
        refused(lake, FIXED, "SELECT 1", user="analyst", **{limit: 10**11})
    same("a limit of one's own", lake.value("SELECT 1", user="analyst", max_execution_time=5), "1")
    same("an empty sum", lake.value("SELECT sum(number) FROM numbers(0)", user="analyst"), r"\N")


def test_migrator_has_the_database_and_no_other(lake):
    make_table(lake)
    for sql in ("CREATE DATABASE other", "CREATE USER mallory", "SELECT * FROM file('/etc/passwd', 'LineAsString')"):
        refused(lake, DENIED, sql, user="migrator")


def test_wrong_password(lake):
    refused(lake, "Authentication failed", "SELECT 1", user="nobody")


def test_acknowledged_rows_outlive_kill(lake):
    make_table(lake)
    insert(lake, b'{"id":7,"rev":1}\n', insert_deduplication_token="a")
    lake.kill()
    lake.start()
    insert(lake, b'{"id":8,"rev":1}\n', insert_deduplication_token="a")
    same("rows, the same token not taken twice",
         lake.rows("SELECT id FROM tracer.facts WHERE id IN (7, 8)"), [["7"]])
    lake.stop()
    lake.start()
    same("rows after an ordered stop", lake.rows("SELECT id FROM tracer.facts WHERE id = 7"), [["7"]])


if __name__ == "__main__":
    sys.exit(run("lake users", globals(), sys.argv[1:]))
