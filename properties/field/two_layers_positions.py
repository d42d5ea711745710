"""The facets that the induction of docs/proofs/two-hidden-layers.md uses: where they lie, and what
the lifts of pyramids and fans are there.

V is ℚ^m, w its last unit vector and U the span of the others, on which η vanishes; η(w) = 1."""

from math import comb

from rankcheck import eq, identity, paper, polytopes
from rankcheck.instances import Source, instances

from ._two_layers import basis, kappa, side_by_side, units, vector, within


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
    """Of the lift of Σ λ^k ⊗ β what stands at the h with h(v) = 0, and what is expected there.

    That is at h = 0, with coefficients of the powers of η, the pyramid of the unit vectors of U.
    Keys are h, λ on the graph of h and the power of η − h, and the facet.
    """

    def powers(form, h):
        orders = range(k + 1) if polytopes.dot(h, v) == 0 else ()
        return {(h, polytopes.on_graph(form, h), j): comb(k, j) * form[-1] ** j for j in orders}

    form, points, _ = next(polytopes.fan(units(len(v))))
    at_zero = {((0,) * len(v), form, j): c for j, c in expected.items()}
    return side_by_side(lift(pyramids, powers), polytopes.twisted(at_zero, {frozenset(points): 1}))


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
    return eq(*isolated([b], a, v, expected), label="at h(v) = 0")


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
    return eq(*isolated(pyramids, k, v, expected), label="at h(v) = 0")


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
        eq(*side_by_side(pyramid, polytopes.combined(*fans)), label="the pyramid"),
        eq(
            *side_by_side(whole, polytopes.combined(*fans, (k + more, theta(k + 1, k + 1)))),
            label="the fan",
        ),
        eq(
            *side_by_side(without, polytopes.combined((-1, theta(graph, k)))), label="no power of η"
        ),
    )
