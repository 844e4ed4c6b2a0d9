#!/usr/bin/env bash
# Reads the text of a picture with three OCR models, and ranks sentences by meaning with a sentence encoder, all on pyasc. Sets up and
# builds by itself.
#   samples/run.sh                                                        both, on examples
#   samples/run.sh [ocr] [IMAGE] [--compare] [--out FILE] [--threads N] [--repeat N]
#   samples/run.sh search [QUERY] [--corpus FILE] [--top N] [--threads N] [--repeat N]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

sample=ocr
if [ $# -eq 0 ]; then sample=both; fi
case ${1:-} in
  ocr | search) sample=$1; shift ;;
esac
groups=(--samples)
for argument in "$@"; do
  if [ "$argument" = --compare ]; then groups=(samples peers); fi
done
"$root/tools/setup.sh" "${groups[@]}"
"$root/tools/build.sh" pyasc
export PYTHONPATH=$root:$root/build/bindings/python
run() { "$root/.deps/venv/bin/python" -P -m "$@"; }
case $sample in
  ocr) run samples.ocr.main "$@" ;;
  search) run samples.minilm.main "$@" ;;
  both)
    run samples.ocr.main
    echo
    run samples.minilm.main
    ;;
esac
