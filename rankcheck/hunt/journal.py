"""The journal of a hunt: finished shards as lines of JSON, appended and flushed to the disk.

The first line says whose hunt it is. A line that was cut off by a crash is the last one, and is
dropped; anything else that does not read is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Outcome, Shard

SCHEMA = 1


class JournalError(HuntError):
    """A journal that does not belong to this hunt, or is none: the rule, then what was received."""


class Journal:
    """Outcomes by the key of their shard, in a file that grows.

    Args:
        head: what identifies the hunt: claim, hash, seed, strategies.

    Raises:
        JournalError: if the file is the journal of another hunt, is malformed, or cannot be used.
    """

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self.path = path
        #: The seconds that the hunt had taken when the last line was written.
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
            raise JournalError(
                f"a journal can be read and written; {path}: {error.strerror}"
            ) from error
        if not kept:
            self._append(self._head)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._outcomes)

    @property
    def rounds(self) -> int:
        """How many rounds were begun."""
        return 1 + max((int(key.split(".")[0]) for key in self._outcomes), default=-1)

    def get(self, shard: Shard) -> Outcome | None:
        """What the shard found, if it is known."""
        return self._outcomes.get(shard.key)

    def add(self, shard: Shard, outcome: Outcome, seconds: float) -> None:
        """Note what a shard found, for good, `seconds` after the hunt began."""
        self._outcomes[shard.key] = outcome
        line = {"shard": shard.key, "seconds": round(seconds, 3), "outcome": outcome.to_json()}
        self._append(line)

    def _append(self, data: Mapping[str, Any]) -> None:
        self._file.write(_line(data))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, text: bytes) -> int:
        """Take in all whole lines; how many bytes they are."""
        whole = text.rfind(b"\n") + 1
        if not whole and not _line(self._head).startswith(text):
            raise JournalError(f"a journal begins with the head of its hunt; {self.path} does not")
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
                    f"a journal has a finished shard on each line; {self.path}, line {number}: "
                    f"{type(error).__name__}: {error}"
                ) from error
        return whole

    def _check(self, head: Any) -> None:
        for name, value in self._head.items():
            if not isinstance(head, dict) or head.get(name) != value:
                received = head.get(name) if isinstance(head, dict) else head
                raise JournalError(
                    f"a hunt goes on from its own journal, {name} {value!r}; {self.path} has "
                    f"{received!r} (delete it, or name another)"
                )


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"
