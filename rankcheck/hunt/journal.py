"""The journal of a hunt: finished shards as lines of JSON, appended and flushed to the disk.

The first line identifies the hunt. A crash can cut off the last line, which is then dropped; any
other line that is not a finished shard is an error.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rankcheck.files import in_a_file, make_folder, naming
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Outcome, Shard
from rankcheck.stored import StoredError, build, parse, shown

__all__ = ["Journal", "JournalError", "set_aside"]

SCHEMA = 5

#: How the key of a shard begins: its round, its place in the round, its strategy.
_KEY = re.compile(r"[0-9]{1,9}\.[0-9]{1,9} .*")

_RULE = "delete it, or name another one with --journal"


class JournalError(HuntError):
    """A file that is not the journal of this hunt, or cannot be used."""


@dataclass(frozen=True)
class _Line:
    """A line after the first one: a finished shard, and the seconds that the hunt had taken."""

    shard: str
    seconds: float
    outcome: Outcome

    def __post_init__(self) -> None:
        counts = self.outcome.counts
        if not _KEY.fullmatch(self.shard):
            raise ValueError(f"shard is {shown(self.shard)}; it begins like 0.1 screen")
        if min(counts.evaluated, counts.rejected, counts.rounding, counts.outside) < 0:
            raise ValueError("counts has a negative number")
        times = [self.seconds, self.outcome.seconds]
        finding = self.outcome.found
        sizes = [*self.outcome.least, 0.0 if finding is None else finding.violation or 0.0]
        if any(map(math.isnan, sizes)) or not all(0 <= seconds < math.inf for seconds in times):
            raise ValueError("a margin or a violation is NaN, or a time is not finite")


class Journal:
    """Outcomes by the key of their shard, in a file that grows.

    Args:
        head: what identifies the hunt: claim, hash, seed, strategies.

    Raises:
        JournalError: if the file belongs to another hunt or another version, is malformed, is
            being written by another hunt, or cannot be read or written.
    """

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self.path = path
        #: Seconds that the hunt had taken when the last line was written.
        self.seconds = 0.0
        self._outcomes: dict[str, Outcome] = {}
        self._head = {"journal": SCHEMA, **head}
        try:
            make_folder(path.parent)
            self._file = path.open("a+b")
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise _unusable(path, error) from error
        length = 1
        try:
            if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                raise JournalError(f"the journal {path} is not a file; a journal is one that grows")
            _lock(self._file, path)
            self._file.seek(0)
            length = self._read(self._file.read())
            self._file.truncate(length)
            if not length:
                self._append(self._head)
        except OSError as error:
            with suppress(OSError):
                self._file.close()
            if not length:  # it could not be begun
                path.unlink(missing_ok=True)
            raise _unusable(path, error) from error
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._outcomes)

    @property
    def rounds(self) -> int:
        """Number of rounds that were begun."""
        return 1 + max((int(key.split(".")[0]) for key in self._outcomes), default=-1)

    def get(self, shard: Shard) -> Outcome | None:
        """The outcome of a shard, if the journal has it."""
        return self._outcomes.get(shard.key)

    def add(self, shard: Shard, outcome: Outcome, seconds: float) -> None:
        """Write the outcome of a shard that ended `seconds` after the hunt began."""
        self._outcomes[shard.key] = outcome
        line = {"shard": shard.key, "seconds": round(seconds, 3), "outcome": asdict(outcome)}
        self._append(line)

    def _append(self, data: Mapping[str, Any]) -> None:
        with naming(self.path):
            self._file.write(_text(data))
            self._file.flush()
            os.fsync(self._file.fileno())

    def _read(self, text: bytes) -> int:
        """Read all whole lines; returns their length in bytes."""
        length = text.rfind(b"\n") + 1
        if not length and not _text(self._head).startswith(text):
            raise JournalError(f"{self.path} is not a journal; its first line identifies a hunt")
        for number, line in enumerate(text[:length].split(b"\n")[:-1], 1):
            try:
                data = parse(line)
                if number == 1:
                    self._check(data)
                else:
                    finished = build(_Line, data)
                    self._outcomes[finished.shard] = finished.outcome
                    self.seconds = max(self.seconds, finished.seconds)
            except StoredError as error:
                raise JournalError(
                    f"line {number} of the journal {self.path} is not a finished shard "
                    f"({error}); {_RULE}"
                ) from error
        return length

    def _check(self, head: Any) -> None:
        if not isinstance(head, dict) or "journal" not in head:
            raise JournalError(f"{self.path} is not a journal; its first line identifies a hunt")
        for name, value in self._head.items():
            if head.get(name) != value:
                raise JournalError(
                    f"{self.path} is the journal of another hunt, or of another version: its "
                    f"{name} is {shown(head.get(name), 200)}, not {value!r}; {_RULE}"
                )


def set_aside(path: Path) -> Path | None:
    """Rename the journal of a hunt that did not end, so that a new hunt can begin.

    Returns:
        Its new name: the old one, with the first number that is free. None if there was none.

    Raises:
        JournalError: if a hunt is writing it, or it cannot be renamed.
    """
    if not os.path.lexists(path):
        return None
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.{number}")):
        number += 1
    try:
        if not path.is_file():  # a link to nowhere, which would be followed; a folder, a device
            return path.rename(aside)
        with path.open("rb") as file:
            _lock(file, path)
            return path.rename(aside)
    except OSError as error:
        raise _unusable(path, error) from error


def _text(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def _unusable(path: Path, error: OSError | ValueError) -> JournalError:
    known = isinstance(error, FileExistsError | NotADirectoryError) and in_a_file(path)
    reason = known or getattr(error, "strerror", None) or error
    return JournalError(f"the journal {path} cannot be used: {reason}")


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock a journal until it is closed, so that no other hunt writes to it.

    Raises:
        JournalError: if another hunt holds it.
    """
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise JournalError(
            f"another hunt is writing the journal {path}; a journal belongs to one hunt, and "
            "--journal names another"
        ) from error
