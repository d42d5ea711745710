"""The stamp of an installation whose canaries came out right, so that the next run need not ask.

It is a digest of all that the canaries rest on: the sources of rankcheck, what pip says that it has
installed, the processor, the BLAS and the instructions that torch uses, and the variables that
change arithmetic. The digests of the latest few such installations are kept in one small file in
the user's cache folder, `canaries.json`. Without it, or where it cannot be written, canaries run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from rankcheck._version import IMPORTED
from rankcheck.files import write_json
from rankcheck.stored import StoredError, read_json
from rankcheck.versions import PACKAGES, versions

__all__ = ["FOLDER", "Stamp", "path"]

#: The variable that names another cache folder.
FOLDER = "RANKCHECK_CACHE"
#: So many digests are kept: commands and pytest run with other variables.
KEPT = 16
#: Sources that changed so many seconds before this process imported them, or later, may be others
#: than it runs: no stamp is kept of them.
SETTLED = 10.0
#: What changes arithmetic, or which libraries are loaded.
VARIABLES = (
    "ATEN_", "BLIS_", "DNNL_", "DYLD_", "GOMP_", "GOTO_", "HYPOTHESIS_", "KMP_", "LD_", "MKL_",
    "NPY_", "OMP_", "ONEDNN_", "OPENBLAS_", "PYTORCH_", "TORCH_", "VECLIB_",
)  # fmt: skip


def path() -> Path:
    """The file of the stamps."""
    if named := os.environ.get(FOLDER):
        return Path(named) / "canaries.json"
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "rankcheck" / "canaries.json"


@dataclass(frozen=True)
class Stamp:
    """The stamp of the installation that this process runs.

    Attributes:
        digest: of all that the canaries rest on; empty where something of it cannot be told.
        settled: whether what this process has imported is what the digest was made of.
    """

    digest: str
    settled: bool

    @classmethod
    def of_this_process(cls) -> Stamp:
        """The stamp; made before the canaries run, as the sources may change meanwhile."""
        sources = sorted(Path(__file__).parents[1].rglob("*.py"))
        try:
            text = "\x1f".join([*_sources(sources), *_installed(), *_machine(), *_variables()])
            newest = max(source.stat().st_mtime for source in sources)
        except (OSError, RuntimeError, ValueError, metadata.PackageNotFoundError):
            return cls("", False)
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        return cls(digest, newest < IMPORTED - SETTLED)

    @property
    def current(self) -> bool:
        """Whether the canaries have come out right for it."""
        return bool(self.digest) and self.digest in _kept()

    def keep(self) -> None:
        """Note that the canaries came out right; where the file cannot be written, nobody knows."""
        if self.digest and self.settled:
            _write([self.digest, *(one for one in _kept() if one != self.digest)][:KEPT])

    def forget(self) -> None:
        """Note that a canary came out wrong."""
        if self.current:
            _write([one for one in _kept() if one != self.digest])


def _kept() -> list[str]:
    """The digests in the file, the latest first; none if it is not such a file."""
    try:
        kept = read_json(path())["passed"]
    except (OSError, RuntimeError, StoredError, KeyError, TypeError):
        return []
    return [one for one in kept if isinstance(one, str)] if isinstance(kept, list) else []


def _write(digests: list[str]) -> None:
    with suppress(OSError, RuntimeError):  # a home that nobody knows, or that is read-only
        file = path()
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, {"passed": digests})


def _sources(files: list[Path]) -> Iterator[str]:
    """The sources by their contents, and what Python imports before them."""
    for file in files:
        yield str(file)
        yield hashlib.sha256(file.read_bytes()).hexdigest()
    for name in ("sitecustomize", "usercustomize"):
        if file_ := getattr(sys.modules.get(name), "__file__", None):
            yield hashlib.sha256(Path(file_).read_bytes()).hexdigest()


def _installed() -> Iterator[str]:
    """Versions, and of each package where it is and the hashes of its files, as pip has them."""
    yield json.dumps(versions())
    yield f"{sys.version} {sys.flags.optimize}"
    for name in PACKAGES:
        found = metadata.distribution(name)
        yield str(found.locate_file(""))
        yield hashlib.sha256((found.read_text("RECORD") or "").encode()).hexdigest()


def _machine() -> Iterator[str]:
    """The processor, and what torch and its BLAS make of it."""
    import torch

    yield f"{platform.platform()} {platform.processor()}"
    with suppress(OSError):
        first, _, _ = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")
        varying = ("processor", "cpu mhz", "bogomips", "core id", "apicid", "initial apicid")
        yield "\n".join(line for line in first.splitlines() if _name(line) not in varying)
    yield torch.backends.cpu.get_cpu_capability()
    yield torch.__config__.show()


def _name(line: str) -> str:
    return line.partition(":")[0].strip().lower()


def _variables() -> Iterator[str]:
    for name in sorted(os.environ):
        if name.upper().startswith(VARIABLES):
            yield f"{name}={os.environ[name]}"
