"""The algebra of the criterion on docs/proofs/two-hidden-layers.md: isolated terms, ideals that
scaling maps to themselves, and what is left of twisted wedges where all shears act trivially."""

from itertools import pairwise, product
from math import comb, factorial, gcd, lcm, prod

import torch
from flint import Ordering, fmpz_mpoly_ctx, fmpz_mpoly_vec

from rankcheck import eq, identity, lt, paper, polytopes
from rankcheck.instances import Source, instances

from ._two_layers import equal, kappa, rank

#: Polynomials in two variables; the exponents of the instances are drawn from 0 on.
RING = fmpz_mpoly_ctx.get(("x", "y"), Ordering.degrevlex)
ZERO, ONE = RING.constant(0), RING.constant(1)
DIRECTIONS = ((1, 0), (1, 1), (1, -1), (0, 1), (2, -1))


@instances
def exponents_apart(source: Source, *, apart: bool = True):
    """a, v and h_0, …, h_r of ℤ² with h_i(v) ≠ h_0(v) for all i ≥ 1.

    If not `apart`, for not all, but h_i ≠ h_0.
    """
    a, r, v = source.integer(0, 3), source.integer(1 - apart, 2), source.choice(DIRECTIONS)
    h = [(source.integer(0, 2), source.integer(0, 2)) for _ in range(r + 1)]
    first, *others = (x * v[0] + y * v[1] for x, y in h)
    source.require(torch.tensor((first not in others) == apart), "the exponents are apart at v")
    source.require(torch.tensor(h[0] not in h[1:]), "h_0 is no other exponent")
    return a, v, h


def shifts(monomials, order):
    """The coefficients of Π (τ − X)^order, over the monomials X, at τ⁰, τ¹, …."""
    coefficients = [ONE]
    for X in [X for X in monomials for _ in range(order)]:
        behind, before = [*coefficients, ZERO], [ZERO, *coefficients]
        coefficients = [up - X * same for up, same in zip(before, behind, strict=True)]
    return coefficients


def shifted(steps, X, degree):
    """X^{−t} Σ_s c_s τ^s (X^t t^degree) at t = 0, …, degree."""
    return [
        sum((c * X**s * (t + s) ** degree for s, c in enumerate(steps)), ZERO)
        for t in range(degree + 1)
    ]


def leading(values):
    """n! times the coefficient of t^n of the polynomial with these values at t = 0, …, n."""
    while len(values) > 1:
        values = [after - before for before, after in pairwise(values)]
    return values[0]


def along(terms, g):
    """The image of a sum modulo a primitive g, in ℚ[ℤ]: its coefficients that are not zero."""
    return polytopes.combined(*((c, {x * g[1] - y * g[0]: 1}) for (x, y), c in terms.items()))


@identity(
    "field.isolation-of-a-term",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 4"),
    instances=exponents_apart(),
    needs={"apart at v": exponents_apart(apart=False)},
    mutants={"the power a of the operator": {"extra": 0}},
    effort=3,
)
def test_isolation_of_a_term(a, v, h, *, extra=1):
    r"""A shift operator isolates the term of an exponent that is apart from the others.

    Let $F(t) = \sum_{i=0}^r X_i^t q_i(t)$, $X_i = [h_i]$ in $A = \mathbb Z[\mathbb Z^2]$, with polynomials
    $q_i$ of degree at most a over an A-module, and $(\tau F)(t) = F(t + 1)$. Then
    $\prod_{i \ge 1} (\tau - X_i)^{a+1}$ kills the terms $i \ge 1$, and makes of $X_0^t t^n$ a product
    $X_0^t \, (u t^n + \dots)$ of degree $n$ with $u = \prod_{i \ge 1} (X_0 - X_i)^{a+1}$. If
    $h_i(v) \ne h_0(v)$ for all $i \ge 1$, then u does not vanish under $[h] \mapsto [h(v)]$.

    Checked on $t^n$, $n \le a \le 3$, at $t = 0, \dots, n$, for $r \le 2$, where the values are
    polynomials in t of degree at most n; $h_0$ is any of the exponents, and the others may be equal.
    Linear algebra does the rest, and is not checked: with $q_0(t) = \sum_j t^{a-j} z_j$, a submodule
    that contains $F(1), F(2), \dots$ contains $u^{j+1} z_j$.
    """
    monomials = [RING.from_dict({e: 1}) for e in h]
    u = (prod((monomials[0] - X for X in monomials[1:]), start=ONE) ** (a + 1)).to_dict()
    steps = shifts(monomials[1:], a + extra)
    terms = {(i, n): shifted(steps, X, n) for i, X in enumerate(monomials) for n in range(a + 1)}
    left = {
        (i, n, t, *e): c
        for (i, n), values in terms.items()
        for t, value in enumerate(values if i else [leading(values)])
        for e, c in value.to_dict().items()
    }
    isolated = {(0, n, 0, *e): factorial(n) * c for n in range(a + 1) for e, c in u.items()}
    at_v = along(u, (-v[1], v[0]))
    return equal(left, isolated, "the terms"), lt(0, len(at_v), label="u at v")


@instances
def sums_of_points(source: Source, *, apart: bool = True):
    """Σ c_i [h_i] over three or four points h_i of {0, 1, 2}², h_0 the first, which is in no p_v.

    If not `apart`, it is in one. All h_i − h_0 are primitive, and most sums of coefficients zero.
    """
    grid, size = [(i, j) for i in range(3) for j in range(3)], source.integer(3, 4)
    h = [source.choice(grid)]
    free = [p for p, g in zip(grid, differences([*h, *grid]), strict=True) if gcd(*g) == 1]
    h += [free.pop(source.integer(0, len(free) - 1)) for _ in range(size - 1)]
    c = [source.choice((1, -1, 2, -2)) for _ in range(size - 1)]
    first = source.choice((0, 1), weights=(7, 1)) - sum(c)
    source.require(torch.tensor(first != 0), "the first coefficient is not zero")
    terms = dict(zip(h, [first, *c], strict=True))
    in_none = all(along(terms, g) for g in differences(terms))
    source.require(torch.tensor(in_none == apart), "it is in no p_v")
    return terms


def differences(points):
    """h_i − h_0 for i ≥ 1."""
    (x, y), *others = points
    return [(a - x, b - y) for a, b in others]


def level(terms):
    """N such that the proof divides the exponents by N."""
    images = [sorted(along(terms, g)) for g in differences(terms)]
    steps = [place - image[0] for image in images for place in image[1:]]
    return lcm(*steps)


def powers_in_the_ideal(terms, r, N, copies):
    """Of (x^N − 1)^i (y^N − 1)^{r−i}, how many the ideal contains that the first copies generate.

    The ideal is one of Laurent polynomials: a product counts if the ideal contains it times (xy)^9.
    """
    x, y = RING.gens()
    scaled = [
        RING.from_dict({(k * a, k * b): c for (a, b), c in terms.items()})
        for k in range(1, copies + 1)
    ]
    basis = fmpz_mpoly_vec(scaled, RING).buchberger_naive().autoreduction()
    products = ((x * y) ** 9 * (x**N - 1) ** i * (y**N - 1) ** (r - i) for i in range(r + 1))
    return sum(
        {*map(str, fmpz_mpoly_vec([*basis, p], RING).autoreduction())} == {*map(str, basis)}
        for p in products
    )


@identity(
    "field.ideals-stable-under-scaling",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 3"),
    instances=sums_of_points(),
    needs={"in no p_v": sums_of_points(apart=False)},
    mutants={
        "the power r − 1": {"less": 1},
        "one lattice, without division": {"at": lambda _: 1},
        "the sum alone, without scaled copies": {"copies": lambda _: 1},
    },
    effort=3,
)
def test_ideals_stable_under_scaling(terms, *, less=0, at=level, copies=len):
    r"""An ideal that scaling maps to itself contains a power of the augmentation ideal.

    Let $\xi = \sum_{i=0}^s c_i [h_i]$ in $\mathbb Q[\mathbb Z^2]$ with $c_i \ne 0$ and primitive
    $g_i = h_i - h_0$, and let the image of ξ in $\mathbb Q[\mathbb Z^2 / \mathbb Z g_i] \cong \mathbb Q[\mathbb Z]$
    have $m_i + 1 \ge 1$ terms for each i: so ξ is in no $p_v$, the kernel of $[h] \mapsto [h(v)]$ for
    $v \ne 0$. Then the ideal of its copies $\sum_i c_i [k h_i]$, $k = 1, \dots, s + 1$, contains
    $([N, 0] - 1)^i \, ([0, N] - 1)^{r-i}$ for $0 \le i \le r = m_1 + \dots + m_s$. N is a common
    multiple of the steps between the exponents of an image: it is what the proof divides by. Where all
    exponents may be divided, in $\mathbb Q[\mathbb Q^2]$, this holds for N = 1 as well; over one lattice it
    does not.

    Checked with Gröbner bases, for three or four points of $\{0, 1, 2\}^2$. The lemma is for all ideals
    J and any number of dimensions; its proof is on docs/proofs/two-hidden-layers.md, by induction on
    this number, and this is the step from one to two. By a shift operator J contains
    $\prod_i ([g_i] - 1)$, so the product of the kernels $I_i$ of $\mathbb Q[\mathbb Q^2] \to
    \mathbb Q[\mathbb Q^2 / \mathbb Q g_i]$; by induction $I^{m_i} \subset J + I_i$ for the augmentation
    ideal I; so $I^r \subset J$.
    """
    r = max(sum(len(along(terms, g)) - 1 for g in differences(terms)) - less, 0)
    return eq(powers_in_the_ideal(terms, r, at(terms), copies(terms)), r + 1)


@instances
def forms_and_shears(source: Source):
    """a ≤ 3, and whole numbers: z, c, at a point the values of μ and of three shears, and t ≥ 1."""
    a, numbers = source.integer(0, 3), torch.round(source.tensor(6, low=-4.0, high=4.0))
    return a, numbers, 1 + torch.round(source.tensor(low=0.0, high=3.0))


def undivided(q, a, z, mu, h):
    """(μ + zh)^{a+1} − μ^{a+1} for κ_{a+1}, not divided by z."""
    return kappa(q, a, z, mu, h) * (z if q > a else 1)


@identity(
    "field.coinvariants-of-wedges",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 5"),
    instances=forms_and_shears(),
    mutants={
        "κ_{a+1} outside of I": {"difference": 0},
        "κ_{a+2}": {"top": 2},
        "κ_{a+1} not divided by z": {"kappa": undivided},
    },
)
def test_coinvariants_of_wedges(a, numbers, t, *, difference=1, top=1, kappa=kappa):
    r"""The maps κ_q are linear and do not change under shears.

    $\kappa_q(\lambda^a \otimes [h]) = z^{a-q} (\mu + zh)^q$ for $\lambda = z\eta + \mu$ and
    $1 \le q \le a$, and $z^{-1} ((\mu + zh)^{a+1} - \mu^{a+1})$ for $q = a + 1$, is a polynomial in
    λ and h, and homogeneous of degree a in λ: a linear map of $S^a V^* \otimes I$. A shear g, which
    maps z, μ, h to z, $\mu - zg$, $h + g$, keeps $\kappa_q(\lambda^a \otimes ([h] - [h']))$. A scaling
    by t, which maps them to $z/t$, μ, $th$, multiplies it by $t^{q-a}$. And
    $\kappa_q(\eta^a \otimes ([h] - [0])) = h^q$, so that κ is onto.

    Compared for $a \le 3$ by values at a point of U, so that κ commutes with linear maps of U;
    z = 0 is among the instances.
    """
    z, c, mu, h, other, g = numbers
    orders = range(1, a + top + 1)

    def all_of(z, mu, h, other=0):
        pairs = ((kappa(q, a, z, mu, h), kappa(q, a, z, mu, other)) for q in orders)
        return torch.stack([first - difference * second for first, second in pairs])

    value, scaled = all_of(z, mu, h, other), t * all_of(t * z, mu, h, other)
    powers = torch.stack([t ** (a + 1 - q) for q in orders])
    return (
        eq(all_of(c * z, c * mu, h), c**a * all_of(z, mu, h), terms=0, label="λ^a"),
        eq(all_of(z, mu - z * g, h + g, other + g), value, terms=0, label="shears"),
        eq(all_of(z, mu, t * h, t * other) * powers, scaled, terms=0, label="scaling"),
        eq(all_of(1, 0, h), torch.stack([h**q for q in orders]), terms=0, label="onto"),
    )


@instances
def windows(source: Source):
    """n, a, and the number of points on a side of a window of ℤⁿ."""
    n, a = source.choice([(1, a) for a in range(5)] + [(2, a) for a in range(4)] + [(3, 0), (3, 1)])
    return n, a, source.integer(2, 5 - n)


def sheared(monomial, i):
    """The shear by e^i of a monomial, by its exponents at η, e^1, …, e^n: it maps η to η − e^i."""
    power, *others = monomial
    return {
        (power - j, *(e + j * (i == k) for k, e in enumerate(others))): (-1) ** j * comb(power, j)
        for j in range(power + 1)
    }


def coinvariants(n, a, side, shear):
    """The dimension of (S^aV* ⊗ I)/⟨gy − y⟩, with all exponents in {0, …, side − 1}ⁿ."""
    forms = [e for e in product(range(a + 1), repeat=n + 1) if sum(e) == a]
    window, relations = {*product(range(side), repeat=n)}, []

    def moved(h, i):
        return tuple(x + (i == k) for k, x in enumerate(h))

    for form, h, i, j in product(forms, sorted(window), range(n), range(n)):
        before, after = moved(h, i), moved(moved(h, i), j)
        if {before, after} <= window:
            gy = polytopes.twisted(shear(form, i), {after: 1, before: -1})
            y = polytopes.twisted({form: 1}, {moved(h, j): 1, h: -1})
            relations.append(polytopes.combined((1, gy), (-1, y)))
    return len(forms) * (len(window) - 1) - rank(relations)


@identity(
    "field.dimension-of-coinvariants",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 5"),
    instances=windows(),
    mutants={
        "η fixed by the shears": {"shear": lambda monomial, _: {monomial: 1}},
        "q ≤ a": {"top": 0},
    },
)
def test_dimension_of_coinvariants(n, a, side, *, shear=sheared, top=1):
    r"""The coinvariants of $S^a V^* \otimes I$ have the dimension of $\bigoplus_q S^q U^*$.

    $\dim\, (S^a V^* \otimes I) / \langle gy - y \rangle = \sum_{q=1}^{a+1} \binom{n+q-1}{q}$, with
    $\dim V = n + 1$, and I spanned by all $[h] - [h']$. So the maps $\kappa_1, \dots, \kappa_{a+1}$ of
    field.coinvariants-of-wedges, which are onto, vanish on nothing else.

    All exponents are in a window of $\mathbb Z^n$, and g is an $e^i$, which is enough. Exact
    ranks, for $n = 1$, $a \le 4$; $n = 2$, $a \le 3$; $n = 3$, $a \le 1$: 1, 2, 3, 4, 5; 2, 5, 9, 14; 3, 9.
    """
    dimension = sum(comb(n + q - 1, q) for q in range(1, a + top + 1))
    return eq(coinvariants(n, a, side, shear), dimension)
