"""Statements that are true, as users write them: five lines each, with generators of rankcheck.

A verdict that refutes one, or says that it failed, is wrong.
"""

from fractions import Fraction

import torch
from torch.nn import functional

from rankcheck import conjecture, eq, leq, lt
from rankcheck.instances import (
    matrices,
    networks_at_points,
    positive_definite_matrices,
    positive_semidefinite_matrices,
    symmetric_matrices,
)
from rankcheck.linalg import log_pseudo_determinant, power

from ._families import points, square


def size(A):
    """The Frobenius norm."""
    return A.square().sum((-2, -1)).sqrt()


def trace(A):
    return A.diagonal(dim1=-2, dim2=-1).sum(-1)


@conjecture("easy-true.sum", instances=points(dimension=(2, 4)))
def test_sum(x):
    r"""$|\sum_i x_i| \le \|x\|_1$."""
    return leq(x.sum(-1).abs(), x.abs().sum(-1))


@conjecture("easy-true.softplus", instances=points())
def test_softplus(x):
    r"""$\max(x, 0) \le \log(1 + e^x)$."""
    return leq(torch.relu(x), functional.softplus(x))


@conjecture("easy-true.gelu", instances=points())
def test_gelu(x):
    r"""$x \Phi(x) \le \max(x, 0)$."""
    return leq(functional.gelu(x), torch.relu(x))


@conjecture("easy-true.tanh", instances=points())
def test_tanh(x):
    r"""$|\tanh x| \le |x|$."""
    return leq(x.tanh().abs(), x.abs())


@conjecture("easy-true.exponential", instances=points())
def test_exponential(x):
    r"""$1 + x \le e^x$."""
    return leq(1 + x, x.exp())


@conjecture("easy-true.logarithm", instances=points())
def test_logarithm(x):
    r"""$\log(1 + x^2) \le x^2$."""
    return leq(torch.log1p(x**2), x**2)


@conjecture("easy-true.cube-root", instances=points())
def test_cube_root(x):
    """$(|x|^3)^{1/3} = |x|$."""
    return eq(power(x.abs() ** 3, Fraction(1, 3)), x.abs())


@conjecture("easy-true.norms", instances=points(dimension=(2, 4)))
def test_norms(x):
    r"""$\|x\|_2 \le \|x\|_1$."""
    return leq(torch.linalg.vector_norm(x, dim=-1), x.norm(1, dim=-1))


@conjecture("easy-true.largest-entry", instances=points(dimension=(2, 4)))
def test_largest_entry(x):
    r"""$\max_i |x_i| \le \|x\|_2$."""
    return leq(x.abs().amax(-1), x.norm(dim=-1))


@conjecture("easy-true.variance", instances=points(dimension=(2, 4)))
def test_variance(x):
    """The variance is at most the mean square."""
    return leq(x.var(-1, False), x.square().mean(-1))


@conjecture("easy-true.deviation", instances=points(dimension=(2, 4)))
def test_deviation(x):
    """The standard deviation is at most half the range."""
    return leq(x.std(-1, correction=0), (x.amax(-1) - x.amin(-1)) / 2)


@conjecture("easy-true.sorted", instances=points(dimension=(2, 4)))
def test_sorted(x):
    """Sorted numbers increase."""
    return leq(0, x.sort(-1).values.diff())


@conjecture("easy-true.median", instances=points(dimension=(1, 4)))
def test_median(x):
    """Median and mean differ by at most the standard deviation."""
    return leq((x.median(-1).values - x.mean(-1)).abs(), x.std(-1, False))


@conjecture("easy-true.quantile", instances=points(dimension=(2, 4)))
def test_quantile(x):
    """The first quartile is at most the third."""
    return leq(x.quantile(0.25, dim=-1), x.quantile(0.75, dim=-1))


@conjecture("easy-true.logsumexp", instances=points(dimension=(2, 4)))
def test_logsumexp(x):
    r"""$\max_i x_i \le \log \sum_i e^{x_i}$."""
    return leq(x.amax(-1), x.logsumexp(-1))


@conjecture("easy-true.softmax", instances=points(dimension=(2, 4)))
def test_softmax(x):
    """The entries of a softmax are at most 1."""
    return leq(x.softmax(-1), 1)


@conjecture("easy-true.cumsum", instances=points(dimension=(2, 4)))
def test_cumsum(x):
    """The last partial sum is the sum."""
    return eq(x.cumsum(-1)[..., -1], x.sum(-1), scale=x.abs().sum(-1))


@conjecture("easy-true.largest-two", instances=points(dimension=(2, 4)))
def test_largest_two(x):
    """The two largest numbers have at least the mean."""
    return leq(x.mean(-1), x.topk(2).values.mean(-1), scale=x.abs().sum(-1))


@conjecture("easy-true.argmax", instances=points(dimension=(2, 4)))
def test_argmax(x):
    """The maximum is at its place."""
    return eq(x.gather(-1, x.argmax(-1, keepdim=True))[..., 0], x.amax(-1))


@conjecture("easy-true.floor", instances=points())
def test_floor(x):
    r"""$\lfloor x \rfloor \le x$."""
    return leq(x.floor(), x)


@conjecture("easy-true.round", instances=points())
def test_round(x):
    """Rounding moves by at most a half."""
    return leq((x.round() - x).abs(), 0.5)


@conjecture("easy-true.remainder", instances=points())
def test_remainder(x):
    r"""$x \bmod 3 \le 3$."""
    return leq(x % 3, 3)


@conjecture("easy-true.counts", instances=points())
def test_counts(x):
    """Each entry is positive, or is not."""
    return eq((x > 0).sum(-1) + (x <= 0).sum(-1), x.shape[-1])


@conjecture("easy-true.squares", instances=points())
def test_squares(x):
    r"""$x \le x^2$ where $x \ge 1$."""
    return leq(x, x**2, where=x >= 1)


@conjecture("easy-true.operator-norm", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_operator_norm(A):
    r"""$\|A\|_{op} \le \|A\|_F$."""
    return leq(torch.linalg.matrix_norm(A, 2), torch.linalg.matrix_norm(A))


@conjecture("easy-true.nuclear-norm", instances=matrices(rows=(3, 3), columns=(3, 3)))
def test_nuclear_norm(A):
    r"""$\|A\|_F \le \|A\|_*$."""
    return leq(A.norm(dim=(-2, -1)), torch.linalg.svdvals(A).sum(-1))


@conjecture("easy-true.trace", instances=square())
def test_trace(A):
    r"""$\operatorname{tr} A^2 \le \|A\|_F^2$."""
    return leq(trace(A @ A), A.square().sum((-2, -1)))


@conjecture("easy-true.determinant", instances=square())
def test_determinant(A):
    r"""Hadamard: $|\det A| \le \prod_i \|a_i\|$."""
    return leq(torch.linalg.det(A).abs(), A.norm(dim=-1).prod(-1))


@conjecture("easy-true.eigenvalues", instances=symmetric_matrices(size=(2, 3)))
def test_eigenvalues(A):
    """The eigenvalues sum to the trace."""
    return eq(torch.linalg.eigvalsh(A).sum(-1), trace(A), scale=size(A))


@conjecture("easy-true.eigenvectors", instances=symmetric_matrices(size=(2, 3)))
def test_eigenvectors(A):
    r"""$V \Lambda V^T = A$, for singular matrices with repeated eigenvalues too."""
    values, V = torch.linalg.eigh(A)
    return eq(V * values[..., None, :] @ V.mT, A, scale=size(A)[..., None, None])


@conjecture("easy-true.pseudo-determinant", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_pseudo_determinant(A):
    r"""$\log \det{}_+ AA^T = 2 \log \det{}_+ A$."""
    return eq(log_pseudo_determinant(A @ A.mT), 2 * log_pseudo_determinant(A))


@conjecture("easy-true.schur-product", instances=positive_semidefinite_matrices(count=2))
def test_schur_product(A, B):
    """Schur: the entrywise product of positive semidefinite matrices is."""
    return leq(0, torch.linalg.eigvalsh(A * B)[..., 0])


@conjecture("easy-true.qr", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_qr(A):
    """$QR = A$."""
    Q, R = torch.linalg.qr(A)
    return eq(Q @ R, A, scale=size(A)[..., None, None])


@conjecture("easy-true.cholesky", instances=positive_definite_matrices())
def test_cholesky(A):
    """$LL^T = A$."""
    L = torch.linalg.cholesky(A)
    return eq(L @ L.mT, A, scale=size(A)[..., None, None])


@conjecture("easy-true.inverse", instances=positive_definite_matrices())
def test_inverse(A):
    r"""$1 \le \|A\|_F \|A^{-1}\|_F$."""
    return leq(1, size(A) * size(torch.linalg.inv(A)))


@conjecture("easy-true.solve", instances=positive_definite_matrices(condition=100.0))
def test_solve(A):
    """$A (A^{-1} e) = e$."""
    x = torch.linalg.solve(A, A[..., :1] * 0 + 1)
    return eq(A @ x, 1, scale=(size(A) * size(x))[..., None, None])


@conjecture("easy-true.rank", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_rank(A):
    """The rank is at most the number of rows."""
    return leq(torch.linalg.matrix_rank(A, atol=1e-6), A.shape[-2])


@conjecture("easy-true.vander", instances=points(dimension=(2, 2)))
def test_vander(x):
    r"""$\det V(x, y) = y - x$."""
    return eq(torch.linalg.det(torch.linalg.vander(x)), x[..., 1] - x[..., 0])


@conjecture("easy-true.assignment", instances=square())
def test_assignment(A):
    """An entry less makes the norm smaller."""
    B = A.clone()
    B[..., 0, 0] = 0
    return leq(size(B), size(A))


@conjecture("easy-true.fourier", instances=points(dimension=(2, 4)))
def test_fourier(x):
    r"""Parseval: $\sum_k |\hat x_k|^2 = n \|x\|_2^2$."""
    power = torch.fft.fft(x).abs().square().sum(-1)
    return eq(power, x.shape[-1] * x.square().sum(-1))


@conjecture("easy-true.convolution", instances=points(dimension=(3, 5)))
def test_convolution(x):
    """Second differences are at most four times the largest number."""
    kernel = torch.tensor([[[1.0, -2.0, 1.0]]], dtype=torch.float64)
    second = functional.conv1d(x[..., None, :], kernel)[..., 0, :]
    return leq(second.abs(), 4 * x.abs().amax(-1)[..., None])


@conjecture("easy-true.vmap", instances=points())
def test_vmap(x):
    r"""$t e^{-t^2} \le 0.43$, at each entry: the maximum is $1/\sqrt{2e}$."""
    values = torch.func.vmap(lambda t: t * torch.exp(-t * t), in_dims=-1, out_dims=-1)(x)
    return leq(values, 0.43)


@conjecture("easy-true.jacrev", instances=points())
def test_jacrev(x):
    r"""$\tanh' \le 1$."""
    return leq(torch.func.jacrev(lambda z: z.tanh().sum())(x), 1)


@conjecture("easy-true.euler", instances=networks_at_points(slopes="relu", biases=False))
def test_euler(net, x):
    r"""Euler: $f(x) = Jf(x)\,x$ without biases."""
    Jx = (net.jacobian(x) @ x[..., None])[..., 0]
    return eq(net(x), Jx, scale=net(x).abs() + net.cost()[..., None])


@conjecture("easy-true.constant", instances=points())
def test_constant(x):
    r"""$(1 - 0.999)\,x = x / 1000$."""
    return eq((1 - 0.999) * x, x / 1000)


@conjecture("easy-true.sign", instances=points())
def test_sign(x):
    """Each number is at most 0, or at least 0."""
    return leq(torch.minimum(x, -x), 0)


@conjecture("easy-true.strict", instances=points())
def test_strict(x):
    """$x < x + 1$."""
    return lt(x, x + 1)
