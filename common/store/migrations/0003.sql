-- For the shipper: indexes to find new rows without a full scan, and columns for what only it
-- can query, since only it has network access.

CREATE INDEX containers_by_rev ON containers (rev);
CREATE INDEX runs_by_rev ON runs (rev);
CREATE INDEX tasks_by_rev ON tasks (rev);
CREATE INDEX tools_by_rev ON tools (rev);
CREATE INDEX process_rows_by_rev ON process_rows (rev);
CREATE INDEX samples_by_rev ON samples (rev);
CREATE INDEX host_samples_by_rev ON host_samples (rev);
CREATE INDEX incidents_by_rev ON incidents (rev);
CREATE INDEX losses_by_rev ON losses (rev);

-- NULL on the host itself: the shipper sets them when it sends the row to the lake.
ALTER TABLE hosts ADD COLUMN cloud_provider TEXT; -- text; aws, gcp, azure, set only in the lake, NULL: none or not queried; metadata service
ALTER TABLE hosts ADD COLUMN cloud_instance_id TEXT; -- text; the provider's id of this machine; metadata service
ALTER TABLE hosts ADD COLUMN cloud_instance_type TEXT; -- text; the provider's name for its type; metadata service
ALTER TABLE hosts ADD COLUMN cloud_region TEXT; -- text; region of the machine; metadata service
ALTER TABLE hosts ADD COLUMN cloud_zone TEXT; -- text; zone within the region; metadata service
ALTER TABLE hosts ADD COLUMN cloud_lifecycle TEXT; -- text; on-demand, spot, scheduled; metadata service
