"""Own results: what two hidden layers compute."""

from itertools import product

import torch

from rankcheck import Network, construction, eq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances


@instances
def pyramids_at_points(source: Source):
    """p and e_2, …, e_m, of any rank, as rows, and a point."""
    m = source.integer(1, 5)
    return source.tensor(m, m), source.tensor(m)


def two_layers(rows, minus=1):
    """[p·x + Σ [e_j·x]_+]_+, p the first row and e_j the others; if not `minus`, [p·x]_+ for p·x."""
    p, one = rows[:1], torch.ones_like(rows[:1, :1])
    sums = torch.cat((one, -minus * one, *[one] * (len(rows) - 1)), 1)
    return Network.linear([torch.cat((p, -p, rows[1:])), sums, one])


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
    Compared with the maximum over the vertices, for up to four $e_j$ of any rank; at whole numbers
    without a tolerance.
    """
    m = len(x)
    corners = x.new_tensor([(0,) * m, *((1, *chosen) for chosen in product((0, 1), repeat=m - 1))])

    def largest(rows, x):
        return (corners @ rows @ x).amax()

    net, whole, y = two_layers(rows, minus), torch.round(rows), torch.round(x)
    scale = tolerances.network_scale(net, x)
    return (
        eq(net(x), largest(rows, x), scale=scale, label="anywhere"),
        eq(two_layers(whole, minus)(y), largest(whole, y), terms=0, label="whole numbers"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )


@instances
def layers_that_skip(source: Source):
    """Affine A, P and l, matrices D and c, and four points, all of small integers."""
    n, inner, outer = (source.integer(1, 3) for _ in range(3))

    def whole(*shape):
        return torch.round(source.tensor(*shape, low=-4.0, high=4.0))

    affine = [Network((whole(m, n),), (whole(m),)) for m in (inner, outer, 1)]
    return *affine, whole(outer, inner), whole(1, outer), whole(4, n)


def positive_part(net, depth):
    """[f]_+ for f, handed on to any depth."""
    one = linalg.eye(net.widths[-1], net.weights[0])
    return Network.linear([one] * (depth - 1)).after(net)


@construction(
    "field.two-layers-hold-one",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Section 8"),
    instances=layers_that_skip(),
    mutants={
        "[P(x)]_+ for P(x)": {"behind_one": positive_part},
        "[l(x)]_+ for l(x)": {"behind_two": positive_part},
    },
    witness=witnesses.deepen,
)
def test_two_layers_hold_one(
    A, P, skip, D, c, x, *, behind_one=witnesses.deepen, behind_two=witnesses.deepen
):
    r"""Connections that skip hidden layers add nothing to two hidden layers.

    For affine maps A, P and l and matrices D and c, the function
    $$l(x) + \sum_i c_i \Big[ P_i(x) + \sum_j D_{ij} |A_j(x)| \Big]_+,$$
    in which P and l skip layers, is that of a ReLU network with two hidden layers, as
    $y = [y]_+ - [-y]_+$ and $[[y]_+]_+ = [y]_+$. With D = 0 it is any function of one hidden layer.
    Compared on whole numbers, without a tolerance.
    """
    minus_A = A.with_parameters((-A.weights[0],), (-A.biases[0],))
    absolute = Network.linear((torch.cat((D, D), 1),)).after(A.parallel(minus_A))
    units = absolute.add(behind_one(P, 2))
    net = Network.linear((c,)).after(units).add(behind_two(skip, 3))
    right = skip(x) + torch.relu(P(x) + A(x).abs() @ D.mT) @ c.mT
    return (
        eq(net(x), right, terms=0, label="the network"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )
