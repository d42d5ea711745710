"""In which order checkpoints come: by the step in their names, or by time of writing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

__all__ = ["By", "Order", "natural", "ordered", "steps_of"]

By = Literal["names", "time", "given"]
#: The words in front of a number that is a step; the first of them that a name has decides.
STEPS = ("step", "steps", "iter", "iters", "iteration", "it", "update", "updates", "batch")
EPOCHS = ("epoch", "epochs", "ep", "round", "rounds")

_NUMBER = re.compile(r"([^\W\d_]*)[\W_]*(\d+(?:\.\d+)?)")
_Key = tuple[str, int]


@dataclass(frozen=True)
class Order:
    """An order of checkpoints.

    Attributes:
        places: their numbers, from 0, in this order.
        steps: of each, in this order; None if their names do not tell it.
        said: how they are ordered, in words.
        unit: what the steps are: `step` or `epoch`.
    """

    places: tuple[int, ...]
    steps: tuple[int | None, ...]
    said: str
    unit: str = "step"


def ordered(names: Sequence[str], times: Sequence[float | None], by: By | None = None) -> Order:
    """The order of checkpoints with these names, written at these times (seconds).

    Args:
        by: `names`, `time` or `given`, the order in which they are; by default that of the names if
            each has a number that tells it from the others, else that of the times.
    """
    key, steps = steps_of(names)
    called = f"the number behind “{key[0]}” in the names" if key and key[0] else "their numbers"
    unit = "epoch" if key and key[0].lower() in EPOCHS else "step"
    lacking = None if key or not names else _without_number(names)
    numbered = key is not None or (lacking is None and _vary(names))
    if by == "given":  # what has no file has no name of its own either
        rising = [step for step in steps if step is not None]
        known = None not in times and len(rising) == len(names) and rising == sorted(set(rising))
        found = tuple(steps) if known else (None,) * len(names)
        return Order(tuple(range(len(names))), found, "in the order given", unit)
    if by == "names" or (by is None and numbered):
        places = sorted(range(len(names)), key=lambda n: (steps[n] or 0, natural(names[n])))
        said = f"by {called}" if key else "in the natural order of their names"
        return Order(tuple(places), tuple(steps[n] for n in places), said, unit)
    places = sorted(range(len(names)), key=lambda n: (times[n] or 0.0, natural(names[n])))
    why = f", since “{lacking}” has no number" if by is None and lacking is not None else ""
    return Order(tuple(places), (None,) * len(names), f"by time of writing{why}")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts names as people do, numbers by their size.

    >>> sorted(["b10", "b9", "a10"], key=natural)
    ['a10', 'b9', 'b10']
    """
    parts = re.split(r"(\d+)", name)
    return tuple((1, int(one), "") if one.isdigit() else (0, 0, one) for one in parts if one)


def steps_of(names: Sequence[str]) -> tuple[_Key | None, list[int | None]]:
    """Which number of the names is the step, and its values; None if that is not certain.

    It is the number behind a word for steps, else behind one for epochs, else the only whole number
    in which the names differ. Each name has to have it.

    >>> steps_of(["epoch=1-step=20.ckpt", "epoch=2-step=40.ckpt"])
    (('step', 0), [20, 40])
    >>> steps_of(["run3_10.pt", "run3_9.pt"])[1], steps_of(["1_2.pt", "2_1.pt"])[1]
    ([10, 9], [None, None])
    """
    found = [_numbers(name) for name in names]
    common = [key for key in (found[0] if found else {}) if all(key in one for one in found)]
    varying = [key for key in common if len({one[key] for one in found}) > 1]
    candidates = varying if len(names) > 1 else common
    key = _chosen(candidates)
    return key, [None if key is None else one[key] for one in found]


def _chosen(keys: Sequence[_Key]) -> _Key | None:
    for words in (STEPS, EPOCHS):
        for key in keys:
            if key[0].lower() in words:
                return key
    return keys[0] if len(keys) == 1 else None


def _numbers(name: str) -> dict[_Key, int]:
    """The whole numbers of a name without its ending, by the word before and how often it came."""
    seen: Counter[str] = Counter()
    found: dict[_Key, int] = {}
    for word, digits in _NUMBER.findall(str(PurePath(name).with_suffix(""))):
        if "." not in digits:
            found[word, seen[word]] = int(digits)
        seen[word] += 1
    return found


def _without_number(names: Sequence[str]) -> str | None:
    """The first name without a number, if others have one."""
    bare = [name for name in names if not _numbers(name)]
    return bare[0] if bare and len(bare) < len(names) else None


def _vary(names: Sequence[str]) -> bool:
    """Whether all names have numbers, and some differ."""
    found = [_numbers(name) for name in names]
    return all(found) and any(one != found[0] for one in found)
