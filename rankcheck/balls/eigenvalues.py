"""Eigenvalues of one square matrix, which need not be symmetric.

**Rational.** The roots of the factors of the exact characteristic polynomial, or the first kind of
discs below, if flint does not isolate them soon. **Balls**: flint's enclosures if the eigenvalues
are isolated. Else the better of two: Gershgorin's discs of V⁻¹AV, for a V whose columns are close
to eigenvectors (each component of k discs contains k eigenvalues); and the eigenvalues of M with
the radius n (2μ)^{1−1/n} ‖E‖^{1/n}, where μ bounds the norms of the matrices in A (Elsner; Bhatia,
*Matrix Analysis*, Theorem VIII.1.1 and the bound of the matching distance after it), which holds at
Jordan blocks too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from flint import acb_mat, arb, ctx, fmpq, fmpq_mat, fmpz_poly

from rankcheck.balls import choices, matrices, numbers, orders, roots
from rankcheck.balls.complexes import (
    Complex,
    conjugate,
    doubled,
    from_acb,
    has_complex,
    imag,
    parts,
    real,
)
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import ONE, ZERO, Number, Undecided, precision
from rankcheck.balls.spectra import float_midpoints

CLOSE = 1e-12
"""Relative distance below which the order of eigenvalues in floats is not trusted."""


def spectrum(A: np.ndarray) -> list[Any]:
    """The eigenvalues of a square matrix with their multiplicities, in no particular order."""
    if len(A) == 0:
        return []
    if has_complex(A):
        return _complex_spectrum(A)
    M = matrices.rational_matrix(A)
    if M is not None:
        return _rational_spectrum(M)
    split = matrices.midpoint_and_error(A)
    if split is None:
        unknown = Complex(numbers.unknown(), numbers.unknown())
        return [unknown] * len(A)
    whole = acb_mat(matrices.ball_matrix(A))
    simple = _isolated(whole)
    if simple is not None:
        return simple
    moved = _moved(_rational_spectrum(split[0]), A, split[1])
    discs = _gershgorin(whole)
    return moved if discs is None or _width(moved) < _width(discs) else discs


def _width(values: list[Any]) -> float:
    return max(float(part(z).rad()) for z in values for part in (real, imag))


def _gershgorin(A: acb_mat) -> list[Any] | None:
    """Boxes around the components of Gershgorin's discs after an approximate diagonalisation.

    None if the approximate eigenvectors are not provably independent.
    """
    n = A.nrows()
    with precision(2 * ctx.prec + 64):
        try:
            _, V = A.mid().eig(right=True, algorithm="approx")
            V = V.mid()
            B = V.inv() * A * V
        except (ValueError, ZeroDivisionError):
            return None
        discs = []
        for i in range(n):
            away = sum((B[i, j].abs_upper() for j in range(n) if j != i), start=arb(0))
            box = arb(0, away.upper())
            discs.append(Complex(B[i, i].real + box, B[i, i].imag + box))
    if not all(z.real.is_finite() and z.imag.is_finite() for z in discs):
        return None
    # Boxes of discs that touch are merged, so a component of k boxes has k eigenvalues in it.
    group = list(range(n))
    for a in range(n):
        for b in range(a):
            if discs[a].real.overlaps(discs[b].real) and discs[a].imag.overlaps(discs[b].imag):
                old, new = group[a], group[b]
                group = [new if g == old else g for g in group]
    hulls = {g: _hull([z for z, h in zip(discs, group, strict=True) if h == g]) for g in set(group)}
    return [hulls[g] for g in group]


def _rational_spectrum(M: fmpq_mat) -> list[Any]:
    N, d = M.numer_denom()
    factors = matrices.bounded(N).charpoly().factor()[1]
    if not all(factor.degree() <= 2 or roots.isolable(factor) for factor, _ in factors):
        if (discs := _gershgorin(acb_mat(M))) is None:
            raise Undecided("to isolate the eigenvalues of this matrix is too much work")
        return discs
    result = []
    for factor, multiplicity in factors:
        for root in _roots(factor):
            result += [root / d] * multiplicity
    return result


def _roots(p: fmpz_poly) -> list[Any]:
    """The roots of an irreducible integer polynomial; parts that are rational are so exactly."""
    if p.degree() == 1:
        return [fmpq(-p[0], p[1])]
    if p.degree() == 2:
        c, b, a = (fmpq(p[k]) for k in range(3))
        middle, square = -b / (2 * a), (b * b - 4 * a * c) / (4 * a * a)
        if square > 0:
            larger = middle + numbers.sqrt(square) if middle >= 0 else middle - numbers.sqrt(square)
            return [larger, c / (a * larger)]
        height = numbers.sqrt(-square)
        return [Complex(middle, height), Complex(middle, -height)]
    return [z.real if z.imag.is_zero() else from_acb(z) for z, _ in p.complex_roots()]


def _isolated(A: acb_mat) -> list[Any] | None:
    """Enclosures of the eigenvalues if flint separates them, else None."""
    try:
        values = A.eig()
    except ValueError:
        return None
    if not all(z.is_finite() for z in values):
        return None
    return [from_acb(z) for z in values]


def _moved(values: list[Any], A: np.ndarray, error: arb) -> list[Any]:
    """The eigenvalues of every matrix in A from those of its midpoint, by Elsner's bound."""
    n = len(A)
    squares = sum(arb(numbers.absolute(x)).upper() ** 2 for x in A.ravel().tolist())
    size = numbers.sqrt(arb(squares).upper()) * 2
    radius = arb(n * arb(size) ** (1 - arb(1) / n) * error.root(n)).upper() if n > 1 else error
    box = arb(0, radius)
    return [Complex(real(z) + box, imag(z) + box) for z in values]


def _complex_spectrum(A: np.ndarray) -> list[Any]:
    rational = matrices.rational_matrix(doubled(A)) is not None
    if not rational:
        whole = matrices.complex_ball_matrix(A)
        simple = _isolated(whole) or _gershgorin(whole)
        if simple is None:
            raise NoBallForm(
                "the eigenvalues of a complex matrix of balls that are not isolated",
                "for a Hermitian matrix use torch.linalg.eigvalsh",
            )
        return simple
    # The characteristic polynomial of [[X, −Y], [Y, X]] is p p̄, where p is that of X + iY: each of
    # its roots z is a root of p or of p̄, and how often is decided by the derivatives of p.
    candidates = _rational_spectrum(matrices.rational_matrix(doubled(A)))
    p = _characteristic_polynomial(A)
    counts: dict[int, int] = {}
    for z in candidates:
        counts[id(z)] = counts.get(id(z), 0) + 1
    distinct = {id(z): z for z in candidates}
    result: list[Any] = []
    for key, z in distinct.items():
        at_most, conjugate_at_most = (
            _order_of_vanishing(p, w, counts[key]) for w in (z, conjugate(z))
        )
        if at_most + conjugate_at_most != counts[key]:
            raise Undecided(
                "the multiplicity of an eigenvalue of a complex matrix is not decidable at "
                f"{ctx.prec} bits"
            )
        result += [z] * at_most
    return result


def _order_of_vanishing(p: list[Any], z: Any, most: int) -> int:
    """The least k <= most with p^{(k)}(z) provably not zero, or `most`."""
    for k in range(most):
        value: Any = ZERO
        for c in p:
            value = value * z + c
        if real(value) != 0 or imag(value) != 0:
            return k
        degree = len(p) - 1
        p = [c * fmpq(degree - j) for j, c in enumerate(p[:-1])]
    return most


def _characteristic_polynomial(A: np.ndarray) -> list[Any]:
    """The coefficients of det(x − A), the leading one first (Faddeev and LeVerrier)."""
    n = len(A)
    one = matrices.identity(n)
    coefficients: list[Any] = [ONE]
    B = np.full((n, n), ZERO, dtype=object)
    for k in range(1, n + 1):
        B = A @ B + coefficients[-1] * one
        coefficients.append(np.trace(A @ B) / fmpq(-k))
    return coefficients


def spectral_radius(A: np.ndarray) -> Number:
    """max |λ| over the eigenvalues."""
    if has_complex(A):
        A = doubled(A)
    result: Number = ZERO
    for z in spectrum(A):
        size = z.absolute() if isinstance(z, Complex) else numbers.absolute(z)
        result = numbers.maximum(result, size)
    return result


def in_order_of_floats(A: np.ndarray, values: list[Any]) -> list[Any]:
    """The eigenvalues in the order in which `torch.linalg.eigvals` gives those of the midpoint.

    Where floats do not tell some of them apart, each of these becomes a box that contains them all.
    `choices` may change the order.
    """
    if len(set(map(id, values))) <= 1:
        return values
    floats = torch.linalg.eigvals(float_midpoints(A)).tolist()
    middles = [
        complex(float(orders.middle(real(z))), float(orders.middle(imag(z)))) for z in values
    ]
    pairs = sorted((abs(w - z), i, j) for i, w in enumerate(floats) for j, z in enumerate(middles))
    place: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in pairs:
        if i not in place and j not in taken:
            place[i] = j
            taken.add(j)
    scale = max(abs(z) for z in middles)
    doubt = CLOSE * scale + 4 * max(abs(floats[i] - middles[j]) for i, j in place.items())
    group = list(range(len(values)))
    for a in range(len(values)):
        for b in range(a):
            if abs(middles[a] - middles[b]) <= doubt:
                old, new = group[a], group[b]
                group = [new if g == old else g for g in group]
    hulls = {
        g: _hull([z for z, other in zip(values, group, strict=True) if other == g])
        for g in set(group)
    }
    return [hulls[group[place[i]]] for i in choices.order(len(values))]


def _hull(values: list[Any]) -> Any:
    if all(z is values[0] for z in values):
        return values[0]
    halves = []
    for half in parts(np.array(values, dtype=object)):
        total = arb(half[0])
        for x in half[1:]:
            total = total.union(arb(x))
        halves.append(total)
    return Complex(*halves)
