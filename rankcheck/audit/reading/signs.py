"""Signs, in the names and shapes of layers, that a network may be no chain.

Parameters do not tell how layers are joined. Their names may: `blocks.0.fc1` and `blocks.0.fc2`,
which lead from n numbers to n numbers, are likely to have a skip connection around them, and a
layer that is called `shortcut` stands beside others and not behind them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from rankcheck.audit.reading.opening import label

__all__ = ["signs_of_branches"]

#: Words, as parts of names, of what stands beside other layers; of what skip connections go around.
_BESIDE = re.compile(r"skip|short_?cut|down_?sample|highway|attn|attention|[qkv]_?proj")
_AROUND = re.compile(r"(?<![a-z])res(?![a-z])|resid|res_?(net|layer|unit)|block|mixer|transformer")
#: So many places are named.
MOST = 3


def signs_of_branches(order: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Where the names speak of branches, as a text behind `names speak of`; empty if nowhere.

    Args:
        order: the names of the layers, as a chain.
        shapes: (n_ℓ, n_{ℓ−1}) by name.

    >>> shapes = {"stem": (8, 3), "blocks.0.a": (9, 8), "blocks.0.b": (8, 9), "head": (2, 8)}
    >>> signs_of_branches(list(shapes), shapes)
    "skip connections, which would fit around 'blocks.0.a' to 'blocks.0.b'"
    >>> signs_of_branches(["fc1", "fc2"], {"fc1": (8, 8), "fc2": (8, 8)})
    ''
    """
    beside = [label(name, 40) for name in order if _BESIDE.search(name.lower())]
    around = _around(order, shapes)
    parts = []
    if around:
        parts.append(f"skip connections, which would fit around {_listed(around)}")
    if beside:
        parts.append(f"layers beside others: {_listed(beside)}")
    return ", and of ".join(parts)


def _around(order: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """The groups of layers with one place in their names that lead from n numbers to n numbers."""
    found: list[str] = []
    for place, names in groupby(order, _place):
        group = list(names)
        inside = shapes[group[0]][1] == shapes[group[-1]][0]
        several = len(group) > 1 and len(group) < len(order) and bool(re.search(r"\d", place))
        if inside and (several or _AROUND.search(place.lower())):
            one, last = label(group[0], 40), label(group[-1], 40)
            found.append(one if len(group) == 1 else f"{one} to {last}")
    return found


def _place(name: str) -> str:
    """What layers of one block have in common: all but the last part of the name, if it has parts.

    Sequentials in blocks count as their block, so `blocks.0.net.2` is of `blocks.0`; and `blocks.0`
    is a block of its own.
    """
    parts = name.split(".")
    if len(parts) > 1 and re.search(r"blocks$", parts[-2].lower()):
        return name
    numbers = [i for i, part in enumerate(parts[:-1]) if re.search(r"\d", part)]
    if numbers:
        return ".".join(parts[: numbers[0] + 1])
    return ".".join(parts[:-1]) or name


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
