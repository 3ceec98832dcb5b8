# Parts of the scripts that start peers: packages, processes, and an OpenSSH server on loopback.
# Sourced. Uses the variables $script (name in messages), $dir, $port, $user, $banner and $sshd_options.

die() { echo "$script: $*" >&2; exit 1; }

# The comment at the beginning of the script.
usage() { sed -n '2,/^set -euo/p' "$0" | sed -e '$d' -e 's/^# \{0,1\}//'; }

# read_options NAME… -- VERB --NAME VALUE…: sets $verb and a variable for each option. `install` installs
# $packages and ends; other verbs need --dir.
read_options() {
    local names=()
    while [ "$1" != -- ]; do names+=("$1"); printf -v "$1" ''; shift; done
    shift
    [ $# -ge 1 ] || { usage; exit 2; }
    verb=$1; shift
    while [ $# -gt 0 ]; do
        case " ${names[*]} " in
            *" ${1#--} "*) [ $# -ge 2 ] || die "$1 needs a value"; printf -v "${1#--}" %s "$2"; shift 2 ;;
            *) die "unknown option $1" ;;
        esac
    done
    [ "$verb" = install ] && { install_packages "${packages[@]}"; exit 0; }
    [ -n "$dir" ] || die "--dir is needed"
    mkdir -p "$dir"; dir=$(cd "$dir" && pwd -P)
}

# wait_until_ready NAME…: until $port is open, while each process $dir/NAME.pid runs; its output is $dir/NAME.out
wait_until_ready() {
    local name
    for _ in $(seq 300); do
        port_is_open && return 0
        for name; do
            kill -0 "$(cat "$dir/$name.pid")" 2>/dev/null || { tail -5 "$dir/$name.out" >&2; die "the $name did not start"; }
        done
        sleep 0.1
    done
    die "not ready after 30 s; see $dir"
}

# install_packages NAME…
install_packages() {
    local missing=() p
    for p; do
        dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    [ "$(id -u)" = 0 ] || die "missing packages (${missing[*]}); run as root to install them"
    export DEBIAN_FRONTEND=noninteractive
    # Keep package scripts from starting the distribution's own services.
    local policy=/usr/sbin/policy-rc.d made=0 rc=0
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' > "$policy"; chmod 755 "$policy"; made=1
    fi
    apt-get install -y --no-install-recommends "${missing[@]}" >&2 ||
        { apt-get update >&2 && apt-get install -y --no-install-recommends "${missing[@]}" >&2; } || rc=1
    [ $made = 1 ] && rm -f "$policy"
    [ $rc = 0 ] || die "apt-get install failed"
}

# Is PID alive and does its command line name our directory?
ours() {
    local pid=$1
    [ -n "$pid" ] && [ -r "/proc/$pid/cmdline" ] && tr '\0' ' ' < "/proc/$pid/cmdline" | grep -qF -- "$dir/"
}

stop_pidfile() {
    local f=$1 pid i
    [ -s "$f" ] || return 0
    pid=$(cat "$f")
    if ours "$pid"; then
        kill "$pid" 2>/dev/null || true
        for i in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -0 "$pid" 2>/dev/null && kill -9 "$pid" 2>/dev/null
    fi
    rm -f "$f"
}

port_is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# Every login of $user runs $dir/ssh/login.
start_sshd() {
    local o
    mkdir -p "$dir/ssh" "$dir/run" "$dir/log" /run/sshd
    [ -s "$dir/ssh/host_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -C "$script" -f "$dir/ssh/host_ed25519"
    [ -s "$dir/ssh/host_rsa" ] || ssh-keygen -q -t rsa -b 2048 -N '' -C "$script" -f "$dir/ssh/host_rsa"
    [ -s "$dir/ssh/client" ] || ssh-keygen -q -t ed25519 -N '' -C "$user" -f "$dir/ssh/client"
    cp "$dir/ssh/client.pub" "$dir/ssh/authorized_keys"; chmod 644 "$dir/ssh/authorized_keys"
    awk -v h="[127.0.0.1]:$port" '{print h, $1, $2}' "$dir/ssh/host_ed25519.pub" "$dir/ssh/host_rsa.pub" > "$dir/ssh/known_hosts"
    chmod 755 "$dir/ssh/login"
    {
        for o in ${sshd_options[@]+"${sshd_options[@]}"}; do echo "$o"; done
        cat <<SSHD
Port $port
ListenAddress 127.0.0.1
HostKey $dir/ssh/host_ed25519
HostKey $dir/ssh/host_rsa
PidFile $dir/run/sshd.pid
AuthorizedKeysFile $dir/ssh/authorized_keys
StrictModes no
AllowUsers $user
PermitRootLogin prohibit-password
PasswordAuthentication yes
PubkeyAuthentication yes
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
PermitTTY yes
AllowTcpForwarding no
X11Forwarding no
MaxStartups 500
MaxSessions 100
LogLevel VERBOSE
ForceCommand $dir/ssh/login
SSHD
        [ -z "${banner:-}" ] || echo "Banner $dir/ssh/banner"
    } > "$dir/ssh/sshd_config"
    [ -z "${banner:-}" ] || cp "$banner" "$dir/ssh/banner"
    /usr/sbin/sshd -t -f "$dir/ssh/sshd_config" || die "sshd refused its configuration"
    /usr/sbin/sshd -f "$dir/ssh/sshd_config" -E "$dir/log/sshd.log"
}

# What a test needs for a login.
show_login() {
    echo "HOST=127.0.0.1"
    echo "PORT=$port"
    echo "USER=$user"
    echo "IDENTITY=$dir/ssh/client"
    echo "KNOWN_HOSTS=$dir/ssh/known_hosts"
}
