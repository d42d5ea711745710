"""Boxes: subdivisions in which a polynomial is not negative where facts hold.

And rankcheck/prove/checking/boxes.py, which encloses each box again.
"""

from fractions import Fraction
from random import Random

import pytest

from rankcheck.algebra.polynomials import parse
from rankcheck.prove.boxes.boxes import boxes, clipped
from rankcheck.prove.boxes.scalings import scalings
from rankcheck.prove.checking.boxes import check_boxes
from rankcheck.prove.checking.errors import UnsoundError
from rankcheck.prove.proof import Boxes, Definition, Fact

NORM = Definition(name="r0", kind="root", of="x0^2 + x1^2", degree=2)
CUBE = Definition(name="r0", kind="root", of="x0*x1*x2", degree=3)
HALF = Definition(name="r0", kind="root", of="x0", degree=2)
NESTED = Definition(name="r1", kind="root", of="r0 + x0^2 + 1", degree=2)
PI = Definition(name="c0", kind="ball", low="314/100", high="315/100")
QUADRANT = (Fact(of="x0", signs="0+"), Fact(of="x1", signs="0+"))

#: Goal, facts, definitions, and the range of all entries.
PROVED = {
    "a number": ("1", (), (), -1, 1),
    "natural": ("x0*x1 + 2", (), (), -1, 1),
    "AM-GM with slack": ("x0^2 - 199/100*x0*x1 + x1^2 + 1/1000", (), (), -1, 1),
    "equality at 0": ("x0^2 - 199/100*x0*x1 + x1^2", (), (), -1, 1),
    "equality in a corner": ("x0*x1", QUADRANT, (), -1, 1),
    "equality at 0, weights": ("x0^4 - 199/100*x0^2*x1 + x1^2", (), (), -1, 1),
    "a kink": ("x0 + x1 + 1/100", (Fact(of="x0 + x1", signs="0+"),), (), -1, 1),
    "a curve": ("x0*x1 + 1/100", (Fact(of="x0*x1", signs="+"),), (), -1, 1),
    "a root": ("r0 - x0 + 1/100", (), (NORM,), -1, 1),
    "a root, equality at 0": ("1001/1000*r0 - x0", (), (NORM,), -1, 1),
    "a cube root": ("x0 + x1 + x2 + 1/10 - 3*r0", (), (CUBE,), 0, 2),
    "nested roots": ("r1 - 999/1000*x0", (), (NORM, NESTED), -1, 1),
    "a constant": ("c0*x0 - 3*x0", (Fact(of="x0", signs="0+"),), (PI,), -1, 1),
    "Motzkin with slack": ("x0^4*x1^2 + x0^2*x1^4 - 3*x0^2*x1^2 + 10001/10000", (), (), -2, 2),
    "thirds": ("1/3*x0^2 - 1/7*x0 + 1/60", (), (), Fraction(-2, 3), Fraction(5, 7)),
    "no instance": ("-1", (Fact(of="x0 - 2", signs="0+"),), (), -1, 1),
}
OPEN = {
    "equality": ("x0^2 - 2*x0*x1 + x1^2 + x0 - x0", (), (), -1, 1),
    "slightly false": ("x0^2 - 2*x0*x1 + x1^2 - 1/1000000000", (), (), -1, 1),
    "false in a corner": ("x0^2*x1 - x0*x1 + 1/10", (), (), 0, 1),
    "false with a fact": ("x0 - x1 + 1/10", QUADRANT, (), -1, 1),
    "false constant": ("c0 - 3141/1000", (), (PI,), -1, 1),
    "false where a root begins": ("r0 - 2/5*x0 - 3/10", (), (HALF,), -1, 1),
    "false root": ("999/1000*r0 - x0", (), (NORM,), -1, 1),
}


def box(low, high):
    return {f"x{i}": (Fraction(low), Fraction(high)) for i in range(3)}


def run(case, **changes):
    goal, facts, definitions, low, high = case
    return boxes(
        goal, facts, definitions, box(low, high), **{"strict": False, "most": 3000} | changes
    )


@pytest.mark.parametrize("name", sorted(PROVED))
def test_what_is_true_is_proved(name):
    found = run(PROVED[name])
    assert found.certificate is not None, found.reason
    assert found.reason == ""
    words = found.certificate.subdivision.split()
    leaves = [word for word in words if not word.isdigit()]
    assert len(leaves) == found.certificate.boxes == found.boxes
    assert len(words) == 2 * len(leaves) - 1


@pytest.mark.parametrize("name", sorted(OPEN))
def test_what_is_false_or_has_equality_stays_open(name):
    found = run(OPEN[name])
    assert found.certificate is None
    assert found.reason


def test_how_far_it_came():
    found = run(OPEN["equality"])
    assert found.boxes > 3000
    assert (
        f"% of the box is proved after {found.boxes} boxes; 3000 boxes are allowed" in found.reason
    )
    share = float(found.reason.split(" %")[0])
    assert 0 < share < 100


def test_no_time_is_no_proof():
    assert "the time was over" in run(PROVED["a kink"], seconds=-1.0).reason


def test_a_point_that_refutes_is_named():
    found = run(("x0*x1 + 1/2", (), (), -1, 1))
    assert found.reason in {
        "it is negative at x0 = -1, x1 = 1",
        "it is negative at x0 = 1, x1 = -1",
    }
    # With a fact on another variable the point might not be on the path.
    other = (Fact(of="x2 - x0", signs="+"),)
    assert "negative at" not in run(("x0*x1 + 1/2", other, (), -1, 1)).reason


def test_strict_goals():
    above = ("x0^2 - x0 + 1/3", (), (), -1, 1)
    assert run(above, strict=True).certificate is not None
    assert run(PROVED["equality in a corner"], strict=True).certificate is None
    assert run(PROVED["equality at 0"], strict=True).certificate is None
    assert run(("0", (), (), -1, 1), strict=True).certificate is None
    assert run(("0", (), (), -1, 1)).certificate is not None


def test_what_nothing_bounds_is_named():
    log = Definition(name="l0", kind="log", of="x0")
    assert "l0 is a logarithm" in run(("l0", (), (log,), 1, 2)).reason
    assert "x7 has no range" in run(("x7", (), (), 1, 2)).reason
    assert "2^40" in run(("x0", (), (), -(2**41), 2)).reason
    assert "200 bits" in run((f"{2**201}*x0", (), (), -1, 2)).reason


def test_a_box_is_cut_off_where_facts_about_one_variable_end_it():
    facts = (
        Fact(of="2*x0 - 1", signs="0+"),
        Fact(of="-x1 + 1/3", signs="+"),
        Fact(of="x2", signs="0"),
        Fact(of="x0*x1 - 5", signs="0+"),
        Fact(of="x1 - 2", signs="-+"),
    )
    half, third = Fraction(1, 2), Fraction(1, 3)
    rest, others = clipped(box(-1, 1), facts)
    assert rest == {"x0": (half, 1), "x1": (-1, third), "x2": (0, 0)}
    assert others == list(facts[3:])


def leaves(case, found):
    """What became of each box, with its ends, halved here in rationals."""
    words = iter(found.certificate.subdivision.split())
    whole, _ = clipped(box(*case[3:]), case[1])

    def walk(place):
        word = next(words)
        if not word.isdigit():
            yield word, place
            return
        low, high = place[f"x{word}"]
        for half in ((low, (low + high) / 2), ((low + high) / 2, high)):
            yield from walk({**place, f"x{word}": half})

    return list(walk(whole))


def value(text, point):
    total = Fraction(0)
    for monomial, coefficient in parse(text).items():
        for name, power in monomial:
            coefficient = coefficient * point[name] ** power
        total += coefficient
    return total


@pytest.mark.parametrize(
    "name", ["AM-GM with slack", "a kink", "a curve", "equality at 0", "thirds", "a root"]
)
def test_the_boxes_are_what_the_subdivision_says(name):
    """At random points of each box: not negative in one, and a fact fails in the other."""
    goal, facts, definitions, *_ = case = PROVED[name]
    random = Random(0)
    for word, place in leaves(case, run(case)):
        point = {n: low + (high - low) * random.random() for n, (low, high) in place.items()}
        for made in definitions:
            point[made.name] = value(made.of, point) ** (1 / made.degree)
        if word == "x":
            assert any(value(fact.of, point) <= 0 for fact in facts)
        else:
            assert value(goal, point) > 0


def test_scalings():
    def found(goal, *others, names="x0 x1 r0", free=(True, True)):
        names = names.split()
        texts = map(parse, (goal, *others))
        return scalings(next(texts), list(texts), names, free).tolist()

    assert found("x0^2 - x0*x1 + x1^2") == [[1, 1]]
    assert found("x0^4 - x1^2") == [[1, 2]]
    assert sorted(found("x0^2*x1^2")) == [[0, 1], [1, 0]]
    assert found("x0^2 - x1^2 + 1") == []
    assert found("x0^2 - x1^2", "x0 - 1") == []
    assert found("r0 - x0", "r0^2 - x0^2 - x1^2") == [[1, 1]]
    assert found("x0^2*x1^2", free=(True, False)) == [[1, 0]]
    assert found("x0^2 - x1^2", free=(True, False)) == []
    # The goal does not change at all: it may be negative everywhere.
    assert found("-x0 + x0 - 1") == []


def check(case, subdivision, *, count=None, strict=False):
    goal, facts, definitions, low, high = case
    leaves = sum(not word.isdigit() for word in subdivision.split())
    certificate = Boxes(subdivision=subdivision, boxes=leaves if count is None else count)
    check_boxes(goal, facts, definitions, box(low, high), certificate, strict=strict)


@pytest.mark.parametrize("name", sorted(PROVED))
def test_other_code_finds_the_same(name):
    check(PROVED[name], run(PROVED[name]).certificate.subdivision)


def test_other_code_finds_the_same_of_strict_goals():
    above = ("x0^2 - x0 + 1/3", (), (), -1, 1)
    check(above, run(above, strict=True).certificate.subdivision, strict=True)


SLACK = PROVED["AM-GM with slack"]
AT_ZERO = PROVED["equality at 0"]
KINK = PROVED["a kink"]
FORGERIES = {
    "a box too few": (SLACK, lambda words: words[:-1], "ends before its last"),
    "a box too many": (SLACK, lambda words: [*words, "."], "goes on after its last"),
    "nothing": (SLACK, lambda words: [], "ends before its last"),
    "no halving": (SLACK, lambda words: ["."], "not seen to be not negative"),
    "other variable": (SLACK, lambda words: ["7", *words[1:]], "neither a box nor a variable"),
    "no variable": (SLACK, lambda words: ["-1", *words[1:]], "neither a box nor a variable"),
    "an unknown letter": (SLACK, lambda words: [*words[:-1], "y"], "neither a box nor a variable"),
    "x where a fact holds": (
        KINK,
        lambda words: ["x" if word == "." else word for word in words],
        "no fact is seen to fail",
    ),
    "x without facts": (SLACK, lambda words: ["x"], "no fact is seen to fail"),
    ". where the goal is negative": (
        KINK,
        lambda words: ["." if word == "x" else word for word in words],
        "not seen to be not negative",
    ),
    "s in place of x": (
        KINK,
        lambda words: ["s" if word == "x" else word for word in words],
        "no smaller copy",
    ),
    "s at once": (AT_ZERO, lambda words: ["s"], "no smaller copy"),
    "s at 0, where nothing else is proved": (
        AT_ZERO,
        lambda words: ["s" if word == "." else word for word in words],
        "no smaller copy",
    ),
    ". in place of s": (
        AT_ZERO,
        lambda words: ["." if word == "s" else word for word in words],
        "not seen to be not negative",
    ),
}


@pytest.mark.parametrize("name", sorted(FORGERIES))
def test_a_forged_subdivision_is_caught(name):
    case, forged, reason = FORGERIES[name]
    words = run(case).certificate.subdivision.split()
    subdivision = " ".join(forged(words))
    with pytest.raises(UnsoundError, match=reason):
        check(case, subdivision)


def test_the_number_of_boxes_is_checked():
    subdivision = run(SLACK).certificate.subdivision
    with pytest.raises(UnsoundError, match="is said to have that many: 3"):
        check(SLACK, subdivision, count=3)


@pytest.mark.parametrize("name", sorted(PROVED))
def test_each_box_is_looked_at(name):
    """A goal that is lower by so much that it is false has no proof by the same boxes."""
    goal, *rest = case = PROVED[name]
    if name == "no instance":
        return
    subdivision = run(case).certificate.subdivision
    with pytest.raises(UnsoundError, match="not seen"):
        check((f"{goal} - 10", *rest), subdivision.replace("s", "."))


@pytest.mark.parametrize(
    ("goal", "facts", "subdivision", "strict"),
    [
        # Half of it is proved, and is not where the rest would be moved to.
        ("x0 - x1", (), "0 1 s . 1 . .", False),
        # No scaling of the goal; one that is no halving of both.
        ("x0^2 + x1^2 - 2*x0*x1 + x0", (), "0 1 s . 1 . .", False),
        ("x0^2 + x1^2", (), "0 0 s . .", False),
        # The sign of a number is that of all smaller copies, and no proof of it.
        ("-1", (), "0 s .", False),
        ("x0 + x1", (), "0 1 s . 1 . .", True),
    ],
)
def test_what_is_no_smaller_copy_is_refused(goal, facts, subdivision, strict):
    with pytest.raises(UnsoundError):
        check((goal, facts, (), 0, 1), subdivision, strict=strict)


def test_what_is_a_smaller_copy_is_accepted():
    check(("x0 + x1", (), (), 0, 1), "0 1 s . 1 . .")
    check(("x0^2 + x1", (), (), 0, 1), "0 1 1 s . . .")
    check(("x0*x1 + x0*x2", (), (), 0, 1), "0 s .")


def test_what_nothing_bounds_is_refused():
    log = Definition(name="l0", kind="log", of="x0")
    with pytest.raises(UnsoundError, match="nothing bounds l0"):
        check(("l0", (), (log,), 1, 2), ".")
    with pytest.raises(UnsoundError, match="names x7"):
        check(("x7", (), (), 1, 2), ".")
    with pytest.raises(UnsoundError, match="not seen"):
        check_boxes("-1", (), (), {}, Boxes(subdivision=".", boxes=1))
    with pytest.raises(UnsoundError, match="no fact"):
        check_boxes("-1", (), (), {}, Boxes(subdivision="x", boxes=1))


RANGES = tuple(Fact(of=text, signs="0+") for i in range(2) for text in (f"x{i} + 1", f"-x{i} + 1"))


def test_facts_that_say_the_range_do_not_hinder_scalings():
    """A fact that no scaling leaves as it is may say the range, or else puts no box off."""
    goal, _, definitions, *ends = AT_ZERO
    ranged = (goal, RANGES, definitions, *ends)
    found = run(ranged)
    assert "s" in found.certificate.subdivision
    check(ranged, found.certificate.subdivision)
    unscaled = (goal, (Fact(of="x0*x1 + x0 - 1", signs="-0"),), definitions, *ends)
    check(unscaled, found.certificate.subdivision)
    off = (Fact(of="x0 + x1 - 1", signs="-0"),)
    with pytest.raises(UnsoundError, match="no fact is seen to fail"):
        check(("-x0 + x1", off, (), 0, 1), "0 1 s . 1 x x")
