"""Own results: support functions, the class of a polytope modulo cuts, translations and products,
wedges, and integrals modulo a prime. All is exact, for polytopes with integer vertices."""

from math import factorial

from rankcheck import eq, identity, paper, polytopes
from rankcheck.instances import Source, instances

from ._two_layers import basis, divided, equal, polytope, product, vector, within


@instances
def cuts_and_sums(source: Source):
    """P and a hyperplane that meets it; polytopes in the spans of e_1, …, e_r and the rest; points."""
    m = source.integer(2, 4)
    first, e = source.integer(1, m - 1), basis(source, m)
    summands = polytope(source, first), polytope(source, m - first)
    return *divided(source, m), *summands, e, [vector(source, m, 3) for _ in range(5)]


@identity(
    "field.support-functions",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Prop. 1"),
    instances=cuts_and_sums(),
    mutants={
        "the common part left out": {"common": 0},
        "the common part twice": {"common": 2},
        "the hull of both": {"summed": lambda P, Q: [*P, *Q]},
    },
)
def test_support_functions(
    P, form, height, Q, R, e, points, *, common=1, summed=polytopes.minkowski
):
    r"""Support functions are additive on cuts, and of products sums of functions of fewer forms.

    Let $h_P(x) = \max_{p \in P} p \cdot x$. If a hyperplane cuts P into $P_1$ and $P_2$, then
    $h_P + h_{P_1 \cap P_2} = h_{P_1} + h_{P_2}$. If Q lies in the span of $e_1, \dots, e_r$ and R in
    that of $e_{r+1}, \dots, e_m$, for a basis e, then $h_{Q+R}(x) = h_Q(e_1 \cdot x, \dots, e_r \cdot
    x) + h_R(e_{r+1} \cdot x, \dots, e_m \cdot x)$, with Q and R in coordinates for the basis on the
    right. Checked exactly at integer points, for integer polytopes, $2 \le m \le 4$.
    """
    below, above = polytopes.cut(P, form, height)
    both = [p for p in below if p in above]
    whole = {x: polytopes.support(P, x) + common * polytopes.support(both, x) for x in points}
    parts = {x: polytopes.support(below, x) + polytopes.support(above, x) for x in points}
    r, forms = len(Q[0]), {x: [polytopes.dot(v, x) for v in e] for x in points}
    total = summed(within(e[:r], Q), within(e[r:], R))
    sums = {x: polytopes.support(total, x) for x in points}
    fewer = {x: polytopes.support(Q, y[:r]) + polytopes.support(R, y[r:]) for x, y in forms.items()}
    return equal(whole, parts, "cuts"), equal(sums, fewer, "products")


@instances
def polytopes_and_products(source: Source):
    """A polytope, a hyperplane that meets it, a translation, and a product, in dimension m ≤ 4."""
    m = source.integer(1, 4, weights=(1, 3, 3, 1))
    return *divided(source, m), vector(source, m), product(source, m)


@instances
def polytopes_in_a_basis(source: Source):
    """A polytope of dimension 2 to 4, and a matrix of determinant 1."""
    m = source.integer(2, 4, weights=(3, 3, 1))
    return polytope(source, m), basis(source, m)


@instances
def forms_over_polytopes(source: Source):
    """A polytope of dimension n ≤ 3 that is cut, a product, a translation, two forms; a matrix."""
    n = source.integer(1, 3, weights=(1, 3, 1))
    vectors = [vector(source, n) for _ in range(3)]
    return *divided(source, n), product(source, n, 0), *vectors, basis(source, n + 1)


@identity(
    "field.class-of-polytopes",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 2"),
    instances=polytopes_and_products(),
    mutants={
        "one part": {"parts": (1, 0)},
        "the difference of the parts": {"parts": (1, -1)},
        "moved and made larger": {"size": 2},
        "a further point beside the product": {"more": 1},
    },
)
def test_class_of_polytopes(P, form, height, v, product, *, parts=(1, 1), size=1, more=0):
    r"""The flags of faces are additive on cuts, invariant under translations, and zero on products.

    For a facet F with the outer form f, $f_m \ne 0$, let $h_F = -(f_1, \dots, f_{m-1})/f_m$ and
    $\pi F$ its projection along the last coordinate. Let
    $\Phi(P) = \sum_F \operatorname{sign}(f_m) [h_F] \otimes \Phi(\pi F)$, down to the lengths of
    segments. Then $\Phi(P) = \Phi(P_1) + \Phi(P_2)$ if a hyperplane cuts P into $P_1$ and $P_2$;
    $\Phi(P + v) = \Phi(P)$; and $\Phi(P + Q) = 0$ if P and Q lie in complementary subspaces of
    dimensions at least one. For integer polytopes with at most seven vertices, and products
    in subspaces that bases of $\mathbb Z^m$ span, $m \le 4$; some hyperplanes pass through vertices
    or hold a facet, and some polytopes are flat.
    """
    whole = polytopes.flag_class(P)
    pieces = [polytopes.flag_class(part) for part in polytopes.cut(P, form, height)]
    cuts = polytopes.combined(*zip(parts, pieces, strict=True))
    moved = polytopes.minkowski([tuple(size * c for c in p) for p in P], [v])
    return (
        equal(whole, cuts, "cuts"),
        equal(whole, polytopes.flag_class(moved), "translations"),
        eq(len(polytopes.flag_class([*product, *[(7,) * len(v)] * more])), 0, label="products"),
    )


def wedge_class(g, h, Q, below=-1):
    """The class of g R(0, h; Q): what is above Q and below the graph of h, minus the converse."""
    up, down = (polytopes.flag_class(polytopes.image(g, P)) for P in polytopes.wedge(Q, h))
    return polytopes.combined((1, up), (below, down))


@identity(
    "field.wedge-formula",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 2"),
    instances=polytopes_in_a_basis(),
    mutants={
        "lower facets with the sign of upper ones": {"lower": 1},
        "the forms −h": {"sign": -1},
    },
)
def test_wedge_formula(P, g, *, lower=-1, sign=1):
    r"""A polytope is the sum of wedges over its upper facets minus that over its lower facets.

    For forms h and polytopes Q of dimension m − 1 let $R(0, h; Q)$ be the class of
    $\{(q, s) : 0 \le s \le h(q)\}$ minus that of $\{(q, s) : h(q) \le s \le 0\}$, $q \in Q$. Then
    $[P] = \sum_F \operatorname{sign}(f_m) R(0, h_F; \pi F)$ over the facets of P, with their outer
    forms f, $f_m \ne 0$, $h_F = -(f_1, \dots, f_{m-1})/f_m$ and the projections $\pi F$ along the last
    coordinate. Compared as in field.class-of-polytopes, after a matrix of determinant 1 that moves this
    coordinate, for integer polytopes of dimension 2 to 4.
    """
    terms = []
    for side, h, F in polytopes.graphs(polytopes.facets(P)):
        part = wedge_class(g, [sign * c for c in h], [p[:-1] for p in F])
        terms.append((side if side > 0 else lower, part))
    return equal(polytopes.flag_class(polytopes.image(g, P)), polytopes.combined(*terms))


@identity(
    "field.wedges",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 2"),
    instances=forms_over_polytopes(),
    mutants={
        "the part below Q added": {"below": 1},
        "a further point beside the product": {"more": 1},
        "the shear left out": {"shear": 0},
    },
    effort=0.4,
)
def test_wedges(Q, form, height, product, v, h, k, g, *, below=-1, more=0, shear=1):
    r"""Wedges are additive, do not change in translations, and are zero over products.

    For $R(0, h; Q)$ of field.wedge-formula: it is the sum of $R(0, h; Q_i)$ if a hyperplane cuts Q
    into $Q_1$ and $Q_2$; $R(0, h; Q + v) = R(0, h; Q)$; $R(0, h; P + Q) = 0$ if P and Q lie in
    complementary subspaces; and $R(0, k; Q) - R(0, h; Q)$ is the image of $R(0, k - h; Q)$ under
    $(q, s) \mapsto (q, s + h(q))$. Compared as there, for integer polytopes Q of dimension 1 to 3.
    """

    def R(h, Q, g=g):
        return wedge_class(g, h, Q, below)

    whole = R(h, Q)
    parts = polytopes.combined(*((1, R(h, part)) for part in polytopes.cut(Q, form, height)))
    # The matrix of g after the shear: e_i goes to e_i + h_i w.
    after = [(*polytopes.on_graph(row, [shear * c for c in h]), row[-1]) for row in g]
    difference = R([b - a for a, b in zip(h, k, strict=True)], Q, after)
    sheared = polytopes.combined((1, R(k, Q)), (-1, whole))
    return (
        equal(whole, parts, "cuts"),
        equal(whole, R(h, polytopes.minkowski(Q, [v])), "translations"),
        equal(sheared, difference, "shears"),
        eq(len(R(h, [*product, *[(7,) * len(v)] * more])), 0, label="products"),
    )


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
        "moved and made larger": {"size": 2},
        "zero at k = N − p + 1, too": {"last": 1},
        "not zero at k = N − p": {"last": -1},
        "without the factor m": {"factor": 0},
    },
)
def test_functional_modulo_a_prime(
    p, N, product, P, form, v, e, *, more=0, beside=0, size=1, last=0, factor=1
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
    Not checked here: that F is whole, additive on cuts, and 1 on that simplex.
    """
    m, k, further = len(v), N - len(v), [(7,) * len(v)] * beside
    moved = polytopes.minkowski([tuple(size * c for c in x) for x in P], [v])
    of_product, here, there = (
        int(polytopes.moment(Q, form, k + more).p) % p for Q in ([*product, *further], P, moved)
    )
    of_fan = sum(int(polytopes.moment(Q, x, k).p) for x, Q, _ in polytopes.fan(e))
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
)
def test_functional_of_wedges(Q, h, form, k, *, more=1, below=-1):
    r"""The integral over a wedge is one over its base, of a power more.

    With $F(\lambda^k \otimes P) = ((m + k)!/k!) \int_P \lambda^k$, $\dim P = m$, and for
    $\lambda = (\mu, z)$: z times F of $\lambda^k$ and the wedge between Q and the graph of h is
    $F((\mu + z h)^{k+1} \otimes Q) - F(\mu^{k+1} \otimes Q)$, which is $F(z \kappa_{k+1})$ in dimension
    $m - 1$. So the functional of twist k in dimension m is that of twist k + 1 in dimension m − 1.
    For integer polytopes Q of dimension at most 3 and $k \le 5$.
    """
    up, down = polytopes.wedge(Q, h)
    whole = polytopes.moment(up, form, k) + below * polytopes.moment(down, form, k)
    top, bottom = (
        polytopes.moment(Q, f, k + more) for f in (polytopes.on_graph(form, h), form[:-1])
    )
    return equal({0: form[-1] * whole}, {0: top - bottom})
