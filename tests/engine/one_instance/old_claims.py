"""Claims as users wrote them when a body carried batch axes: kept as they are."""

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.instances import chained_matrices, instances, matrices, networks_at_points
from rankcheck.linalg import operator_norm


@instances
def ones_and_identities(source, *, size=(1, 3)):
    """The matrix of ones plus c I, and c."""
    n = source.integer(*size)
    c = source.tensor(low=0.125, high=4.0)
    ones = source.tensor(0).new_ones((*source.batch, n, n))
    return ones + c[..., None, None] * torch.eye(n, dtype=c.dtype).expand(*source.batch, n, n), c


@conjecture("old.true-largest-eigenvalue", instances=ones_and_identities())
def test_true_largest_eigenvalue(A, c):
    r"""The largest eigenvalue of $\mathbf 1 \mathbf 1^T + cI$ is $n + c$."""
    n = A.shape[-1]
    return eq(torch.linalg.eigvalsh(A)[..., -1], c + n)


@conjecture("old.true-gram", instances=matrices(rows=(1, 3), columns=(1, 3)))
def test_true_gram(A):
    r"""$|\langle a_i, a_j \rangle| \le \|a_i\| \|a_j\|$ for all columns."""
    lengths = A.norm(dim=-2)
    return leq((A.mT @ A).abs(), lengths[..., :, None] * lengths[..., None, :])


@conjecture("old.true-monotone", instances=networks_at_points(depth=(1, 1), width=(1, 2)))
def test_true_monotone(net, x):
    r"""$Wx + b \ge b$ where $W \ge 0$ and $x \ge 0$."""
    (W,), (b,) = net.weights, net.biases
    value = (W @ x.unsqueeze(-1)).squeeze(-1) + b
    return leq(b, value, where=(W >= 0).flatten(-2).all(-1) & (x >= 0).all(-1))


@conjecture("old.false-norms", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_false_norms(A):
    r"""$\|A\|_F \le 1.4 \|A\|_{op}$."""
    centred = A - A.mean(dim=(-2, -1), keepdim=True)
    size = (centred + A.mean(dim=(-2, -1), keepdim=True)).norm(dim=(-2, -1))
    return leq(size, 1.4 * operator_norm(A))


@conjecture("old.false-quadratic-form", instances=chained_matrices(size=(2, 2)))
def test_false_quadratic_form(A, B):
    r"""$v^T A v \ge 0$ for the first column of $B$ where $\operatorname{tr} A > 0$."""
    v, (*batch, n, _) = B[..., 0], B.shape
    image = (A @ v.unsqueeze(-1)).reshape((*batch, n))
    trace = torch.diagonal(A, dim1=-2, dim2=-1).sum(-1)
    return leq(0, (v * image).sum(-1), where=trace > 0)
