"""Proposition 5/12 of `bottleneck`: the identity of a planar domain has no correction."""

from rankcheck import Network, construction, eq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, planar_domain, positive, semi_orthogonal, slope


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
    V = Q[..., :k]
    y = positive(source, k + 1)
    return V, V.mT, source.integer(1, 8), slope(source), (Q @ y.unsqueeze(-1)).squeeze(-1)


def identities_in_the_middle(O, depth, slope):  # noqa: E741
    """The witness with the identity of the hidden space in place of the projection onto Im O."""
    net = witnesses.planar_identity(O, depth, slope)
    middle = linalg.eye(O.shape[-2], O).expand(*O.shape[:-2], *[O.shape[-2]] * 2)
    weights = [net.weights[0], *[middle] * (depth - 2), net.weights[-1]][:depth]
    return Network(weights, net.biases, net.slope)


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
    k = V.shape[-1]
    scale = tolerances.network_scale(net, x.abs() + 1)
    return (
        eq(net(x), x, scale=scale, label="the function"),
        eq(net.cost(), k * L, label="the cost"),
    )
