"""The names in a body with their values at a counterexample, and when there are none."""

from fractions import Fraction

from rankcheck import leq
from rankcheck.claims.catalogue.certificates import FORM
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.refutation import explained
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.linalg import frobenius_squared
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import instances


@instances
def matrices(source, *, n=(1, 64)):
    size = source.integer(*n)
    return (source.tensor(size, size),)


def _halved(A):
    """Half of the size.

    More is not said.
    """
    unused = frobenius_squared(A @ A)
    size = frobenius_squared(A)
    return size / 2, unused


def with_a_helper(A):
    other = frobenius_squared(A - A)
    half, more = _halved(A)
    return leq(frobenius_squared(A), half, where=other + more >= 0)


def of_a_loop(A):
    total = A.new_zeros(())
    for i in range(A.shape[-1]):
        total = total + A[..., i, i]
    return leq(total + 1, total)


def steps(instance):
    return explained(instance).steps


def stored(id_):
    """The names in the body and their values, at a certificate that is stored."""
    [claim] = load(select([id_]))
    instance = replay(FORM.path(claim), claim=claim).instance
    return {step.name: step.value for step in steps(instance)}


def of(declare, body, choices):
    claim = declare(body, matrices())
    return Instance(claim, claim.instances, read_choices(claim.instances, choices))


def number(value):
    """What is behind the sign of a rounded value."""
    return float(Fraction(value.removeprefix("≈ ")))


def test_the_kernel_of_one_unit():
    """L = 1, W = (1), x = 0: Jf = 1, so the printed left side is 2·1·1^0, and Θ(x, y) = xy."""
    known = stored("bottleneck.ntk-derivative-as-printed")
    assert known["jacobian_power"] == known["kernel_derivative"] == "1"


def test_a_covariance_after_a_layer():
    """Y has the rows (0, ±1/2), (1, 0); ReLU keeps (0, 1/2) and (1, 0) of the reflected rows."""
    known = stored("rank.centred-covariance-as-printed")
    assert known["after"] == "[[0, 0, 0], [0, 1/2, 0], [1, 0, 0]]"
    assert known["norm"] == "1"


def test_a_leaky_chain_on_a_segment():
    """Two units of weight 1 and slope 1/8, from −8 to −1/8: Jf = 1/8, a step of 63/8."""
    known = stored("bottleneck.ntk-on-a-segment-as-printed")
    assert known["rise_along_the_segment"] == str(2 * Fraction(63, 8) * Fraction(63, 64))


def test_the_frames_of_two_layers():
    """W_1 = (1, −1)ᵀ, W_2 = (1, 1): orthogonal columns of length √2, of which k = 1 counts."""
    known = stored("bottleneck.chained-projections-as-printed")
    assert number(known["overlap"]) == 2
    assert known["norms"] == "4"


def test_names_and_what_is_assigned_to_them(declare):
    found = steps(of(declare, with_a_helper, [1, [[3]]]))
    assert [(step.name, step.code, step.value) for step in found] == [
        ("other", "frobenius_squared(A - A)", "0"),
        ("half", "_halved(A)[0]", "9/2"),
        ("more", "_halved(A)[1]", "81"),
    ]


def test_after_a_loop_names_have_their_last_value(declare):
    found = steps(of(declare, of_a_loop, [2, [[1, 0], [0, 2]]]))
    assert {step.name: step.value for step in found} == {"total": "3", "i": "1"}
    assert {step.code for step in found} == {""}  # each is assigned more than once, or by a loop
