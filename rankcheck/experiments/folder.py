"""The folder of an experiment: what was finished, and what it is of.

    run.json            what the numbers depend on: name, scale, seed, device, versions, sources
    parts/NAME.json     the runs of a finished part
    networks/           the trained networks
    result.json         the result, once all parts are finished
    figures/            its figures

Every file is replaced as a whole, so a process may be killed at any moment: what is finished is
kept, and the rest is done again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rankcheck import files
from rankcheck.errors import InputError
from rankcheck.experiments.base import Part
from rankcheck.experiments.result import Result, Run, packed, rounded, unpacked
from rankcheck.files import project_folder
from rankcheck.stored import StoredError, build, read_json, shown
from rankcheck.versions import versions

__all__ = ["Finished", "Folder", "Head", "misfit"]

_PACKAGE = Path(__file__).parents[1]
#: Rooms that only show what was measured: they change no number.
_SHOWING = ("commands", "terminal", "report", "pytest_plugin", "_properties")


@cache
def _versions() -> Mapping[str, str]:
    return versions()


@cache
def _sources() -> str:
    """A hash of the sources of rankcheck, and of the claims that audits evaluate."""
    sources = hashlib.sha256()
    for folder in (_PACKAGE, project_folder()):
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder)
            if folder != _PACKAGE or name.parts[0] not in _SHOWING:
                sources.update(f"{name.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return sources.hexdigest()[:16]


@dataclass(frozen=True)
class Head:
    """What the numbers of a folder depend on."""

    experiment: str
    scale: str
    seed: int
    device: str
    versions: Mapping[str, str] = field(default_factory=lambda: dict(_versions()))
    sources: str = field(default_factory=lambda: _sources())


@dataclass(frozen=True)
class Finished:
    """A part that is finished: the seconds of processor time, and a run for each of its seeds."""

    seconds: float
    runs: tuple[Run, ...]


class Folder:
    """A folder of this experiment, which is made if there is none.

    Args:
        anew: whether what it has of an experiment is deleted first, if that was finished or is
            another one.

    Raises:
        InputError: if it cannot be used, or is of something else.
    """

    def __init__(self, path: Path, head: Head, *, anew: bool = False) -> None:
        self.path, self.head = path, head
        try:
            files.make_folder(path.parent)
            path.mkdir(exist_ok=True)
            inside = [path, *path.rglob("*")] if anew else path.rglob("*")
            if links := [each for each in inside if each.is_symlink()]:
                raise InputError(f"{links[0]} is a link; nothing is written or deleted behind it")
            stored = self._there()
            if (
                anew
                and stored is not None
                and (stored != asdict(head) or self.result_path.exists())
            ):
                self._clear()
                stored = None
            self._compare(stored)
            if stored is None:
                files.write_json(path / "run.json", asdict(head), follow=False)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            if isinstance(error, InputError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"the folder {path} cannot be used: {reason}; --out names another one"
            ) from error

    @property
    def result_path(self) -> Path:
        """Where the result is kept."""
        return self.path / "result.json"

    @property
    def networks(self) -> Path:
        """Where the trained networks are kept."""
        return self.path / "networks"

    def result(self, parts: Sequence[Part]) -> Result | None:
        """The result, if all parts were finished.

        Raises:
            InputError: if it cannot be read, or is of another experiment.
        """
        path = self.result_path
        if not path.exists():
            return None
        try:
            result = Result.of_json(read_json(path))
            if why := misfit(result.runs, parts):
                raise StoredError(why)
        except (OSError, StoredError) as error:
            raise InputError(
                f"the result {path} cannot be read ({error}); delete it, and the same command "
                "makes it again from the parts that are kept"
            ) from error
        return result

    def keep_result(self, result: Result) -> None:
        """Write the result."""
        files.write_text(self.result_path, result.to_text(), follow=False, sync=True)

    def finished(self, part: Part) -> Finished | None:
        """A part, if it was finished.

        Raises:
            InputError: if its file is of another part, or cannot be read.
        """
        path = self._part(part)
        if not path.exists():
            return None
        try:
            data = read_json(path)
            runs = unpacked(data)
            if why := misfit(runs, [part]):
                raise StoredError(why)
            return Finished(float(data["seconds"]), runs)
        except (OSError, LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{path} cannot be read ({error}); delete it to train this part again"
            ) from error

    def keep_part(self, part: Part, finished: Finished) -> None:
        """Write a finished part."""
        path = self._part(part)
        path.parent.mkdir(exist_ok=True)
        data = {"seconds": finished.seconds} | packed(finished.runs)
        files.write_text(path, json.dumps(data) + "\n", follow=False, sync=True)

    def _part(self, part: Part) -> Path:
        return self.path / "parts" / f"{part.name}.json"

    def _there(self) -> dict[str, Any] | None:
        """What the folder is of, as JSON; None if it is empty.

        Raises:
            InputError: if it has other files, or that cannot be read.
            OSError: if it cannot be read.
        """
        path = self.path / "run.json"
        if path.exists():
            try:
                return build(dict[str, Any], read_json(path))
            except StoredError as error:
                raise InputError(f"{path} cannot be read ({error}); {self._rule}") from error
        others = sorted(each.name for each in self.path.iterdir() if each.name[0] != ".")
        if others:
            raise InputError(
                f"the folder {self.path} has other files ({shown(others[0])}); an experiment is "
                "kept in a folder of its own"
            )
        return None

    def _compare(self, stored: Mapping[str, Any] | None) -> None:
        """Refuse a folder of another run.

        Raises:
            InputError: saying in what it differs.
        """
        own = asdict(self.head)
        if stored is None or stored == own:
            return
        name = next((each for each in own if stored.get(each) != own[each]), "schema")
        raise InputError(
            f"{self.path} is of another run, with the {name} {shown(stored.get(name))}, not "
            f"{shown(own.get(name))}; {self._rule}"
        )

    @property
    def _rule(self) -> str:
        return f"delete {self.path} to begin anew, or name another folder with --out"

    def _clear(self) -> None:
        for name in ("parts", "networks", "figures"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in ("result.json", "run.json"):
            (self.path / name).unlink(missing_ok=True)


def misfit(runs: Sequence[Run], parts: Sequence[Part]) -> str:
    """Why these are not the runs of these parts, with their settings and seeds; empty if they are.

    Settings of a record are rounded, and so are those of the parts before they are compared.
    """
    expected = [(part.name, seed) for part in parts for seed in part.seeds]
    given = [(run.part, run.seed) for run in runs]
    if sorted(given) != sorted(expected):
        missing = Counter(expected) - Counter(given)
        part, seed = min(missing or Counter(given) - Counter(expected))
        return f"it has {'no run' if missing else 'a run too many'} of {part} with seed {seed}"
    settings = {part.name: rounded(part.settings) for part in parts}
    for run in runs:
        now = settings[run.part]
        for name in sorted({*now, *run.settings}):
            if now.get(name) != run.settings.get(name):
                return (
                    f"the setting {name} of {run.part} was {run.settings.get(name)!r} and is now "
                    f"{now.get(name)!r}"
                )
    return ""
