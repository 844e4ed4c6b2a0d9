#!/usr/bin/env bash
# Puts oneDNN's headers and libdnnl.so.3 into DEPS_DIR/onednn, where meson.build looks, unless the
# system has one that is new enough. Usage: tools/onednn.sh DEPS_DIR
set -euo pipefail
deps=$1
artifact=org.bytedeco:dnnl:3.13-1.5.14:jar

if pkg-config --atleast-version=3.4 dnnl 2>/dev/null; then
  exit 0
fi
case $(uname -m) in
  x86_64) classifier=linux-x86_64 ;;
  aarch64) classifier=linux-arm64 ;;
  *) echo "oneDNN: no prebuilt library for $(uname -m); install oneDNN >= 3.4" >&2; exit 1 ;;
esac
prefix=$deps/onednn
[ "$(cat "$prefix/.version" 2>/dev/null)" = "$artifact:$classifier" ] && exit 0

jar=$deps/onednn-jar/dnnl-3.13-1.5.14-$classifier.jar
if [ ! -f "$jar" ]; then
  echo "setup: fetching oneDNN (28 MB)"
  "$(dirname "$0")/fetch_jar.sh" "$artifact:$classifier" "$deps/onednn-jar"
fi

# The jar's libgomp stays in the jar: libdnnl.so.3 needs GOMP_4.0 at most, which the compiler's own
# libgomp.so.1 has, and our code runs on that one. A second copy beside libdnnl.so.3 would be a
# second team of threads.
new=$prefix.new.$$
rm -rf "$new"
mkdir -p "$new/lib"
python3 - "$jar" "$new" "org/bytedeco/dnnl/$classifier/" <<'PY'
import pathlib
import sys
import zipfile

jar, out, prefix = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
with zipfile.ZipFile(jar) as archive:
    for name in archive.namelist():
        inside = name.removeprefix(prefix)
        if name.endswith("/") or inside == name:
            continue
        if inside == "libdnnl.so.3":
            target = out / "lib" / inside
        elif inside.startswith("include/"):
            target = out / inside
        else:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(archive.read(name))
PY
chmod +x "$new/lib/libdnnl.so.3"
ln -s libdnnl.so.3 "$new/lib/libdnnl.so"
echo "$artifact:$classifier" >"$new/.version"
rm -rf "$prefix"
mv "$new" "$prefix"
