"""The command: what it prints, its exit codes, and one line for wrong input."""

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.reference import Reference
from rankcheck.engine.verification.ledger import read_ledger
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.engine.verification.run import verify_claims
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.exits import Exit
from tests.claim_text import HEAD, claim

GOOD = '''
@identity("t.doubled", paper("rank", "p. 1"), instances=numbers())
def test_doubled(x):
    """$x + x = 2x$"""
    return eq(x + x, 2 * x)

@cited("t.cited", paper("rank", "p. 2"), reason="too long")
def test_cited():
    """A long computation."""
''' + claim("square", "x = -x * x")
FALSE = claim("small", most="0 * x + 3")
RAISES = claim("raises", 'raise KeyError("lost")')
NAN = claim("nan", "x = x / (x - x)")
EXITS = claim("exits", "sys.exit(0)")
DIES = claim("dies", "os.kill(os.getpid(), signal.SIGKILL)", options="effort=2.0")
SLEEPS = claim("sleeps", "time.sleep(600)", options="effort=0.1")  # comes last
#: No mathematics, and a generator that is not called.
BAD = claim("bad").replace('"""x is at most 9.0."""', "")
MISTAKEN = claim("mistaken", options="instances=numbers")


def verify(*arguments):
    return ("verify", *arguments, "--workers", 1)


def test_verify_prints_a_line_a_claim_and_a_sum(mine, command):
    mine(GOOD)
    code, out, err = command(*verify("mine.py"))
    assert (code, err) == (0, "")
    first, second, third, *_, last = out.strip().splitlines()
    assert re.match(r"\[1/3\] cited +t\.cited ", first)
    assert re.match(r"\[2/3\] holds +t\.doubled .* 12320 swept, best exact, mutants 1/1", second)
    assert re.match(r"\[3/3\] guarded +t\.square ", third)
    assert last.startswith("3 claims: 1 hold, 1 guarded, 1 cited")


def test_a_refuted_conjecture_exits_1_with_its_certificate(mine, command, tmp_path):
    mine(GOOD, FALSE)
    code, out, err = command(*verify("mine.py::test_small", "--json", "ledger.json"))
    assert (code, err) == (1, "")
    assert "t.small is false: lhs" in out
    assert "rankcheck replay .rankcheck/t.small.json" in out
    assert Path(".rankcheck/.gitignore").is_file()
    [row] = read_ledger(tmp_path / "ledger.json").rows
    assert (row.verdict, row.expected) == ("refuted", False)
    code, out, err = command("replay", ".rankcheck/t.small.json")
    assert (code, err) == (0, "")
    assert re.search(r"^t\.small is false: lhs .*\d+-bit balls\)", out, re.MULTILINE)


def annotated(text):
    """The annotations in what was printed: level, line, and title."""
    rows = re.findall(r"^::(\w+) file=mine\.py,line=(\d+),title=(\S+) (\w+)::", text, re.MULTILINE)
    return {(level, int(line), f"{title} {word}") for level, line, title, word in rows}


def test_claims_are_annotated_in_github_actions(mine, command, monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    lines = mine(GOOD, FALSE, NAN, RAISES).read_text("utf-8").splitlines()
    at = {line.split('"')[1]: n for n, line in enumerate(lines, 1) if line.startswith("@conj")}
    one = verify("mine.py::test_raises")
    assert annotated(command(*one)[1]) == set()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    chosen = [f"mine.py::test_{name}" for name in ("small", "nan", "raises", "cited")]
    code, out, err = command(*verify(*chosen, "--json", "-"))
    assert code == 1
    assert {row["id"] for row in json.loads(out)["claims"]} >= {"t.small", "t.nan"}
    assert annotated(err) == {
        ("error", at["t.small"], "t.small%3A refuted"),
        ("warning", at["t.nan"], "t.nan%3A undecided"),
        ("error", at["t.raises"], "t.raises%3A failed"),
    }
    summary = Path("summary.md").read_text("utf-8")
    assert f"| t.small | refuted | mine.py:{at['t.small']} | t.small is false: lhs " in summary
    assert "t.cited" not in summary
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/no/summary.md")
    code, out, err = command(*verify("mine.py::test_cited"))
    assert (code, err) == (0, "")
    assert "/no/summary.md" in out


def test_replay_finds_the_claim_or_names_it(mine, command):
    path = mine(FALSE)
    command(*verify("mine.py"))
    text = path.read_text("utf-8")
    path.unlink()
    Path("deep").mkdir()
    Path("deep/elsewhere.py").write_text(text, "utf-8")
    code, out, err = command("replay", ".rankcheck/t.small.json")
    assert (code, out) == (2, "")
    assert "t.small in mine.py" in err
    mine().unlink()
    arguments = (".rankcheck/t.small.json", "--claims", "deep/elsewhere.py")
    assert command("replay", *arguments)[0] == 0


def test_replay_refuses_what_was_changed(mine, command):
    mine(FALSE)
    command(*verify("mine.py"))
    certificate = Path(".rankcheck/t.small.json")
    text = certificate.read_text()
    certificate.write_text(text.replace('"bits": 128', '"bits": 256'))
    code, out, err = command("replay", certificate)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "t.small.json" in err
    certificate.write_text(text)
    mine(FALSE.replace("0 * x + 3", "0 * x + 300"))
    code, out, _ = command("replay", certificate)
    assert code == 1
    assert "not proved" in out


@pytest.mark.parametrize(
    ("text", "line", "code", "fact"),
    [
        (RAISES, "raise KeyError", 1, "KeyError at mine.py:{}: 'lost'"),
        (EXITS, "sys.exit", 1, "mine.py:{}: it raised SystemExit (0)"),
        (NAN, "", 3, "1 UNDECIDED"),
    ],
)
def test_a_claim_that_is_neither_true_nor_false(mine, command, text, line, code, fact):
    lines = mine(text).read_text().splitlines()
    number = 1 + next(n for n, found in enumerate(lines) if line in found)
    ended, out, _ = command(*verify("mine.py"))
    assert ended == code
    assert fact.format(number) in out


@pytest.mark.slow
def test_the_number_of_workers_does_not_matter_and_a_death_leaves_a_row(mine):
    mine(GOOD, FALSE, RAISES, EXITS, BAD, MISTAKEN, DIES)
    entries = select(["mine.py"])
    settings = Settings(Profile("small", drawn=5, batches=2, size=16, single=2), seed=3)

    def rows(entries, workers):
        ran = verify_claims(entries, settings, workers=workers)
        return {row.id: row.to_json() | {"seconds": 0} for row in ran}

    alone = rows([entry for entry in entries if entry.id != "t.dies"], 1)
    together = rows(entries, 2)
    assert list(together) == [entry.id for entry in entries]
    lost = together.pop("t.dies")
    assert lost["verdict"] == "undecided"
    assert "SIGKILL" in lost["messages"][0]
    assert alone == together


@pytest.mark.parametrize("limit", [0, pytest.param(60, marks=pytest.mark.slow)])
def test_a_file_that_cannot_be_imported_stops_the_run(mine, command, limit):
    """Here, and in the process that a limit needs."""
    mine(GOOD, head=f"1 / 0\n{HEAD}")
    code, _, err = command(*verify("mine.py", "--limit", limit, "--json", "x.json"))
    assert code == 2
    assert re.match(r"rankcheck: mine\.py:1: .*ZeroDivisionError: division by zero", err)
    assert err.count("\n") == 1
    assert "ZeroDivisionError" in json.loads(Path("x.json").read_text())["error"]


@pytest.mark.parametrize("line", ["verify mine.py --workers 1", "hunt mine.py"])
def test_a_file_that_exits_is_wrong_input(mine, command, line):
    mine(GOOD, head=f"import sys; sys.exit(0)\n{HEAD}")
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    assert re.match(r"rankcheck: mine\.py:1: .*LeftEarly", err)


def test_a_malformed_claim_fails_alone(mine, command, tmp_path):
    mine(GOOD, BAD, MISTAKEN)
    code, out, err = command(*verify("mine.py", "--json", "x.json"))
    assert (code, err) == (1, "")
    failed = [row.id for row in read_ledger(tmp_path / "x.json").rows if row.verdict == "failed"]
    assert failed == ["t.bad", "t.mistaken"]
    assert re.search(r"mine\.py:\d+: t\.bad: ", out)
    assert re.search(r"mine\.py:\d+: t\.mistaken: .*numbers", out)


def test_a_malformed_claim_is_named_by_list_and_hunt(mine, command):
    mine(GOOD, BAD, MISTAKEN)
    code, out, err = command("list", "mine.py")
    assert code == 2
    listed = [line.split()[0] for line in out.splitlines()]
    assert listed == ["t.cited", "t.doubled", "t.mistaken", "t.square"]
    assert re.fullmatch(r"rankcheck: mine\.py:\d+: t\.bad: [^\n]*\n", err)
    assert command("show", "mine.py")[0] == 2
    for line in ("hunt mine.py::t.bad --budget 0.1", "certify mine.py::t.mistaken"):
        code, _, err = command(*line.split())
        assert (code, err.count("\n")) == (2, 1)
        assert re.search(r"t\.(bad|mistaken): ", err)


@pytest.mark.parametrize(
    ("names", "option", "values"),
    [
        ("verify hunt", "--shrink", "inf nan -1 x"),
        ("verify hunt certify replay doctor", "--limit", "inf -1"),
        ("hunt", "--budget", "0 nan"),
        ("verify hunt", "--workers", "0 two"),
        ("audit", "--slope", "-1 inf"),
    ],
)
def test_a_number_out_of_range_is_one_line(command, names, option, values):
    for name in names.split():
        for value in values.split():
            code, out, err = command(name, *["x"] * (name != "doctor"), f"{option}={value}")
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert option in err
            assert value in err


@pytest.mark.parametrize("name", ["verify", "hunt"])
def test_nothing_is_shrunk_if_zero_seconds_are_given(mine, command, monkeypatch, name):
    def never(*_):
        raise AssertionError("it was shrunk")

    monkeypatch.setattr("rankcheck.engine.counterexamples.reporting.shrink_violation", never)
    mine(FALSE)
    assert "t.small is false" in command(name, "mine.py", "--shrink", 0, "--workers", 1)[1]


def test_an_error_that_nobody_foresaw_is_one_line(command, monkeypatch):
    def run(args):
        raise KeyError("lost")

    monkeypatch.setattr("rankcheck.faces.commands.list.run", run)
    code, out, err = command("list")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert "KeyError: 'lost'" in err
    assert "RANKCHECK_TRACEBACK" in err
    monkeypatch.setenv("RANKCHECK_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in command("list")[2]


def test_exit_codes(command):
    assert exits.worst([]) is Exit.EXPECTED
    assert exits.worst([Exit.UNDECIDED, Exit.EXPECTED]) is Exit.UNDECIDED
    assert exits.worst([Exit.UNDECIDED, Exit.REFUTED]) is Exit.REFUTED
    code, out, _ = command("--help")
    assert code == 0
    for number in (Exit.EXPECTED, Exit.REFUTED, Exit.USAGE, Exit.UNDECIDED, Exit.INTERNAL):
        assert re.search(rf"\b{number.value} [a-z]", out)


@pytest.mark.slow
def test_ctrl_c_shows_what_was_finished(mine, tmp_path):
    mine(GOOD, SLEEPS)
    line = ["verify", "mine.py", "--json", "x.json", "--workers", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rankcheck", *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background, children would ignore the signal.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        assert process.stdout is not None
        assert any("[3/4]" in line for line in iter(process.stdout.readline, ""))
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "3 claims: 1 hold, 1 guarded, 1 cited" in out
    assert "1 claim left" in out
    assert err == "rankcheck: interrupted\n"
    assert not Path("x.json").exists()
    assert len(read_ledger(tmp_path / "x.json.part").rows) == 3


def test_the_ledger_is_written_whole(mine, command, tmp_path):
    mine(GOOD)
    assert command(*verify("mine.py", "--seed", 7, "--json", "ledger.json"))[0] == 0
    ledger = read_ledger(tmp_path / "ledger.json")
    assert (ledger.profile, ledger.seed) == ("quick", 7)
    assert [row.id for row in ledger.rows] == ["t.cited", "t.doubled", "t.square"]
    assert ledger.rows[1].reference == Reference("rank", "p. 1")
    assert [path.name for path in tmp_path.glob("*.json*")] == ["ledger.json"]
    code, out, _ = command("show", "mine.py::test_square", "--ledger", "ledger.json")
    assert code == 0
    assert "verdict: guarded\n" in out
    assert "no row" in command("show", "rank.relu-from-leaky", "--ledger", "ledger.json")[1]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("verify nope", "'nope'"),
        ("verify --json no/x.json", "no/x.json"),
        ("verify --json .", "a folder"),
        ("verify mine.py --json mine.py", "cannot write to mine.py"),
        ("verify empty.py", "empty.py"),
        ("replay nope.json", "nope.json"),
        ("hunt mine.py --workers 2 --executor nope", "--workers"),
        ("hunt mine.py --budgt 5", "--budgt 5; did you mean --budget? (see rankcheck hunt --help)"),
        ("frobnicate", "'frobnicate'"),
        ("", "COMMAND"),
    ],
)
def test_bad_input_is_one_line(mine, command, tmp_path, arguments, fact):
    text = mine(GOOD).read_text("utf-8")
    Path("empty.py").touch()
    code, out, err = command(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("rankcheck: ")
    assert fact in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.py", "mine.py"]
    assert Path("mine.py").read_text("utf-8") == text


def test_list_and_show(mine, command):
    mine(GOOD)
    code, out, _ = command("list", "mine.py")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["t.cited", "t.doubled", "t.square"]
    code, out, _ = command("list", "--json")
    listed = {entry["id"]: entry for entry in json.loads(out)}
    assert listed["rank.jacobian-bounds-cost"]["reference"]["key"] == "rank"
    assert len(listed) == len(project())
    code, out, _ = command("show", "rank.cross-example-as-printed")
    assert code == 0
    assert "corrected by: rank.cross-example" in out


@pytest.mark.slow
def test_quick_answers_need_no_torch():
    """In a process of its own: here, torch is imported already."""
    code = (
        "import sys; from rankcheck.faces.commands.cli import COMMANDS, main\n"
        "from rankcheck.engine.verification.ledger import Row, read_ledger\n"
        "from rankcheck.engine.verification.profiles import Settings\n"
        "from rankcheck.engine.verification.run import verify_claims\n"
        "helps = [f'{name} --help' for name in COMMANDS]\n"
        "for line in [*helps, '--help', '--version', 'list', 'show rank']:\n"
        "    try: main(line.split())\n"
        "    except SystemExit: pass\n"
        "    found = {'torch', 'numpy', 'hypothesis', 'flint', 'rich'} & set(sys.modules)\n"
        "    assert not found, (line, found)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("verb", ["verify", "hunt", "sharpen", "prove", "audit"])
@pytest.mark.parametrize("before", ["", "an error", "a result", "something else"])
def test_an_error_is_written_where_the_result_would_be(mine, command, verb, before):
    """It replaces what an earlier run of the same command left, and nothing else."""
    lists = {"verify": "claims", "hunt": "hunts", "sharpen": "sharpenings", "prove": "proved"}
    found = [lists[verb]] if verb in lists else ["model", "layers", "theorems"]
    texts = {
        "an error": json.dumps({"schema": 1, "error": "no"}),
        "a result": json.dumps({"schema": 1} | {name: [] for name in found}),
        "something else": json.dumps({"schema": 1, "mine": 1}),
    }
    file = Path("x.json")
    if before:
        file.write_text(texts[before])
    code, _, err = command(verb, "nothing.py", "--json", "x.json")
    assert code == 2
    if before == "something else":
        assert file.read_text() == texts[before]
    else:
        assert json.loads(file.read_text()) == {
            "schema": 1,
            "error": err.strip().removeprefix("rankcheck: "),
        }


@pytest.mark.parametrize("verb", ["verify", "list"])
def test_an_error_as_json_on_standard_output(mine, command, verb):
    arguments = ["--json"] if verb == "list" else ["--json", "-"]
    code, out, _ = command(verb, "nothing.py", *arguments)
    assert (code, json.loads(out)["schema"]) == (2, 1)
    assert "nothing.py" in json.loads(out)["error"]
