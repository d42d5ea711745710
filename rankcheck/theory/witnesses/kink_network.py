r"""A function of one variable with given kinks as a network of least cost, biases included.

The unit with the kink $t$ and the jump $J$ of the slope is $a [w (x - t)]_+$ with $a w = J$ and
$w > 0$. Its cost $\frac12 (a^2 + w^2 + w^2 t^2) \ge |a| w \sqrt{1 + t^2}$ is least where both parts
are equal:

$$a^2 = w^2 (1 + t^2) = |J| \sqrt{1 + t^2} .$$

Used by field.least-cost-with-biases. Source: E. Boursier, N. Flammarion, *Penalising the biases in
norm regularisation enforces sparsity*.
"""

from __future__ import annotations

from fractions import Fraction

from rankcheck.theory.linalg import Array, power
from rankcheck.theory.networks.network import Network


def kink_network(kinks: Array, jumps: Array) -> Network:
    """Σ_k J_k [x − t_k]_+ with one balanced unit for each kink, widths (1, K, 1), batch *B.

    Args:
        kinks: t, (*B, K).
        jumps: J, the slope on the right of each kink less that on the left, (*B, K).

    Raises:
        ValueError: the shapes differ, or there is no kink.
    """
    if kinks.shape != jumps.shape or not kinks.ndim or not kinks.shape[-1]:
        raise ValueError(
            f"received kinks of shape {tuple(kinks.shape)} and jumps of shape "
            f"{tuple(jumps.shape)}; both are (*B, K) with K >= 1"
        )
    length = power(1 + kinks * kinks, Fraction(1, 2))
    size = power(jumps.abs() * length, Fraction(1, 2))
    w, a = size / length, jumps.sign() * size
    return Network((w.unsqueeze(-1), a.unsqueeze(-2)), (-w * kinks, 0 * a[..., :1]))
