"""Claims that the tests of the hunter hunt, also in worker processes that import this file."""

import math
from fractions import Fraction

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.balls import NoBallForm, mapped
from rankcheck.linalg import frobenius_squared, nuclear_norm, schatten_power
from rankcheck.theory.instances.matrices import matrices
from rankcheck.theory.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.theory.instances.source import instances
from rankcheck.theory.scalars import scalar


@instances
def generic(source, *, size=3, count=1):
    """Square matrices in coordinates in which no simple point is simple."""
    made = tuple(source.tensor(size, size, low=-2.0, high=2.0) for _ in range(count))
    shift = torch.sin(7 + 3 * torch.arange(size * size, dtype=torch.float64)).reshape(size, size)
    return tuple(entries + shift.to(entries.device) for entries in made)


@instances
def numbers(source, *, low=-4.0, high=4.0, count=1):
    """Numbers."""
    return tuple(source.tensor(low=low, high=high) for _ in range(count))


@instances
def never(source):
    """A family without instances."""
    x = source.tensor()
    source.require(x > 100, "x > 100")
    return x


@conjecture("hunted.easy", instances=matrices())
def test_easy(A):
    r"""$\|A\|_* \le 0.9 \|A\|_F$."""
    return leq(nuclear_norm(A), 0.9 * frobenius_squared(A).sqrt())


@conjecture("hunted.generic", instances=generic())
def test_generic(A):
    r"""$\|A\|_* \le 0.9999 \sqrt 3 \|A\|_F$ in generic coordinates: for a descent."""
    return leq(nuclear_norm(A), 0.9999 * math.sqrt(3) * frobenius_squared(A).sqrt())


@conjecture(
    "hunted.deep",
    instances=networks_at_points(depth=(1, 5), width=(1, 3)),
    tight=balanced_linear_networks(),
)
def test_deep(net, x):
    r"""$(1 + (L - 3)/50) \|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$: false from depth 4 on."""
    L = net.depth
    return leq((0.94 + 0.02 * L) * schatten_power(net.jacobian(x), 2 / L), net.cost() / L)


@conjecture("hunted.true", instances=generic())
def test_true(A):
    r"""$\|A\|_* \le \sqrt 3 \|A\|_F$; tight at multiples of orthogonal matrices."""
    three = frobenius_squared(0 * A) + 3
    return leq(nuclear_norm(A), three.sqrt() * frobenius_squared(A).sqrt())


@conjecture("hunted.true-identity", instances=numbers(count=2))
def test_true_identity(x, y):
    r"""$(x + y)(x - y) = x^2 - y^2$."""
    return eq((x + y) * (x - y), x * x - y * y, scale=x * x + y * y)


def rounding_is_large(x, y):
    big = 1000000
    lhs = ((x + big) ** 2 - x * x - 2 * big * x - big**2) * big
    return leq(lhs, 0 * x, where=y > -5)


@conjecture("hunted.careless", instances=numbers(count=2))
def test_careless(x, y):
    r"""$(x + 10^6)^2 - x^2 - 2 \cdot 10^6 x = 10^{12}$, with a tolerance that is far too small."""
    return rounding_is_large(x, y)


@conjecture("hunted.single", instances=generic())
def test_single(A):
    r"""$\|A\|_* \le 0.97 \sqrt 3 \|A\|_F$, one matrix at a time."""
    assert (A < 9).all()  # no map can read this
    return leq(nuclear_norm(A), 0.97 * math.sqrt(3) * frobenius_squared(A).sqrt())


@conjecture("hunted.no-ball", instances=numbers(), no_ball="for the test")
def test_no_ball(x):
    r"""$x \le 1$."""
    return leq(x, 0 * x + 1)


@conjecture("hunted.empty", instances=never())
def test_empty(x):
    r"""$x \le 0$ for $x$ in the empty set."""
    return leq(x, 0 * x)


@conjecture("hunted.discrete", instances=generic(size=4))
def test_discrete(A):
    r"""At most thirteen of the entries of a 4 by 4 matrix are positive: no gradient."""
    count = (A > 0.75).sum((-2, -1))
    return leq(count, torch.full_like(count, 13))


@conjecture("hunted.two-relations", instances=generic(count=2))
def test_two_relations(A, B):
    r"""An identity, and a bound that is false."""
    return (
        eq(
            frobenius_squared(A + B) + frobenius_squared(A - B),
            2 * frobenius_squared(A) + 2 * frobenius_squared(B),
            label="parallelogram",
        ),
        leq(nuclear_norm(A), 0.99 * math.sqrt(3) * frobenius_squared(A).sqrt(), label="norms"),
    )


@conjecture("hunted.no-number", instances=numbers(), no_ball="for the test")
def test_no_number(x):
    r"""$\sqrt{x - 5} \le 1$, which is no number for $|x| \le 4$."""
    return leq((x - 5).sqrt(), 0 * x + 1)


@conjecture("hunted.broken", instances=numbers())
def test_broken(x):
    r"""A body with a mistake."""
    return leq(torch.cat(x), x)


@conjecture("hunted.whole", instances=instances(lambda source: source.integer(0, 60))())
def test_whole(n):
    r"""$n \ne 17$, for whole numbers."""
    return leq(torch.tensor(int(n == 17)), torch.tensor(0))


@instances
def numbers_of_two_kinds(source):
    """A number, and its kind."""
    kind = source.integer(0, 1)
    return source.tensor(low=-4.0, high=4.0), kind


@conjecture("hunted.half-ball", instances=numbers_of_two_kinds())
def test_half_ball(x, kind):
    r"""$x \le 3$ for the first kind, which has no ball form, and $x \le 3.999$ for the second."""
    if kind == 0 and not isinstance(x, torch.Tensor):
        raise NoBallForm("a function of the first kind")
    return leq(x, 0 * x + (3 if kind == 0 else 3.999))


@conjecture("hunted.no-form", instances=numbers())
def test_no_form(x):
    r"""$x \le 3$, with a function that has no ball form."""
    return leq(torch.erfinv(x / 8), 0 * x)


@instances
def far_from_simple(source):
    """A point of the plane, and a number of dimensions that does not matter."""
    source.integer(0, 9)
    return source.tensor(5, low=-4.0, high=4.0)


@conjecture("hunted.patient", instances=far_from_simple())
def test_patient(x):
    r"""$\sum_i (x_i - \sin i)^2 (2 + \cos 40 x_i) \ge 10^{-5}$: not found in the first round."""
    centre = torch.sin(1 + torch.arange(5, dtype=torch.float64))
    d = x - (x.new_zeros(5) + centre)
    return leq(0 * d.sum(-1) + 0.00001, (d * d * (2 + torch.cos(40 * x))).sum(-1))


@instances
def nothing_and_a_number(source):
    """A tensor without entries, and a number."""
    return source.tensor(0, 2), source.tensor(low=-4.0, high=4.0)


@conjecture("hunted.nothing", instances=nothing_and_a_number())
def test_nothing(none, x):
    r"""$x \ge 10^{-4}$ away from $1/3$; the empty sum is zero."""
    return leq(0 * x + 0.0001, (x - 1 / 3).abs() + none.sum((-2, -1)))


class _Fails(torch.autograd.Function):
    """The identity, without a gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise NotImplementedError("no backward for 3 entries")


@conjecture("hunted.no-backward", instances=numbers(low=-4.0, high=4.0))
def test_no_backward(x):
    r"""$x \le 4 - 2^{-30}$, false at the end of the range alone; its gradient raises."""
    y = _Fails.apply(x) if isinstance(x, torch.Tensor) else x
    return leq(y, 0 * x + scalar(4 - Fraction(1, 2**30), x))


@conjecture("hunted.no-backward-true", instances=numbers(low=-4.0, high=4.0))
def test_no_backward_true(x):
    r"""$x \le 5$; the gradient raises."""
    y = _Fails.apply(x) if isinstance(x, torch.Tensor) else x
    return leq(y, 0 * x + 5)


@instances
def symmetric(source, *, size=3):
    """Symmetric matrices."""
    entries = source.tensor(size, size, low=-2.0, high=2.0)
    return (entries + entries.mT) / 2


@conjecture("hunted.half-a-percent", instances=symmetric())
def test_half_a_percent(S):
    r"""$\lambda_{max} \le (1 - 0.005\, h) \|S\|_F$ with $h = 0$ at multiples of the identity.

    Off by $5 \cdot 10^{-11}$ at the zero matrix, and by half a percent at rank one.
    """
    if not isinstance(S, torch.Tensor):
        raise NoBallForm("eigenvalues of the test", "compare traces of powers instead")
    values = torch.linalg.eigvalsh(S)
    norm = frobenius_squared(S).sqrt()
    spread = (values[..., -1] - values[..., 0]) / (1 + values[..., -1] - values[..., 0])
    tiny = 5e-11 * (norm == 0)
    return leq(values[..., -1] + tiny, norm * (1 - 0.0075 * spread), error=1e-13 + 0 * norm)


@conjecture("hunted.equal-without-form", instances=symmetric())
def test_equal_without_form(S):
    r"""$\sum_i \lambda_i^2 = \|S\|_F^2$: true, with a function that has no ball form here."""
    if not isinstance(S, torch.Tensor):
        raise NoBallForm("eigenvalues of the test", "compare traces of powers instead")
    squares = (torch.linalg.eigvalsh(S) ** 2).sum(-1)
    return eq(squares, frobenius_squared(S))


@conjecture("hunted.rounding-without-form", instances=numbers(count=2))
def test_rounding_without_form(x, y):
    r"""$(x + 10^6)^2 - x^2 - 2 \cdot 10^6 x \le 10^{12}$, no form, with a tolerance too small."""
    if not isinstance(x, torch.Tensor):
        raise NoBallForm("the square of the test")
    return rounding_is_large(x, y)


@conjecture("hunted.digits-of-a-batch", instances=numbers(), no_ball="it is about floats")
def test_digits_of_a_batch(x):
    r"""$0 \le 0$, with last digits that a batch has and an instance alone has not."""
    digits = 2.0**-53 * torch.where(torch.sin(1e13 * x) > 0, 1.0, 0.0)
    return leq(0 * x + (digits if mapped() else 0 * digits), 0 * x)


@conjecture("hunted.sometimes-raises", instances=numbers())
def test_sometimes_raises(x):
    r"""$x \le 5$, by a body that raises for numbers above 3.9."""
    if bool(torch.as_tensor(x > 3.9).any()):
        raise ArithmeticError("too large")
    return leq(x, 0 * x + 5)


@instances
def beside_the_identity(source):
    """A matrix and its scale; structured points are points of equality."""
    return source.tensor(3, 3, low=-1.0, high=1.0)


@conjecture("hunted.equality-set", instances=beside_the_identity())
def test_equality_set(A):
    r"""$1 \le 1 + g (g - 10^{-4})$ with $g = \|A - A^\top\|_F^2$: equality at symmetric matrices.

    It is false beside them, by up to $2.5 \cdot 10^{-9}$.
    """
    gap = frobenius_squared(A - A.mT)
    return leq(1 + 0 * gap, 1 + gap * (gap - 0.0001))


@conjecture("hunted.singular-members", instances=generic(size=2))
def test_singular_members(A):
    r"""$\|A^{-1}\|_F^2 \det(A)^2 = \|A\|_F^2$ for the rounded $A$, some of which are singular."""
    rounded = torch.round(A) if isinstance(A, torch.Tensor) else A
    inverse = torch.linalg.inv(rounded)
    determinant = rounded[..., 0, 0] * rounded[..., 1, 1] - rounded[..., 0, 1] * rounded[..., 1, 0]
    return leq(frobenius_squared(inverse) * determinant**2, 2 * frobenius_squared(rounded))


@instances
def regular(source):
    """2 by 2 matrices with a determinant that rounding leaves; the others are rejected."""
    A = source.tensor(2, 2, low=-2.0, high=2.0)
    determinant = A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0]
    source.require(determinant.abs() > 0.000001, "det A is not small")
    return A


@conjecture("hunted.rejected-members", instances=regular())
def test_rejected_members(A):
    r"""$0 \le \|A^{-1}\|_F^2$; inv raises for some of the matrices that are rejected."""
    if not isinstance(A, torch.Tensor):
        raise NoBallForm("the inverse of the test")
    square = frobenius_squared(torch.linalg.inv(A))
    return leq(0 * square, square)


@conjecture("hunted.wrong-floats", instances=numbers())
def test_wrong_floats(x):
    r"""$x \le 5$, where floats are off by 1000."""
    return leq(x + 1000 if isinstance(x, torch.Tensor) else x, 0 * x + 5)


@instances
def signatures(source):
    """A matrix and the shape (p, q, r); the size of the matrix is 1 + p + q."""
    p, q, r = source.integer(0, 9), source.integer(0, 9), source.integer(0, 9)
    return source.tensor(1 + p + q, 1 + p + q, low=-1.0, high=1.0), p, q, r


@conjecture("hunted.index", instances=signatures())
def test_index(M, p, q, r):
    r"""$L S L^\top$ has q negative eigenvalues for unit triangular L and q negative signs S.

    That is Sylvester's law of inertia; at one shape of a thousand, this statement says q + 1.
    """
    L = torch.tril(M, -1) / 4 + torch.eye(1 + p + q, dtype=torch.float64)
    signs = torch.tensor([1.0] * (1 + p) + [-1.0] * q, dtype=torch.float64)
    index = (torch.linalg.eigvalsh(L * signs @ L.mT) < 0).sum(-1)
    return eq(index, index.new_zeros(()) + q + ((p, q, r) == (6, 3, 7)))
