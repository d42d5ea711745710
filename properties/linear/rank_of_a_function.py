"""Rank and path norm of a function, slides A and B of `linear`: the least of a network for it."""

from fractions import Fraction

from rankcheck import bound, construction, costs, eq, leq, linalg, paper, tolerances
from rankcheck.instances import Source, instances, two_networks_on_a_line, units_on_a_line

from ._helpers import gradients, index_ranks, projected, root_and_noise, with_copies, without_an_end


@instances
def two_networks_and_a_point(source: Source):
    """Two networks for a function, a law with mass in each region on a line, and a point."""
    W, *others = two_networks_on_a_line().build(source)
    return W, *others, source.tensor(W.shape[1])


@instances
def a_region_without_mass(source: Source):
    """The same without mass in the region below all bends, or in the one above."""
    W, b, a, x, p, *others = two_networks_and_a_point().build(source)
    return W, b, a, x, without_an_end(source, p), *others


def onto_the_first_gradient(V, root):
    """VP, with P the projection onto one gradient."""
    return projected(V, root[:1])


@construction(
    "linear.rank-of-a-function",
    paper("linear", "slides A, Mixed-Variation Functions"),
    instances=two_networks_and_a_point(),
    reach=index_ranks,
    needs={"every region has positive mass": a_region_without_mass()},
    mutants={"the projection onto one gradient": {"weights": onto_the_first_gradient}},
    witness=projected,
)
def test_rank_of_a_function(W, b, a, x, p, V, d, e, z, *, weights=projected):
    r"""The rank of a function is the least rank of the weights of a network for it.

    Let $r$ be the least number with $f(x) = g(U^\top x)$ for some $U \in \mathbb R^{D \times r}$ and
    some $g$. For a two-layer function $f$, $r = \min_\theta \operatorname{rank} D_aW$ over the
    networks $\theta = (W, b, a, c)$ for $f$, and $r = \operatorname{rank} C_f$ for a law with mass in
    every region.

    A network for $f$ has $f(x) = h_\theta(Qx)$, $Q$ the projection onto the rows of $D_aW$, so $r \le
    \operatorname{rank} D_aW$. And $r \ge \operatorname{rank} C_f$, since the range of $U$ contains
    every gradient. It remains to find a network of rank $\operatorname{rank} C_f$: with $P$ the
    projection onto $\operatorname{range} C_f$, every network $(V, d, e)$ for $f$ gives the network
    $(VP, d, e)$.

    Checked: it computes $f$ (at one point), its rank is that of $C_f$, and no network has a smaller
    one. Networks and laws are those of linear.path-norm-upper.
    """
    root, noise = root_and_noise(W, b, a, x, p)
    r, U = linalg.rank(root, noise), weights(V, root)
    given, through = (costs.two_layer_network(M, d, e) for M in (V, U))
    scale = tolerances.network_scale(given, z)
    return (
        # The projection errs by the condition number of the gradients.
        eq(through(z), given(z), scale=scale, terms=2**20, label="the function"),
        eq(costs.unit_rank(U, e), r, label="the rank"),
        leq(r, costs.unit_rank(V, e), label="every network"),
    )


@instances
def the_units_twice(source: Source):
    """Units with distinct hyperplanes, as both networks."""
    W, b, a, x, p = units_on_a_line().build(source)
    return W, b, a, x, p, W, b, a


@instances
def split_units(source: Source):
    """Units with distinct hyperplanes, and each once more with −7/8 of its outer weight."""
    W, b, a, x, p = units_on_a_line().build(source)
    split = with_copies(W, b, a, -0.875)
    return *split, x, p, *split


@instances
def another_function(source: Source):
    """The second network computes half of the function."""
    *others, e = the_units_twice().build(source)
    return *others, e / 2


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
    jumps = gradients(W, b, a, x).diff(dim=0)
    sizes = linalg.power((jumps * jumps).sum(-1), Fraction(1, 2)).sum()
    scale = (a.unsqueeze(-1) * W).abs().sum()
    least = sizes * more.numerator / more.denominator
    path = costs.path_norm_of_units(W, a)
    return (
        eq(linalg.power(sizes, exponent), path, scale=scale, label="these units"),
        leq(least, costs.path_norm_of_units(V, e), scale=scale, label="every network"),
    )
