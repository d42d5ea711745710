"""Proof of Theorem 19 of `bottleneck`: the cost of the first and last layers bounds their slopes."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import balanced_linear_networks, networks_at_points

from ._steep_chains import steep_chains


@bound(
    "bottleneck.hidden-lipschitz",
    paper("bottleneck", "proof of Thm 19"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(width=(1, 1), scale=(1.0 + 2**-23, 1.0 + 2**-21)),
    needs={"|a| <= 1": steep_chains()},
    mutants={"2.04 times the logarithm": {"logs": Fraction(51, 25)}},
    audit="at points: |a| ≤ 1",
)
def test_hidden_lipschitz(net, x, *, logs=2):
    r"""The cost of the first layers bounds the Jacobian of their map.

    For every $\ell$, with $\theta^{(i:j)}$ the parameters of the layers $i, \dots, j$:
    $\|J\tilde\alpha_\ell(x)\|_{op} \le e^{(\|\theta^{(1:\ell)}\|^2 - \ell)/2}$ and
    $\|J(\alpha_\ell \to f)(x)\|_{op} \le e^{(\|\theta^{(\ell+1:L)}\|^2 - (L - \ell))/2}$.

    Both follow from $\|W\|_{op}^2 \le \|W\|_F^2 \le e^{\|W\|_F^2 - 1}$, and are sharp at unit weights.
    They hold with the Frobenius norm on the left, which is what is checked, in the form
    $2 \log \|A\|_F \le \|\theta\|^2 - \ell$ where $A \ne 0$. As they hold at every $x$, the exponentials
    are Lipschitz constants.
    """
    partial = net.partial_jacobians(x)
    costs = torch.stack(net.layer_costs(), -1)
    places = torch.arange(1, net.depth + 1, device=x.device)
    excess = costs.cumsum(-1) - places
    total = excess[..., -1:]
    first = [w @ inner for w, inner in zip(net.weights, partial.inner, strict=True)]
    last = [outer @ w for w, outer in zip(net.weights, partial.outer, strict=True)]
    relations = []
    for maps, beyond, label in (
        (first, excess, "the first layers"),
        (last, total - excess + costs - 1, "the last layers"),
    ):
        squares = torch.stack([linalg.frobenius_squared(A) for A in maps], -1)
        some = squares > 0
        size = torch.where(some, squares, torch.ones_like(squares))
        relations.append(
            leq(
                size.log() * linalg.scalar(Fraction(logs) / 2, size),
                beyond,
                where=some,
                scale=costs.sum(-1, keepdim=True) + net.depth,
                label=label,
            )
        )
    return tuple(relations)
