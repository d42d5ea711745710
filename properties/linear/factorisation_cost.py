"""Lemma (Ongie & Willett), slides A of `linear`: the least cost of linear layers for a matrix W."""

from fractions import Fraction
from itertools import pairwise

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import Source, balanced_factors, instances

from ._layers import product


@instances
def factors_and_outer_weights(source: Source, *, layers=(1, 5)):
    """Any factors W_1..W_{L−1} whose shapes chain, and outer weights a."""
    widths = [source.integer(1, 4) for _ in range(source.integer(*layers) + 1)]
    return [source.tensor(n, m) for m, n in pairwise(widths)], source.tensor(widths[-1])


@instances
def balanced_layers(source: Source, *, layers=(1, 5)):
    """Factors of least cost for their product, and outer weights a."""
    factors = balanced_factors(source, layers=layers, low=0.5)
    return factors, source.tensor(factors[-1].shape[-2])


def rounding(factors):
    """A bound of the rounding error of the product of the factors."""
    size = linalg.frobenius_squared(factors[0])
    for factor in factors[1:]:
        size = size * linalg.frobenius_squared(factor)
    return size.sqrt() * 2.0**-46


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
    every factorisation $W = W_{L-1} \cdots W_1$, $q = 2/(L-1)$, with equality for the balanced one,
    whose layers have the singular values $s_i(W)^{1/(L-1)}$.

    So the left side is the least cost of a factorisation of $W$; linear.layers-are-free attains it
    for a given $W$.
    """
    n = len(factors)
    power = linalg.schatten_power(product(factors), Fraction(exponent, n), rounding(factors))
    least = ((a * a).sum(-1) + n * power) / (n + 1)
    return leq(least, costs.linear_layers_cost(factors, a), terms=2**12)


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

    $\|W_2 W_1\|_* \le \frac12 \|W_1\|_F^2 + \frac12 \|W_2\|_F^2$, with equality for $W_2 = U
    S^{1/2}$, $W_1 = S^{1/2} V^\top$: for $L = 3$ the least over $W_2 W_1 = W$ is $\|W\|_*$.
    """
    norm = linalg.schatten_power(product(factors), exponent, rounding(factors))
    cost = sum(linalg.frobenius_squared(factor) for factor in factors) / 2
    return leq(norm, cost, terms=2**12)
