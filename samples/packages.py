"""Where the files lie that samples take from installed Python packages."""

import importlib.util
from pathlib import Path


def package_folder(package):
    """Where an installed package lies. It is not imported: some would bring in other engines."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            f"the Python package `{package}` is not installed: `tools/setup.sh --samples` installs it"
        )
    return Path(next(iter(spec.submodule_search_locations)))
