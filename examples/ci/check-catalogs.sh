#!/usr/bin/env bash
# Checks a directory of compiled catalogs in automation, before they are applied to devices.
#
#   examples/ci/check-catalogs.sh INVENTORY CATALOGS ARTIFACTS
#
# 1. `validate` checks types, values, relations, host resources in catalogs of devices, and
#    resources in conflict. It needs no network and no secrets.
# 2. `apply --mock` replaces every device of the inventory by a mock and applies the catalogs twice.
#    The second run must change nothing.
#
# Results in ARTIFACTS: findings.xml (JUnit), findings.sarif, and one report per device.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 INVENTORY CATALOGS ARTIFACTS" >&2; exit 1; }
inventory=$1 catalogs=$2 artifacts=$3
switchtender=${SWITCHTENDER:-switchtender}
mkdir -p "$artifacts/reports"

validate() { "$switchtender" validate "$catalogs" --inventory "$inventory" --host-resources refuse "$@"; }
# Automation displays these two files, so they are written even if the check fails.
validate --format junit > "$artifacts/findings.xml" || true
validate --format sarif > "$artifacts/findings.sarif" || true
validate

"$switchtender" apply --inventory "$inventory" --catalog "$catalogs" \
  --mock --check-idempotence --report "$artifacts/reports" --state-dir "$artifacts/state"
