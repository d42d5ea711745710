r"""Functions f(x) = Σ_k a_k [w_k x + b_k]_+ of one variable: their kinks, and ∫ √(1+x²) d|f''|.

W (*B, K, 1), b and a (*B, K). Where several units have one kink, their jumps are added first, so
that they may cancel. Everything runs on floats, with gradients, and on balls.

Source: E. Boursier, N. Flammarion, *Penalising the biases in norm regularisation enforces
sparsity*.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, power


def slope_jumps(W: Array, b: Array, a: Array) -> tuple[Array, Array]:
    """The kink t_k of each unit, and the size of the jump of f' there, both (*B, K).

    A jump is the slope of the units that are active just right of the kink less that of those just
    left. Where several units have one kink, each gets an equal share of the size of the jump of f'.
    A unit without a kink, w_k = 0, has t_k = −b_k and size 0. O(K²).

    Raises ValueError unless D = 1.

    >>> W = torch.tensor([[1.0], [2.0], [-1.0]])  # two units bend at 1, the third at 3
    >>> b, a = torch.tensor([-1.0, -2.0, 3.0]), torch.tensor([1.0, -3.0, 1.0])
    >>> kinks, sizes = slope_jumps(W, b, a)
    >>> kinks.tolist(), sizes.tolist()
    ([1.0, 1.0, 3.0], [2.5, 2.5, 1.0])
    """
    if W.shape[-1] != 1:
        raise ValueError(f"received W of shape {tuple(W.shape)}; one variable takes (*B, K, 1)")
    w = W[..., 0]
    bends = w != 0
    t = -b / torch.where(bends, w, w.new_ones(w.shape))
    here, unit = t.unsqueeze(-1), t.unsqueeze(-2)  # slopes at t_i, units k
    rising = (w > 0).unsqueeze(-2)
    both = (bends.unsqueeze(-1) & bends.unsqueeze(-2)).to(torch.float64)
    weight = (a * w).unsqueeze(-2)
    right = torch.where(rising, unit <= here, unit > here).to(torch.float64)
    left = torch.where(rising, unit < here, unit >= here).to(torch.float64)
    jump = ((right - left) * both * weight).sum(-1).abs()
    together = ((unit == here).to(torch.float64) * both).sum(-1)
    return t, jump / torch.where(together > 0, together, 1.0)


def variation_with_biases(W: Array, b: Array, a: Array) -> Array:
    """∫ √(1+x²) d|f''|(x) over the line: √(1+t²) times the size of the jump at each kink t, (*B).

    It is the least ½ Σ (a_k² + w_k² + b_k²) of all networks of one hidden layer that compute f up
    to an affine function; without the biases it would be ∫|f''|,
    :func:`rankcheck.costs.total_variation_of_derivative`.

    Raises ValueError unless D = 1.

    >>> W, b = torch.tensor([[1.0], [1.0]]), torch.tensor([0.75, 0.0])  # kinks −3/4 and 0
    >>> variation_with_biases(W, b, torch.tensor([4.0, -2.0])).tolist()
    7.0
    """
    kinks, sizes = slope_jumps(W, b, a)
    return (power(1 + kinks * kinks, Fraction(1, 2)) * sizes).sum(-1)
