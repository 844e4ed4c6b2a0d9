"""The three pages of the OCR tests with their true text."""

from samples.ocr.files import example_page, load_picture

from .render import PAGES, render

# What stands on scikit-image's page.png, read by eye. A further line at the lower edge is cut off.
EXAMPLE_LINES = (
    "Region-based segmentation",
    "Let us first determine markers of the coins and the",
    "background. These markers are pixels that we can label",
    "unambiguously as either object or background. Here,",
    "the markers are found at the two extreme parts of the",
    "histogram of grey values:",
    ">>> markers = np.zeros_like(coins)",
)


def load_pages():
    """Page name to (picture, true text)."""
    pages = {"example": (load_picture(example_page()), "\n".join(EXAMPLE_LINES))}
    for name, page in PAGES.items():
        pages[name] = (render(page), page.text)
    return pages
