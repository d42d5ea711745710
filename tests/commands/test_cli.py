"""The command: what it prints, its exit codes, and one line for wrong input."""

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial

import pytest

from rankcheck.catalogue.collect import project, project_folder
from rankcheck.catalogue.loader import load, module_name
from rankcheck.catalogue.selection import select
from rankcheck.claims import registry
from rankcheck.claims.reference import Reference
from rankcheck.commands import cli, exits
from rankcheck.commands.exits import Exit
from rankcheck.verification.ledger import read_ledger
from rankcheck.verification.profiles import Profile, Settings
from rankcheck.verification.run import default_workers, verify_claims

CLAIMS = '''
import os, signal, time
from rankcheck import cited, conjecture, eq, identity, leq, paper
from rankcheck.instances.source import instances

@instances
def numbers(source):
    return source.tensor()

@identity("t.doubled", paper("rank", "p. 1"), instances=numbers())
def test_doubled(x):
    """$x + x = 2x$"""
    return eq(x + x, 2 * x)

@conjecture("t.square", instances=numbers())
def test_square(x):
    """$-x^2 \\\\le x^2$"""
    return leq(-x * x, x * x)

@cited("t.cited", paper("rank", "p. 2"), reason="too long")
def test_cited():
    """A long computation."""
'''
FALSE = '''
@conjecture("t.small", instances=numbers())
def test_small(x):
    """$x \\\\le 3$"""
    return leq(x, 0 * x + 3)
'''
RAISES = '''
@conjecture("t.raises", instances=numbers())
def test_raises(x):
    """$x$"""
    raise KeyError("lost")
'''
BAD = """
@conjecture("t.bad", instances=numbers())
def test_bad(x):
    return eq(x, x)
"""
MISTAKEN = '''
@conjecture("t.mistaken", instances=numbers)
def test_mistaken(x):
    """$x$"""
    return eq(x, x)
'''
DIES = '''
@conjecture("t.dies", instances=numbers(), effort=2.0)
def test_dies(x):
    """$x$"""
    os.kill(os.getpid(), signal.SIGKILL)
'''
NAN = '''
@conjecture("t.nan", instances=numbers())
def test_nan(x):
    """$x$"""
    return leq(x - x, x / (x - x))
'''
EXITS = '''
@conjecture("t.exits", instances=numbers())
def test_exits(x):
    """$x$"""
    sys.exit(0)
'''
SLEEPS = '''
@conjecture("t.sleeps", instances=numbers())
def test_sleeps(x):
    """$x$"""
    time.sleep(600)
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write claims to `mine.py` in an empty working directory; what was imported is forgotten."""
    monkeypatch.chdir(tmp_path)
    before = set(registry.declared())
    path = tmp_path / "mine.py"

    def forget():
        sys.modules.pop(module_name(path), None)
        for name in {*registry.declared(), *registry.malformed()} - before:
            registry.forget(name)

    def write(*parts: str, first: str = "", text: str | None = None):
        forget()
        path.write_text(first + CLAIMS + "".join(parts) if text is None else text, "utf-8")
        return path

    yield write
    forget()


@pytest.fixture
def command(capsys):
    """Run a command line here: exit code, standard output, standard error."""

    def run(*arguments: object):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stopped:  # argparse
            code = stopped.code if isinstance(stopped.code, int) else 1
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_verify_says_a_line_a_claim_and_a_sum(file, command):
    file()
    code, out, err = command("verify", "mine.py", "--workers", 1)
    assert (code, err) == (0, "")
    lines = out.strip().splitlines()
    assert re.fullmatch(r"\[1/3\] cited      t\.cited  \(cited\)", lines[0])
    assert re.fullmatch(
        r"\[2/3\] holds      t\.doubled  "
        r"\(identity, scope 3≤5, 60 drawn, 12288 swept, best exact, mutants 1/1, \d+\.\d s\)",
        lines[1],
    )
    assert "guarded    t.square" in lines[2]
    assert re.fullmatch(
        r"3 claims: 1 hold, 1 guarded, 1 cited · \d+\.\d s · profile quick · seed 0", lines[-1]
    )


def test_a_refuted_conjecture_exits_1_with_its_certificate(file, command, tmp_path):
    file(FALSE)
    code, out, err = command("verify", "mine.py::test_small", "--json", "ledger.json")
    assert (code, err) == (1, "")
    assert "t.small is false: lhs" in out
    assert "1 claim: 1 REFUTED" in out
    certificate = tmp_path / ".rankcheck" / "t.small.json"
    assert f"rankcheck replay {certificate.relative_to(tmp_path)}" in out
    [row] = read_ledger(tmp_path / "ledger.json").rows
    assert (row.verdict, row.expected) == ("refuted", False)

    code, out, err = command("replay", certificate)
    assert (code, err) == (0, "")
    assert re.match(
        r"running mine\.py\nt\.small is false: lhs .* \(proved again, \d+-bit balls\)", out
    )


def annotated(text):
    """The annotations in what was printed: level, line, and title."""
    found = re.findall(r"^::(\w+) file=mine\.py,line=(\d+),title=(\S+) (\w+)::", text, re.MULTILINE)
    return {(level, int(line), f"{title} {word}") for level, line, title, word in found}


def test_claims_are_annotated_in_github_actions(file, command, monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    path = file(FALSE, NAN, RAISES)
    chosen = [f"mine.py::test_{name}" for name in (*NAMES, "cited")]
    lines = path.read_text("utf-8").splitlines()
    at = {name: 1 + lines.index(f'@conjecture("t.{name}", instances=numbers())') for name in NAMES}
    expected = {
        ("error", at["small"], "t.small%3A refuted"),
        ("warning", at["nan"], "t.nan%3A undecided"),
        ("error", at["raises"], "t.raises%3A failed"),
    }
    one = ("verify", "mine.py::test_raises")
    assert annotated(command(*one)[1]) == set()
    assert len(annotated(command(*one, "--github")[1])) == 1
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, out, err = command("verify", *chosen, "--workers", 1, "--json", "-")
    assert code == 1
    assert {row["id"] for row in json.loads(out)["claims"]} >= {"t.small", "t.nan"}
    assert annotated(err) == expected
    assert "%0A  claimed: $x \\le 3$%0A" in err
    text = (tmp_path / "summary.md").read_text("utf-8")
    assert f"| t.small | refuted | mine.py:{at['small']} | t.small is false: lhs " in text
    assert "4 claims: 1 cited, 1 REFUTED, 1 FAILED, 1 UNDECIDED" in text
    assert "t.cited" not in text
    assert annotated(command(*one, "--no-github")[1]) == set()
    assert (tmp_path / "summary.md").read_text("utf-8") == text


NAMES = ("small", "nan", "raises")


def test_a_summary_that_cannot_be_written_is_a_line(file, command, monkeypatch):
    file()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/no/summary.md")
    code, out, err = command("verify", "mine.py::test_cited", "--github")
    assert (code, err) == (0, "")
    assert "\nrankcheck: the summary cannot be written to /no/summary.md (" in out


def test_the_readme_is_true(file, command, tmp_path):
    file()
    readme = (project_folder().parent / "README.md").read_text(encoding="utf-8")
    [conjecture] = re.findall(
        r"```python\n(from rankcheck import conjecture.*?)```", readme, re.DOTALL
    )
    [answer] = re.findall(r"```\n(mine\.ten-percent-better is false.*?)```", readme, re.DOTALL)
    (tmp_path / "my_conjectures.py").write_text(conjecture, encoding="utf-8")
    code, out, err = command("verify", "my_conjectures.py")
    assert (code, err) == (1, "")
    assert answer in out


def test_replay_finds_the_claim_or_says_how(file, command, tmp_path):
    path = file(FALSE)
    command("verify", "mine.py::test_small")
    certificate = tmp_path / ".rankcheck" / "t.small.json"
    hidden = tmp_path / "deep"
    hidden.mkdir()
    path.rename(hidden / "elsewhere.py")
    code, out, err = command("replay", certificate)
    assert (code, out) == (2, "")
    assert "t.small of mine.py, which was not found near it" in err
    for name in ("t.doubled", "t.square", "t.cited", "t.small"):
        registry.forget(name)
    assert command("replay", certificate, "--claims", hidden / "elsewhere.py")[0] == 0


def test_replay_refuses_what_was_changed(file, command, tmp_path):
    path = file(FALSE)
    command("verify", "mine.py::test_small")
    certificate = tmp_path / ".rankcheck" / "t.small.json"
    text = certificate.read_text()
    certificate.write_text(text.replace('"bits": 128', '"bits": 256'))
    code, out, err = command("replay", certificate)
    assert (code, out) == (2, "")
    assert "has been changed since it was written" in err
    assert err.count("\n") == 1

    certificate.write_text(text)
    file(text=path.read_text().replace("0 * x + 3", "0 * x + 300"))
    code, out, _ = command("replay", certificate)
    assert code == 1
    assert "not proved: " in out


def test_a_stored_certificate_replays(command):
    name = "rank.relu-from-leaky-as-printed"
    [entry] = select([name])
    code, out, err = command("replay", entry.file.parent / "certificates" / f"{name}.json")
    assert (code, err) == (0, "")
    assert out.startswith(f"{name} is false: ")


def test_a_check_that_raises_has_failed(file, command):
    path = file(RAISES)
    code, out, _ = command("verify", "mine.py::test_raises")
    assert code == 1
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "KeyError" in text)
    assert f"t.raises failed: its check raised KeyError at mine.py:{line}: 'lost'" in out
    assert "1 claim: 1 FAILED" in out


def test_an_undecided_claim_exits_3(file, command):
    file(NAN)
    code, out, _ = command("verify", "mine.py::test_nan")
    assert code == 3
    assert "1 claim: 1 UNDECIDED" in out


@pytest.mark.slow
def test_the_number_of_workers_does_not_matter_and_a_death_leaves_a_row(file):
    file(FALSE, RAISES, DIES)
    entries = select(["mine.py"])
    settings = Settings(Profile("small", drawn=5, batches=2, size=16, single=2), seed=3)

    def found(entries, workers):
        rows = [row.to_json() for row in verify_claims(entries, settings, workers=workers)]
        return [{**row, "seconds": 0} for row in rows]

    alone = found([entry for entry in entries if entry.id != "t.dies"], 1)
    together = found(entries, 2)
    assert [row["id"] for row in together] == [entry.id for entry in entries]
    [lost] = [row for row in together if row["id"] == "t.dies"]
    assert lost["verdict"] == "undecided"
    assert lost["messages"] == [
        "t.dies is undecided: its check lost its process (SIGKILL, out of memory?)"
    ]
    assert alone == [row for row in together if row is not lost]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_cannot_be_imported_stops_the_run(file, command, tmp_path, workers):
    file(first="1 / 0\n")
    code, _, err = command("verify", "mine.py", "--workers", workers, "--json", "x.json")
    assert code == 2
    assert "cannot be imported; ZeroDivisionError: division by zero" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_malformed_claim_fails_alone(file, command, tmp_path, workers):
    file(BAD, MISTAKEN)
    arguments = ("--workers", workers, "--json", "x.json")
    code, out, err = command("verify", "mine.py", *arguments)
    assert (code, err) == (1, "")
    rows = {row.id: row for row in read_ledger(tmp_path / "x.json").rows}
    assert rows["t.doubled"].verdict == "holds"
    assert rows["t.bad"].verdict == rows["t.mistaken"].verdict == "failed"
    assert re.search(r"t\.bad failed: mine\.py:\d+: t\.bad: a claim states its mathematics", out)
    assert re.search(r"mine\.py:\d+: t\.mistaken: instances= is the generator numbers itself", out)


def test_a_malformed_claim_is_told_by_list_and_hunt(file, command):
    file(BAD, MISTAKEN)
    code, out, err = command("list", "mine.py")
    assert code == 2
    assert [line.split()[0] for line in out.splitlines()] == [
        "t.cited",
        "t.doubled",
        "t.mistaken",
        "t.square",
    ]
    assert re.fullmatch(r"rankcheck: mine\.py:\d+: t\.bad: a claim states its [^\n]*\n", err)
    assert command("show", "mine.py")[0] == 2
    for name in ("t.bad", "t.mistaken"):
        code, _, err = command("hunt", f"mine.py::{name}", "--budget", 0.1)
        assert code == 2
        assert f"{name}: " in err
        assert err.count("\n") == 1
        code, _, err = command("certify", f"mine.py::{name}")
        assert code == 2
        assert f"{name}: " in err
    code, out, err = command("hunt", "mine.py::t.square", "--budget", 0.1)
    assert (code, err) == (0, "")
    assert "t.square: no counterexample" in out


@pytest.mark.parametrize("seconds", ["inf", "nan", "-1"])
@pytest.mark.parametrize("name", ["verify", "hunt", "certify"])
def test_shrinking_takes_finite_seconds(file, command, name, seconds):
    file(FALSE)
    code, _, err = command(name, "mine.py::test_small", "--shrink", seconds)
    assert code == 2
    assert f"--shrink is {seconds}; it is a finite number of seconds, 0 or more" in err


@pytest.mark.parametrize("name", ["verify", "hunt", "certify"])
def test_nothing_is_shrunk_if_told_so(file, command, tmp_path, monkeypatch, name):
    def never(*_):
        raise AssertionError("it was shrunk")

    monkeypatch.setattr("rankcheck.counterexamples.reporting.shrink_violation", never)
    file(FALSE)
    more = ["--workers", 1] if name != "certify" else []
    _, out, _ = command(name, "mine.py::test_small", "--shrink", 0, *more)
    assert "t.small is false: lhs" in out


def test_an_error_that_nobody_foresaw_is_one_line(command, monkeypatch):
    def run(args):
        raise KeyError("lost")

    monkeypatch.setattr("rankcheck.commands.list.run", run)
    code, out, err = command("list")
    assert (code, out) == (4, "")
    assert err == (
        "rankcheck: internal error: KeyError: 'lost' (RANKCHECK_TRACEBACK=1 shows the traceback)\n"
    )
    monkeypatch.setenv("RANKCHECK_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in command("list")[2]


def test_one_exit_code_for_many_parts():
    assert exits.worst([]) is Exit.EXPECTED
    assert exits.worst([Exit.UNDECIDED, Exit.EXPECTED]) is Exit.UNDECIDED
    assert exits.worst([Exit.UNDECIDED, Exit.REFUTED]) is Exit.REFUTED


def test_the_help_names_the_exit_codes(command):
    code, out, _ = command("--help")
    assert code == 0
    for number in (Exit.EXPECTED, Exit.REFUTED, Exit.USAGE, Exit.UNDECIDED, Exit.INTERNAL):
        assert re.search(rf"\b{number.value} [a-z]", out)


@pytest.mark.slow
def test_ctrl_c_says_what_was_finished(file, tmp_path):
    file(SLEEPS)
    command = [sys.executable, "-m", "rankcheck", "verify", "mine.py", "--json", "x.json"]
    process = subprocess.Popen(
        [*command, "--workers", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background, children would ignore the signal.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "[3/4]" in lines[-1]
    assert "3 claims: 1 hold, 1 guarded, 1 cited" in out
    assert "interrupted: 1 claim left" in out
    assert err == "rankcheck: interrupted\n"
    assert not (tmp_path / "x.json").exists()
    assert "the rows that are done: x.json.part" in out
    assert len(read_ledger(tmp_path / "x.json.part").rows) == 3


def test_the_ledger_is_written_whole(file, command, tmp_path):
    file()
    arguments = ("verify", "mine.py", "--workers", 1, "--seed", 7)
    assert command(*arguments, "--json", "ledger.json")[0] == 0
    ledger = read_ledger(tmp_path / "ledger.json")
    assert (ledger.profile, ledger.seed) == ("quick", 7)
    assert [row.id for row in ledger.rows] == ["t.cited", "t.doubled", "t.square"]
    assert ledger.rows[0].reason == "too long"
    assert ledger.rows[1].reference == Reference("rank", "p. 1")
    assert ledger.rows[1].deviation == 0
    assert {row.file for row in ledger.rows} == {"mine.py"}
    assert [path.name for path in tmp_path.glob("*.json*")] == ["ledger.json"]


def test_the_ledger_on_standard_output(file, command):
    file()
    code, out, err = command("verify", "mine.py", "--workers", 1, "--json", "-")
    assert code == 0
    assert len(json.loads(out)["claims"]) == 3
    assert "3 claims: " in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("verify nope", "'nope' selects no claim"),
        ("verify --profile fast", "no profile 'fast'; a profile is one of quick, ci, deep"),
        ("verify --workers 0", "received --workers 0; a run has at least one worker"),
        ("verify --workers two", "argument --workers: invalid int value: 'two'"),
        ("verify --seed x", "argument --seed: invalid int value: 'x'"),
        ("verify --json no/x.json", "cannot write to no/x.json: the folder no does not exist"),
        ("verify --json .", "cannot write to .: it is a folder"),
        ("verify empty.py", "empty.py declares no claim"),
        ("show", "the following arguments are required: CLAIM"),
        ("show rank.nope", "'rank.nope' selects no claim"),
        ("replay nope.json", "no certificate can be read at nope.json"),
        ("replay empty.py", "empty.py is not a certificate, a JSON file"),
        ("frobnicate", "invalid choice: 'frobnicate'"),
        ("", "the following arguments are required: COMMAND"),
    ],
)
def test_bad_input_is_one_line(file, command, tmp_path, arguments, said):
    file()
    (tmp_path / "empty.py").touch()
    code, out, err = command(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("rankcheck: ")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.py", "mine.py"]


def test_list(file, command):
    file()
    code, out, _ = command("list", "mine.py")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["t.cited", "t.doubled", "t.square"]
    code, out, _ = command("list", "--json")
    listed = {entry["id"]: entry for entry in json.loads(out)}
    assert listed["rank.jacobian-bounds-cost"]["reference"]["key"] == "rank"
    assert len(listed) == len(project())


def test_show(command):
    code, out, _ = command("show", "rank.relu-from-leaky-as-printed")
    assert code == 0
    assert "Cor. 1 of A. Jacot, Implicit bias of large depth networks" in out
    assert "printed: " in out
    assert "corrected by: rank.relu-from-leaky" in out
    assert re.search(r"^file: .*relu_from_leaky\.py:\d+$", out, re.MULTILINE)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_body_that_exits_has_not_held(file, command, workers):
    file(EXITS, first="import sys\n")
    code, out, _ = command("verify", "mine.py", "--workers", workers)
    assert code == 1
    assert "t.exits failed: its check raised LeftEarly at mine.py:" in out
    assert "it raised SystemExit (0); the code of a claim returns, or raises" in out


@pytest.mark.parametrize("leave", ["import sys; sys.exit(0)", "import pytest; pytest.skip('x')"])
@pytest.mark.parametrize("run", ["verify", "hunt"])
def test_a_file_that_exits_is_wrong_input(file, command, leave, run):
    file(first=f"{leave}\n")
    code, out, err = command(run, "mine.py")
    assert (code, out) == (2, "")
    assert re.match(r"rankcheck: mine\.py:1: the file cannot be imported; LeftEarly: it", err)


def test_a_ledger_replaces_nothing_but_a_ledger(file, command):
    mine = file()
    text = mine.read_text()
    for name in ("mine.py", "other.py"):
        code, out, err = command("verify", "mine.py", "--json", name)
        assert (code, out) == (2, "")
        assert err == (
            f"rankcheck: cannot write to {name}: a ledger is JSON, and this is a Python file\n"
        )
    assert mine.read_text() == text


def test_show_with_a_ledger(file, command, tmp_path):
    file()
    assert command("verify", "mine.py", "--json", "ledger.json")[0] == 0
    code, out, _ = command("show", "mine.py::test_square", "--ledger", "ledger.json")
    assert code == 0
    assert "in ledger.json:\n  verdict: guarded\n" in out
    assert re.search(r"^  swept: \d+ instances$", out, re.MULTILINE)
    assert re.search(r"^  relation 1: asserted on 100.0%", out, re.MULTILINE)
    out = command("show", "rank.relu-from-leaky", "--ledger", "ledger.json")[1]
    assert "ledger.json has no row of this claim" in out
    code, _, err = command("show", "mine.py", "--ledger", "nope.json")
    assert (code, "no ledger can be read from nope.json" in err) == (2, True)


@pytest.mark.slow
def test_quick_answers_need_no_torch():
    """In a process of its own: here, torch is imported already."""
    code = (
        "import sys; from rankcheck.commands.cli import main\n"
        "from rankcheck.verification import Row, Settings, read_ledger, verify_claims\n"
        "lines = '--help', '--version', 'verify --help', 'experiment --help', 'list', 'show rank'\n"
        "for line in lines:\n"
        "    try: main(line.split())\n"
        "    except SystemExit: pass\n"
        "    found = {'torch', 'numpy', 'hypothesis', 'flint', 'rich'} & set(sys.modules)\n"
        "    assert not found, (line, found)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_the_module_is_the_command():
    ended = subprocess.run(
        [sys.executable, "-m", "rankcheck", "show", "rank.nope"], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "'rank.nope' selects no claim" in ended.stderr


def test_a_closed_pipe_is_no_traceback():
    code = "from rankcheck.commands.cli import main; raise SystemExit(main(['list', '--json']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == Exit.CLOSED


def test_workers_by_default():
    assert default_workers(1) == 1
    assert 1 <= default_workers(1000) <= 1000
    with pytest.raises(ValueError, match="received 0 workers; a run has at least one"):
        verify_claims([], Settings(), workers=0)


def test_loading_is_repeatable(file):
    file()
    entries = select(["mine.py"])
    assert [c.id for c in load(entries)] == [c.id for c in load(entries)]


def test_the_pages_name_tests_of_the_readme():
    """Commands of a page are typed with the file of the README, or one that the page shows."""
    root = project_folder().parent
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}

    def shown(page):
        return set(re.findall(r"^def (test_\w+)", texts[page], re.MULTILINE))

    named = {
        (page, name)
        for page, text in texts.items()
        for name in re.findall(r"my_conjectures\.py::(\w+)", text)
    }
    assert {page for page, _ in named} >= {"README.md", "hunting.md", "CONTRIBUTING.md"}
    for page, name in named:
        assert name in shown(page) | shown("README.md"), page
