#!/bin/bash
# Commands that cannot be executed: one that does not exist, one that is no program.
prepare --cpu 10
no-such-command --threads 4
./plain-file
conclude --cpu 10
