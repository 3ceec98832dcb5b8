#!/bin/bash
# Makes the root of a container from Debian packages: Debian, CA certificates and a package of Switchtender.
#
#   packages/container-root.sh PACKAGE FILE.tar
#
# No container program is needed. `podman import` or `docker import` makes an image of the archive, and
# `systemd-nspawn --directory` runs it unpacked. The packages come from the package sources of this host. The program is
# started in the root: version, and the plan of the examples with mocks. Needs Debian 12, and root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
script=container-root.sh
. "$here/../tests/real-peers/common.sh"
[ $# = 2 ] && [ -f "$1" ] || { usage >&2; exit 2; }
package=$(realpath "$1") archive=$(realpath "$2")
[ "$(id -u)" = 0 ] || die "root is needed"
install_packages mmdebstrap
architecture=$(dpkg-deb --field "$package" Architecture)

sources=()
for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    if [ ${#sources[@]} = 0 ] && grep -q '^\(deb\|URIs:\).*debian' "$file" 2>/dev/null; then sources=("$file"); fi
done
# shellcheck disable=SC1091
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH

cat > "${archive%.tar}.check" <<'CHECK'
set -eu
examples=/usr/share/doc/switchtender/examples
switchtender --version
cd /tmp
HOME=/tmp switchtender plan --inventory $examples/inventory.toml --state $examples/state --mock > plan 2>&1 || { cat plan; exit 1; }
grep '^sw1 (cisco_ios)' plan
rm plan
CHECK
trap 'rm -f "${archive%.tar}.check"' EXIT
mmdebstrap --quiet --variant=minbase --architectures="$architecture" --include=adduser,ca-certificates \
    --customize-hook="copy-in $package /tmp" \
    --customize-hook="chroot \"\$1\" apt-get install --yes --no-install-recommends /tmp/$(basename "$package") > /dev/null" \
    --customize-hook="copy-in ${archive%.tar}.check /tmp" \
    --customize-hook="chroot \"\$1\" sh /tmp/$(basename "${archive%.tar}").check" \
    --customize-hook='rm -rf "$1"/tmp/* "$1"/usr/share/doc/switchtender/handbook "$1"/var/cache/apt/*' \
    "$codename" "$archive" "${sources[@]}"
cat <<TEXT
$archive
podman import --change 'USER switchtender' --change 'WORKDIR /etc/switchtender' --change 'VOLUME /var/lib/switchtender' \\
    --change 'ENV SWITCHTENDER_STATE=/var/lib/switchtender' --change 'ENTRYPOINT ["/usr/bin/switchtender"]' $archive switchtender
TEXT
