"""Two hidden layers hold one hidden layer, and connections that skip layers add nothing."""

import torch

from rankcheck import construction, eq, paper
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import eye
from rankcheck.networks import Network
from rankcheck.witnesses import deepen


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
    one = eye(net.widths[-1], net.weights[0]).expand(*net.batch, -1, -1)
    return Network.linear([one] * (depth - 1)).after(net)


@construction(
    "field.two-layers-hold-one",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Section 8"),
    instances=layers_that_skip(),
    mutants={
        "[P(x)]_+ for P(x)": {"behind_one": positive_part},
        "[l(x)]_+ for l(x)": {"behind_two": positive_part},
    },
    witness=deepen,
)
def test_two_layers_hold_one(A, P, skip, D, c, x, *, behind_one=deepen, behind_two=deepen):
    r"""Connections that skip hidden layers add nothing to two hidden layers.

    For affine maps A, P and l and matrices D and c, the function
    $$l(x) + \sum_i c_i \Big[ P_i(x) + \sum_j D_{ij} |A_j(x)| \Big]_+,$$
    in which P and l skip layers, is that of a ReLU network with two hidden layers, as
    $y = [y]_+ - [-y]_+$ and $[[y]_+]_+ = [y]_+$. With D = 0 it is any
    function of one hidden layer.

    Compared on whole numbers, without a tolerance.
    """
    inner = Network(
        (torch.cat((A.weights[0], -A.weights[0]), -2), torch.cat((D, D), -1)),
        (torch.cat((A.biases[0], -A.biases[0]), -1), 0 * P.biases[0]),
    )
    units = inner.add(behind_one(P, 2))
    one = eye(units.widths[-1], c).expand(*units.batch, -1, -1)
    net = Network.linear((one, c)).merged_after(units).add(behind_two(skip, 3))
    sums = P(x) + A(x).abs() @ D.mT
    right = skip(x) + torch.relu(sums) @ c.mT
    return (
        eq(net(x), right, terms=0, label="the network"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )
