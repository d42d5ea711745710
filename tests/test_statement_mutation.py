"""benchmarks/statement_mutation.py: its places, and what becomes of claims with known answers."""

import math
import textwrap
from fractions import Fraction
from pathlib import Path

import pytest

from rankcheck import leq
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.verification.profiles import Profile

ROOT = Path(__file__).parent.parent
SMALL = Profile("small", drawn=4, batches=6, size=32, single=6, scope_instances=200)
CLAIMS = '''
import torch
from rankcheck import Reference, bound, eq, identity, leq
from rankcheck.instances import instances
from rankcheck.linalg import power

HERE = Reference("Me", "here")


@instances
def numbers(source):
    """A number from 1 to 8."""
    return source.tensor(low=1.0, high=8.0)


@instances
def signed(source):
    """A number other than 0."""
    x = source.tensor(low=-8.0, high=8.0)
    source.require(x != 0, "x is not 0")
    return x


@bound("mine.sharp", HERE, instances=numbers(), mutants={"3": {"exponent": 3}})
def test_sharp(x, *, exponent=2, plus=0):
    """x·x is at most x²."""
    return leq(power(x, exponent), x * x + plus)


@bound("mine.loose", HERE, instances=numbers(), loose="a nine for a one", mutants={"9": {"by": 9}})
def test_loose(x, *, by=1):
    """x² is at most 9x²."""
    return leq(by * x**2, 9 * x * x)


@bound("mine.no-tight-family", HERE, instances=numbers(), mutants={"9": {"by": 9.0}})
def test_no_tight_family(x, *, by=1.0):
    """x·sqrt(x) is at most 2x² - x: with equality at 1 alone, where no exponent is seen."""
    return leq(by + 0 * x, helper(x), where=x * x > 0)


def helper(x):
    """3 + x, in a way that has a power of 1."""
    return 1 + 0 * power(x / x, 3)


@identity("mine.hypotheses", HERE, instances=signed(), mutants={"-": {"sign": -1}})
def test_hypotheses(x, *, sign=1):
    """|x| = x for x > 0, and x/x = 1 for x other than 0."""
    return eq(x.abs(), sign * x, where=x > 0, label="size"), eq(x / x, 1, where=x < 9, label="one")
'''


@pytest.fixture
def mutation(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import statement_mutation  # type: ignore[import-not-found,unused-ignore]

    return statement_mutation


@pytest.fixture
def tried(mutation, tmp_path):
    """By id, the results of the claims above, by group, text and change."""
    file = tmp_path / "claims.py"
    file.write_text(textwrap.dedent(CLAIMS))
    claims = load(select([str(file)]))
    found = {claim.id: mutation.try_claim(claim, (0, 1), profile=SMALL) for claim in claims}
    return {
        name: {(one.group, one.before, one.change): one for one in results}
        for name, results in found.items()
    }


def test_known_answers(tried):
    sharp = tried["mine.sharp"]
    constant = sharp["constant", "relation 1", "bound 2 % stronger"]
    assert (constant.outcome, constant.ratio) == ("killed", pytest.approx(1))
    assert sharp["exponent", "exponent=2", "± 2 %"].by.startswith("× 1.02: numbers()")
    assert sharp["exponent", "power(x, exponent)", "± 2 %"].outcome == "killed"
    assert len(sharp) == 3  # a dial that is 0 has no 2 %

    loose = tried["mine.loose"]
    assert {one.outcome for one in loose.values()} == {"loose"}
    assert {one.by for one in loose.values()} == {"a nine for a one"}
    assert loose["exponent", "x ** 2", "± 2 %"].ratio == pytest.approx(1 / 9)

    silent = tried["mine.no-tight-family"]
    assert silent["exponent", "by=1.0", "± 2 %"].outcome == "killed"
    place = silent["exponent", "power(x / x, 3)", "± 2 %"]
    assert (place.outcome, place.function) == ("survived", "helper")
    assert "no instance reaches it" in place.by
    assert silent["hypothesis", "x * x > 0", "where= dropped"].outcome == "survived"

    dropped = tried["mine.hypotheses"]
    assert dropped["hypothesis", "x > 0", "where= dropped"].outcome == "killed"
    assert "every instance" in dropped["hypothesis", "x < 9", "where= dropped"].by
    require = next(one for key, one in dropped.items() if key[2] == "require dropped")
    assert (require.outcome, require.function) == ("killed", "signed")


def test_the_places_of_a_text(mutation):
    from mutating import statements  # type: ignore[import-not-found,unused-ignore]

    found = {place.before for place in statements.places(_text)}
    assert found == {
        "power=Fraction(1, 2)",
        "x ** power",
        "x.sqrt()",
        "math.sqrt(x)",
        "Fraction(2, n)",
        "x.exp()",
        "x > 0",
    }
    (place,) = (place for place in statements.places(_text) if place.before == "math.sqrt(x)")
    assert _text(4.0, 3)[1] == 2
    with statements.in_place(_text, place, statements.FACTORS[0]) as ways:
        next(ways)
        assert _text(4.0, 3)[1] == pytest.approx(4**0.51)
    assert _text(4.0, 3)[1] == 2


def test_an_exponent_of_a_negative_number_keeps_its_sign(mutation):
    import torch
    from mutating import statements

    two = torch.tensor(-2.0, dtype=torch.float64)
    for base in (-2.0, two):
        assert float(statements.raised_to(base, 3, 51, 50)) == pytest.approx(-(2**3.06))
        assert float(statements.raised_to(base, 2, 51, 50)) == pytest.approx(2**2.04)
    assert statements.raised_to(10, 500, 51, 50, round) == 10**510
    assert statements.raised_to(2, 3, 49, 50, float) == pytest.approx(2**2.94)


def test_the_equivalent_mutants_exist(mutation):
    """An entry whose text was rewritten is taken out, or written anew."""
    from mutating import statements

    from rankcheck.claims.rewriting import definitions

    reasons = mutation.equivalents()
    existing = {
        (file, name, place.before, mutation.change_of(place))
        for file in {key[1] for key in reasons}
        for name, definition in definitions(str(ROOT / file))
        for generator in (False, True)
        for place in statements.places_of(definition, file, name, generator=generator)
    }
    assert {key[1:] for key in reasons} <= existing
    claims = {entry.id for entry in select() if entry.kind in mutation.KINDS}
    assert {key[0] for key in reasons} <= {*claims, "*"}
    assert all(len(one.reason) > 20 and 0 <= (one.ratio or 0) <= 1 for one in reasons.values())


def _text(x, n, *, power=Fraction(1, 2), plus=0, flag=True):
    """A text with exponents; numbers, tolerances and signs are none."""
    exact = x**power + 2**-20 + (-1) ** n * plus
    root = math.sqrt(x) if isinstance(x, float) else x.sqrt() + x.exp() * Fraction(2, n)
    return exact, root, lambda: leq(exact, root, where=x > 0, scale=x**3, terms=2**n)
