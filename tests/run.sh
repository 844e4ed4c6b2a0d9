#!/usr/bin/env bash
# Sets up, builds and runs every test. Ends with "N passed, N failed".
#   tests/run.sh [--only cpp|c|python|java|go]... [--sanitize address|undefined|address,undefined|thread]
set -euo pipefail
cd "$(dirname "$0")/.."

only=() sanitize=""
while [ $# -gt 0 ]; do
  case $1 in
    --only) only+=("$2"); shift 2 ;;
    --sanitize) sanitize=$2; shift 2 ;;
    *) echo "usage: tests/run.sh [--only cpp|c|python|java|go]... [--sanitize KIND]" >&2; exit 2 ;;
  esac
done

if [ -n "$sanitize" ]; then
  tools/setup.sh build tests
  tools/build.sh --sanitize "$sanitize"
  [ ${#only[@]} -gt 0 ] || only=(cpp c)
  build=build-$sanitize
  # libgomp and oneDNN are not instrumented: what synchronises their own team is not seen, and gives false reports.
  [ "$sanitize" != thread ] || export OMP_NUM_THREADS=1
else
  tools/setup.sh
  tools/build.sh
  build=build
fi
source tools/env.sh
exec python3 tests/run.py "$build" ${only[@]+"${only[@]}"}
