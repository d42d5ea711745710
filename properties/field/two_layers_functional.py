"""Own results: why denominators are needed. The integrals of powers of forms modulo a prime."""

from functools import cache
from math import comb, factorial

from rankcheck import eq, identity, paper
from rankcheck.instances.source import Source, instances
from rankcheck.polytopes.flags import fan_class
from rankcheck.polytopes.polytope import fan, minkowski, moment, wedge

from ._polytopes import DIMENSIONS, bases, basis, polytope, product, rank, side_by_side, vector

#: Primes p and powers N of them.
POWERS = ((2, 2), (3, 3), (2, 4), (5, 5), (2, 8), (3, 9), (2, 16))
#: Primes p and degrees k ≤ p, for more of which k-th powers do not span modulo p.
DEGREES = ((3, 2), (5, 2), (7, 2), (2, 2), (3, 3), (5, 3), (7, 3))


@instances
def lattice_polytopes(source: Source):
    """p, N, a product and a polytope of dimension m ≤ 4, N, a form, a vector and a basis there."""
    p, N = source.choice(POWERS)
    m = source.integer(1, min(4, N), weights=(1, 3, 3, 1)[: min(4, N)])
    P, PQ = polytope(source, m, 1), product(source, m) if m > 1 else []
    return p, N, PQ, P, vector(source, m, 3), vector(source, m), basis(source, m)


@instances
def forms_on_wedges(source: Source):
    """Forms h and μ on a polytope of dimension at most three, a value z of λ at w, and k."""
    n = source.integer(1, 3)
    h, mu = vector(source, n), vector(source, n)
    return polytope(source, n), h, mu, source.integer(-3, 3), source.integer(0, 5)


@instances
def windows_modulo_primes(source: Source):
    """A prime p, a degree k ≤ p, and the largest entry of a window."""
    return *source.choice(DEGREES), source.integer(2, 3)


@identity(
    "field.functional-modulo-a-prime",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Section 7"),
    instances=lattice_polytopes(),
    mutants={
        "m + k = N + 1": {"more": 1},
        "a further point beside the product": {"beside": 1},
        "zero at k = N − p + 1, too": {"last": 1},
        "not zero at k = N − p": {"last": -1},
        "without the factor m": {"factor": 0},
    },
    no_batch="an instance is integers: a batch would hold copies of it",
)
def test_functional_modulo_a_prime(
    p, N, product, P, form, v, e, *, more=0, beside=0, last=0, factor=1
):
    r"""Modulo a prime, a normalised integral does not see products, translations and many fans.

    For a power N of a prime p, $m + k = N$, lattice polytopes P of dimension m and an integer form
    $\lambda$ let $F(\lambda^k \otimes P) = (N!/k!) \int_P \lambda^k$, which is a whole number, and
    additive. Modulo p it is 0 for sums of polytopes in complementary sublattices, and
    $F(\lambda^k \otimes (P + v)) = F(\lambda^k \otimes P)$ for integer v. For a basis of
    $\mathbb Z^m$, F of $\theta_k = \sum_i x_i^k \otimes \{0 \le x_j \le x_i \le 1\}$ is
    $m (N - 1)!/k!$; this is divisible by p if and only if $k \le N - p$. So where p is no denominator,
    fans of these degrees do not span: F vanishes on them, and not on a simplex with $\lambda = 1$ at
    one vertex and 0 at the others. By triangulations, for $N \in \{2, 4, 8, 16, 3, 9, 5\}$, $m \le 4$.
    """
    m, further = len(v), [(7,) * len(v)] * beside
    k = N - m
    of_product, here, there = (
        int(moment(Q, form, k + more).p) % p for Q in ([*product, *further], P, minkowski(P, [v]))
    )
    of_fan = sum(int(moment(Q, x, k).p) for x, Q in fan(e))
    return (
        eq(of_product, 0, label="products"),
        eq(here, there, label="translations"),
        eq(of_fan, m**factor * factorial(N - 1) // factorial(k), label="a fan"),
        eq(int(of_fan % p == 0), int(k <= N - p + last), label="divisible"),
    )


@identity(
    "field.functional-of-wedges",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Section 7"),
    instances=forms_on_wedges(),
    mutants={"k for k + 1": {"more": 0}, "the part below Q added": {"below": 1}},
    no_batch="an instance is integers: a batch would hold copies of it",
)
def test_functional_of_wedges(Q, h, mu, z, k, *, more=1, below=-1):
    r"""The integral over a wedge is one over its base, of a power more.

    With $F(\lambda^k \otimes P) = ((m + k)!/k!) \int_P \lambda^k$, $\dim P = m$, and for
    $\lambda = (\mu, z)$: z times F of $\lambda^k$ and the wedge between Q and the graph of h is
    $F((\mu + z h)^{k+1} \otimes Q) - F(\mu^{k+1} \otimes Q)$, which is $F(z \kappa_{k+1})$ in dimension
    $m - 1$. So the functional of twist k in dimension m is that of twist k + 1 in dimension m − 1.
    Exactly, for integer polytopes Q of dimension at most 3 and $k \le 5$.
    """
    up, down = wedge(Q, h)
    whole = moment(up, (*mu, z), k) + below * moment(down, (*mu, z), k)
    top = [a + z * b for a, b in zip(mu, h, strict=True)]
    base = moment(Q, top, k + more) - moment(Q, mu, k + more)
    return eq(*side_by_side({0: z * whole}, {0: base}), terms=0)


def over_the_lattice(fan):
    """The class of a fan of the plane in lengths of edges over the lattice and symmetric tensors."""
    return {
        (monomial, h): c / (h.q * comb(len(monomial), sum(monomial)))
        for (monomial, ((h,),)), c in fan.items()
    }


@cache
def rank_modulo(p: int, k: int, size: int, integral: bool) -> int:
    """Of θ_k, over the bases of a window with determinants prime to p, or ±1 if `integral`."""
    chosen = []
    for e, f in bases(2, size):
        determinant = e[0] * f[1] - e[1] * f[0]
        if determinant in (1, -1) or (determinant % p and not integral):
            chosen.append(over_the_lattice(fan_class([e, f], k)))
    return rank(chosen, p)


@identity(
    "field.fans-modulo-primes",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Section 7"),
    instances=windows_modulo_primes(),
    mutants={
        "modulo 2 as modulo other primes": {"missing": 0},
        "determinants ±1 alone": {"integral": True},
    },
    no_batch="an instance is three integers: a batch would hold copies of it",
)
def test_fans_modulo_primes(p, k, size, *, missing=1, integral=False):
    r"""Fans of degree 2 in the plane do not span modulo 2, and do modulo 3, 5 and 7.

    Let e and f be integer vectors with entries up to 2, or up to 3, whose determinant is prime to p, and
    let $e + f$ be parallel to such a vector: these have 8 directions, or 16. The
    $\theta_k(e, f)$ modulo p, as symmetric tensors of degree k times lengths over the lattice, have the
    rank $(k + 1)(\text{lines} - 2)$, which is all, for $p = 3, 5, 7$ and $k = 2, 3$; and for $p = 2$,
    $k = 2$ the rank $2(\text{lines} - 2)$ of $3(\text{lines} - 2)$. The ranks are those modulo p.
    """
    degrees = k + 1 - (missing if p == 2 else 0)
    return eq(rank_modulo(p, k, size, integral), degrees * DIMENSIONS[2, size])
