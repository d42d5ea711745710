r"""A composition f∘g of networks at almost the sum of their costs, without positivity of g.

Let f and g be networks of one slope, of depths L_f and L_g, and $g + t \ge 0$ on Ω for a vector
t >= 0. For 0 < s <= 1 the layers of g are multiplied by $s^{1/L_g}$ (the biases by the product of
the factors so far), t is added to the last bias, and the layers of f, which undo both, are
multiplied by $s^{-1/L_f}$:

    W_ℓ → s^{1/L_g} W_ℓ,   b_ℓ → s^{ℓ/L_g} b_ℓ   in g, but the last bias is s (b + t);
    W_ℓ → s^{−1/L_f} W_ℓ,  b_ℓ → s^{1−ℓ/L_f} b_ℓ  in f, the first bias being b − W_1 t.

The representation at the seam is $s (g + t) \ge 0$, so the network is f∘g on Ω, of depth
$L_f + L_g$. Each parameter of g, but the last bias b_L, shrinks at least by s^{1/L_g}, and none of
f, but the first bias b_1, grows by more than s^{−1/L_f}, so

$$\|\theta\|^2 \le s^{2/L_g} (\|\theta_g\|^2 - \|b_L\|^2) + s^2 \|b_L + t\|^2
    + s^{-2/L_f} (\|\theta_f\|^2 - \|b_1\|^2) + s^{2 - 2/L_f} \|b_1 - W_1 t\|^2,$$

and if $2 s^2 \le s^{2/L_g}$ and $2 s^2 \le 1$, as for s <= 1/2 and L_g >= 2,

$$\|\theta\|^2 \le s^{2/L_g} \|\theta_g\|^2
    + s^{-2/L_f} (1 + 2 s^2 \|t\|^2) \|\theta_f\|^2 + 2 s^2 \|t\|^2.$$

For sequences of networks with $\|\theta\|^2 = kL + O(1)$ and t fixed, everything but the sum of the
costs vanishes at s = 1/L, like (log L)²/L: the excess cost is subadditive without positivity. The
proof is in docs/proofs/composition-without-positivity.md.

Source: this project; A. Jacot, *Bottleneck structure in learned features*, Theorem 3.1, states the
limit without a hypothesis on the sign of g, and proves it where g is positive.
Used by bottleneck.shrunk-seam and bottleneck.composition-without-positivity.
"""

from __future__ import annotations

from fractions import Fraction

from rankcheck.theory.linalg import Array, power
from rankcheck.theory.networks.network import Network


def scaled_seam(f: Network, g: Network, shift: Array, scale: Array) -> Network:
    """f∘g as a network of depth L_f + L_g, wherever g + t >= 0, for t = shift and s = scale.

    ``shift`` is (*B, n_L of g), ``scale`` (*B) with 0 < s <= 1. It is not checked that g + t >= 0.
    Raises ValueError if f and g do not fit together, or ``shift`` has another shape.
    """
    if f.widths[0] != g.widths[-1] or f.batch != g.batch:
        raise ValueError(
            f"received f and g of widths {f.widths} and {g.widths}, batch axes {f.batch} and "
            f"{g.batch}; n_0 of f is n_L of g, on the same batch"
        )
    shape = (*g.batch, g.widths[-1])
    if tuple(shift.shape) != shape:
        raise ValueError(f"received a shift of shape {tuple(shift.shape)}; the shape is {shape}")
    before = f.biases[0] - (f.weights[0] @ shift.unsqueeze(-1)).squeeze(-1)
    after = g.biases[-1] + shift
    lower = _scaled(g, (*g.biases[:-1], after), scale, from_one=True)
    upper = _scaled(f, (before, *f.biases[1:]), scale, from_one=False)
    return upper.after(lower)


def _scaled(net: Network, biases: tuple[Array, ...], scale: Array, *, from_one: bool) -> Network:
    """The layers rescaled evenly, so that the representation goes from scale 1 to s, or back."""
    L = net.depth
    factor = power(scale, Fraction(1 if from_one else -1, L))
    levels = [Fraction(i, L) if from_one else 1 - Fraction(i, L) for i in range(1, L + 1)]
    return net.with_parameters(
        [factor[..., None, None] * W for W in net.weights],
        [power(scale, p).unsqueeze(-1) * b for p, b in zip(levels, biases, strict=True)],
    )


def seam_cost_bound(f: Network, g: Network, shift: Array, scale: Array) -> Array:
    """The first upper bound above of the cost of :func:`scaled_seam`, shape (*B)."""
    last, first = g.biases[-1], f.biases[0]
    before = first - (f.weights[0] @ shift.unsqueeze(-1)).squeeze(-1)
    lower = power(scale, Fraction(2, g.depth)) * (g.cost() - _square(last))
    upper = power(scale, Fraction(-2, f.depth)) * (f.cost() - _square(first))
    seam = scale * scale * _square(last + shift)
    return lower + upper + seam + power(scale, 2 - Fraction(2, f.depth)) * _square(before)


def seam_cost_estimate(f: Network, g: Network, shift: Array, scale: Array) -> Array:
    """The second upper bound, shape (*B), for 2s² <= 1 and 2s² <= s^{2/L_g} (not checked)."""
    seam = 2 * scale * scale * _square(shift)
    lower = power(scale, Fraction(2, g.depth)) * g.cost()
    return lower + power(scale, Fraction(-2, f.depth)) * (1 + seam) * f.cost() + seam


def _square(vector: Array) -> Array:
    return (vector * vector).sum(-1)
