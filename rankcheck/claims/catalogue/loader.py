"""Importing the files of selected claims, under module names that depend on the path alone."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from rankcheck.claims import registry
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.errors import InputError, contained
from rankcheck.files import project_folder, shown_path

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: rankcheck's own claims are modules of this package, in a wheel and in a checkout.
PROJECT_PACKAGE = "rankcheck._properties"
#: The packages that a file of claims may not replace, besides those of Python itself.
NEEDED = frozenset({"rankcheck", "torch", "numpy", "flint", "scipy", "cma", "hypothesis", "rich"})


@dataclass(frozen=True)
class BrokenClaim:
    """A claim that is not well formed; the others of its file are loaded.

    Attributes:
        problem: what is wrong with it, and where.
    """

    entry: Entry
    problem: str


def load(entries: Iterable[Entry]) -> list[Claim]:
    """The claims of the entries, in their order. Imports their files, and no others.

    Raises:
        InputError: if a file cannot be imported, or declares claims that its text does not show, or
            one of the claims is not well formed.
    """
    claims: list[Claim] = []
    for claim in load_each(entries):
        if isinstance(claim, BrokenClaim):
            raise InputError(claim.problem)
        claims.append(claim)
    return claims


def load_each(entries: Iterable[Entry]) -> list[Claim | BrokenClaim]:
    """As `load`, with a `BrokenClaim` for each claim that is not well formed.

    Raises:
        InputError: if a file cannot be imported, or declares claims that its text does not show.
    """
    entries = list(entries)
    for path in dict.fromkeys(entry.file for entry in entries):
        import_file(path)
    return [_loaded(entry) for entry in entries]


def _loaded(entry: Entry) -> Claim | BrokenClaim:
    if entry.problem is not None:
        return BrokenClaim(entry, entry.problem)
    malformed = registry.malformed().get(entry.id)
    if malformed is not None and malformed.file.resolve() == entry.file:
        return BrokenClaim(entry, f"{entry.place}: {entry.id}: {malformed.problem}")
    claim: Claim | None = registry.declared().get(entry.id)
    if claim is None or claim.file.resolve() != entry.file:
        raise InputError(f"{entry.place}: {entry.id} is not declared when the file is imported")
    from rankcheck.claims.variants import at, settings  # torch

    try:
        for one in settings(claim):
            at(claim, one)
    except InputError as error:  # a mark sets what is no dial
        raise InputError(f"{entry.place}: {error}") from error
    return claim


def import_file(path: Path) -> ModuleType:
    """Import a file of claims.

    The file may import its neighbours as `from ._shared import ...` or by their plain names. Its
    folder is appended to `sys.path`, so neighbours do not hide installed packages.

    Raises:
        InputError: one line with the place, whatever the file raises.
    """
    path = path.resolve()
    name = module_name(path)
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with _unhidden(), registry.recording(), contained():
            spec.loader.exec_module(module)
    except Exception as error:
        sys.modules.pop(name, None)
        cause = " ".join(str(error).split()) or "no message"
        raise InputError(
            f"{_place(path, error)}: the file cannot be imported; {type(error).__name__}: {cause}"
        ) from error
    return module


@contextmanager
def _unhidden() -> Iterator[None]:
    """Refuse code that hides or replaces modules; those that were there are put back."""
    import torch  # noqa: F401 -- so that it is known

    known = NEEDED | sys.stdlib_module_names
    everything = dict(sys.modules)
    before = {name: one for name, one in everything.items() if name.partition(".")[0] in known}
    try:
        yield
    finally:
        after = {**before, **sys.modules}
        hidden = [n for n, it in after.items() if sys.modules.get(n) is not before.get(n, it or n)]
        for name in hidden:
            sys.modules.pop(name, None)
        sys.modules.update(everything if hidden else {})
    if hidden:
        raise ImportError(f"it hides or replaces {hidden[0]}; rankcheck runs on what is installed")


class _FromSource(SourceFileLoader):
    """Compiles the text of a file whenever it is loaded.

    Python takes the bytecode of an earlier text where file size and second of the change agree.
    A certificate would be replayed for a claim that is no longer there.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def module_name(path: Path) -> str:
    """The module name of a file. Makes the package that the name begins with."""
    folder = project_folder()
    if path.is_relative_to(folder):
        _package(PROJECT_PACKAGE, folder)
        inner = path.relative_to(folder).with_suffix("")
        return ".".join((PROJECT_PACKAGE, *inner.parts))
    digest = hashlib.sha256(str(path.parent).encode()).hexdigest()[:12]
    package = f"rankcheck_claims_{digest}"
    _package(package, path.parent)
    return f"{package}.{path.stem.replace('.', '_')}"


def _package(name: str, folder: Path) -> None:
    """Make a folder importable under a package name, without an `__init__.py`."""
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package


def _place(path: Path, error: Exception) -> str:
    """The file, with the last of its lines in the traceback of an error."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines.append(error.lineno)
    return f"{shown_path(path)}:{lines[-1]}" if lines else shown_path(path)
