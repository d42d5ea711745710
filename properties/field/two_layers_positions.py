"""The facets that the induction of docs/proofs/two-hidden-layers.md uses: where they lie, and what
the lifts of pyramids and fans are there.

V is ℚ^m, w its last unit vector and V' the span of the others, on which o vanishes; o(w) = 1."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

from flint import fmpq_mat

from rankcheck import eq, identity, paper
from rankcheck.instances.source import Source, instances

from ._two_layers import aligned, kappa


def unit(i, m):
    """The unit vector number i."""
    return tuple(int(i == j) for j in range(m))


def plus(x, y, c=1):
    """x + c y."""
    return tuple(a + c * b for a, b in zip(x, y, strict=True))


def at(form, x):
    """The value of a form at a vector."""
    return sum(a * b for a, b in zip(form, x, strict=True))


def dual(basis):
    """The dual basis."""
    columns = fmpq_mat([[*e] for e in basis]).inv().transpose().tolist()
    return [tuple(Fraction(int(c.p), int(c.q)) for c in form) for form in columns]


def pyramid(basis, i):
    """The vertices of β_i = {0 ≤ x_j ≤ x_i ≤ 1 for all j}, in order; x are coordinates of a basis."""
    m = len(basis)
    weights = [(0,) * m, *(c for c in product((0, 1), repeat=m) if c[i])]
    return tuple(sorted(tuple(at(c, row) for row in zip(*basis, strict=True)) for c in weights))


def lift(basis, i, keep=lambda h: True):
    """The facets of β_i that are not parallel to w: ε_F, h_F, and the vertices projected along w."""
    x = dual(basis)
    others, vertices = [form for form in x if form != x[i]], pyramid(basis, i)
    outer = [x[i], *(plus(f, f, -2) for f in others), *(plus(f, x[i], -1) for f in others)]
    for *form, slope in outer:
        h = tuple(-c / slope for c in form) if slope else None
        if h is not None and keep(h):
            values = [at((*form, slope), x) for x in vertices]
            face = (x[:-1] for x, c in zip(vertices, values, strict=True) if c == max(values))
            yield (1 if slope > 0 else -1), h, tuple(sorted(face))


def isolated(terms, k, v):
    """Of the lift of Σ λ^k ⊗ β_i what stands at the h with h(v) = 0, in powers of o.

    The terms are bases and numbers i; λ is the form of β_i. Keys are h, λ on the graph of h, the
    facet and the power of o_h.
    """
    found: Counter[object] = Counter()
    for basis, i in terms:
        *mu, z = dual(basis)[i]
        for sign, h, face in lift(basis, i, lambda h: at(h, v) == 0):
            for j in range(k + 1):
                found[h, plus(mu, h, z), face, j] += sign * comb(k, j) * z**j
    return {key: c for key, c in found.items() if c}


@instances
def directions(source: Source, *, least: int = 0, apart: bool = True):
    """A power, from `least` to 4, and the coordinates of v in p and in up to five edges of a base.

    The first one is zero if not `apart`; the others are often zero, or equal to it.
    """
    power, edges = source.integer(least, 4), source.integer(0, 5)
    first = source.choice((1, -1, 2, -3)) if apart else 0
    others = (source.choice((first, 0, -first, 1, 2), (3, 2, 1, 1, 1)) for _ in range(edges))
    return power, (first, *others)


def like_the_first(v):
    """The places, from 0 on behind the first coordinate of v, of those equal to it."""
    return [j for j, c in enumerate(v[1:]) if c == v[0]]


def above(v):
    """w + v."""
    return (*v, 1)


def above_the_corner(v):
    """w + p."""
    return (1, *(0 for _ in v[1:]), 1)


NO_BATCH = "an instance is a list of integers: a batch would hold copies of it"


@identity(
    "field.position-of-a-pyramid",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=directions(),
    needs={"λ'(v) ≠ 0": directions(apart=False)},
    mutants={"w + p for w + v": {"last": above_the_corner}},
    no_batch=NO_BATCH,
)
def test_position_of_a_pyramid(a, v, *, last=above):
    r"""Every pyramid of V′ is a facet of a pyramid of V, and alone where exponents vanish at v.

    Let $b' = b(p; e_2, \dots, e_{m-1})$ be a pyramid of V′, λ′ its form and
    $\alpha = \lambda'(v) \ne 0$. With $e_m = w + v$ let $b = b(p; e_2, \dots, e_m)$, with the form λ. Of
    the facets F of b, with the outer form f, one alone has $f(w) \ne 0$ and
    $h_F(v) = -f(v)/f(w) = 0$. It is $b'$, with $h_F = 0$ and the sign −, and
    $\lambda = -\alpha o + \lambda'$: the terms of the lift of $\lambda^a \otimes b$ at the h with
    $h(v) = 0$ are $-[0] \otimes \sum_j \binom aj (-\alpha)^j o^j \lambda'^{a-j} \otimes b'$.

    Facets come from the inequalities $0 \le x_j \le x_1 \le 1$, and are compared by their vertices, for
    $2 \le m \le 7$ and $a \le 4$. With $e_m = w + p$ it is false where v has an edge's coordinate
    equal to that of p.
    """
    n = len(v)
    p, *edges = [(*unit(i, n), 0) for i in range(n)]
    base = pyramid([e[:-1] for e in (p, *edges)], 0)
    expected = {((0,) * n, unit(0, n), base, j): -((-v[0]) ** j) * comb(a, j) for j in range(a + 1)}
    found = isolated([([p, *edges, last(v)], 0)], a, v)
    return eq(*aligned(found, expected), label="at h(v) = 0")


@identity(
    "field.position-of-a-fan",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=directions(least=1),
    needs={"λ'(v) ≠ 0": directions(least=1, apart=False)},
    mutants={"at the same corner": {"places": lambda _: []}},
    no_batch=NO_BATCH,
)
def test_position_of_a_fan(k, v, *, places=like_the_first):
    r"""In every pyramid of V′ two of a fan of V meet, and it is alone where exponents vanish at v.

    Let $b' = b(p; e_3, \dots, e_m)$ be a pyramid of V′, λ′ its form and
    $v = \alpha p + \sum_i \gamma_i e_i$, $\alpha \ne 0$. Another corner $p + e_i$, with the edge $-e_i$,
    makes $\alpha - \gamma_i = 0$ of each $\gamma_i = \alpha$. Then let $e_1 = w$, $e_2 = p - w$. The terms
    of the lift of $\theta_k = \sum_i (e^i)^k \otimes \beta_i$ at the h with $h(v) = 0$ are
    $-[0] \otimes \sum_{j=1}^k \binom kj o^j \lambda'^{k-j} \otimes b'$, from the facet
    $x_1 = x_2$ of $\beta_1$ and of $\beta_2$: the powers of λ′ alone cancel.

    Facets come from the inequalities $0 \le x_j \le x_i \le 1$, and are compared by their vertices, for
    $2 \le m \le 7$ and $k \le 4$. At the same corner it is false where a $\gamma_i$ is α.
    """
    n = len(v)
    p, *edges = [(*unit(i, n), 0) for i in range(n)]
    base = pyramid([e[:-1] for e in (p, *edges)], 0)
    for j in places(v):
        p, edges[j] = plus(p, edges[j]), plus(edges[j], edges[j], -2)
    w = unit(n, n + 1)
    basis = [w, plus(p, w, -1), *edges]
    expected = {((0,) * n, unit(0, n), base, j): -comb(k, j) for j in range(1, k + 1)}
    found = isolated([(basis, i) for i in range(n + 1)], k, v)
    return eq(*aligned(found, expected), label="at h(v) = 0")


@instances
def bases(source: Source):
    """k ≥ 1, a basis e_1, …, e_{m−1}, w of V, and a point of V', all of integers."""
    k, n = source.integer(1, 4), source.integer(1, 4)
    rows = [(*unit(i, n)[: i + 1], *(source.integer(-2, 2) for _ in range(i, n))) for i in range(n)]
    return k, (*rows, unit(n, n + 1)), tuple(source.integer(-2, 2) for _ in range(n))


def turned(basis, i):
    """−h for h."""
    return ((sign, plus(h, h, -2), face) for sign, h, face in lift(basis, i))


@identity(
    "field.lifts-along-an-edge",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=bases(),
    mutants={"the exponents −h": {"lift": turned}, "(k + 1) θ_{k+1}": {"more": 1}},
    no_batch=NO_BATCH,
)
def test_lifts_along_an_edge(k, basis, x, *, lift=lift, more=0):
    r"""Along an edge, κ makes fans of the lifts of pyramids and of fans.

    Let $e_1, \dots, e_n, w$ be a basis of V, $e'_i$ the projections of the $e_i$ to V′ along w, and
    $\theta_q = \theta_q(e'_1, \dots, e'_n)$ in $S^q V'^* \otimes M_n(V')$. The pyramid
    $b = b(w; e_1, \dots, e_n)$ with the form λ and the fan $\theta_k(e_1, \dots, e_n, w)$ have lifts x of
    $\lambda^{k-1} \otimes b$ and y with
    $$\kappa_q(x) = -\theta_q, \ 1 \le q \le k; \qquad \kappa_q(y) = -\theta_q, \ 1 \le q \le k;
    \qquad \kappa_{k+1}(y) = k \, \theta_{k+1}.$$
    In y the terms without $o_h$ are $-[g] \otimes \theta_k$, where the graph of g contains
    $e_1, \dots, e_n$.

    Polynomials are compared at a point of V′, in $M_n(V')$ the pyramids $\beta'_i$ of the $e'_i$ are
    symbols, and the cube is their sum, for $2 \le m \le 5$ and $k \le 4$. The $e_i$ need not lie in V′.
    """
    n = len(x)
    shadows = [e[:-1] for e in basis[:-1]]
    coordinates = dual(shadows)
    faces = {pyramid(shadows, i): [i] for i in range(n)}
    faces[tuple(sorted({c for face in faces for c in face}))] = [*range(n)]
    terms = {
        i: [(sign, mu, z, h, j) for sign, h, face in lift(basis, i) for j in faces[face]]
        for i, (*mu, z) in enumerate(dual(basis))
    }
    every = [term for i in terms for term in terms[i]]

    def kappas(terms, a):
        found: Counter[object] = Counter()
        for sign, mu, z, h, j in terms:
            for q in range(1, a + 2):
                found[q, j] += sign * kappa(q, a, z, at(mu, x), at(h, x))
        return found

    fan = {(q, j): -(at(e, x) ** q) for q in range(1, k + 1) for j, e in enumerate(coordinates)}
    last = {(k + 1, j): (k + more) * at(e, x) ** (k + 1) for j, e in enumerate(coordinates)}
    without: Counter[object] = Counter()
    for sign, mu, z, h, j in every:
        without[h, j] += sign * at(plus(mu, h, z), x) ** k
    heights = [e[-1] for e in basis[:-1]]
    graph = tuple(at(heights, column) for column in zip(*coordinates, strict=True))
    return (
        eq(*aligned(kappas(terms[n], k - 1), fan), label="the pyramid"),
        eq(*aligned(kappas(every, k), fan | last), label="the fan"),
        eq(*aligned(without, {(graph, j): fan[k, j] for j in range(n)}), label="no power of o"),
    )
