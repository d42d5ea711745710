"""§2 of `rank`: ridge on the weights as a penalty on functions, in closed form."""

import torch

from rankcheck import bound, leq, paper
from rankcheck.instances.matrices import matrix, orthogonal, positive
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared, singular_values


@instances
def two_linear_layers(source: Source):
    """Weights W_1, W_2 with inner width at least min(m, n), targets Y, and a ridge λ."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    inner = min(m, n) + source.integer(0, 1)
    Y = matrix(source, m, n, bound=4.0)
    return (
        matrix(source, inner, n, bound=3.0),
        matrix(source, m, inner, bound=3.0),
        Y,
        positive(source, high=2.0),
    )


@instances
def soft_thresholded(source: Source):
    """Y = U S Vᵀ with s_i = λ + r_i² or s_i ≤ λ, and the balanced factors of (S − λ)_+."""
    n = source.integer(1, 3)
    kept = torch.arange(n) < source.integer(0, n)
    ridge = positive(source, high=2.0)
    r = positive(source, n, high=2.0)
    below = ridge.unsqueeze(-1) * source.tensor(n, low=0.0, high=1.0)
    U, V = orthogonal(source, n), orthogonal(source, n)
    s = torch.where(kept, ridge.unsqueeze(-1) + r * r, below)
    root = torch.diag_embed(torch.where(kept, r, torch.zeros_like(r)))
    return root @ V.mT, U @ root, U @ torch.diag_embed(s) @ V.mT, ridge


@bound(
    "rank.ridge-in-function-space",
    paper("rank", "§2"),
    instances=two_linear_layers(),
    tight=soft_thresholded(),
    mutants={"the penalty halved": {"penalty": 1}},
)
def test_ridge_in_function_space(W1, W2, Y, ridge, *, penalty=2):
    r"""Ridge on two linear layers is a nuclear-norm penalty on their product.

    $\min_\theta C(f_\theta) + \lambda \|\theta\|^2 = \min_f C(f) + \lambda R(f)$, checked where both
    sides have a closed form: $L = 2$, linear, $C(A) = \|A - Y\|_F^2$, $R(A) = 2 \|A\|_*$. For all
    $W_1$, $W_2$
    $$\|W_2 W_1 - Y\|_F^2 + \lambda (\|W_1\|_F^2 + \|W_2\|_F^2) \ge
    \sum_i (t_i - s_i)^2 + 2 \lambda t_i$$
    with $s_i = s_i(Y)$ and $t_i = (s_i - \lambda)_+$. The right side is the minimum of
    $\|A - Y\|_F^2 + 2 \lambda \|A\|_*$ over $A$, attained by soft-thresholding the singular values
    of $Y$.
    """
    s = singular_values(Y)
    level = ridge.unsqueeze(-1)
    kept = torch.relu(s - level)
    least = (kept - s) ** 2 + 2 * level * kept
    objective = frobenius_squared(W2 @ W1 - Y)
    objective = objective + penalty * ridge * (frobenius_squared(W1) + frobenius_squared(W2)) / 2
    size = frobenius_squared(W1) * frobenius_squared(W2) + frobenius_squared(Y)
    return leq(least.sum(-1), objective, scale=size)
