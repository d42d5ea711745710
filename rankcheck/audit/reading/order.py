"""The order of layers that are known by their names and shapes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.opening import label

__all__ = ["ordered"]

#: How many beginnings of orders are tried before the search gives up.
MOST_TRIED = 5_000

Shapes = Mapping[str, tuple[int, ...]]


def ordered(shapes: Shapes, *, kept: bool) -> tuple[str, ...]:
    """The names in the order in which the shapes (n_ℓ, n_{ℓ−1}) chain.

    Numbers in names say an order, `fc2` before `fc10` and `net.0` before `net.2`; other parts of
    names say none, since `decoder` may well come behind `encoder`.

    Args:
        kept: whether the mapping has the order in which the layers were made. It counts if the
            shapes chain in it.

    Raises:
        ModelError: no order chains, or several do and nothing tells them apart.

    >>> ordered({"fc10": (1, 4), "fc2": (4, 3)}, kept=False)
    ('fc2', 'fc10')
    >>> ordered({"decoder": (3, 2), "encoder": (2, 5)}, kept=False)
    ('encoder', 'decoder')
    """
    names = tuple(shapes)
    if kept and _break(names, shapes) is None:
        return names
    natural = sorted(names, key=_key)
    found = _orders(natural, shapes)
    first = next(found, None)
    if first is None:
        i = _break(natural, shapes) or 1
        one, two = natural[i - 1], natural[i]
        raise ModelError(
            f"the layer {label(one)} of shape {shapes[one]} is followed by {label(two)} of shape "
            f"{shapes[two]}, which takes {shapes[two][1]} numbers; the shapes must chain, (n, m) "
            "behind (m, ...), in the order that the numbers in the names say"
        )
    second = next(found, None)
    if second is not None:
        i = next(i for i, name in enumerate(first) if second[i] != name)
        raise ModelError(
            f"the names do not say whether {label(first[i])} or {label(second[i])} comes first, "
            "and the shapes chain in both orders; number the layers, or save a torch state dict, "
            "which keeps their order"
        )
    return first


Key = list[tuple[int, int, str]]


def _key(name: str) -> Key:
    """Names compare part by part, numbers as numbers."""
    parts = re.split(r"([0-9]{1,9})", name)
    return [(0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts)]


def _before(one: Key, two: Key) -> bool:
    """Whether numbers say that the name of a key comes before that of another one."""
    for p, q in zip(one, two, strict=False):
        if p != q:
            return p[0] == q[0] == 0 and p < q
    return False


def _break(names: Sequence[str], shapes: Shapes) -> int | None:
    """The place of the first layer that does not take what comes out of the one before it."""
    for i in range(1, len(names)):
        if shapes[names[i]][1] != shapes[names[i - 1]][0]:
            return i
    return None


def _orders(names: Sequence[str], shapes: Shapes) -> Iterator[tuple[str, ...]]:
    """All orders that chain and agree with the numbers, found by depth-first search.

    Raises:
        ModelError: too many beginnings lead nowhere.
    """
    keys = {name: _key(name) for name in names}
    later = {name: [other for other in names if _before(keys[name], keys[other])] for name in names}
    waiting = dict.fromkeys(names, 0)  # how many of those before it are not placed
    for others in later.values():
        for other in others:
            waiting[other] += 1
    placed: list[str] = []
    left = dict.fromkeys(names)
    tried = 0

    def place(added: str) -> None:
        placed.append(added)
        del left[added]
        for other in later[added]:
            waiting[other] -= 1

    def take_back() -> None:
        last = placed.pop()
        left[last] = None
        for other in later[last]:
            waiting[other] += 1

    def candidates() -> Iterator[str]:
        width = shapes[placed[-1]][0] if placed else None
        fit = [name for name in names if name in left and not waiting[name]]
        return iter([name for name in fit if width is None or shapes[name][1] == width])

    stack = [candidates()]
    while stack:
        name = next(stack[-1], None)
        if name is None:
            stack.pop()
            if placed:
                take_back()
            continue
        tried += 1
        if tried > MOST_TRIED:
            raise ModelError(
                "the order of the layers cannot be found from their names and shapes; number them"
            )
        place(name)
        if left:
            stack.append(candidates())
        else:
            yield tuple(placed)
            take_back()
