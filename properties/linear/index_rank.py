"""EGOP, slides A and B of `linear`: what C_f = E[∇f ∇fᵀ] measures, and its rank."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Need, costs, eq, identity, linalg, paper, tolerances
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    instances,
    law,
    network,
    units_on_a_line,
)

from ._helpers import index_ranks, with_copies, without_an_end


@instances
def functions_and_directions(source: Source):
    """A two-layer ReLU network, points inside its regions, their probabilities, a direction v."""
    net = network(source, depth=(2, 2), outputs=1, slopes="relu")
    N, D = source.integer(1, 4), net.widths[0]
    x = source.tensor(N, D)
    return clear_of_boundaries(source, net, x), x, law(source, N), source.tensor(D)


@identity(
    "linear.gradient-variance",
    paper("linear", "slides B, EGOP"),
    instances=functions_and_directions(),
    mutants={
        "exponent 2.04": {"exponent": Fraction(51, 25)},
        "exponent 1.96": {"exponent": Fraction(49, 25)},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_gradient_variance(net, x, p, v, *, exponent=2):
    r"""The EGOP matrix is the mean square of directional derivatives.

    $v^\top C_f v = \mathbb E[(v^\top \nabla f(X))^2]$ for every $v$.

    Checked for laws with finitely many atoms. The right side uses values of $f$ alone:
    $v^\top \nabla f(x) = (f(x + tv) - f(x))/t$ for a step $t$ so short that no unit changes sign.
    """
    J = net.jacobian(x)[:, 0]
    speed = (net.weights[0] @ v).abs() / net.preactivations(x)[0].abs()
    t = 1 / (2 * speed.sum(-1) + 1)
    slope = (net(x + t.unsqueeze(-1) * v) - net(x))[:, 0] / t
    right = p @ linalg.power(slope.abs(), exponent)
    size, rough = tolerances.network_scale(net, x.abs() + v.abs())[:, 0] / t, J.abs() @ v.abs()
    scale = p @ (slope.abs() * size + rough * rough)
    return eq(v @ costs.egop(J, p) @ v, right, scale=scale)


@instances
def units_and_moves(source: Source):
    """Units with distinct hyperplanes, a law with mass in each region on a line, and a move v."""
    W, *others = units_on_a_line().build(source)
    return W, *others, source.tensor(W.shape[1], low=-2.0, high=2.0)


@instances
def a_region_without_mass(source: Source):
    """The same without mass in the region below all bends, or in the one above."""
    W, b, a, x, p, v = units_and_moves().build(source)
    return W, b, a, x, without_an_end(source, p), v


@instances
def cancelling_units(source: Source):
    """The same, and each unit once more with the opposite outer weight."""
    W, b, a, *others = units_and_moves().build(source)
    return *with_copies(W, b, a, -1), *others


def only_the_last(gradients, p):
    """The gradient at one point instead of the law of all."""
    return costs.egop_root(gradients[-1:], p[-1:])


@identity(
    "linear.index-rank",
    paper("linear", "slides A, Mixed-Variation Functions; slides B, EGOP"),
    instances=units_and_moves(),
    reach=index_ranks,
    needs={
        "every region has positive mass": a_region_without_mass(),
        "the units have distinct hyperplanes": cancelling_units(),
    },
    mutants={"the gradient at one point": {"root_of": only_the_last}},
    errata=Erratum(
        printed=r"“Fix a probability distribution $\rho$ on $R^d$. […] $\operatorname{rank}(f) = "
        r"\operatorname{rank}(C_f)$”, where $\operatorname{rank}(f)$ is the least "
        r"$\operatorname{rank}(D_aW)$ over the two-layer networks for $f$ on $R^d$",
        right=r"A hypothesis on $\rho$ is missing: mass in every activation region of $f$, such "
        "as a density that is positive everywhere. Under the uniform law on $[-1, 1]^2$ the "
        r"function $[x_1]_+ + [x_2 - 5]_+$ has $\operatorname{rank}(C_f) = 1$ and rank 2. Without "
        r"the hypothesis the equation holds if $f$ is only considered on the support of $\rho$, "
        "where that is convex and has an interior point.",
        survives=r"Slides B define the index rank as $\operatorname{rank}(C_f)$. Their upper "
        "bound of $R_L$ and their corollaries need the same hypothesis, or functions on the "
        "support; with it they stand (linear.path-norm-upper, linear.rank-limit, "
        "linear.low-rank-wins).",
        place="slides A, Mixed-Variation Functions",
    ),
)
def test_index_rank(W, b, a, x, p, v, *, root_of=costs.egop_root):
    r"""The index rank is the rank of the weights, and its range the principal subspace.

    For units with distinct hyperplanes whose activation regions all have positive mass,
    $\operatorname{rank} C_h = \operatorname{rank} D_aW$, and $h(x + u) = h(x)$ at the points of the
    law for every $u \perp \operatorname{range} C_h$.

    Some line meets the hyperplanes one after the other; here it is the first axis, and the law has
    mass in each of its intervals, so that neighbouring gradients differ by $\pm a_k w_k$. By
    linear.rank-of-a-function both are the rank of $f$ in the sense of slides A. In floats
    the rank is that of the root $A$, $A^\top A = C_h$; on balls both ranks are proved. `index_rank`
    of $C_h$ itself is checked in linear.index-rank-gaussian.
    """
    net = costs.two_layer_network(W, b, a)
    root, noise = root_of(net.jacobian(x)[:, 0], p), net.jacobian_noise(x).amax()
    u = v - linalg.range_projection(root.mT) @ v
    scale = tolerances.network_scale(net, x.abs() + v.abs())
    return (
        eq(linalg.rank(root, noise), costs.unit_rank(W, a), label="the rank"),
        # The projection errs by the condition number of the root.
        eq(net(x + u), net(x), scale=scale, terms=2**20, label="the range"),
    )


@instances
def units_under_a_gaussian(source: Source):
    """Up to three units with distinct hyperplanes, and the midpoint of their bends on the line."""
    W, b, a, x, _ = units_on_a_line(units=(1, 3)).build(source)
    return W, b, a, (x[0] + x[-1]) / 2


@instances
def cancelling_units_under_a_gaussian(source: Source):
    """The same, and each unit once more with the opposite outer weight."""
    W, b, a, mean = units_under_a_gaussian().build(source)
    return *with_copies(W, b, a, -1), mean


def all_but_the_last(a):
    """The outer weights with 0 for the last."""
    return torch.cat((a[:-1], 0 * a[-1:]))


@identity(
    "linear.index-rank-gaussian",
    paper("linear", "slides A, Mixed-Variation Functions"),
    instances=units_under_a_gaussian(),
    needs={
        "the law has full support": Need(units_under_a_gaussian(), {"spread": 0.0}),
        "the units have distinct hyperplanes": cancelling_units_under_a_gaussian(),
    },
    mutants={"without the last unit": {"kept_units": all_but_the_last}},
    no_ball="orthant probabilities are floats: Owen's T function",
)
def test_index_rank_gaussian(W, b, a, mean, *, spread=1.0, kept_units=torch.clone):
    r"""Under a Gaussian the index rank is the rank of the weights.

    $\operatorname{rank} C_h = \operatorname{rank} D_aW$ for units with distinct hyperplanes and
    $x \sim N(\mathrm{mean}, I)$, a law of full support, with $C_h$ in closed form. At covariance 0 the
    law has one atom and the rank is at most one.

    Checked where $D_aW$ has a condition number below $2^{10}$. $C_h$ squares it, and its least
    non-zero singular value must stay well above rounding.
    """
    s = linalg.singular_values(a.unsqueeze(-1) * W)
    r = costs.unit_rank(W, a)
    last = torch.where(torch.arange(len(s), device=s.device) < r, s, s[0]).amin()
    C = costs.egop_gaussian(W, b, kept_units(a), mean, spread * linalg.eye(len(mean), W))
    return eq(costs.index_rank(C), r, where=s[0] < 2**10 * last)
