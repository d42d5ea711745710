"""Functions of one instance under `torch.func.vmap`, against the same functions of a batch."""

from fractions import Fraction

import pytest
import torch
from torch.func import grad, hessian, jacrev, jvp, vmap

from rankcheck.balls import as_batch
from rankcheck.theory import linalg

FUNCTIONS = {
    "singular values": linalg.singular_values,
    "rank": linalg.rank,
    "nuclear norm": linalg.nuclear_norm,
    "Schatten sum": lambda A: linalg.schatten_power(A, Fraction(2, 3)),
    "pseudo-determinant": linalg.log_pseudo_determinant,
    "pseudo-inverse": linalg.pseudo_inverse,
    "root": linalg.symmetric_sqrt,
    "logarithm": linalg.symmetric_log,
    "absolute value": linalg.symmetric_abs,
    "projection": lambda A: linalg.spectral_projection(A, 2),
    "spectral radius": linalg.spectral_radius,
}
WITHOUT_SECOND = ("root", "logarithm", "absolute value", "projection", "spectral radius")


def semidefinite(count, n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(count, n, n, dtype=torch.float64, generator=generator)
    return A @ A.mT + torch.eye(n, dtype=torch.float64)


def weighted(f):
    """A number made of all entries of a result, each with another weight."""

    def number(A):
        y = f(A)
        return (y * torch.arange(1, y.numel() + 1, dtype=torch.float64).reshape(y.shape)).sum()

    return number


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_values_are_those_of_the_batch_bit_for_bit(name, n):
    if name == "projection" and n == 1:
        n = 3
    f, A = FUNCTIONS[name], semidefinite(20, n)
    assert torch.equal(vmap(f)(A), f(A))
    assert torch.equal(vmap(vmap(f))(A.reshape(4, 5, n, n)), f(A.reshape(4, 5, n, n)))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"rank"}))
@pytest.mark.parametrize("n", [3, 4])
def test_gradients_are_those_of_each_instance(name, n):
    number, A = weighted(FUNCTIONS[name]), semidefinite(5, n)
    leaves = [a.clone().requires_grad_() for a in A]
    expected = torch.stack([torch.autograd.grad(number(a), a)[0] for a in leaves])
    outside = A.clone().requires_grad_()
    (through,) = torch.autograd.grad(vmap(number)(outside).sum(), outside)
    for found in (vmap(grad(number))(A), vmap(jacrev(number))(A), through):
        assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_second_derivatives_of_singular_values():
    """Those that torch has of a sum of powers of them, forward and reverse."""
    generator = torch.Generator().manual_seed(2)
    A = torch.randn(4, 3, 4, dtype=torch.float64, generator=generator)
    expected = torch.stack([hessian(lambda a: torch.linalg.svdvals(a).pow(3).sum())(a) for a in A])
    cube = lambda a: linalg.singular_values(a).pow(3).sum()  # noqa: E731
    for found in (vmap(hessian(cube))(A), vmap(jacrev(jacrev(cube)))(A)):
        assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", WITHOUT_SECOND)
def test_derivatives_that_there_are_not_raise(name):
    """They would be wrong in silence if the eigenvectors counted as constants."""
    number, A = weighted(FUNCTIONS[name]), semidefinite(3, 3)
    leaf = A[0].clone().requires_grad_()
    (first,) = torch.autograd.grad(number(leaf), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="second order"):
        first.sum().backward()
    with pytest.raises(RuntimeError, match="second order"):
        vmap(jacrev(jacrev(number)))(A)
    with pytest.raises(NotImplementedError, match="jvp"):
        jvp(number, (A[0],), (A[0],))


def test_lapack_gets_all_matrices_as_one_plain_batch(monkeypatch):
    """Of a mapped matrix torch computes the vectors, too."""
    shapes, of_batch = [], torch.linalg.svdvals

    def noted(A):
        shapes.append(tuple(A.shape))
        return of_batch(A)

    monkeypatch.setattr(torch.linalg, "svdvals", noted)
    vmap(linalg.singular_values)(semidefinite(50, 4))
    assert shapes == [(50, 4, 4)]


def test_as_batch_hands_over_all_instances_at_once():
    """A function that goes on until all are done, and looks at values for that."""
    sizes = []

    def halved(x, factor):
        sizes.append(len(x))
        while float((x * factor).detach().abs().max()) > 1:
            x = x / 2
        return x

    x = torch.tensor([1.0, 8.0, -3.0], dtype=torch.float64)
    whole = halved(x, torch.tensor([2.0, 2.0, 2.0]))
    mapped = vmap(lambda a: as_batch(halved, a, torch.tensor(2.0)))(x)
    assert torch.equal(mapped, whole)
    assert sizes == [3, 3]
    both = vmap(grad(lambda a: as_batch(halved, a, torch.tensor(2.0))))(x)
    assert both.tolist() == [1 / 16] * 3


def test_functions_may_close_over_what_is_mapped():
    A, t = semidefinite(5, 3), torch.arange(1.0, 6.0, dtype=torch.float64)
    scaled = vmap(lambda a, s: linalg.spectral_function(a, lambda x: x * s))(A, t)
    assert torch.allclose(scaled, A * t[:, None, None], rtol=1e-13)
