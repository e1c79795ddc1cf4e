#!/bin/bash
# Checks that the faults of list.txt fit the sources: run.sh.
exec "$(dirname "$0")/run.sh" --check
