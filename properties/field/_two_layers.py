"""What the claims on docs/proofs/two-hidden-layers.md share: exact sides of relations."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import comb, lcm
from typing import Any

import torch


def whole(left: Iterable[Any], right: Iterable[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Two lists of rational numbers as integers, times their common denominator."""
    sides = [[Fraction(int(x.numerator), int(x.denominator)) for x in s] for s in (left, right)]
    unit = lcm(*(x.denominator for side in sides for x in side))
    a, b = (torch.tensor([int(x * unit) for x in side], dtype=torch.int64) for side in sides)
    return a, b


def aligned(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Two combinations of symbols, by their coefficients at all symbols that occur, made whole."""
    symbols = sorted({*left, *right})
    return whole(*([side.get(s, 0) for s in symbols] or [0] for side in (left, right)))


def kappa(q: int, a: int, z: Any, mu: Any, h: Any) -> Any:
    """κ_q(λ^a ⊗ [h]) of λ = z o + μ: z^{a−q} (μ + z h)^q without the negative powers of z.

    The form μ and the exponent h are given by their values at a point, or at several.
    """
    return sum(
        comb(q, i) * z ** (a - q + i) * h**i * mu ** (q - i) for i in range(max(0, q - a), q + 1)
    )
