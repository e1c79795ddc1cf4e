#!/bin/bash
# What the program prints of a flight recorder is what `takt report` prints from its file.
. "${0%/*}/lib_same.sh"
compare_all flight
