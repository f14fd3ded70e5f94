#!/bin/bash
# A step that uses memory that it may not.
prepare --cpu 10
broken --cpu 10 --crash
