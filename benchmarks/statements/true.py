"""Statements that are true and tight: what a hunter must not refute."""

from fractions import Fraction

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.instances import (
    balanced_linear_networks,
    chained_matrices,
    networks_at_points,
    partial_isometries,
)
from rankcheck.linalg import (
    frobenius_squared,
    log_pseudo_determinant,
    nuclear_norm,
    operator_norm,
    power,
    rank,
    schatten_norm,
    schatten_power,
)
from rankcheck.networks import leaky, ntk_mixed_derivative

from ._families import (
    lines_and_points,
    low_rank_matrices,
    networks_at_two_points,
    samples,
    small_integers,
    square,
)
from .false import covariance, frobenius, root
from .false_counts import at_most


@conjecture(
    "true.nuclear-3",
    instances=square(),
)
def test_nuclear_3(A):
    r"""$\|A\|_* \le \sqrt 3 \|A\|_F$ for $3 \times 3$ matrices; tight: orthogonal."""
    return leq(nuclear_norm(A), root(3, A) * frobenius(A))


@conjecture(
    "true.product-8",
    instances=square(size=(8, 8), count=2),
)
def test_product_8(A, B):
    r"""$\|AB\|_F \le \|A\|_F \|B\|_F$; tight: rank one."""
    return leq(frobenius(A @ B), frobenius(A) * frobenius(B))


@conjecture(
    "true.jacobian-bounds-cost",
    instances=networks_at_points(),
    tight=balanced_linear_networks(),
)
def test_jacobian_bounds_cost(net, x):
    r"""$\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$; tight: balanced linear networks."""
    return leq(schatten_power(net.jacobian(x), Fraction(2, net.depth)), net.cost() / net.depth)


@conjecture(
    "true.trace-covariance",
    instances=samples(),
)
def test_trace_covariance(z, w, b, a):
    r"""$\operatorname{tr} \operatorname{Cov}\,\sigma_a(y) \le \operatorname{tr} \operatorname{Cov} y$;
    tight: $y \ge 0$.
    """
    active = leaky(z, a[..., None, None])
    lhs = torch.diagonal(covariance(active), dim1=-2, dim2=-1).sum(-1)
    return leq(lhs, torch.diagonal(covariance(z), dim1=-2, dim2=-1).sum(-1))


@conjecture(
    "true.ntk-derivative",
    instances=networks_at_points(slopes="relu"),
)
def test_ntk_derivative(net, x):
    r"""$\|\partial^2_{xy} \Theta(x, x)\|_{op} \ge L \|Jf(x)\|_{op}^{2 - 2/L}$ with ReLU; tight: scalar
    linear networks.
    """
    L = net.depth
    rhs = operator_norm(ntk_mixed_derivative(net, x))
    return leq(L * power(operator_norm(net.jacobian(x)), 2 - Fraction(2, L)), rhs)


@conjecture(
    "true.lipschitz",
    instances=networks_at_two_points(),
)
def test_lipschitz(net, x):
    r"""$|f(x) - f(y)| \le \prod_\ell \|W_\ell\|_{op}\,|x - y|$; tight: aligned layers."""
    y = net(x)
    change = (y[..., 0, :] - y[..., 1, :]).square().sum(-1).sqrt()
    bound = (x[..., 0, :] - x[..., 1, :]).square().sum(-1).sqrt()
    for w in net.weights:
        bound = bound * operator_norm(w)
    scale = net.cost().sqrt() * bound
    return leq(change, bound, scale=scale)


@conjecture(
    "true.singular-value-gap",
    instances=low_rank_matrices(),
    tight=partial_isometries(),
)
def test_singular_value_gap(A):
    r"""$\sum (s_i - 1)^2 \le \|A\|_F^2 - \operatorname{rank} A - 2 \log |A|_+$; tight: partial
    isometries.
    """
    k = rank(A)
    gap = frobenius_squared(A) - 2 * nuclear_norm(A) + k
    size = frobenius_squared(A) + k
    return leq(gap, frobenius_squared(A) - k - 2 * log_pseudo_determinant(A), scale=size)


@conjecture(
    "true.quasi-norm",
    instances=square(size=(2, 4), count=2),
)
def test_quasi_norm(A, B):
    r"""$\|A + B\|_{S^{1/2}} \le 2 (\|A\|_{S^{1/2}} + \|B\|_{S^{1/2}})$; tight: orthogonal rank one."""
    q = Fraction(1, 2)
    return leq(schatten_norm(A + B, q), 2 * (schatten_norm(A, q) + schatten_norm(B, q)))


@conjecture(
    "true.determinant-4",
    instances=square(size=(4, 4), bound=1.0),
)
def test_determinant_4(A):
    r"""$|\det A| \le 16$ for entries in $[-1, 1]$; tight: Hadamard's matrix."""
    return leq(torch.linalg.det(A).abs(), A.new_zeros(()) + 16)


@conjecture(
    "true.rank-of-three",
    instances=small_integers(),
)
def test_rank_of_three(A, B, C):
    r"""$\operatorname{rank} AB + \operatorname{rank} BC \le \operatorname{rank} B + \operatorname{rank} ABC$."""
    return leq(rank(A @ B) + rank(B @ C), rank(B) + rank(A @ B @ C))


@conjecture(
    "true.sylvester",
    instances=chained_matrices(size=(2, 4)),
)
def test_sylvester(A, B):
    r"""$\operatorname{rank} AB \ge \operatorname{rank} A + \operatorname{rank} B - n$."""
    return leq(rank(A) + rank(B) - A.shape[-1], rank(A @ B))


@conjecture(
    "true.patterns-of-three-lines",
    instances=lines_and_points(number=8),
)
def test_patterns_of_three_lines(w, b, x):
    r"""Eight points lie in at most seven of the regions of three lines of the plane."""
    return at_most(7, w, b, x)


@conjecture(
    "true.relu-from-leaky",
    instances=samples(),
)
def test_relu_from_leaky(z, w, b, a):
    r"""$(1 - a^2) \max(0, x) = \sigma_a(x) + a\,\sigma_a(-x)$, at every entry of $z$."""
    a = a[..., None, None]
    return eq((1 - a * a) * torch.relu(z), leaky(z, a) + a * leaky(-z, a), scale=z.abs())
