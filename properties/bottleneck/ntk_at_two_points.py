"""Section 4 of `bottleneck`: the tangent kernel at two points of one linear region, for every rank."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, leq, linalg, networks, paper
from rankcheck.instances import Source, instances, networks_with_inputs

from ._segments import INSIDE, networks_on_segments


@instances
def differences_of_two_units(source: Source):
    """f(x) = t^L 2^{1/4} x/√2 through two units z(1 ± x), all layers of rank one; f(x) = wx at L = 1.

    Each unit nearly vanishes at one end of [−1, 1]. ‖W_1‖² = t²/√2, and ‖W_ℓ‖ = t above.
    """
    depth, t = source.integer(1, 6), source.tensor(1, 1, low=0.25, high=2.0)
    one = t.new_ones((*source.batch, 1, 1))
    ends = torch.cat((-one, one), -2) * linalg.scalar(1 - INSIDE, one)
    if depth == 1:
        return Network.linear((t,)), ends
    pair = torch.cat((one, -one), -2)
    z = t * linalg.power(linalg.scalar(2, t), Fraction(-3, 4))
    weights, biases = [z * pair], [(z * pair.abs()).squeeze(-1)]
    for _ in range(depth - 2):
        z = t * z
        weights.append(t / 2 * pair @ pair.mT)
        biases.append((z * pair.abs()).squeeze(-1))
    weights.append(t / linalg.square_root(2, t) * pair.mT)
    biases.append(t.new_zeros((*source.batch, 1)))
    return Network(weights, biases), ends


@bound(
    "bottleneck.ntk-at-two-points",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Theorem 4"),
    instances=networks_on_segments(),
    tight=differences_of_two_units(),
    needs={
        "one linear region": networks_with_inputs(
            depth=(2, 3), width=(1, 2), points=(2, 2), slopes="relu"
        )
    },
    mutants={
        "0.51 for the first layer": {"first": Fraction(51, 100)},
        "2 % more for the depth": {"share": Fraction(51, 50)},
    },
    audit="at pairs: |a| ≤ 1, one region",
)
def test_ntk_at_two_points(net, ends, *, first=Fraction(1, 2), share=1):
    r"""Two points of one linear region with different values have a large tangent kernel.

    Let $x$, $y$ have the same activation pattern, $\delta = f(x) - f(y)$, any slope $|a| \le 1$ and
    $\Theta$ over the weights. Then

    $$\delta^\top \bigl( \Theta(x, x) + \Theta(y, y) \bigr) \delta \ge \|\delta\|^4 \Bigl(
      \tfrac12 \|W_1\|_{op}^{-2} + \sum_{\ell=2}^L \|W_\ell\|_{op}^{-2} \Bigr) \ge
      \frac{(L - 1 + 1/\sqrt2)^2}{\sum_\ell \|W_\ell\|_F^2}\, \|\delta\|^4,$$

    where both ends are compared. Hence $\operatorname{tr} \Theta(x, x) + \operatorname{tr} \Theta(y, y)
    \ge (L - 1 + 1/\sqrt2)^2 \|\delta\|^2/\|\theta\|^2$: for parameters with $\|\theta\|^2 \le kL + c_1$ of
    any rank $k$ the kernel is of the order $L/k$ on each linear piece. A function with many pieces has a
    small kernel (bottleneck.ntk-below-linear). Equality at every depth.

    Proof: docs/proofs/ntk-trace.md.
    """
    x, y = ends[..., 0, :], ends[..., 1, :]
    rise = (net(x) - net(y)).unsqueeze(-1)
    kernel = networks.ntk(net, x, x) + networks.ntk(net, y, y)
    along = (rise.mT @ kernel @ rise).squeeze(-1).squeeze(-1)
    fourth = linalg.frobenius_squared(rise) * linalg.frobenius_squared(rise)
    some = fourth > 0
    # Where the values differ no weight is zero.
    squares = [
        torch.where(some, linalg.operator_norm(w) ** 2, torch.ones_like(along)) for w in net.weights
    ]
    layers = sum((1 / s for s in squares[1:]), start=linalg.scalar(first, along) / squares[0])
    L = net.depth
    weights = torch.stack([linalg.frobenius_squared(w) for w in net.weights], -1).sum(-1)
    depth = (L - 1 + linalg.power(linalg.scalar(2, along), Fraction(-1, 2))) ** 2 * linalg.scalar(
        share, along
    )
    weights = torch.where(some, weights, torch.ones_like(weights))
    return (
        leq(fourth * layers, along, where=some, label="the layers"),
        leq(fourth * depth / weights, along, where=some, label="the depth"),
    )
