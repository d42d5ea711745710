"""Sums of squares in exact numbers: Gram matrices of rationals, found by numerics and then proved.

A solver finds Gram matrices with the largest smallest eigenvalue. If that is positive, rounding to
rationals and moving back to the exact solutions of the linear equations leaves them positive. A
goal with equality cases has singular Gram matrices only: their null vectors vanish at the equality
cases and are often rational. They are guessed from the numerics, and the Gram matrices are sought
on what is orthogonal to them (facial reduction), as often as it takes.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy
from flint import fmpq, fmpz, fmpz_mat

from rankcheck.decide.prove.sums.gram import Block
from rankcheck.decide.prove.sums.ring import Ring

Column: TypeAlias = dict[tuple[int, ...], fmpq]
#: For each block its Gram matrix; and the factor of each free polynomial.
Solution: TypeAlias = tuple[list[list[list[fmpq]]], list[fmpq]]

#: Gram matrices whose eigenvalues are above this may be rounded as they are.
_POSITIVE = 1e-7
#: With a margin below this there is no sum of squares.
_NEGATIVE = -1e-4
#: Denominators to which Gram matrices are rounded, one after the other.
_DENOMINATORS = (1, 2, 12, 60, 1 << 8, 1 << 14, 1 << 22, 1 << 32, 1 << 44)
#: Null vectors are rounded to rationals that are so near and have no larger denominator.
_NEAR = ((1e-3, 12), (1e-4, 60), (1e-6, 1 << 12))
_ROUNDS = 12
#: Null vectors that lead to longer coefficients than this were no rationals; or it takes too long.
_BITS = 256
#: Tables of equations with more entries than this are left alone.
_CELLS = 800_000


def available() -> bool:
    """Whether the solver of the extra `prove` is installed."""
    try:
        importlib.import_module("clarabel")
    except ImportError:
        return False
    return True


@dataclass
class System:
    """``target = Σ blocks + Σ free``: linear in the entries of the Gram matrices.

    Attributes:
        free: polynomials that may be taken any number of times.
        strict: the last block is a number, which has to be positive.
    """

    ring: Ring
    target: Any
    blocks: list[Block]
    free: list[Any]
    strict: bool = False
    columns: list[list[Column]] = field(default_factory=list)
    rest: list[Column] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = [self._columns(block) for block in self.blocks]
        self.rest = [self.ring.reduce(one)[0].to_dict() for one in self.free]

    def _columns(self, block: Block) -> list[Column]:
        """What the entries i <= j of a Gram matrix are multiplied with, column by column."""
        found = []
        for j, right in enumerate(block.basis):
            right = self.ring.reduce(block.by * right)[0]
            for i, left in enumerate(block.basis[: j + 1]):
                product = self.ring.reduce(left * right)[0]
                found.append((product if i == j else 2 * product).to_dict())
        return found

    @property
    def unknowns(self) -> int:
        return sum(map(len, self.columns)) + len(self.rest)

    def change(self, number: int, basis: list[Any]) -> None:
        """Give a block another basis."""
        block = self.blocks[number]
        self.blocks[number] = Block(block.by, block.known, basis)
        self.columns[number] = self._columns(self.blocks[number])

    def prune(self) -> None:
        """Leave out what must be zero: the squares that a coefficient 0 is the sum of."""
        wanted = self.target.to_dict()
        while True:
            rows: dict[tuple[int, ...], list[tuple[int, int, fmpq]]] = {}
            spoilt = {exponents for column in self.rest for exponents in column}
            for number, columns in enumerate(self.columns):
                diagonal = {j * (j + 3) // 2: j for j in range(len(self.blocks[number].basis))}
                for place, column in enumerate(columns):
                    if place not in diagonal:
                        spoilt.update(column)
                        continue
                    for exponents, value in column.items():
                        rows.setdefault(exponents, []).append((number, diagonal[place], value))
            out: set[tuple[int, int]] = set()
            for exponents, entries in rows.items():
                one_sign = len({value > 0 for _, _, value in entries}) == 1
                if exponents not in spoilt and exponents not in wanted and one_sign:
                    out |= {(number, j) for number, j, _ in entries}
            if not out:
                return
            for number, block in enumerate(self.blocks):
                if any(n == number for n, _ in out):
                    kept = [b for j, b in enumerate(block.basis) if (number, j) not in out]
                    self.change(number, kept)


class _Equations:
    """The equations of a system, without those that follow from others."""

    def __init__(self, system: System) -> None:
        columns = [column for block in system.columns for column in block] + system.rest
        wanted = system.target.to_dict()
        places = {one: i for i, one in enumerate(dict.fromkeys(e for c in columns for e in c))}
        self.possible = all(one in places for one in wanted)
        self.unknowns = n = len(columns)
        if not self.possible:
            return
        denominator = fmpz(1)
        for column in (*columns, wanted):
            for value in column.values():
                denominator = denominator.lcm(value.q)
        values = (value for column in (*columns, wanted) for value in column.values())
        most = max((abs(int(value * denominator)) for value in values), default=0)
        if len(places) * n > _CELLS or most.bit_length() > _BITS:
            self.possible = False
            return
        table = [[0] * (n + 1) for _ in places]
        for j, column in enumerate((*columns, wanted)):
            for one, value in column.items():
                table[places[one]][j] = int(value * denominator)
        reduced, divisor, rank = fmpz_mat(table).rref()
        rows = [
            {j: fmpq(value, divisor) for j, value in enumerate(row) if value}
            for row in reduced.tolist()[:rank]
        ]
        pivots = [min(row) for row in rows]
        self.possible = n not in pivots
        self.unique = rank == n
        if self.possible:
            self.dense = np.zeros((rank, n + 1))
            for i, row in enumerate(rows):
                self.dense[i, list(row)] = [float(value) for value in row.values()]
            self._pivots = [
                (pivot, row.pop(n, fmpq(0)), {j: row[j] for j in row if j != pivot})
                for pivot, row in zip(pivots, rows, strict=True)
            ]

    def nearest(self, near: Sequence[Fraction]) -> list[fmpq]:
        """The exact solution with these numbers where they are free."""
        found = [fmpq(v.numerator, v.denominator) for v in near]
        for pivot, value, row in self._pivots:
            found[pivot] = value - sum((v * found[j] for j, v in row.items()), fmpq(0))
        return found


def solved(system: System, deadline: float | None) -> Solution | None:
    """Gram matrices that are positive semidefinite and satisfy all equations, exactly."""
    for _ in range(_ROUNDS):
        if deadline is not None and time.monotonic() > deadline:
            return None
        system.prune()
        equations = _Equations(system)
        if not equations.possible:
            return None
        if not system.unknowns or equations.unique:
            return _positive(system, equations.nearest([Fraction(0)] * system.unknowns))
        left = None if deadline is None else deadline - time.monotonic()
        if not available() or (left is not None and left <= 0):
            return None
        found = _largest_margin(system, equations, left)
        if found is None:
            return None
        margin, numbers, scale = found
        if margin < _NEGATIVE:
            return None
        if margin > _POSITIVE:
            for near in _roundings(numbers * scale, scale):
                exact = _positive(system, equations.nearest(near))
                if exact is not None:
                    return exact
        if not _reduced(system, numbers):
            return None
    return None


def _roundings(numbers: np.ndarray, scale: float) -> Iterator[list[Fraction]]:
    for denominator in _DENOMINATORS:
        if denominator * scale < 1 << 60:
            yield [Fraction(round(v * denominator), denominator) for v in numbers.tolist()]


def _largest_margin(
    system: System, equations: _Equations, seconds: float | None
) -> tuple[float, np.ndarray, float] | None:
    """Numbers that satisfy the equations, and the smallest eigenvalue, which is the largest.

    The numbers are of the target divided by a scale, which comes with them.
    """
    clarabel = importlib.import_module("clarabel")
    n = equations.unknowns
    rows, right = equations.dense[:, :n], equations.dense[:, n:]
    scale = float(np.abs(right).max(initial=0)) or 1.0
    A = [np.hstack([rows, np.zeros_like(right)])]
    b = [right[:, 0] / scale]
    cones = [clarabel.ZeroConeT(len(rows))]
    A.append(np.eye(1, n + 1, n))
    b.append(np.ones(1))
    cones.append(clarabel.NonnegativeConeT(1))
    start = 0
    for block in system.blocks:
        k = len(block.basis)
        if not k:
            continue
        entries = k * (k + 1) // 2
        cone = np.zeros((entries, n + 1))
        for j in range(k):
            for i in range(j + 1):
                place = j * (j + 1) // 2 + i
                cone[place, start + place] = -1.0 if i == j else -np.sqrt(2)
                cone[place, n] = float(i == j)
        A.append(cone)
        b.append(np.zeros(entries))
        cones.append(clarabel.PSDTriangleConeT(k))
        start += entries
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    if seconds is not None:
        settings.time_limit = seconds
    objective = np.zeros(n + 1)
    objective[n] = -1.0
    nothing = scipy.sparse.csc_matrix((n + 1, n + 1))
    matrix = scipy.sparse.csc_matrix(np.vstack(A))
    answer = clarabel.DefaultSolver(
        nothing, objective, matrix, np.concatenate(b), cones, settings
    ).solve()
    numbers = np.array(answer.x)
    if len(numbers) != n + 1 or not np.isfinite(numbers).all():
        return None
    if str(answer.status) not in {
        "Solved",
        "AlmostSolved",
        "InsufficientProgress",
        "MaxIterations",
    }:
        return None
    return float(numbers[n]), numbers[:n], scale


def _matrices(system: System, numbers: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """The Gram matrices whose upper triangles stand one after the other."""
    start = 0
    for block in system.blocks:
        k = len(block.basis)
        yield [
            [numbers[start + max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(k)]
            for i in range(k)
        ]
        start += k * (k + 1) // 2


def _positive(system: System, exact: list[fmpq]) -> Solution | None:
    """The solution, if its Gram matrices are positive semidefinite."""
    matrices = list(_matrices(system, exact))
    if any(squares_of(matrix) is None for matrix in matrices):
        return None
    if system.strict and (not matrices[-1] or matrices[-1][0][0] <= 0):
        return None
    return matrices, exact[len(exact) - len(system.rest) :]


def squares_of(matrix: list[list[fmpq]]) -> list[tuple[fmpq, list[fmpq]]] | None:
    """``xᵀ M x = Σ weight · (row · x)²`` with weights > 0, or None: M has a negative direction."""
    rest = [list(row) for row in matrix]
    found: list[tuple[fmpq, list[fmpq]]] = []
    left = set(range(len(rest)))
    while left:
        pivot = max(left, key=lambda i: (rest[i][i], -i))
        weight = rest[pivot][pivot]
        if weight < 0:
            return None
        if weight == 0:
            if any(rest[i][j] != 0 for i in left for j in left):
                return None
            return found
        row = [rest[pivot][j] / weight if j in left else fmpq(0) for j in range(len(rest))]
        found.append((weight, row))
        left.remove(pivot)
        for i in left:
            if rest[i][pivot] != 0:
                for j in left:
                    rest[i][j] -= rest[i][pivot] * row[j]
    return found


def _reduced(system: System, numbers: np.ndarray) -> bool:
    """Keep the Gram matrices off their null vectors, as far as these look rational."""
    changed = False
    matrices = [np.array(one, dtype=float) for one in _matrices(system, numbers.tolist())]
    top = max((np.abs(one).max() for one in matrices if one.size), default=1.0)
    for number, matrix in enumerate(matrices):
        basis = system.blocks[number].basis
        if not basis:
            continue
        vectors = _null_vectors(matrix / top)
        if vectors is None:
            continue
        pivots, rows = vectors
        kept = []
        for j in range(len(basis)):
            if j not in pivots:
                one = basis[j]
                for pivot, row in zip(pivots, rows, strict=True):
                    one = one - fmpq(row[j].numerator, row[j].denominator) * basis[pivot]
                kept.append(one)
        system.change(number, kept)
        changed = True
    return changed


def _null_vectors(matrix: np.ndarray) -> tuple[list[int], list[list[Fraction]]] | None:
    """Rational null vectors in reduced form: their pivots, and the rows."""
    values, vectors = np.linalg.eigh(matrix)
    logs = np.log10(np.maximum(values, 1e-14))
    gaps = sorted(
        ((logs[k] - logs[k - 1] if k < len(logs) else -1.0 - logs[k - 1]), k)
        for k in range(1, len(logs) + 1)
        if values[k - 1] < 1e-3
    )
    for gap, k in reversed(gaps):
        if gap < 1:
            break
        null = vectors[:, :k].T
        _, _, order = scipy.linalg.qr(null, pivoting=True)
        pivots = sorted(int(p) for p in order[:k])
        reduced = np.linalg.solve(null[:, pivots], null)
        for tolerance, most in _NEAR:
            rows = _simple(reduced, tolerance, most)
            if rows is not None:
                return pivots, rows
    return None


def _simple(matrix: np.ndarray, tolerance: float, most: int) -> list[list[Fraction]] | None:
    """Fractions with small denominators that are so near to all entries, if there are any."""
    rows = []
    for row in matrix.tolist():
        simple = []
        for value in row:
            near = _simplest(value, tolerance, most)
            if near is None:
                return None
            simple.append(near)
        rows.append(simple)
    return rows


def _simplest(value: float, tolerance: float, most: int) -> Fraction | None:
    """The rational number with the smallest denominator, at most `most`, that is so near."""
    for denominator in range(1, most + 1):
        top = round(value * denominator)
        if abs(top / denominator - value) <= tolerance:
            return Fraction(top, denominator)
    return None
