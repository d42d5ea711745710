"""Own results: fans of pyramids in a cube, what fans and pyramids span in windows, and the facets that
the induction of docs/proofs/two-hidden-layers.md uses: where they lie, and what the lifts of pyramids
and fans are there.

V is ℚ^m, w its last unit vector and U the span of the others, on which η vanishes; η(w) = 1."""

from functools import cache
from itertools import combinations, permutations, product
from math import comb, gcd

from flint import fmpz_mat

from rankcheck import eq, identity, paper, polytopes
from rankcheck.instances import Source, instances

from ._two_layers import basis, equal, kappa, rank, units, vector, within

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
    mutants={"with their forms": {"twist": 1}, "the power of the least coordinate": {"place": -1}},
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
        simplex_class = polytopes.flag_class(simplex)
        simplices.append((1, polytopes.twisted(polytopes.power(x, k), simplex_class)))
    return (
        eq(len(polytopes.fan_class(e, twist)), 0, label="the pyramids"),
        equal(polytopes.fan_class(e, k), polytopes.combined(*simplices), "the simplices"),
    )


@cache
def window_bases(m: int, size: int):
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
def window_pyramids(m: int, size: int):
    """The pyramids of the fans of a window: the form and the class of each."""
    fans = map(polytopes.fan, window_bases(m, size))
    return [(form, polytopes.facet_class(F)) for fan in fans for form, _, F in fan]


@cache
def rank_of_fans(m: int, size: int, k: int) -> int:
    """The dimension over Q that the θ_k of a window span."""
    return rank([polytopes.fan_class(e, k) for e in window_bases(m, size)])


@cache
def rank_of_pyramids(m: int, size: int, a: int, w=None, vanishing=False) -> int:
    """The dimension over Q that λ^a ⊗ b span, for the pyramids of a window with λ(w) ≠ 0."""
    chosen = (
        polytopes.twisted(polytopes.power(f, a), c)
        for f, c in window_pyramids(m, size)
        if w is None or vanishing == (polytopes.dot(f, w) == 0)
    )
    return rank([*chosen])


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
    for e, f in window_bases(2, size):
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


def lift(pyramids, at, shadow=lambda F: {F: 1}):
    """The lift of Σ λ^k ⊗ β: of each facet F its sign, what is `at` its λ and h, and its shadow.

    F is given to `shadow` by its points projected along w.
    """
    return polytopes.combined(
        *(
            (sign, polytopes.twisted(at(form, h), shadow(frozenset(p[:-1] for p in F))))
            for form, _, facets in pyramids
            for sign, h, F in polytopes.graphs(facets)
        )
    )


def isolated(pyramids, k, v, expected):
    """What stands in the lift of Σ λ^k ⊗ β at the h with h(v) = 0 is what is expected there.

    That is at h = 0, with coefficients of the powers of η, the pyramid of the unit vectors of U.
    Keys are h, λ on the graph of h and the power of η − h, and the facet.
    """

    def powers(form, h):
        orders = range(k + 1) if polytopes.dot(h, v) == 0 else ()
        return {(h, polytopes.on_graph(form, h), j): comb(k, j) * form[-1] ** j for j in orders}

    form, points, _ = next(polytopes.fan(units(len(v))))
    at_zero = {((0,) * len(v), form, j): c for j, c in expected.items()}
    alone = polytopes.twisted(at_zero, {frozenset(points): 1})
    return equal(lift(pyramids, powers), alone, "at h(v) = 0")


@instances
def directions(source: Source, *, least: int = 0, apart: bool = True):
    """A power, from `least` to 4, and the coordinates of v in p and in up to five edges of a base.

    The first one is zero if not `apart`; the others are often zero, or equal to it.
    """
    power, edges = source.integer(least, 4), source.integer(0, 5)
    first = source.choice((1, -1, 2, -3)) if apart else 0
    others = (source.choice((first, 0, -first, 1, 2), (3, 2, 1, 1, 1)) for _ in range(edges))
    return power, (first, *others)


@identity(
    "field.position-of-a-pyramid",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=directions(),
    needs={"λ'(v) ≠ 0": directions(apart=False)},
    mutants={"w + p for w + v": {"last": lambda v: (1, *(0 for _ in v[1:]), 1)}},
)
def test_position_of_a_pyramid(a, v, *, last=lambda v: (*v, 1)):
    r"""Every pyramid of U is a facet of a pyramid of V, and alone where exponents vanish at v.

    Let $b' = b(p; e_2, \dots, e_{m-1})$ be a pyramid of U, λ′ its form and
    $\alpha = \lambda'(v) \ne 0$. With $e_m = w + v$ let $b = b(p; e_2, \dots, e_m)$, with the form λ. Of
    the facets F of b, with the outer form f, one alone has $f(w) \ne 0$ and
    $h_F(v) = -f(v)/f(w) = 0$. It is $b'$, with $h_F = 0$ and the sign −, and
    $\lambda = -\alpha \eta + \lambda'$: the terms of the lift of $\lambda^a \otimes b$ at the h with
    $h(v) = 0$ are $-[0] \otimes \sum_j \binom aj (-\alpha)^j \eta^j \lambda'^{a-j} \otimes b'$.

    Facets come from the inequalities of pyramids, and are compared by their vertices, for $2 \le m
    \le 7$, $a \le 4$. With $e_m = w + p$ it is false where v has an edge's coordinate equal to that of p,
    and for $a \ge 1$ where $\alpha \ne 1$.
    """
    b = next(polytopes.fan([*units(len(v) + 1)[:-1], last(v)]))
    expected = {j: -((-v[0]) ** j) * comb(a, j) for j in range(a + 1)}
    return isolated([b], a, v, expected)


@identity(
    "field.position-of-a-fan",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=directions(least=1),
    needs={"λ'(v) ≠ 0": directions(least=1, apart=False)},
    mutants={"at the same corner": {"opposite": lambda first, c: False}},
)
def test_position_of_a_fan(k, v, *, opposite=lambda first, c: c == first):
    r"""In every pyramid of U two of a fan of V meet, and it is alone where exponents vanish at v.

    Let $b' = b(p; e_3, \dots, e_m)$ be a pyramid of U, λ′ its form and
    $v = \alpha p + \sum_i \gamma_i e_i$, $\alpha \ne 0$. Another corner $p + e_i$, with the edge $-e_i$,
    makes $\alpha - \gamma_i = 0$ of each $\gamma_i = \alpha$. Then let $e_1 = w$, $e_2 = p - w$. The terms
    of the lift of $\theta_k = \sum_i (e^i)^k \otimes \beta_i$ at the h with $h(v) = 0$ are
    $-[0] \otimes \sum_{j=1}^k \binom kj \eta^j \lambda'^{k-j} \otimes b'$, from the facet
    $x_1 = x_2$ of $\beta_1$ and of $\beta_2$: the powers of λ′ alone cancel.

    Compared as in field.position-of-a-pyramid, for $2 \le m \le 7$ and $k \le 4$. At the same corner it is false where a $\gamma_i$ is α.
    """
    _, *edges, w = units(len(v) + 1)
    turned = [int(opposite(v[0], c)) for c in v[1:]]
    edges = [tuple((1 - 2 * t) * c for c in e) for t, e in zip(turned, edges, strict=True)]
    expected = {j: -comb(k, j) for j in range(1, k + 1)}
    pyramids = polytopes.fan([w, (1, *turned, -1), *edges])
    return isolated(pyramids, k, v, expected)


@instances
def bases(source: Source):
    """k ≥ 1, e_1, …, e_n that are with w a basis of V, and a point of U, all of integers."""
    k, n = source.integer(1, 4), source.integer(1, 4)
    e = [(*shadow, source.integer(-2, 2)) for shadow in basis(source, n)]
    return k, e, vector(source, n)


@identity(
    "field.lifts-along-an-edge",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=bases(),
    mutants={"the exponents −h": {"turn": -1}, "(k + 1) θ_{k+1}": {"more": 1}},
)
def test_lifts_along_an_edge(k, e, x, *, turn=1, more=0):
    r"""Along an edge, κ makes fans of the lifts of pyramids and of fans.

    Let $e_1, \dots, e_n, w$ be a basis of V, $e'_i$ the projections of the $e_i$ to U along w, and
    $\theta_q = \theta_q(e'_1, \dots, e'_n)$ in $S^q U^* \otimes M(U)$. The pyramid
    $b = b(w; e_1, \dots, e_n)$ with the form λ and the fan $\theta_k(e_1, \dots, e_n, w)$ have lifts x of
    $\lambda^{k-1} \otimes b$ and y with
    $$\kappa_q(x) = -\theta_q, \ 1 \le q \le k; \qquad \kappa_q(y) = -\theta_q, \ 1 \le q \le k;
    \qquad \kappa_{k+1}(y) = k \, \theta_{k+1}.$$
    With what stands beside $[h]$ in powers of $\eta - h$, for each h, the terms of y without them are
    $-[g] \otimes \theta_k$, where the graph of g contains $e_1, \dots, e_n$.

    Polynomials are compared at a point of U, in $M(U)$ the pyramids $\beta'_i$ of the $e'_i$ are
    symbols, and the cube is their sum, for $2 \le m \le 5$ and $k \le 4$. The $e_i$ need not lie in U.
    """
    n = len(x)
    forms, points, _ = zip(*polytopes.fan([c[:-1] for c in e]), strict=True)
    parts = [frozenset(P) for P in points]
    shadows = {P: {P: 1} for P in parts} | {frozenset().union(*parts): dict.fromkeys(parts, 1)}
    pyramids = list(polytopes.fan([*e, units(n + 1)[-1]]))

    def lifted(pyramids, at):
        return lift(pyramids, lambda f, h: at(f, tuple(turn * c for c in h)), shadows.__getitem__)

    def kappas(a):
        return lambda f, h: {
            q: kappa(q, a, f[-1], polytopes.dot(f[:-1], x), polytopes.dot(h, x))
            for q in range(1, a + 2)
        }

    def theta(key, q):
        return {(key, P): polytopes.dot(f, x) ** q for f, P in zip(forms, parts, strict=True)}

    fans = [(-1, theta(q, q)) for q in range(1, k + 1)]
    pyramid, whole = lifted(pyramids[n:], kappas(k - 1)), lifted(pyramids, kappas(k))
    (graph,) = within(forms, [tuple(c[-1] for c in e)])
    without = lifted(pyramids, lambda f, h: {h: polytopes.dot(polytopes.on_graph(f, h), x) ** k})
    return (
        equal(pyramid, polytopes.combined(*fans), "the pyramid"),
        equal(whole, polytopes.combined(*fans, (k + more, theta(k + 1, k + 1))), "the fan"),
        equal(without, polytopes.combined((-1, theta(graph, k))), "no power of η"),
    )
