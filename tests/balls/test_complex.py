"""Complex ball arrays: against torch's complex128, mpmath, and exact Gaussian rationals."""

import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, fmpq

from rankcheck.balls import BallArray, NoBallForm, Undecided, balls, pi, rank
from rankcheck.balls.complexes import Complex
from rankcheck.text import array_text, short_text, value_text
from rankcheck.theory import linalg

exact: Any = BallArray.exact


def gaussian(rng, m, n=None) -> Any:
    """Integers and halves in both parts."""
    n = m if n is None else n
    halves = [[[Fraction(rng.randint(-6, 6), 2) for _ in range(n)] for _ in range(m)]
              for _ in range(2)]  # fmt: skip
    return torch.complex(exact(halves[0]), exact(halves[1]))


GENERATOR = torch.Generator().manual_seed(3)
Z = torch.randint(-16, 17, (2, 3, 3, 2), generator=GENERATOR).double() / 4
Z = torch.view_as_complex(Z)
W = Z[:, :, :2]

FUNCTIONS = {
    "arithmetic": lambda z: (z + 1, 2 - z, z * (1 + 2j), z / (z + 9), 1 / (z + 9), -z, z + z.real),
    "powers": lambda z: (z**2, z**3, (z + 9) ** -2, z.square(), torch.pow(z, 3)),
    "parts": lambda z: (z.real, z.imag, torch.real(z), torch.imag(z)),
    "conjugates": lambda z: (z.conj(), z.mH, z.mT, z.adjoint(), z[0].H, z[0].T, z.conj().mT),
    "sizes": lambda z: (z.abs(), abs(z), torch.linalg.norm(z), torch.linalg.vector_norm(z, 1)),
    "norms": lambda z: [torch.linalg.matrix_norm(z, p) for p in ("fro", "nuc", 1, 2, torch.inf)],
    "sums": lambda z: (z.sum(-1), z.mean(), z.prod(-1), z.cumsum(0), z.var(-1), z.std(0)),
    "products": lambda z: (z @ z, z @ z[0], z.real @ z.imag, torch.einsum("bij,bkj->bik", z, z)),
    "inner products": lambda z: (
        torch.dot(z[0, 0], z[0, 1]),
        torch.kron(z[0], z[1]),
        torch.trace(z[0]),
    ),
    "exponential": lambda z: (z.exp(), torch.linalg.matrix_exp(z)),
    "functions": lambda z: (z.sqrt(), z.log(), z.sin(), z.cos(), z.sinh(), (z / 9).tan()),
    "hyperbolic": lambda z: (z.tanh(), z.cosh()),
    "shapes": lambda z: (z.reshape(-1), torch.cat([z, z]), z[0, 1], z.tril(), z.diagonal()),
    "conversions": lambda z: (z.to(torch.complex128), z.real.to(torch.complex128)),
    "predicates": lambda z: (z == z, z != z.conj(), torch.isfinite(z), z.is_complex()),
    "inverses": lambda z: (
        torch.linalg.inv(z),
        torch.linalg.solve(z, z.mT),
        torch.linalg.pinv(z),
        torch.linalg.matrix_power(z, -2),
    ),
    "determinants": lambda z: (torch.linalg.det(z),),
    "spectra": lambda z: (
        torch.linalg.svdvals(z),
        torch.linalg.eigvalsh(z),
        torch.linalg.eigvalsh(z, "U"),
        torch.linalg.eigvals(z),
    ),
    "cholesky": lambda z: (
        torch.linalg.cholesky(z @ z.mH),
        torch.linalg.cholesky(z @ z.mH, upper=True),
    ),
    "rankcheck.linalg": lambda z: (
        linalg.singular_values(z),
        linalg.singular_values(z[..., :2]),
        linalg.frobenius_squared(z),
        linalg.schatten_power(z, Fraction(1, 3)),
        linalg.range_projection(z[..., :2]),
        linalg.log_pseudo_determinant(z),
        linalg.permanent(z),
        linalg.spectral_radius(z),
        linalg.symmetric_sqrt(z @ z.mH),
        linalg.symmetric_abs(z + z.mH),
        linalg.spectral_projection(z + z.mH, 1),
        linalg.eye(3, z) + z,
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_code_on_tensors(name):
    floats, proof = FUNCTIONS[name](Z), FUNCTIONS[name](exact(Z))
    for a, b in zip(floats, proof, strict=True):
        if not isinstance(b, BallArray):
            assert torch.equal(torch.as_tensor(a), torch.as_tensor(b))
            continue
        assert a.shape == b.shape
        assert a.is_complex() == b.is_complex()
        assert a.dtype is b.dtype
        torch.testing.assert_close(b.midpoints(), a, rtol=1e-10, atol=1e-10)
        assert (b.radii() < 1e-10).all()


def test_rational_results_are_exact():
    rng = random.Random(4)
    for n in (1, 2, 3, 4):
        A, B = gaussian(rng, n), gaussian(rng, n, 2)
        assert (A @ torch.linalg.inv(A) == torch.eye(n)).all()
        assert (A @ torch.linalg.solve(A, B) == B).all()
        d = torch.linalg.det(A)
        assert d.is_exact()
        assert (torch.linalg.det(A.mH) == d.conj()).all()
        assert (torch.linalg.det(A @ A) == d * d).all()
        assert (torch.linalg.inv(A).det() * d == 1).all()
    singular = gaussian(rng, 3, 1) @ gaussian(rng, 1, 3)
    assert (torch.linalg.det(singular) == 0).all()
    assert rank(singular).item() == 1
    P = torch.linalg.pinv(singular)
    assert (singular @ P @ singular == singular).all()
    assert ((P @ singular).mH == P @ singular).all()
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.inv(singular)


def unitary(rng, n) -> Any:
    """A product of two complex Householder reflections with Gaussian rational entries."""
    Q = torch.complex(exact(torch.eye(n)), exact(torch.zeros(n, n)))
    for _ in range(2):
        v = gaussian(rng, n, 1)
        Q = Q - 2 * (Q @ v) @ v.mH / (v.mH @ v)
    return Q


@pytest.mark.parametrize("spectrum", [[0], [3, 3], [-1, 2], [0, 0, 4], [1, 1, 9], [4, 4, 4, 9]])
def test_hermitian_matrices_of_known_spectrum(spectrum):
    rng = random.Random(str(spectrum))
    U = unitary(rng, len(spectrum))
    assert (U @ U.mH == torch.eye(len(spectrum))).all()
    H = U @ torch.diag(exact(spectrum)).to(torch.complex128) @ U.mH
    assert (torch.linalg.eigvalsh(H) == exact(sorted(spectrum))).all()
    assert (torch.linalg.svdvals(H) == exact(sorted(map(abs, spectrum), reverse=True))).all()
    values = torch.linalg.eigvals(H)
    assert sorted(values.midpoints().real.tolist()) == sorted(spectrum)
    assert (values.imag == 0).all()
    root = linalg.symmetric_sqrt(H @ H)
    assert (root == linalg.symmetric_abs(H)).all()
    assert (root @ root == H @ H).all()
    assert (linalg.spectral_radius(H) == max(map(abs, spectrum))).all()
    assert rank(H).item() == sum(x != 0 for x in spectrum)
    wide = H * pi() / pi()
    for x, truth in zip(torch.linalg.eigvalsh(wide), sorted(spectrum), strict=True):
        assert x.lower() <= truth <= x.upper()
        assert x.upper() - x.lower() < Fraction(1, 10**30)
    with pytest.raises(NoBallForm, match="phases"):
        _ = torch.linalg.eigh(H).eigenvectors + 0
    with pytest.raises(NoBallForm, match="phases"):
        _ = torch.linalg.svd(H).U + 0
    with pytest.raises(NoBallForm, match="cholesky"):
        torch.linalg.qr(H)


def test_eigenvalues_of_general_complex_matrices():
    J = exact([[1, 1, 0], [0, 1, 0], [0, 0, 1]]) + 1j * torch.diag(exact([2, 2, -2]))
    rng = random.Random(9)
    P = gaussian(rng, 3)
    values = torch.linalg.eigvals(P @ J @ torch.linalg.inv(P))
    assert sorted(z.imag for z in values.midpoints().tolist()) == [-2, 2, 2]
    assert (values.real == 1).all()
    A = gaussian(rng, 4)
    with mpmath.workdps(50):
        entries = [[mpmath.mpc(complex(z)) for z in row] for row in A.midpoints().tolist()]
        oracle = mpmath.eig(mpmath.matrix(entries), left=False, right=False)
        sizes = sorted(float(abs(z)) for z in oracle)
    for wide in (A, A * pi() / pi()):
        found = sorted(torch.linalg.eigvals(wide).abs().midpoints().tolist())
        assert found == pytest.approx(sizes, rel=1e-14)


def test_enclosures_of_balls():
    rng = random.Random(5)
    A = gaussian(rng, 3)
    radius = fmpq(1, 2**40)
    box = BallArray(
        np.frompyfunc(lambda z: Complex(arb(z.real, arb(radius)), arb(z.imag, arb(radius))), 1, 1)(
            A.elements
        )
    )
    inside = A + exact([[Fraction(1, 2**41)] * 3] * 3)
    functions = (
        torch.linalg.det,
        torch.linalg.inv,
        torch.linalg.svdvals,
        torch.linalg.eigvalsh,
        torch.linalg.matrix_exp,
        torch.abs,
        torch.exp,
        linalg.spectral_radius,
        linalg.frobenius_squared,
        linalg.permanent,
        lambda z: z @ z.mH,
        lambda z: z / (z + 20),
        lambda z: linalg.symmetric_abs(z + z.mH),
    )
    for function in functions:
        outer, inner = function(box), function(inside)
        for x, y in ((outer.real, inner.real), (outer.imag, inner.imag)):
            assert np.all(x.lower() <= y.upper())
            assert np.all(y.lower() <= x.upper())
            assert np.all(x.lower() <= y.lower() + Fraction(1, 10**30))
            assert np.all(y.upper() <= x.upper() + Fraction(1, 10**30))
        assert (outer.radii() < 1e-5).all()
    assert (box.abs() >= 0).all()
    with pytest.raises(Undecided):
        _ = box == box


@pytest.mark.filterwarnings("ignore:Casting complex")  # by torch
def test_what_complex_numbers_do_not_have():
    z = gaussian(random.Random(6), 2)
    for call, words in [
        (lambda: z < 1, "order"),
        (lambda: torch.ones(2, 2) >= z, "order"),
        (lambda: z.amax(), "order"),
        (lambda: z.sort(), "complex"),
        (lambda: z.log2(), "torch.log2 of complex"),
        (lambda: z.erf(), "torch.erf of complex"),
        (lambda: z.sign(), "torch.sign of complex"),
        (lambda: z.round(), "round"),
        (lambda: z**0.5, "complex power"),
        (lambda: z.lower(), "real"),
        (lambda: z.to(torch.float64), "real"),
        (lambda: z.double(), "real"),
    ]:
        with pytest.raises((NoBallForm, TypeError, RuntimeError), match=words):
            call()


def test_constants_and_texts():
    z = balls([1j, 2 / 3 + 1j])
    assert z.dtype is torch.complex128
    assert z[0].is_exact()
    assert z[1].real.lower() <= Fraction(2, 3) <= z[1].real.upper()
    assert repr(z[0]) == "BallArray(0 + 1i)"
    assert exact(torch.tensor([1 + 2j])).is_exact()
    assert z.radii()[0] == 0 < z.radii()[1] < 2e-6
    with pytest.raises(Undecided):
        _ = torch.isfinite(z / 0)
    with pytest.raises(Undecided, match="1i"):
        _ = torch.stack([z[1], z[0]]) == torch.stack([z[1], z[0]])


def test_complex_arrays_as_text():
    z = torch.stack([balls([1j])[0], exact([1]).to(torch.complex128)[0] * pi()])
    assert array_text(z, short_text) == z.describe()
    assert value_text(z).startswith("[0 + 1i, 3.141592654… ± ")
    assert value_text(torch.tensor([1 + 2j])) == "[(1+2j)]"


def test_functions_of_complex_balls_enclose_across_the_branch_cut():
    below, above = fmpq(-1, 4), fmpq(1, 4)
    box: Any = BallArray(np.array([Complex(arb(-2, 0.5), arb(0, 0.25))], dtype=object))
    for name in ("sqrt", "log", "exp", "sin", "cos", "sinh", "cosh", "abs"):
        outer = getattr(torch, name)(box)
        for x in (fmpq(-5, 2), fmpq(-2), fmpq(-3, 2)):
            for y in (below, fmpq(0), above):
                z = mpmath.mpc(int(x.p) / int(x.q), int(y.p) / int(y.q))
                value = {"abs": abs}.get(name) or getattr(mpmath, name)
                with mpmath.workdps(30):
                    w = mpmath.mpc(value(z))
                assert float(outer.real.lower()[0]) <= w.real <= float(outer.real.upper()[0])
                assert float(outer.imag.lower()[0]) <= w.imag <= float(outer.imag.upper()[0])
    zero: Any = exact([0]).to(torch.complex128)
    with pytest.raises(Undecided):
        _ = zero.log().real <= 0
