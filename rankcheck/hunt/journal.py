"""The journal of a hunt: finished shards as lines of JSON, appended and flushed to the disk.

The first line identifies the hunt. A crash can cut off the last line, which is then dropped; any
other line that cannot be read is an error.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Outcome, Shard

SCHEMA = 3


class JournalError(HuntError):
    """A file that is not the journal of this hunt, or cannot be used."""


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
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            _lock(self._file, path)
            self._file.seek(0)
            kept = self._read(self._file.read())
            self._file.truncate(kept)
        except OSError as error:
            self._file.close()
            raise _unusable(path, error) from error
        except BaseException:
            self._file.close()
            raise
        if not kept:
            self._append(self._head)

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
        line = {"shard": shard.key, "seconds": round(seconds, 3), "outcome": outcome.to_json()}
        self._append(line)

    def _append(self, data: Mapping[str, Any]) -> None:
        self._file.write(_line(data))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, text: bytes) -> int:
        """Read all whole lines; returns their length in bytes."""
        whole = text.rfind(b"\n") + 1
        if not whole and not _line(self._head).startswith(text):
            raise JournalError(f"{self.path} is not a journal; its first line identifies a hunt")
        for number, line in enumerate(text[:whole].splitlines(), 1):
            try:
                data = json.loads(line)
                if number == 1:
                    self._check(data)
                else:
                    int(data["shard"].split(".")[0])
                    self._outcomes[data["shard"]] = Outcome.from_json(data["outcome"])
                    self.seconds = _later(float(data["seconds"]), self.seconds)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                if isinstance(error, JournalError):
                    raise
                raise JournalError(
                    f"line {number} of the journal {self.path} is not a finished shard "
                    f"({type(error).__name__}: {error}); delete it, or name another one with "
                    "--journal"
                ) from error
        return whole

    def _check(self, head: Any) -> None:
        if not isinstance(head, dict) or "journal" not in head:
            raise JournalError(f"{self.path} is not a journal; its first line identifies a hunt")
        if head["journal"] != SCHEMA:
            raise JournalError(
                f"{self.path} is a journal of schema {head['journal']}, and this version reads "
                f"{SCHEMA}; delete it, or name another one with --journal"
            )
        for name, value in self._head.items():
            if head.get(name) != value:
                raise JournalError(
                    f"{self.path} is the journal of another hunt: its {name} is "
                    f"{head.get(name)!r}, not {value!r}; delete it, or name another one with "
                    "--journal"
                )


def set_aside(path: Path) -> Path | None:
    """Rename the journal of a hunt that did not end, so that a new hunt can begin.

    Returns:
        Its new name: the old one, with the first number that is free. None if there was none.

    Raises:
        JournalError: if a hunt is writing it, or it cannot be renamed.
    """
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            _lock(file, path)
            number = 1
            while (aside := path.with_name(f"{path.name}.{number}")).exists():
                number += 1
            path.rename(aside)
    except OSError as error:
        raise _unusable(path, error) from error
    return aside


def _unusable(path: Path, error: OSError) -> JournalError:
    return JournalError(f"the journal {path} cannot be used: {error.strerror}")


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


def _later(seconds: float, before: float) -> float:
    """The time of a line.

    Raises:
        ValueError: if it is not after that of the line before.
    """
    if not before <= seconds < math.inf:
        raise ValueError(f"{seconds} s come after {before} s")
    return seconds


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"
