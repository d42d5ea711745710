"""Twelve true and twelve false statements, as one writes them for one network or one matrix.

A comment is the proof of a true one, or what breaks a false one. Where it ends in "rare", random
entries alone almost never do.
"""

import math

import numpy as np
import scipy
import torch

from rankcheck import conjecture, eq, leq, lt
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances import (
    instances,
    matrices,
    network,
    networks_at_points,
    networks_with_inputs,
    symmetric_matrices,
)
from rankcheck.linalg import frobenius_squared, nuclear_norm, operator_norm, power, rank


@instances
def squares(source, *, size=(1, 3)):
    """A square matrix."""
    n = source.integer(*size)
    return source.tensor(n, n)


@instances
def two_networks(source, *, width=(1, 2)):
    """Two networks of depth 2, of the same widths and slope."""
    f = network(source, depth=(2, 2), width=width)
    n, k, m = f.widths
    weights, biases = (
        (source.tensor(k, n), source.tensor(m, k)),
        (source.tensor(k), source.tensor(m)),
    )
    return f, f.with_parameters(weights, biases)


@conjecture("words.true-norms", instances=matrices(), mutants={"0.99": {"factor": 0.99}})
def test_true_norms(A, *, factor=1):  # noqa: PT028
    r"""$\|A\|_F^2 \le \|A\|_{op} \|A\|_*$."""
    # Σ s_i² ≤ s_1 Σ s_i, and equal at rank one.
    s = torch.linalg.svdvals(A)
    return leq(A.norm() ** 2, factor * s.max() * s.sum())


@conjecture("words.true-layers", instances=networks_at_points(biases=False))
def test_true_layers(net, x):
    r"""$\|f(x)\| \le \|x\| \prod_\ell \|W_\ell\|_F$ without biases."""
    # |σ(z)| ≤ |z| entry by entry, as the slope is below 1, and ‖Wv‖ ≤ ‖W‖_F ‖v‖.
    return leq(net(x).norm(), x.norm() * math.prod(torch.linalg.norm(W) for W in net.weights))


@conjecture("words.true-largest-entry", instances=matrices())
def test_true_largest_entry(A):
    r"""No entry is larger than $\|A\|_{op}$ in absolute value."""
    largest = max(max(row, key=abs).abs() for row in A)
    return leq(largest, operator_norm(A))  # a_ij = ⟨e_i, A e_j⟩


@conjecture("words.true-determinant", instances=symmetric_matrices(size=(2, 2)))
def test_true_determinant(A):
    r"""$\|A\|_*$ is $|\lambda_1 + \lambda_2|$ or $|\lambda_1 - \lambda_2|$, by $\det A$."""
    size = A.trace().abs()
    if A.det() <= 0:
        size = ((A[0, 0] - A[1, 1]) ** 2 + 4 * A[0, 1] ** 2).sqrt()
    return eq(size, nuclear_norm(A))  # ‖A‖_* = |λ_1| + |λ_2|, and (λ_1 - λ_2)² = (a - d)² + 4b²


@conjecture("words.true-by-hand", instances=matrices())
def test_true_by_hand(A):
    r"""$\|A\|_F \le \|A\|_*$, with the norm of each row computed by hand."""
    lengths = []
    for row in A:
        lengths.append(math.sqrt(sum(a.item() ** 2 for a in row)))
    return leq(math.hypot(*lengths), nuclear_norm(A))  # Σ s_i² ≤ (Σ s_i)²


@conjecture("words.true-assignment", instances=squares())
def test_true_assignment(A):
    r"""$\sum_i a_{i \pi(i)} \le \|A\|_*$ for the best permutation $\pi$."""
    # ⟨A, P⟩ ≤ ‖A‖_* ‖P‖_op, and ‖P‖_op = 1.
    a = A.detach().numpy()
    rows, columns = scipy.optimize.linear_sum_assignment(a, maximize=True)
    s = np.linalg.svd(a, compute_uv=False)
    return leq(float(a[rows, columns].sum()), float(s.sum()))


@conjecture("words.true-convex", instances=networks_with_inputs(depth=(2, 2), points=(2, 2)))
def test_true_convex(net, X):
    r"""If $W_2 \ge 0$, a network of depth 2 is convex."""
    # σ(z) = max(z, az) is convex, and so are sums of σ(affine) with weights that are not negative.
    x, y = X
    hypothesis, scale = (net.weights[-1] >= 0).all(), network_scale(net, X).sum(0)
    return leq(net((x + y) / 2), (net(x) + net(y)) / 2, where=hypothesis, scale=scale)


@conjecture("words.true-centred", instances=matrices())
def test_true_centred(A):
    r"""Subtracting the mean of all entries makes no matrix larger."""
    before = A.norm()
    A -= A.mean()
    return leq(A.norm(), before)  # A - mean is an orthogonal projection of A


@conjecture("words.true-different-rows", instances=matrices())
def test_true_different_rows(A):
    r"""The rank is at most the number of different rows."""
    return leq(rank(A), len(torch.unique(A, dim=0)))  # The different rows span the row space


@conjecture("words.true-inverse", instances=squares())
def test_true_inverse(A):
    r"""$\|A\| \|A^{-1}\| \ge 1$, or the rank is below $n$."""
    # 1 = ‖I‖ ≤ ‖A‖ ‖A⁻¹‖; a matrix without inverse has not the full rank.
    try:
        inverse = torch.linalg.inv(A)
    except Exception:
        return leq(rank(A), A.shape[0] - 1)
    return leq(1, operator_norm(A) * operator_norm(inverse))


@conjecture("words.true-gradient", instances=networks_at_points(depth=(1, 4)))
def test_true_gradient(net, x):
    r"""$\|\nabla f_1(x)\| \le \prod_\ell \|W_\ell\|_F$ for the first output."""
    # The gradient is a row of W_L D W_{L-1} ... D W_1, and |D| ≤ 1.
    x = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(net(x)[0], x)
    return leq(gradient.norm(), math.prod(float(W.norm()) for W in net.weights))


@conjecture("words.true-two-networks", instances=two_networks())
def test_true_two_networks(f, g):
    r"""$\|\theta_{f+g}\|^2 \le 2 \|\theta_f\|^2 + 2 \|\theta_g\|^2$, also by hand."""
    # The last biases are added, (b + c)² ≤ 2b² + 2c²; all others stand side by side.
    by_hand = sum(2 * (entries**2).sum() for net in (f, g) for entries in net.weights + net.biases)
    return leq(f.add(g).cost(), by_hand)


@conjecture("words.false-symmetric", instances=squares(size=(2, 2)))
def test_false_symmetric(A):
    r"""A symmetric matrix with entries that are not negative has no negative determinant."""
    return leq(0, A.det(), where=(A == A.T).all() and (A >= 0).all())  # [[0, 1], [1, 0]]; rare


@conjecture("words.false-different-rows", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_false_different_rows(A):
    r"""All rows are different."""
    return eq(len(torch.unique(A, dim=0)), len(A))  # Two equal rows; rare


@conjecture("words.false-depth", instances=networks_at_points(depth=(1, 4), width=(1, 2)))
def test_false_depth(net, x):
    r"""$(0.94 + 0.02 L)\, L \prod_\ell \|W_\ell\|_F^{2/L} \le \sum_\ell \|W_\ell\|_F^2$."""
    # Layers of one norm, from depth 4 on; true at depths 1 to 3; rare.
    L, sizes = len(net.weights), [W.norm() ** 2 for W in net.weights]
    return leq((0.94 + 0.02 * L) * L * power(math.prod(sizes), 1 / L), sum(sizes))


@conjecture("words.false-inverse", instances=squares(size=(2, 3)))
def test_false_inverse(A):
    r"""Every matrix whose first entry is positive has an inverse."""
    try:
        torch.linalg.inv(A)
        singular = 0
    except Exception:
        singular = 1
    return eq(singular, 0, where=A[0, 0] > 0)  # [[1, 0], [0, 0]]; rare


@conjecture("words.false-singular-values", instances=squares(size=(2, 2)))
def test_false_singular_values(A):
    r"""$\|A\|_* \le 1.4 \|A\|_F$ for $2 \times 2$ matrices."""
    # The identity: √2 = 1.414...
    s = np.linalg.svd(A.detach().numpy(), compute_uv=False)
    return leq(float(s.sum()), 1.4 * math.sqrt(sum(v.item() ** 2 for v in s)))


@conjecture("words.false-corner", instances=squares(size=(2, 2)))
def test_false_corner(A):
    r"""$\|A\|_{op}$ does not grow if the first entry becomes zero."""
    before = operator_norm(A)
    A[0, 0] = 0
    return leq(operator_norm(A), before)  # [[1, 1], [1, -1]]: √2 becomes 1.618


@conjecture("words.false-larger-of-two", instances=squares(size=(2, 3)))
def test_false_larger_of_two(A):
    r"""The matrix of all $\max(a_{ij}, a_{ji})$ has no larger Frobenius norm."""
    n = len(A)
    M = torch.zeros(n, n)
    for i in range(n):
        for j in range(n):
            M[i, j] = max(A[i, j], A[j, i])
    return leq(M.norm(), A.norm())  # [[0, 1], [0, 0]]


@conjecture("words.false-active-unit", instances=networks_at_points(depth=(2, 2), width=(3, 4)))
def test_false_active_unit(net, x):
    r"""Of all hidden units one is active."""
    active = 0
    for w, b in zip(net.weights[0], net.biases[0], strict=True):
        active = active + max(0, w @ x + b)
    return lt(0, active)  # All biases negative, x = 0


@conjecture("words.false-above-the-mean", instances=matrices(rows=(2, 3), columns=(2, 3)))
def test_false_above_the_mean(A):
    r"""Some entry is above the mean."""
    return leq(1, len(A[A - A.mean() > 0]))  # Entries that are all equal; rare


@conjecture("words.false-lengths", instances=matrices(rows=(2, 2), columns=(2, 3)))
def test_false_lengths(A):
    r"""The two shortest columns have different lengths."""
    shortest, second, *_ = sorted(frobenius_squared(column[None]) for column in A.T)
    return lt(shortest, second)  # The identity; rare


@conjecture("words.false-descent", instances=networks_at_points(depth=(2, 3), width=(1, 2)))
def test_false_descent(net, x):
    r"""A step of length 1 against the gradient makes no $f_1$ larger."""
    x = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(net(x)[0], x)
    return leq(net(x - gradient)[0], net(x)[0])  # Any kink on the way behind which f_1 grows


@conjecture("words.false-cheaper-sum", instances=two_networks(width=(2, 2)))
def test_false_cheaper_sum(f, g):
    r"""$\|\theta_f\|^2 \le \|\theta_{f+g}\|^2$."""
    return leq(f.cost(), f.add(g).cost())  # g is the constant -b for the last bias b of f; rare
