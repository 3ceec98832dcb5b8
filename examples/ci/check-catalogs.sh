#!/usr/bin/env bash
# Checks a directory of compiled catalogs in automation, before any device sees them.
#
#   examples/ci/check-catalogs.sh INVENTORY CATALOGS ARTIFACTS
#
# 1. What can be known without a device: types, values, relations, host resources in catalogs of
#    devices, the same thing set twice. No network, no secret.
# 2. What only a device can say: every device of the inventory is replaced by a stand-in that is
#    as strict as the real one, and the catalogs are applied to it, twice: the second run must
#    change nothing.
#
# ARTIFACTS gets findings.xml (JUnit), findings.sarif, and a report per device.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 INVENTORY CATALOGS ARTIFACTS" >&2; exit 1; }
inventory=$1 catalogs=$2 artifacts=$3
switchtender=${SWITCHTENDER:-switchtender}
mkdir -p "$artifacts/reports"

validate() { "$switchtender" validate "$catalogs" --inventory "$inventory" --host-resources refuse "$@"; }
# Automation shows these two; they must be there when the check fails, so failing comes after.
validate --format junit > "$artifacts/findings.xml" || true
validate --format sarif > "$artifacts/findings.sarif" || true
validate

"$switchtender" apply --inventory "$inventory" --catalog "$catalogs" \
  --mock --check-idempotence --report "$artifacts/reports" --state-dir "$artifacts/state"
