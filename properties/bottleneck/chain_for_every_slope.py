"""Theorem 6 of `bottleneck` with one chain of frames for every slope, with the constant that it then needs."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, construction, eq, leq, linalg, lt, paper, witnesses
from rankcheck.instances import Source, instances, orthogonal, positive, semi_orthogonal

from ._bottlenecks import networks_with_bottlenecks
from ._rounding import rounding, size, slack


def right_angles(slope, height, k, depth, turn=None):
    """W_1 = h(I; −I)/√2, W_2 = h(I I)/√2, W_ℓ = I_k for ℓ > 2, up to a rotation of the input."""
    like = height
    identity = linalg.eye(k, like).expand((*height.shape, k, k))
    h = (height / linalg.square_root(2, like))[..., None, None]
    first = h * torch.cat((identity, -identity), -2)
    weights = [first, h * torch.cat((identity, identity), -1), *[identity] * (depth - 2)]
    if turn is not None:
        weights[0] = first @ turn.mT
    return Network.linear(weights, slope)


@instances
def steep_right_angles(source: Source):
    """`right_angles` at h = 1, with a slope a < 0 and 1 + a between 2^−24 and 2^−20, at x > 0."""
    k, depth = source.integer(1, 3), source.integer(2, 5)
    slope = source.tensor(low=2.0**-24, high=2.0**-20) - 1
    turn, y = orthogonal(source, k), positive(source, k)
    net = right_angles(slope, torch.ones_like(slope), k, depth, turn)
    return net, (turn @ y.unsqueeze(-1)).squeeze(-1)


def chain_constant(slope, share, like):
    """1 + (2 − √2)(1 + |a|)/(1 − |a|), the second summand times `share`."""
    a = linalg.scalar(slope, like).abs() if isinstance(slope, linalg.Number) else slope.abs()
    return 1 + (2 - linalg.square_root(2, like)) * linalg.scalar(share, like) * (1 + a) / (1 - a)


@bound(
    "bottleneck.chain-for-every-slope",
    paper("rankcheck", "docs/proofs/chains-for-negative-slopes.md, Theorem C"),
    instances=networks_with_bottlenecks(),
    tight=steep_right_angles(),
    mutants={
        "2 % less for steep slopes": {"share": Fraction(49, 50)},
        "the frames of slopes from 0 to 1": {"frames": witnesses.chained_frames},
    },
    witness=witnesses.middle_frames,
    no_ball="polar factors of matrices that are not square are irrational; the lower bound runs on balls",
    effort=0.6,
    audit="left out: audits evaluate bottleneck.chained-projections, sharper for slopes from 0 to 1",
)
def test_chain_for_every_slope(net, x, *, share=1, frames=witnesses.middle_frames):
    r"""For every slope one chain of orthonormal frames is close to all weights, up to a constant.

    With $k = \operatorname{rank} Jf(x) \ge 1$, $c_1 = \|\theta\|^2 - kL$ and any slope $a \in (-1, 1)$ there
    are semi-orthonormal $A_0, \dots, A_L$ ($n_\ell \times k$) with

    $$\sum_{\ell=1}^L \|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 + \|b_\ell\|^2 \le
      \Bigl( 1 + (2 - \sqrt2) \frac{1 + |a|}{1 - |a|} \Bigr) \bigl( c_1 - 2 \log |Jf(x)|_+ \bigr).$$

    For $0 \le a < 1$ the constant is 1 (bottleneck.chained-projections). For $a < 0$ it is at least
    $(2 - \sqrt2)\frac{1 + |a|}{1 - |a|}$ (bottleneck.chains-of-right-angles), so the best one is known up to
    an error of 1. $A_\ell$ lies halfway between what $W_\ell$ makes of the frame before and what
    the mask leaves of that.

    Proof: docs/proofs/chains-for-negative-slopes.md.
    """
    at = witnesses.bottleneck(net, x)
    A = frames(net, x, at.rank)
    steps = zip(net.weights, net.biases, A[1:], A[:-1], strict=True)
    near = [linalg.frobenius_squared(w - b @ a.mT) + (s * s).sum(-1) for w, s, b, a in steps]
    left = torch.stack(near, -1).sum(-1)
    constant = chain_constant(net.slope, share, left)
    return leq(
        left,
        constant * slack(net, at),
        where=at.rank > 0,
        scale=constant * size(net, at),
        error=constant * rounding(net, at),
    )


@instances
def right_angles_with_chains(source: Source):
    """A slope a < 0, a height h, a chain of frames for a rank k and L ≥ 2, a point x > 0."""
    k, depth = source.integer(1, 3), source.integer(2, 6)
    slope = source.tensor(low=2.0**-16, high=1 - 2.0**-16) - 1
    height = source.tensor(low=0.75, high=1.5)
    ends = [orthogonal(source, k) for _ in range(depth)]
    middle = semi_orthogonal(source, 2 * k, k)
    return slope, height, (ends[0], middle, *ends[1:]), positive(source, k)


@instances
def best_chains_of_right_angles(source: Source):
    """The same with the best chain: A_1 = (I; 0) and A_ℓ = I otherwise."""
    slope, height, chain, x = right_angles_with_chains()(source)
    n = x.shape[-1]
    identity = linalg.eye(n, x).expand((*source.batch, n, n))
    middle = torch.cat((identity, 0 * identity), -2)
    return slope, height, (identity, middle, *(identity for _ in chain[2:])), x


#: The height of `right_angles` at which both layers fail for the smallest |a|, and that |a|.
HEIGHT, STEEP = Fraction(1104, 1000), Fraction(4701, 10000)


@construction(
    "bottleneck.chains-of-right-angles",
    paper("rankcheck", "docs/proofs/chains-for-negative-slopes.md, Theorem D"),
    instances=right_angles_with_chains(),
    tight=best_chains_of_right_angles(),
    mutants={
        "2 % more for the chain": {"share": Fraction(51, 50)},
        "from |a| = 0.46 on": {"steep": Fraction(46, 100)},
    },
    loose={
        "the constant": "the two sides agree as |a| tends to 1",
        "both layers": "a strict inequality, with room for larger |a|",
    },
)
def test_chains_of_right_angles(slope, height, chain, x, *, share=1, steep=STEEP):
    r"""For every slope a < 0 two layers at right angles are far from every chain of frames.

    Let $W_1 = \frac h{\sqrt2} (I; -I)$, $W_2 = \frac h{\sqrt2} (I\ I)$, $W_\ell = I_k$ for $\ell > 2$, no
    biases, $x > 0$ and $a \in (-1, 0)$. For every chain of semi-orthonormal $A_\ell$

    $$\sum_{\ell=1}^L \|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 \ge 2k (h^2 + 1 - \sqrt2\,h), \qquad
      c_1 - 2 \log |Jf(x)|_+ = 2k \bigl( h^2 - 1 - \log \tfrac{h^2 (1 + |a|)}2 \bigr),$$

    with equality for $A_1 = (I; 0)$ and $A_\ell = I$ otherwise. At $h = 1$ the quotient is at least
    $(2 - \sqrt2)\frac{1 + |a|}{1 - |a|}$: the constant of bottleneck.chain-for-every-slope is the best up to an
    error of 1. At $h = 1.104$ the left side is more than twice the right one for $|a| \ge 0.4701$: then
    one of the first two layers is farther from its projection than $c_1 - 2\log |Jf(x)|_+$, so that the
    printed second half fails as well, at every depth $L \ge 2$ and for $p$ just below $1/L$.

    Proof: docs/proofs/chains-for-negative-slopes.md.
    """
    k, depth = x.shape[-1], len(chain) - 1
    net = right_angles(slope, height, k, depth)
    steps = zip(net.weights, chain[1:], chain[:-1], strict=True)
    left = sum(linalg.frobenius_squared(w - b @ a.mT) for w, b, a in steps)
    root, a = linalg.square_root(2, x), slope.abs()

    def sides(h):
        return 2 * k * (h * h + 1 - root * h), 2 * k * (h * h - 1 - (h * h * (1 + a) / 2).log())

    chains, right = sides(height)
    at_one, small = sides(torch.ones_like(height))
    high, twice = sides(linalg.scalar(HEIGHT, x) * torch.ones_like(height))
    at = witnesses.bottleneck(net, x)
    return (
        leq(chains * linalg.scalar(share, x), left, label="every chain"),
        eq(at.slack, right, scale=net.cost(), label="the right side"),
        leq((2 - root) * (1 + a) * small, (1 - a) * at_one, label="the constant"),
        lt(2 * twice, high, where=a >= linalg.scalar(steep, a), label="both layers"),
    )
