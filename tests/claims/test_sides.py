"""What the two sides of a relation are called: the text of the arguments, and nothing else."""

import pytest

import rankcheck as rc
from rankcheck.claims.catalogue.certificates import FORM, read
from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.kinds import FALSE
from rankcheck.claims.sides import sides_of
from rankcheck.engine.counterexamples.refutation import assigned
from rankcheck.theory.instances.matrices import matrices

FILE = r'''
from rankcheck import conjecture, eq, leq
from rankcheck.theory.instances.matrices import matrices


@conjecture("mine.one", instances=matrices())
def test_one(A, *, factor=2):
    r"""For $r = \operatorname{rank} A$, the bound $\|A\|_* \ge 2 \|A\|_F$ holds."""
    norm = A.square().sum().sqrt()
    return leq(factor * norm, norm, where=A.sum() > 0)


@conjecture("mine.two", instances=matrices())
def test_two(A):
    r"""Two relations: $a \le b$."""
    first = eq(A, A.mT)
    return first, leq(A.sum(), 1, label="the sum")


@conjecture("mine.three", instances=matrices())
def test_three(A):
    """Branches."""
    if A.ndim == 2:
        return leq(A, A)
    return leq(A, A.mT)


@conjecture("mine.four", instances=matrices())
def test_four(A):
    r"""If $\|A\| \le 1$, the trace is small."""
    return leq(A, 1)


@conjecture("mine.five", instances=matrices())
def test_five(A):
    """A long expression, a name that is assigned twice, and one that says nothing."""
    total = A.square().sum().sqrt() + A.abs().sum() + A.amax() + A.amin() + A.mean() + 1
    rhs = A.sum()
    rhs = rhs + 1
    return leq(total, rhs)


@conjecture("mine.six", instances=matrices())
def test_six(A):
    """What is assigned is changed in its place."""
    row, column = A.clone()[0], A.sum(0)
    row[0] = 1
    column.mul_(2)
    return leq(row, column)
'''


@pytest.fixture
def entries(tmp_path):
    (tmp_path / "mine.py").write_text(FILE, encoding="utf-8")
    return read_file(tmp_path / "mine.py")


def test_sides_are_read_from_the_text_of_a_body(entries):
    one, two, three, four, five, six = entries
    assert sides_of(one) == ("factor * norm", "A.square().sum().sqrt()")
    assert sides_of(two, 0) == ("A", "A.mT")
    assert sides_of(two, 1, "the sum") == ("A.sum()", "1")
    assert sides_of(three) == ("", "")
    assert sides_of(four) == ("A", "1")
    assert sides_of(five) == ("total", "")
    assert sides_of(six) == ("row", "column")  # their entries are not those of what was assigned


#: Modules of rankcheck, one of them under another name, and a name of the body's own.
MODULES = """
from rankcheck import conjecture, leq, linalg, networks as nets, data
from rankcheck.theory.instances.matrices import matrices


@conjecture("mine.one", instances=matrices(), mutants={"a norm": {"size": linalg.nuclear_norm}})
def test_one(A, *, size=linalg.operator_norm):
    '''One.'''
    data = nets.leaky(A, linalg.scalar(0, A))
    rank = linalg.rank(data.mT)
    return leq(rank, size(A)), leq(data.mT, linalg.frobenius_squared(linalg.eye(2, like=A)))
"""


def test_a_function_stands_without_its_module(tmp_path):
    (tmp_path / "mine.py").write_text(MODULES, encoding="utf-8")
    [entry] = read_file(tmp_path / "mine.py")
    assert sides_of(entry, 0) == ("rank(data.mT)", "size(A)")
    assert sides_of(entry, 1) == ("data.mT", "frobenius_squared(eye(2, like=A))")
    assert entry.mutants == {"a norm": "{'size': nuclear_norm}"}
    assert assigned(entry) == {"data": "nets.leaky(A, scalar(0, A))", "rank": "rank(data.mT)"}


def written(folder, body):
    """The entry of a claim with that body."""
    text = FILE.split("@conjecture")[0] + '@conjecture("mine.one", instances=matrices())\n'
    text += f'def test_one(x):\n    """One."""\n    {body}\n'
    (folder / "mine.py").write_text(text, encoding="utf-8")
    [entry] = read_file(folder / "mine.py")
    return entry


#: Bodies that return `leq(y, 1)`, where y is more than what one statement says of it.
CHANGED = [
    "*rest, y = x, x + 1, x + 2",
    "y = x.sum()\n    match x.ndim:\n        case y:\n            pass",
    "y = x.sum()\n    try:\n        x.none()\n    except ValueError as y:\n        pass",
    "y = x.sum()\n    def y():\n        pass",
    "y = x.sum()\n    (y := 2)",
    "y = x.sum()\n    torch.add(x, 9, out=y)",
    "y = x.clone()\n    y[..., 0] = 9",
    "y = x.clone()\n    y += 1",
    "y = x.clone()\n    y.mul_(2)",
    "y = []\n    y.append(x)",
]


@pytest.mark.parametrize("text", CHANGED)
def test_a_name_that_is_changed_has_no_code(tmp_path, text):
    claim = written(tmp_path, f"{text}\n    return leq(y, 1)")
    assert sides_of(claim) == ("y", "1")
    assert "y" not in assigned(claim)


@pytest.mark.parametrize(
    ("returned", "sides"),
    [
        ('leq(x, 100, label="size"), helper(x)', ("", "")),
        ('helper(x), leq(x, 100, label="size")', ("x", "100")),
        ('leq(x, 100, label="size"), leq(x, 2, label="size")', ("x", "2")),
    ],
)
def test_a_label_and_a_place_agree(tmp_path, returned, sides):
    """The relation that is asked for is the second one, with the label "size"."""
    claim = written(tmp_path, f"return {returned}")
    assert sides_of(claim, 1, "size") == sides


def test_a_claim_inside_a_function_has_its_text():
    @rc.conjecture("mine.prompt", instances=matrices())
    def claim(A):
        r"""A claim of a prompt: $\|A\| \le 1$."""
        return rc.leq(A.abs().amax(), 1)

    assert sides_of(claim) == ("A.abs().amax()", "1")
    body = compile("def claim(A):\n    'Typed.'\n    return leq(A, 1)", "<stdin>", "exec")
    names = {"leq": rc.leq}
    exec(body, names)
    typed = rc.conjecture("mine.typed", instances=matrices())(names["claim"])
    assert sides_of(typed) == ("", "")


REFUTED = {entry.id: entry for entry in project() if entry.kind in FALSE}


@pytest.mark.parametrize("name", sorted(REFUTED))
def test_both_sides_of_a_refuted_claim_have_a_text(name):
    entry = REFUTED[name]
    smallest = read(FORM.path(entry))["smallest"]
    assert all(sides_of(entry, smallest["relation"], smallest["label"]))
