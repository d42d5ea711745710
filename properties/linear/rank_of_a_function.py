"""Mixed-variation functions, slides A of `linear`: the rank of a function and of its networks."""

from rankcheck import construction, costs, eq, leq, linalg, paper, tolerances
from rankcheck.instances import Source, instances, two_networks_on_a_line

from ._laws import without_an_end
from ._projected import projected
from ._reach import index_ranks


@instances
def two_networks_and_a_point(source: Source):
    """Two networks for a function, a law with mass in each region on a line, and a point."""
    W, b, a, x, p, V, d, e = two_networks_on_a_line().build(source)
    return W, b, a, x, p, V, d, e, source.tensor(W.shape[-1])


@instances
def a_region_without_mass(source: Source):
    """The same without mass in the region below all bends, or in the one above."""
    W, b, a, x, p, *others = two_networks_and_a_point().build(source)
    return W, b, a, x, without_an_end(source, p), *others


def onto_the_first_gradient(V, root):
    """VP, with P the projection onto one gradient."""
    return projected(V, root[..., :1, :])


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
    net = costs.two_layer_network(W, b, a)
    root = costs.egop_root(net.jacobian(x).squeeze(-2), p)
    r, U = linalg.rank(root, net.jacobian_noise(x).amax(-1)), weights(V, root)
    given, through = (costs.two_layer_network(M, d, e) for M in (V, U))
    values, scale = (
        (N(z).squeeze(-1) for N in (through, given)),
        tolerances.network_scale(given, z).squeeze(-1),
    )
    return (
        # The projection errs by the condition number of the gradients.
        eq(*values, scale=scale, terms=2**20, label="the function"),
        eq(costs.unit_rank(U, e), r, label="the rank"),
        leq(r, costs.unit_rank(V, e), label="every network"),
    )
