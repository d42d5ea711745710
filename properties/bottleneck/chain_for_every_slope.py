"""Theorem 6 of `bottleneck` with one chain of frames for every slope, with the constant that it then needs."""

from fractions import Fraction

from rankcheck import bound, conjecture, construction, eq, leq, linalg, lt, paper, witnesses
from rankcheck.instances import Source, draw_widths, instances, orthogonal, positive

from ._bottlenecks import dense, networks_with_bottlenecks
from ._right_angles import best_chain, chain_distance, drawn_chain, norms_and_overlap, right_angles
from ._rounding import slack, tolerated


@instances
def steep_right_angles(source: Source):
    """The side 1/√2 up to a rotation, a slope a < 0 with 1 + a in [2^−24, 2^−20], and x > 0."""
    k, depth = source.integer(1, 3), source.integer(2, 5)
    slope = source.tensor(low=2.0**-24, high=2.0**-20) - 1
    turn, y = orthogonal(source, k), positive(source, k)
    net = right_angles(1 / linalg.square_root(2, y), slope, k, depth)
    weights = (net.weights[0] @ turn.mT, *net.weights[1:])
    return net.with_parameters(weights, net.biases), turn @ y


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
    the mask leaves of that. Proof: docs/proofs/chains-for-negative-slopes.md.
    """
    at = witnesses.bottleneck(net, x)
    left = chain_distance(net, frames(net, x, at.rank)) + sum(b @ b for b in net.biases)
    steep = (2 - linalg.square_root(2, x)) * (1 + abs(net.slope)) / (1 - abs(net.slope))
    constant = 1 + steep * linalg.scalar(share, x)
    return leq(left, constant * slack(net, at), **tolerated(net, at, constant))


@instances
def right_angles_with_chains(source: Source):
    """A slope a < 0, a height h, a chain of frames for a rank k and L ≥ 2, a point x > 0."""
    k, depth = source.integer(1, 3), source.integer(2, 6)
    slope = source.tensor(low=2.0**-16, high=1 - 2.0**-16) - 1
    height = source.tensor(low=0.75, high=1.5)
    return slope, height, drawn_chain(source, k, depth), positive(source, k)


@instances
def best_chains_of_right_angles(source: Source):
    """The same with the best chain: A_1 = (I; 0) and A_ℓ = I otherwise."""
    slope, height, chain, x = right_angles_with_chains()(source)
    return slope, height, best_chain(chain), x


#: The height h at which both layers fail for the smallest |a|, and that |a|.
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
    k, root, a = len(x), linalg.square_root(2, x), slope.abs()
    net = right_angles(height / root, slope, k, len(chain) - 1)

    def sides(h):
        return 2 * k * (h * h + 1 - root * h), 2 * k * (h * h - 1 - (h * h * (1 + a) / 2).log())

    chains, right = sides(height)
    at_one, small = sides(linalg.scalar(1, x))
    high, twice = sides(linalg.scalar(HEIGHT, x))
    at = witnesses.bottleneck(net, x)
    return (
        leq(chains * linalg.scalar(share, x), chain_distance(net, chain), label="every chain"),
        eq(at.slack, right, scale=net.cost(), label="the right side"),
        leq((2 - root) * (1 + a) * small, (1 - a) * at_one, label="the constant"),
        lt(2 * twice, high, where=a >= linalg.scalar(steep, a), label="both layers"),
    )


def constant_and_slope(h):
    """K and a < 0 for a height h in (1, √2): (h² − h/√2)/(h² − 1), and the slope where h is the best."""
    root = linalg.square_root(2, h)
    K = (h * h - h / root) / (h * h - 1)
    exponent = h * h - 1 - (h * h + 1 - root * h) / K
    return K, 1 - 2 * exponent.exp() / (h * h)


#: Between 1 + 2^−10 and √2 − 2^−10, about.
HEIGHTS = {"low": 1 + 2.0**-10, "high": 1.4130859375}


@instances
def networks_of_depth_two(source: Source, *, width=(1, 3)):
    """A height h, and a network of depth two of its slope, at a point inside a region."""
    h = source.tensor(**HEIGHTS)
    widths = draw_widths(source, (2, 2), width)
    return h, *dense(source, widths, source.integer(0, 1), constant_and_slope(h)[1], bound=2.0)


@instances
def best_right_angles(source: Source):
    """W_1 = h(I; −I)/√2 and W_2 = h(I I)/√2 at x > 0."""
    h, k = source.tensor(**HEIGHTS), source.integer(1, 3)
    x = source.tensor(k, low=0.25, high=4.0)
    side = h / linalg.square_root(2, h)
    return h, right_angles(side, constant_and_slope(h)[1], k, 2), x


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
    norms, overlap = norms_and_overlap(net, at.rank)
    left, right = norms + 2 * at.rank - 2 * overlap, K * at.slack * linalg.scalar(share, x)
    return leq(left, right, **tolerated(net, at, K))
