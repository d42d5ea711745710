"""The coinvariants of docs/proofs/two-hidden-layers.md: what is left of twisted wedges where all
shears act trivially."""

from itertools import product
from math import comb

import torch

from rankcheck import eq, identity, paper
from rankcheck.instances.source import Source, instances
from rankcheck.polytopes.flags import combined, twisted

from ._two_layers import kappa, rank


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

    $\kappa_q(\lambda^a \otimes [h]) = z^{a-q} (\mu + zh)^q$ for $\lambda = zo + \mu$ and
    $1 \le q \le a$, and $z^{-1} ((\mu + zh)^{a+1} - \mu^{a+1})$ for $q = a + 1$, is a polynomial in
    λ and h, and homogeneous of degree a in λ: a linear map of $S^a V^* \otimes I$. A shear g, which
    maps z, μ, h to z, $\mu - zg$, $h + g$, keeps $\kappa_q(\lambda^a \otimes ([h] - [h']))$. A scaling
    by t, which maps them to $z/t$, μ, $th$, multiplies it by $t^{q-a}$. And
    $\kappa_q(o^a \otimes ([h] - [0])) = h^q$, so that κ is onto.

    Compared for $a \le 3$ by values at a point of V′, so that κ commutes with linear maps of V′;
    z = 0 is among the instances.
    """
    z, c, mu, h, other, g = numbers.unbind(-1)
    one, zero = torch.ones_like(z), torch.zeros_like(z)

    def all_of(z, mu, h, other=zero):
        values = [
            kappa(q, a, z, mu, h) - difference * kappa(q, a, z, mu, other)
            for q in range(1, a + top + 1)
        ]
        return torch.stack(values, -1)

    orders = torch.arange(1, a + top + 1, dtype=z.dtype)
    value = all_of(z, mu, h, other)
    return (
        eq(all_of(c * z, c * mu, h), (c**a).unsqueeze(-1) * all_of(z, mu, h), terms=0, label="λ^a"),
        eq(all_of(z, mu - z * g, h + g, other + g), value, terms=0, label="shears"),
        eq(
            all_of(z, mu, t * h, t * other) * t.unsqueeze(-1) ** (a + 1 - orders),
            t.unsqueeze(-1) * all_of(t * z, mu, h, other),
            terms=0,
            label="scaling",
        ),
        eq(all_of(one, zero, h), h.unsqueeze(-1) ** orders, terms=0, label="onto"),
    )


@instances
def windows(source: Source):
    """n, a, and the number of points on a side of a window of ℤⁿ."""
    n, a = source.choice([(1, a) for a in range(5)] + [(2, a) for a in range(4)] + [(3, 0), (3, 1)])
    return n, a, source.integer(2, 5 - n)


def sheared(monomial, i):
    """The shear by e^i of a monomial, by its exponents at o, e^1, …, e^n: it maps o to o − e^i."""
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
            gy = twisted(shear(form, i), {after: 1, before: -1})
            y = twisted({form: 1}, {moved(h, j): 1, h: -1})
            relations.append(combined((1, gy), (-1, y)))
    return len(forms) * (len(window) - 1) - rank(relations)


@identity(
    "field.dimension-of-coinvariants",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Lemma 5"),
    instances=windows(),
    mutants={
        "o fixed by the shears": {"shear": lambda monomial, _: {monomial: 1}},
        "q ≤ a": {"top": 0},
    },
    no_batch="an instance is integers: a batch would hold copies of it",
)
def test_dimension_of_coinvariants(n, a, side, *, shear=sheared, top=1):
    r"""The coinvariants of $S^a V^* \otimes I$ have the dimension of $\bigoplus_q S^q V'^*$.

    $\dim\, (S^a V^* \otimes I) / \langle gy - y \rangle = \sum_{q=1}^{a+1} \binom{n+q-1}{q}$, with
    $\dim V = n + 1$, and I spanned by all $[h] - [h']$. So the maps $\kappa_1, \dots, \kappa_{a+1}$ of
    field.coinvariants-of-wedges, which are onto, vanish on nothing else.

    All exponents are in a window of $\mathbb Z^n$, and g is an $e^i$, which is enough. A rank
    over the rational numbers, for $n = 1$, $a \le 4$; $n = 2$, $a \le 3$; $n = 3$, $a \le 1$: 1, 2, 3, 4,
    5; 2, 5, 9, 14; 3, 9.
    """
    dimension = sum(comb(n + q - 1, q) for q in range(1, a + top + 1))
    return eq(coinvariants(n, a, side, shear), dimension)
