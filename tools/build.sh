#!/usr/bin/env bash
# Configures once and builds.
#   tools/build.sh [--sanitize address|undefined|address,undefined|thread] [--dir DIR] [-D...] [TARGET...]
# The target pyasc is the Python package with the library, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/env.sh

dir="" sanitize="" options=() targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize) sanitize=$2; shift ;;
    --dir) dir=$2; shift ;;
    -D*) options+=("$1") ;;
    -*) echo "build: unknown option $1" >&2; exit 2 ;;
    *) targets+=("$1") ;;
  esac
  shift
done
case $sanitize in
  "") ;;
  address | undefined | address,undefined | thread)
    options+=("-Db_sanitize=$sanitize" -Db_lundef=false -Db_ndebug=false -Ddebug=true
      -Doptimization=1 -Dpython=disabled -Djava=disabled -Dgo=disabled)
    [ "$sanitize" = thread ] && options+=(-Dthreads=std)
    ;;
  *) echo "build: --sanitize takes address, undefined, address,undefined or thread, not '$sanitize'" >&2; exit 2 ;;
esac
dir=${dir:-build${sanitize:+-$sanitize}}

# Configured again when the options differ, or when the tools of a language or of the tests have come
# or gone: Meson decides only then what there is to build.
key="${options[*]-} $(command -v swig python3 javac go | tr '\n' ' ' || true)"
key+=$(pkg-config --exists gtest_main cmocka && echo tests || true)
mkdir -p "$dir"
if [ "$(cat "$dir/.configured" 2>/dev/null)" != "$key" ]; then
  echo "build: configuring $dir"
  again=""
  [ -f "$dir/build.ninja" ] && again="--reconfigure --clearcache"
  meson setup "$dir" $again ${options[@]+"${options[@]}"} >"$dir/setup.log" 2>&1 ||
    { tail -n 30 "$dir/setup.log" >&2; exit 1; }
  echo "$key" >"$dir/.configured"
fi
ninja -C "$dir" build.ninja >"$dir/setup.log" 2>&1 || { tail -n 30 "$dir/setup.log" >&2; exit 1; }
echo "build: compiling in $dir"
# On a terminal ninja keeps one line up to date; in a log every tenth part of the way is enough.
progress() {
  awk '!match($0, /^\[[0-9]+\/[0-9]+\]/) { if (!/^ninja: /) print; fflush(); next }
    { split(substr($0, 2, RLENGTH - 2), at, "/"); tenth = int(10 * at[1] / at[2]) }
    at[2] > 20 && tenth > last { print "build: " at[1] " of " at[2]; fflush(); last = tenth }'
}
if [ -t 1 ]; then
  ninja -C "$dir" -j "${JOBS:-$(nproc)}" ${targets[@]+"${targets[@]}"}
else
  ninja -C "$dir" -j "${JOBS:-$(nproc)}" ${targets[@]+"${targets[@]}"} | progress
fi
