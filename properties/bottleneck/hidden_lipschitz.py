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
    beyond = torch.stack(net.layer_costs()) - 1
    first = [W @ inner for W, inner in zip(net.weights, partial.inner, strict=True)]
    last = [outer @ W for W, outer in zip(net.weights, partial.outer, strict=True)]
    relations = []
    for maps, excess, label in (
        (first, beyond.cumsum(0), "the first layers"),
        (last, beyond.flip(0).cumsum(0).flip(0), "the last layers"),
    ):
        squares = torch.stack([linalg.frobenius_squared(A) for A in maps])
        left = torch.where(squares > 0, squares, 1).log() * linalg.scalar(Fraction(logs) / 2, x)
        size = net.cost() + net.depth
        relations.append(leq(left, excess, where=squares > 0, scale=size, label=label))
    return tuple(relations)
