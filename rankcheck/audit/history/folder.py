"""The checkpoints of a folder: which files they are, and which of them are written to the end."""

from __future__ import annotations

import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import ENDINGS
from rankcheck.audit.reading.opening import where

__all__ = ["Entry", "Folder", "Looks"]

#: The names, without endings, under which a folder of one checkpoint may hold the network.
NETWORKS = ("model", "pytorch_model")
#: Why a file with another name is left out.
OTHER = "its name ends as that of no model"


@dataclass(frozen=True)
class Entry:
    """A file as it is seen at one look.

    Attributes:
        name: inside the folder.
        state: its size and when it was written, in nanoseconds.
    """

    name: str
    path: Path
    state: tuple[int, int]

    @property
    def written(self) -> float:
        """When it was written, in seconds since 1970."""
        return self.state[1] / 1e9

    @property
    def changed(self) -> bool:
        """Whether the file is another one now, or gone."""
        return _state(self.path) != self.state


@dataclass(frozen=True)
class Folder:
    """A folder of checkpoints.

    Checkpoints are the files whose names end as those of models do, in the folder itself; and of a
    folder inside, the only such file, or the one that is called so (`checkpoint-500/model.pt`).

    Attributes:
        without: files that are left out without a word: the data, and what is written.
        every: whether all files are taken for checkpoints, whatever their names end in.
    """

    path: Path
    without: Collection[Path] = ()
    every: bool = False

    def look(self) -> tuple[list[Entry], dict[str, str]]:
        """The checkpoints in it, and the names of all else, each with why it is none.

        Raises:
            ModelError: the folder cannot be read.
        """
        left_out = {one.absolute() for one in self.without}
        found: list[Entry] = []
        others: dict[str, str] = {}
        for path in self._listed(self.path):
            if path.absolute() in left_out:
                continue
            name = path.name
            if path.is_symlink() and path.resolve().parent == self.path.resolve():
                others[name] = f"a link to {path.resolve().name}"  # `latest` of some trainers
                continue
            if path.is_dir() and not name.startswith("."):
                inner = self._network(path)
                name = f"{name}/{'' if inner is None else inner.name}"
                path = path if inner is None else inner
            state = _state(path)
            if state is not None and self._named(path):
                found.append(Entry(name, path, state))
            elif path.exists():
                folder = name.endswith("/")
                why = "a folder, and not of one model" if folder else OTHER
                others[name] = why
        return found, others

    def _listed(self, folder: Path) -> list[Path]:
        try:
            return sorted(folder.iterdir())
        except OSError as error:
            raise ModelError(
                f"cannot read the folder {where(folder)}: {error.strerror or error}"
            ) from error

    def _named(self, path: Path) -> bool:
        """Whether the name of a file is that of a checkpoint."""
        known = self.every or path.suffix.lower() in ENDINGS
        return known and not path.name.startswith(".")

    def _network(self, folder: Path) -> Path | None:
        """The network of a checkpoint that is a folder; None if that is not certain."""
        try:
            files = [one for one in self._listed(folder) if one.is_file() and self._named(one)]
        except ModelError:
            return None
        called = files if len(files) == 1 else [one for one in files if one.stem in NETWORKS]
        return called[0] if len(called) == 1 else None


class Looks:
    """What is new in a folder from look to look; a file is read once.

    A file is ready if its size and its time are those of the look before, and it is not empty. One
    that could not be read is ready again when it has changed.

    Attributes:
        others: what else was there at both looks, each with why it is no checkpoint.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] = {}
        self._tried: dict[str, tuple[int, int]] = {}
        self._read: dict[str, tuple[int, int]] = {}
        self._waiting: list[str] = []
        self._beside: dict[str, str] = {}
        self.others: dict[str, str] = {}

    @property
    def waiting(self) -> tuple[str, ...]:
        """The files of the last look that were not read since."""
        return tuple(name for name in self._waiting if name not in self._read)

    def ready(self, *, final: bool = False) -> list[Entry]:
        """Look again: the files that can be read now.

        Args:
            final: whether the folder is complete; then these are all that were not read.
        """
        found, others = self._folder.look()
        self.others = {name: others[name] for name in others if final or name in self._beside}
        self._beside = others
        self._waiting = [one.name for one in found]
        ready = []
        for one in found:
            steady = self._seen.get(one.name) == one.state and one.state[0] > 0
            new = one.name not in self._read and self._tried.get(one.name) != one.state
            if new and (steady or final):
                ready.append(one)
            self._seen[one.name] = one.state
        return ready

    def tried(self, entry: Entry, *, read: bool) -> None:
        """Say that a file was read, or could not be."""
        (self._read if read else self._tried)[entry.name] = entry.state

    def again(self) -> list[str]:
        """The files that were written again since they were read, each once."""
        found = [name for name, state in self._read.items() if self._seen.get(name) != state]
        for name in found:
            self._read[name] = self._seen[name]
        return found


def _state(path: Path) -> tuple[int, int] | None:
    """The size and the time of writing of a regular file; None of anything else."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
