"""Files that are kept for a claim: JSON of exact numbers with a checksum; what they all share.

Such a file is named after its claim. It lies in a folder beside the file of the claim, under
version control, or below `.rankcheck` in the working directory, where runs leave what they find.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rankcheck.errors import InputError
from rankcheck.files import make_folder, project_folder, write_json
from rankcheck.stored import StoredError, build, read_json, shown


class Named(Protocol):
    """A claim, or its entry in the catalogue."""

    @property
    def id(self) -> str: ...

    @property
    def file(self) -> Path: ...


@dataclass(frozen=True)
class Form:
    """A kind of such files.

    Attributes:
        what: what one is called in messages.
        folder: the folder beside the file of a claim.
        schema: the number of the format.
        fields: the dataclass of what stands in a file, `schema` and `sha256` included.
        writer: the command that writes one.
        error: what is raised for a file that is none.
        dense: whether it is written with as much on a line as fits.
    """

    what: str
    folder: str
    schema: int
    fields: type
    writer: str
    error: type[InputError]
    dense: bool = False

    def path(self, claim: Named) -> Path:
        """Where the file of a claim is kept: beside the file of the claim.

        For a claim that was declared at a prompt or in a notebook: below the working directory.
        """
        beside = claim.file.parent if claim.file.is_file() else Path()
        return beside / self.folder / f"{claim.id}.json"

    def whereabouts(self, folder: Path, claim: Named) -> tuple[str, str]:
        """The file of a claim, relative to the folder of what is kept; and its absolute path.

        Both are empty if the claim is not in a file. The absolute path serves a file that is moved
        alone. It is left out of what is kept under version control: what lies beside its claim, and
        what is of rankcheck's own claims, which are found by their id.
        """
        if not claim.file.is_file():
            return "", ""
        file, folder = claim.file.resolve(), folder.resolve()
        beside = folder == self.path(claim).parent.resolve()
        if file.is_relative_to(project_folder()) and not beside:
            return file.relative_to(project_folder()).as_posix(), ""
        return Path(os.path.relpath(file, folder)).as_posix(), "" if beside else str(file)

    def write(self, path: Path, fields: Mapping[str, Any]) -> None:
        """Write the fields and their checksum.

        Raises:
            OSError: if the file cannot be written.
        """
        make_folder(path.parent)
        data = {**fields, "sha256": digest(fields)}
        write_json(path, data, follow=False, dense=self.dense)

    def read(self, path: Path) -> Mapping[str, Any]:
        """The fields of a file, checked for their types and against the checksum.

        Raises:
            InputError: `error`, if the file is not of this kind and schema, or has been changed.
        """
        return self._read(path)[0]

    def build(self, path: Path) -> Any:
        """The dataclass of a file, which is checked as `read` does it.

        Raises:
            InputError: as `read`.
        """
        return self._read(path)[1]

    def _read(self, path: Path) -> tuple[Mapping[str, Any], Any]:
        """The fields of a file, and its dataclass."""
        data = self.load(path)
        number = data.get("schema") if isinstance(data, dict) else None
        if type(number) is int and number != self.schema:
            raise self.error(
                f"{path} is a {self.what} of schema {shown(number)}; this version reads schema "
                f"{self.schema}, and `{self.writer}` writes it"
            )
        try:
            built: Any = build(self.fields, data)
        except StoredError as error:
            raise self.error(f"{path} is not a {self.what}: {error}") from error
        if digest({name: data[name] for name in data if name != "sha256"}) != data["sha256"]:
            raise self.error(f"{path} has been changed since it was written: its checksum differs")
        return data, built

    def load(self, path: Path) -> Any:
        """The JSON of a file.

        Raises:
            InputError: `error`, if it cannot be read, is too large, or is not JSON of this kind.
        """
        try:
            return read_json(path)
        except OSError as error:
            raise self.error(f"no {self.what} can be read at {path}: {error.strerror}") from error
        except StoredError as error:
            raise self.error(f"{path} is not a {self.what}, a JSON file: {error}") from error


def digest(fields: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the fields."""
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
