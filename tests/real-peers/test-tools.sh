#!/bin/bash
# Programs that tests use as independent judges: Chromium for pages, Python with jsonschema for schemas, and
# PostgreSQL as a store.
#
#   test-tools.sh install   install the packages
#
# Needs Debian 12, and root to install.
set -euo pipefail
script=test-tools.sh
. "$(dirname "$0")/common.sh"

[ "${1:-}" = install ] || { usage; exit 2; }
install_packages chromium git postgresql python3 python3-jsonschema
