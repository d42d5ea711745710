"""The catalogue says of each file what importing it says; and it can be wrong only loudly."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue import collect as catalogue
from rankcheck.claims.catalogue.entry import CatalogueError
from rankcheck.claims.catalogue.loader import BrokenClaim, load, load_each, module_name
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.catalogue.selection import SelectionError, select
from rankcheck.claims.claim import qualified_name
from rankcheck.claims.reference import Reference
from rankcheck.errors import InputError

HEAD = """
from rankcheck import Erratum, Reference, bound, cited, conjecture, leq, paper, refuted, step
from rankcheck.theory.instances.source import instances

@instances
def numbers(source, *, bound=8):
    return source.tensor(low=-bound, high=bound)
"""


@pytest.fixture
def file(tmp_path):
    """Write a file of claims; what it declares is forgotten afterwards."""
    before = set(registry.declared())

    def write(text: str, name: str = "mine.py", head: str = HEAD) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + text, encoding="utf-8")
        return path

    yield write
    for name in {*registry.declared(), *registry.malformed()} - before:
        registry.forget(name)


def line_of(path: Path, text: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def assert_agrees(entry, claim):
    """Everything that is read of a claim is what the imported claim has."""
    assert entry.declared == claim.declared
    assert entry.line == claim.line
    assert entry.file == claim.file.resolve()
    assert list(entry.needs) == list(claim.needs)
    assert list(entry.mutants) == list(claim.mutants)
    assert (entry.instances is None) == (claim.instances is None)
    assert (entry.reach is None) == (claim.reach is None)
    assert (entry.tight is None) == (claim.tight is None)
    assert claim.body.__name__ == entry.name
    assert (entry.witness is None) == (claim.witness is None)
    if claim.witness is not None:
        assert entry.witness.split(".")[-1] == qualified_name(claim.witness).split(".")[-1]


def test_the_catalogue_is_the_registry():
    entries = catalogue.project()
    assert len(entries) >= 12
    for entry, claim in zip(entries, load(entries), strict=True):
        assert_agrees(entry, claim)
    folder = catalogue.project_folder()
    imported = {c.id for c in registry.declared().values() if c.file.is_relative_to(folder)}
    assert imported == {entry.id for entry in entries}


def test_corrections_exist():
    assert catalogue.uncorrected(catalogue.project()) == []


def test_everything_that_can_be_said_is_read(file):
    path = file(
        '''
import rankcheck.claims.declare as c
from rankcheck import bound as proved
from rankcheck.theory.witnesses.deepen import deepen
PLACE = Reference("Me 2027", where="Thm 4")
SECOND = Erratum(printed="x", right="y", survives="all", weight="formula", place="p. 3")

def ranks(x):
    return {"rank": 1}

@proved(
    "t.whole", PLACE, instances=numbers(bound=2), tight=numbers(),
    needs={"x small": numbers(bound=4)}, mutants={"m": {"by": 3}},
    loose={"first": "not", "b": "so"},
    witness=deepen, no_ball="sin", effort=2.5, reach=ranks,
    errata=(Erratum(printed="+", right="-", survives="all"), SECOND),
)
def test_whole(x, *, by=1):
    r"""A title over
    two lines.

    $x \\le x$.
    """
    return leq(x, by * x)

@c.conjecture("t.mine", instances=numbers())
def test_mine(x):
    """x <= x"""
    return leq(x, x)

@refuted("t.wrong", paper("rank", "p. 1"), instances=numbers(),
         errata=Erratum(printed="x <= -x", right="-x <= x", survives="nothing", weight="theorem"),
         readings={"for all x": "false at 1"}, corrected_by="t.whole")
def test_wrong(x):
    """x <= -x"""
    return leq(x, -x)

@step("t.step", paper("rank", "p. 1"), instances=numbers(),
      errata=Erratum(printed="-", right="+", survives="all", weight="step"),
      result="stands: by t.whole")
def test_step(x):
    """x <= -x"""
    return leq(x, -x)

@cited("t.cited", paper("rank", "p. 2"), reason="too long")
def test_cited():
    """A title.

    Its statement.
    """
'''
    )
    entries = read_file(path)
    names = ["t.whole", "t.mine", "t.wrong", "t.step", "t.cited"]
    assert [entry.id for entry in entries] == names
    for entry, claim in zip(entries, load(entries), strict=True):
        assert_agrees(entry, claim)
    whole = entries[0]
    assert whole.reference == Reference("Me 2027", "Thm 4")
    assert whole.loose == {"first": "not", "b": "so"}
    assert whole.instances == "numbers(bound=2)"
    assert whole.needs == {"x small": "numbers(bound=4)"}
    assert whole.mutants == {"m": "{'by': 3}"}
    assert whole.line == line_of(path, "@proved(")
    assert (whole.title, whole.statement) == ("A title over two lines", r"$x \le x$.")
    assert (entries[1].title, entries[1].statement) == ("x <= x", "x <= x")
    assert whole.witness == "rankcheck.theory.witnesses.deepen.deepen"


PLAIN = '''
@bound({arguments}, instances=numbers(){more})
def test_it(x):
    """x <= x"""
    return leq(x, x)
'''


@pytest.mark.parametrize(
    ("arguments", "more", "rule"),
    [
        ('f"t.{1}"', ', reference=paper("rank", "p")', "the id of a claim is a literal text"),
        ('"t.a"', "", "t.a: a claim names its reference"),
        ('"t.a"', ', reference=paper("nope", "p")', "the key of a document is one of rank, "),
        (
            '"t.a"',
            ', reference="rank"',
            "a reference is paper(key, place) or Reference(key, place)",
        ),
        (
            '"t.a"',
            ', reference=paper("rank", "p"), errata=str(3)',
            "an erratum is Erratum(printed=..., right=..., survives=...), with literal",
        ),
        ('"t.a"', ', reference=paper("rank", "p"), mutants=dict()', "the mutants of a claim are"),
        (
            '"t.a", paper("rank", "p"), "bound"',
            "",
            "a claim takes its id and its reference",
        ),
        ('"t.a"', ', **{"source": 1}', "a claim's arguments are written out"),
        ('title="t.a"', ', reference=paper("rank", "p")', "a claim has an id"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(file, arguments, more, rule):
    path = file(PLAIN.format(arguments=arguments, more=more))
    [entry] = read_file(path)
    assert entry.problem.startswith(f"{path}:{line_of(path, '@bound')}: {rule}")
    assert "received" in entry.problem
    assert "\n" not in entry.problem
    assert entry.id in ("t.a", "mine.test_it")
    assert catalogue.problems([entry]) == [entry.problem]


def test_own_claims_can_all_be_read(file, monkeypatch):
    path = file('@conjecture("t.a", instances=numbers())\ndef test_it(x):\n    return leq(x, x)\n')
    monkeypatch.setattr(catalogue, "project_folder", lambda: path.parent)
    with pytest.raises(CatalogueError, match="states its mathematics in its docstring"):
        catalogue.project()


MALFORMED = """
@conjecture("t.{name}", {options})
def test_{name}(x, *, by=1):
    {doc}
    return leq(x, by * x)
"""


@pytest.mark.parametrize(
    ("options", "doc", "rule"),
    [
        ("instances=numbers()", "", "states its mathematics in its docstring"),
        ("instances=numbers", "'x'", "instances= is the generator numbers itself"),
        ("", "'x'", "was given no instances"),
    ],
)
def test_a_malformed_claim_blocks_no_other(file, options, doc, rule):
    path = file(
        TRUE.format(id="t.good", name="test_good")
        + MALFORMED.format(name="bad", options=options, doc=doc)
        + TRUE.format(id="t.last", name="test_last")
    )
    good, bad, last = load_each(read_file(path))
    assert (good.id, last.id) == ("t.good", "t.last")
    assert isinstance(bad, BrokenClaim)
    assert bad.entry.id == "t.bad"
    assert bad.problem.startswith(f"{path}:{line_of(path, 't.bad')}: t.bad: ")
    assert rule in bad.problem
    with pytest.raises(InputError, match=re.escape(rule)):
        load(read_file(path))
    assert [claim.id for claim in load(read_file(path)[::2])] == ["t.good", "t.last"]


def test_a_malformed_claim_that_is_mended_is_one(file):
    text = MALFORMED.format(name="bad", options="instances=numbers", doc="'x'")
    path = file(text)
    assert isinstance(load_each(read_file(path))[0], BrokenClaim)
    path.write_text(path.read_text().replace("instances=numbers)", "instances=numbers())"))
    sys.modules.pop(module_name(path))
    assert load(read_file(path))[0].id == "t.bad"


def test_a_claim_inside_something_is_refused(file):
    path = file(
        "def make():\n"
        '    @conjecture("t.a", instances=numbers())\n'
        '    def test_it(x):\n        """x <= x"""\n        return leq(x, x)\n'
    )
    with pytest.raises(CatalogueError, match="a decorated function at the top level of its file"):
        read_file(path)


def test_a_claim_of_somebody_else_is_none(file):
    text = 'def bound(name):\n    return lambda f: f\n\n@bound("x.y")\ndef test_it():\n    pass\n'
    assert read_file(file(text, head="# not rankcheck's\n")) == []


def test_a_parameter_with_the_name_of_a_kind_is_called_in_a_body(file):
    text = TRUE.format(id="t.a", name="test_it").replace("(x):", "(x, *, bound=abs):")
    entries = read_file(file(text.replace("leq(x, x)", "leq(x, bound() + bound(x))")))
    assert [(entry.id, entry.problem) for entry in entries] == [("t.a", None)]


def test_text_that_is_not_python_is_refused_with_its_line(file):
    path = file("def broken(:\n    pass\n")
    with pytest.raises(CatalogueError, match=rf"{path.name}:{line_of(path, 'broken')}: "):
        read_file(path)
    path.write_bytes(b"rankcheck \xff")
    with pytest.raises(CatalogueError, match="a claim file is UTF-8 text"):
        read_file(path)


TRUE = '''
@conjecture("{id}", instances=numbers())
def {name}(x):
    """x <= x"""
    return leq(x, x)
'''


def test_an_id_is_used_once(file):
    file(TRUE.format(id="t.a", name="test_a"), "one.py")
    path = file(TRUE.format(id="t.a", name="test_b"), "two.py")
    with pytest.raises(CatalogueError, match=r"t\.a is declared at .*one\.py.* and at .*two\.py"):
        select([str(path.parent)])
    path = file(TRUE.format(id="rank.jacobian-bounds-cost", name="test_c"), "three.py")
    with pytest.raises(CatalogueError, match="a claim id is used once"):
        select([str(path)])


def test_unknown_corrections_are_named(file):
    path = file(
        '@refuted("t.a", paper("rank", "p"), instances=numbers(), '
        'errata=Erratum(printed="a", right="b", survives="c", weight="theorem"), '
        'readings={"x": "y"}, corrected_by="t.nope")\n'
        'def test_a(x):\n    """x"""\n    return leq(x, -x)\n'
    )
    [problem] = catalogue.uncorrected(read_file(path))
    assert "t.a is corrected by 't.nope', and there is no such claim" in problem


def test_selectors(file, monkeypatch):
    ids = [entry.id for entry in select()]
    assert ids == sorted(ids)
    assert [e.id for e in select(["rank.cross-example"])] == ["rank.cross-example"]
    cross = ["rank.cross-example", "rank.cross-example-as-printed"]
    assert [entry.id for entry in select(["rank.cross"])] == cross
    assert [entry.id for entry in select(["*cross-e*", "rank.cross-example"])] == cross
    assert {entry.id.split(".")[0] for entry in select(["rank", "linear"])} == {"rank", "linear"}

    path = file(TRUE.format(id="t.a", name="test_a") + TRUE.format(id="t.b", name="test_b"))
    monkeypatch.chdir(path.parent)
    assert [entry.id for entry in select(["mine.py"])] == ["t.a", "t.b"]
    assert [entry.id for entry in select([f"{path}::test_b"])] == ["t.b"]
    assert [entry.id for entry in select(["mine.py::t.b"])] == ["t.b"]
    (path.parent / "rank").mkdir()
    path.rename(path.parent / "rank" / "mine.py")
    assert {entry.id[:5] for entry in select(["rank"])} == {"rank."}  # an id before a folder
    assert [entry.id for entry in select(["./rank"])] == ["t.a", "t.b"]


def test_a_broken_neighbour_does_not_matter(file, monkeypatch):
    path = file(TRUE.format(id="t.a", name="test_a"), "own/mine.py")
    file("1 +", "broken/bad.py")
    monkeypatch.setattr(catalogue, "project_folder", lambda: path.parent.parent / "broken")
    assert [entry.id for entry in select([str(path)])] == ["t.a"]
    for selectors in ([], ["rank"], [str(path), "rank"]):
        with pytest.raises(CatalogueError, match=r"bad\.py:\d+: a claim file is Python"):
            select(selectors)


def test_an_id_is_found_without_reading_the_others(file, monkeypatch):
    """An id that the user's file shares with rankcheck's own is found, too."""
    own = file(TRUE.format(id="t.a", name="test_a"), "own/a.py").parent
    monkeypatch.setattr(catalogue, "project_folder", lambda: own)
    mine = file(TRUE.format(id="t.a", name="test_mine"))
    file("1 +", "own/b.py")
    assert [entry.id for entry in select(["t.a"])] == ["t.a"]
    with pytest.raises(CatalogueError, match="a claim id is used once"):
        select([str(mine)])
    file(TRUE.format(id="t.a", name="test_again"), "own/c.py")
    with pytest.raises(CatalogueError, match="a claim id is used once"):
        select(["t.a"])


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("rank.jacobian-bound-cost", "similar: rank.jacobian-bounds-cost"),
        ("phi-solved", "similar: linear.phi-solved"),
        ("zebra", "the prefixes are bottleneck, "),
        ("no/such/file.py", "there is no file or folder 'no/such/file.py'"),
        ("mine.py::test_c", "mine.py has no claim 'test_c'; it has test_a"),
        ("empty.py", "empty.py declares no claim"),
        ("broken.py", "broken.py:1: a claim file is Python"),
        ("notes.txt", "'notes.txt' is not a Python file"),
        ("nothing/", "nothing has no file that declares a claim"),
    ],
)
def test_a_selector_that_selects_nothing(file, monkeypatch, selector, said):
    path = file(TRUE.format(id="t.a", name="test_a"))
    file("", "empty.py")
    (path.parent / "broken.py").write_text("def f(:")
    file("", "notes.txt")
    file("", "nothing/_shared.py")
    monkeypatch.chdir(path.parent)
    with pytest.raises((SelectionError, CatalogueError)) as error:
        select([selector])
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_only_files_that_may_hold_claims_are_read(file):
    path = file(TRUE.format(id="t.a", name="test_a"), "sub/mine.py")
    root = path.parent.parent
    for name in ("_shared.py", ".hidden/x.py", "_private/x.py", "notes.md"):
        file("1 +", name)
    (root / "venv").mkdir()
    (root / "venv" / "pyvenv.cfg").touch()
    file("1 +", "venv/lib.py")
    assert [entry.file for entry in catalogue.folder_claims(root)] == [path]


def test_files_of_a_folder_share_helpers(file):
    file("NUMBERS = numbers()\n", "_shared.py")
    file("BOUND = 1\n", "neighbour_of_claims.py", head="")
    path = file(
        "from ._shared import NUMBERS\nfrom neighbour_of_claims import BOUND\n"
        + TRUE.format(id="t.shared", name="test_a").replace("numbers()", "NUMBERS")
    )
    [claim] = load(read_file(path))
    assert str(claim.instances) == "numbers()"
    assert claim.body.__module__.startswith("rankcheck_claims_")


def test_only_files_with_a_selected_claim_are_imported(file):
    file('raise RuntimeError("never")\n' + TRUE.format(id="t.bad", name="test_a"), "bad.py")
    path = file(TRUE.format(id="t.good", name="test_a"), "good.py")
    entries = catalogue.folder_claims(path.parent)
    assert [claim.id for claim in load([e for e in entries if e.id == "t.good"])] == ["t.good"]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("numbers(1)", "TypeError: "),
    ],
)
def test_a_file_that_cannot_be_imported(file, line, cause):
    path = file(line + "\n" + TRUE.format(id="t.a", name="test_a"))
    with pytest.raises(InputError) as error:
        load(read_file(path))
    place = f"{path}:{line_of(path, line)}"
    assert str(error.value).startswith(f"{place}: the file cannot be imported; {cause}")
    assert "\n" not in str(error.value)


def test_reading_needs_no_torch():
    code = (
        "import sys, rankcheck; from rankcheck.claims.catalogue.collect import project;"
        "assert len(project()) >= 12; rankcheck.paper('rank', 'p');"
        "assert not {'torch', 'numpy', 'hypothesis'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there():
    import rankcheck

    assert all(getattr(rankcheck, name) is not None for name in rankcheck.__all__)
    assert set(rankcheck.__all__) <= set(dir(rankcheck))
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = rankcheck.nope
