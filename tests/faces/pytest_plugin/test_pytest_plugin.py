"""The plugin: ledgers, also merged ones, and the mistakes that have to be errors.

Runs with pytest-xdist take processes of their own; the others are pytest inside pytest.
"""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

import rankcheck.engine.verification.check  # noqa: F401 -- an inner run drops the modules that it imports first
from rankcheck.claims import registry
from rankcheck.engine.verification.ledger import read_ledger
from rankcheck.engine.verification.profiles import PROFILES
from rankcheck.faces.commands import cli

HEAD = """
import pytest
from rankcheck import Erratum, cited, conjecture, eq, identity, leq, paper, refuted
from rankcheck.theory.instances.source import instances

SIGN = Erratum(printed="-", right="+", survives="all", weight="formula")
READ = {"x": "y"}

@instances
def numbers(source):
    return source.tensor()
"""
TRUE = '''
@identity("{id}", paper("rank", "p. 1"), instances=numbers())
def test_{name}(x):
    """$x + x = 2x$"""
    return eq(x + x, 2 * x)
'''
FALSE = '''
@conjecture("t.small", instances=numbers())
def test_small(x):
    """$x \\\\le 3$"""
    return leq(x, 0 * x + 3)
'''
CITED = '''
@cited("t.cited", paper("rank", "p. 2"), reason="too long")
def test_cited():
    """A long computation."""
'''
REFUTED = '''
@refuted("t.wrong", paper("rank", "p. 1"), instances=numbers(), errata=SIGN, readings=READ,
         corrected_by="{by}")
def test_wrong(x):
    """$x = -x$"""
    return eq(x, -x)
'''


@pytest.fixture
def run(pytester):
    """Run pytest: the result and what it printed. Files are named without suffix, / as __."""
    before = set(registry.declared())

    def forget():
        for name in set(registry.declared()) - before:
            registry.forget(name)

    def run(*arguments: str, **files: str):
        for name, text in files.items():
            path = pytester.path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(HEAD + text, encoding="utf-8")
        forget()
        start = pytester.runpytest_subprocess if "-n" in arguments else pytester.runpytest_inprocess
        result = start("-p", "no:cacheprovider", *arguments)
        return result, result.stdout.str() + result.stderr.str()

    yield run
    forget()


def rows_of(path):
    return {row.id: row for row in read_ledger(path).rows}


def test_a_false_conjecture_speaks_mathematics(run, pytester):
    result, out = run("my_conjectures.py", my_conjectures=FALSE)
    result.assert_outcomes(failed=1)
    assert re.search(r"^t\.small is false: lhs .*\(certified, 128-bit balls\)$", out, re.MULTILINE)
    assert "claimed: $x \\le 3$" in out
    assert "rankcheck replay .rankcheck/t.small.json" in out
    assert (pytester.path / ".rankcheck" / "t.small.json").is_file()
    assert "Traceback" not in out


def test_the_ledger_ends_the_run(run):
    result, out = run(test_it=TRUE.format(id="t.a", name="a") + CITED)
    assert result.ret == 0
    assert re.search(r"^t\.a +identity +holds +3 +12344 +exact +1/1 ", out, re.MULTILINE)
    assert "2 claims: 1 hold, 1 cited" in out


def test_a_run_without_claims_says_nothing_of_them(run):
    result, out = run("-q", test_it="def test_it():\n    pass\n")
    assert result.ret == 0
    assert "rankcheck" not in out


@pytest.mark.slow
def test_no_torch_where_there_are_no_claims(pytester):
    pytester.makepyfile(
        "import sys\n\ndef test_it():\n    assert not {'torch', 'numpy'} & set(sys.modules)\n"
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


@pytest.mark.slow
def test_the_ledger_of_a_worker_is_that_of_a_run_without(run, pytester, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    (pytester.path / ".git").mkdir()
    many = "".join(TRUE.format(id=f"t.a{n}", name=f"a{n}") for n in range(2))
    files = {"test_one": many + CITED, "test_two": FALSE}
    bad = TRUE.format(id="Bad", name="bad")
    result, out = run(
        *("-n", "1", "--rankcheck-ledger", "ledger.json", "--junitxml", "j.xml"),
        **files | {"test_two": FALSE + bad},
    )
    result.assert_outcomes(passed=3, failed=2)
    junit = properties_of(pytester.path / "j.xml")
    assert junit["test_small"]["rankcheck.verdict"] == "refuted"
    assert junit["test_a1"]["rankcheck.mutants"] == "1/1"
    assert annotated(out) == [
        ("error", "test_two.py", line_of(FALSE, "t.small"), "t.small%3A refuted"),
        ("error", "test_two.py", line_of(FALSE + bad, '"Bad"'), "Bad%3A failed"),
    ]
    assert "::test_two.py:" in out  # the place of the claim, and not the worker
    together = rows_of(pytester.path / "ledger.json")
    assert set(together) == {"t.a0", "t.a1", "t.cited", "t.small"}
    assert "4 claims: 2 hold, 1 cited, 1 REFUTED" in out
    assert "t.small is false: lhs " in out
    assert (pytester.path / "summary.md").read_text("utf-8").count("### rankcheck") == 1

    run("--rankcheck-ledger", "alone.json")
    alone = rows_of(pytester.path / "alone.json")
    timeless = [
        {name: replace(row, seconds=0) for name, row in rows.items()} for rows in (together, alone)
    ]
    assert timeless[0] == timeless[1]


def test_the_ledger_file_names_profile_and_seed(run, pytester, monkeypatch):
    monkeypatch.setenv("RANKCHECK_PROFILE", "ci")
    arguments = ("--rankcheck-ledger", "l.json", "--rankcheck-seed", "5")
    run(*arguments, test_it=TRUE.format(id="t.a", name="a"))
    ledger = read_ledger(pytester.path / "l.json")
    assert (ledger.profile, ledger.seed) == ("ci", 5)
    assert ledger.rows[0].drawn.evaluated == PROFILES["ci"].drawn
    run("--rankcheck-ledger", "l.json", "--rankcheck-profile", "quick")
    assert read_ledger(pytester.path / "l.json").profile == "quick"


def test_a_check_that_raises_has_a_row_and_a_traceback(run):
    text = FALSE.replace("return leq(x, 0 * x + 3)", 'raise KeyError("lost")')
    result, out = run(test_it=text)
    result.assert_outcomes(failed=1)
    assert "E       KeyError: 'lost'" in out
    assert "1 claim: 1 FAILED" in out


DIALLED = '''
{above}
@conjecture("t.dialled", instances=numbers(), mutants={{"half": {{"k": 0.5}}}})
{below}
def test_dialled(x, *, k=9.0, j=0):
    """x is at most k + j."""
    return leq(x, k + j)
'''
EACH = '@pytest.mark.parametrize("k", [3, 9])'


@pytest.mark.parametrize(
    ("above", "below", "items"),
    [
        (EACH, "", {"[3]": "k=3", "[9]": "k=9"}),
        ("", EACH, {"[3]": "k=3", "[9]": "k=9"}),
        (
            '@pytest.mark.parametrize("j", [0, 1])',
            EACH,
            {"[3-0]": "k=3,j=0", "[3-1]": "k=3,j=1", "[9-0]": "k=9,j=0", "[9-1]": "k=9,j=1"},
        ),
        (
            '@pytest.mark.parametrize("k, j", [pytest.param(1, 2, id="low"), (4, 4.5)])',
            "",
            {"[low]": "k=1,j=2", "[4-4.5]": "k=4,j=4.5"},
        ),
        ("pytestmark = " + EACH.removeprefix("@"), "", {"[3]": "k=3", "[9]": "k=9"}),
    ],
)
def test_each_setting_of_its_dials_is_a_test(run, pytester, above, below, items):
    """The dial is set, the certificate proves it, and the command has the same rows."""
    text = DIALLED.format(above=above, below=below)
    _, out = run("-v", "--rankcheck-ledger", "ledger.json", test_it=text)
    rows = rows_of(pytester.path / "ledger.json")
    assert {f"t.dialled[{setting}]" for setting in items.values()} == set(rows)
    for item, setting in items.items():
        values = dict(part.split("=") for part in setting.split(","))
        holds = float(values.get("k", 9)) + float(values.get("j", 0)) >= 8
        row = rows[f"t.dialled[{setting}]"]
        assert row.verdict == ("guarded" if holds else "refuted")
        assert f"test_dialled{item} {'PASSED' if holds else 'FAILED'}" in out
        if holds:
            assert row.mutants.killed == row.mutants.total == 1
        else:
            assert "rhs is k + j" in row.messages[0]
            assert cli.main(["replay", row.certificate]) == 0
    assert cli.main(["verify", "test_it.py", "--workers", "1", "--json", "other.json"]) == 1
    verdicts = {id_: row.verdict for id_, row in rows.items()}
    assert {k: row.verdict for k, row in rows_of(pytester.path / "other.json").items()} == verdicts


@pytest.mark.parametrize(
    ("mark", "rule"),
    [
        ('("x", [1, 2])', r"; .*keyword-only.*\['j', 'k'\]"),
        ('("k", [3], indirect=True)', "; indirect is not"),
        ('("k", [])', "; values are a list"),
        ('("k, j", [(1, 2, 3)])', "; values are a list"),
        ('("k", [object()])', "; a value is"),
    ],
)
def test_what_is_no_dial_is_not_parametrized(run, capsys, mark, rule):
    text = DIALLED.format(above=f"@pytest.mark.parametrize{mark}", below="")
    result, out = run(test_it=text + TRUE.format(id="t.a", name="a"))
    result.assert_outcomes(errors=1)
    assert re.search(rf"t\.dialled: parametrize sets .*{rule}", out)
    assert "Traceback" not in out
    assert cli.main(["verify", "test_it.py"]) == 2
    assert "t.dialled: parametrize sets " in capsys.readouterr().err


FIXTURES = """
@pytest.fixture
def broken():
    raise KeyError("lost")

@pytest.fixture(autouse=True)
def told(request):
    print("set up for", request.node.name)

@pytest.fixture(autouse=True, params=["one", "two"])
def several(request):
    return request.param
"""


def test_fixtures_act_as_on_any_test(run, pytester):
    text = FIXTURES + '@pytest.mark.usefixtures("broken")' + TRUE.format(id="t.a", name="a")
    text += DIALLED.format(above=EACH, below="")
    result, out = run("-v", "-s", "--rankcheck-ledger", "ledger.json", test_it=text)
    result.assert_outcomes(errors=2, passed=2, failed=2)
    assert "KeyError: 'lost'" in out
    assert out.count("set up for test_dialled[") == 4
    rows = rows_of(pytester.path / "ledger.json")
    assert {id_: row.verdict for id_, row in rows.items()} == {
        "t.a": "failed",
        "t.dialled[k=3]": "refuted",
        "t.dialled[k=9]": "guarded",
    }


@pytest.mark.parametrize(
    ("mark", "text", "outcomes", "rows"),
    [
        ('skip("slow")', FALSE, {"skipped": 1}, 0),
        ('skipif("True", reason="slow")', FALSE, {"skipped": 1}, 0),
        ('skipif("False", reason="slow")', FALSE, {"failed": 1}, 1),
        ("xfail(strict=True)", FALSE, {"xfailed": 1}, 1),
        ("xfail(run=False)", FALSE, {"xfailed": 1}, 0),
        ("xfail(strict=True)", TRUE.format(id="t.a", name="a"), {"failed": 1}, 1),
    ],
)
def test_marks_act_as_on_any_test(run, pytester, monkeypatch, mark, text, outcomes, rows):
    """A claim that is skipped was not put to the test: it has no row."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result, out = run("--rankcheck-ledger", "ledger.json", test_it=f"\n@pytest.mark.{mark}{text}")
    result.assert_outcomes(**outcomes)
    assert len(rows_of(pytester.path / "ledger.json")) == rows
    assert ("::error" in out) == ("failed" in outcomes)


METHOD = '''
class {name}:
    {above}
    @conjecture({id!r}, instances=numbers())
    def test_method(self, x):
        """x is at most 3."""
        return leq(x, 3)
'''


@pytest.mark.parametrize(
    "method",
    [
        METHOD.format(name="TestAll", id="t.method", above=""),
        METHOD.format(name="Bounds", id="Bad Id", above=""),
        METHOD.format(name="Bounds", id="t.method", above="@staticmethod"),
    ],
)
def test_a_method_is_no_claim(run, capsys, method):
    result, out = run(test_it=method + TRUE.format(id="t.a", name="a"))
    result.assert_outcomes(errors=1)
    rule = "a claim is a decorated function at the top level of its file"
    assert rule in out
    assert "Traceback" not in out
    assert cli.main(["verify", "test_it.py"]) == 2
    assert rule in capsys.readouterr().err


def test_torch_runs_on_one_thread_in_claims_alone(run):
    text = '''
import torch

@conjecture("t.threads", instances=numbers())
def test_threads(x):
    """one thread"""
    return leq(0 * x + torch.get_num_threads(), 0 * x + 1)

def test_after():
    assert torch.get_num_threads() == 2

torch.set_num_threads(2)
'''
    result, _ = run(test_it=text)
    result.assert_outcomes(passed=2)


def test_a_duplicate_id_is_an_error(run):
    same = TRUE.format(id="t.a", name="a")
    result, out = run(test_one=same, test_two="\n" + same)
    result.assert_outcomes(errors=1)
    assert "a claim id is used once" in out
    assert "Traceback" not in out


def test_a_claim_that_is_not_well_formed_fails_alone(run):
    good = TRUE.format(id="t.good", name="good")
    result, out = run(test_it=TRUE.format(id="Not An Id", name="a") + good)
    result.assert_outcomes(failed=1, passed=1)
    assert re.search(r"test_it\.py:\d+: Not An Id: an id is lower-case words joined by dots", out)
    assert "registry" not in out
    assert "Traceback" not in out
    assert not registry.is_recording()


def test_a_claim_is_a_test_whatever_its_name(run):
    result, _ = run(test_it=TRUE.format(id="t.a", name="a").replace("def test_a", "def a"))
    result.assert_outcomes(passed=1)


INI = "[pytest]\nrankcheck_claims = props\npython_files = props/*.py\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"props__b": TRUE.format(id="t.a", name="b")}, "a claim id is used once"),
        ({"props__b": REFUTED.format(by="t.nope")}, "t.wrong is corrected by 't.nope'"),
        ({"props__b": TRUE.format(id="t.b", name="b").replace("paper(", "str(")}, "paper("),
        ({"props__b": "def broken("}, "a claim file is Python"),
    ],
)
def test_a_folder_of_claims_is_whole(run, pytester, files, said):
    pytester.makefile(".ini", pytest=INI)
    result, out = run(props__a=TRUE.format(id="t.a", name="a"), **files)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in out
    assert "Traceback" not in out
    if "corrected" in said:  # one file can be run while another is being written
        run("props/a.py")[0].assert_outcomes(passed=1)


def test_a_wrong_profile_in_the_environment_stops_claims_alone(run, monkeypatch):
    monkeypatch.setenv("RANKCHECK_PROFILE", "nope")
    run(test_other="def test_other(): pass")[0].assert_outcomes(passed=1)
    result, out = run(test_mine=TRUE.format(id="t.profile", name="a"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "RANKCHECK_PROFILE is 'nope'; a profile is one of quick, ci, deep" in out


SELDOM = """
@identity("t.seldom", paper("rank", "p. 1"), instances=numbers())
def test_seldom(x):
    '''Asserted for few x.'''
    return eq(x + x, 2 * x, where=x > 1)
"""


@pytest.mark.parametrize(("least", "passed"), [("0.01", 1), ("0.5", 0), ("1", 0)])
def test_a_relation_has_to_be_asserted_often_enough(run, pytester, least, passed):
    pytester.makefile(".ini", pytest=f"[pytest]\nrankcheck_least_asserted = {least}\n")
    result, out = run(test_mine=SELDOM)
    result.assert_outcomes(passed=passed, failed=1 - passed)
    if not passed:
        assert "t.seldom: relation 1 is asserted on " in out


@pytest.mark.parametrize(
    ("ini", "name"),
    [
        ("python_files = test_*.py", "props/test_a.py"),
        ("python_files = props/*.py\nnorecursedirs = deep", "props/a.py"),
    ],
)
def test_a_file_of_claims_that_would_not_be_collected(run, pytester, ini, name):
    pytester.makefile(".ini", pytest="[pytest]\nrankcheck_claims = props\n" + ini)
    (pytester.path / "props" / "deep").mkdir(parents=True)
    (pytester.path / name).write_text(HEAD + TRUE.format(id="t.a", name="a"))
    (pytester.path / "props" / "deep" / "b.py").write_text(HEAD + TRUE.format(id="t.b", name="b"))
    result, out = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "deep/b.py is ignored, or does not match python_files" in out
    run(name)[0].assert_outcomes(passed=1)  # alone it may run


def test_a_whole_folder_passes(run, pytester):
    pytester.makefile(".ini", pytest=INI)
    files = {"props__a": TRUE.format(id="t.a", name="a"), "props___shared": "X = 1"}
    result, _ = run(**files)
    result.assert_outcomes(passed=1)
    pytester.makefile(".ini", pytest=INI.replace("= props\n", "= nope props\n", 1))
    result, out = run(".")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "nope does not exist; rankcheck_claims names folders of claims" in out


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("--rankcheck-profile fast", "there is no profile 'fast'"),
        ("--rankcheck-ledger no/l.json", "cannot write to no/l.json: the folder no"),
        ("--rankcheck-ledger .", "cannot write to .: it is a folder"),
        ("--rankcheck-hunt 0", "--rankcheck-hunt was given 0.0"),
        *(
            (f"-o rankcheck_least_asserted={share}", f"rankcheck_least_asserted is '{share}'")
            for share in ("no", "2", "nan")
        ),
    ],
)
def test_bad_options_stop_the_run(run, arguments, fact):
    result, out = run(*arguments.split(), test_it=CITED)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: rankcheck: {fact}" in out
    assert "Traceback" not in out


def properties_of(path):
    """By name of a test in a JUnit file, the properties of rankcheck and all others."""
    cases = ElementTree.parse(path).iter("testcase")
    return {
        case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in cases
    }


def test_a_junit_file_has_ids_and_verdicts(run, pytester):
    large = FALSE.replace("0 * x + 3", "0 * x + 9").replace("small", "large")
    other = "\ndef test_other(request):\n    request.node.user_properties.append(('k', 'v'))\n"
    bad = TRUE.format(id="Bad", name="bad")
    many = TRUE.format(id="t.a", name="a") + CITED + bad + large + other
    result, _ = run("--junitxml", "j.xml", test_it=many)
    result.assert_outcomes(passed=4, failed=1)
    found = properties_of(pytester.path / "j.xml")
    assert found["test_a"]["rankcheck.claim"] == "t.a"
    assert found["test_a"]["rankcheck.verdict"] == "holds"
    assert found["test_cited"]["rankcheck.verdict"] == "cited"
    assert found["test_large"]["rankcheck.verdict"] == "guarded"
    assert float(found["test_large"]["rankcheck.best_ratio"]) == pytest.approx(8 / 9)
    assert found["test_bad"] == {"rankcheck.claim": "Bad", "rankcheck.verdict": "failed"}
    assert found["test_other"] == {"k": "v"}


def annotated(out):
    """The annotations in what was printed: level, file, line, title."""
    form = r"^::(\w+) file=([^,]*),line=(\d+),title=(.*?)::"
    return sorted(re.findall(form, out, re.MULTILINE))


def line_of(text, mark):
    """The number of the line of a file of claims with a mark."""
    return str(1 + next(n for n, line in enumerate((HEAD + text).splitlines()) if mark in line))


def test_annotations_are_made_where_github_runs(run, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert annotated(run(test_it=FALSE)[1]) == []
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert len(annotated(run()[1])) == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/no/summary.md")
    result, out = run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "/no/summary.md" in out
    assert "Traceback" not in out
