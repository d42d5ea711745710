"""Claims that the tests sharpen, also in worker processes that import this file."""

from fractions import Fraction

import torch

from rankcheck import conjecture, eq, leq, lt
from rankcheck.balls import is_ball
from rankcheck.instances import networks_at_points
from rankcheck.linalg import schatten_power
from rankcheck.theory.instances.source import instances
from rankcheck.theory.scalars import scalar


@instances
def numbers(source, *, low=-8.0, high=8.0, count=1):
    """Numbers."""
    return tuple(source.tensor(low=low, high=high) for _ in range(count))


@instances
def integers(source, *, high=40):
    """An integer n, and a number that has its device."""
    return source.integer(1, high), 1 + 0 * source.tensor()


@conjecture("sharp.readme", instances=networks_at_points())
def test_readme(net, x):
    r"""$\|Jf(x)\|_{S^{2/L}}^{2/L} \le 0.9\,\|\theta\|^2 / L$."""
    power = schatten_power(net.jacobian(x), Fraction(2, net.depth))
    return leq(power, 0.9 * net.cost() / net.depth)


@conjecture("sharp.hill", instances=numbers())
def test_hill(x, *, factor=Fraction(1, 2)):  # noqa: PT028
    r"""$2x/(1 + x^2) \cdot c \le 1$: attained at x = 1, false for c > 1."""
    return leq(scalar(factor, x) * 2 * x / (1 + x * x), 1 + 0 * x)


@conjecture("sharp.irrational", instances=numbers(low=0.0, high=4.0))
def test_irrational(x):
    r"""$2x/(2 + x^2) \le 1$: the supremum $1/\sqrt 2$ is attained at $\sqrt 2$."""
    return leq(2 * x / (2 + x * x), 1 + 0 * x)


@conjecture("sharp.artefact", instances=numbers(low=1.0, high=8.0))
def test_artefact(x):
    r"""$x \le (2^{54} + x) - 2^{54}$: floats are off by up to 2, and both sides are equal."""
    return leq(x, (2.0**54 + x) - 2.0**54)


@conjecture("sharp.unbounded", instances=numbers(low=2.0**-20, high=1.0))
def test_unbounded(x):
    """1 is at most 100 x: false, and no factor repairs it."""
    return leq(1 + 0 * x, 100 * x)


@conjecture("sharp.grows", instances=integers())
def test_grows(n, x):
    r"""$\sqrt n \le 100$: true here, and the ratio grows."""
    return leq(torch.sqrt(n * x), 100 * x)


@conjecture("sharp.integers", instances=integers(high=60))
def test_integers(n, x):
    """The ratio of n (60 - n) to 900 is largest at 30, which no gradient finds."""
    return leq(n * (60 - n), 1000)


@conjecture("sharp.zero", instances=numbers())
def test_zero(x):
    """The positive part of x - 1 is at most that of 1 - x, and so is 0 where x > 1."""
    return leq(torch.relu(x - 1), torch.relu(1 - x), label="the parts")


@conjecture("sharp.negative", instances=numbers(low=1.0, high=2.0))
def test_negative(x):
    """-2x is at most -x: both sides are negative."""
    return leq(-2 * x, -x)


@conjecture("sharp.never", instances=numbers())
def test_never(x):
    """Asserted nowhere."""
    return leq(x, 2 * x, where=x > 9), leq(x * x, 100, label="asserted")


@conjecture("sharp.identity", instances=numbers(count=2))
def test_identity(x, y):
    r"""$(x + y)(x - y) = x^2 - y^2$."""
    return eq((x + y) * (x - y), x * x - y * y, scale=x * x + y * y)


@conjecture("sharp.no-identity", instances=numbers(low=0.0, high=1.0))
def test_no_identity(x):
    r"""$1 + x = 1 + x^2$: false between 0 and 1, by a share of $3 - 2\sqrt 2$ at most."""
    return eq(1 + x, 1 + x * x)


@conjecture("sharp.strict", instances=numbers(low=0.0, high=1.0))
def test_strict(x):
    """x < 2."""
    return lt(x, 2 + 0 * x)


@conjecture("sharp.floats", instances=numbers(), no_ball="floats alone")
def test_floats(x):
    """Nothing about it is certified."""
    return leq(x * x, 100)


@conjecture("sharp.singles", instances=numbers())
def test_singles(x):
    r"""$2x/(1 + x^2) \le 1$, one instance at a time."""
    assert (x < 9).all()  # no map can read this
    return leq(2 * x / (1 + x * x), 1 + 0 * x)


@conjecture("sharp.jumps", instances=numbers())
def test_jumps(x):
    """The integer part of x is at most 10: a body without a gradient."""
    return leq(torch.floor(x), 10 + 0 * x)


@conjecture("sharp.window", instances=numbers(low=0.0, high=1.0))
def test_window(x, *, c=Fraction(0)):  # noqa: PT028
    """False where the dial lies between 0.4 and 0.6 alone."""
    return leq(x * scalar(2 - 25 * (2 * c - 1) ** 2, x), 1 + 0 * x)


@conjecture("sharp.decimal", instances=numbers(low=0.0, high=1.0))
def test_decimal(x, *, factor=0.5):  # noqa: PT028
    """A dial that a tensor multiplies as a float alone; false above 2."""
    return leq(x.mul(float.fromhex(factor.hex())), 2 + 0 * x)


@conjecture("sharp.whole", instances=numbers(low=0.0, high=1.0))
def test_whole(x, *, terms=1):  # noqa: PT028
    """A number of terms: false from 5 on."""
    total = sum((x for _ in range(terms)), start=0 * x)
    return leq(total, scalar(Fraction(9, 2), x))


@conjecture("sharp.text", instances=numbers())
def test_text(x, *, word="no number"):  # noqa: PT028
    """A parameter that is no number."""
    return leq(x, 8 + 0 * x * len(word))


@conjecture("sharp.both", instances=numbers())
def test_both(x):
    """x is at most 2x where x is not negative: the sides have both signs."""
    return leq(torch.relu(x) - torch.relu(-x), 2 * torch.relu(x) - torch.relu(-x))


@conjecture("sharp.disagree", instances=numbers(low=1.0, high=4.0))
def test_disagree(x):
    """x is at most 8; balls have another number than floats."""
    return leq(4 * x if is_ball(x) else x / 4, 8 + 0 * x)


@conjecture("sharp.narrow", instances=numbers())
def test_narrow(x, *, least=0):  # noqa: PT028
    """Asserted where x is above a dial alone, of which the largest values leave nothing."""
    return leq(x, 8 + 0 * x, where=x > scalar(least, x))
