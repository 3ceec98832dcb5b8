#!/bin/bash
# Builds the pages of the handbook, with mdBook.
#
#   packages/handbook.sh DIR
#
# Installs mdBook below `target` if the program `mdbook` does not have the version of this script.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,/^set -euo/p' "$0" | sed -e '$d' -e 's/^# \{0,1\}//' >&2; exit 2; }
cd "$(dirname "$0")/.."
output=$(realpath -m "$1")
version=0.5.4
mdbook=$(command -v mdbook || echo "$PWD/target/handbook-tools/bin/mdbook")
if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    CARGO_PROFILE_DEV_DEBUG=0 cargo install mdbook --version $version --locked --debug \
        --no-default-features --features search \
        --root target/handbook-tools --target-dir target/handbook-tools/build
    rm -r target/handbook-tools/build
    mdbook=$PWD/target/handbook-tools/bin/mdbook
fi
rm -rf "$output"
log=$("$mdbook" build --dest-dir "$output" 2>&1) || { echo "$log" >&2; exit 1; }
if grep -E 'WARN|ERROR' <<< "$log" >&2; then exit 1; fi
# Sources that are no page.
rm -f "$output"/reference/*.toml
