#!/bin/bash
# A step that needs more memory than its cgroup may have.
prepare --cpu 10
hungry --memory 200
