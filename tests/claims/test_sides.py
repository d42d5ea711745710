"""What the two sides of a relation are called: their code, and their formulas."""

import pytest

import rankcheck as rc
from rankcheck.catalogue.collect import project
from rankcheck.catalogue.reading import read_file
from rankcheck.claims.claim import ClaimError
from rankcheck.claims.formula import Formula, parsed, stated
from rankcheck.claims.kinds import FALSE
from rankcheck.claims.sides import Side, formula_of, sides_of
from rankcheck.counterexamples.certificate import FORM, read
from rankcheck.instances.matrices import matrices

FILE = r'''
from rankcheck import any_of, conjecture, eq, leq, there_is
from rankcheck.instances.matrices import matrices


@conjecture("mine.one", instances=matrices())
def test_one(A, *, factor=2):
    r"""For $r = \operatorname{rank} A$, the bound $\|A\|_* \ge 2 \|A\|_F$ holds."""
    norm = A.square().sum().sqrt()
    return leq(factor * norm, A.sum(), where=A.sum() > 0)


@conjecture("mine.two", instances=matrices(), formula={"relation 1": r"a \ge b"})
def test_two(A):
    r"""Two relations: $a \le b$."""
    first = eq(A, A.mT)
    return first, leq(A.sum(), 1, label="the sum"), any_of(leq(A, 0), leq(1, A, label="large"))


@conjecture("mine.three", instances=matrices())
def test_three(A):
    """Branches."""
    if A.ndim == 2:
        return leq(A, A)
    return leq(A, A.mT)


@conjecture("mine.four", instances=matrices())
def test_four(A):
    r"""If $\|A\| \le 1$, the trace is small."""
    return there_is(leq(A, 1), dim=-1, exhaustive=True)
'''


@pytest.fixture
def entries(tmp_path):
    (tmp_path / "mine.py").write_text(FILE, encoding="utf-8")
    return read_file(tmp_path / "mine.py")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"a \le b.", ("a", "≤", "b")),
        (r"a \ge b", ("b", "≤", "a")),
        (r"$$f(x) > \left( a \le b \right)$$", (r"\left( a \le b \right)", "<", "f(x)")),
        (r"\|A\|_F = \sum_{i \le k} s_i", (r"\|A\|_F", "=", r"\sum_{i \le k} s_i")),
        (r"\bigl\{i : s_i > 1\bigr\} \leq r", (r"\bigl\{i : s_i > 1\bigr\}", "≤", "r")),
        (r"\{i : s_i > 1\} < r", (r"\{i : s_i > 1\}", "<", "r")),
        (r"|x < y| \le 1", ("|x < y|", "≤", "1")),
        (r"a \le b \le c", None),
        (r"a \le b, \qquad c = d", None),
        (r"a \le b \text{ for all } c", None),
        (r"x \in B", None),
        (r"a \implies b \le c", None),
        (r"\le b", None),
        (r"(a \le b", None),
        (r"[0, 1) \le b", ("[0, 1)", "≤", "b")),
        ("", None),
    ],
)
def test_a_formula_has_two_sides(text, expected):
    assert parsed(text) == (None if expected is None else Formula(*expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"The norm grows. $a \le b$ with $b = 2$.", ("a", "≤", "b")),
        (r"If it does, then $$b > a$$ for all $x \in B$.", ("a", "<", "b")),
        (r"For all $x$ one has: $\sum_{i \le k} x_i = 1$, $a \le b$.", ("a", "≤", "b")),
        (r"It is bounded where $a \le b$.", None),
        (r"It is bounded for $L \ge 2$.", None),
        (r"$a \le b$ and also $b \le c$.", None),
        (r"$a = b$.", None),
        ("Nothing.", None),
    ],
)
def test_a_statement_makes_one_inequality(text, expected):
    assert stated(text) == (None if expected is None else Formula(*expected))


def test_sides_are_read_from_the_text_of_a_body(entries):
    one, two, three, four = entries
    assert sides_of(one) == (
        Side(r"2 \|A\|_F", "2 * A.square().sum().sqrt()"),
        Side(r"\|A\|_*", "A.sum()"),
    )
    assert sides_of(two, 0) == (Side("b", "A"), Side("a", "A.mT"))
    assert sides_of(two, 1, "the sum") == (Side(None, "A.sum()"), Side(None, "1"))
    assert sides_of(two, 2, "large") == (Side(None, "1"), Side(None, "A"))
    assert sides_of(two, 2) == (Side(), Side())
    assert sides_of(three) == (Side(), Side())
    assert sides_of(four) == (Side(None, "A"), Side(None, "1"))


def test_a_claim_inside_a_function_has_its_code_and_its_formula():
    @rc.conjecture("mine.prompt", instances=matrices(), formula=r"\|A\| \le 1")
    def claim(A):
        """A claim of a prompt."""
        return rc.leq(A.abs().amax(), 1)

    assert sides_of(claim) == (Side(r"\|A\|", "A.abs().amax()"), Side("1", "1"))
    body = compile("def claim(A):\n    'Typed.'\n    return leq(A, 1)", "<stdin>", "exec")
    names = {"leq": rc.leq}
    exec(body, names)
    typed = rc.conjecture("mine.typed", instances=matrices())(names["claim"])
    assert sides_of(typed) == (Side(), Side())


@pytest.mark.parametrize("formula", ["", r"a \le b \le c", 3, {"first": "no sign"}])
def test_a_formula_of_a_claim_has_one_sign(formula):
    with pytest.raises(ClaimError, match="two sides with one sign between them"):

        @rc.conjecture("mine.signs", instances=matrices(), formula=formula)
        def claim(A):
            """Signs."""
            return rc.leq(A, A)


def test_a_formula_is_no_part_of_the_text_of_a_claim():
    def declared(**options):
        @rc.conjecture("mine.hashed", instances=matrices(), **options)
        def claim(A):
            """Hashed."""
            return rc.leq(A, A)

        return claim.statement_hash

    assert declared() == declared(formula=r"a \le b")


REFUTED = {entry.id: entry for entry in project() if entry.kind in FALSE}


@pytest.mark.parametrize("name", sorted(REFUTED))
def test_both_sides_of_a_refuted_claim_are_named(name):
    entry = REFUTED[name]
    smallest = read(FORM.path(entry))["smallest"]
    for side in sides_of(entry, smallest["relation"], smallest["label"]):
        assert side.formula
        assert side.code
    formula = formula_of(entry, smallest["relation"], smallest["label"])
    assert (formula.sign == "=") == (smallest["kind"] == "eq")
