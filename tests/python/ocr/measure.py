"""Prints the character error rate of the package rapidocr-onnxruntime on the pages of the OCR tests.

docs/ocr.md says how to run it. It is no test: it needs the package's own dependencies, ONNX Runtime among them.
"""

from rapidocr_onnxruntime import RapidOCR

from .pages import load_pages
from .score import error_rate


def main():
    engine = RapidOCR()
    for name, (picture, text) in load_pages().items():
        result, _ = engine(picture)
        lines = [line for _, line, _ in result or []]
        print(f"{name}: {error_rate(lines, text):.4f}")
        for line in lines:
            print(f"    {line}")


if __name__ == "__main__":
    main()
