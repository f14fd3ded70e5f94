#!/bin/bash
# A step that somebody kills.
prepare --cpu 10
endless --sleep 60000
