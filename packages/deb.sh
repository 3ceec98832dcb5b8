#!/bin/bash
# Makes the Debian package from a built program and a built handbook.
#
#   packages/deb.sh --program FILE --handbook DIR --output DIR [--native FILE --architecture ARCHITECTURE]
#
# Prints the path of the package. `DEB_COMPRESSION` has options of dpkg-deb, -Zxz by default. Equal input, with an
# equal SOURCE_DATE_EPOCH, makes an equal package; the default is the time of the last commit. `--native` is the same
# program for this machine, which writes completions and manual pages if FILE is for another architecture.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
script=deb.sh
. "$here/../tests/real-peers/common.sh"
program='' handbook='' output='' native='' architecture=$(dpkg --print-architecture)
while [ $# -gt 0 ]; do
    case "$1" in
        --program | --handbook | --output | --native | --architecture) [ $# -ge 2 ] || die "$1 needs a value"; printf -v "${1#--}" %s "$2"; shift 2 ;;
        *) usage >&2; exit 2 ;;
    esac
done
[ -x "$program" ] && [ -f "$handbook/index.html" ] && [ -n "$output" ] || { usage >&2; exit 2; }
install_packages binutils dpkg-dev python3
mkdir -p "$output"
native=$(realpath "${native:-$program}") program=$(realpath "$program") handbook=$(realpath "$handbook") output=$(realpath "$output")
cd "$here/.."

: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH LC_ALL=C
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
umask 022
documents=$root/usr/share/doc/switchtender

install -D -m 0755 "$program" "$root/usr/bin/switchtender"
strip=strip
[ "$architecture" = "$(dpkg --print-architecture)" ] || strip=$(dpkg-architecture --host-arch "$architecture" --query DEB_HOST_GNU_TYPE 2> /dev/null)-strip
"$strip" --strip-unneeded --remove-section=.comment "$root/usr/bin/switchtender"
[ "$("$native" --version)" = "switchtender $version" ] || die "$native does not have version $version"

for shell in bash zsh fish; do
    case $shell in
        bash) file=bash-completion/completions/switchtender ;;
        zsh) file=zsh/vendor-completions/_switchtender ;;
        fish) file=fish/vendor_completions.d/switchtender.fish ;;
    esac
    mkdir -p "$(dirname "$root/usr/share/$file")"
    "$native" completions $shell > "$root/usr/share/$file"
done

"$native" man "$work/man" > /dev/null
mkdir -p "$root/usr/share/man/man1"
for page in "$work"/man/*.1; do
    gzip -9n < "$page" > "$root/usr/share/man/man1/$(basename "$page").gz"
done

mkdir -p "$documents"
cp -R "$handbook" "$documents/handbook"
git archive HEAD examples | tar -x -C "$documents"
gzip -9n < CHANGELOG.md > "$documents/changelog.gz"
python3 packages/third-party-licenses.py | gzip -9n > "$documents/third-party-licenses.gz"
install -m 0644 packages/debian/copyright "$documents/copyright"

install -D -m 0644 -t "$root/usr/lib/systemd/system" packages/systemd/*
install -D -m 0644 -t "$root/etc/switchtender/puppet" packages/etc/puppet.conf packages/etc/device.conf

mkdir -p "$root/DEBIAN" "$work/debian"
for name in postinst prerm postrm; do install -m 0755 packages/debian/$name "$root/DEBIAN/$name"; done
printf '%s\n' /etc/switchtender/puppet/device.conf /etc/switchtender/puppet/puppet.conf > "$root/DEBIAN/conffiles"
printf 'Source: switchtender\n\nPackage: switchtender\nArchitecture: any\n' > "$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O "$native" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || die "no libraries found for $program"
cat > "$root/DEBIAN/control" <<CONTROL
Package: switchtender
Version: $version
Architecture: $architecture
Maintainer: The authors of Switchtender <switchtender@localhost>
Section: net
Priority: optional
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: adduser, $libraries
Recommends: ca-certificates
Suggests: openssh-client, puppet-agent
Description: applies Puppet catalogs and YAML files to network devices
 Switchtender manages switches, load balancers and other network devices, which cannot run
 a Puppet agent, from a proxy host. It takes the desired state of a device from YAML files
 or a Puppet catalog, reads the device over SSH, REST or NETCONF, changes only what differs
 and verifies the result. It replaces "puppet device".
CONTROL
(cd "$root" && find usr etc -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)

find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
package=$output/switchtender_${version}_$architecture.deb
# shellcheck disable=SC2086
dpkg-deb --root-owner-group ${DEB_COMPRESSION:--Zxz} --build "$root" "$package" > /dev/null
echo "$package"
