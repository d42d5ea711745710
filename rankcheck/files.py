"""Where rankcheck's own claims are, how paths are shown, and writing files atomically."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from rankcheck.errors import InputError

#: Where runs leave what is not kept beside a claim.
LEFT = Path(".rankcheck")
#: What makes git pass over that folder.
_IGNORED = "# Made by rankcheck; what is in this folder is of one machine.\n*\n"
#: The longest list that is written on one line.
WIDTH = 200


#: What `--json` writes of a run that ended with an error.
ERROR_FIELDS = {"schema", "error"}
#: Stands near the beginning of every page that rankcheck writes.
GENERATOR = '<meta name="generator" content="rankcheck">'


def project_folder() -> Path:
    """The folder of rankcheck's own claims: inside the installed package, or in the checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "_properties"
    return installed if installed.is_dir() else package.parent / "properties"


def shown_path(path: Path) -> str:
    """A path relative to the working directory where it lies below it, else as it is."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def make_folder(path: Path) -> None:
    """Make a folder and those that it is in; a new `LEFT` among them is passed over by git.

    Raises:
        OSError: if one cannot be made.
    """
    left = next((one for one in (path, *path.parents) if one.name == LEFT.name), None)
    new = left is not None and not left.exists()
    path.mkdir(parents=True, exist_ok=True)
    if left is not None and new:
        write_text(left / ".gitignore", _IGNORED)


def check_writable(
    path: Path,
    kind: str,
    fields: Collection[str] | None = None,
) -> None:
    """Check that a file can be written, before the work whose result it takes.

    A file that exists is replaced only if it is of the same kind, or empty: no file of claims, and
    nothing else that somebody may want to keep.

    Args:
        kind: what is to be written, in words.
        fields: what the JSON of that kind has; None for a page of HTML.

    Raises:
        InputError: with the path and the reason.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError(f"cannot write to {path}: it is a folder")
    if not folder.is_dir():
        why = in_a_file(path) or f"the folder {folder} does not exist"
        raise InputError(f"cannot write to {path}: {why}")
    exists = path.exists()
    if exists and not os.access(path, os.W_OK):
        raise InputError(f"cannot write to {path}: permission denied")
    if path.is_file() or not exists:
        check_place(path.resolve())
    if path.suffix == ".py":
        form = "HTML" if fields is None else "JSON"
        raise InputError(f"cannot write to {path}: {kind} is {form}, and this is a Python file")
    full = path.is_file() and path.stat().st_size > 0
    if full and not (_is_page(path) if fields is None else _is_kind(path, fields)):
        raise InputError(
            f"cannot write to {path}: it exists and is not {kind}; name another file, or delete it"
        )


def in_a_file(path: Path) -> str:
    """That one of the folders of a path is a file, in words; empty if none is."""
    return next((f"{one} is a file, not a folder" for one in path.parents if one.is_file()), "")


def check_place(path: Path) -> None:
    """Check that there is room for a file, whose folder may have to be made.

    Raises:
        InputError: with the path and the reason.
    """
    folder = next(one for one in path.absolute().parents if one.exists())
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 12))
    except OSError as error:
        raise InputError(f"cannot write to {shown_path(path)}: {error.strerror}") from error


def _is_page(path: Path) -> bool:
    """Whether a file is a page that rankcheck wrote."""
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(1000)


def _is_kind(path: Path, fields: Collection[str]) -> bool:
    """Whether a file is a JSON object with these fields, or the error of a run in its place."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and (set(fields) <= set(data) or set(data) == ERROR_FIELDS)


def write_json(path: Path, data: object, *, follow: bool = True, dense: bool = False) -> None:
    """Write JSON, either the whole file or nothing; see `write_text`.

    Args:
        dense: whether all that fits on a line stays on one, objects too.
    """
    write_text(path, _layout(data, dense=dense) + "\n", follow=follow)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in an error of the system; that of a full disk names none."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def write_text(path: Path, text: str, *, follow: bool = True) -> None:
    """Write a text in UTF-8, either the whole file or nothing; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"), follow=follow)


def write_bytes(path: Path, content: bytes, *, follow: bool = True) -> None:
    """Write a file, either the whole of it or nothing.

    A link is followed, or replaced where `follow` is False; a device or a pipe is written through.
    A new file has the permissions that the umask leaves, and an existing one keeps its own.

    Raises:
        OSError: the file, which the error names, cannot be written.
    """
    with naming(path):
        _write(path, content, follow=follow)


def _write(path: Path, content: bytes, *, follow: bool) -> None:
    target = path.resolve() if follow else path.parent.resolve() / path.name
    if follow and target.exists() and not target.is_file():
        with target.open("wb") as file:
            file.write(content)
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        keeps_mode = target.exists() and not target.is_symlink()
        partial.chmod(target.stat().st_mode & 0o777 if keeps_mode else 0o666 & ~_umask())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _umask() -> int:
    """The umask of the process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _layout(data: object, indent: str = "", *, dense: bool = False) -> str:
    """JSON with a field a line; a list without objects that fits on a line stays on one."""
    flat = json.dumps(data, ensure_ascii=False)
    inner = indent + "  "
    if dense and len(flat) <= WIDTH:
        return flat
    if isinstance(data, dict) and data:
        lines = [
            f"{json.dumps(str(key), ensure_ascii=False)}: {_layout(value, inner, dense=dense)}"
            for key, value in data.items()
        ]
        opening, closing = "{", "}"
    elif isinstance(data, list | tuple) and (len(flat) > WIDTH or "{" in flat):
        lines = [_layout(value, inner, dense=dense) for value in data]
        opening, closing = "[", "]"
    else:
        return flat
    return f"{opening}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{closing}"
