"""What software ran, in a store: for tests of exports that name versions."""

COPY = "INSERT INTO {0} ({1}) SELECT {2} FROM {0} WHERE id = ?"


def copied(store, table, row, **changes):
    """Adds a copy of a row, but for some columns. Returns its id."""
    columns = [name for _, name, *_ in store.execute(f"PRAGMA table_info({table})")]
    changes.setdefault("id", store.execute(f"SELECT max(id) + 1 FROM {table}").fetchone()[0])
    store.execute(COPY.format(table, ", ".join(columns), ", ".join("?" if name in changes else name for name in columns)),
                  [*(changes[name] for name in columns if name in changes), row])
    return changes["id"]


def processes(store, task):
    """Processes of samtools in the tasks of that name, and their images."""
    return store.execute("SELECT id, image_id, begin_boot_ns FROM process_rows WHERE image_id IN (SELECT id FROM images"
                         " WHERE program = 'samtools') AND tool_id IN (SELECT t.id FROM tools t JOIN tasks k"
                         " ON k.id = t.task_id WHERE k.name = ?) ORDER BY begin_boot_ns", (task,)).fetchall()


def give_versions(store):
    """Programs of the recording `snakemake` get paths and containers that name versions."""
    store.execute("UPDATE images SET path = '/opt/apps/bwa/0.7.17/bin/bwa' WHERE program = 'bwa'")
    # One of three executes another samtools.
    process, image, _ = processes(store, "samtools stats")[0]
    other = copied(store, "images", image, path="/opt/conda/pkgs/samtools-1.20-h50ea8bc_0/bin/samtools")
    store.execute("UPDATE process_rows SET image_id = ? WHERE id = ?", (other, process))
    # One is in an image that Apptainer runs.
    process, image, begin = processes(store, "samtools flagstat")[0]
    client = copied(store, "images", image, role="wrapper", program="singularity", path="/usr/bin/singularity")
    copied(store, "process_rows", process, image_id=client, begin_boot_ns=begin - 1, arguments=b"singularity\0exec\0--pid\0-B\0/w"
           b"\0/c/depot.galaxyproject.org-singularity-samtools-1.19--h50ea8bc_0.img\0/bin/bash\0-c\0x\0")
    # wgsim is in a container whose client named the image.
    store.execute("INSERT INTO containers (id, rev, host_id, runtime, runtime_id, cgroup_path, run_id, begin_boot_ns,"
                  " started_unix_ns, image) SELECT 1, 1, host_id, 'docker', 'x', '/docker/x', id, begin_boot_ns,"
                  " started_unix_ns, 'quay.io/biocontainers/wgsim:1.10--h00cdaf9_0' FROM runs"
                  " WHERE engine = 'snakemake'")
    store.execute("UPDATE process_rows SET container_id = 1 WHERE image_id IN (SELECT id FROM images"
                  " WHERE program = 'wgsim')")
