#!/usr/bin/env bash
# Fetches a Maven artifact: fetch_jar.sh GROUP:NAME:VERSION[:jar:CLASSIFIER] DIR
set -euo pipefail
log=$(mvn -q -B dependency:copy -Dartifact="$1" -DoutputDirectory="$(realpath -m "$2")" 2>&1) ||
  { echo "$log" >&2; exit 1; }
