"""Numbers and names of layers in the sentences of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.audit.part_facts import LayerFacts

__all__ = ["NAMES", "many", "names", "number", "percent", "quoted", "runs"]

#: So many names are written out.
NAMES = 4


def number(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"


def percent(share: float) -> str:
    """A share with three digits: `16.2 %`."""
    return f"{100 * share:.3g} %"


def many(count: int, what: str, several: str = "") -> str:
    """`1 layer`, `2 layers`; or with a plural of its own."""
    return f"{count} {what if count == 1 else several or f'{what}s'}"


def quoted(layer: LayerFacts) -> str:
    """The name of a layer."""
    return f"“{layer.name}”"


def names(layers: Sequence[LayerFacts]) -> str:
    """The names of layers; of many the first ones."""
    written = [quoted(layer) for layer in layers]
    more = f" and {len(written) - NAMES} more" if len(written) > NAMES else ""
    return ", ".join(written[:NAMES]) + more


def runs(numbers: Sequence[int]) -> str:
    """Increasing numbers as ranges.

    >>> runs([1, 3, 4, 5, 7, 8])
    '1, 3–5, 7, 8'
    """
    parts: list[list[int]] = []
    for one in numbers:
        if parts and parts[-1][-1] == one - 1:
            parts[-1].append(one)
        else:
            parts.append([one])
    short = [one for run in parts for one in ([run] if len(run) > 2 else [[n] for n in run])]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in short)
