"""Own results: fans of pyramids in a cube, and what fans and pyramids span in windows."""

from functools import cache
from itertools import accumulate, permutations
from math import comb

from rankcheck import eq, identity, paper
from rankcheck.instances.source import Source, instances
from rankcheck.polytopes.flags import combined, fan_class, flag_class, power, twisted
from rankcheck.polytopes.polytope import dot, dual, fan

from ._polytopes import bases, basis, rank, side_by_side

#: A dimension, the largest entry of a window, the largest degree of fans there, and of pyramids.
WINDOWS = ((2, 2, 4, 3), (2, 1, 4, 3), (2, 3, 4, 3), (3, 1, 2, 1))
#: By how much the fans of some windows fall short in a degree, and the pyramids with λ(w) ≠ 0.
FANS_SHORT = {(2, 1, 3): 1, (2, 1, 4): 4, (3, 1, 2): 13}
PYRAMIDS_SHORT = {(2, 1, 3): 2}


@instances
def bases_and_degrees(source: Source):
    """A basis of Z^m, 2 ≤ m ≤ 4, and a degree."""
    e = basis(source, source.integer(2, 4, weights=(3, 3, 1)))
    return e, source.integer(0, 3)


@instances
def windows_of_fans(source: Source):
    """A dimension, the largest entry of a window, and a degree k ≥ 1."""
    m, size, degree, _ = source.choice(WINDOWS)
    return m, size, source.integer(1, degree)


@instances
def windows_of_pyramids(source: Source):
    """A dimension, the largest entry of a window, a degree, and w ≠ 0 with entries 0 and 1."""
    m, size, _, degree = source.choice(WINDOWS)
    ones = source.integer(1, m)
    return m, size, source.integer(0, degree), (0,) * (m - ones) + (1,) * ones


@identity(
    "field.cube-of-pyramids",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=bases_and_degrees(),
    mutants={
        "with their forms": {"twist": 1},
        "the power of the least coordinate": {"place": -1},
    },
    no_batch="an instance is integers: a batch would hold copies of it",
    effort=0.5,
)
def test_cube_of_pyramids(e, k, *, twist=0, place=0):
    r"""A parallelotope is the union of its pyramids, which add up to nothing.

    For a basis of $\mathbb Z^m$ with coordinates x, and $\beta_i = \{0 \le x_j \le x_i \le 1\}$:
    $\sum_i [\beta_i] = 0$ if $m \ge 2$, as the parallelotope is a product. And the fan
    $\theta_k = \sum_i x_i^k \otimes [\beta_i]$ is $\sum_\sigma x_{\sigma(1)}^k \otimes
    [\{1 \ge x_{\sigma(1)} \ge \dots \ge x_{\sigma(m)} \ge 0\}]$ over all orders. In the coordinates of
    field.class-of-polytopes, exactly, for $m \le 4$, $k \le 3$.
    """
    simplices = []
    for order in permutations(range(len(e))):
        corners = accumulate((e[i] for i in order), plus, initial=(0,) * len(e))
        form = dual(e)[order[place]]
        simplices.append((1, twisted(power(form, k), flag_class(corners))))
    left, right = side_by_side(fan_class(e, k), combined(*simplices))
    return (
        eq(len(fan_class(e, twist)), 0, label="the pyramids"),
        eq(left, right, terms=0, label="the simplices"),
    )


def plus(x, y):
    """The sum of two vectors."""
    return tuple(a + b for a, b in zip(x, y, strict=True))


@cache
def pyramids(m: int, size: int):
    """The fans of a window: the form and the class of each pyramid."""
    return [[(form, flag_class(P)) for form, P in fan(e)] for e in bases(m, size)]


@cache
def rank_of_fans(m: int, size: int, k: int) -> int:
    """The dimension over Q that the θ_k of a window span."""
    twists = ([(1, twisted(power(f, k), c)) for f, c in one] for one in pyramids(m, size))
    return rank([combined(*terms) for terms in twists])


@cache
def rank_of_pyramids(m: int, size: int, a: int, w=None, vanishing=False) -> int:
    """The dimension over Q that λ^a ⊗ b span, for the pyramids of a window with λ(w) ≠ 0."""
    every = (pyramid for one in pyramids(m, size) for pyramid in one)
    chosen = [(f, c) for f, c in every if w is None or vanishing == (dot(f, w) == 0)]
    return rank([twisted(power(f, a), c) for f, c in chosen])


@identity(
    "field.fans-span-windows",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=windows_of_fans(),
    mutants={"no window is too small": {"short": {}}},
    no_batch="an instance is three integers: a batch would hold copies of it",
)
def test_fans_span_windows(m, size, k, *, short=FANS_SHORT):
    r"""In windows, the fans of a degree span all polynomials of it times all pyramids.

    A window is all bases e of integers up to a size such that all sums of some $e_i$ have the
    directions of integer vectors of this size. The dimension of the span of its $\theta_k(e)$ is that
    of $S^k V^*$ times that of its pyramids: for $m = 2$ this is $(k + 1)(\text{lines} - 2)$ with 8 and
    16 lines, $1 \le k \le 4$, and with 4 lines, $k \le 2$; for $m = 3$ it is $3 \cdot 12$ with 13
    lines, $k = 1$. Windows that are too small: with 4 lines the dimension is 7 of 8 for $k = 3$ and 6
    of 10 for $k = 4$; with 13 lines it is 59 of 72 for $k = 2$. All ranks are over $\mathbb Q$, exact,
    in the coordinates of field.class-of-polytopes.
    """
    whole = comb(m + k - 1, k) * rank_of_pyramids(m, size, 0)
    return eq(rank_of_fans(m, size, k), whole - short.get((m, size, k), 0))


@identity(
    "field.pyramids-span-windows",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 7"),
    instances=windows_of_pyramids(),
    mutants={"λ(w) = 0": {"vanishing": True}, "no window is too small": {"short": {}}},
    no_batch="an instance is integers: a batch would hold copies of it",
)
def test_pyramids_span_windows(m, size, a, w, *, vanishing=False, short=PYRAMIDS_SHORT):
    r"""In windows, the pyramids that are not parallel to a vector span all of them.

    In a window of field.fans-span-windows, $\lambda^a \otimes b$ over the pyramids b of its fans, with
    their forms $\lambda$ ($\lambda = 1$ on the base, 0 at the apex) and $\lambda(w) \ne 0$, span the
    dimension of $S^a V^*$ times that of all its pyramids: for $m = 2$ with 8 and 16 lines, $a \le 3$,
    and with 4 lines, $a \le 2$; for $m = 3$ with 13 lines, $a \le 1$; w has entries 0 and 1. With 4
    lines it is 6 of 8 for $a = 3$: this window is too small. All ranks are over $\mathbb Q$, exact.
    """
    whole = comb(m + a - 1, a) * rank_of_pyramids(m, size, 0)
    return eq(rank_of_pyramids(m, size, a, w, vanishing), whole - short.get((m, size, a), 0))
