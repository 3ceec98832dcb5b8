#!/bin/bash
# A real Caddy on loopback, for integration tests: its admin API over plain HTTP.
#
#   caddy.sh start   --dir DIR --port N --config FILE   install if needed, start, wait until ready
#   caddy.sh stop    --dir DIR                          stop what was started from DIR
#   caddy.sh install                                    only install the package
#
# FILE is the configuration. The admin API is on 127.0.0.1:N. Needs Debian 12, and root to install.
set -euo pipefail

script=caddy.sh
. "$(dirname "$0")/common.sh"

packages=(caddy)

stop() { stop_pidfile "$dir/caddy.pid"; }

read_options dir port config -- "$@"

case $verb in
start)
    install_packages "${packages[@]}"
    stop
    cp "$config" "$dir/run.json"
    HOME="$dir" XDG_DATA_HOME="$dir/data" XDG_CONFIG_HOME="$dir/config" CADDY_ADMIN="127.0.0.1:$port" \
        setsid caddy run --config "$dir/run.json" > "$dir/caddy.out" 2>&1 < /dev/null &
    echo $! > "$dir/caddy.pid"
    wait_until_ready caddy
    ;;
stop) stop ;;
*) die "unknown command $verb" ;;
esac
