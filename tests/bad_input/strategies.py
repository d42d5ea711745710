"""Inputs that are wrong, or nearly right: good ones that are changed in a few places."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from rankcheck.claims.catalogue.kept import digest

#: Texts that have broken programs: long, with control characters, paths, numbers in disguise.
ODD_TEXTS = st.sampled_from(
    ["", " ", "a" * 300, "x" * 5000, "\x00", "a\nb", "\x1b[31mred", "\u202etfel", "\udc80",
     "é" * 200, "../../x", "/etc/passwd", "..", "a/b", "C:\\x", "~", "-1", "1/0", "1e999999999",
     "0x10", "[1 +/- 1e-30]", "[nan +/- inf]", "None", "true", "$x$", "%s%n", "{0}", "3/2", "-3/4",
     "__class__", "t.stored"]
)  # fmt: skip
ODD_NUMBERS = st.sampled_from(
    [0, 1, -1, 2, 7, 128, 2**31, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e308, -1e308,
     5e-324, math.inf, -math.inf, math.nan, True, False, None]
)  # fmt: skip


def nested(depth: int, inner: Any = 1) -> Any:
    """A list in a list in a list."""
    for _ in range(depth):
        inner = [inner]
    return inner


ODD_NESTS = st.sampled_from([3, 64, 65, 99, 101, 400]).map(nested) | st.sampled_from([3, 150]).map(
    lambda depth: {"a": nested(depth)}
)
ODD_VALUES = st.one_of(
    ODD_TEXTS,
    ODD_NUMBERS,
    ODD_NESTS,
    st.integers(-12, 12),
    st.floats(-20, 20),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.lists(ODD_NUMBERS, max_size=3),
    st.dictionaries(st.text(max_size=4), ODD_NUMBERS, max_size=2),
)


def places(item: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values of a JSON document, that of the document itself included."""
    yield place
    if isinstance(item, dict | list):
        for key, value in item.items() if isinstance(item, dict) else enumerate(item):
            yield from places(value, (*place, key))


def at(item: Any, place: tuple[Any, ...]) -> Any:
    """The value at a place."""
    for key in place:
        item = item[key]
    return item


CHANGES = ["replace", "replace", "nudge", "remove", "double", "swap", "add", "rename"]


@st.composite
def mutated(draw: st.DrawFn, good: Any, *, values: st.SearchStrategy[Any] = ODD_VALUES) -> Any:
    """A JSON document that is changed in one to three places.

    A value is replaced, nudged, removed, doubled or swapped with another one; a field is renamed or
    added.
    """
    item = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        inner = [place for place in places(item) if place]
        if not inner:
            return draw(values)
        place = draw(st.sampled_from(inner))
        parent, key = at(item, place[:-1]), place[-1]
        match draw(st.sampled_from(CHANGES)):
            case "replace":
                parent[key] = draw(values)
            case "nudge":
                parent[key] = draw(nudged(parent[key]))
            case "remove":
                del parent[key]
            case "double" if isinstance(parent, list):
                parent.insert(key, copy.deepcopy(parent[key]))
            case "swap":
                other = draw(st.sampled_from(inner))
                parent[key] = copy.deepcopy(at(item, other))
            case "add" | "double":
                if isinstance(parent, dict):
                    parent[draw(st.text(max_size=5) | ODD_TEXTS)] = draw(values)
                else:
                    parent.append(draw(values))
            case "rename":
                value = parent.pop(key)
                if isinstance(parent, dict):
                    parent[draw(ODD_TEXTS)] = value
    return item


def nudged(value: Any) -> st.SearchStrategy[Any]:
    """Values near a value, of its type or of a neighbouring one."""
    if isinstance(value, bool) or value is None:
        return st.sampled_from([True, False, None, 0, 1])
    if isinstance(value, int):
        if abs(value) > 2**70:
            return st.just(0)
        near = [value + 1, value - 1, -value, value * 10, str(value), float(value)]
        return st.sampled_from([*near, f"{value}/1", f"{2 * value}/2"])
    if isinstance(value, float):
        return st.sampled_from([math.nextafter(value, 9e9), -value, str(value), value * 1.001])
    if isinstance(value, str):
        cut = st.integers(0, len(value))
        return cut.map(lambda end: value[:end]) | st.tuples(
            cut, st.sampled_from("019-/.e+ []")
        ).map(lambda one: value[: one[0]] + one[1] + value[one[0] + 1 :])
    return st.sampled_from([[value], value, None])


@st.composite
def torn(draw: st.DrawFn, text: str | bytes) -> bytes:
    """The content of a file that was cut off, or in which some bytes were changed."""
    raw = bytearray(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.integers(1, 4))):
        if not raw:
            break
        i = draw(st.integers(0, len(raw) - 1))
        match draw(st.sampled_from(["cut", "byte", "drop", "insert", "repeat"])):
            case "cut":
                del raw[i:]
            case "byte":
                raw[i] = draw(st.integers(0, 255))
            case "drop":
                del raw[i : i + draw(st.integers(1, 20))]
            case "insert":
                raw[i:i] = draw(st.sampled_from([b"{", b"[", b'"', b"\n", b"9", b"\x00", b"}"]))
            case "repeat":
                raw[i:i] = raw[i : i + draw(st.integers(1, 60))]
    return bytes(raw)


def as_text(item: Any) -> str:
    """JSON, also of what is too deep for `json`."""
    try:
        return json.dumps(item)
    except (RecursionError, ValueError):
        return "[" * 100_000


def as_bytes(item: Any) -> bytes:
    """The same as the content of a file."""
    return as_text(item).encode("utf-8", "surrogatepass")


WHOLE_TEXTS = st.sampled_from(
    [b"", b"null", b"[]", b"{}", b"\xff\xfe{}", b"\xef\xbb\xbf{}", b"[" * 100_000,
     b'{"a":' * 100_000, b"1" * 5000, b'{"a": 1, "a": 2}', b"NaN", b"\x80\x04\x95", b"\x00" * 64]
)  # fmt: skip

# Arrays


def tensor(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _shaped(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Arrays of a shape: right in most cases, else of another kind, or not finite."""
    good = torch.arange(1.0, math.prod(shape) + 1, dtype=torch.float64).reshape(shape) / 4
    return st.sampled_from(
        [good, good, good, good.float(), good.long(), good.to(torch.complex128), good > 0,
         good * math.nan, good / 0, -good / 0, good.tolist(), good.numpy(),
         good.numpy().astype(object), good.unsqueeze(0), good.reshape(-1),
         good.to_sparse() if good.ndim else good, good.clone().requires_grad_(), good.sum()]
    )  # fmt: skip


STRANGE: st.SearchStrategy[Any] = st.sampled_from(
    [None, 0, 1.5, math.nan, True, "W", b"W", [], {}, object, tensor(1.0), tensor([]),
     [[1.0], [1.0, 2.0]], [["a"]], [None], 10**400, 1j, np.ones(2), range(3)]
)  # fmt: skip


def arrays(*axes: int) -> st.SearchStrategy[Any]:
    """Arrays of about this shape, or something else."""
    others = st.lists(st.integers(0, 3), max_size=4).map(tuple).flatmap(_shaped)
    return st.one_of(_shaped(axes), _shaped(axes), others, STRANGE)


SLOPES = st.sampled_from(
    [0, 0.5, -0.9, 1, -1, 1.0, 2, 1e308, math.nan, math.inf, -math.inf, 10**400, None, "0.5", [0.5],
     1j, True, tensor(0.5), tensor([0.5]), tensor(math.nan), np.float32(0.5), np.float64(0.5),
     torch.tensor(0.5), torch.tensor(1)]
)  # fmt: skip


def signed(data):
    """With the checksum that belongs to it, if it can have one."""
    if not isinstance(data, dict):
        return data
    fields = {name: value for name, value in data.items() if name != "sha256"}
    try:
        return {**fields, "sha256": digest(fields)}
    except (RecursionError, ValueError):
        return data
