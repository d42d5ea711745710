"""The journal of a hunt: finished shards as lines of JSON, appended and flushed to the disk.

The first line identifies the hunt. Each line begins with the CRC-32 of its other fields. A crash
can cut off the last line, which is then dropped. A line without its checksum is damaged (a bit that
flipped, two writers): it is left out, and its shard runs again. A checksum is no signature: a line
that has one and is not that of a finished shard is an error.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Outcome, Shard
from rankcheck.stored import StoredError, build, parse, shown

SCHEMA = 4
#: How a line begins; the rest of it follows after the eight digits.
_CHECKSUM = re.compile(rb'\{"crc32":"([0-9a-f]{8})",(.*)', re.DOTALL)

#: How the key of a shard begins: its round, its place in the round, its strategy.
_KEY = re.compile(r"[0-9]{1,9}\.[0-9]{1,9} .*")


class JournalError(HuntError):
    """A file that is not the journal of this hunt, or cannot be used."""


@dataclass(frozen=True)
class _Line:
    """A line after the first one, as JSON."""

    shard: str
    seconds: float
    outcome: Any


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
        #: The numbers of the lines that were left out because they are damaged.
        self.damaged: list[int] = []
        self._outcomes: dict[str, Outcome] = {}
        self._head = {"journal": SCHEMA, **head}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise _unusable(path, error) from error
        try:
            if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                raise JournalError(f"the journal {path} is not a file; a journal is one that grows")
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
            try:
                self._append(self._head)
            except OSError as error:
                self._file.close()
                raise _unusable(path, error) from error

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
        try:
            self._file.write(_line(data))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:  # of the system, not of the input; say of which file
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def _read(self, text: bytes) -> int:
        """Read all whole lines; returns their length in bytes."""
        whole = text.rfind(b"\n") + 1
        if not whole and not _line(self._head).startswith(text):
            raise JournalError(f"{self.path} is not a journal; its first line identifies a hunt")
        for number, line in enumerate(text[:whole].split(b"\n")[:-1], 1):
            rest = _checked(line)
            if rest is None and number > 1:
                self.damaged.append(number)
                continue
            try:
                data = parse(line if rest is None else rest)
                if number == 1:
                    self._check(data)
                    if rest is None:
                        raise JournalError(
                            f"the first line of the journal {self.path} is damaged, which says "
                            "of what hunt it is; delete it, or name another one with --journal"
                        )
                else:
                    self._take(build(_Line, data))
            except StoredError as error:
                raise JournalError(
                    f"line {number} of the journal {self.path} is not a finished shard "
                    f"({error}); delete it, or name another one with --journal"
                ) from error
        return whole

    def _take(self, line: _Line) -> None:
        """Take in a line.

        Raises:
            StoredError: if it is not that of a finished shard.
        """
        if not _KEY.fullmatch(line.shard):
            raise StoredError(f"shard is {shown(line.shard)}; it begins like 0.1 screen")
        if not self.seconds <= line.seconds < math.inf:
            raise StoredError(f"{line.seconds} s come after {self.seconds} s")
        self._outcomes[line.shard] = Outcome.from_json(line.outcome)
        self.seconds = line.seconds

    def _check(self, head: Any) -> None:
        if not isinstance(head, dict) or "journal" not in head:
            raise JournalError(f"{self.path} is not a journal; its first line identifies a hunt")
        if head["journal"] != SCHEMA:
            raise JournalError(
                f"{self.path} is a journal of schema {shown(head['journal'])}, and this version "
                f"reads {SCHEMA}; delete it, or name another one with --journal"
            )
        for name, value in self._head.items():
            if head.get(name) != value:
                raise JournalError(
                    f"{self.path} is the journal of another hunt: its {name} is "
                    f"{shown(head.get(name), 200)}, not {value!r}; delete it, or name another one "
                    "with "
                    "--journal"
                )


def damaged_text(journal: Journal) -> str:
    """A line on the damaged lines of a journal; empty if there are none."""
    if not journal.damaged:
        return ""
    numbers = ", ".join(map(str, journal.damaged[:10])) + ", ..." * (len(journal.damaged) > 10)
    lines = f"lines {numbers}" if len(journal.damaged) > 1 else f"line {numbers}"
    return (
        f"\n  damaged in the journal {journal.path} and left out: {lines}; these shards ran again"
    )


def set_aside(path: Path) -> Path | None:
    """Rename the journal of a hunt that did not end, so that a new hunt can begin.

    Returns:
        Its new name: the old one, with the first number that is free. None if there was none.

    Raises:
        JournalError: if a hunt is writing it, or it cannot be renamed.
    """
    try:
        if not os.path.lexists(path):
            return None
        if not path.is_file():  # a link to nowhere, which would be followed; a folder, a device
            return _rename(path)
        with path.open("rb") as file:
            _lock(file, path)
            return _rename(path)
    except OSError as error:
        raise _unusable(path, error) from error


def _rename(path: Path) -> Path:
    """Rename a file, or a link itself, to its name with the first number that is free."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.{number}")):
        number += 1
    return path.rename(aside)


def _unusable(path: Path, error: OSError | ValueError) -> JournalError:
    said = getattr(error, "strerror", None) or error
    return JournalError(f"the journal {path} cannot be used: {said}")


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


def _line(data: Mapping[str, Any]) -> bytes:
    """A line with its checksum."""
    rest = json.dumps(data, separators=(",", ":")).encode()[1:]
    return b'{"crc32":"%08x",%s\n' % (zlib.crc32(rest), rest)


def _checked(line: bytes) -> bytes | None:
    """The JSON of a line without its checksum; None if it does not have it."""
    found = _CHECKSUM.fullmatch(line)
    if found is None or int(found[1], 16) != zlib.crc32(found[2]):
        return None
    return b"{" + found[2]
