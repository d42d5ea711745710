"""Theorem 6 of `bottleneck` for negative slopes: the best constant in front of the sum, at depth two."""

from fractions import Fraction

import torch

from rankcheck import Network, conjecture, leq, linalg, paper, witnesses
from rankcheck.instances import Source, clear_of_boundaries, draw_widths, instances

from ._bottlenecks import entries
from ._rounding import rounding, size


def constant_and_slope(h):
    """K and a < 0 for a height h in (1, √2): (h² − h/√2)/(h² − 1), and the slope where h is the best."""
    root = linalg.square_root(2, h)
    square = h * h
    K = (square - h / root) / (square - 1)
    exponent = square - 1 - (square + 1 - root * h) / K
    return K, 1 - 2 * exponent.exp() / square


def heights(source: Source):
    """A height h between 1 + 2^−10 and √2 − 2^−10, about."""
    return source.tensor(low=1 + 2.0**-10, high=1.4130859375)


@instances
def networks_of_depth_two(source: Source, *, width=(1, 3)):
    """A height h, and a network of depth two of its slope, at a point inside a region."""
    h = heights(source)
    widths = draw_widths(source, (2, 2), width)
    biased, x = source.integer(0, 1), source.tensor(widths[0])
    weights, biases = [], []
    for n, m in zip(widths[1:], widths[:-1], strict=True):
        weights.append(source.tensor(n, m, low=-2.0, high=2.0))
        biases.append(entries(source, n, size=2.0 * biased, like=x))
    net = Network(weights, biases, constant_and_slope(h)[1])
    return h, clear_of_boundaries(source, net, x), x


@instances
def best_right_angles(source: Source):
    """W_1 = h(I; −I)/√2 and W_2 = h(I I)/√2 at x > 0."""
    h, k = heights(source), source.integer(1, 3)
    x = source.tensor(k, low=0.25, high=4.0)
    identity = linalg.eye(k, like=x).expand((*source.batch, k, k))
    side = (h / linalg.square_root(2, h))[..., None, None]
    first = side * torch.cat((identity, -identity), -2)
    weights = (first, side * torch.cat((identity, identity), -1))
    return h, Network.linear(weights, constant_and_slope(h)[1]), x


@conjecture(
    "bottleneck.chain-constant-at-depth-two",
    paper("rankcheck", "docs/proofs/chains-for-negative-slopes.md, the best constant"),
    instances=networks_of_depth_two(),
    tight=best_right_angles(),
    mutants={"2 % less": {"share": Fraction(49, 50)}},
)
def test_chain_constant_at_depth_two(h, net, x, *, share=1):
    r"""At depth two layers at right angles are the farthest from a chain of frames, for each slope.

    For $h \in (1, \sqrt2)$ let $K = (h^2 - h/\sqrt2)/(h^2 - 1)$ and $a < 0$ be the slope with
    $h^2 + 1 - \sqrt2\,h = K (h^2 - 1 - \log\frac{h^2(1 + |a|)}2)$: K is the largest quotient of the two sides
    of bottleneck.chains-of-right-angles over all heights, attained at h. Conjecture: for every network of
    depth two of this slope

    $$\min_{A_0, A_1, A_2} \sum_{\ell \le 2} \|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 \le
      K \bigl( c_1 - 2 \log |Jf(x)|_+ \bigr).$$

    In place of the minimum a lower bound is computed, $\|W_1\|_F^2 + \|W_2\|_F^2 + 2k - 2\sqrt2 \sum_{i \le k}
    s_i((W_1\ W_2^\top))$, as in bottleneck.chained-projections-as-printed. What is proved is the bound
    with $1 + (2 - \sqrt2)\frac{1 + |a|}{1 - |a|}$ at every depth (bottleneck.chain-for-every-slope).
    """
    K, _ = constant_and_slope(h)
    at = witnesses.bottleneck(net, x)
    first, second = net.weights
    s = linalg.singular_values(torch.cat((first, second.mT), -1))
    counted = torch.arange(s.shape[-1], device=x.device) < at.rank.unsqueeze(-1)
    overlap = torch.where(counted, s, torch.zeros_like(s)).sum(-1) * linalg.square_root(2, x)
    norms = linalg.frobenius_squared(first) + linalg.frobenius_squared(second)
    return leq(
        norms + 2 * at.rank - 2 * overlap,
        K * at.slack * linalg.scalar(share, x),
        where=at.rank > 0,
        scale=K * size(net, at),
        error=K * rounding(net, at),
    )
