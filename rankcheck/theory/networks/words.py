"""A network in a few lines, for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankcheck.text import array_text, number_text, short_text

#: Networks with more parameters, or layers, are shown without them.
PARAMETERS, LAYERS = 60, 6
#: A number with more characters is rounded.
LONGEST = 9


def network_text(
    weights: Sequence[Any], biases: Sequence[Any], slope: Any, batch: tuple[int, ...]
) -> str:
    """Widths and slope, and the parameters if they are few; `≈` stands where one is rounded.

    Args:
        weights, biases, slope: those of a `Network`.
        batch: its batch axes.

    >>> import torch
    >>> print(network_text([torch.tensor([[2.0, 1.0]])], [torch.tensor([1 / 3])], 0, ()))
    Network: widths 2 → 1, slope 0
      W_1 = [[2, 1]], b_1 ≈ [0.333333]
    """
    widths = " → ".join(map(str, (weights[0].shape[-1], *(w.shape[-2] for w in weights))))
    what = f"{' × '.join(map(str, batch))} networks" if batch else "Network"
    one = not batch or getattr(slope, "ndim", 0) == 0
    slopes = _named("slope", slope).replace(" = ", " ") if one else "slopes of their own"
    head = f"{what}: widths {widths}, {slopes}"
    number = sum(w.shape[-1] * w.shape[-2] + w.shape[-2] for w in weights)
    if batch or number > PARAMETERS or len(weights) > LAYERS:
        return f"{head}, {number} parameters{' each' if batch else ''}"
    lines = [
        f"  {_named(f'W_{i}', w)}, {_named(f'b_{i}', b)}"
        for i, (w, b) in enumerate(zip(weights, biases, strict=True), 1)
    ]
    return "\n".join([head, *lines])


def _named(name: str, value: Any) -> str:
    """`b_1 = [0.5]`, or `b_1 ≈ [0.333333]` where a number is rounded."""
    exact, rounded = array_text(value, _entry), array_text(value, _short)
    return f"{name} = {exact}" if exact == rounded else f"{name} ≈ {rounded}"


def _entry(number: Any) -> str:
    return number_text(number) if isinstance(number, int | float) else short_text(number, 30)


def _short(number: Any) -> str:
    text = _entry(number)
    if len(text) <= LONGEST:
        return text
    return f"{number:.6g}" if isinstance(number, int | float) else short_text(number, 6)
