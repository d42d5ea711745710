"""Own results: why denominators are needed. The integrals of powers of forms modulo a prime."""

from math import factorial

from rankcheck import eq, identity, paper
from rankcheck.instances.source import Source, instances
from rankcheck.polytopes.flags import on_graph
from rankcheck.polytopes.polytope import fan, minkowski, moment, wedge

from ._two_layers import basis, polytope, product, side_by_side, vector

#: Primes p and powers N of them.
POWERS = ((2, 2), (3, 3), (2, 4), (5, 5), (2, 8), (3, 9), (2, 16))


@instances
def lattice_polytopes(source: Source):
    """p, N, a product and a polytope of dimension m ≤ 4, N, a form, a vector and a basis there."""
    p, N = source.choice(POWERS)
    m = source.integer(1, min(4, N), weights=(1, 3, 3, 1)[: min(4, N)])
    P, PQ = polytope(source, m, 1), product(source, m)
    return p, N, PQ, P, vector(source, m, 3), vector(source, m), basis(source, m)


@instances
def forms_on_wedges(source: Source):
    """A polytope of dimension n ≤ 3, a form h there, a form λ on dimension n + 1, and k."""
    n = source.integer(1, 3)
    return polytope(source, n), vector(source, n), vector(source, n + 1), source.integer(0, 5)


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
    of_fan = sum(int(moment(Q, x, k).p) for x, Q, _ in fan(e))
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
def test_functional_of_wedges(Q, h, form, k, *, more=1, below=-1):
    r"""The integral over a wedge is one over its base, of a power more.

    With $F(\lambda^k \otimes P) = ((m + k)!/k!) \int_P \lambda^k$, $\dim P = m$, and for
    $\lambda = (\mu, z)$: z times F of $\lambda^k$ and the wedge between Q and the graph of h is
    $F((\mu + z h)^{k+1} \otimes Q) - F(\mu^{k+1} \otimes Q)$, which is $F(z \kappa_{k+1})$ in dimension
    $m - 1$. So the functional of twist k in dimension m is that of twist k + 1 in dimension m − 1.
    Exactly, for integer polytopes Q of dimension at most 3 and $k \le 5$.
    """
    up, down = wedge(Q, h)
    whole = moment(up, form, k) + below * moment(down, form, k)
    base = moment(Q, on_graph(form, h), k + more) - moment(Q, form[:-1], k + more)
    return eq(*side_by_side({0: form[-1] * whole}, {0: base}), terms=0)
