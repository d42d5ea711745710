r"""Linear algebra of matrices of modular numbers: rationals at the sample, residues at the points.

By Cramer's rule all results are quotients of minors. To bound these, the rows are cleared of their
denominators: a minor is then a sum of r! products of one entry of each of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq_mat

from rankcheck.algebra.modular import BALL, Modular, number
from rankcheck.algebra.points import BadPoint, Points
from rankcheck.algebra.sizes import UP, Atom, Power, ceil_log, of_atoms, times
from rankcheck.balls import matrices
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import ZERO, Undecided

__all__: list[str] = []


def _points(*arrays: np.ndarray) -> Points:
    return next(x.points for A in arrays for x in A.ravel().tolist() if isinstance(x, Modular))


def _at_sample(A: np.ndarray) -> np.ndarray:
    """The matrix at the sample."""
    values = np.empty(A.size, dtype=object)
    values[:] = [x.value if isinstance(x, Modular) else x for x in A.ravel().tolist()]
    return values.reshape(A.shape)


def _is_lost(A: np.ndarray) -> str:
    """The operation that made an entry which is no rational function; empty if there is none."""
    for x in A.ravel().tolist():
        if isinstance(x, Modular) and x.lost:
            return x.lost
        if isinstance(x, arb):
            return BALL
    return ""


class _Matrix:
    """A matrix of rational functions.

    Attributes:
        sample: its values there.
        residues: in each round.
        rows: of each row, when it is cleared of its denominators, degree and bits of its entries.
        content, atoms: the product of what the rows were multiplied by.
    """

    def __init__(self, A: np.ndarray) -> None:
        self.points = points = _points(A)
        cells = [[number(points, x) for x in row] for row in A.tolist()]
        flat = [x for row in cells for x in row]
        self.sample = fmpq_mat(*A.shape, [x.value for x in flat])
        rows, columns = A.shape
        self.residues = points.matrices(rows, columns, [x.residue for x in flat])
        self.rows: list[tuple[int, float]] = []
        self.content, self.atoms = 1, dict[Atom, int]()
        for row in cells:
            self._clear(row)

    def _clear(self, row: Sequence[Modular]) -> None:
        content = math.lcm(*(x.content for x in row))
        atoms: dict[Atom, int] = {}
        for x in row:
            for atom, power in x.atoms.items():
                atoms[atom] = max(power, atoms.get(atom, 0))
        degree, bits = 0, 0.0
        for x in row:
            more, more_bits = of_atoms(atoms, x.atoms)
            degree = max(degree, x.degree + more)
            bits = max(bits, (x.bits + more_bits + ceil_log(content // x.content)) * UP)
        self.rows.append((degree, bits))
        self.content *= content
        self.atoms = dict(times(self.atoms, atoms))

    def minor(self, order: int) -> tuple[int, float]:
        """Degree and bits of a minor of that order of the cleared matrix."""
        degrees = sorted((degree for degree, _ in self.rows), reverse=True)[:order]
        bits = sorted((bits for _, bits in self.rows), reverse=True)[:order]
        return sum(degrees), (sum(bits) + ceil_log(math.factorial(order))) * UP


def rank(A: np.ndarray) -> int:
    """The rank on the pattern: that at the sample, where no larger minor vanishes by chance."""
    if lost := _is_lost(A):
        if (order := matrices.rank(_at_sample(A))) < min(A.shape):
            raise Undecided(
                f"the rank of a matrix of what {lost} made is not known around the sample"
            )
        return order
    M = _Matrix(A)
    there, around = M.sample.rank(), [int(residues.rank()) for residues in M.residues]
    if min(around) < there and max(around) <= there:
        raise BadPoint("a matrix has a smaller rank at the random point than at the sample")
    if there < min(A.shape):
        text = f"the rank of a {A.shape[0]} × {A.shape[1]} matrix, {there},"
        M.points.take_as_zero(int(max(around) > there), *M.minor(there + 1), text)
    return int(there)


def determinant(A: np.ndarray) -> Any:
    if lost := _is_lost(A):
        raise NoBallForm(f"the determinant of what {lost} made")
    M = _Matrix(A)
    [residue] = M.points.together([[int(residues.det())] for residues in M.residues])
    degree, bits = M.minor(len(A))
    return Modular(M.points, M.sample.det(), residue, degree, bits, M.content, M.atoms)


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The X with AX = B. Raises LinAlgError if A is singular."""
    if lost := _is_lost(A) or _is_lost(B):
        raise NoBallForm(f"the solution of equations of what {lost} made")
    n = len(A)
    both = _Matrix(np.concatenate([A, B], 1))
    points = both.points
    left = fmpq_mat(n, n, _at_sample(A).ravel().tolist())
    residues = [[number(points, x).residue for x in M.ravel().tolist()] for M in (A, B)]
    moduli = points.matrices(n, n, residues[0])
    degree, bits = both.minor(n)
    if left.det() == 0:
        [residue] = points.together([[int(M.det())] for M in moduli])
        points.take_as_zero(residue, degree, bits, "a determinant == 0")
        raise torch.linalg.LinAlgError("the matrix is singular")
    rows, columns = B.shape
    right = fmpq_mat(rows, columns, _at_sample(B).ravel().tolist())
    try:
        found = [
            [int(x) for x in M.solve(R).entries()]
            for M, R in zip(moduli, points.matrices(rows, columns, residues[1]), strict=True)
        ]
    except ZeroDivisionError:
        raise BadPoint("a matrix is singular at the random point, and not at the sample") from None
    atoms: Power = {Atom(degree, bits): 1}
    X = np.empty(B.size, dtype=object)
    X[:] = [
        Modular(points, value, residue, degree, bits, 1, atoms)
        for value, residue in zip(left.solve(right).entries(), points.together(found), strict=True)
    ]
    return X.reshape(B.shape)


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    """Moore and Penrose's inverse.

    If A has the rank r, its columns and rows of a minor of order r that is not zero, C and R with
    the minor K in common, give A = C K⁻¹ R, and A⁺ = Fᵀ(FFᵀ)⁻¹(CᵀC)⁻¹Cᵀ with F = K⁻¹R.
    """
    if lost := _is_lost(A):
        raise NoBallForm(f"the pseudo-inverse of what {lost} made")
    order = rank(A)
    if order == 0:
        return np.full(A.shape[::-1], ZERO, dtype=object)
    M = fmpq_mat(*A.shape, _at_sample(A).ravel().tolist())
    columns = _pivots(M, order)
    C = A[:, columns]
    rows = _pivots(fmpq_mat(len(A), order, _at_sample(C).ravel().tolist()).transpose(), order)
    F = solve(A[np.ix_(rows, columns)], A[rows])
    return F.T @ solve(F @ F.T, solve(C.T @ C, C.T))


def _pivots(M: fmpq_mat, order: int) -> list[int]:
    """The columns of the pivots."""
    echelon = matrices.array(M.rref()[0])[:order]
    return [int(np.flatnonzero(row != 0)[0]) for row in echelon]


def _lose(name: str, function: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    """A function whose values are not rational: what it is at the sample."""

    def of_matrix(A: np.ndarray) -> Any:
        points, found = _points(A), function(_at_sample(A))
        lose = lambda x: Modular(points, arb(x), 0, 0, 0.0, lost=name.replace("_", " "))  # noqa: E731
        return [lose(x) for x in found] if isinstance(found, list) else lose(found)

    return of_matrix


Modular.linear_algebra = {
    **{function.__name__: function for function in (determinant, pseudo_inverse, rank, solve)},
    **{
        name: _lose(name, getattr(matrices, name))
        for name in ("eigenvalues", "log_pseudo_determinant", "singular_values")
    },
}
