"""Loads a host's store into a lake as docs/shipping.md describes, without the shipper, for tests of
the lake itself. The rows and their form are those of common/store/entities/*.sql."""

import hashlib
import json
import pathlib
import sqlite3

ENTITIES = pathlib.Path(__file__).resolve().parents[2] / "common/store/entities"
BATCH_ROWS = 50000


def value(data):
    if isinstance(data, bytes):
        return [part.decode(errors="backslashreplace") for part in data.split(b"\0")[:-1]]
    return data


def rows_of(store, entity, version):
    """Rows of an entity as dictionaries, including `version`."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    connection.text_factory = lambda data: data.decode(errors="backslashreplace")
    cursor = connection.execute((ENTITIES / f"{entity}.sql").read_text(), {"cursor": -1, "limit": -1})
    names = [name for name, *_ in cursor.description]
    for row in cursor:
        found = dict(zip(names, map(value, row)))
        yield found | {"version": version << 40 | found["rev"]}
    connection.close()


def entities():
    return sorted(path.stem for path in ENTITIES.glob("*.sql"))


def insert(lake, entity, rows):
    """Inserts one batch, as one host sends it."""
    body = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    lake.query(f"INSERT INTO tracer.{entity}_rows FORMAT JSONEachRow", user="shipper", body=body, async_insert=0,
               insert_deduplication_token=hashlib.sha256(body).hexdigest())
    return len(body)


def load(lake, store, version=1, change=lambda entity, row: row):
    """Loads everything in a store. Returns the number of rows."""
    count = 0
    for entity in entities():
        batch = []
        for row in rows_of(store, entity, version):
            batch.append(change(entity, row))
            count += 1
            if len(batch) == BATCH_ROWS:
                insert(lake, entity, batch)
                batch = []
        if batch:
            insert(lake, entity, batch)
    return count


def on_another_host(number, late_ns=0, cluster=None):
    """A store's rows as from another host: all ids differ, the run key does not."""

    def change(entity, row):
        row = dict(row)
        for name in row:
            if (name == "id" or name.endswith("_id")) and name not in ("user_id", "exec_id", "boot_id") and row[name]:
                row[name] ^= number << 8
            if name == "started_unix_ns":
                row[name] += late_ns
        if entity == "hosts":
            row |= {"hostname": f"host-{number}", "cluster": cluster, "cloud_provider": "aws", "cloud_instance_id": f"i-{number}"}
        if entity == "runs":
            row["run_key"] = "slurm:42" if row["engine"] else None
        if entity in ("tasks", "tools", "runs", "processes"):  # another boot clock
            row["begin_boot_ns"] += number * 10**12
            row["end_boot_ns"] = row["end_boot_ns"] and row["end_boot_ns"] + number * 10**12
        if entity == "samples":
            row["boot_ns"] += number * 10**12
        return row

    return change
