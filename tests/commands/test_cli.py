"""The command: its tables, its exit codes, and one line for whatever is wrong with its input."""

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from rich.console import Console

from rankcheck.catalogue.collect import project, project_folder
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims import registry
from rankcheck.commands import cli
from rankcheck.terminal import table
from rankcheck.terminal.live import LiveDisplay, display
from rankcheck.verification.ledger import Mutants, Row
from rankcheck.verification.profiles import PROFILES
from rankcheck.verification.run import Settings, default_workers
from rankcheck.verification.run import run as verify

CLAIMS = '''
import os, signal, time
from rankcheck import cited, claim, conjecture, eq, leq, paper
from rankcheck.instances.source import instances

@instances
def numbers(source):
    return source.tensor()

@claim("t.doubled", kind="identity", reference=paper("rank", "p. 1"), instances=numbers())
def test_doubled(x):
    """$x + x = 2x$"""
    return eq(x + x, 2 * x)

@conjecture("t.square", instances=numbers())
def test_square(x):
    """$-x^2 \\\\le x^2$"""
    return leq(-x * x, x * x)

cited("t.cited", reference=paper("rank", "p. 2"), title="T", statement="S", reason="too long")
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
DIES = '''
@conjecture("t.dies", instances=numbers(), effort=2.0)
def test_dies(x):
    """$x$"""
    os.kill(os.getpid(), signal.SIGKILL)
'''
SLEEPS = '''
@conjecture("t.sleeps", instances=numbers())
def test_sleeps(x):
    """$x$"""
    time.sleep(600)
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write claims to `mine.py` in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    before = set(registry.declared())

    def write(*parts: str):
        path = tmp_path / "mine.py"
        path.write_text(CLAIMS + "".join(parts), encoding="utf-8")
        return path

    yield write
    for name in set(registry.declared()) - before:
        registry.forget(name)


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


def python(code: str, **options):
    return subprocess.run([sys.executable, "-c", code], **options)


def test_verify_says_a_line_a_claim_and_a_sum(file, command):
    file()
    code, out, err = command("verify", "mine.py", "--workers", 1)
    assert (code, err) == (0, "")
    lines = out.strip().splitlines()
    assert re.fullmatch(r"\[1/3\] cited      t\.cited  \(cited\)", lines[0])
    assert re.fullmatch(
        r"\[2/3\] holds      t\.doubled  "
        r"\(identity, 60 drawn, 12288 swept, best exact, mutants 1/1, \d+\.\d s\)",
        lines[1],
    )
    assert "guarded    t.square" in lines[2]
    assert re.fullmatch(
        r"3 claims: 1 hold, 1 guarded, 1 cited · \d+\.\d s · profile quick · seed 0", lines[-1]
    )


def test_a_false_conjecture_exits_1_with_its_certificate(file, command, tmp_path):
    file(FALSE)
    code, out, err = command("verify", "mine.py::test_small", "--json", "ledger.json")
    assert (code, err) == (1, "")
    assert "t.small is false: lhs" in out
    assert "1 claim: 1 FAILED" in out
    certificate = tmp_path / ".rankcheck" / "t.small.json"
    assert f"rankcheck replay {certificate.relative_to(tmp_path)}" in out
    [row] = json.loads((tmp_path / "ledger.json").read_text())["claims"]
    assert row["verdict"] == "failed"

    code, out, err = command("replay", certificate)
    assert (code, err) == (0, "")
    assert re.match(r"t\.small is false: lhs .* \(proved again, \d+-bit balls\)", out)


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
    path.write_text(path.read_text().replace("0 * x + 3", "0 * x + 300"))
    registry.forget("t.small")
    fresh = [sys.executable, "-m", "rankcheck", "replay", str(certificate)]
    replayed = subprocess.run(fresh, capture_output=True, text=True, cwd=tmp_path)
    assert replayed.returncode == 1
    assert "not proved: " in replayed.stdout


def test_a_stored_certificate_replays(command):
    name = "rank.relu-from-leaky-as-printed"
    [entry] = select([name])
    code, out, err = command("replay", entry.file.parent / "certificates" / f"{name}.json")
    assert (code, err) == (0, "")
    assert out.startswith(f"{name} is false: ")


def test_a_check_that_raises_is_undecided(file, command):
    path = file(RAISES)
    code, out, _ = command("verify", "mine.py::test_raises")
    assert code == 1
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "KeyError" in text)
    assert f"t.raises is undecided: its check raised KeyError at mine.py:{line}: 'lost'" in out


def test_the_number_of_workers_does_not_matter(file):
    file(FALSE, RAISES)
    entries = select(["mine.py"])
    settings = Settings(PROFILES["quick"], seed=3)

    def found(workers):
        rows = [row.to_json() for row in verify(entries, settings, workers=workers)]
        return [{**row, "seconds": 0} for row in rows]

    alone, together = found(1), found(2)
    assert alone == together
    assert [row["id"] for row in alone] == [entry.id for entry in entries]


def test_a_worker_that_dies_leaves_a_row(file, command):
    file(DIES)
    code, out, _ = command("verify", "mine.py", "--workers", 2)
    assert code == 1
    assert "t.dies is undecided: its worker died (SIGKILL, out of memory?)" in out
    assert "4 claims: 1 hold, 1 guarded, 1 cited, 1 UNDECIDED" in out


def test_a_file_that_cannot_be_imported_stops_all_workers(file, command, tmp_path):
    file("\n1 / 0\n")
    for workers in (1, 2):
        code, _, err = command("verify", "mine.py", "--workers", workers, "--json", "x.json")
        assert code == 2
        assert "cannot be imported; ZeroDivisionError: division by zero" in err
        assert err.count("\n") == 1
        assert not (tmp_path / "x.json").exists()


def test_ctrl_c_says_what_was_finished(file, tmp_path):
    file(SLEEPS)
    command = [
        sys.executable,
        "-m",
        "rankcheck",
        "verify",
        "mine.py",
        "--json",
        "x.json",
    ]
    process = subprocess.Popen(
        [*command, "--workers", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "[3/4]" in lines[-1]
    assert "3 claims: 1 hold, 1 guarded, 1 cited" in out
    assert "interrupted: 1 claim left" in out
    assert err == "rankcheck: interrupted\n"
    assert not (tmp_path / "x.json").exists()


def test_the_ledger_is_written_whole(file, command, tmp_path):
    file()
    assert command("verify", "mine.py", "--seed", 7, "--json", "ledger.json")[0] == 0
    found = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    assert found["schema"] == 1
    assert (found["profile"], found["seed"]) == ("quick", 7)
    assert set(found["versions"]) >= {"python", "rankcheck", "torch", "python-flint"}
    assert [row["id"] for row in found["claims"]] == ["t.cited", "t.doubled", "t.square"]
    keys = "id title source kind verdict drawn swept rejected best_ratio tight needs mutants"
    keys += " certificate seconds file"
    assert all(set(keys.split()) <= set(row) for row in found["claims"])
    assert found["claims"][1]["source"] == {"key": "rank", "where": "p. 1"}
    assert {row["file"] for row in found["claims"]} == {"mine.py"}
    assert [path.name for path in tmp_path.glob("*.json*")] == ["ledger.json"]


def test_the_ledger_on_standard_output(file, command):
    file()
    code, out, err = command("verify", "mine.py", "--json", "-")
    assert code == 0
    assert len(json.loads(out)["claims"]) == 3
    assert "3 claims: " in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("verify nope", "no claim is selected by 'nope'"),
        ("verify --profile fast", "a profile is one of quick, ci, deep; received 'fast'"),
        ("verify --workers 0", "a run has at least one worker; received --workers 0"),
        ("verify --workers two", "argument --workers: invalid int value: 'two'"),
        ("verify --seed x", "argument --seed: invalid int value: 'x'"),
        ("verify --json no/x.json", "a ledger is written into an existing folder; received no/x"),
        ("verify --json .", "a ledger is written to a file; received the folder ."),
        ("verify empty.py", "received empty.py with none"),
        ("show", "the following arguments are required: CLAIM"),
        ("show rank.nope", "no claim is selected by 'rank.nope'"),
        ("list --json --markdown", "not allowed with argument"),
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
    assert listed["rank.jacobian-bounds-cost"]["source"]["key"] == "rank"
    assert len(listed) == len(project())


def test_show(command):
    code, out, _ = command("show", "rank.relu-from-leaky-as-printed")
    assert code == 0
    assert "Cor. 1 of A. Jacot, Implicit bias of large depth networks" in out
    assert "errata: " in out
    assert "corrected by: rank.relu-from-leaky" in out
    assert re.search(r"^file: .*relu_from_leaky\.py:\d+$", out, re.MULTILINE)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list"], ["show", "rank"]])
def test_quick_answers_need_no_torch(arguments):
    code = (
        "import sys; from rankcheck.commands.cli import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        "assert not {'torch', 'numpy', 'hypothesis', 'flint'} & set(sys.modules)"
    )
    python(code, check=True, stdout=subprocess.DEVNULL)


def test_a_closed_pipe_is_no_traceback():
    code = "from rankcheck.commands.cli import main; raise SystemExit(main(['list', '--json']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


def test_workers_by_default():
    assert default_workers(1) == 1
    assert 1 <= default_workers(1000) <= 1000
    with pytest.raises(ValueError, match="at least one worker"):
        verify([], Settings(PROFILES["quick"]), workers=0)


def row(number: int, **values) -> Row:
    name = f"bottleneck.second-correction-limit-as-{number:05}"
    common = {"title": "T", "kind": "construction", "verdict": "undecided", "swept": 1_234_567}
    common |= {"drawn": 99_999, "best_ratio": 0.87654, "seconds": 123.4}
    return Row(**{"id": name, "mutants": Mutants(12, 12), **common, **values})


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_live_table_is_readable_at_100_columns(file, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    stream = Terminal()
    shown = display(stream, 140)
    assert isinstance(shown, LiveDisplay)
    file()
    entry = select(["mine.py::test_square"])[0]
    with shown:
        for number in range(139):
            shown.finished(row(number))
        shown.started(entry)
        shown.advanced(entry, 512)
        shown.advanced(entry, 512)
        rendered = shown._render()
        assert rendered.row_count <= 40
        shown.finished(row(139))
    screen = io.StringIO()
    Console(file=screen, width=100).print(rendered)
    assert "139 of 140 claims" in screen.getvalue()
    assert re.search(r"t\.square +conjecture +running +1024", screen.getvalue())
    final = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    lines = [line for line in final.split("\n") if "bottleneck.second" in line][-140:]
    assert len(lines) == 140
    assert all(len(line.rstrip()) <= 100 for line in lines)
    assert all(re.search(r"as-\d{5} +construction +undecided +99999 +1\.23M", x) for x in lines)


def test_elsewhere_there_are_lines(monkeypatch):
    assert not isinstance(display(io.StringIO(), 3), LiveDisplay)
    monkeypatch.setenv("TERM", "dumb")
    assert not isinstance(display(Terminal(), 3), LiveDisplay)


def test_counts_take_five_characters():
    assert [table.count(n) for n in (0, 99_999, 100_000, 999_499, 1_000_000, 123_456_789)] == [
        "0",
        "99999",
        "100k",
        "999k",
        "1M",
        "123M",
    ]


def test_the_sum_names_every_verdict():
    verdicts = ("holds", "refuted", "guarded", "cited", "failed", "undecided")
    rows = [row(number, verdict=verdict) for number, verdict in enumerate(verdicts)]
    said = table.total(rows, 1.0, "ci", 2)
    assert said == (
        "6 claims: 1 hold, 1 refuted by certificate, 1 guarded, 1 cited, 1 FAILED, 1 UNDECIDED"
        " · 1.0 s · profile ci · seed 2"
    )
    assert len(table.messages(rows)) == 2


def test_loading_is_repeatable(file):
    file()
    entries = select(["mine.py"])
    assert [c.id for c in load(entries)] == [c.id for c in load(entries)]
