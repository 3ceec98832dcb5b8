#!/bin/bash
# Builds the pages of the handbook, with mdBook.
#
#   packages/handbook.sh DIR [PROGRAM]
#
# PROGRAM writes the pages of the types; default: target/debug/switchtender, which is built if it is missing.
# Installs mdBook below `target` if the program `mdbook` does not have the version of this script.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2,/^set -euo/p' "$0" | sed -e '$d' -e 's/^# \{0,1\}//' >&2; exit 2; }
program=$(realpath -m "${2:-"$(dirname "$0")/../target/debug/switchtender"}")
output=$(realpath -m "$1")
cd "$(dirname "$0")/.."
[ -x "$program" ] || cargo build --locked
version=0.5.4
mdbook=$(command -v mdbook || echo "$PWD/target/handbook-tools/bin/mdbook")
if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    CARGO_PROFILE_DEV_DEBUG=0 cargo install mdbook --version $version --locked --debug \
        --no-default-features --features search \
        --root target/handbook-tools --target-dir target/handbook-tools/build
    rm -r target/handbook-tools/build
    mdbook=$PWD/target/handbook-tools/bin/mdbook
fi
# The sources with what is generated: the pages of the types, and the list of pages from the two indexes.
book=target/handbook-source
rm -rf "$book" "$output"
mkdir -p "$book"
cp -r book.toml docs "$book"
types=$(sed -n 's/^| \[`\([a-z0-9_]*\)`\].*/\1/p' docs/reference/types.md)
mkdir "$book/docs/reference/types"
for type in $types; do
    "$program" type "$type" --markdown > "$book/docs/reference/types/$type.md"
done
{
    printf '# Summary\n\n[Switchtender](README.md)\n'
    sed -n -e 's/^## \(.*\)/\n# \1\n/p' -e 's/^| .*\[\([^]]*\)\](\([^)]*\)).*/- [\1](\2)/p' docs/README.md
    printf '\n# Types\n\n'
    for type in $types; do echo "- [$type](reference/types/$type.md)"; done
} > "$book/docs/SUMMARY.md"
log=$("$mdbook" build "$book" --dest-dir "$output" 2>&1) || { echo "$log" >&2; exit 1; }
if grep -E 'WARN|ERROR' <<< "$log" >&2; then exit 1; fi
# mdBook does not check links.
broken=0
while IFS=: read -r page link; do
    [ -e "$(dirname "$page")/$link" ] || { echo "$page: no page $link" >&2; broken=1; }
done < <(grep -roE 'href="[^"#:]+\.html' "$output" --include='*.html' | sed 's/:href="/:/' | sort -u)
[ "$broken" = 0 ] || exit 1
# Sources that are no page.
rm -f "$output"/reference/*.toml
