"""Statements that are false, as users write them: five lines each, with generators of rankcheck.

A verdict that guards one is wrong.
"""

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
from rankcheck.linalg import log_pseudo_determinant

from ._families import points, square


def size(A):
    """The Frobenius norm."""
    return A.square().sum((-2, -1)).sqrt()


def trace(A):
    return A.diagonal(dim1=-2, dim2=-1).sum(-1)


@conjecture("easy-false.sum", instances=points(dimension=(2, 4)))
def test_sum(x):
    r"""$\|x\|_1 \le |\sum_i x_i|$."""
    return leq(x.abs().sum(-1), x.sum(-1).abs())


@conjecture("easy-false.softplus", instances=points())
def test_softplus(x):
    r"""$\log(1 + e^x) \le \max(x, 0) + 0.6$."""
    return leq(functional.softplus(x), torch.relu(x) + 0.6)


@conjecture("easy-false.gelu", instances=points())
def test_gelu(x):
    r"""$x \Phi(x) \ge 0$."""
    return leq(0, functional.gelu(x))


@conjecture("easy-false.tanh", instances=points())
def test_tanh(x):
    r"""$|\tanh x| \le |x| / 2$."""
    return leq(x.tanh().abs(), x.abs() / 2)


@conjecture("easy-false.exponential", instances=points())
def test_exponential(x):
    r"""$e^x \le 1 + x + x^2$."""
    return leq(x.exp(), 1 + x + x**2)


@conjecture("easy-false.logarithm", instances=points())
def test_logarithm(x):
    r"""$x^2 / 2 \le \log(1 + x^2)$."""
    return leq(x**2 / 2, torch.log1p(x**2))


@conjecture("easy-false.cube-root", instances=points())
def test_cube_root(x):
    r"""$((|x| + 1)^3)^{1/3} \le |x| + 0.99$."""
    return leq(((x.abs() + 1) ** 3) ** (1 / 3), x.abs() + 0.99)


@conjecture("easy-false.norms", instances=points(dimension=(2, 4)))
def test_norms(x):
    r"""$\|x\|_1 \le \|x\|_2$."""
    return leq(x.norm(1, dim=-1), torch.linalg.vector_norm(x, dim=-1))


@conjecture("easy-false.largest-entry", instances=points(dimension=(2, 4)))
def test_largest_entry(x):
    r"""$\|x\|_2 \le 1.4 \max_i |x_i|$."""
    return leq(x.norm(dim=-1), 1.4 * x.abs().amax(-1))


@conjecture("easy-false.variance", instances=points(dimension=(2, 4)))
def test_variance(x):
    """The variance is at most 0.9 of the mean square."""
    return leq(x.var(-1, False), 0.9 * x.square().mean(-1))


@conjecture("easy-false.deviation", instances=points(dimension=(2, 4)))
def test_deviation(x):
    """The standard deviation is at most a third of the range."""
    return leq(x.std(-1, correction=0), (x.amax(-1) - x.amin(-1)) / 3)


@conjecture("easy-false.sorted", instances=points(dimension=(2, 4)))
def test_sorted(x):
    """Sorted numbers differ by at most 8."""
    return leq(x.sort(-1).values.diff(), 8)


@conjecture("easy-false.median", instances=points(dimension=(1, 4)))
def test_median(x):
    """Median and mean differ by at most half the standard deviation."""
    return leq((x.median(-1).values - x.mean(-1)).abs(), x.std(-1, False) / 2)


@conjecture("easy-false.quantile", instances=points(dimension=(2, 4)))
def test_quantile(x):
    """The third quartile is at most the mean."""
    return leq(x.quantile(0.75, dim=-1), x.mean(-1))


@conjecture("easy-false.logsumexp", instances=points(dimension=(2, 4)))
def test_logsumexp(x):
    r"""$\log \sum_i e^{x_i} \le \max_i x_i + 0.5$."""
    return leq(x.logsumexp(-1), x.amax(-1) + 0.5)


@conjecture("easy-false.softmax", instances=points(dimension=(2, 4)))
def test_softmax(x):
    """The entries of a softmax are at most 0.9."""
    return leq(functional.softmax(x, dim=-1), 0.9)


@conjecture("easy-false.cumsum", instances=points(dimension=(2, 4)))
def test_cumsum(x):
    """Partial sums are at most the sum."""
    return leq(x.cumsum(-1), x.sum(-1)[..., None])


@conjecture("easy-false.largest-two", instances=points(dimension=(2, 4)))
def test_largest_two(x):
    """The two largest numbers have at least the sum."""
    return leq(x.sum(-1), x.topk(2).values.sum(-1), scale=x.abs().sum(-1))


@conjecture("easy-false.argmax", instances=points(dimension=(2, 4)))
def test_argmax(x):
    """The maximum is at one of the first two places."""
    return leq(x.argmax(-1), 1)


@conjecture("easy-false.floor", instances=points())
def test_floor(x):
    r"""$x - 0.9 \le \lfloor x \rfloor$."""
    return leq(x - 0.9, torch.floor(x))


@conjecture("easy-false.round", instances=points())
def test_round(x):
    """Rounding moves by at most 0.4."""
    return leq((x.round() - x).abs(), 0.4)


@conjecture("easy-false.remainder", instances=points())
def test_remainder(x):
    r"""$x \bmod 3 \le 2.5$."""
    return leq(x % 3, 2.5)


@conjecture("easy-false.counts", instances=points())
def test_counts(x):
    """Of four entries at most two are positive."""
    return leq((x > 0).sum(-1), 2)


@conjecture("easy-false.squares", instances=points())
def test_squares(x):
    r"""$x \le x^2$ where $x \ge 1/2$."""
    return leq(x, x**2, where=x >= 0.5)


@conjecture("easy-false.operator-norm", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_operator_norm(A):
    r"""$\|A\|_F \le 1.4 \|A\|_{op}$."""
    return leq(torch.linalg.matrix_norm(A), 1.4 * torch.linalg.matrix_norm(A, 2))


@conjecture("easy-false.nuclear-norm", instances=matrices(rows=(3, 3), columns=(3, 3)))
def test_nuclear_norm(A):
    r"""$\|A\|_* \le 1.5 \|A\|_F$."""
    return leq(torch.linalg.svdvals(A).sum(-1), 1.5 * A.norm(dim=(-2, -1)))


@conjecture("easy-false.trace", instances=square())
def test_trace(A):
    r"""$(\operatorname{tr} A)^2 \le \|A\|_F^2$."""
    return leq(trace(A) ** 2, A.square().sum((-2, -1)))


@conjecture("easy-false.determinant", instances=square())
def test_determinant(A):
    r"""$|\det A| \le \frac12 \prod_i \|a_i\|$."""
    return leq(torch.linalg.det(A).abs(), A.norm(dim=-1).prod(-1) / 2)


@conjecture("easy-false.eigenvalues", instances=symmetric_matrices(size=(2, 3)))
def test_eigenvalues(A):
    """The largest eigenvalue is at most the trace."""
    return leq(torch.linalg.eigvalsh(A)[..., -1], trace(A), scale=size(A))


@conjecture("easy-false.eigenvectors", instances=symmetric_matrices(size=(2, 3)))
def test_eigenvectors(A):
    """No eigenvector has an entry above 0.9."""
    return leq(torch.linalg.eigh(A).eigenvectors.abs(), 0.9)


@conjecture("easy-false.pseudo-determinant", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_pseudo_determinant(A):
    r"""$\log \det{}_+ A \le \|A\|_F / 2$."""
    return leq(log_pseudo_determinant(A), A.norm(dim=(-2, -1)) / 2)


@conjecture("easy-false.schur-product", instances=positive_semidefinite_matrices(count=2))
def test_schur_product(A, B):
    r"""$\lambda_{max}(A \circ B) \le \lambda_{max}(A)$."""
    return leq(torch.linalg.eigvalsh(A * B)[..., -1], torch.linalg.eigvalsh(A)[..., -1])


@conjecture("easy-false.qr", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_qr(A):
    """$R$ has a nonnegative diagonal."""
    return leq(0, torch.linalg.qr(A).R.diagonal(dim1=-2, dim2=-1))


@conjecture("easy-false.cholesky", instances=positive_definite_matrices())
def test_cholesky(A):
    """The diagonal of $L$ is at most 1."""
    return leq(torch.linalg.cholesky(A).diagonal(dim1=-2, dim2=-1), 1)


@conjecture("easy-false.inverse", instances=positive_definite_matrices())
def test_inverse(A):
    r"""$\|A\|_F \|A^{-1}\|_F \le 5$."""
    return leq(size(A) * size(A.inverse()), 5)


@conjecture("easy-false.solve", instances=positive_definite_matrices(condition=100.0))
def test_solve(A):
    r"""$\|A^{-1} e\| \le \|e\|$."""
    b = A[..., :1] * 0 + 1
    return leq(size(torch.linalg.solve(A, b)), size(b))


@conjecture("easy-false.rank", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_rank(A):
    """The rank is at most one."""
    return leq(torch.linalg.matrix_rank(A, atol=1e-6), 1)


@conjecture("easy-false.vander", instances=points(dimension=(2, 2)))
def test_vander(x):
    r"""$\det V(x, y) \le 10$."""
    return leq(torch.linalg.det(torch.linalg.vander(x)), 10)


@conjecture("easy-false.assignment", instances=square())
def test_assignment(A):
    """An entry less leaves the norm as it is."""
    B = A.clone()
    B[..., 0, 0] = 0
    return leq(size(A), size(B))


@conjecture("easy-false.fourier", instances=points(dimension=(2, 4)))
def test_fourier(x):
    r"""$|\hat x_k| \le \|x\|_2$."""
    return leq(torch.fft.fft(x).abs(), x.norm(dim=-1)[..., None])


@conjecture("easy-false.convolution", instances=points(dimension=(3, 5)))
def test_convolution(x):
    """Second differences are at most three times the largest number."""
    kernel = torch.tensor([[[1.0, -2.0, 1.0]]], dtype=torch.float64)
    second = functional.conv1d(x[..., None, :], kernel)[..., 0, :]
    return leq(second.abs(), 3 * x.abs().amax(-1)[..., None])


@conjecture("easy-false.vmap", instances=points())
def test_vmap(x):
    r"""$t e^{-t^2} \le 0.4$, at each entry."""
    values = torch.func.vmap(lambda t: t * torch.exp(-t * t), in_dims=-1, out_dims=-1)(x)
    return leq(values, 0.4)


@conjecture("easy-false.jacrev", instances=points())
def test_jacrev(x):
    r"""$\tanh' \ge 1/10$."""
    return leq(0.1, torch.func.jacrev(lambda z: z.tanh().sum())(x))


@conjecture("easy-false.euler", instances=networks_at_points(slopes="relu"))
def test_euler(net, x):
    r"""$f(x) = Jf(x)\,x$ with biases."""
    return eq(net(x), (net.jacobian(x) @ x[..., None])[..., 0])


@conjecture("easy-false.constant", instances=points())
def test_constant(x):
    r"""$(1 - 0.999)\,x \le x / 1001$."""
    return leq((1 - 0.999) * x, x / 1001)


@conjecture("easy-false.sign", instances=points())
def test_sign(x):
    """Each number is at most 1, or at least 2."""
    return leq(torch.minimum(x - 1, 2 - x), 0)


@conjecture("easy-false.strict", instances=points())
def test_strict(x):
    """$-x^2 < 0$."""
    return lt(-(x**2), 0)
