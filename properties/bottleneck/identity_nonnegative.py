"""Section 3.3.1, Proposition 5/12 of `bottleneck`: the identity costs kL at least, on planes kL."""

from rankcheck import Erratum, bound, construction, eq, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, planar_domain, positive, semi_orthogonal, slope

from ._active import active_network


@instances
def identities_along_a_domain(source: Source):
    """A network that is the identity near x along a tangent space, its basis T, and x.

    The hidden layers are drawn, and the last one undoes them along T.
    """
    n, L = source.integer(1, 3), source.integer(1, 4)
    k, a = source.integer(1, n), slope(source)
    x, T = source.tensor(n), semi_orthogonal(source, n, k)
    net = active_network(source, x, rank=k, depth=L, outputs=n, slope=a)
    at = net.at(x)
    hidden, A = at.activations[-1], at.inner_jacobians[-1] @ T
    W = T @ linalg.pseudo_inverse(A)
    return net.with_parameters((*net.weights[:-1], W), (*net.biases[:-1], x - W @ hidden)), T, x


@instances
def planar_identities(source: Source):
    """The identity of a planar domain in k dimensions, at cost kL."""
    V, O, x = planar_domain(source)  # noqa: E741
    return witnesses.planar_identity(O, source.integer(1, 5), slope(source)), V, x


@instances
def contractions(source: Source):
    """The same with all weights divided by two: the network contracts the domain."""
    net, V, x = planar_identities()(source)
    return net.with_parameters([W / 2 for W in net.weights], net.biases), V, x


@bound(
    "bottleneck.identity-nonnegative",
    paper("bottleneck", "§3.3.1"),
    instances=identities_along_a_domain(),
    tight=planar_identities(),
    needs={"the network is the identity along T": contractions()},
    mutants={"one dimension more": {"more": 1}},
    errata=Erratum(
        printed=r"$R^{(1)}(\operatorname{id};\Omega) \ge \log|P_{T_x}|_+ = 0$",
        right=r"$2 \log|P_{T_x}|_+ = 0$, by Theorem 3.",
        survives="The conclusion: the value is zero.",
    ),
    audit="left out: it is about networks that are the identity on a domain",
)
def test_identity_nonnegative(net, T, x, *, more=0):
    r"""A network that is the identity on a k-dimensional domain costs at least kL.

    If $f(x) = x$ and $Jf(x) T = T$ for orthonormal columns $T$ that span the $k$-dimensional tangent
    space of $\Omega$ at $x$, then $\|\theta\|^2 \ge kL$ at every depth. So $R^{(1)}(id; \Omega) \ge 0$
    where $R^{(0)}(id; \Omega) = k$.

    It is bottleneck.regularity-on-a-domain with $\log |P_T|_+ = 0$, as the source has it.
    """
    k = T.shape[1]
    along = linalg.rank(net.jacobian(x) @ T, net.jacobian_noise(x)) == k
    return (
        leq((k + more) * net.depth, net.cost(), where=along, label="the cost"),
        eq(net(x), x, scale=tolerances.network_scale(net, x), label="the function"),
    )


@instances
def planar_domains(source: Source):
    """A plane's basis V, O with OᵀO = VVᵀ, a depth, a slope, and a point of the plane's cone."""
    V, into, x = planar_domain(source)
    return V, into, source.integer(1, 8), slope(source), x


@instances
def outside_the_cone(source: Source):
    """A point −x of the plane where Ox ≥ 0, with slope 0 and at least two layers."""
    V, into, x = planar_domain(source)
    return V, into, source.integer(2, 8), 0, -x


@instances
def outside_the_plane(source: Source):
    """A point at distance of at least 1/8 from the plane."""
    k = source.integer(1, 2)
    Q = semi_orthogonal(source, k + 1, k + 1)
    V, y = Q[:, :k], positive(source, k + 1)
    return V, V.mT, source.integer(1, 8), slope(source), Q @ y


def identities_in_the_middle(O, depth, slope):  # noqa: E741
    """The witness with the identity of the hidden space in place of the projection onto Im O."""
    net = witnesses.planar_identity(O, depth, slope)
    weights = [net.weights[0], *[linalg.eye(len(O), O)] * (depth - 2), net.weights[-1]][:depth]
    return net.with_parameters(weights, net.biases)


@construction(
    "bottleneck.identity-planar",
    paper("bottleneck", "Prop. 5/12"),
    instances=planar_domains(),
    needs={
        "the domain is completely positive": outside_the_cone(),
        "the domain is planar": outside_the_plane(),
    },
    mutants={"identities in the middle": {"witness": identities_in_the_middle}},
    witness=witnesses.planar_identity,
)
def test_identity_planar(V, O, L, a, x, *, witness=witnesses.planar_identity):  # noqa: E741
    r"""The identity on a planar, completely positive domain costs exactly kL.

    Let $\Omega$ span a space of dimension $k$, and $O \Omega \ge 0$ with
    $O^T O = P_{\operatorname{span} \Omega}$. Then the network $W_1 = O$, $W_\ell = O O^T$,
    $W_L = O^T$ is the identity on $\Omega$ for every slope and has $\|\theta\|^2 = kL$ at every depth.

    With bottleneck.identity-nonnegative, $R^{(1)}(id; \Omega) = 0$.
    """
    net = witness(O, L, a)
    scale = tolerances.network_scale(net, x.abs() + 1)
    return (
        eq(net(x), x, scale=scale, label="the function"),
        eq(net.cost(), V.shape[1] * L, label="the cost"),
    )
