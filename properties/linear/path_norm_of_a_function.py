"""Path norm, slides A and B of `linear`: R_2 of a function, the least path norm of a network for it."""

from fractions import Fraction

import torch

from rankcheck import bound, costs, eq, leq, linalg, paper
from rankcheck.instances import Source, instances, two_networks_on_a_line, units_on_a_line


@instances
def the_units_twice(source: Source):
    """Units with distinct hyperplanes, as both networks."""
    W, b, a, x, p = units_on_a_line().build(source)
    return W, b, a, x, p, W, b, a


@instances
def split_units(source: Source):
    """Units with distinct hyperplanes, and each once more with −7/8 of its outer weight."""
    W, b, a, x, p = units_on_a_line().build(source)
    W, b, a = torch.cat((W, W), -2), torch.cat((b, b), -1), torch.cat((a, -0.875 * a), -1)
    return W, b, a, x, p, W, b, a


@instances
def another_function(source: Source):
    """The second network computes half of the function."""
    W, b, a, x, p, V, d, e = the_units_twice().build(source)
    return W, b, a, x, p, V, d, e / 2


@bound(
    "linear.path-norm-of-a-function",
    paper("linear", "slides A, Definition (Path Norm); slides B, Theorem"),
    instances=two_networks_on_a_line(units=(1, 5)),
    tight=the_units_twice(),
    needs={
        "the units have distinct hyperplanes": split_units(),
        "both networks compute the function": another_function(),
    },
    mutants={
        "exponent 1.02": {"exponent": Fraction(51, 50)},
        "2 % more than the least": {"more": Fraction(51, 50)},
    },
)
def test_path_norm_of_a_function(W, b, a, x, p, V, d, e, *, exponent=1, more=1):
    r"""Units with distinct hyperplanes have the least path norm that their function allows.

    $R_2(h) = \sum_k |a_k| \|w_k\| = \sum_k \|\nabla h(x_k) - \nabla h(x_{k-1})\| \le \sum_j |e_j| \|v_j\|$
    along a line that crosses each hyperplane once, at points $x_0, \dots, x_K$ before, between and after
    them, for every network $(V, d, e)$ for $h$.

    The jumps depend on $h$ alone. In the first network one unit switches between two points, and its
    jump has the size $|a_k| \|w_k\|$. In any network each unit switches at most once along a line, so that
    its part in all jumps together is at most $|e_j| \|v_j\|$; the triangle inequality does the rest.

    The second network is the first, or has further units that cancel, or whose linear parts do. The
    masses are not used.
    """
    net = costs.two_layer_network(W, b, a)
    gradients = net.jacobian(x).squeeze(-2)
    jumps = gradients[..., 1:, :] - gradients[..., :-1, :]
    sizes = linalg.power((jumps * jumps).sum(-1), Fraction(1, 2)).sum(-1)
    scale = (a.abs().unsqueeze(-1) * W.abs()).sum((-2, -1))
    least = sizes * more.numerator / more.denominator
    return (
        eq(
            linalg.power(sizes, exponent),
            costs.path_norm_of_units(W, a),
            scale=scale,
            label="these units",
        ),
        leq(least, costs.path_norm_of_units(V, e), scale=scale, label="every network"),
    )
