#!/bin/bash
# A host behind a real OpenSSH server on loopback, for integration tests: ssh logs in to a shell
# (dash) with a prompt, or to NETCONF.
#
#   real-host.sh start --dir DIR --kind KIND [--port N]   install if needed, start
#   real-host.sh stop  --dir DIR                          stop what was started from DIR
#   real-host.sh run   --dir DIR COMMAND                  run a line in a shell of the host, without ssh
#   real-host.sh install                                  only install the packages
#
# Kinds:
#   openvswitch   Open vSwitch with a userspace datapath without network devices
#   linux         a network namespace with the interfaces eth1 and eth2
#   haproxy       HAProxy with the backend `web` and the servers s1 to s3, the last in maintenance
#   netconfd      netconfd (yuma123) with a candidate and the models of the IETF; `run` connects to NETCONF
#
# start prints, one per line: HOST= PORT= USER= IDENTITY= (private key that may log in) KNOWN_HOSTS=.
# Needs Debian 12 and root; no systemd.
set -euo pipefail
script=real-host.sh
. "$(dirname "$0")/common.sh"

packages=(openvswitch-switch haproxy socat netconfd openssh-server iproute2)

start_openvswitch() {
    export OVS_RUNDIR=$dir/run OVS_LOGDIR=$dir/log OVS_DBDIR=$dir/run OVS_SYSCONFDIR=$dir/run
    ovsdb-tool create "$dir/run/conf.db" /usr/share/openvswitch/vswitch.ovsschema
    ovsdb-server "$dir/run/conf.db" --remote=punix:"$dir/run/db.sock" --pidfile="$dir/run/ovsdb.pid" --detach --no-chdir \
        --log-file="$dir/log/ovsdb.log" --unixctl="$dir/run/ovsdb.ctl" 2>> "$dir/log/start.log"
    ovs-vsctl --db=unix:"$dir/run/db.sock" --no-wait init
    ovs-vswitchd unix:"$dir/run/db.sock" --enable-dummy=override --disable-system --pidfile="$dir/run/vswitchd.pid" --detach \
        --no-chdir --log-file="$dir/log/vswitchd.log" --unixctl="$dir/run/vswitchd.ctl" 2>> "$dir/log/start.log"
    environment="OVS_RUNDIR=$dir/run"
}

start_linux() {
    local i
    ip netns add "$ns" || die "cannot make a network namespace (needs CAP_SYS_ADMIN)"
    ip -n "$ns" link set lo up
    for i in 1 2; do
        ip netns exec "$ns" ip tuntap add "eth$i" mode tap || die "cannot make a tap interface"
    done
    enter="ip netns exec $ns"
}

start_haproxy() {
    cat > "$dir/haproxy.cfg" <<CONFIG
global
  stats socket $dir/run/admin.sock mode 600 level admin
  pidfile $dir/run/haproxy.pid
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
backend web
  server s1 127.0.0.1:9101 weight 10
  server s2 127.0.0.1:9102 weight 10
  server s3 127.0.0.1:9103 weight 10 disabled
CONFIG
    haproxy -D -f "$dir/haproxy.cfg" 2>> "$dir/log/start.log" || die "HAProxy did not start; see $dir/log"
    environment="HAPROXY_SOCKET=$dir/run/admin.sock"
}

start_netconfd() {
    local socket=$dir/run/ncx.sock
    setsid netconfd --superuser=root --access-control=off --target=candidate --no-startup --port="$port" --log="$dir/log/netconfd.log" \
        --module=ietf-interfaces --module=iana-if-type --module=ietf-ip --ncxserver-sockname="$socket" > "$dir/log/start.log" 2>&1 < /dev/null &
    echo $! > "$dir/run/netconfd.pid"
    for i in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done
    [ -S "$socket" ] || die "netconfd did not start; see $dir/log"
    subsystem="/usr/sbin/netconf-subsystem --ncxserver-sockname=$port@$socket"
    sshd_options=("Subsystem netconf $subsystem")
}

in_host() { env $environment PATH="$path" $enter "$@"; }

[ $# -ge 1 ] || { usage; exit 2; }
verb=$1; shift
dir= kind= port=2222 user=root banner= sshd_options=() environment= enter= subsystem= rest=()
path=/usr/sbin:/usr/bin:/sbin:/bin
while [ $# -gt 0 ]; do
    case $1 in
        --dir) dir=$2; shift 2 ;;
        --kind) kind=$2; shift 2 ;;
        --port) port=$2; shift 2 ;;
        -h|--help) usage; exit 0 ;;
        *) [ "$verb" = run ] || die "unknown option $1"; rest=("$@"); break ;;
    esac
done
case $verb in
install) install_packages "${packages[@]}"; exit 0 ;;
help|-h|--help) usage; exit 0 ;;
esac
[ -n "$dir" ] || die "--dir is needed"
mkdir -p "$dir/run" "$dir/log" "$dir/ssh"; dir=$(cd "$dir" && pwd -P)

case $verb in
start)
    install_packages "${packages[@]}"
    port_is_open && die "port $port is in use"
    chmod 755 "$dir"
    hostname=$kind-$port; ns=host-$port
    case $kind in
    openvswitch|linux|haproxy|netconfd) "start_$kind" ;;
    *) die "--kind is openvswitch, linux, haproxy or netconfd" ;;
    esac
    declare -p port ns environment enter subsystem > "$dir/instance.env"
    cat > "$dir/ssh/login" <<LOGIN
#!/bin/sh
export TERM=dumb PS1='root@$hostname:\${PWD}# ' PATH=$path $environment
cd /
exec ${subsystem:-$enter dash -i}
LOGIN
    start_sshd
    for i in $(seq 100); do port_is_open && break; sleep 0.1; done
    port_is_open || die "sshd does not listen; see $dir/log"
    show_login
    ;;
stop)
    [ -r "$dir/instance.env" ] || exit 0
    . "$dir/instance.env"
    for file in "$dir"/run/*.pid; do stop_pidfile "$file"; done
    ! ip netns list | awk '{print $1}' | grep -qx "$ns" || ip netns del "$ns"
    ;;
run)
    . "$dir/instance.env"
    if [ -n "$subsystem" ]; then
        SSH_CONNECTION="127.0.0.1 1 127.0.0.1 $port" USER=root exec $subsystem
    fi
    in_host sh -c "${rest[*]}"
    ;;
*) usage; exit 2 ;;
esac
