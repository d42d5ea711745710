"""Search for identities that write a maximum by maxima of fewer numbers, in two layers.

    python examples/max_identities.py --of 6

looks for max(x_0, ..., x_5) among the means, over all permutations, of |F - G| with sums F and G of
two maxima of two of the numbers, where all six occur, and the means M_m of the maxima of m < 6 of the
numbers, which are known. That is a ReLU network of two hidden layers. F - G is a graph with signs,
and one of each class of isomorphic graphs is taken. Where x_0 <= ... <= x_5, a mean is a linear
function and kinks, which are linearly independent: linear equations for the coefficients, solved
modulo a prime for the terms and in rationals for the coefficients. So an identity that is printed is
proved, and so is it where there is none, as there is for no seven numbers and sums of two:

    python examples/max_identities.py --of 7 --summands 2 --vertices 1 --smallest 1

with graphs of one vertex or more, and single numbers in the sums. Up to eight numbers take a second
or two, ten some minutes.

    python examples/max_identities.py --of 7 --inner 3 --conforming --symmetry "(0 1)(2 3), (0 3)(1 2)"

looks for one max(F, G) instead that is linear on the cone of each order. Then F - G is given by its
values on sets, and integer programming finds those of few maxima of three, here among the ones with
a symmetry of four elements; without a symmetry there are too many. Half a minute.

The end of an answer is Python, which `rankcheck.witnesses` takes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat, nmod_mat
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array

from rankcheck.witnesses import (
    MaxIdentity,
    MaxSum,
    MaxTerm,
    is_linear_on_orders,
    is_maximum,
    maximum_by_pairs,
    mean_form,
    values_on_sets,
)

Set = tuple[int, ...]
Graph = tuple[tuple[Set, int], ...]
Reals = npt.NDArray[np.float64]
Columns = list[list[int]]
Rows = Sequence[Sequence[int]]

#: Primes for ranks; a rank that is too small modulo one of them is noticed, and the next is taken.
PRIMES = (2**31 - 1, 2**31 - 19, 2**61 - 1)
MOST_GRAPHS = 20_000
#: How often columns are tried in another order, for a shorter combination.
ORDERS = 50
#: The largest |F − G| on a set.
MOST = 4


# Means over all permutations: graphs, kinks and linear equations


def relabelled(graph: Iterable[tuple[Set, int]]) -> Graph:
    """A copy of a graph whose labels hardly depend on those that it has.

    Positions are told apart by the sets that they lie in, as long as that does; then one of equals
    is taken. Graphs with the same copy are isomorphic, so that none is lost. If the equals could
    not be exchanged, a graph may have two copies: its mean is there twice, which does no harm.
    """
    edges = list(graph)
    n = 1 + max(max(s) for s, _ in edges)
    colour, taken = [0] * n, -1
    while len({*colour}) < n:
        near = [(s, (weight, *sorted(colour[i] for i in s))) for s, weight in edges]
        seen = [
            (colour[i], i == taken, *sorted(key for s, key in near if i in s)) for i in range(n)
        ]
        place = {key: k for k, key in enumerate(sorted({*seen}))}
        stuck = len(place) == len({*colour})
        colour = [place[key] for key in seen]
        taken = colour.index(min(c for c in colour if colour.count(c) > 1)) if stuck else -1
    return tuple(sorted((tuple(sorted(colour[i] for i in s)), weight) for s, weight in edges))


def grown(graphs: Iterable[Graph], n: int, sizes: range, sign: int, fewest: int) -> list[Graph]:
    """The graphs with one set more, of weight ``sign``, that have at least ``fewest`` positions."""
    found: dict[Graph, None] = {}
    for graph in graphs:
        weights = dict(graph)
        used = 1 + max(map(max, weights), default=-1)
        for size in sizes:
            for new in range(max(0, fewest - used), min(size, n - used) + 1):
                for old in itertools.combinations(range(used), size - new):
                    s = (*old, *range(used, used + new))
                    weight = weights.get(s, 0) + sign
                    if weight * sign > 0:
                        found[relabelled({**weights, s: weight}.items())] = None
        if len(found) > MOST_GRAPHS:
            raise ValueError(
                f"received more than {MOST_GRAPHS} graphs; take fewer --summands, a larger "
                "--smallest, or --conforming"
            )
    return [*found]


def graph_terms(n: int, sizes: range, summands: int, fewest: int) -> list[MaxTerm]:
    """max(F, G) for the graphs F − G with signs, on n positions, of which they have ``fewest``.

    F and G are sums of equally many maxima, up to ``summands``, over sets whose size is in ``sizes``.
    Multiples, and graphs with the sides exchanged, are left out.
    """
    found: dict[Graph, None] = {}
    graphs: list[Graph] = [()]
    for k in range(1, summands + 1):
        for sign in (1, -1):
            later = 2 * (summands - k) + (sign > 0)
            graphs = grown(graphs, n, sizes, sign, fewest - later * sizes[-1])
        for graph in graphs:
            if (
                max(max(s) for s, _ in graph) + 1 >= fewest
                and math.gcd(*(w for _, w in graph)) == 1
            ):
                found[min(graph, relabelled((s, -weight) for s, weight in graph))] = None
    if not found:
        raise ValueError(
            f"received sums of {summands} maxima of up to {sizes[-1]} numbers; no two of them have "
            f"{fewest} of the {n} numbers. Take more --summands, or fewer --vertices"
        )
    return [
        MaxTerm(1, *([s for s, weight in graph for _ in range(sign * weight)] for sign in (1, -1)))
        for graph in found
    ]


def equations(n: int, found: Sequence[MaxTerm]) -> tuple[Columns, list[int]]:
    """Columns for the means of terms, and the right side for the maximum: all times n!."""
    forms = [mean_form(n, term) for term in found]
    kinks = sorted({p for form in forms for p in form.kinks})
    scale = math.factorial(n)
    columns = [
        [int(a * scale) for a in (*form.linear, *(form.kinks.get(p, 0) for p in kinks))]
        for form in forms
    ]
    return columns, [scale] * n + [0] * len(kinks)


def reduced_form(rows: Rows, prime: int) -> tuple[nmod_mat, list[int]]:
    """The reduced form modulo a prime, and the columns of its pivots."""
    reduced, rank = nmod_mat([[a % prime for a in row] for row in rows], prime).rref()
    pivots, column = [], 0
    for row in range(rank):
        while reduced[row, column] == 0:
            column += 1
        pivots.append(column)
    return reduced, pivots


def exact_solution(columns: Rows, right: Sequence[int]) -> list[Fraction] | None:
    """c with Σ_j c_j column_j = right, in rationals; None if there is none."""
    rows = list(zip(*columns, right, strict=True))
    for prime in PRIMES:
        pivots = reduced_form(rows, prime)[1]
        if pivots[-1] == len(columns):
            continue
        chosen = [columns[j] for j in pivots]
        used = reduced_form(chosen, prime)[1]
        square = fmpz_mat([[column[i] for column in chosen] for i in used])
        found = square.solve(fmpz_mat([[right[i]] for i in used])).entries()
        c = {j: Fraction(int(q.p), int(q.q)) for j, q in zip(pivots, found, strict=True)}
        scale = math.lcm(*(q.denominator for q in c.values()))
        whole = {j: int(q * scale) for j, q in c.items()}
        if all(sum(a * row[j] for j, a in whole.items()) == scale * row[-1] for row in rows):
            return [c.get(j, Fraction(0)) for j in range(len(columns))]
    return None


def contradiction(columns: Columns, right: list[int]) -> list[Fraction] | None:
    """Factors of equations whose sum is 0 = 1: there is no solution. None if none are found."""
    return exact_solution(list(zip(*columns, right, strict=True)), [0] * len(columns) + [1])


def short_solution(columns: Columns, right: list[int]) -> dict[int, Fraction] | None:
    """c with Σ_j c_j column_j = right for few j; None if none is found.

    A solution modulo a prime takes columns with pivots. Which they are depends on the order of the
    columns, which is drawn anew each time; those of few kinks tend to be first.
    """
    used = reduced_form([*columns, right], PRIMES[0])[1]
    sizes = [sum(map(bool, column)) for column in columns]
    draw, best = np.random.default_rng(0), [*range(len(columns))]
    for _ in range(ORDERS):
        order = np.argsort(sizes * draw.uniform(0.3, 1.3, len(columns))).tolist()
        rows = [[*(columns[j][i] for j in order), right[i]] for i in used]
        reduced, pivots = reduced_form(rows, PRIMES[0])
        if pivots[-1] == len(columns):
            break
        found = [order[j] for row, j in enumerate(pivots) if reduced[row, len(columns)] != 0]
        best = min(best, found, key=len)
    c = exact_solution([columns[j] for j in best], right)
    return None if c is None else {j: q for j, q in zip(best, c, strict=True) if q}


def search_means(n: int, sizes: range, summands: int, fewest: int) -> MaxIdentity | None:
    """An identity, proved; None, after saying so, if there is none with these graphs.

    max = Σ_t c_t mean max(F_t, G_t) + Σ_m c_m M_m, where M_m is the mean of the maxima of m < n of
    the numbers, for which there is an identity already.
    """
    terms = graph_terms(n, sizes, summands, fewest)
    smaller = [MaxTerm(1, [range(m)], [range(m)]) for m in range(1, n)]
    columns, right = equations(n, [*smaller, *terms])
    print(f"{len(terms)} graphs F - G; {len(right) - n} kinks", flush=True)
    c = short_solution(columns, right)
    if c is None:
        y = contradiction(columns, right)
        if y is None:
            raise ArithmeticError("the equations have neither a solution nor a contradiction")
        print(
            f"No combination of these {len(terms)} means, and of maxima of fewer numbers, is the "
            f"maximum of {n} numbers.\nThis is proved: a combination of {sum(map(bool, y))} of the "
            f"{len(y)} linear equations for the coefficients is 0 = 1.\n"
            "It says nothing about other sums."
        )
        return None
    maxima = {m: c.pop(m - 1) for m in range(1, n) if m - 1 in c}
    found = [MaxTerm(q, terms[j - n + 1].left, terms[j - n + 1].right) for j, q in c.items()]
    print(f"\n{means_text(n, maxima, found)}")
    for m, share in maxima.items():
        known = [smaller[m - 1]] if m <= sizes[-1] else maximum_by_pairs(m).terms
        found += [MaxTerm(share * t.coefficient, t.left, t.right) for t in known]
    return MaxIdentity(n, tuple(found))


# One maximum that is linear on all orders: integer programming


def group(n: int, text: str) -> list[tuple[int, ...]]:
    """The images of 0, ..., n − 1 under the group that permutations in cycles generate."""
    if not re.fullmatch(r"\s*(\(\s*\d+(\s+\d+)*\s*\)\s*,?\s*)*", text):
        raise ValueError(
            f'received the symmetry {text!r}; it is written in cycles, "(0 1 2)(3 4), (5 6)"'
        )
    generators = []
    for permutation in text.split(","):
        cycles = [[int(i) for i in c.split()] for c in re.findall(r"\(([^)]*)\)", permutation)]
        moved = [i for cycle in cycles for i in cycle]
        if len({*moved}) < len(moved) or any(i >= n for i in moved):
            raise ValueError(
                f"received the symmetry {text!r}; cycles share none of 0, ..., {n - 1}"
            )
        step = {i: j for c in cycles for i, j in zip(c, [*c[1:], c[0]], strict=True)}
        generators.append([step.get(i, i) for i in range(n)])
    found = {tuple(range(n)): None}
    waiting = [*found]
    while waiting:
        element = waiting.pop()
        for generator in generators:
            product = tuple(generator[i] for i in element)
            if product not in found:
                found[product] = None
                waiting.append(product)
    return [*found]


def orbits(sets: Sequence[int], permutations: Sequence[Sequence[int]]) -> list[list[int]]:
    """The orbits of sets, as bits."""
    left, found = dict.fromkeys(sets), []
    while left:
        S = next(iter(left))
        images = {sum(1 << p[i] for i in range(len(p)) if S >> i & 1) for p in permutations}
        found.append(sorted(images))
        for image in images:
            del left[image]
    return found


def positions(bits: int) -> tuple[int, ...]:
    return tuple(i for i in range(bits.bit_length()) if bits >> i & 1)


def signs_on_sets(n: int, rank: int, text: str, seconds: float) -> npt.NDArray[np.int64] | None:
    """The signs of F − G on all sets, for one max(F, G) that is linear on all orders.

    F − G = Σ_A c_A m_A over sets A of at most ``rank`` positions. Its values are p − q with
    0 ≤ p ≤ MOST u, 0 ≤ q ≤ MOST v and u + v ≤ 1 for nested sets. −Σ_S (−1)^|S| p_S is the coefficient
    of max(x_0, ..., x_{n−1}) in max(F, G): it is 2, or −2, where n is even; complements change its
    sign where n is odd. The smallest Σ |c_A| is wanted.
    """
    permutations = group(n, text)
    inner = orbits([A for A in range(1, 1 << n) if A.bit_count() <= rank], permutations)
    classes = orbits(range(1 << n), permutations)
    place = {S: k for k, orbit in enumerate(classes) for S in orbit}
    maxima = [values_on_sets(n, map(positions, orbit)) for orbit in inner]
    k, m = len(inner), len(classes)
    p, q, u, v = (2 * k + m * block + np.arange(m) for block in range(4))
    rows: list[tuple[dict[int, float], float, float]] = []
    for o, (S, *_) in enumerate(classes):
        terms = {j: h[S] for j, h in enumerate(maxima)} | {
            j + k: -h[S] for j, h in enumerate(maxima)
        }
        rows.append(({p[o]: -1, q[o]: 1, **terms}, 0, 0))
        rows += [({a[o]: 1, b[o]: -MOST}, -MOST, 0) for a, b in ((p, u), (q, v))]
        near = {place[T] for T in range(1 << n) if S & T in (S, T)}
        rows += [({u[o]: 1, v[t]: 1}, 0, 1) for t in near]
    entries = [(i, j, a) for i, (row, _, _) in enumerate(rows) for j, a in row.items() if a]
    i, j, a = (np.array(column) for column in zip(*entries, strict=True))
    size = 2 * k + 4 * m
    share = np.zeros((1, size))
    share[0, p] = [-len(orbit) * (-1) ** orbit[0].bit_count() for orbit in classes]
    A = coo_array((a.astype(float), (i, j)), shape=(len(rows), size)).tocsr()
    high = np.r_[np.full(2 * k, np.inf), np.full(2 * m, MOST), np.ones(2 * m)]
    high[[block[place[S]] for block in (p, q, u, v) for S in (0, (1 << n) - 1)]] = 0
    print(f"{m} classes of sets, {k} of maxima", flush=True)
    limits = LinearConstraint(A, [low for _, low, _ in rows], [top for *_, top in rows])
    for wanted in (2, -2) if n % 2 == 0 else (2,):
        found = milp(
            np.r_[np.tile([float(len(orbit)) for orbit in inner], 2), np.zeros(4 * m)],
            constraints=[limits, LinearConstraint(share, wanted, wanted)],
            bounds=Bounds(np.zeros(size), high),
            integrality=np.r_[np.zeros(2 * k + 2 * m), np.ones(2 * m)],
            options={"time_limit": seconds},
        )
        if found.x is not None:
            break
    else:
        print(
            f"Integer programming found no such maximum with |F - G| <= {MOST} on sets and the "
            f"symmetry {text or '()'}"
            + (f" in {seconds:g} seconds" if found.status == 1 else "")
            + ".\nThat is no proof: it computes in floating point."
        )
        return None
    value = found.x[p] - found.x[q]
    return np.array([int(np.sign(np.round(value[place[S]], 7))) for S in range(1 << n)])


def short_term(n: int, rank: int, signs: npt.NDArray[np.int64]) -> MaxTerm:
    """max(F, G) with few maxima, where F − G has these signs on sets or is zero; exact."""
    sets = [positions(A) for A in range(1, 1 << n) if A.bit_count() <= rank]
    H: Reals = np.stack([values_on_sets(n, [s]) for s in sets], 1).astype(float)
    parity = np.array([(-1) ** S.bit_count() for S in range(1 << n)])
    top = -parity[signs > 0] @ H[signs > 0]
    weights, best = np.ones(len(sets)), None
    for _ in range(8):
        for sign in (1, -1):
            equal = np.vstack((H[signs == 0], sign * top))
            below = np.vstack((-H[signs > 0], H[signs < 0]))
            program = linprog(
                np.tile(weights, 2),
                A_ub=np.hstack((below, -below)),
                b_ub=np.zeros(len(below)),
                A_eq=np.hstack((equal, -equal)),
                b_eq=np.r_[np.zeros(len(equal) - 1), 1],
                method="highs",
            )
            if program.x is None:
                continue
            c = program.x[: len(sets)] - program.x[len(sets) :]
            term = rational_term(sets, c)
            if term is not None and is_linear_on_orders(n, term):
                best = term if best is None else min(best, term, key=length)
        weights = 1 / (np.abs(c) + 0.02 * np.abs(c).max())
    if best is None:
        raise ArithmeticError("no rational solution has the signs that were found")
    return best


def length(term: MaxTerm) -> int:
    return len(term.left) + len(term.right)


def rational_term(sets: Sequence[tuple[int, ...]], c: Reals) -> MaxTerm | None:
    """max(F, G) with F − G = Σ c_A m_A, times what makes the numbers whole."""
    near = [Fraction(float(a)).limit_denominator(200) for a in c]
    scale = math.lcm(*(a.denominator for a in near))
    times = [int(a * scale) for a in near]
    common = math.gcd(*times)
    if not common:
        return None
    left, right = (
        [s for s, k in zip(sets, times, strict=True) for _ in range(sign * k // common)]
        for sign in (1, -1)
    )
    return MaxTerm(1, left, right)


def solved_for_maximum(n: int, rank: int, term: MaxTerm) -> MaxSum:
    """max of n = (max(F, G) − the maxima of fewer numbers in it) / its share of the maximum.

    A function that is linear on all orders is Σ_A d_A m_A, and Σ_{A ⊆ S} d_A = w(all) − w(all ∖ S) by
    its values w on sets.
    """
    w = np.maximum(values_on_sets(n, term.left), values_on_sets(n, term.right))
    d = (w[-1] - w[::-1]).astype(object)  # the complement of S is all − S
    for i in range(n):  # Möbius' inversion
        has = np.flatnonzero(np.arange(1 << n) >> i & 1)
        d[has] = d[has] - d[has - (1 << i)]
    terms = [MaxTerm(Fraction(1, int(d[-1])), term.left, term.right)]
    for A in range(1, (1 << n) - 1):
        if d[A]:
            s = positions(A)
            if len(s) > 2 * rank:
                raise ArithmeticError(f"the maximum of {len(s)} numbers is needed as well")
            terms.append(MaxTerm(Fraction(-int(d[A]), int(d[-1])), [s[:rank]], [s[rank:] or s]))
    return MaxSum(n, tuple(terms))


def search_conforming(n: int, rank: int, text: str, seconds: float) -> MaxSum | None:
    """An identity with one max(F, G) that is linear on all orders; None after saying why not."""
    signs = signs_on_sets(n, rank, text, seconds)
    return None if signs is None else solved_for_maximum(n, rank, short_term(n, rank, signs))


# What is printed


def side_text(side: Sequence[Set]) -> str:
    """m01 is max(x_0, x_1)."""
    return " + ".join(
        f"{k if k > 1 else ''}m{''.join(f'{i:x}' for i in s)}"
        for s, k in sorted(Counter(side).items())
    )


def summand(c: Fraction, value: str) -> str:
    return f"{'-' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)} '}{value}"


def means_text(n: int, maxima: Mapping[int, Fraction], found: Sequence[MaxTerm]) -> str:
    """What ``search_means`` finds, by |F − G| = 2 max(F, G) − F − G in whole numbers."""
    shares = {m: -2 * maxima.get(m, Fraction(0)) for m in range(1, n)} | {n: Fraction(2)}
    for t in found:
        for s in (*t.left, *t.right):
            shares[len(s)] -= t.coefficient
    every = [*shares.values(), *(t.coefficient for t in found)]
    common = Fraction(math.gcd(*(c.numerator for c in every)))
    common /= math.lcm(*(c.denominator for c in every))
    left = [summand(c / common, f"M{m}") for m, c in reversed(shares.items()) if c]
    lines = [f"{' '.join(left)} = the mean, over all permutations, of"]
    for t in found:
        graph = f"|{side_text(t.left)} - {side_text(t.right).replace('+', '-')}|"
        lines.append(f"  {summand(t.coefficient / common, graph)}")
    return "\n".join(lines)


def sum_text(identity: MaxSum) -> str:
    lines = [f"max of {identity.n} ="]
    for t in identity.terms:
        sides = [side_text(side) for side in (t.left, t.right)]
        value = sides[0] if t.left == t.right else f"max({', '.join(sides)})"
        lines.append(f"  {summand(t.coefficient, value)}")
    return "\n".join(lines)


def python(identity: MaxIdentity) -> str:
    """What makes it again."""
    terms = "".join(
        f'    MaxTerm("{t.coefficient}", {list(t.left)}, {list(t.right)}),\n'
        for t in identity.terms
    )
    return f"{type(identity).__name__}({identity.n}, (\n{terms}))"


def check(identity: MaxIdentity) -> str:
    """The proof again from the printed terms, and points, which need no theory."""
    n = identity.n
    if not is_maximum(identity):
        raise ArithmeticError("what was found is not the maximum")
    if isinstance(identity, MaxSum):
        points, kind = np.random.default_rng(0).integers(-50, 51, (200, n)), "200 integer points"
    else:  # all permutations of a point are there
        points = np.array([*itertools.product((-2, 0, 3), repeat=n)])
        kind = "all points of the numbers -2, 0 and 3"
    orbits, place, sizes = np.unique(
        np.sort(points), axis=0, return_inverse=True, return_counts=True
    )
    sums = np.zeros(len(orbits), dtype=object)
    for t in identity.terms:
        F, G = (sum(points[:, s].max(1) for s in side) for side in (t.left, t.right))
        values = np.bincount(place.ravel(), np.maximum(F, G))
        sums += t.coefficient * values.astype(np.int64).astype(object)
    assert (sums == orbits[:, -1] * sizes).all()
    return f"Proved, and equal at {kind}."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--of", metavar="N", type=int, required=True, help="how many numbers")
    add("--inner", metavar="R", type=int, default=2, help="maxima of R (default 2)")
    add("--smallest", metavar="R", type=int, default=2, help="maxima of no fewer (default 2)")
    add("--summands", metavar="K", type=int, help="the most in a sum (default (N - 1) // 2)")
    add("--vertices", metavar="V", type=int, help="numbers in F - G at least (default N)")
    add("--conforming", action="store_true", help="one maximum, linear on orders")
    add("--symmetry", metavar="CYCLES", default="", help="with --conforming")
    add("--seconds", type=float, default=120, help="with --conforming (default 120)")
    args = parser.parse_args()
    n, most = args.of, 8 if args.conforming else 11
    summands = (n - 1) // 2 if args.summands is None else args.summands
    vertices = n if args.vertices is None else args.vertices
    if not 2 <= args.inner < n <= most:
        parser.error(f"received --of {n} --inner {args.inner}; 2 <= R < N <= {most}")
    if summands < 1:
        parser.error(f"received --summands {summands}; a sum has one maximum or more")
    if not 1 <= args.smallest <= args.inner:
        parser.error(f"received --smallest {args.smallest}; it is 1, ..., {args.inner}")
    if not 1 <= vertices <= n:
        parser.error(f"received --vertices {vertices}; it is 1, ..., {n}")
    if args.symmetry and not args.conforming:
        parser.error("received --symmetry; it belongs to --conforming")
    if not 0 < args.seconds < math.inf:
        parser.error(f"received --seconds {args.seconds}; it is a number above 0")
    identity: MaxIdentity | None
    started = time.perf_counter()
    try:
        if args.conforming:
            identity = search_conforming(n, args.inner, args.symmetry, args.seconds)
        else:
            sizes = range(args.smallest, args.inner + 1)
            identity = search_means(n, sizes, summands, vertices)
    except ValueError as error:
        parser.error(str(error))
    if identity is not None:
        checked = check(identity)
        written = f"{sum_text(identity)}\n\n" if isinstance(identity, MaxSum) else ""
        print(f"\n{written}{checked}\n\n{python(identity)}")
    print(f"\n{time.perf_counter() - started:.1f} seconds")


if __name__ == "__main__":
    main()
