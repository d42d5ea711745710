"""Section 3.2 of `bottleneck`: the second correction of a linear map bounds its norm."""

from fractions import Fraction

import torch

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import Source, instances, orthogonal, positive, semi_orthogonal, triangular

#: A bound on the rounding error of the singular values, for these instances.
NOISE = 2.0**-32


@instances
def maps_of_rank(source: Source):
    """A of rank k, of any shape, with singular values far from 0."""
    k = source.integer(1, 3)
    out, into = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(2))
    R = orthogonal(source, k) @ triangular(source, k, low=0.25, high=4.0, above=2.0)
    return (out @ R @ into.mT,)


@instances
def one_value_beyond_one(source: Source):
    """A partial isometry with one singular value s > 1, or s < 1, instead of 1."""
    k, s = source.integer(1, 3), positive(source, 1, low=0.25, high=8.0)
    out, into = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(2))
    values = torch.cat((s, s.new_ones((*source.batch, k - 1))), -1)
    return ((out * values.unsqueeze(-2)) @ into.mT,)


def by_the_determinant(A):
    """The first correction, 2 log|A|_+, in place of the second."""
    return torch.relu(2 * linalg.log_pseudo_determinant(A, NOISE))


def half_the_square(A):
    """R^(2)(A) = ½‖log_+ AᵀA‖²."""
    return costs.log_gram_squared(A, NOISE) / 2


@bound(
    "bottleneck.second-correction-bounds-the-norm",
    paper("bottleneck", "§3.2"),
    instances=maps_of_rank(),
    tight=one_value_beyond_one(),
    mutants={
        "2 % less": {"weight": Fraction(49, 50)},
        "the first correction": {"correction": by_the_determinant},
    },
)
def test_second_correction_bounds_the_norm(A, *, correction=half_the_square, weight=1):
    r"""The second correction of a linear map bounds its operator norm.

    $$2\,(\log \|A\|_{op})^2 \le R^{(2)}(A) = \tfrac12 \|\log_+ A^T A\|_F^2, \qquad A \ne 0,$$
    so that $\|A\|_{op} \le e^{\sqrt{R^{(2)}(A)/2}}$. Rank and pseudo-determinant do not bound it: that of
    $\operatorname{diag}(s, 1/s)$ is 1 for every $s$. The hidden maps of the cheapest linear networks, $A^p$ up
    to isometries, are therefore bounded.

    Checked as $\log \|A\|_{op} \le \sqrt{R^{(2)}(A)/2}$. Proof: one of the terms of
    $R^{(2)} = 2 \sum_i (\log s_i)^2$ is that of the largest singular value.
    """
    root = linalg.power(correction(A) / 2, Fraction(1, 2))
    return leq(linalg.operator_norm(A).log(), root * linalg.scalar(weight, root), scale=1 + root)
