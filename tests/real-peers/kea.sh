#!/bin/bash
# A real Kea DHCPv4 server with its control agent on loopback, for integration tests.
#
#   kea.sh start   --dir DIR --port N   install if needed, start, wait until ready
#   kea.sh stop    --dir DIR            stop what was started from DIR
#   kea.sh install                      only install the packages
#
# The control agent is on 127.0.0.1:N, without TLS. The server has one subnet and listens on no interface. Needs
# Debian 12, and root to install.
set -euo pipefail

script=kea.sh
. "$(dirname "$0")/common.sh"

packages=(kea-dhcp4-server kea-ctrl-agent)

stop() {
    stop_pidfile "$dir/agent.pid"
    stop_pidfile "$dir/server.pid"
}

configure() {
    cat > "$dir/dhcp4.json" <<END
{ "Dhcp4": {
  "interfaces-config": { "interfaces": [] },
  "control-socket": { "socket-type": "unix", "socket-name": "$dir/dhcp4.sock" },
  "lease-database": { "type": "memfile", "persist": false },
  "valid-lifetime": 7200,
  "loggers": [ { "name": "kea-dhcp4", "severity": "WARN", "output_options": [ { "output": "$dir/dhcp4.log" } ] } ],
  "subnet4": [ {
    "id": 1, "subnet": "192.0.2.0/24", "pools": [ { "pool": "192.0.2.10-192.0.2.20" } ],
    "option-data": [ { "name": "routers", "data": "192.0.2.1" } ],
    "reservations": [ { "hw-address": "00:00:5e:00:53:01", "ip-address": "192.0.2.5", "client-classes": [ "lab" ] } ]
  } ]
} }
END
    cat > "$dir/agent.json" <<END
{ "Control-agent": {
  "http-host": "127.0.0.1", "http-port": $port,
  "control-sockets": { "dhcp4": { "socket-type": "unix", "socket-name": "$dir/dhcp4.sock" } },
  "loggers": [ { "name": "kea-ctrl-agent", "severity": "WARN", "output_options": [ { "output": "$dir/agent.log" } ] } ]
} }
END
}

read_options dir port -- "$@"

case $verb in
start)
    install_packages "${packages[@]}"
    stop
    configure
    export KEA_PIDFILE_DIR="$dir" KEA_LOCKFILE_DIR="$dir"
    setsid kea-dhcp4 -c "$dir/dhcp4.json" > "$dir/server.out" 2>&1 < /dev/null &
    echo $! > "$dir/server.pid"
    for _ in $(seq 100); do [ -S "$dir/dhcp4.sock" ] && break; sleep 0.1; done
    setsid kea-ctrl-agent -c "$dir/agent.json" > "$dir/agent.out" 2>&1 < /dev/null &
    echo $! > "$dir/agent.pid"
    wait_until_ready server agent
    ;;
stop) stop ;;
*) die "unknown command $verb" ;;
esac
