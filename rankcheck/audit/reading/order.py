"""The order of layers that are known by their names and shapes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.opening import label

__all__ = ["ordered"]

#: How many beginnings of orders are tried before the search gives up.
MOST_TRIED = 5_000

Shapes = Mapping[str, tuple[int, ...]]


def ordered(shapes: Shapes, *, in_order: bool) -> tuple[str, ...]:
    """The names in the order in which the shapes (n_ℓ, n_{ℓ−1}) chain.

    Numbers in names say an order, `fc2` before `fc10` and `net.0` before `net.2`; other parts of
    names say none, since `decoder` may well come behind `encoder`.

    Args:
        in_order: whether the mapping has the order in which the layers were made. It counts if the
            shapes chain in it.

    If no order chains, it is that of the numbers; whoever chains the layers then says where it
    breaks.

    Raises:
        ModelError: several orders chain, and nothing tells them apart.

    >>> ordered({"fc10": (1, 4), "fc2": (4, 3)}, in_order=False)
    ('fc2', 'fc10')
    >>> ordered({"decoder": (3, 2), "encoder": (2, 5)}, in_order=False)
    ('encoder', 'decoder')
    """
    names = tuple(shapes)
    if in_order and all(shapes[two][1] == shapes[one][0] for one, two in pairwise(names)):
        return names
    natural = tuple(sorted(names, key=_key))
    orders = _orders(natural, shapes)
    first, second = next(orders, natural), next(orders, None)
    if second is not None:
        one, two = next((a, b) for a, b in zip(first, second, strict=True) if a != b)
        raise ModelError(
            f"the names do not say whether {label(one)} or {label(two)} comes first, and the "
            "shapes chain in both orders; number the layers, or save a torch state dict, which "
            "keeps their order"
        )
    return first


Key = list[tuple[int, int, str]]


def _key(name: str) -> Key:
    """Names compare part by part, numbers as numbers."""
    parts = re.split(r"([0-9]{1,9})", name)
    return [(0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts)]


def _before(one: Key, two: Key) -> bool:
    """Whether numbers say that the name of a key comes before that of another one."""
    p, q = next((pair for pair in zip(one, two, strict=False) if pair[0] != pair[1]), ((1,), (1,)))
    return p[0] == q[0] == 0 and p < q


def _orders(names: Sequence[str], shapes: Shapes) -> Iterator[tuple[str, ...]]:
    """All orders that chain and agree with the numbers, found by depth-first search.

    Raises:
        ModelError: too many beginnings lead nowhere.
    """
    keys = {name: _key(name) for name in names}
    earlier = {two: {one for one in names if _before(keys[one], keys[two])} for two in names}
    begun: list[tuple[str, ...]] = [()]
    tried = 0
    while begun:
        placed = begun.pop()
        left = set(names).difference(placed)
        if not left:
            yield placed
        tried += 1
        if tried > MOST_TRIED:
            raise ModelError(
                "the order of the layers cannot be found from their names and shapes; number them"
            )
        begun += [
            (*placed, name)
            for name in reversed(names)
            if name in left
            and (not placed or shapes[name][1] == shapes[placed[-1]][0])
            and earlier[name].isdisjoint(left)
        ]
