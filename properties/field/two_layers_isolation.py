"""Two facts on group rings behind docs/proofs/two-hidden-layers.md: a term whose exponent is apart
from the others is isolated, and an ideal that scaling maps to itself has a power of the
augmentation ideal."""

from itertools import pairwise
from math import factorial, gcd, lcm, prod

import torch
from flint import Ordering, fmpz_mpoly_ctx, fmpz_mpoly_vec

from rankcheck import eq, identity, lt, paper
from rankcheck.instances.source import Source, instances
from rankcheck.polytopes.flags import combined

from ._two_layers import side_by_side

#: Polynomials in two variables; the exponents of the instances are drawn from 0 on.
RING = fmpz_mpoly_ctx.get(("x", "y"), Ordering.degrevlex)
ZERO, ONE = RING.constant(0), RING.constant(1)
DIRECTIONS = ((1, 0), (1, 1), (1, -1), (0, 1), (2, -1))


@instances
def exponents_apart(source: Source, *, apart: bool = True):
    """a, v and h_0, …, h_r of ℤ² with h_i(v) ≠ h_0(v) for all i ≥ 1; for not all if not `apart`."""
    a, r, v = source.integer(0, 3), source.integer(1 - apart, 2), source.choice(DIRECTIONS)
    h = [(source.integer(0, 2), source.integer(0, 2)) for _ in range(r + 1)]
    first, *others = (x * v[0] + y * v[1] for x, y in h)
    source.require(torch.tensor((first not in others) == apart), "the exponents are apart at v")
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


def values_at(terms, v):
    """The image of a sum in ℚ[ℤ] under [h] ↦ [h(v)]: its coefficients that are not zero."""
    return combined(*((c, {x * v[0] + y * v[1]: 1}) for (x, y), c in terms.items()))


@identity(
    "field.isolation-of-a-term",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 4"),
    instances=exponents_apart(),
    needs={"apart at v": exponents_apart(apart=False)},
    mutants={"the power a of the operator": {"extra": 0}},
    no_batch="an instance is integers: a batch would hold copies of it",
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
    u = prod((monomials[0] - X for X in monomials[1:]), start=ONE) ** (a + 1)
    steps = shifts(monomials[1:], a + extra)
    terms = {(i, n): shifted(steps, X, n) for i, X in enumerate(monomials) for n in range(a + 1)}
    left = {
        (i, n, t, *e): c
        for (i, n), values in terms.items()
        for t, value in enumerate(values if i else [leading(values)])
        for e, c in value.to_dict().items()
    }
    isolated = {
        (0, n, 0, *e): factorial(n) * c for n in range(a + 1) for e, c in u.to_dict().items()
    }
    return (
        eq(*side_by_side(left, isolated), label="the terms"),
        lt(0, len(values_at(u.to_dict(), v)), label="u at v"),
    )


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
    source.require(
        torch.tensor(all(along(terms, g) for g in differences(terms)) == apart), "it is in no p_v"
    )
    return terms


def differences(points):
    """h_i − h_0 for i ≥ 1."""
    (x, y), *others = points
    return [(a - x, b - y) for a, b in others]


def along(terms, g):
    """The image of a sum modulo a primitive g."""
    return values_at(terms, (g[1], -g[0]))


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
    no_batch="an instance is integers: a batch would hold copies of it",
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

    Checked with Gröbner bases, for three or four points of $\{0, 1, 2\}^2$. In any number of dimensions
    the proof on docs/proofs/two-hidden-layers.md is an induction on it, of which this is the second
    step: an ideal J contains $\prod_i ([g_i] - 1)$ by the shift operator of
    field.isolation-of-a-term, and so the product of the kernels $I_i$ of
    $\mathbb Q[\mathbb Q^2] \to \mathbb Q[\mathbb Q^2 / \mathbb Q g_i]$; and $I^{m_i} \subset J + I_i$, with I
    the augmentation ideal, is the step before.
    """
    r = max(sum(len(along(terms, g)) - 1 for g in differences(terms)) - less, 0)
    return eq(powers_in_the_ideal(terms, r, at(terms), copies(terms)), r + 1)
