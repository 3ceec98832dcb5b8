#!/bin/bash
# Programs that tests use as independent judges: Chromium for pages, and Python with jsonschema for schemas. PostgreSQL
# is a store, libfaketime sets the clocks of processes, and `ip` gives them networks.
#
#   test-tools.sh install   install the packages
#
# Needs Debian 12, and root to install.
set -euo pipefail
script=test-tools.sh
. "$(dirname "$0")/common.sh"

[ "${1:-}" = install ] || { usage; exit 2; }
install_packages chromium faketime git iproute2 postgresql python3 python3-jsonschema
