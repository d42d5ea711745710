r"""A factorisation through $\mathbb R^k$ as a network of any depth, at a cost of k for each layer.

Let $f = h \circ g$ on a bounded Ω with networks $g: \mathbb R^d \to \mathbb R^k$ of depth $L_g$ and
$h: \mathbb R^k \to \mathbb R^m$ of depth $L_h$, both of slope a, and let $g \ge \ell$ on Ω,
coordinate by coordinate. With $t = [-\ell]_+$ put

$$\tilde g = g + t \ \text{(last bias)}, \qquad
  \tilde h(y) = h(y - t) \ \text{(first bias } b_1 - V_1 t\text{)}.$$

Then $\tilde g(\Omega) \subset \mathbb R_+^k$, where $\sigma_a$ is the identity whatever a is, so

    the L_g layers of g̃, then L − L_g − L_h layers (I_k, 0), then the L_h layers of h̃

has depth L, equals f on Ω, and costs exactly
$\|\tilde\theta_g\|^2 + (L - L_g - L_h)\,k + \|\tilde\theta_h\|^2$, so that cost/L → k.

*The seam.* The last affine map of g̃ and the first of h̃ stay two layers with an activation between
them, so L ≥ L_g + L_h, and at L = L_g + L_h there is no identity layer. (Merging the two maps into
one gives depth L_g + L_h − 1 and needs no positivity: `Network.merged_after`. Its cost is not the
sum of two costs, and counting identity layers from that depth would give one k too many.)

Source: A. Jacot, *Implicit bias of large depth networks: a notion of rank for nonlinear functions*,
Theorem 1 (upper bound).
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, eye
from rankcheck.theory.networks.network import Network


def translate(h: Network, g: Network, lower: Array) -> tuple[Network, Network]:
    """The pair (h̃, g̃) with h̃ ∘ g̃ = h ∘ g everywhere and g̃ >= 0 wherever g >= lower.

    ``lower`` has shape (*B, k); coordinates where it is >= 0 are not shifted. Raises ValueError if
    the networks do not fit together or ``lower`` has another shape.
    """
    shape = (*g.batch, g.widths[-1])
    if tuple(lower.shape) != shape:
        raise ValueError(
            f"received lower bounds of shape {tuple(lower.shape)}; the shape is {shape}"
        )
    if h.widths[0] != g.widths[-1] or h.batch != g.batch:
        raise ValueError(
            f"received h and g of widths {h.widths} and {g.widths}, batch axes {h.batch} and "
            f"{g.batch}; n_0 of h is n_L of g, on the same batch"
        )
    shift = torch.relu(-lower)
    first = h.biases[0] - (h.weights[0] @ shift.unsqueeze(-1)).squeeze(-1)
    moved_g = Network.unchecked_slope(g.weights, (*g.biases[:-1], g.biases[-1] + shift), g.slope)
    moved_h = Network.unchecked_slope(h.weights, (first, *h.biases[1:]), h.slope)
    return moved_h, moved_g


def identity_layers(h: Network, g: Network, depth: int, lower: Array) -> Network:
    """h ∘ g as a network of the given depth, wherever g >= lower, with cost/depth → k.

    ``lower`` is an array (*B, k), for instance the first of `networks.interval_bounds` over a
    box Ω. The cost is that of the pair `translate(h, g, lower)` plus k for each of the
    depth − L_g − L_h identity layers. Raises ValueError if depth < L_g + L_h, if the slopes differ,
    and where `translate` does.
    """
    middle = depth - g.depth - h.depth
    if middle < 0:
        raise ValueError(
            f"received depth {depth} for networks of depths {g.depth} and {h.depth}; the depth is "
            "at least their sum, as the seam is not merged"
        )
    moved_h, moved_g = translate(h, g, lower)
    k, like = g.widths[-1], g.weights[0]
    identity, zero = eye(k, like).expand(*g.batch, k, k), like.new_zeros((*g.batch, k))
    lower_part = Network.unchecked_slope(
        (*moved_g.weights, *[identity] * middle), (*moved_g.biases, *[zero] * middle), g.slope
    )
    return moved_h.after(lower_part)
