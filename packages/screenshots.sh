#!/bin/bash
# Takes the screenshots of the handbook: a plan and a run in a terminal, and the page of a plan.
#
#   packages/screenshots.sh PROGRAM
#
# Writes `docs/images`. Look at each image before it is committed. Needs Debian 12, and root to install packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
script=screenshots.sh
. "$here/../tests/real-peers/common.sh"
[ $# = 1 ] && [ -x "$1" ] || { usage >&2; exit 2; }
program=$(realpath "$1")
install_packages aha chromium fonts-dejavu-core imagemagick tmux
cd "$here/.."
mkdir -p docs/images
work=$(mktemp -d)
trap 'tmux -S "$work/tmux" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/switchtender"

page() { # IN.html OUT.png WIDTH HEIGHT
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" \
        --window-size="$3,$4" --screenshot="$work/page.png" "file://$1" 2> /dev/null
    convert "$work/page.png" -trim -bordercolor white -border 8 +repage -strip -colors 64 "$2"
}

terminal() { # NAME HEIGHT COMMAND
    tmux -S "$work/tmux" -f /dev/null new-session -d -x 110 -y "$2" "env PATH='$work/bin:$PATH' PS1='\$ ' TERM=xterm-256color bash --norc --noprofile"
    tmux -S "$work/tmux" send-keys "clear; $3; touch $work/done" Enter
    for _ in $(seq 600); do [ ! -e "$work/done" ] || break; sleep 0.1; done
    rm "$work/done"
    { echo "\$ $3"; tmux -S "$work/tmux" capture-pane -e -p | sed '/^\$ $/d'; } > "$work/$1.ansi"
    tmux -S "$work/tmux" kill-server
    aha --black --title "$1" < "$work/$1.ansi" |
        sed 's/<pre>/<pre style="font: 14px DejaVu Sans Mono; margin: 12px">/' > "$work/$1.html"
    page "$work/$1.html" "docs/images/$1.png" 1000 $(($2 * 18 + 60))
}

options='--inventory examples/inventory.toml --state examples/state --mock'
terminal plan 62 "switchtender plan $options --target sw1"
terminal apply 60 "switchtender apply $options"
"$program" plan $options --output html > "$work/plan.html"
page "$work/plan.html" docs/images/plan-page.png 1100 1500
ls -l docs/images
