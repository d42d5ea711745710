"""Main result of `separation`: inner-product functions are far from sums of separable functions."""

import torch

from rankcheck import Erratum, bound, leq, linalg, paper, separation
from rankcheck.instances import Source, instances, unit_vectors


def inner_product_function(source: Source):
    """d ≥ 2, the number of degrees of the g_j, n, and the coefficients of F, some beyond those."""
    d, degrees = source.integer(2, 8), source.integer(1, 5)
    alpha = source.tensor(degrees + source.choice((0, 3)))
    return d, degrees, source.integer(0, degrees - 1), alpha


@instances
def separable_sums(source: Source):
    """F, n, and all coefficients β^j_{kl} of r separable functions, in half of the draws small."""
    d, degrees, n, alpha = inner_product_function(source)
    r = source.integer(1, 4)
    beta = source.tensor(r, degrees, degrees) / source.choice((1, 64))
    return d, n, alpha, beta, unit_vectors(source, r, d), unit_vectors(source, r, d)


@instances
def small_and_aligned(source: Source):
    """F = a h_n and g = s L_n^v ⊗ L_n^v for a small s > 0, where the two sides differ by s²."""
    d, n = source.integer(2, 8), source.integer(0, 4)
    one = linalg.eye(n + 1, source.tensor())[n]
    a, s = source.tensor(low=0.5, high=2.0), source.tensor(low=2.0**-14, high=2.0**-12)
    v = unit_vectors(source, 1, d)
    beta = s[..., None, None, None] * one.unsqueeze(-1) * one
    return d, n, a.unsqueeze(-1) * one, beta, v, v


@instances
def vectors_of_length_two(source: Source):
    """The same, with a v of length 2."""
    d, n, alpha, beta, v, w = small_and_aligned()(source)
    return d, n, alpha, beta, 2 * v, w


def lower_bound(d, n, alpha, beta):
    """The right side of the theorem."""
    return separation.main_lower_bound(d, n, alpha, separation.separable_norms(beta))


def with_a_larger_multiplicity(d, n, alpha, beta):
    """√N_{d+1,n+1} in place of √N_{d,n}: all degrees of F are raised by one."""
    raised = torch.cat((torch.zeros_like(alpha[..., :1]), alpha), -1)
    return separation.main_lower_bound(d + 1, n + 1, raised, separation.separable_norms(beta))


def without_the_factor_two(d, n, alpha, beta):
    """Σ‖g_j‖ in place of 2 Σ‖g_j‖."""
    return separation.main_lower_bound(d, n, alpha, separation.separable_norms(beta) / 2)


@bound(
    "separation.main-theorem",
    paper("separation", "slide: Main result"),
    instances=separable_sums(),
    tight=small_and_aligned(),
    needs={"v and v′ are unit vectors": vectors_of_length_two()},
    mutants={
        "a larger multiplicity": {"lower": with_a_larger_multiplicity},
        "without the factor two": {"lower": without_the_factor_two},
    },
    witness=separation.main_lower_bound,
    errata=(
        Erratum(
            printed=r"$\|F - \sum g_j\|^2 = \|P_nF\| (\|P_nF\| - 2 \sum\|g_j\|/\sqrt{N_{d,n}})$",
            right="≥ in place of =, which the proof on the next slide gives; the conversion of "
            r"the text at hand may have made the one of the other. $F = h_1$ and $g = L_1 \otimes "
            "L_1$ in $d = 3$ have 0.845 on the left and −0.155 on the right.",
            survives="The theorem as it is used: the conclusion needs the lower bound only.",
        ),
        Erratum(
            printed=r"$\|F - N_2\|^2 = \sum_{i\ge0} \|\alpha_i h_i - \sum_j \beta_i^j L_i^{v_j} "
            r"\otimes L_i^{v'_j}\|^2$",
            right="≥ in place of the first =. A separable function has coefficients "
            r"$\beta_{i,k}$ with $i \ne k$ too, as two slides before; they are orthogonal to the "
            "rest and are dropped here.",
            survives="The proof.",
            place="slide: Main result - proof",
        ),
    ),
)
def test_main_theorem(d, n, alpha, beta, v, w, *, lower=lower_bound):
    r"""An inner-product function is far from sums of few small separable functions.

    For $F = \sum_i \alpha_i h_i$ and separable $g_1, \dots, g_r$,
    $\|F - \sum_j g_j\|^2 \ge \|P_n F\| \bigl(\|P_n F\| - \frac{2 \sum_j \|g_j\|}{\sqrt{N_{d,n}}}
    \bigr)$, where $P_n F = \sum_{i \ge n} \alpha_i h_i$.

    Checked in coefficients, for finite sums
    $g_j = \sum_{kl} \beta^j_{kl} L_k^{v_j} \otimes L_l^{v'_j}$; the general case is their limit.
    Off-diagonal coefficients count in $\|g_j\|$ and in the distance.
    """
    size = (alpha * alpha).sum(-1).sqrt() + separation.separable_norms(beta).sum(-1)
    distance = separation.distance_squared(d, alpha, beta, v, w)
    return leq(lower(d, n, alpha, beta), distance, scale=size * size)


@instances
def rules_on_the_sphere(source: Source):
    """F = a h_n and g_j = s w_j L_n^v ⊗ L_n^v, v and w_j from a rule of degree 2n: F and Σg_j are parallel."""
    d, n = source.integer(2, 3), source.integer(0, 3)
    points, weights = separation.sphere_rule(d, 2 * n)
    a, share = source.tensor(low=0.5, high=2.0), source.tensor(low=0.0, high=1.0)
    one = linalg.eye(n + 1, a)[n]
    s = (a * share)[..., None, None, None] * one.unsqueeze(-1) * one
    v = points.to(a.device) + 0 * a[..., None, None]
    return d, n, a.unsqueeze(-1) * one, s * weights.to(a.device)[:, None, None], v, v


def of_degrees_beyond(d, n, alpha, beta):
    """The norms of the parts of degrees beyond n, without n itself."""
    return separation.norm_lower_bound(d, n, alpha, separation.diagonal_norms(beta, n + 1))


def with_the_next_dimension(d, n, alpha, beta):
    """√N_{d+1,n+1} in place of √N_{d,n}: all degrees of F are raised by one."""
    raised = torch.cat((torch.zeros_like(alpha[..., :1]), alpha), -1)
    return separation.norm_lower_bound(d + 1, n + 1, raised, separation.diagonal_norms(beta, n))


def in_norm(d, n, alpha, beta):
    """The right side of the theorem in norm."""
    return separation.norm_lower_bound(d, n, alpha, separation.diagonal_norms(beta, n))


@bound(
    "separation.main-theorem-in-norm",
    paper("rankcheck", "docs/proofs/width-of-depth-two.md, Theorem 1"),
    instances=separable_sums(),
    tight=rules_on_the_sphere(),
    needs={"v and v′ are unit vectors": vectors_of_length_two()},
    mutants={
        "without the part of degree n": {"lower": of_degrees_beyond},
        "a larger multiplicity": {"lower": with_the_next_dimension},
    },
    witness=separation.norm_lower_bound,
)
def test_main_theorem_in_norm(d, n, alpha, beta, v, w, *, lower=in_norm):
    r"""The distance of an inner-product function from a sum of separable functions.

    $\|F - \sum_j g_j\| \ge \|P_n F\| - \frac{\sum_j \|Q_n g_j\|}{\sqrt{N_{d,n}}}$ for $F = \sum_i
    \alpha_i h_i$ and separable $g_j = \sum_{kl} \beta^j_{kl} L_k^{v_j} \otimes L_l^{v'_j}$, where
    $Q_n g = \sum_{i \ge n} \beta_{ii} L_i^v \otimes L_i^{v'}$. Where the right side is positive, its
    square is at least the bound of separation.main-theorem; constants and linear functions cost
    nothing for $n \ge 1$.

    There is equality for $F = a h_n$ and $g_j = s w_j L_n^{v_j} \otimes L_n^{v_j}$ with the points
    and weights of a rule on the sphere that is exact for degree $2n$. Checked in coefficients, for
    finite sums. Proof: docs/proofs/width-of-depth-two.md.
    """
    size = (alpha * alpha).sum(-1).sqrt() + separation.separable_norms(beta).sum(-1)
    least = lower(d, n, alpha, beta).clamp(min=0)
    slides = separation.main_lower_bound(d, n, alpha, separation.separable_norms(beta))
    return (
        leq(least * least, separation.distance_squared(d, alpha, beta, v, w), scale=size * size),
        leq(slides, least * least, scale=size * size, label="the theorem on the slides"),
    )
