-- In the lake, tables are partitioned by month (datalake/generate); no table of the store changes for that.
--
-- The state of running entities is kept in their rows and, beyond these, by name: see
-- correlator/rows/fields.h. Of the previous release's state, in a binary format, only the host's is kept.

-- State of an entity that its row does not hold, needed by the correlator to continue after a restart.
-- Private to the correlator: no other reader, not shipped.
CREATE TABLE states (
  id                INTEGER NOT NULL PRIMARY KEY, -- id; id of the run, task or container, for a process an id that no exec changes, for the host 0; derived
  entity            TEXT NOT NULL, -- text; host, container, run, task, process; correlator
  image_id          INTEGER, -- id; processes.id of the current image of a process, NULL: it has no row; model
  state             BLOB NOT NULL -- msgpack; state that no column holds, by name; correlator/rows/entities.c
) STRICT;

INSERT INTO states (id, entity, state)
SELECT 0, 'host', CAST(x'82AA' || 'generation' ||
         ifnull((SELECT substr(state, -1) FROM checkpoints WHERE process_id = -1), x'00') ||
         x'A6' || 'losses' ||
         ifnull((SELECT substr(state, 41) FROM checkpoints WHERE process_id = 0 AND substr(state, 3, 2) = x'C424'),
                x'C400') AS BLOB)
 WHERE EXISTS (SELECT 1 FROM checkpoints);
DROP TABLE checkpoints;
