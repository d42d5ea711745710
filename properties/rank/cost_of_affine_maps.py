"""Thm 4.3 of `rank` at finite depth: the cost of affine maps, and between bijections."""

import math
from fractions import Fraction

import torch

from rankcheck import Network, eq, leq, limit, linalg, networks, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    box,
    instances,
    orthogonal,
    point_in,
    positive,
    semi_orthogonal,
    slope,
)

from ._networks import bijection, relabelled, untranslated


@instances
def affine_maps(source: Source):
    """P, s, Q of A = P diag(s) Qᵀ; b, a slope, a depth L; u with Qᵀx ≥ −u on a box, and x in it."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    k = source.integer(1, min(m, n))
    P, Q = semi_orthogonal(source, m, k), semi_orthogonal(source, n, k)
    s, b = positive(source, k), source.tensor(m, low=-4.0, high=4.0)
    low, high = box(source, n)
    lower, _ = networks.interval_bounds(Network.linear((Q.mT,)), low, high)
    L = source.choice((*range(2, 9), 20, 60))
    return P, s, Q, b, torch.relu(-lower), slope(source), L, point_in(source, low, high)


@instances
def isometries_on_the_orthant(source: Source):
    """The same with s = 1; and b = 0, u = 0 half of the time."""
    P, s, Q, b, u, a, L, x = affine_maps()(source)
    if source.integer(0, 1) == 0:
        b, u, x = 0 * b, 0 * u, Q @ positive(source, len(s))
    return P, 0 * s + 1, Q, b, u, a, L, x


@instances
def unbounded_domains(source: Source):
    """The same at a point with Qᵀx = −u − 1, and a ReLU."""
    P, s, Q, b, u, _, L, _ = affine_maps()(source)
    return P, s, Q, b, u, 0.0, L, Q @ (-u - 1)


def without_shift(P, s, Q, b, u, depth, a):
    """The layers without the shift into the orthant."""
    return witnesses.affine_layers(P, s, Q, b, 0 * u, depth, a)


def equal_layers(P, s, Q, b, u, depth, a):
    """All of the scales in the first layer."""
    net = witnesses.affine_layers(P, 0 * s + 1, Q, b - P @ ((s - 1) * u), u, depth, a)
    weights = [s[:, None] * net.weights[0], *net.weights[1:]]
    return net.with_parameters(weights, [s * net.biases[0], *net.biases[1:]])


@limit(
    "rank.cost-of-affine-maps",
    paper("rank", "Thm 4.3"),
    instances=affine_maps(),
    tight=isometries_on_the_orthant(),
    needs={"the domain is bounded": unbounded_domains()},
    mutants={
        "no shift": {"witness": without_shift},
        "unbalanced layers": {"witness": equal_layers},
        "one dimension less": {"dimension": -1},
        "2.1 times the logarithm": {"factor": 2.1},
    },
    witness=witnesses.affine_layers,
)
def test_cost_of_affine_maps(
    P, s, Q, b, u, a, L, x, *, witness=witnesses.affine_layers, dimension=0, factor=2
):
    r"""The cost of an affine map lies between rank A times the depth and that plus a constant.

    Let $f(x) = Ax + b$ on a bounded $\Omega$ with non-empty interior, $A = P \operatorname{diag}(s)
    Q^\top$ of rank $k \ge 1$, and $Q^\top x \ge -u$ on $\Omega$ with $u \ge 0$. For every depth
    $L \ge 2$ and every slope

    $k L + 2 \log |A|_+ \le L \|A\|_{S^{2/L}}^{2/L} \le R(f; \Omega, L) \le \|\theta\|^2 \le
    L \|A\|_{S^{2/L}}^{2/L} + C \le k L + 2 \log |A|_+ + C + \frac{2}{L} \sum_i \log^2 s_i
    \max(1, s_i^{2/L})$,

    $C = \sum_i \max(1, s_i) u_i^2 + |b - P(s \odot u)|^2$, with the network $\theta$ of the witness. So
    $R_\infty(f) = \operatorname{rank} A$, and $R - kL$ stays bounded. The second inequality is
    rank.jacobian-bounds-cost; the outer ones are those of rank.schatten-limits. Checked on boxes
    $\Omega$. Proof: docs/proofs/cost-of-affine-maps.md.
    """
    net, A = witness(P, s, Q, b, u, L, a), (P * s) @ Q.mT
    k, logs = len(s) + dimension, s.log()
    least = L * linalg.schatten_power(A, Fraction(2, L), net.jacobian_noise(x))
    linear = k * L + factor * logs.sum()
    rest = (logs * logs * linalg.power(s, Fraction(2, L)).clamp(min=1)).sum() * 2 / L
    C = witnesses.affine_excess(P, s, b, u)
    size = k * L + 2 * logs.abs().sum() + C + net.cost()
    return (
        eq(net(x), A @ x + b, scale=tolerances.network_scale(net, x), label="the function"),
        leq(linear, least, scale=size, label="from below"),
        leq(least, net.cost(), scale=size, label="the network"),
        leq(net.cost(), least + C, scale=size, label="the constant"),
        leq(net.cost(), linear + C + rest, scale=size, label="from above"),
    )


@instances
def conjugates(source: Source):
    """ψ and φ, P, s, Q of A = P diag(s) Qᵀ, b; a box, x in it, a depth, and a slope of networks."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    k = source.integer(1, min(m, n))
    phi = bijection(source, n, source.integer(1, 2), bound=4.0, low=0.25)
    psi = bijection(source, m, source.integer(1, 2), bound=4.0, low=0.25)
    psi = relabelled(psi, phi.slope)
    P, Q = semi_orthogonal(source, m, k), semi_orthogonal(source, n, k)
    s, b = positive(source, k), source.tensor(m, low=-4.0, high=4.0)
    low, high = box(source, n)
    x = point_in(source, low, high)
    extra = source.choice((0, 1, 2, 5, 20, 60))
    return psi, P, s, Q, b, phi, low, high, x, extra, slope(source)


@instances
def conjugate_isometries(source: Source):
    """ψ and φ orthogonal, s = 1, b = 0, and a box of one point that φ and Qᵀ map into the orthant."""
    n, m = source.integer(1, 3), source.integer(1, 3)
    k = source.integer(1, min(m, n))
    P, Q = semi_orthogonal(source, m, k), semi_orthogonal(source, n, k)
    a = source.tensor(low=0.25, high=0.875)
    psi, phi = (Network.linear((orthogonal(source, d),), a) for d in (m, n))
    y = positive(source, k)
    x = phi.weights[0].mT @ (Q @ y)
    extra = source.choice((0, 1, 2, 5, 20, 60))
    return psi, P, 0 * y + 1, Q, 0 * P[:, 0], phi, x, x, x, extra, slope(source)


def least_stretch(net):
    """a^{L−1} Π s_min(W_ℓ): no Jacobian of the bijection has a smaller singular value."""
    least = math.prod(linalg.singular_values(w)[-1] for w in net.weights)
    return net.slope ** (net.depth - 1) * least


def first_layer_only(net):
    """The least singular value of the first layer, without the slope and the other layers."""
    return linalg.singular_values(net.weights[0])[-1]


@limit(
    "rank.cost-of-conjugates",
    paper("rank", "after Thm 1"),
    instances=conjugates(),
    tight=conjugate_isometries(),
    mutants={
        "the stretch of the first layers": {"stretch": first_layer_only},
        "one dimension less": {"dimension": -1},
        "no shift": {"witness": untranslated},
        "the layers of the bijections with slope a": {"other": relabelled},
    },
    witness=witnesses.identity_layers,
)
def test_cost_of_conjugates(
    psi,
    P,
    s,
    Q,
    b,
    phi,
    low,
    high,
    x,
    extra,
    a,
    *,
    witness=witnesses.identity_layers,
    other=witnesses.with_slope,
    stretch=least_stretch,
    dimension=0,
):
    r"""For every activation an affine map between bijections costs rank A times the depth plus a constant.

    Let $f = \psi \circ (x \mapsto Ax + b) \circ \phi$ on a box $\Omega$ with piecewise-linear
    bijections, given by layers of slope $p > 0$, and $A = P \operatorname{diag}(s) Q^\top$ of rank
    $k \ge 1$. Let $\mu_\psi = p^{L_\psi - 1} \prod_\ell s_{\min}(V_\ell)$ over the weights of $\psi$, and
    $\mu_\phi$ likewise. For networks of *every* slope $a \in (-1, 1)$, ReLU included, every
    $L \ge L_\psi + L_\phi$ and every $x$ in $\Omega$

    $k L + 2 \log |A|_+ + 2 k \log(\mu_\psi \mu_\phi) \le L \|Jf(x)\|_{S^{2/L}}^{2/L} \le
    R(f; \Omega, \sigma_a, L) \le \|\theta\|^2 = k L + C_a$,

    $C_a = \|\theta_g\|^2 + \|\theta_h\|^2 - (L_\psi + L_\phi) k$, with identity layers between
    $g = Q^\top \circ \phi$ and $h = \psi \circ (P \operatorname{diag}(s) \cdot + b)$, translated so
    that $g(\Omega) \ge 0$ and written with pairs of units of slope $a$. So
    $R_\infty(f; \sigma_a) = \operatorname{rank} A$ for all $\sigma_a$; only the constant $C_a$ depends on $a$.
    The first inequality holds because $s_i(XAY) \ge s_{\min}(X)\, s_i(A)\, s_{\min}(Y)$. Other
    piecewise-linear bijections are on the page of the proof: docs/proofs/cost-of-affine-maps.md.
    """
    f = witnesses.conjugate(psi, (P * s) @ Q.mT, phi, b)
    g = Network.linear((Q.mT,), phi.slope).merged_after(phi)
    h = psi.merged_after(Network((P * s,), (b,), phi.slope))
    lower, _ = networks.interval_bounds(g, low, high)
    L = h.depth + g.depth + extra
    h, g = other(h, a), other(g, a)
    net, (moved_h, moved_g) = witness(h, g, L, lower), witnesses.translate(h, g, lower)
    k, logs, stretched = len(s) + dimension, s.log(), stretch(psi).log() + stretch(phi).log()
    below = k * L + 2 * (logs.sum() + k * stretched)
    schatten = L * linalg.schatten_power(f.jacobian(x), Fraction(2, L), f.jacobian_noise(x))
    C = moved_h.cost() + moved_g.cost() - (h.depth + g.depth) * k
    size = k * L + 2 * logs.abs().sum() + 2 * k * stretched.abs() + net.cost()
    there = tolerances.network_scale(net, x) + tolerances.network_scale(f, x)
    return (
        eq(net(x), f(x), scale=there, label="the function"),
        leq(below, schatten, scale=size, label="from below"),
        leq(schatten, net.cost(), scale=size, label="the network"),
        eq(net.cost(), k * L + C, scale=size, label="from above"),
    )
