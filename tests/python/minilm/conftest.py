import sys
from pathlib import Path

# The tests use the sample as it lies in the tree: `samples.ocr`.
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
