"""The journal of a hunt: finished shards as lines of JSON, appended and flushed to the disk.

The first line identifies the hunt. A crash can cut off the last line, which is then dropped; any
other line that cannot be read is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
        JournalError: if the file belongs to another hunt or another version, is malformed, or
            cannot be read or written.
    """

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self.path = path
        #: Seconds that the hunt had taken when the last line was written.
        self.seconds = 0.0
        self._outcomes: dict[str, Outcome] = {}
        self._head = {"journal": SCHEMA, **head}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            known = path.read_bytes() if path.exists() else b""
            kept = self._read(known)
            self._file = path.open("r+b" if path.exists() else "w+b")
            self._file.truncate(kept)
            self._file.seek(kept)
        except OSError as error:
            raise JournalError(f"the journal {path} cannot be used: {error.strerror}") from error
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
                    self.seconds = float(data["seconds"])
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


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"
