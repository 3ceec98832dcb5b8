#!/bin/bash
# Makes the Debian package and the static program for arm64, on a machine with another processor.
#
#   packages/arm64.sh [--profile PROFILE] --handbook DIR --output DIR
#
# The default profile is `dist`. The program of this machine writes completions and manual pages. With qemu-user-static,
# the programs for arm64 are started: version, and the plan of the examples with mocks. Without it, this is skipped and said.
# Devices and systemd units are not tested on arm64.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
script=arm64.sh
. "$here/../tests/real-peers/common.sh"
profile=dist handbook='' output=''
while [ $# -gt 0 ]; do
    case "$1" in
        --profile | --handbook | --output) [ $# -ge 2 ] || die "$1 needs a value"; printf -v "${1#--}" %s "$2"; shift 2 ;;
        *) usage >&2; exit 2 ;;
    esac
done
[ -f "$handbook/index.html" ] && [ -n "$output" ] || { usage >&2; exit 2; }
mkdir -p "$output"
handbook=$(realpath "$handbook") output=$(realpath "$output")
cd "$here/.."
install_packages binutils dpkg-dev gcc gcc-aarch64-linux-gnu libc6-dev libc6-dev-arm64-cross python3
triple=aarch64-unknown-linux-gnu
if command -v rustup > /dev/null; then rustup target add $triple; fi

: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH LC_ALL=C CARGO_INCREMENTAL=0
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
target=${CARGO_TARGET_DIR:-target}
folder=$profile
[ "$profile" != dev ] || folder=debug
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cargo build --locked --profile "$profile"
cp "$target/$folder/switchtender" "$work/native"
cargo build --locked --profile "$profile" --target $triple
cp "$target/$triple/$folder/switchtender" "$work/dynamic"
cargo rustc --locked --profile "$profile" --target $triple --bin switchtender -- -C target-feature=+crt-static
mv "$target/$triple/$folder/switchtender" "$work/switchtender"
aarch64-linux-gnu-strip --strip-unneeded --remove-section=.comment "$work/switchtender"
! readelf --program-headers "$work/switchtender" | grep -q INTERP || die "the static program needs libraries"

"$here/deb.sh" --program "$work/dynamic" --native "$work/native" --architecture arm64 --handbook "$handbook" --output "$output"
archive=$output/switchtender-$version-aarch64-linux-static.tar.gz
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w -C "$work" -c switchtender | gzip -9n > "$archive"
echo "$archive"

emulator=$(command -v qemu-aarch64-static || true)
if [ -z "$emulator" ]; then
    echo "SKIPPED: the programs for arm64 are not started: there is no qemu-aarch64-static" >&2
    exit 0
fi
for program in "$work/dynamic" "$work/switchtender"; do
    emulated() { "$emulator" -L /usr/aarch64-linux-gnu "$program" "$@"; }
    [ "$(emulated --version)" = "switchtender $version" ] || die "$program does not start"
    emulated plan --inventory examples/inventory.toml --state examples/state --mock > "$work/plan" 2>&1 || { cat "$work/plan" >&2; die "plan"; }
    grep -q '^sw1 (cisco_ios)' "$work/plan" || { cat "$work/plan" >&2; die "the plan has no sw1"; }
    echo "ok  $(basename "$program") starts and plans with mocks under qemu"
done
