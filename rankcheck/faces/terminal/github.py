"""A run under GitHub Actions: annotations at the claims, and a summary of the job as Markdown.

An annotation is a line that GitHub reads on either stream, a workflow command:
`::error file=F,line=N,title=T::text`. GitHub shows ten errors and ten warnings of a step; the
summary has them all.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rankcheck.claims.facts import declared_id
from rankcheck.claims.verdicts import VERDICTS
from rankcheck.engine.verification.ledger import Row
from rankcheck.faces.terminal import table
from rankcheck.faces.terminal.plain import printable

#: The file that the summary of a job is added to.
SUMMARY = "GITHUB_STEP_SUMMARY"
Level = Literal["error", "warning"]


@dataclass(frozen=True)
class Annotation:
    """What is shown at a line of a file; `str` of it is the workflow command."""

    level: Level
    id: str
    verdict: str
    message: str
    file: Path
    line: int

    @classmethod
    def of(cls, row: Row, file: Path, line: int) -> Annotation:
        """For a row that is not as expected."""
        level: Level = "warning" if VERDICTS[row.verdict].open else "error"
        return cls(level, row.id, row.verdict, table.message(row), file, line)

    @property
    def place(self) -> str:
        """The file, relative to its repository, and the line."""
        return f"{in_repository(self.file)}:{self.line}"

    def __str__(self) -> str:
        file, line = in_repository(self.file), str(self.line)
        title = f"{self.id}: {self.verdict}"
        properties = ",".join(
            f"{name}={_property(printable(value))}"
            for name, value in (("file", file), ("line", line), ("title", title))
        )
        return f"::{self.level} {properties}::{_data(printable(self.message))}"


def in_actions() -> bool:
    """Whether this process runs in a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotated(rows: Iterable[Row], places: Mapping[str, tuple[Path, int]]) -> list[Annotation]:
    """What to show of the rows that are not as expected.

    Args:
        places: the file and the line of each claim, by its id.
    """
    return [Annotation.of(row, *places[declared_id(row.id)]) for row in rows if not row.expected]


def in_repository(file: Path) -> str:
    """A file relative to the repository that it lies in; as it is if it lies in none."""
    whole = file.resolve()
    for folder in whole.parents:
        if (folder / ".git").exists():
            return whole.relative_to(folder).as_posix()
    return file.as_posix()


def _data(text: str) -> str:
    """The text of a workflow command, escaped as @actions/core does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The value of a property of a workflow command, escaped as @actions/core does."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(total: str, annotations: Sequence[Annotation]) -> str:
    """The totals of a run, and a table of the claims that are not as expected, as Markdown."""
    lines = ["### rankcheck", "", _cell(total), ""]
    if annotations:
        lines += ["| claim | verdict | place | why |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {_cell(one.id)} | {_cell(one.verdict)} | {_cell(one.place)} "
            f"| {_cell(one.message.partition(chr(10))[0])} |"
            for one in annotations
        ]
        lines.append("")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A text in a table of Markdown: on one line, and without what Markdown or HTML would read."""
    text = html.escape(" ".join(printable(text).split()), quote=False)
    for letter in "\\`*_~[]|$":
        text = text.replace(letter, f"&#{ord(letter)};")
    return text


def add_summary(text: str) -> str | None:
    """Add a text to the summary of the job, if there is one; returns why that failed, if it did."""
    path = os.environ.get(SUMMARY)
    if not path:
        return None
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        return f"the summary cannot be written to {path} ({SUMMARY}): {error.strerror}"
    return None
