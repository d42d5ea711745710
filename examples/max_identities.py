"""Search for identities that write a maximum by maxima of fewer numbers, in two layers.

    python examples/max_identities.py --of 6 --inner 2 --summands 2

looks for max(x_0, ..., x_5) among the means, over all permutations, of max(F, G) with sums F and G of
two maxima of at most two numbers. With maxima of two that is a ReLU network of two hidden layers. The
search is linear algebra in rationals: where x_0 <= ... <= x_5, such a mean is a linear function and
kinks, which are linearly independent. So an identity that is printed is proved, and so is it where
there is none, as for seven numbers and two summands. A second or two.

    python examples/max_identities.py --of 7 --inner 3 --conforming --symmetry "(0 1)(2 3), (0 3)(1 2)"

looks for one max(F, G) instead that is linear on the cone of each order. Then F - G is given by its
values on sets, and integer programming finds those of few maxima of three, here among the ones with
a symmetry of four elements; without a symmetry there are too many. Some ten seconds.

The end of an answer is Python, which `rankcheck.witnesses` takes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import time
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz_mat, nmod_mat
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array

from rankcheck.witnesses import (
    MaxIdentity,
    MaxSum,
    MaxTerm,
    OrderForm,
    is_linear_on_orders,
    is_maximum,
    mean_form,
    term_orbits,
    values_on_sets,
)

Sides = tuple[tuple[int, ...], ...]
Reals = npt.NDArray[np.float64]
Columns = list[list[int]]

#: Primes for ranks; a rank that is too small modulo one of them is noticed, and the next is taken.
PRIMES = (2**31 - 1, 2**31 - 19, 2**61 - 1)
MOST_CANDIDATES = 20_000
#: The largest |F − G| on a set.
MOST = 4


# Means over all permutations: linear equations


def candidates(n: int, rank: int, summands: int, smallest: int) -> list[tuple[MaxTerm, OrderForm]]:
    """One term for each different mean: of equal means, the first, which has the fewest sets."""
    found: dict[tuple[object, ...], tuple[MaxTerm, OrderForm]] = {}
    searched = [term_orbits(n, rank, k, smallest) for k in range(1, summands + 1)]
    for count, term in enumerate(itertools.chain.from_iterable(searched)):
        if count == MOST_CANDIDATES:
            raise ValueError(
                f"received more than {MOST_CANDIDATES} orbits; take fewer --summands, or "
                "--smallest for the size of the smallest sets, or --conforming"
            )
        term = in_lowest_terms(term)
        form = mean_form(n, term)
        found.setdefault((form.linear, *sorted(form.kinks.items())), (term, form))
    return list(found.values())


def in_lowest_terms(term: MaxTerm) -> MaxTerm:
    """max(2F, 2G) as 2 max(F, G)."""
    times = [Counter(side) for side in (term.left, term.right)]
    common = math.gcd(*times[0].values(), *times[1].values())
    left, right = ([s for s, k in c.items() for _ in range(k // common)] for c in times)
    return MaxTerm(term.coefficient * common, left, right)


def equations(n: int, forms: Sequence[OrderForm]) -> tuple[Columns, list[int]]:
    """Integer columns, one for each form, and the right side: all times n!."""
    kinks = sorted({p for form in forms for p in form.kinks})
    scale = math.factorial(n)
    columns = [
        [
            *(int(a * scale) for a in form.linear),
            *(int(form.kinks.get(p, 0) * scale) for p in kinks),
        ]
        for form in forms
    ]
    return columns, [scale] * n + [0] * len(kinks)


def independent(rows: Sequence[Sequence[int]], prime: int) -> list[int]:
    """The columns in which the reduced form modulo a prime has its pivots."""
    reduced, rank = nmod_mat([[a % prime for a in row] for row in rows], prime).rref()
    pivots, column = [], 0
    for row in range(rank):
        while reduced[row, column] == 0:
            column += 1
        pivots.append(column)
    return pivots


def exact_solution(columns: Columns, right: list[int]) -> list[Fraction] | None:
    """c with Σ_j c_j column_j = right, in rationals; None if there is none."""
    for prime in PRIMES:
        rows = list(zip(*columns, right, strict=True))
        pivots = independent(rows, prime)
        if pivots[-1] == len(columns):
            continue
        chosen = [columns[j] for j in pivots]
        used = independent(chosen, prime)
        square = fmpz_mat([[column[i] for column in chosen] for i in used])
        found = square.solve(fmpz_mat([[right[i]] for i in used]))
        c = [Fraction(0)] * len(columns)
        for place, j in enumerate(pivots):
            c[j] = fraction(found[place, 0])
        if all(sum(a * b for a, b in zip(c, row[:-1], strict=True)) == row[-1] for row in rows):
            return c
    return None


def contradiction(columns: Columns, right: list[int]) -> dict[int, fmpq] | None:
    """Factors of equations whose combination is 0 = 1; None if none is found.

    They prove that the equations have no solution.
    """
    for prime in PRIMES:
        every = [*columns, right]
        pivots = independent(list(zip(*every, strict=True)), prime)
        if pivots[-1] != len(columns):
            return None
        chosen = [every[j] for j in pivots]
        used = independent(chosen, prime)
        square = fmpz_mat([[column[i] for i in used] for column in chosen])
        found = square.solve(fmpz_mat([[int(j == len(columns))] for j in pivots]))
        y = {i: found[place, 0] for place, i in enumerate(used)}
        if not any(sum(y[i] * column[i] for i in used) for column in columns):
            return y
    return None


def fraction(q: fmpq) -> Fraction:
    return Fraction(int(q.p), int(q.q))


def sparse_solution(columns: Columns, right: list[int], rounds: int = 8) -> list[Fraction] | None:
    """A solution with few entries: linear programs find the places, exact algebra the numbers."""
    A = np.array(columns, dtype=np.float64).T
    size = np.abs(A).max(1, keepdims=True)
    A, b = A / size, np.array(right) / size[:, 0]
    best, weights = exact_solution(columns, right), np.ones(len(columns))
    for _ in range(rounds if best else 0):
        program = linprog(np.tile(weights, 2), A_eq=np.hstack((A, -A)), b_eq=b, method="highs")
        if program.x is None:
            break
        c = program.x[: len(columns)] - program.x[len(columns) :]
        support = np.flatnonzero(np.abs(c) > 1e-9 * np.abs(c).max())
        found = exact_solution([columns[j] for j in support], right)
        if found is not None:
            whole = [Fraction(0)] * len(columns)
            for j, value in zip(support, found, strict=True):
                whole[j] = value
            best = whole if best is None else min(best, whole, key=cost)
        weights = 1 / (np.abs(c) + 0.05 * np.abs(c).max())
    return best


def cost(c: Sequence[Fraction]) -> tuple[int, int]:
    """How many coefficients are not zero, and the size of their numbers."""
    return sum(map(bool, c)), sum(abs(q.numerator) + q.denominator for q in c if q)


def search_means(n: int, rank: int, summands: int, smallest: int) -> MaxIdentity | None:
    """An identity, proved; None, after saying so, if there is none with these candidates."""
    found = candidates(n, rank, summands, smallest)
    columns, right = equations(n, [form for _, form in found])
    print(
        f"{len(found)} different means of max(F, G), F and G sums of up to {summands} maxima of "
        f"{smallest} to {rank} numbers; {len(right) - n} kinks"
    )
    c = sparse_solution(columns, right)
    if c is not None:
        terms = [(q * t.coefficient, t) for q, (t, _) in zip(c, found, strict=True) if q]
        return MaxIdentity(n, tuple(MaxTerm(q, t.left, t.right) for q, t in terms))
    y = contradiction(columns, right)
    if y is None:
        raise ArithmeticError("the equations have neither a solution nor a contradiction")
    print(
        f"No combination of these {len(found)} means is the maximum of {n} numbers.\n"
        f"This is proved: a combination of {sum(map(bool, y.values()))} of the {len(right)} linear "
        "equations for the coefficients is 0 = 1.\nIt says nothing about other sums."
    )
    return None


# One maximum that is linear on all orders: integer programming


def group(n: int, text: str) -> list[tuple[int, ...]]:
    """The images of 0, ..., n − 1 under the group that permutations in cycles generate."""
    if not re.fullmatch(r"(\s*(\(\s*\d+(\s+\d+)*\s*\)\s*)*,?)*", text):
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


def side_text(side: Sides) -> str:
    return " + ".join(
        f"{k if k > 1 else ''}m{''.join(map(str, s))}" for s, k in sorted(Counter(side).items())
    )


def text(identity: MaxIdentity) -> str:
    """As a person writes it; m01 is max(x_0, x_1)."""
    one = isinstance(identity, MaxSum)
    lines = [f"max of {identity.n} =" + ("" if one else " the mean, over all permutations, of")]
    for term in identity.terms:
        c = term.coefficient
        size = "" if abs(c) == 1 else f"{abs(c)} "
        value = (
            side_text(term.left)
            if term.left == term.right
            else f"max({side_text(term.left)}, {side_text(term.right)})"
        )
        lines.append(f"  {'-' if c < 0 else '+'} {size}{value}")
    return "\n".join(lines)


def python(identity: MaxIdentity) -> str:
    """What makes it again."""
    terms = "".join(
        f'    MaxTerm("{t.coefficient}", {list(t.left)}, {list(t.right)}),\n'
        for t in identity.terms
    )
    return f"{type(identity).__name__}({identity.n}, (\n{terms}))"


def check(identity: MaxIdentity) -> None:
    """The proof again from the printed terms, and integer points, which need no theory."""
    if not is_maximum(identity):
        raise ArithmeticError("what was found is not the maximum")
    points = np.random.default_rng(0).integers(-50, 51, (200, identity.n))
    for x in points.tolist():
        value = sum(
            t.coefficient
            * max(sum(max(x[i] for i in s) for s in side) for side in (t.left, t.right))
            for t in identity.expanded
        )
        assert value == max(x), x


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", metavar="N", type=int, required=True, help="how many numbers")
    parser.add_argument("--inner", metavar="R", type=int, default=2, help="maxima of R (default 2)")
    parser.add_argument(
        "--summands", metavar="K", type=int, default=2, help="the most in a sum (default 2)"
    )
    parser.add_argument("--smallest", metavar="R", type=int, help="maxima of no fewer (default 1)")
    parser.add_argument("--conforming", action="store_true", help="one maximum, linear on orders")
    parser.add_argument("--symmetry", metavar="CYCLES", default="", help="with --conforming")
    parser.add_argument(
        "--seconds", type=float, default=120, help="with --conforming (default 120)"
    )
    args = parser.parse_args()
    if not 2 <= args.inner < args.of <= 8:
        parser.error(f"received --of {args.of} --inner {args.inner}; 2 <= R < N <= 8")
    if args.summands < 1:
        parser.error(f"received --summands {args.summands}; a sum has one maximum or more")
    if args.symmetry and not args.conforming:
        parser.error("received --symmetry; it belongs to --conforming")
    identity: MaxIdentity | None
    started = time.perf_counter()
    try:
        if args.conforming:
            identity = search_conforming(args.of, args.inner, args.symmetry, args.seconds)
        else:
            smallest = 1 if args.smallest is None else args.smallest
            identity = search_means(args.of, args.inner, args.summands, smallest)
    except ValueError as error:
        parser.error(str(error))
    if identity is not None:
        check(identity)
        print(
            f"\n{text(identity)}\n\nProved, and equal at 200 integer points.\n\n{python(identity)}"
        )
    print(f"\n{time.perf_counter() - started:.1f} seconds")


if __name__ == "__main__":
    main()
