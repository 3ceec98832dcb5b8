#!/bin/bash
# A real Caddy on loopback, for integration tests: its admin API over plain HTTP.
#
#   caddy.sh start   --dir DIR --port N --config FILE   install if needed, start, wait until ready
#   caddy.sh stop    --dir DIR                          stop what was started from DIR
#   caddy.sh install                                    only install the package
#
# FILE is the configuration. The admin API is on 127.0.0.1:N. Needs Debian 12, and root to install.
set -euo pipefail

die() { echo "caddy.sh: $*" >&2; exit 1; }

install_package() {
    command -v caddy >/dev/null && return 0
    [ "$(id -u)" = 0 ] || die "package caddy is missing; run as root to install it"
    export DEBIAN_FRONTEND=noninteractive
    # Keep the package from starting the service of the distribution.
    local policy=/usr/sbin/policy-rc.d made=0 rc=0
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' > "$policy"; chmod 755 "$policy"; made=1
    fi
    apt-get install -y --no-install-recommends caddy >&2 ||
        { apt-get update >&2 && apt-get install -y --no-install-recommends caddy >&2; } || rc=1
    [ $made = 1 ] && rm -f "$policy"
    [ $rc = 0 ] || die "apt-get install failed"
}

# Is PID alive and does its command line name our directory?
ours() { [ -r "/proc/$1/cmdline" ] && tr '\0' ' ' < "/proc/$1/cmdline" | grep -qF -- "$dir/"; }

stop() {
    [ -s "$dir/pid" ] || return 0
    local pid i
    pid=$(cat "$dir/pid")
    if ours "$pid"; then
        kill "$pid" 2>/dev/null || true
        for i in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null || true
    fi
    rm -f "$dir/pid"
}

[ $# -ge 1 ] || { sed -n '2,9p' "$0"; exit 2; }
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
[ "$verb" = install ] && { install_package; exit 0; }
[ -n "$dir" ] || die "--dir is needed"
mkdir -p "$dir"; dir=$(cd "$dir" && pwd -P)

case $verb in
start)
    install_package
    stop
    cp "$config" "$dir/run.json"
    HOME="$dir" XDG_DATA_HOME="$dir/data" XDG_CONFIG_HOME="$dir/config" CADDY_ADMIN="127.0.0.1:$port" \
        setsid caddy run --config "$dir/run.json" > "$dir/log" 2>&1 < /dev/null &
    echo $! > "$dir/pid"
    for _ in $(seq 300); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && exit 0
        kill -0 "$(cat "$dir/pid")" 2>/dev/null || { tail -5 "$dir/log" >&2; die "caddy did not start"; }
        sleep 0.1
    done
    die "not ready after 30 s; see $dir/log"
    ;;
stop) stop ;;
*) die "unknown command $verb" ;;
esac
