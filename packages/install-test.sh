#!/bin/bash
# Installs a package into a clean Debian system, uses it as its service user, upgrades it, removes and purges it.
#
#   packages/install-test.sh PACKAGE
#
# The system comes from the package sources of this host. It is booted as a container without a network, so that the
# units run with their restrictions. Where containers are not allowed, the steps run in a chroot without systemd; where
# a chroot is not allowed, the test is skipped. Both are printed. Needs Debian 12, and root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
script=install-test.sh
. "$here/../tests/real-peers/common.sh"
[ $# = 1 ] && [ -f "$1" ] || { usage >&2; exit 2; }
package=$(realpath "$1")

skip() { echo "SKIPPED: installation test: $*" >&2; exit 0; }
[ "$(id -u)" = 0 ] || skip "this user is not root"
chroot / true 2>/dev/null || skip "chroot is not allowed here"
install_packages dpkg-dev mmdebstrap systemd-container

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

sources=()
for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    if [ ${#sources[@]} = 0 ] && grep -q '^\(deb\|URIs:\).*debian' "$file" 2>/dev/null; then sources=("$file"); fi
done
# shellcheck disable=SC1091
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --quiet --variant=minbase --include=adduser,ca-certificates,dbus,systemd,systemd-sysv \
    "$codename" "$root" "${sources[@]}"

# A package with an older version and the same content: the upgrade starts with it.
mkdir "$root/test"
printf '127.0.0.1 localhost\n' > "$root/etc/hosts"
cp "$package" "$root/test/package.deb"
dpkg-deb --raw-extract "$package" "$work/older"
sed -i 's/^Version: .*/&~older/' "$work/older/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip -z1 --build "$work/older" "$root/test/older.deb" > /dev/null
rm -r "$work/older"

install -m 0755 "$here/install-test-inside.sh" "$root/test/inside.sh"
cat > "$root/etc/systemd/system/package-test.service" <<'UNIT'
[Unit]
SuccessAction=poweroff-force
FailureAction=poweroff-force

[Service]
Type=oneshot
ExecStart=/bin/bash -c '/test/inside.sh > /test/output 2>&1; echo $? > /test/code'
TimeoutStartSec=300
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../package-test.service "$root/etc/systemd/system/multi-user.target.wants/"

container() {
    timeout 360 systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --private-network --console=pipe "$@" < /dev/null
}
if container true > "$work/nspawn" 2>&1; then
    echo "installation test in a container with systemd"
    container --boot >> "$work/nspawn" 2>&1 || true
    [ -s "$root/test/code" ] || { cat "$work/nspawn" "$root/test/output" >&2 || true; die "the container did not run the test"; }
    cat "$root/test/output"
    [ "$(cat "$root/test/code")" = 0 ] || die "the test in the container failed"
else
    cat "$work/nspawn" >&2
    echo "SKIPPED: runs of the units: a container is not allowed here" >&2
    chroot "$root" /test/inside.sh
fi
