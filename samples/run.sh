#!/usr/bin/env bash
# Reads the text of a picture with three OCR models on pyasc. Sets up and builds by itself.
#   samples/run.sh [IMAGE] [--compare] [--out FILE] [--threads N] [--repeat N]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

groups=(--samples)
for argument in "$@"; do
  if [ "$argument" = --compare ]; then groups=(samples peers); fi
done
"$root/tools/setup.sh" "${groups[@]}"
"$root/tools/build.sh" pyasc
export PYTHONPATH=$root:$root/build/bindings/python
exec "$root/.deps/venv/bin/python" -P -m samples.ocr.main "$@"
