#!/bin/bash
# A step with a time limit of its own.
prepare --cpu 10
timeout 1 endless --sleep 60000
