#!/bin/bash
# Makes all files of a release, and prints their sizes and checksums. `docs/release.md` describes them.
#
#   packages/release.sh [--profile PROFILE] DIR
#
# The default profile is `dist`. The sources are those of the last commit: changes that are not committed are refused.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
script=release.sh
. "$here/../tests/real-peers/common.sh"
profile=dist
if [ "${1:-}" = --profile ]; then profile=${2:-}; shift 2; fi
[ $# = 1 ] && [ -n "$profile" ] || { usage >&2; exit 2; }
mkdir -p "$1"
output=$(realpath "$1")
cd "$here/.."
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "the work tree has changes that are not committed"
[ -z "$(ls -A "$output")" ] || die "$output is not empty"
install_packages binutils dpkg-dev gcc git libc6-dev python3

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C CARGO_INCREMENTAL=0
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
name=switchtender-$version
target=${CARGO_TARGET_DIR:-target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$profile
[ "$profile" != dev ] || folder=debug

archive() { tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w -C "$work" -c "$@" | gzip -9n; }

# The paths of this machine do not reach the program. The same flags for both programs share the crates.
export RUSTFLAGS="--remap-path-prefix=$PWD=/switchtender --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$(rustc --print sysroot)=/rust"
export CFLAGS="-ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo -ffile-prefix-map=$PWD=/switchtender"
cargo build --locked --profile "$profile"
cp "$target/$folder/switchtender" "$work/dynamic"
# Only the last crate is compiled again: it decides how the program is linked.
cargo rustc --locked --profile "$profile" --bin switchtender -- -C target-feature=+crt-static
mv "$target/$folder/switchtender" "$work/switchtender"
strip --strip-unneeded --remove-section=.comment "$work/switchtender"
! readelf --program-headers "$work/switchtender" | grep -q INTERP || die "the static program needs libraries"

unset RUSTFLAGS CFLAGS
packages/handbook.sh "$work/$name-handbook" "$work/dynamic"
packages/deb.sh --program "$work/dynamic" --handbook "$work/$name-handbook" --output "$output" > /dev/null
archive switchtender > "$output/$name-$(uname -m)-linux-static.tar.gz"
archive "$name-handbook" > "$output/$name-handbook.tar.gz"
python3 packages/third-party-licenses.py > "$output/$name-licenses.txt"
git archive --format=tar --prefix="$name/" HEAD | gzip -9n > "$output/$name.tar.gz"

cd "$output"
{
    echo "# $(rustc --version)"
    echo "# $(cc --version | head -1)"
    echo "# $(dpkg --version | head -1)"
    echo "# mdbook $(sed -n 's/^version=//p' "$here/handbook.sh")"
    sha256sum -- *
} > "$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
echo "size        file"
stat --format='%s %n' -- * | sort -rn | awk '{ printf "%8.1f KiB %s\n", $1 / 1024, $2 }'
cat SHA256SUMS
