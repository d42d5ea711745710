"""What the claims on docs/proofs/two-hidden-layers.md share: exact sides of relations."""

from collections.abc import Mapping
from fractions import Fraction
from math import comb, lcm
from typing import Any

import torch


def aligned(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Two combinations of symbols, by their rational coefficients times a common denominator."""
    symbols = sorted({*left, *right}) or [None]
    found = [[side.get(s, 0) for s in symbols] for side in (left, right)]
    sides = [[Fraction(int(x.numerator), int(x.denominator)) for x in side] for side in found]
    unit = lcm(*(x.denominator for side in sides for x in side))
    a, b = (torch.tensor([int(x * unit) for x in side], dtype=torch.int64) for side in sides)
    return a, b


def kappa(q: int, a: int, z: Any, mu: Any, h: Any) -> Any:
    """κ_q(λ^a ⊗ [h]) of λ = z o + μ: z^{a−q} (μ + z h)^q without the negative powers of z.

    The form μ and the exponent h are given by their values at a point, or at several.
    """
    return sum(
        comb(q, i) * z ** (a - q + i) * h**i * mu ** (q - i) for i in range(max(0, q - a), q + 1)
    )
