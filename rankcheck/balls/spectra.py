"""Eigenspaces and functions of one symmetric matrix, and eigenvalues of one general matrix.

**Symmetric, rational.** With the distinct eigenvalues λ_k of the exact characteristic polynomial,
the orthogonal projection onto the eigenspace of λ_k is Π_{j≠k} (A − λ_j)/(λ_k − λ_j) (Lagrange),
whatever the multiplicities. Close eigenvalues cost digits, so the precision is raised until the
projections are as sharp as asked for.

**Symmetric, balls.** A = M + E with ‖E‖_F ≤ ε. Eigenvalues of M with small gaps form a cluster, and
the projection onto the span of its eigenvectors moves by at most ε/(g − ε) in operator norm, g > ε
being the gap to the other clusters (Davis and Kahan's sin Θ theorem, with Weyl's inequality for the
gap). On a cluster f(A) lies within rad f(h) of mid f(h), where h contains its eigenvalues.

**General, rational.** The roots of the factors of the exact characteristic polynomial. **Balls**:
flint's enclosures if the eigenvalues are isolated. Else the better of two: Gershgorin's discs of
V⁻¹AV, for a V whose columns are close to eigenvectors (each component of k discs contains k
eigenvalues); and the eigenvalues of M with the radius n (2μ)^{1−1/n} ‖E‖^{1/n}, where μ bounds the
norms of the matrices in A (Elsner; Bhatia, *Matrix Analysis*, Theorem VIII.1.1 and the bound of the
matching distance after it), which holds at Jordan blocks too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from flint import acb_mat, arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz_poly

from rankcheck.balls import choices, matrices, numbers
from rankcheck.balls.complexes import (
    Complex,
    conjugate,
    doubled,
    from_acb,
    halved,
    has_complex,
    imag,
    parts,
    real,
)
from rankcheck.balls.numbers import ONE, ZERO, NoBallForm, Number, Undecided, precision

SHARPEST = 64
"""Projections are computed with at most this many times the current precision."""

CLOSE = 1e-12
"""Relative distance below which the order of eigenvalues in floats is not trusted."""


class Cluster(NamedTuple):
    """Some consecutive eigenvalues of a symmetric matrix, apart from all others.

    Attributes:
        values: their enclosures, ascending, repeated as often as they are eigenvalues.
        equal: whether they are known to be one number.
        projection: (n, n), the orthogonal projection onto the span of their eigenvectors.
    """

    values: list[Number]
    equal: bool
    projection: np.ndarray


def clusters(A: np.ndarray) -> list[Cluster]:
    """The eigenvalues of a real symmetric matrix in ascending clusters, with their projections.

    The distinct eigenvalues of a rational matrix. Raises Undecided for an unbounded one.
    """
    if len(A) == 0:
        return []
    M = matrices.rational_matrix(A)
    if M is not None:
        return [
            Cluster([value] * count, True, projection)
            for value, count, projection in _rational_projections(M)
        ]
    split = matrices.midpoint_and_error(A)
    if split is None:
        raise Undecided("nothing is known of the spectrum of a matrix with unknown entries")
    return _merged(_rational_projections(split[0]), split[1])


def _rational_projections(M: fmpq_mat) -> list[tuple[Number, int, np.ndarray]]:
    """The distinct eigenvalues in ascending order, their multiplicities and projections."""
    N, d = M.numer_denom()
    p = N.charpoly()
    wanted = ctx.prec
    bits = wanted + 16
    while True:
        with precision(bits):
            roots = [(x / d, count) for x, count in matrices.distinct_real_roots(p)]
            roots.sort(key=lambda root: numbers.middle(root[0]))
            apart = all(x < y for (x, _), (y, _) in pairwise(roots))
            projections = _lagrange(M, [x for x, _ in roots]) if apart else []
        sharp = apart and all(_is_sharp(P, wanted) for P in projections)
        if sharp or (apart and bits > SHARPEST * wanted):
            rounded = np.frompyfunc(lambda x: x if isinstance(x, fmpq) else +x, 1, 1)
            return [
                (rounded(x), n, rounded(P)) for (x, n), P in zip(roots, projections, strict=True)
            ]
        bits *= 2


def _is_sharp(P: np.ndarray, bits: int) -> bool:
    limit = arb(2) ** (-bits)
    return all(isinstance(x, fmpq) or x.rad() <= limit for x in P.ravel().tolist())


def _lagrange(M: fmpq_mat, values: Sequence[Number]) -> list[np.ndarray]:
    """Π_{j≠k} (M − λ_j)/(λ_k − λ_j) for each k, from the products before and after k."""
    n, count = M.nrows(), len(values)
    exact = all(isinstance(x, fmpq) for x in values)
    kind: Any = fmpq_mat if exact else arb_mat
    one = kind(n, n, matrices.identity(n).ravel().tolist())
    A = M if exact else arb_mat(M)
    shifted = [A - one * x for x in values]
    before, after = [one], [one]
    for k in range(count - 1):
        before.append(before[-1] * shifted[k])
        after.append(after[-1] * shifted[count - 1 - k])
    result = []
    for k, x in enumerate(values):
        scale = math.prod((x - y for j, y in enumerate(values) if j != k), start=ONE)
        result.append(matrices.array(before[k] * after[count - 1 - k] * (ONE / scale)))
    return result


def _merged(spectrum: list[tuple[Number, int, np.ndarray]], error: arb) -> list[Cluster]:
    """The clusters of every matrix within `error` of one that has this spectrum."""
    spread = arb(spectrum[-1][0]) - arb(spectrum[0][0])
    smallest = (error * 8 + (error * abs(spread)).sqrt()).upper()
    groups = [[spectrum[0]]]
    gaps = []
    for lower, upper in pairwise(spectrum):
        gap = (arb(upper[0]) - arb(lower[0])).lower()
        if gap > smallest:
            groups.append([])
            gaps.append(gap)
        groups[-1].append(upper)
    result = []
    for place, group in enumerate(groups):
        P = sum((entry[2] for entry in group[1:]), start=group[0][2])
        around = gaps[max(place - 1, 0) : place + 1]
        if around:
            moved = max((error / (gap - error)).upper() for gap in around)
            P = P + arb(0, moved)
        values = [x + arb(0, error) for x, count, _ in group for _ in range(count)]
        result.append(Cluster(values, len(values) == 1, P))
    return result


def function_of_symmetric(A: np.ndarray, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """f(A) = Σ f(λ_k) P_k for symmetric or Hermitian A, f a function of an array of eigenvalues.

    The lower triangle is read.
    """
    A = matrices.from_lower_triangle(A)
    if has_complex(A):
        return halved(function_of_symmetric(doubled(A), f))
    total = np.full(A.shape, ZERO, dtype=object)
    widest: arb = arb(0)
    for cluster in clusters(A):
        low, high = cluster.values[0], cluster.values[-1]
        hull = low if cluster.equal else arb(low).union(arb(high))
        value = f(np.array([hull], dtype=object))[0]
        if not isinstance(value, fmpq):
            if not value.is_finite():
                return np.full(A.shape, numbers.unknown(), dtype=object)
            if not cluster.equal:
                widest = max(widest, value.rad())
                value = value.mid()
        if not (isinstance(value, fmpq) and value == 0):
            total = total + cluster.projection * value
    return total if widest == 0 else total + arb(0, widest)


def projection_onto_largest(A: np.ndarray, k: int) -> np.ndarray:
    """The orthogonal projection onto the span of the eigenvectors of the k largest eigenvalues.

    Raises Undecided unless the k-th largest is provably larger than the next.
    """
    A = matrices.from_lower_triangle(A)
    if has_complex(A):
        return halved(projection_onto_largest(doubled(A), 2 * k))
    total = np.full(A.shape, ZERO, dtype=object)
    left = k
    for cluster in reversed(clusters(A)):
        if left <= 0:
            break
        left -= len(cluster.values)
        total = total + cluster.projection
    if left < 0:
        raise Undecided(
            f"the {k}-th and {k + 1}-th largest eigenvalues are equal or too close to tell apart, "
            "so the projection onto the first of them is not defined"
        )
    return total


# Single vectors.


def eigenvectors(A: np.ndarray, triangle: str = "L") -> np.ndarray:
    """Unit eigenvectors of a symmetric matrix as columns, eigenvalues ascending.

    The lower triangle of A is read. The signs are those of `torch.linalg.eigh` at the midpoint,
    which depend on the triangle that it is told to read. Raises Undecided where
    eigenvalues are not provably distinct, or where floats do not tell the vectors apart.
    """
    if has_complex(A):
        raise NoBallForm(
            "the eigenvectors of a Hermitian matrix",
            "their phases are arbitrary; use rankcheck.linalg.spectral_function or "
            "spectral_projection",
        )
    A = matrices.from_lower_triangle(A)
    floats = float_midpoints(A)
    try:
        guide = torch.linalg.eigh(floats, UPLO=triangle).eigenvectors
    except RuntimeError as error:
        raise Undecided("floats have no eigenvectors to take the signs from") from error
    columns = []
    for place, cluster in enumerate(clusters(A)):
        if len(cluster.values) > 1:
            raise Undecided(
                "eigenvectors are not defined at repeated eigenvalues, and eigenvalues of this "
                "matrix are equal or too close to tell apart; use "
                "rankcheck.linalg.spectral_function or spectral_projection"
            )
        columns.append(signed(unit_vector(cluster.projection), guide[:, place], place))
    return np.stack(columns, -1) if columns else A


def unit_vector(P: np.ndarray) -> np.ndarray:
    """The unit vector v, up to sign, with P = vvᵀ."""
    largest = max(range(len(P)), key=lambda j: numbers.middle(P[j, j]))
    if not P[largest, largest] > 0:
        raise Undecided("an eigenvector of this matrix is not known to any digit")
    root = numbers.sqrt(P[largest, largest])
    return np.frompyfunc(lambda x: x / root, 1, 1)(P[:, largest])


def signed(v: np.ndarray, guide: torch.Tensor, place: int) -> np.ndarray:
    """v or −v, whichever is close to the vector that floats give; `choices` may turn it."""
    floats = torch.tensor([float(numbers.middle(x)) for x in v], dtype=torch.float64)
    agreement = float(floats @ guide)
    if not abs(agreement) > 0.9:
        raise Undecided(
            "the sign of a singular or eigenvector is arbitrary, and floats do not resolve this "
            "vector, so there is no sign to follow"
        )
    return v if agreement * choices.sign(place) > 0 else -v


def float_midpoints(A: np.ndarray) -> torch.Tensor:
    """The midpoints as floats. Raises Undecided where they are not finite."""

    def number(x: Number) -> float:
        try:
            return int(x.p) / int(x.q) if isinstance(x, fmpq) else float(x.mid())
        except OverflowError:
            return float("inf")

    floats = [[complex(number(real(x)), number(imag(x))) for x in row] for row in A.tolist()]
    result = torch.tensor(floats, dtype=torch.complex128).reshape(A.shape)
    if not result.isfinite().all():
        raise Undecided("nothing is known of the spectrum of a matrix beyond the range of floats")
    return result if has_complex(A) else result.real.contiguous()


# General matrices.


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
    result = []
    for factor, multiplicity in N.charpoly().factor()[1]:
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
    roots = [z for z, _ in p.complex_roots()]
    return [z.real if z.imag.is_zero() else from_acb(z) for z in roots]


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
        complex(float(numbers.middle(real(z))), float(numbers.middle(imag(z)))) for z in values
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
