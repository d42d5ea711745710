"""Example 20 of `bottleneck`: a shear with two Jacobians and no first correction."""

import torch

from rankcheck import Erratum, construction, eq, leq, limit, paper, refuted
from rankcheck.claims.tolerances import network_scale
from rankcheck.costs.corrections import excess
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import operator_norm
from rankcheck.scalars import scalar
from rankcheck.witnesses.shear import shear, shear_network


@instances
def shears(source: Source, *, least=2):
    """An even depth, a stretch r in [1, 2], a strength c in [0, 2], and a point of [0, 1]³."""
    L = 2 * source.integer(least // 2, 8)
    r = source.tensor(low=1.0, high=2.0)
    return L, r, source.tensor(low=0.0, high=2.0), source.tensor(3, low=0.0, high=1.0)


@instances
def below_the_orthant(source: Source):
    """The same with a negative third coordinate of the point."""
    L, r, c, x = shears()(source)
    return L, r, c, x - torch.tensor([0.0, 0.0, 3.0], dtype=torch.float64)


def without_the_way_back(depth, stretch, strength):
    """The network that stretches again after the shear, instead of undoing the first stretch."""
    net = shear_network(depth, stretch, strength)
    half = depth // 2 - 1
    return net.with_parameters((*net.weights[: half + 2], *net.weights[:half]), net.biases)


@construction(
    "bottleneck.shear-example",
    paper("bottleneck", "Example 20"),
    instances=shears(),
    needs={"the domain is in the positive orthant": below_the_orthant()},
    mutants={"without the way back": {"witness": without_the_way_back}},
    witness=shear_network,
)
def test_shear_example(L, r, c, x, *, witness=shear_network):
    r"""A network for a shear that is cheap because its hidden maps stretch.

    $f(x, y, z) = (x, y, z + c [x - y]_+)$ on $[0, 1]^3$ is equal to the ReLU network of even depth
    $L$ with stretch $r = e^\epsilon$ (rankcheck.witnesses.shear), whose cost is
    $$3L + \tfrac{L-2}{2} \bigl( 2(r^2 - 1) + (r^{-4} - 1) + 2(r^{-2} - 1) + (r^4 - 1) \bigr)
      + 2 r^{-(L-2)} + c^2 r^{-2(L-2)},$$
    and whose map $\tilde\alpha_{L/2 - 1}$ has the operator norm $r^{(L-2)/2}$ (for $L \ge 4$).

    For the rate along $\epsilon = L^{-\gamma}$ see bottleneck.shear-excess.
    """
    net = witness(L, r, c)
    layer = 2 * (r**2 - 1) + (r**-4 - 1) + 2 * (r**-2 - 1) + (r**4 - 1)
    cost = layer * (L - 2) / 2 + 2 * r ** -(L - 2) + c * c * r ** (-2 * (L - 2)) + 3 * L
    stretched = net.partial_jacobians(x).inner[max(L // 2 - 1, 0)]
    return (
        eq(net(x), shear(x, c), scale=network_scale(net, x), label="the function"),
        eq(net.cost(), cost, label="the cost"),
        eq(operator_norm(stretched), r ** (L // 2 - 1), label="the Lipschitz constant"),
    )


@instances
def shears_along_a_power(source: Source):
    """An even depth, an exponent γ in (1/2, 1), and a strength c in [0, 2]."""
    L = source.choice((4, 8, 16, 32, 64))
    gamma = source.tensor(low=0.5 + 2.0**-10, high=1 - 2.0**-10)
    return L, gamma, source.tensor(low=0.0, high=2.0)


@limit(
    "bottleneck.shear-excess",
    paper("bottleneck", "Example 20"),
    instances=shears_along_a_power(),
    witness=shear_network,
)
def test_shear_excess(L, gamma, c):
    r"""The excess of the shear decays like 12 L^(1 - 2γ).

    With $\epsilon = L^{-\gamma}$, $\frac12 < \gamma < 1$, the network of bottleneck.shear-example
    has $t = 2 e^{-(L-2)\epsilon} + c^2 e^{-2(L-2)\epsilon}$ and
    $$12 (L - 2) \epsilon^2 + t \le \|\theta\|^2 - 3L
      \le 12 (L - 2) \epsilon^2 (1 + \epsilon^2 \cosh 4\epsilon) + t.$$

    As $L \to \infty$ the excess behaves like $12 L^{1 - 2\gamma} \to 0$, so $R^{(1)}(f) = 0$ for a
    function with two different Jacobians. The Lipschitz constants $e^{(L-2)\epsilon/2}$ of the hidden
    maps diverge, so bottleneck.two-jacobians needs its constant $C$.
    """
    epsilon = (-gamma * scalar(L, gamma).log()).exp()
    more = excess(shear_network(L, epsilon.exp(), c), 3)
    tail = 2 * (-epsilon * (L - 2)).exp() + c * c * (-2 * epsilon * (L - 2)).exp()
    square = epsilon * epsilon
    cosh = ((4 * epsilon).exp() + (-4 * epsilon).exp()) / 2
    size = more + 3 * L
    low = 12 * (L - 2) * square
    return (
        leq(low + tail, more, scale=size, label="from below"),
        leq(more, low * (1 + square * cosh) + tail, scale=size, label="from above"),
    )


@instances
def printed_shears(source: Source):
    """An even depth and a stretch r in [1, 2]."""
    return 2 * source.integer(1, 8), source.tensor(low=1.0, high=2.0)


@refuted(
    "bottleneck.shear-example-as-printed",
    paper("bottleneck", "Example 20"),
    instances=printed_shears(),
    errata=Erratum(
        printed="TODO",
        right="Print omits the factor (L - 2)/2, the number of stretching layers on either side, so its "
        "simplified cost is right at L = 4 only. At L = 4096 and γ = 3/4 the excess is 0.188; print gives "
        "0.0008. Also, the ranges of the layers overlap (W_{L/2} and W_{L/2+1} are both given for "
        "L/2 + 2..L), and the constant a of the function occurs in no weight. The scales do compose.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.shear-example",
)
def test_shear_example_as_printed(L, r):
    r"""The cost of the shear, as simplified in print.

    The network for $z + [x - y]_+$ costs
    $$3L + 2(r^2 - 1) + (r^{-4} - 1) + 2(r^{-2} - 1) + (r^4 - 1) + 2 r^{-(L-2)} + r^{-2(L-2)},
      \qquad r = e^\epsilon.$$
    """
    layer = 2 * (r**2 - 1) + (r**-4 - 1) + 2 * (r**-2 - 1) + (r**4 - 1)
    printed = layer + 2 * r ** -(L - 2) + r ** (-2 * (L - 2)) + 3 * L
    return eq(shear_network(L, r, torch.ones_like(r)).cost(), printed)
