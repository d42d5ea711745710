"""Proposition 9/18 of `bottleneck`, second half: the tangent kernel at two points of a linear region."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Network, bound, leq, linalg, networks, paper, refuted
from rankcheck.instances import Source, instances, network, networks_with_inputs, orthogonal

from ._slopes import least_slope

#: How far the ends of a segment are from the kinks, in families whose units vanish there.
INSIDE = Fraction(1, 2**24)
#: A unit whose sign differs at the two ends is moved this far beyond its kink at both.
BEYOND = 0.125
#: Any two points of a ReLU network with a hidden layer.
ANY_TWO_POINTS = networks_with_inputs(depth=(2, 3), width=(1, 2), points=(2, 2), slopes="relu")


@instances
def networks_on_segments(source: Source, *, depth=(1, 4), width=(1, 3), slopes="any"):
    """A network and the ends of a segment, shape (2, n_0), with one activation pattern.

    The bias of a unit that changes its sign, or vanishes, is moved. The pattern is then the same at
    both ends and therefore, layer by layer, in between.
    """
    net = network(source, depth=depth, width=width, slopes=slopes)
    ends = source.tensor(2, net.widths[0])
    alpha, biases = ends, []
    for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        z = alpha @ w.mT + b
        low, high = z.amin(0), z.amax(0)
        b = torch.where((low <= 0) & (high >= 0), b + (BEYOND - low), b)
        biases.append(b)
        alpha = networks.leaky(alpha @ w.mT + b, net.slope)
    return Network(net.weights, (*biases, net.biases[-1]), net.slope), ends


@instances
def isometries_through_the_origin(source: Source):
    """x ↦ Qx on a segment from −y to y."""
    n = source.integer(1, 3)
    Q, y = orthogonal(source, n), source.tensor(1, n)
    return Network.linear((Q,)), torch.cat((-y, y))


@instances
def heavy_chains(source: Source):
    """x ↦ t^L x for x > 0, all weights t, t = 2^±16: both sides grow like t^(2L − 2)."""
    depth, y = source.integer(3, 8), source.tensor(1, low=1.0, high=8.0)
    t = y.new_full((1, 1), 2.0 ** source.choice((16, -16)))
    return Network.linear((t,) * depth), torch.stack((2.0**-10 * y, y))


@instances
def isometries_and_heavy_chains(source: Source):
    """The equality of depth 1, or a chain that shows the exponent 2 − 2/L of the Jacobian."""
    family = source.choice((isometries_through_the_origin(), heavy_chains()))
    return family(source)


@instances
def leaky_chains(source: Source):
    """x ↦ a^{L−1} x, all weights one, on a segment of x < 0, for slopes of at most 1/4."""
    depth = source.integer(4, 6)
    slope = source.tensor(low=2.0**-6, high=0.25)
    left = source.tensor(1, low=-8.0, high=-4.0)
    ends = torch.stack((left, torch.zeros_like(left) - 2.0**-3))
    return Network.linear((left.new_ones(1, 1),) * depth, slope), ends


def end_to_end(net, ends, biases=False):
    """L ‖x − y‖² ‖Jf(x)u‖^{2 − 2/L}, and the larger norm of the kernel at x and at y."""
    L = net.depth
    x, y = ends
    step = y - x
    rise = net.jacobian(x) @ step
    # ‖x − y‖² ‖Ju‖^{2 − 2/L} = ‖x − y‖^{2/L} ‖J(y − x)‖^{2 − 2/L}
    size = linalg.power(step @ step, Fraction(1, L)) * linalg.power(rise @ rise, Fraction(L - 1, L))
    norms = [linalg.operator_norm(networks.ntk(net, end, end, biases)) for end in ends]
    return L * size, torch.maximum(*norms)


@bound(
    "bottleneck.ntk-on-a-segment",
    paper("bottleneck", "Prop. 9/18 (ReLU)"),
    instances=networks_on_segments(slopes="relu"),
    tight=isometries_and_heavy_chains(),
    needs={"one activation pattern on the segment": ANY_TWO_POINTS, "ReLU": leaky_chains()},
    mutants={"a third instead of a quarter": {"share": Fraction(1, 3)}},
    errata=Erratum(
        printed="the pre-activations of all neurons of the network remain constant on the segment "
        "$[x, y]$",
        right=r"the activation pattern remains constant: the proof has $D_\ell(\gamma(t))$ "
        "constant.",
        survives="The second half of the proposition, for ReLU.",
    ),
    audit="left out: bottleneck.ntk-on-a-segment-sharp has a larger constant",
)
def test_ntk_on_a_segment(net, ends, *, share=Fraction(1, 4)):
    r"""Where the Jacobian is large along a segment, the tangent kernel is large at an end.

    For a ReLU network whose activation *pattern* is constant on $[x, y]$, with
    $u = (y - x)/\|y - x\|$ and $\Theta$ over the weights:

    $$\max(\|\Theta(x, x)\|_{op}, \|\Theta(y, y)\|_{op}) \ge
      \frac L4 \|x - y\|^2 \|Jf(x)u\|^{2 - 2/L}.$$

    The bound is tight at depth 1 for $x = -y$, where the kernel along the segment is a quadratic
    function of $t \in [0, 1]$ with least value 0 in the middle. At every depth chains of weights
    $t \to \infty$ and $t \to 0$ leave no other exponent: both sides are of degree $2L - 2$.
    """
    size, kernel = end_to_end(net, ends)
    return leq(size * share.numerator / share.denominator, kernel)


@refuted(
    "bottleneck.ntk-on-a-segment-as-printed",
    paper("bottleneck", "Prop. 9/18, second half"),
    instances=networks_on_segments(depth=(2, 3), width=(1, 2)),
    errata=Erratum(
        printed="for any two points $x$, $y$ such that the pre-activations of all neurons of the "
        r"network remain constant on the segment $[x, y]$, then either $\|\Theta(x, x)\|_{op}$ or "
        r"$\|\Theta(y, y)\|_{op}$ is lower bounded by $\frac{L}{4} \|x - y\|^2 \|Jf_\theta(x) (y "
        r"- x)/\|x - y\|\|_2^{2 - 2/L}$",
        right=r"$2^{-1-1/L} L \|x - y\|^2 \|Jf_\theta(x) (y - x)/\|x - y\|\|_2^{2 - 2/L}$ for "
        r"ReLU, in place of the factor $L/4$; for a slope $a \ne 0$ that constant has the factor "
        "$|a|^{2 - 2/L}$ (bottleneck.ntk-on-a-segment-sharp). Section 2 allows every slope in "
        "$(-1, 1)$.",
        survives="The second half of the proposition for ReLU (bottleneck.ntk-on-a-segment).",
        weight="theorem",
    ),
    readings={
        "the pre-activations themselves are constant": "then $Jf(x)(y - x) = 0$, and nothing is "
        r"said; the proof has $D_\ell(\gamma(t))$ constant, which is tested",
        r"$\Theta$ over the weights, or over weights and biases": "tested with both, the larger kernel; the other is "
        "smaller still",
        "ReLU only": r"that is the corrected statement; the proposition and §2 have $\sigma_a$ "
        "with a in (−1, 1), and where ReLU is meant, as in Prop. 13, print says so",
        "for large $L$ only": r"for $L$ units of weight 1 and $x = -1/a^L$, $y \to 0$, the left "
        "side is at most $L/a^2 + 1/(1 - a^2)$, and the right side tends to $L/(4a^2) a^{-2(1 - "
        r"1/L)}$, at least $2L/a^2$ for every $L \ge 2$ and $0 < a \le 1/8$",
    },
    corrected_by="bottleneck.ntk-on-a-segment-sharp",
)
def test_ntk_on_a_segment_as_printed(net, ends):
    r"""Where the Jacobian is large along a segment, the kernel is large at an end, for every slope.

    For a network of any slope $a \in (-1, 1)$ whose activation pattern is constant on $[x, y]$, with
    $u = (y - x)/\|y - x\|$ and $\Theta$ over weights and biases:

    $$\max(\|\Theta(x, x)\|_{op}, \|\Theta(y, y)\|_{op}) \ge
      \frac L4 \|x - y\|^2 \|Jf(x)u\|^{2 - 2/L}.$$
    """
    rise_along_the_segment, kernel_at_an_end = end_to_end(net, ends, biases=True)
    return leq(rise_along_the_segment / 4, kernel_at_an_end)


def opposite_ends(like):
    """(1, −1)ᵀ, and the ends of a segment that nearly reach −1 and 1, both of shape (2, 1)."""
    pair = like.new_tensor([[1.0], [-1.0]])
    return pair, linalg.scalar(INSIDE - 1, like) * pair


@instances
def opposite_pairs(source: Source):
    """f(x) = 2cwt^{L−2} x on (−1, 1) through two units w(1 ± x), c = √2 w, t = 2w; f(x) = wx at L = 1.

    Each unit nearly vanishes at one end. Both ends have the same kernel, whose L summands are nearly
    equal. Or the same with all units on the negative side of a slope between 1/8 and 1/2, or −1/2 and
    −1/8: then f(x) = 2cwt^{L−2} |a|^{L−1} x.
    """
    depth, side = source.integer(1, 6), source.choice((0, 1, -1))
    w = source.tensor(1, 1, low=0.25, high=1.0)
    a = source.tensor(low=0.125, high=0.5) * side
    pair, ends = opposite_ends(w)
    if depth == 1:
        return Network.linear((w,), a), ends
    sign, turn = (1, 1) if side == 0 else (-1, side)
    middle = 2 * turn * w * linalg.eye(2, like=w)
    out = linalg.square_root(2, w) * w * pair.mT
    weights = (sign * w * pair, *[middle] * (depth - 2), out)
    biases = [W.new_zeros(len(W)) for W in weights]
    biases[0] = sign * w[0].expand(2)
    return Network(weights, biases, a), ends


@bound(
    "bottleneck.ntk-on-a-segment-sharp",
    paper("bottleneck", "Prop. 9/18 (sharpened)"),
    instances=networks_on_segments(),
    tight=opposite_pairs(),
    needs={"one activation pattern on the segment": ANY_TWO_POINTS},
    mutants={
        "2^(-1 - 0.98/L)": {"exponent": Fraction(49, 50)},
        "the slope to the power 1.96 - 1.96/L": {"of_slope": Fraction(49, 25)},
    },
    audit="at pairs: |a| ≤ 1, one region",
)
def test_ntk_on_a_segment_sharp(net, ends, *, exponent=1, of_slope=2):
    r"""The bound on the tangent kernel at the ends of a segment, with its best constant.

    As in bottleneck.ntk-on-a-segment, for every slope: with $m = |a|$ for $a \ne 0$ and $m = 1$ for ReLU,

    $$\max(\|\Theta(x, x)\|_{op}, \|\Theta(y, y)\|_{op}) \ge
      2^{-1-1/L} L\, m^{2 - 2/L} \|x - y\|^2 \|Jf(x)u\|^{2 - 2/L}.$$

    The constant is $1/4$ at depth 1, tends to $1/2$, and is the best at every depth and slope: two
    opposite units reach it, on their positive side for ReLU and on their negative side for $a \ne 0$.

    Proof: docs/proofs/ntk-on-a-segment.md.
    """
    (size, kernel), L = end_to_end(net, ends), net.depth
    slopes = linalg.power(least_slope(net, ends), Fraction(of_slope * (L - 1), L))
    constant = linalg.power(linalg.scalar(2, size), -1 - Fraction(exponent) / L)
    return leq(size * slopes * constant, kernel)


@instances
def differences_of_two_units(source: Source):
    """f(x) = t^L 2^{1/4} x/√2 through two units z(1 ± x), all layers of rank one; f(x) = wx at L = 1.

    Each unit nearly vanishes at one end of [−1, 1]. ‖W_1‖² = t²/√2, and ‖W_ℓ‖ = t above.
    """
    depth, t = source.integer(1, 6), source.tensor(1, 1, low=0.25, high=2.0)
    pair, ends = opposite_ends(t)
    if depth == 1:
        return Network.linear((t,)), ends
    z = t * linalg.power(linalg.scalar(2, t), Fraction(-3, 4))
    middle, out = t / 2 * pair @ pair.mT, t / linalg.square_root(2, t) * pair.mT
    biases = [(z * t**layer)[0].expand(2) for layer in range(depth - 1)]
    weights = (z * pair, *[middle] * (depth - 2), out)
    return Network(weights, (*biases, t.new_zeros(1))), ends


@bound(
    "bottleneck.ntk-at-two-points",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Theorem 4"),
    instances=networks_on_segments(),
    tight=differences_of_two_units(),
    needs={"one linear region": ANY_TWO_POINTS},
    mutants={
        "0.51 for the first layer": {"first": 0.51},
        "2 % more for the depth": {"share": 1.02},
    },
    audit="at pairs: |a| ≤ 1, one region",
)
def test_ntk_at_two_points(net, ends, *, first=0.5, share=1):
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
    x, y = ends
    rise, L = net(x) - net(y), net.depth
    along = rise @ (networks.ntk(net, x, x) + networks.ntk(net, y, y)) @ rise
    fourth = (rise @ rise) ** 2
    some = fourth > 0
    # Where the values differ no weight is zero.
    squares = [torch.where(some, linalg.operator_norm(w) ** 2, 1.0) for w in net.weights]
    layers = first / squares[0] + sum(1 / s for s in squares[1:])
    weights = torch.where(some, sum(linalg.frobenius_squared(w) for w in net.weights), 1.0)
    depth = share * (L - 1 + 1 / linalg.square_root(2, along)) ** 2
    return (
        leq(fourth * layers, along, where=some, label="the layers"),
        leq(fourth * depth / weights, along, where=some, label="the depth"),
    )
