"""`rankcheck export`: a file or an id, in three forms; and what is refused, with which code."""

import json
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.faces.exports import LANGUAGES, NotExportable, export
from tests.faces.exports.made import COQC, ROOT, STORED, alone, coqc, exported

CLAIM = "rank.cross-example-as-printed"

#: Conjectures that fall, and whose exports need what has no form outside of balls.
BODIES = {
    "singular values": ("leq(singular_values(A)[..., 0], 0)", "3 × 3"),
    "rank": ("leq(rank(A * A[..., 1:2, 1:2].sqrt()), 0)", "irrational"),
    "equality": ("leq(torch.relu(A[..., 1, 1].exp().log() - 2), -1)", "comparison"),
}
HEAD = """
import torch
from rankcheck import conjecture, leq
from rankcheck.instances import instances
from rankcheck.linalg import rank, singular_values

@instances
def fixed(source):
    return (source.tensor(3, 3, low=1.0, high=4.0),)

"""


@pytest.fixture(autouse=True)
def here(mine):
    """An empty working directory."""


def write_conjecture(body):
    number = list(BODIES.values()).index(body)
    file = Path(f"false_{number}.py")
    file.write_text(
        HEAD + f'@conjecture("mine.false-{number}", instances=fixed())\n'
        f'def test_false(A):\n    r"""It is false, as $A$ shows."""\n    return {body[0]}\n'
    )
    return file, f"mine.false-{number}"


def test_each_language_takes_an_id_or_a_file(command):
    for language in LANGUAGES:
        code, out, err = command("export", CLAIM, f"--{language}", "--limit", "0")
        assert (code, err) == (0, "")
        assert out == exported(CLAIM, language)
        again = command("export", str(STORED[CLAIM]), f"--{language}", "--limit", "0")
        assert again == (0, out, "")


def test_several_are_written_one_after_the_other(command):
    other = "rank.sum-cost-as-printed"
    both = command("export", CLAIM, str(STORED[other]), other)
    first, second = (command("export", name)[1] for name in (CLAIM, other))
    assert both == (0, f"{first}\n{second}", "")
    assert command("export", "rank.*-as-printed")[1].count(r"\paragraph") == 6


def test_references_of_claims_that_hold_are_written_too(command):
    code, out, err = command("export", "rank.sandwich", str(STORED[CLAIM]), "linear", "--bibtex")
    assert (code, err, out.count("@")) == (0, "", 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank.sandwich", "--coq"], "rankcheck hunt rank.sandwich looks for one"),
        (["rank.cross-exmple-as-printed"], "similar: rank.cross-example-as-printed"),
        (["none.json", "--coq"], "none.json"),
        (["changed.json", "--coq"], "changed.json"),
        ([CLAIM, "--coq", "--script"], "not allowed with"),
        (["rank", "--coq"], "one certificate is taken at a time"),
    ],
)
def test_what_is_wrong_is_named(command, arguments, said):
    data = json.loads(STORED[CLAIM].read_text(encoding="utf-8"))
    Path("changed.json").write_text(json.dumps(data | {"claim": "rank.another"}))
    code, out, err = command("export", *arguments, "--limit", "0")
    assert (code, out) == (2, "")
    assert said in err


def test_a_certificate_that_proves_nothing_is_not_exported(command):
    from rankcheck.claims.catalogue.kept import digest

    data = json.loads(STORED[CLAIM].read_text(encoding="utf-8"))
    data["smallest"]["instance"] = [[1, 0.25], [1, 0.25]]
    fields = {name: value for name, value in data.items() if name != "sha256"}
    Path("forged.json").write_text(json.dumps(fields | {"sha256": digest(fields)}))
    code, out, err = command("export", "forged.json", "--coq", "--limit", "0")
    assert (code, out) == (2, "")
    assert "does not refute" in err


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
def test_a_step_without_a_form_is_named(name, command):
    (file, claim_id), reason = write_conjecture(BODIES[name]), BODIES[name][1]
    entries = [[4, 1, 1], [1, 2, 1], [1, 1, 3]]
    given = json.dumps([entries])
    code, out, err = command("certify", f"{file}::test_false", "--instance", given)
    assert code == 0, out + err
    code, out, err = command("export", f".rankcheck/{claim_id}.json", "--coq", "--limit", "0")
    assert (code, out) == (3, "")
    assert f"{claim_id} is not exported" in err
    assert reason in err


@pytest.mark.slow
def test_the_conjectures_of_two_pages(command, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_claims", {})  # other tests of the pages declare them, too
    for page, name in (
        (ROOT / "docs/sharpening.md", "mine.ten-percent-better"),
        (ROOT / "docs/first-conjecture.md", "mine.sup-norm"),
    ):
        text = page.read_text(encoding="utf-8")
        block = next(b for b in text.split("```python\n")[1:] if name in b).partition("```")[0]
        file = f"{name.replace('.', '_').replace('-', '_')}.py"
        Path(file).write_text(block)
        code, out, err = command("verify", file, "--limit", "0")
        assert code == 1, out + err
        certificate = f".rankcheck/{name}.json"
        code, text, err = command("export", certificate, "--script", "--limit", "0")
        assert (code, err) == (0, f"running {file}\n")
        assert alone(text, tmp_path)[0] == 0
        code, text, _ = command("export", certificate, "--coq", "--limit", "0")
        assert code == 0
        if COQC is not None:
            assert coqc(text, tmp_path)[0] == 0


def test_closed_forms_that_give_other_sides_are_not_exported(monkeypatch):
    from rankcheck.claims.catalogue.certificates import read
    from rankcheck.claims.catalogue.finding import find
    from rankcheck.claims.catalogue.loader import load
    from rankcheck.faces.exports import algebra
    from rankcheck.faces.exports.traced import Traced

    claim_id = "rank.layer-energy-as-printed"
    path = STORED[claim_id]
    [claim] = load([find(path, read(path))])

    def doubled(A):
        return [2 * x for x in algebra.singular_values(A)]

    monkeypatch.setattr(Traced, "linear_algebra", algebra.TABLE | {"singular_values": doubled})
    with pytest.raises(NotExportable, match="balls have proved other sides"):
        export(path, claim, "coq")


def test_a_certificate_at_a_setting_of_dials_is_exported_at_that_setting(command, mine):
    mine(
        """
@pytest.mark.parametrize("k", [1, 2])
@conjecture("pt.small", instances=numbers())
def test_small(x, *, k=3):
    r\"\"\"It is false: $k + x^2 = 0$.\"\"\"
    return leq(k + x * x, 0)
""",
        head="""
import pytest
from rankcheck import conjecture, leq
from rankcheck.instances import instances

@instances
def numbers(source):
    return source.tensor()

""",
    )
    assert command("verify", "mine.py", "--workers", "1")[0] == 1
    for k in (1, 2):
        path = f".rankcheck/pt.small[k={k}].json"
        assert "pt.small[k=" in command("export", path)[1]
        for language in LANGUAGES:
            code, out, err = command("export", path, f"--{language}", "--limit", "0")
            assert (code, f"pt.small[k={k}]" in out) == (0, True), err
