"""Section 5 of `bottleneck`: functions with symmetries have a small rank."""

from rankcheck import construction, eq, leq, linalg, paper, tolerances
from rankcheck.instances import Source, clear_of_boundaries, instances, network, orthogonal


@instances
def functions_along_a_subspace(source: Source, *, invariant=True):
    """A network that ignores d directions, a basis E of the others, a point, and a step along the d."""
    net = network(source, depth=(1, 3), width=(1, 4), inputs=source.integer(1, 4))
    n = net.widths[0]
    d = source.integer(1, n)
    Q = orthogonal(source, n)
    across, along = Q[:, : n - d], Q[:, n - d :]
    x, t = source.tensor(n), source.tensor(d)
    if invariant:
        first = net.weights[0] @ across @ across.mT
        net = net.with_parameters((first, *net.weights[1:]), net.biases)
    return clear_of_boundaries(source, net, x), across, x, along @ t


def by_the_quotient(net, across, x):
    """h(g(x)) with g = Eᵀ, which is injective on orbits, and h = f∘E."""
    folded = net.with_parameters((net.weights[0] @ across, *net.weights[1:]), net.biases)
    return folded(across.mT @ x)


@construction(
    "bottleneck.rank-of-invariant-functions",
    paper("bottleneck", "§5, for translations"),
    instances=functions_along_a_subspace(),
    needs={"f is invariant": functions_along_a_subspace(invariant=False)},
    mutants={"a quotient of dimension 0": {"factor": lambda net, across, x: net(0 * x)}},
    loose={"the rank": "a network may have a smaller rank than its symmetries say"},
    audit="left out: it is about functions that translations do not change",
)
def test_rank_of_invariant_functions(net, across, x, step, *, factor=by_the_quotient):
    r"""A function that translations along d directions do not change factors through the others.

    Let $G$ be the translations along a subspace of $\mathbb R^n$ of dimension $d$ and $f$ a network with
    $f(x + v) = f(x)$ for these $v$. With an orthonormal basis $E$ of the complement, the orbit space is embedded
    by $g(x) = E^T x$, and $f = (f \circ E) \circ g$, so the bottleneck rank of $f$ is at most
    $n - d = \dim \mathbb R^n / G$; and so is the rank of its Jacobian.

    In general $f$ is constant on orbits, hence a function of the quotient map, and both factors are
    continuous where the embedding is proper. The bottleneck rank, however, is defined with piecewise linear
    factors, and the quotient by rotations has none that are; bottleneck.symmetry-learning-rank has the example
    of the source, whose factors are polynomials.
    """
    scale = tolerances.network_scale(net, x.abs() + step.abs())
    ranks = linalg.rank(net.jacobian(x), net.jacobian_noise(x))
    return (
        eq(net(x + step), net(x), scale=scale, label="the symmetry"),
        eq(factor(net, across, x), net(x), scale=scale, label="the factors"),
        leq(ranks, across.shape[1], label="the rank"),
    )
