"""The folder of an experiment: what was finished, what goes on, and what it is of.

    run.json            what the numbers depend on: name, scale, seed, device, versions, sources
    parts/NAME.json     the runs of a finished part
    parts/*.safetensors checkpoints of the parts that are not finished
    networks/           the trained networks
    result.json         the result, once all parts are finished
    figures/            its figures

Every file is replaced as a whole, so a process may be killed at any moment. One process at a time
works in a folder.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from rankcheck import files
from rankcheck.catalogue.collect import project_folder
from rankcheck.errors import InputError
from rankcheck.experiments.base import Part
from rankcheck.experiments.result import Result, Run, check_finite, rounded
from rankcheck.stored import StoredError, build, read_json, shown
from rankcheck.versions import versions

__all__ = ["Finished", "Folder", "Head", "opened"]

SCHEMA = 1
_PACKAGE = Path(__file__).parents[1]
#: Rooms that only show what was found: they change no number.
_SHOWING = ("commands", "terminal", "report", "pytest_plugin", "_properties")
_FOLDERS = ("parts", "networks", "figures")
#: What an interrupted write leaves (`rankcheck.files`).
_PARTIAL = re.compile(r"\..{1,40}\.[a-z0-9_]{8}")


@cache
def _versions() -> Mapping[str, str]:
    return versions()


@cache
def _sources() -> str:
    """A hash of the sources of rankcheck, and of the claims that audits evaluate."""
    found = hashlib.sha256()
    for folder in (_PACKAGE, project_folder()):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder)
            if folder != _PACKAGE or name.parts[0] not in _SHOWING:
                found.update(f"{name.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@dataclass(frozen=True)
class Head:
    """What the numbers of a folder depend on."""

    experiment: str
    scale: str
    seed: int
    device: str
    versions: Mapping[str, str] = field(default_factory=lambda: dict(_versions()))
    sources: str = field(default_factory=lambda: _sources())
    schema: int = SCHEMA

    @property
    def hash(self) -> str:
        """A hash of all of it."""
        said = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Finished:
    """A part that is finished.

    Attributes:
        identity: of the part and of the head.
        seconds: of processor time, those before an interruption included.
        runs: in the order of its seeds.
    """

    identity: str
    seconds: float
    runs: tuple[Run, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.seconds < math.inf:
            raise ValueError(f"it took {self.seconds} s; seconds are not negative, and finite")

    def check(self, part: Part) -> None:
        """Refuse runs that are not those of the part.

        Raises:
            ValueError: with the rule.
        """
        found = [(run.part, run.seed) for run in self.runs]
        if found != [(part.name, seed) for seed in part.seeds]:
            raise ValueError(
                f"its runs are {shown(found, 200)}; a part has a run for each seed, in their order"
            )


class Folder:
    """A folder that is locked for this process; `opened` makes it."""

    def __init__(self, path: Path, head: Head) -> None:
        self.path, self.head = path, head

    @property
    def result_path(self) -> Path:
        """Where the result is kept."""
        return self.path / "result.json"

    def identity(self, part: Part) -> str:
        """What identifies the file of a part."""
        return f"{part.identity} {self.head.hash}"

    def result(self, parts: Sequence[Part]) -> Result | None:
        """The result, if all parts were finished.

        Raises:
            InputError: if it cannot be read, or is of another experiment.
        """
        path = self.result_path
        if not path.exists():
            return None
        rule = "delete it, and the same command makes it again from the parts that are kept"
        try:
            found = Result.of_json(read_json(path))
        except (OSError, StoredError) as error:
            raise InputError(f"the result {path} cannot be read ({error}); {rule}") from error
        head = self.head
        here = (found.experiment, found.scale, found.seed, found.device)
        planned = [(part.name, seed) for part in parts for seed in part.seeds]
        if here != (head.experiment, head.scale, head.seed, head.device) or planned != [
            (run.part, run.seed) for run in found.runs
        ]:
            raise InputError(f"the result {path} is of another experiment; {rule}")
        return found

    def keep_result(self, result: Result) -> None:
        """Write the result."""
        _write(self.result_path, result.to_json())

    def finished(self, part: Part) -> Finished | None:
        """A part, if it was finished.

        Raises:
            InputError: if its file is of another part, or cannot be read.
        """
        path = self._part(part)
        if not path.exists():
            return None
        rule = "delete it to begin this part anew, or choose another folder"
        try:
            data = read_json(path)
            check_finite(data)
            found = build(Finished, data)
            if found.identity != self.identity(part):
                raise InputError(f"{path} is of another experiment; {rule}")
            found.check(part)
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read ({error}); {rule}") from error
        self._forget_checkpoints(part)
        return found

    def keep_part(self, part: Part, found: Finished) -> None:
        """Write a finished part; its checkpoints are deleted."""
        _write(self._part(part), rounded(asdict(found)))
        self._forget_checkpoints(part)

    def checkpoints(self, part: Part) -> list[Path]:
        """The checkpoints of a part that there are."""
        folder = self.path / "parts"
        return [
            *folder.glob(f"{part.name}.safetensors"),
            *folder.glob(f"{part.name}.*.safetensors"),
        ]

    def _part(self, part: Part) -> Path:
        return self.path / "parts" / f"{part.name}.json"

    def _forget_checkpoints(self, part: Part) -> None:
        for path in self.checkpoints(part):
            path.unlink()


def _write(path: Path, data: Any) -> None:
    try:
        files.write_json(path, data, follow=False, sync=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def opened(path: Path, head: Head, *, anew: bool = False) -> Iterator[Folder]:
    """Make a folder, or go on in one, and lock it.

    Args:
        anew: whether to delete what it has of this experiment, if that was finished or was begun by
            other versions or sources.

    Raises:
        InputError: if it cannot be used, is in use, or is of something else.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unusable(path, error) from error
    with _locked(path):
        try:
            if anew:
                _clear(path, head)
            _begin(path, head)
        except OSError as error:
            raise _unusable(path, error) from error
        yield Folder(path, head)


def _unusable(path: Path, error: OSError | ValueError) -> InputError:
    said = getattr(error, "strerror", None) or error
    return InputError(f"the folder {path} cannot be used: {said}; --out names another one")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a folder.

    Raises:
        InputError: if another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise InputError(
            f"another process is running the experiment in {path}; wait for it, or name another "
            "folder with --out"
        ) from error
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(handle)


def _begin(path: Path, head: Head) -> None:
    """Check what the folder is of, and make what it lacks.

    Raises:
        InputError: if it is of something else.
        OSError: if it cannot be read or written.
    """
    if (path / "run.json").exists():
        _check(path, head)
    else:
        others = [each.name for each in path.iterdir() if not _PARTIAL.fullmatch(each.name)]
        if others:
            raise InputError(
                f"the folder {path} has other files ({shown(sorted(others)[0])}); an experiment is "
                "kept in a folder of its own"
            )
    for name in _FOLDERS:
        inner = path / name
        if inner.is_symlink() or (inner.exists() and not inner.is_dir()):
            raise InputError(f"{inner} is a link or a file; it is a folder of the experiment")
    if (path / "result.json").exists():
        return  # it may be read where nothing can be written
    for folder in (path, path / "parts", path / "networks"):
        for left in folder.iterdir() if folder.exists() else ():
            if _PARTIAL.fullmatch(left.name) and not left.is_dir():
                left.unlink()
    (path / "parts").mkdir(exist_ok=True)
    _write(path / "run.json", asdict(head))


def _clear(path: Path, head: Head) -> None:
    """Delete what was finished, or was begun by other versions or sources.

    Raises:
        InputError: if it is not of this experiment.
        OSError: if it cannot be read or deleted.
    """
    if path.is_symlink():
        raise InputError(f"{path} is a link; nothing is deleted behind it")
    if not (path / "run.json").exists():
        return
    found = _head(path)
    there, result = path / "run.json", path / "result.json"
    same = replace(found, versions=head.versions, sources=head.sources)
    if same != head:
        _check(path, head)
    if found == head and not result.exists():
        return
    for name in _FOLDERS:
        inner = path / name
        if inner.is_symlink():
            raise InputError(f"{inner} is a link; it is a folder of the experiment")
        if inner.exists():
            shutil.rmtree(inner)
    result.unlink(missing_ok=True)
    there.unlink()


def _head(path: Path) -> Head:
    """What a folder is of.

    Raises:
        InputError: if that cannot be read.
        OSError: if the file cannot be.
    """
    try:
        return build(Head, read_json(path / "run.json"))
    except StoredError as error:
        raise InputError(f"{path / 'run.json'} cannot be read ({error}); {_rule(path)}") from error


def _rule(path: Path) -> str:
    return f"delete {path} to begin anew, or name another folder with --out"


def _check(path: Path, head: Head) -> None:
    """Compare what the folder is of.

    Raises:
        InputError: if it is not the same.
    """
    rule, found = _rule(path), _head(path)
    for name, value in asdict(head).items():
        there = getattr(found, name)
        if there == value:
            continue
        if name == "sources":
            raise InputError(f"{path} was begun by another version of rankcheck's sources; {rule}")
        if name == "versions":
            name, there, value = next(
                (f"version of {each}", there.get(each), value.get(each))
                for each in sorted({*there, *value})
                if there.get(each) != value.get(each)
            )
        raise InputError(
            f"{path} is of another run: its {name} is {shown(there)}, not {shown(value)}; {rule}"
        )
