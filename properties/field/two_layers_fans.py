"""Own results: fans of pyramids in a cube, and what fans and pyramids span in windows."""

from functools import cache
from itertools import combinations, permutations, product
from math import comb, gcd

from flint import fmpz_mat

from rankcheck import eq, identity, paper, polytopes
from rankcheck.instances import Source, instances

from ._two_layers import basis, rank, side_by_side, within

#: A dimension, the largest entry of a window, and the largest degree of fans there.
WINDOWS = ((2, 2, 4), (2, 1, 4), (2, 3, 4), (3, 1, 2))
#: By how much the θ_k of some windows fall short, and λ^{k−1} ⊗ b with λ(w) ≠ 0.
SHORT = {(2, 1, 3): (1, 0), (2, 1, 4): (4, 2), (3, 1, 2): (13, 0)}
#: The dimension that the pyramids of a window span, by m and size: in the plane its lines less two.
DIMENSIONS = {(2, 1): 4 - 2, (2, 2): 8 - 2, (2, 3): 16 - 2, (3, 1): 12}
#: Primes p and degrees k ≤ p, for more of which k-th powers do not span modulo p.
DEGREES = ((3, 2), (5, 2), (7, 2), (2, 2), (3, 3), (5, 3), (7, 3))


@instances
def bases_and_degrees(source: Source):
    """A basis of Z^m, 2 ≤ m ≤ 4, and a degree."""
    return basis(source, source.integer(2, 4, weights=(3, 3, 1))), source.integer(0, 3)


@instances
def windows(source: Source):
    """A dimension, the largest entry of a window, a degree, and w ≠ 0 with entries 0 and 1."""
    m, size, degree = source.choice(WINDOWS)
    k, ones = source.integer(1, degree), source.integer(1, m)
    return m, size, k, (0,) * (m - ones) + (1,) * ones


@instances
def windows_modulo_primes(source: Source):
    """A prime p, a degree k ≤ p, and the largest entry of a window."""
    return *source.choice(DEGREES), source.integer(2, 3)


@identity(
    "field.cube-of-pyramids",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=bases_and_degrees(),
    mutants={
        "with their forms": {"twist": 1},
        "the power of the least coordinate": {"place": -1},
    },
    effort=0.5,
)
def test_cube_of_pyramids(e, k, *, twist=0, place=0):
    r"""A parallelotope is the union of its pyramids, which add up to nothing.

    For a basis of $\mathbb Z^m$ with coordinates x, and $\beta_i = \{0 \le x_j \le x_i \le 1\}$:
    $\sum_i [\beta_i] = 0$ if $m \ge 2$, as the parallelotope is a product. And the fan
    $\theta_k = \sum_i x_i^k \otimes [\beta_i]$ is $\sum_\sigma x_{\sigma(1)}^k \otimes
    [\{1 \ge x_{\sigma(1)} \ge \dots \ge x_{\sigma(m)} \ge 0\}]$ over all orders. For $m \le 4$, $k \le 3$.
    """
    m, simplices = len(e), []
    for order in permutations(range(m)):
        steps = [(1,) * r + (0,) * (m - r) for r in range(m + 1)]
        simplex = within([e[i] for i in order], steps)
        x = polytopes.dual(e)[order[place]]
        simplices.append(
            (1, polytopes.twisted(polytopes.power(x, k), polytopes.flag_class(simplex)))
        )
    return (
        eq(len(polytopes.fan_class(e, twist)), 0, label="the pyramids"),
        eq(
            *side_by_side(polytopes.fan_class(e, k), polytopes.combined(*simplices)),
            terms=0,
            label="the simplices",
        ),
    )


@cache
def bases(m: int, size: int):
    """The bases of integers from −size to size of which all sums are parallel to such a vector.

    One of all orders, and of e and −e.
    """
    vectors = [v for v in product(range(-size, size + 1), repeat=m) if any(v)]
    found = []
    for e in combinations(vectors, m):
        sums = [(0,) * m]
        for v in e:
            sums += polytopes.minkowski(sums, [v])
        small = all(max(map(abs, v)) <= size * gcd(*v) and any(v) for v in sums[1:])
        if small and sums[-1] > sums[0] and fmpz_mat([[*v] for v in e]).det():
            found.append(e)
    return found


@cache
def pyramids(m: int, size: int):
    """The fans of a window: the form and the class of each pyramid."""
    return [
        [(form, polytopes.facet_class(F)) for form, _, F in polytopes.fan(e)]
        for e in bases(m, size)
    ]


@cache
def rank_of_fans(m: int, size: int, k: int) -> int:
    """The dimension over Q that the θ_k of a window span."""
    twists = (
        [(1, polytopes.twisted(polytopes.power(f, k), c)) for f, c in one]
        for one in pyramids(m, size)
    )
    return rank([polytopes.combined(*terms) for terms in twists])


@cache
def rank_of_pyramids(m: int, size: int, a: int, w=None, vanishing=False) -> int:
    """The dimension over Q that λ^a ⊗ b span, for the pyramids of a window with λ(w) ≠ 0."""
    every = (pyramid for one in pyramids(m, size) for pyramid in one)
    chosen = ((f, c) for f, c in every if w is None or vanishing == (polytopes.dot(f, w) == 0))
    return rank([polytopes.twisted(polytopes.power(f, a), c) for f, c in chosen])


@identity(
    "field.windows-of-fans-and-pyramids",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=windows(),
    mutants={"no window is too small": {"short": {}}, "λ(w) = 0": {"vanishing": True}},
)
def test_windows_of_fans_and_pyramids(m, size, k, w, *, short=SHORT, vanishing=False):
    r"""In windows, fans span all, and so do the pyramids that are not parallel to a vector.

    A window is all bases e of integers up to a size such that all sums of some $e_i$ have the
    directions of integer vectors of this size. Let M be the span of the pyramids b of its fans, with
    their forms $\lambda$ ($\lambda = 1$ on the base, 0 at the apex). Then the $\theta_k(e)$ span
    $S^k V^* \otimes M$, and the $\lambda^{k-1} \otimes b$ with $\lambda(w) \ne 0$ span
    $S^{k-1} V^* \otimes M$, for w with entries 0 and 1: for $m = 2$ with 8 and 16 lines, $1 \le k \le
    4$, and with 4 lines, $k \le 2$, where $\dim M = \text{lines} - 2$; for $m = 3$ with 13 lines,
    $k = 1$, where $\dim M = 12$. Windows that are too small: with 4 lines the fans span 7 of 8
    dimensions for $k = 3$ and 6 of 10 for $k = 4$, and the pyramids 6 of 8 for $k = 4$; with 13 lines
    the fans span 59 of 72 for $k = 2$. All ranks are over $\mathbb Q$, exact.
    """
    fans, slanted = short.get((m, size, k), (0, 0))
    dimension = DIMENSIONS[m, size]
    return (
        eq(rank_of_pyramids(m, size, 0), dimension, label="the pyramids"),
        eq(rank_of_fans(m, size, k), comb(m + k - 1, k) * dimension - fans, label="the fans"),
        eq(
            rank_of_pyramids(m, size, k - 1, w, vanishing),
            comb(m + k - 2, k - 1) * dimension - slanted,
            label="λ(w) ≠ 0",
        ),
    )


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
            chosen.append(over_the_lattice(polytopes.fan_class([e, f], k)))
    return rank(chosen, p)


@identity(
    "field.fans-modulo-primes",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Section 7"),
    instances=windows_modulo_primes(),
    mutants={
        "modulo 2 as modulo other primes": {"missing": 0},
        "determinants ±1 alone": {"integral": True},
    },
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
