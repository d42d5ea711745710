"""The decorators: what they make of a body, and what they refuse."""

from typing import Any

import pytest
import torch

from rankcheck import (
    Claim,
    ClaimError,
    Erratum,
    Need,
    Reference,
    bound,
    cited,
    conjecture,
    construction,
    identity,
    leq,
    limit,
    paper,
    refuted,
    statistical,
    step,
)
from rankcheck.claims import registry
from rankcheck.theory.instances.source import instances

PLACE = paper("rank", "p. 1")


@instances
def numbers(source, *, high=8.0):
    return source.tensor(low=-8.0, high=high)


@pytest.fixture(autouse=True)
def _forget():
    before = set(registry.declared())
    yield
    for name in set(registry.declared()) - before:
        registry.forget(name)


def body(x, *, by=1):
    """The title.

    The statement, $x \\le x$.
    """
    return leq(x, by * x)


@pytest.mark.parametrize("decorator", [identity, bound, limit, statistical, conjecture])
def test_the_decorated_name_is_the_claim(decorator):
    made = decorator("t.made", PLACE, instances=numbers())(body)
    assert isinstance(made, Claim)
    assert made.kind == decorator.__name__
    assert (made.title, made.statement) == ("The title", "The statement, $x \\le x$.")
    assert made.reference == PLACE
    assert made.arguments == ("x",)
    assert made.parameters == {"by": 1}
    assert registry.declared()["t.made"] is made


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "NoneType"),
        (True, "bool"),
        ((), "nothing"),
        (torch.ones(2) > 0, "Tensor"),
        ([leq(1, 2)], "list"),
        ((leq(1, 2), 3), "Relation, int"),
        ((leq(1, n) for n in (2, 3)), "generator"),
    ],
)
def test_what_a_body_returns_is_said_with_the_place_of_the_claim(returned, said):
    def wrong(x):
        """The title."""
        return returned

    claim = bound("t.made", PLACE, instances=numbers())(wrong)
    place = rf"^t\.made: at test_declare\.py:{claim.line}, the body returned {said}"
    with pytest.raises(ClaimError, match=place):
        claim.relations((torch.tensor(1.0),))


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_another_number_of_arguments_is_said_with_the_place_of_the_claim(parts):
    def pair(x, y, *, exponent=2):
        """The title."""
        return leq(x, y)

    claim = bound("t.made", PLACE, instances=numbers())(pair)
    said = rf"at test_declare\.py:{claim.line}, the body takes x, y, and an instance has {parts} "
    with pytest.raises(ClaimError, match=said):
        claim.relations((torch.tensor(1.0),) * parts)
    assert claim.relations((torch.tensor(1.0),) * 2)


def test_malformed_claims_are_recorded_where_it_is_asked_for():
    def malformed(x):
        return leq(x, x)

    assert not registry.is_recording()
    with pytest.raises(ClaimError):
        bound("t.wrong", PLACE, instances=numbers())(malformed)
    with registry.recording():
        assert registry.is_recording()
        found: Any = bound("t.wrong", PLACE, instances=numbers())(malformed)
    assert not registry.is_recording()
    assert found is registry.malformed()["t.wrong"]
    code = malformed.__code__
    assert (str(found.file), found.line) == (code.co_filename, code.co_firstlineno)
    assert "docstring" in found.problem
    assert not found.problem.startswith("t.wrong")
    bound("t.wrong", PLACE, instances=numbers())(body)
    assert "t.wrong" not in registry.malformed()


def test_calling_a_claim_evaluates_its_body():
    made = bound("t.made", PLACE, instances=numbers())(body)
    x = torch.tensor(2.0, dtype=torch.float64)
    assert not made(x).violated()
    assert made(x, by=0.5).violated()


def erratum(weight):
    return Erratum(printed="x > x", right="x <= x", survives="all", weight=weight)


def test_false_statements_say_what_is_wrong_in_print():
    made = step(
        "t.step", PLACE, instances=numbers(), errata=erratum("step"), result="stands: by t.other"
    )(body)
    assert made.kind == "step"
    assert made.errata == (erratum("step"),)
    assert made.result == "stands: by t.other"
    made = refuted(
        "t.refuted",
        PLACE,
        instances=numbers(),
        errata=erratum("theorem"),
        readings={"for all x": "false at 1", "for large x": "false at 10"},
    )(body)
    assert list(made.readings) == ["for all x", "for large x"]


THEOREM = {"errata": erratum("theorem")}
STEP = {"errata": erratum("step")}


@pytest.mark.parametrize(
    ("kind", "options", "rule"),
    [
        (refuted, {}, "no errata= is given; @refuted quotes"),
        (refuted, {"errata": "a sign"}, r"errata= is 'a sign'; it is an Erratum, or several"),
        (refuted, THEOREM, "no readings= are given; each fair reading"),
        (refuted, STEP | {"readings": {"x": "y"}}, "has the weight 'step'"),
        (refuted, {"errata": erratum("misprint")}, "has the weight 'misprint'; it has"),
        (refuted, THEOREM | {"readings": {"x": ""}}, "'x' does not say why it falls"),
        (step, THEOREM | {"result": "open: why"}, "has the weight 'theorem'; it has 'step'"),
        (step, STEP | {"result": "stands, by t.other"}, "it begins with 'stands:' or 'stands with"),
        (step, STEP | {"result": ""}, "it begins with 'stands:' or 'stands with"),
        (construction, {}, "a construction has at least one"),
    ],
)
def test_what_a_kind_has_to_say(kind, options, rule):
    with pytest.raises(ClaimError, match=r"t\.made: .*" + rule):
        kind("t.made", PLACE, instances=numbers(), **options)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"printed": " "}, "printed= of an erratum is ' '"),
        ({"survives": None}, "survives= of an erratum is None"),
        ({"weight": "slip"}, "the weight of an erratum is 'slip'; it is one of theorem"),
        ({"place": ""}, "place= of an erratum is ''"),
    ],
)
def test_an_erratum_is_whole(options, rule):
    with pytest.raises(ValueError, match=rule):
        Erratum(**{"printed": "a", "right": "b", "survives": "c"} | options)
    with pytest.raises(ValueError, match="has an empty part"):
        Reference("rank", "")


def test_a_cited_statement_has_a_reason_and_no_body():
    made = cited("t.cited", PLACE, reason="too long")(body)
    assert (made.kind, made.reason, made.instances) == ("cited", "too long", None)
    with pytest.raises(TypeError, match="no body to evaluate"):
        made.relations(())


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"id": "Nothing", "instances": numbers()}, "lower-case words"),
        ({}, "@bound was given no instances"),
        ({"instances": numbers(), "effort": 0}, "effort= is 0; it is a positive number"),
        ({"instances": numbers(), "effort": float("nan")}, "effort= is nan; it is a positive"),
        ({"reference": "rank", "instances": numbers()}, "the reference is 'rank'"),
        ({"reference": None, "instances": numbers()}, "no reference is given"),
        ({"instances": numbers}, r"instances= is the generator numbers itself; write numbers\(\)"),
        ({"instances": None}, "instances= is None; instances come from a generator"),
        ({"instances": numbers(), "tight": 5}, "tight= is 5; instances come from a generator"),
        ({"instances": numbers(), "needs": {"x": numbers}}, r"the control 'x' is the generator"),
        ({"instances": numbers(), "thight": numbers()}, "@bound takes instances, tight"),
        ({"instances": numbers(), "mutants": {"m": {"size": 2}}}, r"sets \['size'\].*has \['by'\]"),
        (
            {"instances": numbers(), "needs": {"x": Need(numbers(), {"size": 2})}},
            r"control 'x' sets \['size'\]",
        ),
    ],
)
def test_what_is_refused(options, rule):
    with pytest.raises(ClaimError, match=rule):
        bound(**{"id": "t.made", "reference": PLACE} | options)(body)


def test_what_is_decorated_is_a_function_with_a_docstring():
    declare = bound("t.made", PLACE, instances=numbers())
    with pytest.raises(ClaimError, match="states its mathematics in the docstring"):
        declare(lambda x: leq(x, x))
    with pytest.raises(ClaimError, match="is declared on a function"):
        declare(torch.nn.Linear(1, 1))

    class Suite:
        def method(self, x):
            """x is at most x."""
            return leq(x, x)

    Suite.method.__qualname__ = "Suite.method"
    with pytest.raises(ClaimError, match="this is a method of Suite"):
        declare(Suite.method)


TWICE = """
@conjecture("t.x", instances=numbers())
def test_x(x):
    "x <= x"
    return leq(x, x)
"""


def test_a_claim_at_a_prompt_may_be_declared_again():
    scope = {"conjecture": conjecture, "numbers": numbers, "leq": leq}
    exec(compile(TWICE, "<stdin>", "exec"), scope)
    first: Any = scope["test_x"]
    exec(compile("\n" + TWICE.replace("leq(x, x)", "leq(x, x + 1)"), "<stdin>", "exec"), scope)
    second: Any = scope["test_x"]
    assert registry.declared()["t.x"] is second
    assert first.statement_hash != second.statement_hash


def test_the_hash_covers_what_is_claimed_and_not_how_it_is_written():
    def hash_of(function, family):
        made = conjecture("t.hash", instances=family)(function)
        registry.forget("t.hash")
        return made.statement_hash

    def test_it(x):
        """x is at most x."""
        return leq(x, x)

    plain = hash_of(test_it, numbers())

    def test_it(x):  # type: ignore[no-redef] # the name is part of the hash
        """x is at most x."""
        # a comment
        return leq(x, x)

    assert hash_of(test_it, numbers()) == plain
    assert hash_of(test_it, numbers(high=2.0)) != plain

    def test_it(x):  # type: ignore[no-redef] # the name is part of the hash
        """x is at most x."""
        return leq(x, 2 * x)

    assert hash_of(test_it, numbers()) != plain

    def test_it(x):  # type: ignore[no-redef] # the name is part of the hash
        """x is at most itself."""
        return leq(x, x)

    assert hash_of(test_it, numbers()) != plain
