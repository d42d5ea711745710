"""Statements that are false, from easy to hard: bounds and identities with a margin that is smooth."""

from fractions import Fraction
from typing import Any

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.instances import networks_at_points
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
    low_rank_matrices,
    networks_at_two_points,
    points,
    samples,
    shifted,
    square,
)


def frobenius(A):
    return frobenius_squared(A).sqrt()


def root(n, like):
    """√n, as a number of the kind of `like`."""
    return (like.new_zeros(()) + n).sqrt()


@conjecture(
    "false.nuclear-3",
    instances=square(),
)
def test_nuclear_3(A):
    r"""$\|A\|_* \le 0.97 \sqrt 3 \|A\|_F$ for $3 \times 3$ matrices."""
    return leq(nuclear_norm(A), 0.97 * root(3, A) * frobenius(A))


@conjecture(
    "false.nuclear-3-window",
    instances=square(),
)
def test_nuclear_3_window(A):
    r"""$\|A\|_* \le 0.995 \sqrt 3 \|A\|_F$ where $0.37 \|A\|_F < \operatorname{tr} A < 0.39 \|A\|_F$."""
    trace, size = torch.diagonal(A, dim1=-2, dim2=-1).sum(-1), frobenius(A)
    window = (trace > 0.37 * size) & (trace < 0.39 * size)
    return leq(nuclear_norm(A), 0.995 * root(3, A) * size, where=window)


@conjecture(
    "false.nuclear-6",
    instances=square(size=(6, 6)),
)
def test_nuclear_6(A):
    r"""$\|A\|_* \le 0.97 \sqrt 6 \|A\|_F$ for $6 \times 6$ matrices."""
    return leq(nuclear_norm(A), 0.97 * root(6, A) * frobenius(A))


@conjecture(
    "false.product-8",
    instances=square(size=(8, 8), count=2),
)
def test_product_8(A, B):
    r"""$\|AB\|_F \le 0.99 \|A\|_F \|B\|_F$ for $8 \times 8$ matrices."""
    return leq(frobenius(A @ B), 0.99 * frobenius(A) * frobenius(B))


@conjecture(
    "false.nuclear-3-close",
    instances=square(),
)
def test_nuclear_3_close(A):
    r"""$\|A\|_* \le 0.9999 \sqrt 3 \|A\|_F$ for $3 \times 3$ matrices."""
    return leq(nuclear_norm(A), 0.9999 * root(3, A) * frobenius(A))


@conjecture(
    "false.nuclear-closer",
    instances=square(size=(4, 4)),
)
def test_nuclear_closer(A):
    r"""$\|A\|_* \le (1 - 10^{-6})\,2 \|A\|_F$ for $4 \times 4$ matrices with $a_{11} = \pi$-like."""
    shifted = A[..., 0, 0] * 7 - A[..., 1, 1] * 5
    inside = (shifted > A[..., 2, 2] * 2) & (A[..., 3, 3] > A[..., 0, 1] + 1)
    bound = 1.999998 * frobenius(A)
    return leq(nuclear_norm(A), bound, where=inside)


@conjecture(
    "false.relu-from-leaky",
    instances=samples(),
)
def test_relu_from_leaky(z, w, b, a):
    r"""$(1 - a^2) \max(0, x) = \sigma_a(x) - a\,\sigma_a(-x)$, at every entry of $z$."""
    a = a[..., None, None]
    return eq((1 - a * a) * torch.relu(z), leaky(z, a) - a * leaky(-z, a))


@conjecture(
    "false.ten-percent-better",
    instances=networks_at_points(),
)
def test_ten_percent_better(net, x):
    r"""$\|Jf(x)\|_{S^{2/L}}^{2/L} \le 0.9 \|\theta\|^2 / L$."""
    bound = 0.9 * net.cost() / net.depth
    return leq(schatten_power(net.jacobian(x), Fraction(2, net.depth)), bound)


@conjecture(
    "false.one-percent-better-at-rank-two",
    instances=networks_at_points(depth=(3, 3), width=(2, 4)),
)
def test_one_percent_better_at_rank_two(net, x):
    r"""$1.01 \|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ where $\operatorname{rank} Jf(x) \ge 2$."""
    J, L = net.jacobian(x), net.depth
    noise = net.jacobian_noise(x)
    lhs = 1.01 * schatten_power(J, Fraction(2, L), noise)
    return leq(lhs, net.cost() / L, where=rank(J, noise) >= 2)


@conjecture(
    "false.cost-by-depth",
    instances=networks_at_points(depth=(1, 6), width=(1, 3)),
)
def test_cost_by_depth(net, x):
    r"""$(1 + (L-4)/100)\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2/L$: false from depth 5 on."""
    L = net.depth
    lhs = (0.96 + 0.01 * L) * schatten_power(net.jacobian(x), Fraction(2, L))
    return leq(lhs, net.cost() / L)


@conjecture(
    "false.centred-covariance",
    instances=samples(),
)
def test_centred_covariance(z, w, b, a):
    r"""$\|\operatorname{Cov}\,\sigma(y)\|_{op} \le \|\operatorname{Cov}\,y\|_{op}$ with ReLU."""
    return leq(operator_norm(covariance(torch.relu(z))), operator_norm(covariance(z)))


def covariance(z):
    centred = z - z.mean(-2, keepdim=True)
    return centred.mT @ centred


@conjecture(
    "false.trace-covariance",
    instances=samples(),
)
def test_trace_covariance(z, w, b, a):
    r"""$\operatorname{tr} \operatorname{Cov}(Wy + b) \le 0.98 \|W\|_{op}^2 \operatorname{tr} \operatorname{Cov} y$."""
    y = z @ w.mT + b.unsqueeze(-2)
    lhs = torch.diagonal(covariance(y), dim1=-2, dim2=-1).sum(-1)
    rhs = torch.diagonal(covariance(z), dim1=-2, dim2=-1).sum(-1)
    return leq(lhs, 0.98 * operator_norm(w) ** 2 * rhs)


@conjecture(
    "false.layer-energy",
    instances=samples(),
)
def test_layer_energy(z, w, b, a):
    r"""$\|\sigma_a(WZ + b)\|_F^2 / N \le \|Z^T Z / N\|_{op} \|W\|_F^2 + \|b\|^2$."""
    number = z.shape[-2]
    out = leaky(z @ w.mT + b.unsqueeze(-2), a[..., None, None])
    rhs = operator_norm(z.mT @ z) / number * frobenius_squared(w) + (b * b).sum(-1)
    return leq(frobenius_squared(out) / number, rhs)


@conjecture(
    "false.leaky-derivative",
    instances=networks_at_points(slopes="negative"),
)
def test_leaky_derivative(net, x):
    r"""$\|\partial^2_{xy} \Theta(x, x)\|_{op} \ge L \|Jf(x)\|_{op}^{2 - 2/L}$ for negative slopes."""
    L = net.depth
    rhs = operator_norm(ntk_mixed_derivative(net, x))
    return leq(L * power(operator_norm(net.jacobian(x)), 2 - Fraction(2, L)), rhs)


@conjecture(
    "false.lipschitz",
    instances=networks_at_two_points(),
)
def test_lipschitz(net, x):
    r"""$|f(x) - f(y)| \le 0.98 \prod_\ell \|W_\ell\|_{op}\,|x - y|$ at depth 3."""
    y = net(x)
    change = (y[..., 0, :] - y[..., 1, :]).square().sum(-1).sqrt()
    bound = (x[..., 0, :] - x[..., 1, :]).square().sum(-1).sqrt()
    for w in net.weights:
        bound = bound * operator_norm(w)
    return leq(change, 0.98 * bound)


@conjecture(
    "false.pseudo-determinant",
    instances=low_rank_matrices(),
)
def test_pseudo_determinant(A):
    r"""$\|A\|_F^2 \ge 1.001\,k\,|A|_+^{2/k}$ with $k = \operatorname{rank} A \ge 3$."""
    k = rank(A)
    exponent: Any
    if isinstance(A, torch.Tensor):
        exponent = 2 / k.clamp(min=1).double()
    else:
        exponent = Fraction(2, max(1, int(k)))
    log = log_pseudo_determinant(A)
    lhs = 1.001 * k * torch.exp(exponent * log)
    return leq(lhs, frobenius_squared(A), where=k >= 3)


@conjecture(
    "false.quasi-norm",
    instances=square(size=(2, 4), count=2),
)
def test_quasi_norm(A, B):
    r"""$\|A + B\|_{S^{1/2}} \le 1.9 (\|A\|_{S^{1/2}} + \|B\|_{S^{1/2}})$."""
    q = Fraction(1, 2)
    bound = 1.9 * (schatten_norm(A, q) + schatten_norm(B, q))
    return leq(schatten_norm(A + B, q), bound)


@conjecture(
    "false.determinant-4",
    instances=square(size=(4, 4), bound=1.0),
)
def test_determinant_4(A):
    r"""$|\det A| \le 15.5$ for entries in $[-1, 1]$, $4 \times 4$: Hadamard's has 16."""
    return leq(torch.linalg.det(A).abs(), A.new_zeros(()) + 15.5)


@conjecture(
    "false.determinant-6",
    instances=square(size=(6, 6), bound=1.0),
)
def test_determinant_6(A):
    r"""$|\det A| \le 150$ for entries in $[-1, 1]$, $6 \times 6$: the largest is 160."""
    return leq(torch.linalg.det(A).abs(), A.new_zeros(()) + 150)


@conjecture(
    "false.orthogonal-pair",
    instances=square(size=(2, 3), count=2),
)
def test_orthogonal_pair(A, B):
    r"""$\|A + B\|_* \ge \frac12 (\|A\|_* + \|B\|_*)$ where $\langle A, B \rangle = 0$."""
    return leq(
        (nuclear_norm(A) + nuclear_norm(B)) * 0.7072,
        nuclear_norm(A + B),
        where=((A * B).sum((-2, -1)) == 0) & (frobenius_squared(A) > 0),
    )


@conjecture(
    "false.valley",
    instances=points(),
)
def test_valley(x):
    r"""$\sum_i 100 (x_{i+1} - x_i^2)^2 + (c_i - x_i)^2 \ge 10^{-3}$, with the valley's end near
    $(0.71, 0.51, 0.26, 0.07)$.
    """
    u, v = x[..., :-1], x[..., 1:]
    c = x.new_zeros(3) + torch.tensor([0.7137, 0.5094, 0.2595], dtype=torch.float64)
    value = (100 * (v - u * u) ** 2 + (c - u) ** 2).sum(-1)
    return leq(x.new_zeros(()) + 0.001, value)


@conjecture(
    "false.nuclear-5-shifted",
    instances=shifted(size=5),
)
def test_nuclear_5_shifted(A):
    r"""$\|A\|_* \le 0.99 \sqrt 5 \|A\|_F$ for $5 \times 5$ matrices, in other coordinates."""
    return leq(nuclear_norm(A), 0.99 * root(5, A) * frobenius(A))


@conjecture(
    "false.product-4-shifted",
    instances=shifted(size=4, count=2),
)
def test_product_4_shifted(A, B):
    r"""$\|AB\|_F \le 0.97 \|A\|_F \|B\|_F$ for $4 \times 4$ matrices, in other coordinates."""
    return leq(frobenius(A @ B), 0.97 * frobenius(A) * frobenius(B))


@conjecture(
    "false.regular-shifted",
    instances=shifted(size=4),
)
def test_regular_shifted(A):
    r"""$|\det A| \ge 10^{-6}$ for $4 \times 4$ matrices, in other coordinates."""
    return leq(A.new_zeros(()) + 0.000001, torch.linalg.det(A).abs())


@conjecture(
    "false.commuting-shifted",
    instances=shifted(size=2, count=2),
)
def test_commuting_shifted(A, B):
    r"""$\|AB - BA\|_F \le 1.41 \|A\|_F \|B\|_F$ for $2 \times 2$ matrices, in other coordinates:
    the best constant is $\sqrt 2$.
    """
    return leq(frobenius(A @ B - B @ A), 1.41 * frobenius(A) * frobenius(B))


@conjecture(
    "false.hills",
    instances=points(dimension=(4, 4), bound=4.0),
)
def test_hills(x):
    r"""$\sum_i (x_i - c_i)^2 + 3 (1 - \cos 6 (x_i - c_i)) \ge 0.1$: many local minima."""
    d = x - (x.new_zeros(4) + torch.tensor([0.713, -1.509, 2.259, 0.331], dtype=torch.float64))
    value = (d * d + 3 * (1 - torch.cos(6 * d))).sum(-1)
    return leq(x.new_zeros(()) + 0.1, value)


@conjecture(
    "false.product-one-by-one",
    instances=square(size=(2, 5), count=2),
)
def test_product_one_by_one(A, B):
    r"""$\|A B e_j\| \le 0.95 \|A\|_F \|B e_j\|$ for every $j$ with $\|B e_j\| > 0$."""
    sides = []
    for j in range(B.shape[-1]):
        column = B[:, j]
        size = (column * column).sum().sqrt()
        lhs = ((A @ column) ** 2).sum().sqrt()
        sides.append(leq(lhs, 0.95 * frobenius(A) * size, where=size > 0))
    return tuple(sides)
