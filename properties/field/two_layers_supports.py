"""Own results: support functions of polytopes, and which of them two hidden layers compute."""

from itertools import product as subsets

import torch

from rankcheck import construction, eq, identity, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network
from rankcheck.polytopes.polytope import cut, dot, minkowski, support

from ._polytopes import basis, hyperplane, polytope, side_by_side, vector, within


@instances
def cut_polytopes(source: Source):
    """A polytope, a hyperplane that meets it, through a vertex now and then, and five points."""
    m = source.integer(1, 4)
    P = polytope(source, m)
    return P, *hyperplane(source, P), [vector(source, m, 3) for _ in range(5)]


@instances
def sums_of_polytopes(source: Source):
    """P and Q in coordinates for the first and the other vectors of a basis, and five points."""
    m = source.integer(2, 4)
    first, e = source.integer(1, m - 1), basis(source, m)
    P, Q = polytope(source, first), polytope(source, m - first)
    return P, Q, e, [vector(source, m, 3) for _ in range(5)]


@instances
def pyramids_at_points(source: Source):
    """p and e_2, …, e_m, of any rank, as rows, and a point."""
    m = source.integer(1, 5)
    return source.tensor(m, m), source.tensor(m)


@identity(
    "field.support-functions-of-parts",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Prop. 1"),
    instances=cut_polytopes(),
    mutants={
        "the common part left out": {"common": 0},
        "the common part twice": {"common": 2},
    },
    no_batch="an instance is integers: a batch would hold copies of it",
)
def test_support_functions_of_parts(P, form, height, points, *, common=1):
    r"""Support functions are additive where a hyperplane cuts a polytope.

    With $h_P(x) = \max_{p \in P} p \cdot x$ and a hyperplane that cuts P into $P_1$ and $P_2$:
    $h_P + h_{P_1 \cap P_2} = h_{P_1} + h_{P_2}$. Checked exactly at integer points, for integer
    polytopes of dimension at most 4 and hyperplanes that meet them; some pass through a vertex, or hold
    the whole polytope.
    """
    below, above = cut(P, form, height)
    both = [p for p in below if p in above]
    whole = {x: support(P, x) + common * support(both, x) for x in points}
    parts = {x: support(below, x) + support(above, x) for x in points}
    left, right = side_by_side(whole, parts)
    return eq(left, right, terms=0)


@identity(
    "field.support-functions-of-products",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Prop. 1"),
    instances=sums_of_polytopes(),
    mutants={
        "the hull of both": {"summed": lambda P, Q: [*P, *Q]},
        "P alone": {"summed": lambda P, Q: P},
    },
    no_batch="an instance is integers: a batch would hold copies of it",
)
def test_support_functions_of_products(P, Q, e, points, *, summed=minkowski):
    r"""The support function of a product is a sum of functions of fewer linear forms.

    Let $e_1, \dots, e_m$ be a basis, P a polytope in the span of the first r of them and Q one in that
    of the others. Then $h_{P+Q}(x)$ is $h_P(e_1 \cdot x, \dots, e_r \cdot x) + h_Q(e_{r+1} \cdot x,
    \dots, e_m \cdot x)$, with P and Q in coordinates for the basis. Checked exactly at integer points,
    $m \le 4$.
    """
    first = len(P[0])
    whole = summed(within(e[:first], P), within(e[first:], Q))
    forms = {x: [dot(v, x) for v in e] for x in points}
    left, right = side_by_side(
        {x: support(whole, x) for x in points},
        {x: support(P, y[:first]) + support(Q, y[first:]) for x, y in forms.items()},
    )
    return eq(left, right, terms=0)


def two_layers(rows, minus=1):
    """[p·x + Σ [e_j·x]_+]_+, p the first row and e_j the others: m → m + 1 → 1 → 1.

    Args:
        minus: 1, or 0 for [p·x]_+ in place of p·x.
    """
    p, ones = rows[..., :1, :], torch.ones_like(rows[..., :1, :1])
    units = torch.cat((p, -p, rows[..., 1:, :]), -2)
    sums = torch.cat((ones, -minus * ones, *[ones] * (rows.shape[-1] - 1)), -1)
    return Network.linear([units, sums, ones])


@construction(
    "field.pyramids-by-two-layers",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Prop. 1"),
    instances=pyramids_at_points(),
    mutants={"[p·x]₊ for p·x": {"minus": 0}},
    witness=two_layers,
)
def test_pyramids_by_two_layers(rows, x, *, minus=1):
    r"""Two hidden layers compute the support function of a pyramid over a parallelotope.

    The support function of the hull of 0 and $p + \sum_j [0, 1] e_j$ is
    $[p \cdot x + \sum_j [e_j \cdot x]_+]_+$, which is a network of two hidden layers without biases.
    Here it is compared with the maximum over the vertices $0$ and $p + \sum_{j \in S} e_j$, for up to
    four $e_j$ of any rank; at whole numbers without a tolerance.
    """
    m = x.shape[-1]
    corners = x.new_tensor([(0,) * m, *((1, *chosen) for chosen in subsets((0, 1), repeat=m - 1))])

    def largest(rows, x):
        return (corners @ rows @ x[..., None])[..., 0].amax(-1)

    net, whole = two_layers(rows, minus), torch.round(rows)
    y = torch.round(x)
    return (
        eq(net(x)[..., 0], largest(rows, x), scale=network_scale(net, x)[..., 0], label="anywhere"),
        eq(two_layers(whole, minus)(y)[..., 0], largest(whole, y), terms=0, label="whole numbers"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )
