-- How far a process has read its largest file.

ALTER TABLE samples ADD COLUMN file_position_bytes INTEGER; -- bytes; how far it had read the largest file of 16 MiB or more that it held open for reading only, some seconds before, NULL: none, or not looked; file.f_pos
ALTER TABLE samples ADD COLUMN file_size_bytes INTEGER; -- bytes; size of that file; inode.i_size
