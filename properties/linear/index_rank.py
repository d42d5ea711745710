"""Mixed-variation functions (slides A) and EGOP (slides B) of `linear`: the rank of C_f is the rank
of the weights, if the law has mass in every activation region."""

import torch

from rankcheck import Erratum, eq, identity, paper, refuted
from rankcheck.claims.tolerances import network_scale
from rankcheck.costs import egop, egop_gaussian, egop_root, index_rank, two_layer_network, unit_rank
from rankcheck.instances.source import Source, instances
from rankcheck.instances.units import law, units_on_a_line
from rankcheck.linalg import range_projection, rank, singular_values

from ._laws import without_an_end


@instances
def units_and_moves(source: Source):
    """Units with distinct hyperplanes, a law with mass in each region on a line, and a move v."""
    W, b, a, x, p = units_on_a_line().build(source)
    return W, b, a, x, p, source.tensor(W.shape[-1], low=-2.0, high=2.0)


@instances
def a_region_without_mass(source: Source):
    """The same without mass in the region below all bends, or in the one above."""
    W, b, a, x, p, v = units_and_moves().build(source)
    return W, b, a, x, without_an_end(source, p), v


@instances
def cancelling_units(source: Source):
    """The same, and each unit once more with the opposite outer weight."""
    W, b, a, x, p, v = units_and_moves().build(source)
    return torch.cat((W, W), -2), torch.cat((b, b), -1), torch.cat((a, -a), -1), x, p, v


def only_the_last(gradients, p):
    """The gradient at one point instead of the law of all."""
    return egop_root(gradients[..., -1:, :], p[..., -1:])


@identity(
    "linear.index-rank",
    paper("linear", "slides A, Mixed-Variation Functions; slides B, EGOP"),
    instances=units_and_moves(),
    needs={
        "every region has positive mass": a_region_without_mass(),
        "the units have distinct hyperplanes": cancelling_units(),
    },
    mutants={"the gradient at one point": {"root_of": only_the_last}},
)
def test_index_rank(W, b, a, x, p, v, *, root_of=egop_root):
    r"""The index rank is the rank of the weights, and its range the principal subspace.

    For units with distinct hyperplanes whose activation regions all have positive mass,
    $\operatorname{rank} C_h = \operatorname{rank} D_aW$, and $h(x + u) = h(x)$ at the points of the
    law for every $u \perp \operatorname{range} C_h$.

    Some line meets the hyperplanes one after the other; here it is the first axis, and the law has
    mass in each of its intervals, so that neighbouring gradients differ by $\pm a_k w_k$. In floats
    the rank is that of the root $A$, $A^\top A = C_h$; on balls both ranks are proved. `index_rank`
    of $C_h$ itself is checked in linear.index-rank-gaussian.
    """
    net = two_layer_network(W, b, a)
    root = root_of(net.jacobian(x).squeeze(-2), p)
    u = v - (range_projection(root.mT) @ v.unsqueeze(-1)).squeeze(-1)
    moved = x + u.unsqueeze(-2)
    scale = network_scale(net, x.abs() + v.abs().unsqueeze(-2)).squeeze(-1)
    return (
        eq(rank(root, net.jacobian_noise(x).amax(-1)), unit_rank(W, a), label="the rank"),
        # The projection errs by the condition number of the root.
        eq(net(moved).squeeze(-1), net(x).squeeze(-1), scale=scale, terms=2**20, label="the range"),
    )


@instances
def units_under_a_gaussian(source: Source):
    """Up to three units with distinct hyperplanes, and the midpoint of their bends on the line."""
    W, b, a, x, _ = units_on_a_line(units=(1, 3)).build(source)
    return W, b, a, (x[..., 0, :] + x[..., -1, :]) / 2


@identity(
    "linear.index-rank-gaussian",
    paper("linear", "slides A, Mixed-Variation Functions"),
    instances=units_under_a_gaussian(),
    no_ball="orthant probabilities are floats: Owen's T function",
)
def test_index_rank_gaussian(W, b, a, mean):
    r"""Under a Gaussian the index rank is the rank of the weights.

    $\operatorname{rank} C_h = \operatorname{rank} D_aW$ for units with distinct hyperplanes and
    $x \sim N(\mathrm{mean}, I)$, a law of full support, with $C_h$ in closed form.

    Checked where $D_aW$ has a condition number below $2^{10}$. $C_h$ squares it, and its least
    non-zero singular value must stay well above rounding.
    """
    s = singular_values(a.unsqueeze(-1) * W)
    r = unit_rank(W, a)
    kept = torch.arange(s.shape[-1], device=s.device) < r.unsqueeze(-1)
    last = torch.where(kept, s, s[..., :1]).amin(-1)
    return eq(index_rank(egop_gaussian(W, b, a, mean)), r, where=s[..., 0] < 2**10 * last)


@instances
def units_with_a_law(source: Source):
    """Units with distinct hyperplanes, and a law on points of some of the regions along the line."""
    W, b, a, between, _ = units_on_a_line().build(source)
    places = [source.integer(0, W.shape[-2]) for _ in range(source.integer(1, 4))]
    return W, b, a, between[..., places, :], law(source, len(places))


@refuted(
    "linear.index-rank-as-printed",
    paper("linear", "slides A, Mixed-Variation Functions"),
    instances=units_with_a_law(),
    errata=Erratum(
        printed="TODO",
        right="Printed is rank(C_f) = min rank D_aW for every law; the law needs mass in every "
        "activation region, as C_f does not see units that are inactive on its support. On [−1, 1]² the "
        "function [x_1]_+ + [x_2 − 5]_+ has rank(C_f) = 1.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="linear.index-rank",
)
def test_index_rank_as_printed(W, b, a, x, p):
    r"""The index rank is the rank of the weights, whatever the law.

    $\operatorname{rank} C_f = \min_\theta \operatorname{rank} D_aW$ over the networks $\theta$
    for $f$, for every law of $x$.

    If the hyperplanes are distinct, every network for $f$ has units on all of them, so the given
    network attains the minimum. The law here has atoms inside regions; a density on small balls
    around them gives the same $C_f$.
    """
    gradients = two_layer_network(W, b, a).jacobian(x).squeeze(-2)
    return eq(rank(egop(gradients, p)), unit_rank(W, a))
