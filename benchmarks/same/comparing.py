"""Two recordings side by side: what is in one alone, and which facts and figures differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

#: Figures agree that differ by this share; LAPACK and the order of sums differ by machine.
SAME = 1e-6
#: What an audit measures agrees to this share, or to this much where it is nearly zero.
EXACT = 1e-9
#: By the last name of a figure, within which factor it may change: searches look elsewhere after
#: any change of their draws, and only a fall of what they look at is a loss.
LOOSE = {"instances": 1.1, "shapes": 1.1, "distance": 4.0}


def figure(value: float | None) -> float | str | None:
    """A number for JSON, of nine digits; what is no finite number as a text."""
    if value is None:
        return None
    return float(f"{value:.9g}") if math.isfinite(value) else str(value)


def differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """A line for each difference of two recordings, or of parts of them at a path."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [*before, *(name for name in after if name not in before)]:
            inside = (*path, name)
            if name not in after:
                yield f"{' / '.join(inside)}: gone (was {_short(before[name])})"
            elif name not in before:
                yield f"{' / '.join(inside)}: new ({_short(after[name])})"
            else:
                yield from differences(before[name], after[name], inside)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, (*path, str(number)))
    elif not _agree(before, after, path):
        yield f"{' / '.join(path)}: {_short(before)} -> {_short(after)}"


def _agree(before: Any, after: Any, path: tuple[str, ...]) -> bool:
    numbers = all(isinstance(one, int | float) and type(one) is not bool for one in (before, after))
    if not numbers:
        # How a control was broken is told, and not compared: death and distance are.
        return before == after or path[-1] == "stage"
    if factor := LOOSE.get(path[-1]):
        return after >= before / factor
    share = EXACT if path[0] == "audits" else SAME
    return math.isclose(before, after, rel_tol=share, abs_tol=share)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
