"""Spawns a program whose input is a FIFO: until the other end is opened, the kernel keeps this
process in uninterruptible sleep, as a hanging file server would."""
import os
import sys

child = os.posix_spawn("/bin/true", ["true"], os.environ,
                       file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
os.waitpid(child, 0)
