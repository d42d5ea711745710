"""Section 3.3 of `bottleneck`: features near their tangent space, and features that are not negative."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, costs, leq, linalg, networks, paper, separation, witnesses
from rankcheck.instances import (
    Source,
    instances,
    orthogonal,
    positive,
    semi_orthogonal,
    slope,
    steep_networks,
)

from ._bottlenecks import entries, networks_with_bottlenecks
from ._rounding import rounding, size


def growing(v, steps):
    """Layers (v; u_{ℓ−1}) ↦ (v; u_ℓ), u_0 = 0, u_ℓ = r_ℓ (u_{ℓ−1}² + 1), for steps r_ℓ; and u_L."""
    weights, biases, u = [], [], 0 * steps[0]
    for r in steps:
        weights.append(torch.diag(torch.hstack((torch.ones_like(v), r * u))))
        biases.append(torch.hstack((0 * v, r)))
        u = r * (u * u + 1)
    return weights, biases, u


@instances
def growing_offsets(source: Source):
    """(x; 0) ↦ (x; u_L) with u_0 = 0 and u_ℓ = r_ℓ (u_{ℓ−1}² + 1), by weights r_ℓ u_{ℓ−1} and biases r_ℓ."""
    layers, k = source.integer(1, 5), source.integer(1, 3)
    r = positive(source, layers, low=2.0**-6, high=0.5)
    into, out = orthogonal(source, k), orthogonal(source, k + 1)
    y = positive(source, k)
    weights, biases, _ = growing(y, r)
    weights[0] = weights[0][:, :k] @ into.mT
    weights[-1], biases[-1] = out @ weights[-1], out @ biases[-1]
    return Network(weights, biases, slope(source)), into @ y


@bound(
    "bottleneck.features-near-the-tangent-space",
    paper("bottleneck", "behind §3.3 and Thm 6/15"),
    instances=networks_with_bottlenecks(),
    tight=growing_offsets(),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={"the constant feature left out": {"constant": 0}},
    effort=0.6,
    audit="at points: |a| ≤ 1, rank ≥ 1; ranks, heavy",
)
def test_features_near_the_tangent_space(net, x, *, constant=1):
    r"""In almost all layers of a cheap network the features lie near their tangent space.

    In the notation of bottleneck.weights-near-projections, with $P_\ell$ the projection onto
    $S_\ell$, $\alpha_L = f$, $o_\ell = (I - P_\ell)\,\alpha_\ell(x)$ and
    $e_\ell = \|W_\ell - U_\ell V_\ell^\top\|_F^2 + \|b_\ell\|^2$,
    $$\|o_\ell\|^2 \le e_\ell\,(1 + \|o_{\ell-1}\|^2), \qquad
      \sum_{\ell=1}^L e_\ell \le c_1 - 2 \log |Jf(x)|_+ .$$

    So the offset of $\alpha_\ell(x)$ from the $k$-dimensional space that its tangents span is small in
    almost all layers, without an assumption on the tangent kernel, and
    $\|o_L\|^2 \le h_L(e) (1 + \|o_0\|^2)$ with $e = c_1 - 2\log|Jf(x)|_+$ and the $h_L$ of
    bottleneck.features-become-nonnegative. The second inequality is bottleneck.weights-near-projections.
    Proof: docs/proofs/features-become-nonnegative.md.
    """
    at = witnesses.bottleneck(net, x)
    squares = witnesses.offsets(net, x, at.rank)
    biases = torch.stack([b @ b for b in net.biases])
    e = witnesses.one_sided_distances(net, x, at.rank) + biases
    right = e * (squares[:-1] + constant)
    norms = torch.stack([a @ a for a in (*net.activations(x), net(x))])
    before, after = norms[:-1] + 1, norms[1:]
    scale = size(net, at) * before + after
    angle = rounding(net, at) * before + 2**8 * at.error * after
    return leq(squares[1:], right, where=at.rank > 0, scale=scale, error=angle)


@instances
def inverses_of_activations(source: Source, *, shift=(0.0, 0.25, 2.0, 8.0), off=(0.0, 0.25, 1.0)):
    """A network φ with φ(σ(z)) = z and Jφ(σ(z)) D Q = Q, the vector z, and Q (n × k) orthonormal.

    With E a left inverse of DQ: W_1 = E + N and W_L = Q with identity layers between them, or
    W_1 = QE + N at depth one, where N vanishes on the image of DQ; the biases make the first k units
    positive and φ(σ(z)) = z. With one more unit in each hidden layer, which is constant and
    positive, its last weights take the place of the last bias. The first k entries of z are positive.
    """
    layers, k, more = source.integer(1, 4), source.integer(1, 2), source.integer(0, 2)
    n = k + more
    constant = source.integer(0, 1) if layers > 1 else 0
    away, loose = source.choice(shift), source.choice(off)
    steepness = slope(source)
    Q = semi_orthogonal(source, n, k)
    v = source.tensor(k, low=-2.0, high=2.0)
    z = Q @ v + entries(source, n, size=away, like=v)
    first = torch.arange(n, device=z.device) < k
    z = torch.where(first & (z < 0.125), z.abs() + 0.125, torch.where(z == 0, z - 0.125, z))
    DQ = networks.leaky_derivative(z, steepness)[:, None] * Q
    gram = DQ.mT @ DQ
    regular = torch.linalg.det(gram) > 2.0**-10
    source.require(regular, "σ is injective on the tangents")
    gram = torch.where(regular, gram, linalg.eye(k, like=gram))
    E = torch.linalg.inv(gram) @ DQ.mT
    y = networks.leaky(z, steepness)
    rest = linalg.eye(n, like=z) - DQ @ E
    noise = entries(source, k if layers > 1 else n, n, size=loose, like=z) @ rest
    if layers == 1:
        W = Q @ E + noise
        return Network((W,), (z - W @ y,), steepness), z, Q
    W = E + noise
    before = W @ y
    bias = torch.where(before < 0.125, 0.125 - before, 0 * before)
    after, last = z - Q @ (before + bias), Q
    if constant:
        height = source.tensor(1, low=0.5, high=4.0)
        W, bias = torch.vstack((W, 0 * W[0])), torch.hstack((bias, height))
        last, after = torch.hstack((Q, (after / height)[:, None])), 0 * after
    weights = (W, *[linalg.eye(k + constant, like=z)] * (layers - 2), last)
    biases = (bias, *[0 * bias] * (layers - 2), after)
    return Network(weights, biases, steepness), z, Q


@instances
def nearly_inverse(source: Source):
    """Q = (cI; −sI; 0) with small s, and z = Qv + βe_n with large v > 0 and small β ≥ 0.

    W_1 = E with zero columns, W_L = Q, no biases but the last, β. Either s or β is zero.
    """
    layers, k, offset = source.integer(2, 4), source.integer(1, 3), source.integer(0, 1)
    a, v = slope(source), 2.0**12 * positive(source, k)
    s, c = separation.stereographic(source.tensor(1, low=2.0**-13, high=2.0**-11)).abs()
    beta = s * offset
    s, c = s * (1 - offset), c * (1 - offset) + offset
    one = linalg.eye(k, like=v)
    none = torch.zeros_like(one[:, :1])
    Q = torch.vstack((c * one, -s * one, none.mT))
    E = torch.hstack((c * one, -s * a * one, none)) / (c * c + s * s * a * a)
    bias = torch.hstack((0 * v, 0 * v, beta))
    biases = (*[0 * v] * (layers - 1), bias)
    return Network((E, *[one] * (layers - 2), Q), biases, a), Q @ v + bias, Q


def growing_inverse(source: Source, v, r, a, sign):
    """φ, z and Q for z = (v; ±u_M), v > 0, with the layers of `growing` as φ."""
    weights, biases, u = growing(v, torch.hstack((r[:-1], sign * r[-1])))
    Q = orthogonal(source, len(v))
    return Network(weights, biases, a), torch.hstack((v, u)), torch.vstack((Q, 0 * Q[0]))


@instances
def inverses(source: Source):
    """`inverses_of_activations`, or in half of the draws inverses in which the offset grows."""
    if source.integer(0, 1) == 0:
        return inverses_of_activations()(source)
    layers, sign = source.integer(1, 4), source.choice((1, -1))
    r = positive(source, layers, low=0.25, high=4.0)
    v = positive(source, source.integer(1, 2), low=2.0**-6, high=4.0)
    return growing_inverse(source, v, r, slope(source), sign)


@instances
def nearly_equal_inverses(source: Source):
    """`nearly_inverse`, or ReLU networks φ of depth M <= 2 whose offset grows to u_M² = q^M, q > 1.

    Then c_1 = M(q − 1) + 1, so that u_M² = h_M(c_1). v is small.
    """
    if source.integer(0, 1) == 0:
        return nearly_inverse()(source)
    layers, root = source.integer(1, 2), positive(source, 1, low=2.0**-3, high=3.0)
    last = torch.ones_like(root) if layers == 2 else linalg.power(root * root + 1, Fraction(1, 2))
    r = torch.hstack((*[root] * (layers - 1), last))
    v = positive(source, source.integer(1, 2), low=2.0**-13, high=2.0**-11)
    return growing_inverse(source, v, r, 0.0, -1)


@instances
def isometries_beside_features(source: Source):
    """An isometry φ that knows nothing of z, with any z and Q: φ does not invert σ."""
    _, z, Q = inverses_of_activations(shift=(2.0,))(source)
    return Network.linear((linalg.eye(len(z), like=z),)), z, Q


@bound(
    "bottleneck.features-become-nonnegative",
    paper("bottleneck", "§3.3"),
    instances=inverses(),
    tight=nearly_equal_inverses(),
    needs={"φ inverts σ at z": isometries_beside_features()},
    mutants={
        "c_1 counted 0.98 times": {"share": Fraction(49, 50)},
        "c_1 in place of h_M(c_1)": {"growth": lambda c, M: c},
        "the growth of one layer less": {"growth": lambda c, M: costs.offset_growth(c, M - 1 or 1)},
    },
    audit="left out: it is about networks that invert the activation",
)
def test_features_become_nonnegative(net, z, Q, *, share=1, growth=costs.offset_growth):
    r"""Where a representation geodesic is continuous, its features are not negative.

    Let $\varphi$ be a network of depth $M$ and slope $a$ with $\varphi(\sigma(\tilde\alpha)) =
    \tilde\alpha$ near $x$, let $z = \tilde\alpha(x)$ have no zero entry, $y = \sigma(z)$,
    $D = \operatorname{diag} \sigma'(z)$, $Q$ an orthonormal basis of $\operatorname{Im} J\tilde\alpha(x)$,
    $k$ its rank, $c_1 = \|\theta\|^2 - kM$, and $h_M(c) = c$ for $c \le 1$, $h_M(c) =
    (1 + (c-1)/M)^M$ for $c \ge 1$. Then
    $$(1 - a^2) \sum_{z_i < 0} \|Q_{i\cdot}\|^2 = k - \|DQ\|_F^2 \le c_1, \qquad
      \|z - QQ^\top z\|^2 \le h_M(c_1) \bigl(1 + \|y - P_{DQ}\,y\|^2\bigr),$$
    $$\sum_{z_i < 0} z_i^2 \le c_1 \frac{\|Q^\top z\|^2}{1 - a^2}
      + h_M(c_1) \bigl(1 + \|y - P_{DQ}\,y\|^2\bigr).$$
    The second is attained for $c_1 \le 1$ and for $M \le 2$, so that $c_1$ in place of $h_M(c_1) \le
    \mathrm{e}^{c_1 - 1}$ is false for every $c_1 > 1$ and $M \ge 2$.

    Section 3.3 has $R^{(0)}(\sigma(\tilde\alpha_p) \to \tilde\alpha_p) = k$ and
    $R^{(1)}(\sigma(\tilde\alpha_p) \to \tilde\alpha_p) = 0$ if the limit of the representations is
    continuous at $p$. So there are such networks with $c_1 \to 0$, and
    $\sigma(\tilde\alpha_p(x)) = \tilde\alpha_p(x)$ wherever $J\tilde\alpha_p(x)$ has the full rank $k$, as
    printed. That the Jacobians agree would follow from the first inequality alone; the second excludes
    negative coordinates that are constant.

    Only the values of $\varphi$ and its derivatives along the tangents enter:
    $\varphi(y) = z$ and $J\varphi(y) D Q = Q$. Proof: docs/proofs/features-become-nonnegative.md.
    """
    a, k = net.slope, Q.shape[-1]
    excess = costs.excess(net, k) * linalg.scalar(share, z)
    y, DQ = networks.leaky(z, a), networks.leaky_derivative(z, a)[:, None] * Q
    lost = k - linalg.frobenius_squared(DQ)
    along, negative = Q.mT @ z, torch.relu(-z)
    beside, before = z - Q @ along, y - linalg.range_projection(DQ) @ y
    offset, steep = before @ before + 1, along @ along / (1 - a * a)
    most = growth(excess, net.depth) * offset
    total = excess * steep + most
    # The derivative of h_M is at most 1 + h_M.
    scale = net.cost() + k * net.depth
    rounding = scale * (offset + most.abs())
    return (
        leq(lost, excess, scale=scale, label="the tangents"),
        leq(beside @ beside, most, scale=rounding, label="the offset"),
        leq(negative @ negative, total, scale=rounding + scale * steep, label="the negative part"),
    )
