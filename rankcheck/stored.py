"""Reading JSON that may come from anybody: limits on the text, and types of the fields.

Ledgers and whatever is kept are read with this. A fault is a `StoredError` that names the place and
the rule; nothing else is raised on any text.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

#: The largest file that is read, in bytes.
LARGEST = 1 << 24
#: The deepest nesting of lists and objects; a tensor has at most 64 axes.
DEEPEST = 100
#: Integers lie in (-INTEGERS, INTEGERS): counts, seeds, numbers of seconds.
INTEGERS = 1 << 63

T = TypeVar("T")


class StoredError(ValueError):
    """A stored text is not what it should be: the place, what was received, the rule."""


def read_json(path: Path) -> Any:
    """The JSON of a file; see `parse`.

    Raises:
        OSError: the file cannot be read.
        StoredError: it is larger than `LARGEST` bytes, or is not such JSON.
    """
    try:
        with path.open("rb") as file:  # a device has no size: count what comes
            text = file.read(LARGEST + 1)
    except ValueError as error:  # a NUL in the path
        raise StoredError(str(error)) from error
    if len(text) > LARGEST:
        raise StoredError(f"it is too large; at most {LARGEST} bytes are read")
    return parse(text)


def parse(text: str | bytes) -> Any:
    """JSON in which no field occurs twice and nothing is nested more than `DEEPEST` levels.

    >>> parse('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    rankcheck.stored.StoredError: a field occurs twice

    Raises:
        StoredError: it is anything else.
    """
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        data = json.loads(text, object_pairs_hook=_once)
    except StoredError:
        raise
    except ValueError as error:
        raise StoredError(str(error)) from error
    except RecursionError as error:
        raise StoredError(f"it is nested more than {DEEPEST} levels deep") from error
    level = [data]
    for _ in range(DEEPEST):
        level = [item for one in level for item in _inside(one)]
        if not level:
            return data
    raise StoredError(f"it is nested more than {DEEPEST} levels deep")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise StoredError("a field occurs twice")
    return dict(pairs)


def _inside(item: Any) -> list[Any]:
    return list(item.values()) if isinstance(item, dict) else item if isinstance(item, list) else []


def build(kind: type[T], data: Any, *, foreign: bool = False) -> T:
    """An instance of a dataclass from the JSON of its fields, checked against their annotations.

    Annotations may be bool, int, float, str, Literal, lists, tuples, mappings, unions and
    dataclasses of these. A field without a default has to be there.

    Args:
        foreign: whether fields that the dataclass does not have are ignored.

    Raises:
        StoredError: a field is missing, unknown or of another type, or the dataclass refuses it.
    """
    made: T = _build(kind, data, "", foreign)
    return made


def shown(value: Any, length: int = 60) -> str:
    """A value from a file on one line, cut off: for a message.

    >>> shown("a" * 99, 12), shown([1, 2])
    ("'aaaaaaaa...", '[1, 2]')
    """
    try:
        text = repr(value[: 2 * length] if isinstance(value, str | bytes | list) else value)
    except (ValueError, RecursionError):  # Python writes no integer of more than 4300 digits
        return "a number of too many digits"
    return text if len(text) <= length else f"{text[: length - 3]}..."


_INTEGER = re.compile(r"-?[0-9]{1,18}")


def _build(kind: Any, data: Any, place: str, foreign: bool) -> Any:
    if kind is Any:
        return data
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _either(inner, data, place, foreign)
    if origin is Literal:
        if isinstance(data, str) and data in inner:
            return data
        raise _fault(data, place, f"one of {', '.join(map(str, inner))}")
    if origin is tuple and inner[1:] == (...,):
        return tuple(_items(inner[0], data, place, foreign))
    if origin is list:
        return _items(inner[0], data, place, foreign)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(data, dict):
            raise _fault(data, place, "an object")
        return {
            _key(inner[0], name, place): _build(inner[1], item, _at(place, name), foreign)
            for name, item in data.items()
        }
    if is_dataclass(kind):
        return _fields(kind, data, place, foreign)
    return _plain(kind, data, place)


def _either(kinds: tuple[Any, ...], data: Any, place: str, foreign: bool) -> Any:
    """The first of several types that fits; the fault of the last one if none does."""
    if data is None and type(None) in kinds:
        return None
    fault: StoredError | None = None
    for kind in kinds:
        if kind is not type(None):
            try:
                return _build(kind, data, place, foreign)
            except StoredError as error:
                fault = error
    assert fault is not None
    raise fault


def _items(kind: Any, data: Any, place: str, foreign: bool) -> list[Any]:
    if not isinstance(data, list):
        raise _fault(data, place, "a list")
    return [_build(kind, item, f"{place}[{i}]", foreign) for i, item in enumerate(data)]


def _key(kind: Any, name: str, place: str) -> str | int:
    """A name of an object; JSON writes integers as text there."""
    if kind is not int:
        return name
    if not _INTEGER.fullmatch(name):
        raise _fault(name, place, "an object whose names are integers")
    return int(name)


@cache
def _known(kind: Any) -> dict[str, tuple[Any, bool]]:
    """The fields of a dataclass: their types, and whether they have defaults."""
    hints = get_type_hints(kind)
    return {
        item.name: (
            hints[item.name],
            item.default is not MISSING or item.default_factory is not MISSING,
        )
        for item in fields(kind)
    }


def _fields(kind: Any, data: Any, place: str, foreign: bool) -> Any:
    if not isinstance(data, dict):
        raise _fault(data, place, "an object")
    known = _known(kind)
    for name in data.keys() - known.keys():
        if not foreign:
            raise StoredError(f"{_at(place, name)} is unknown; known are {', '.join(known)}")
    for name, (_, optional) in known.items():
        if name not in data and not optional:
            raise StoredError(f"{_at(place, name)} is missing")
    values = {
        name: _build(known[name][0], item, _at(place, name), foreign)
        for name, item in data.items()
        if name in known
    }
    try:
        return kind(**values)
    except ValueError as error:  # the dataclass has a rule of its own
        raise StoredError(f"{place or 'it'}: {error}") from error


def _plain(kind: Any, data: Any, place: str) -> Any:
    if kind is int and type(data) is int and abs(data) < INTEGERS:
        return data
    if kind is float and (type(data) is float or (type(data) is int and abs(data) < 2**1023)):
        return float(data)
    if kind in (str, bool) and type(data) is kind:
        return data
    names = {int: "an integer of at most 63 bits", float: "a number", str: "a text"}
    raise _fault(data, place, names.get(kind, "true or false"))


def _at(place: str, name: str) -> str:
    short = name if re.fullmatch(r"[\w.-]{1,60}", name) else shown(name)
    return f"{place}.{short}" if place else short


def _fault(data: Any, place: str, rule: str) -> StoredError:
    return StoredError(f"{place or 'it'} is {shown(data)}; it is {rule}")
