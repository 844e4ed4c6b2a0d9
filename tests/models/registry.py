"""What a test model is, and the cache of generated files."""

import dataclasses
import hashlib
import importlib.util
import os
import pathlib
import time
from collections.abc import Callable, Mapping

SOURCES = pathlib.Path(__file__).resolve().parent
_STALE_AFTER_S = 24 * 3600


@dataclasses.dataclass(frozen=True)
class Model:
    """One model: where its file comes from, and how inputs for it are made.

    `make_inputs(rng, **dims)` returns the input arrays by name; the defaults of `dims` are the sizes that benchmarks use.
    `feedback` maps an output to the input that it becomes in the next step, for models that carry a state; their
    `make_inputs` takes `step`.
    """

    name: str
    make_inputs: Callable
    feedback: Mapping[str, str] = dataclasses.field(default_factory=dict, kw_only=True)

    def path(self, **options) -> pathlib.Path:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class GeneratedModel(Model):
    """A model that `build(**options)` makes; `sources` are the files whose content decides what it makes."""

    build: Callable
    sources: tuple[str, ...]

    def path(self, **options):
        variant = "".join(f"-{key}_{value}" for key, value in sorted(options.items()))
        return cached_file(self.name + variant, self.sources, lambda: self.build(**options))


@dataclasses.dataclass(frozen=True)
class PackagedModel(Model):
    """A file inside an installed Python package, which is located without being imported."""

    package: str
    file: str

    def path(self):
        return packaged_file(self.package, self.file)


def packaged_file(package, file):
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise FileNotFoundError(f"the Python package {package!r}, which ships {file}, is not installed")
    found = pathlib.Path(spec.origin).parent / file
    if not found.is_file():
        raise FileNotFoundError(f"the installed package {package!r} does not ship {file}")
    return found


def cache_folder():
    """`PYASC_MODEL_CACHE`, or `.cache/models` in the checkout."""
    return pathlib.Path(os.environ.get("PYASC_MODEL_CACHE") or SOURCES.parents[1] / ".cache" / "models")


def cached_file(stem, sources, build):
    """The file of `build()`'s ModelProto, made once for each content of `sources` (names relative to this folder)."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update((SOURCES / source).read_bytes())
    folder = cache_folder()
    target = folder / f"{stem}-{digest.hexdigest()[:12]}.onnx"
    if target.exists():
        os.utime(target)
        return target
    folder.mkdir(parents=True, exist_ok=True)
    content = build().SerializeToString()
    # Others may generate the same file at the same time: nobody may see half of it.
    unfinished = folder / f".{stem}-{os.getpid()}"
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    _drop_stale(folder, stem, target)
    return target


def _drop_stale(folder, stem, keep):
    """Removes files of earlier sources. Young ones stay: another checkout may share the folder."""
    for old in folder.glob(f"{stem}-{'[0-9a-f]' * 12}.onnx"):
        if old != keep and time.time() - old.stat().st_mtime > _STALE_AFTER_S:
            old.unlink(missing_ok=True)
