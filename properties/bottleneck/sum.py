"""Theorem 3.2 of `bottleneck`: costs of sums."""

import torch

from rankcheck import Erratum, construction, eq, leq, paper, refuted
from rankcheck.claims.tolerances import network_scale
from rankcheck.costs.corrections import excess
from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.networks import clear_of_boundaries, network, slope
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import log_pseudo_determinant, rank
from rankcheck.networks import Network
from rankcheck.witnesses.constants import least_constant_cost


@instances
def summands(source: Source):
    """Networks f and g of one depth and slope, with the same inputs and outputs, and a point."""
    L = source.integer(2, 4)
    f = network(source, depth=(L, L))
    g = network(source, depth=(L, L), inputs=f.widths[0], outputs=f.widths[-1], slopes="relu")
    x = source.tensor(f.widths[0])
    g = Network(g.weights, g.biases, f.slope)
    return clear_of_boundaries(source, f, x), clear_of_boundaries(source, g, x), x


@instances
def orthogonal_summands(source: Source):
    """f and g linear, almost isometries between orthogonal planes, and a point with positive parts."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    into = semi_orthogonal(source, k + m, k + m)
    out = semi_orthogonal(source, k + m, k + m)
    y = positive(source, k + m)
    a = slope(source)

    def part(start: int, stop: int) -> Network:
        t = torch.diag_embed(positive(source, stop - start, low=1.0, high=1.0 + 2.0**-20))
        weights = [t] * L
        weights[0] = weights[0] @ into[..., :, start:stop].mT
        weights[-1] = out[..., :, start:stop] @ weights[-1]
        return Network.linear(weights, a)

    return part(0, k), part(k, k + m), (into @ y.unsqueeze(-1)).squeeze(-1)


def last_biases(f, g):
    """Twice the inner product of the last biases."""
    return 2 * (f.biases[-1] * g.biases[-1]).sum(-1)


def nothing(f, g):
    """Zero in place of the cross term."""
    return torch.zeros_like(last_biases(f, g))


@construction(
    "bottleneck.sum",
    paper("bottleneck", "Thm 3.2"),
    instances=summands(),
    tight=orthogonal_summands(),
    mutants={"without the cross term of the last biases, as printed": {"cross": nothing}},
    witness=Network.add,
)
def test_sum(f, g, x, *, cross=last_biases):
    r"""The excess cost is additive for sums, up to the biases of the last layer.

    The parallel network of depth $L \ge 2$ computes $f + g$. For all $k$ and $m$ its excess
    $\|\theta\|^2 - (k + m) L$ is $\|\theta_f\|^2 - kL$ plus $\|\theta_g\|^2 - mL$ plus
    $2 \langle b_{L,f}, b_{L,g} \rangle$. With $k = \operatorname{rank} Jf(x)$ and
    $m = \operatorname{rank} Jg(x)$ it is at least $2 \log |J(f + g)(x)|_+$ where
    $k + m = \operatorname{rank} J(f+g)(x)$.

    Not checked is the limit: with the cheapest networks of $f$ and $g$,
    $R^{(1)}(f + g) \le R^{(1)}(f) + R^{(1)}(g) + 2 \limsup \langle b_{L,f}, b_{L,g} \rangle$ where
    $R^{(0)}(f + g) = R^{(0)}(f) + R^{(0)}(g)$, without the last term if one of the two needs no bias
    in its last layer.
    """
    net = f.add(g)
    first, second = f.jacobian(x), g.jacobian(x)
    k, m = rank(first, f.jacobian_noise(x)), rank(second, g.jacobian_noise(x))
    J, noise = first + second, net.jacobian_noise(x)
    together = excess(f, k) + excess(g, m) + cross(f, g)
    size = f.cost() + g.cost() + (k + m) * net.depth
    return (
        eq(net(x), f(x) + g(x), scale=network_scale(net, x), label="the function"),
        eq(excess(net, k + m), together, scale=size, label="the excess"),
        leq(
            2 * log_pseudo_determinant(J, noise),
            together,
            scale=size,
            where=rank(J, noise) == k + m,
            label="the Jacobian",
        ),
    )


@instances
def constants(source: Source):
    """The values of two constant functions, in [-1, 1]."""
    return source.tensor(low=-1.0, high=1.0), source.tensor(low=-1.0, high=1.0)


@refuted(
    "bottleneck.sum-as-printed",
    paper("bottleneck", "Thm 3.2"),
    instances=constants(),
    errata=Erratum(
        printed="TODO",
        right="Print omits the cross term 2⟨b_f, b_g⟩: the biases of the two last layers are added before "
        "they are squared. For f = g ≡ 1 on a domain with 0 all ranks are zero, R(1; L) = 1 and "
        "R(2; L) = 3 for every L >= 2, so R^(1)(f + g) = 3 > 2.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.sum",
)
def test_sum_as_printed(v, w):
    r"""The first correction is subadditive under sums whose ranks add up.

    If $R^{(0)}(f + g) = R^{(0)}(f) + R^{(0)}(g)$ then
    $R^{(1)}(f + g) \le R^{(1)}(f) + R^{(1)}(g)$.

    Tested for the constants $f \equiv v$, $g \equiv w$ on $\Omega \ni 0$, where $R^{(0)} = 0$ and
    $R(c; \Omega, L)$ is the same for all $L \ge 2$ if $|c| \le 2$ (bottleneck.constant-cost).
    """
    return leq(least_constant_cost(v + w), least_constant_cost(v) + least_constant_cost(w))
