#!/bin/sh
# Fetches what a machine with a GPU may lack, to be carried there beside the checkout:
#
#     test/gpu/carry.sh deps        here: libyaml and zlib of this distribution, for this processor
#     make check-gpu DEPS=deps      there
#
# The libraries are the static ones, so nothing has to be installed, and nothing of the kind is looked
# for when the programs start. Both machines need the same processor and a C library of about the
# same age. Without apt: build the two from source with --prefix=deps.
set -eu
to=${1:?usage: carry.sh FOLDER}
mkdir -p "$to"
to=$(cd "$to" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
apt-get download libyaml-dev zlib1g-dev >/dev/null
for package in ./*.deb; do
    dpkg-deb -x "$package" "$to"
done
find "$to" -name '*.so' -delete # they point to libraries that are not there
find "$to" -name 'lib*.a'
