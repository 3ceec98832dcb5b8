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

install_all() { install_packages caddy; }

stop() { stop_pidfile "$dir/pid"; }

[ $# -ge 1 ] || { usage; exit 2; }
verb=$1; shift
dir= port= config=
while [ $# -gt 0 ]; do
    case $1 in
        --dir) dir=$2; shift 2 ;;
        --port) port=$2; shift 2 ;;
        --config) config=$2; shift 2 ;;
        *) die "unknown option $1" ;;
    esac
done
[ "$verb" = install ] && { install_all; exit 0; }
[ -n "$dir" ] || die "--dir is needed"
mkdir -p "$dir"; dir=$(cd "$dir" && pwd -P)

case $verb in
start)
    install_all
    stop
    cp "$config" "$dir/run.json"
    HOME="$dir" XDG_DATA_HOME="$dir/data" XDG_CONFIG_HOME="$dir/config" CADDY_ADMIN="127.0.0.1:$port" \
        setsid caddy run --config "$dir/run.json" > "$dir/log" 2>&1 < /dev/null &
    echo $! > "$dir/pid"
    for _ in $(seq 300); do
        port_is_open && exit 0
        kill -0 "$(cat "$dir/pid")" 2>/dev/null || { tail -5 "$dir/log" >&2; die "caddy did not start"; }
        sleep 0.1
    done
    die "not ready after 30 s; see $dir/log"
    ;;
stop) stop ;;
*) die "unknown command $verb" ;;
esac
