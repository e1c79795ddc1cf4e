#!/bin/bash
# What the program prints of a summary is what `takt report` prints from its file.
. "${0%/*}/lib_same.sh"
compare_all summary
