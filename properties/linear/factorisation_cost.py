from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import bound, leq, paper
from rankcheck.costs import linear_layers_cost
from rankcheck.instances.matrices import orthogonal, positive
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared, schatten_power


@instances
def factors_and_outer_weights(source: Source, *, layers=(1, 5)):
    """Any factors W_1..W_{L−1} whose shapes chain, and outer weights a."""
    widths = [source.integer(1, 4) for _ in range(source.integer(*layers) + 1)]
    return [source.tensor(n, m) for m, n in pairwise(widths)], source.tensor(widths[-1])


@instances
def balanced_layers(source: Source, *, layers=(1, 5)):
    """W_j = U_j T U_{j−1}ᵀ with orthogonal U_j and a diagonal T ≥ 0, and outer weights a.

    Every W is such a product: W = U T^{L−1} Vᵀ with any singular values.
    """
    count, n = source.integer(*layers), source.integer(1, 4)
    zeros = source.integer(0, n - 1)
    alive = torch.arange(n) < n - zeros
    scales = positive(source, n, low=0.5, high=2.0)
    scales = torch.diag_embed(torch.where(alive, scales, 0 * scales))
    rotations = [orthogonal(source, n) for _ in range(count + 1)]
    return [out @ scales @ into.mT for into, out in pairwise(rotations)], source.tensor(n)


def product(factors):
    """W_{L−1} ··· W_1 of (W_1, ..., W_{L−1}), and what rounding may add to it."""
    result, size = factors[0], frobenius_squared(factors[0])
    for factor in factors[1:]:
        result, size = factor @ result, size * frobenius_squared(factor)
    return result, size.sqrt() * 2.0**-46


@bound(
    "linear.factorisation-cost",
    paper("linear", "slides A, Lemma (Ongie & Willett)"),
    instances=factors_and_outer_weights(),
    tight=balanced_layers(),
    mutants={
        "exponent 2.04/(L − 1)": {"exponent": Fraction(51, 25)},
        "exponent 1.96/(L − 1)": {"exponent": Fraction(49, 25)},
    },
)
def test_factorisation_cost(factors, a, *, exponent=2):
    r"""No factorisation into linear layers is cheaper than a Schatten quasi-norm.

    $\frac1L \|a\|^2 + \frac{L-1}L \|W\|_{S^q}^q \le \frac1L (\|a\|^2 + \sum_j \|W_j\|_F^2)$ for
    every factorisation $W = W_{L-1} \cdots W_1$, $q = 2/(L-1)$; equal for the balanced one, whose
    layers have the singular values $s_i(W)^{1/(L-1)}$.

    So the left side is the least cost of all factorisations; linear.layers-are-free constructs it.
    """
    n = len(factors)
    W, noise = product(factors)
    least = ((a * a).sum(-1) + n * schatten_power(W, Fraction(exponent, n), noise)) / (n + 1)
    return leq(least, linear_layers_cost(factors, a), terms=2**12)


@bound(
    "linear.nuclear-norm",
    paper("linear", "slides B, Three-Layer Network"),
    instances=factors_and_outer_weights(layers=(2, 2)),
    tight=balanced_layers(layers=(2, 2)),
    mutants={
        "exponent 1.02 of the singular values": {"exponent": Fraction(51, 50)},
        "exponent 0.98 of the singular values": {"exponent": Fraction(49, 50)},
    },
)
def test_nuclear_norm(factors, a, *, exponent=1):
    r"""Two linear layers cost the nuclear norm.

    $\|W_2 W_1\|_* \le \frac12 \|W_1\|_F^2 + \frac12 \|W_2\|_F^2$, equal for
    $W_2 = U S^{1/2}$, $W_1 = S^{1/2} V^\top$: the least over $W_2 W_1 = W$ is $\|W\|_*$ ($L = 3$).
    """
    W, noise = product(factors)
    cost = sum(frobenius_squared(factor) for factor in factors) / 2
    return leq(schatten_power(W, exponent, noise), cost, terms=2**12)
