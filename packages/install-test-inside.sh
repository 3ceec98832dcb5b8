#!/bin/bash
# The part of install-test.sh that runs in the clean system.
set -euo pipefail
cd /

die() { echo "FAILED: $*" >&2; exit 1; }
check() { printf 'ok  '; echo "$*"; }
trap 'echo "FAILED: line $LINENO: $BASH_COMMAND" >&2' ERR
has_systemd() { [ -d /run/systemd/system ]; }

# is_mode MODE OWNER:GROUP PATH
is_mode() { [ "$(stat -c '%a %U:%G' "$3")" = "$1 $2" ] || die "$3 is $(stat -c '%a %U:%G' "$3"), not $1 $2"; }

# Everything that a package could leave: names, modes, owners and contents of files.
snapshot() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /test -o -path /var/log \
        -o -path /var/lib/dpkg -o -path /var/lib/systemd/timers -o -path /var/lib/systemd/random-seed -o -path /var/cache/ldconfig \
        -o -path /var/tmp -o -path '/etc/*-' -o -path /etc/.pwd.lock \) -prune \
        -o -printf '%p %M %u:%g\n' | sort
    cat /etc/passwd /etc/group /etc/shadow /etc/gshadow
}

has_right_modes() {
    is_mode 750 root:switchtender /etc/switchtender
    is_mode 750 root:switchtender /etc/switchtender/puppet
    is_mode 700 switchtender:switchtender /etc/switchtender/puppet/credentials
    is_mode 700 switchtender:switchtender /etc/switchtender/secrets
    is_mode 700 switchtender:switchtender /var/lib/switchtender
    is_mode 755 root:root /usr/bin/switchtender
    is_mode 644 root:root /usr/lib/systemd/system/switchtender.service
}

as_user() { setpriv --reuid=switchtender --regid=switchtender --init-groups -- env -i PATH="$PATH" HOME=/var/lib/switchtender SWITCHTENDER_STATE=/var/lib/switchtender "$@"; }

# A mock switch and a mock Puppet Server on loopback, and the files of switchtender-device.service for them.
start_mocks() {
    mkdir -p /test/catalogs
    cat > /test/catalogs/sw1.lab.test.json <<'JSON'
{"name": "sw1.lab.test", "resources": [
  {"type": "network_vlan", "title": "10", "parameters": {"ensure": "present", "vlan_name": "users"}}
]}
JSON
    switchtender mock switch --port 2201 > /test/switch.out 2>&1 &
    echo $! > /test/switch.pid
    switchtender mock puppet-server /test/catalogs --port 8140 > /test/server.out 2>&1 &
    echo $! > /test/server.pid
    for _ in $(seq 300); do
        grep -q 'password admin' /test/switch.out && grep -q 'CA certificates' /test/server.out && break
        sleep 0.1
    done
    mkdir -p /var/lib/switchtender/puppet/ssl/certs
    cp "$(sed -n 's/^CA certificates: //p' /test/server.out)" /var/lib/switchtender/puppet/ssl/certs/ca.pem
    chown -R switchtender:switchtender /var/lib/switchtender
    printf 'server = localhost\nruntimeout = 2m\n' >> /etc/switchtender/puppet/puppet.conf
    cat > /etc/switchtender/puppet/device.conf <<'CONF'
[sw1.lab.test]
type cisco_ios
url file:///etc/switchtender/puppet/credentials/sw1.conf
CONF
    cat > /etc/switchtender/puppet/credentials/sw1.conf <<'CONF'
{ host: "127.0.0.1", port: 2201, user: "admin", password: "admin", enable_password: "enable" }
CONF
    chown switchtender:switchtender /etc/switchtender/puppet/credentials/sw1.conf
    chmod 600 /etc/switchtender/puppet/credentials/sw1.conf
}

# switchtender.service with the mock switch. `systemctl start` ends when the process has reported that it is ready.
start_serve() {
    local restarts
    cat > /etc/switchtender/inventory.toml <<TOML
[device.sw1]
platform = "cisco_ios"
address = "127.0.0.1"
port = 2201
user = "admin"
password = { file = "secrets/sw1" }
host_key = "trust_on_first_use"
TOML
    printf '[defaults]\ninterval = "1h"\nstate = "state"\n' > /etc/switchtender/serve.toml
    mkdir -p /etc/switchtender/state
    printf 'network_vlan:\n  20: {vlan_name: voice}\n' > /etc/switchtender/state/common.yaml
    install -m 0600 -o switchtender -g switchtender /dev/null /etc/switchtender/secrets/sw1
    echo admin > /etc/switchtender/secrets/sw1
    systemctl start switchtender.service || { journalctl --no-pager -u switchtender.service; die "switchtender.service"; }
    systemctl reload switchtender.service
    systemctl is-active --quiet switchtender.service || die "switchtender.service ended after a reload"
    restarts=$(systemctl show --property=NRestarts --value switchtender.service)
    [ "$restarts" = 0 ] || die "switchtender.service started $restarts times again"
    check "switchtender.service: $(systemctl show --property=StatusText --value switchtender.service)"
}

snapshot > /test/before

dpkg --install /test/older.deb
has_right_modes
check "installed: user, directories and modes"
[ "$(getent passwd switchtender | cut -d: -f6,7)" = /var/lib/switchtender:/usr/sbin/nologin ] || die "home or shell of the user"

for file in /usr/share/bash-completion/completions/switchtender /usr/share/zsh/vendor-completions/_switchtender \
    /usr/share/fish/vendor_completions.d/switchtender.fish /usr/share/man/man1/switchtender.1.gz \
    /usr/share/man/man1/switchtender-apply.1.gz /usr/share/doc/switchtender/handbook/index.html \
    /usr/share/doc/switchtender/handbook/first-device.html /usr/share/doc/switchtender/third-party-licenses.gz \
    /usr/share/doc/switchtender/examples/inventory.toml; do
    [ -s "$file" ] || die "$file is missing"
done
check "completions, manual pages, handbook, licenses and examples"

examples=/usr/share/doc/switchtender/examples
as_user switchtender apply --inventory $examples/inventory.toml --state $examples/state --mock > /test/apply.out 2>&1 ||
    { cat /test/apply.out; die "apply"; }
grep -q '^sw1  *changed' /test/apply.out && grep -q '^lb1  *changed' /test/apply.out || { cat /test/apply.out; die "apply changed nothing"; }
check "main job as the user switchtender: $(grep '^sw1 ' /test/apply.out)"

start_mocks
if has_systemd; then
    for unit in switchtender.service switchtender-device.service switchtender-device.timer; do
        found=$(systemd-analyze verify --man=no /usr/lib/systemd/system/$unit 2>&1) || die "systemd-analyze verify $unit: $found"
        [ -z "$found" ] || die "systemd-analyze verify $unit: $found"
    done
    for unit in switchtender.service switchtender-device.service; do
        systemd-analyze security --no-pager --offline=yes --threshold=20 /usr/lib/systemd/system/$unit > /test/security ||
            { cat /test/security; die "exposure of $unit"; }
        check "$(tail -1 /test/security)"
    done
    systemctl start switchtender-device.service || { journalctl --no-pager -u switchtender-device.service; die "switchtender-device.service"; }
    journalctl --no-pager -o cat -u switchtender-device.service > /test/journal
    grep -q "Network_vlan\[10\].*present" /test/journal || { cat /test/journal; die "the unit changed nothing"; }
    check "switchtender-device.service with its restrictions: $(grep -m1 'Network_vlan' /test/journal)"
    systemctl start switchtender-device.service
    [ "$(journalctl --no-pager -o cat -u switchtender-device.service | grep -c 'Network_vlan\[10\].*present')" = 1 ] ||
        die "the second run changed the device"
    check "second run: no changes"
    systemctl enable --now --quiet switchtender-device.timer
    systemctl list-timers --no-pager | grep -q switchtender-device.timer || die "no next run"
    check "switchtender-device.timer is active"
    if switchtender help serve > /dev/null 2>&1; then
        start_serve
    else
        echo "SKIPPED: switchtender.service: this program has no command serve"
    fi
else
    as_user switchtender device --confdir /etc/switchtender/puppet --waitforcert 0 > /test/journal 2>&1 || { cat /test/journal; die "device"; }
    grep -q "Network_vlan\[10\].*present" /test/journal || { cat /test/journal; die "device changed nothing"; }
    check "device as the user switchtender"
fi

echo '# a local change' >> /etc/switchtender/puppet/device.conf
touch /var/lib/switchtender/of-the-user
dpkg --install --force-confold /test/package.deb
has_right_modes
[ -e /var/lib/switchtender/of-the-user ] || die "the upgrade removed state"
grep -q 'a local change' /etc/switchtender/puppet/device.conf || die "the upgrade replaced a configuration file"
if has_systemd; then
    systemctl is-active --quiet switchtender-device.timer || die "the timer stopped"
    if [ -e /etc/switchtender/serve.toml ]; then
        systemctl is-active --quiet switchtender.service || { journalctl --no-pager -u switchtender.service; die "switchtender.service stopped"; }
    fi
fi
check "upgraded: configuration, state and timer remain"
dpkg --install /test/package.deb
has_right_modes
check "installed again over itself"

for name in switch server; do kill "$(cat /test/$name.pid)"; wait "$(cat /test/$name.pid)" || true; done
dpkg --remove switchtender
[ ! -e /usr/bin/switchtender ] || die "the program remains"
[ -e /etc/switchtender/puppet/device.conf ] && [ -e /var/lib/switchtender/of-the-user ] || die "the removal took configuration or state"
if has_systemd; then
    for unit in switchtender.service switchtender-device.timer; do
        ! systemctl is-active --quiet $unit || die "$unit still runs"
    done
fi
check "removed: configuration and state remain"

dpkg --purge switchtender
snapshot > /test/after
diff /test/before /test/after || die "the purge left something"
check "purged: nothing is left"
