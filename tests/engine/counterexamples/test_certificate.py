"""Certificates prove themselves again; whatever is not as it was written is an error."""

import copy
import json
import os
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from rankcheck import eq, leq
from rankcheck.balls import BallArray, precision
from rankcheck.claims import registry
from rankcheck.claims.catalogue.certificates import FORM, CertificateError, read
from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.kept import digest
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.kinds import FALSE
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.counterexamples.certificate import write
from rankcheck.engine.counterexamples.describe import rounded_down
from rankcheck.engine.counterexamples.given import from_choices
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.replay import overlap
from rankcheck.errors import InputError
from rankcheck.stored import LARGEST
from rankcheck.text import ball_text
from rankcheck.theory.instances.source import instances


@instances
def points(source):
    kind = source.choice(("plain", "shifted"))
    x, unused = source.tensor(2), source.tensor()
    return (x if kind == "plain" else x + 1), unused


def root_bound(x, unused):
    r"""$\sqrt{x_1^2 + x_2^2} \le 3$, and $x_1 = x_1$."""
    return leq((x * x).sum(-1).sqrt(), 3.0, label="the norm"), eq(x[..., 0], x[..., 0])


def made(declare, **attributes):
    return declare(root_bound, points(), statement="$|x| \\le 3$", **attributes)


@pytest.fixture
def certified(declare, tmp_path):
    """A claim and the path of its certificate, with a worst instance of its own."""
    claim = made(declare)
    both = (from_choices(claim, c) for c in ([0, [3, 1], 0], [1, [6.5, 7], 0.125]))
    return claim, write(tmp_path / "folder", *both)


def store(path, data):
    """Write the fields of a certificate with the right checksum."""
    fields = {name: value for name, value in data.items() if name != "sha256"}
    path.write_text(json.dumps({**fields, "sha256": digest(fields)}))


def set_in(data, place, value):
    """A copy of nested data with one value changed."""
    changed = item = copy.deepcopy(data)
    for key in place[:-1]:
        item = item[key]
    assert item[place[-1]] != value
    item[place[-1]] = value
    return changed


def change(path, *place, to):
    """Change one value of the file, and make its checksum right again."""
    store(path, set_in(json.loads(path.read_text()), place, to))


# What is true is proved again.


def test_it_holds_exact_numbers_and_both_instances(certified, tmp_path):
    claim, path = certified
    data = read(path)
    smallest, worst = data["smallest"], data["worst"]
    assert smallest["instance"] == [0, [3, 1], 0]
    assert worst["instance"] == [1, ["13/2", 7], "1/8"]
    assert worst["description"] == "x = [15/2, 8], unused = 1/8"
    assert (smallest["lhs"][:14], smallest["rhs"]) == ("[3.16227766016", "3")
    assert Fraction(smallest["excess"]) < Fraction(16227766017, 10**11)
    assert smallest["bits"] == 128
    assert (data["claim"], data["statement"]) == ("t.made-up", "$|x| \\le 3$")
    assert '    "instance": [1, ["13/2", 7], "1/8"],\n' in path.read_text()
    both = [from_choices(claim, one["instance"]) for one in (smallest, worst)]
    assert write(tmp_path / "again", *both).read_text() == path.read_text()
    alone = write(tmp_path / "alone", both[0])
    assert read(alone)["worst"] is None
    assert replay(alone, claim=claim).refuted


@pytest.mark.parametrize("entry", [e for e in project() if e.kind in FALSE], ids=lambda e: e.id)
def test_stored_certificates_prove_their_claims_false(entry):
    [claim] = load([entry])
    path = FORM.path(claim)
    if not path.exists():
        pytest.fail(f"{entry.id} is declared as refuted and has no certificate at {path}")
    replayed = replay(path, claim=claim)
    assert replayed.refuted
    assert not replayed.changed
    assert read(path)["path"] == ""
    assert str(Path.home()) not in path.read_text()


# What is not true is an error.


def values_of(item, place=()):
    """The places of all values of a certificate, as (path to it, value)."""
    if not isinstance(item, dict | list):
        yield place, item
        return
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        yield from values_of(value, (*place, key))


@pytest.mark.slow
def test_every_single_change_is_noticed(certified):
    """Each value of the file, changed with and without a new checksum: nothing passes."""
    claim, path = certified
    original = path.read_text()
    data = json.loads(original)
    tried = 0
    for place, value in values_of(data):
        if place[0] in ("versions", "file", "path", "sha256"):
            continue  # what is said of the makers and of where the claim was
        others: list[object] = [value + 1, value - 1, str(value)] if isinstance(value, int) else []
        if isinstance(value, str):
            others = [value + "0", "-7/2", "[1 +/- 1e-30]", 1]
        for other in others:
            if other == value:
                continue
            changed = set_in(data, place, other)
            path.write_text(json.dumps(changed))
            with pytest.raises(CertificateError):
                replay(path, claim=claim)
            store(path, changed)
            if place == ("statement_sha256",):
                assert other == 1 or replay(path, claim=claim).changed
                continue
            with pytest.raises(CertificateError):
                replay(path, claim=claim)
            tried += 1
    assert tried > 100
    path.write_text(original)
    assert replay(path, claim=claim).refuted


@pytest.mark.parametrize("part", [None, "smallest", "worst"])
def test_every_missing_or_additional_field_is_noticed(certified, part):
    claim, path = certified
    data = json.loads(path.read_text())
    for name in (data if part is None else data[part]).keys() - {"sha256"}:
        changed = copy.deepcopy(data)
        del (changed if part is None else changed[part])[name]
        store(path, changed)
        with pytest.raises(CertificateError, match=rf"\b{name}\b"):
            replay(path, claim=claim)
    (data if part is None else data[part])["more"] = 1
    store(path, data)
    with pytest.raises(CertificateError, match=r"more is unknown"):
        replay(path, claim=claim)


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"[]", b"{}", b"1", b'"x"', b"{", b"\0", b"NaN", b"[" * 100_000,
     b'{"a": 1, "a": 1}', b"1" * 5000, b"\xff\xfe{}", b" " * (LARGEST + 1)],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_what_is_no_certificate(text, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(text)
    with pytest.raises(CertificateError, match="is not a certificate"):
        read(path)


@pytest.mark.parametrize(
    ("place", "to", "message"),
    [
        *(
            (("smallest", "bits"), bits, "bits")
            for bits in (64, 2**40, 0, -128, True, 128.5, "128")
        ),
        (("smallest", "bits"), 256, "says bits 256, but its numbers give 128"),
        (("smallest", "instance", 2), 5, "says description x"),  # `unused` is on no side
        (("smallest", "instance", 1, 0), 9, r"do not fit the generator .* in \[-8.0, 8.0\]"),
        (("smallest", "instance", 1, 0), "3", "says instance"),  # a number is written in one way
        (("smallest", "instance", 2), "1e999999999", "a number is written as a rational"),
        (("smallest", "instance"), [0], "do not fit the generator"),
        (("smallest", "instance"), [0, [3, 1], 0, 0], "do not fit the generator"),
        (("smallest", "instance"), ["0", [3, 1], 0], "do not fit the generator"),
        (("smallest", "instance"), [0, [[3, 1]], 0], "do not fit the generator"),
        (("smallest", "instance"), [{}], "do not fit the generator"),
        (("smallest", "instance", 1), [1, 1], "does not refute t.made-up: satisfied"),
        (("worst", "instance", 1), [1, 1], "does not refute|says"),
        (("smallest", "family"), "numbers()", r"numbers\(\); .* t.made-up are from points"),
        (("schema",), 1, "of schema 1; .* reads schema 2"),
        (("schema",), 3, "of schema 3; .* reads schema 2"),
    ],
)
def test_a_field_that_is_not_what_its_numbers_give(certified, place, to, message):
    claim, path = certified
    change(path, *place, to=to)
    with pytest.raises(CertificateError, match=message):
        replay(path, claim=claim)


def test_another_claim(certified, declare):
    _, path = certified
    with pytest.raises(CertificateError, match=r"is a certificate of t.made-up, not of t.other"):
        replay(path, claim=made(declare, id="t.other"))


def test_what_is_not_proved_is_not_certified(declare, tmp_path):
    claim = made(declare)
    record = from_choices(claim, [0, [3, 1], 0]).record
    loose = declare(lambda x, unused: leq(x, 10.0), points())
    with pytest.raises(ValueError, match=r"is satisfied; a certificate attests a proved violation"):
        write(tmp_path, Instance(loose, points(), record))
    assert list(tmp_path.iterdir()) == []


# Where the claim has changed.


@instances
def of_three(source):
    return source.tensor(3), source.tensor()


@pytest.mark.parametrize(
    ("family", "most", "finding"),
    [(points(), 3.1, "refuted"), (points(), 9.0, "satisfied"), (of_three(), 3.0, "outside")],
)
def test_a_claim_that_has_changed_is_judged_as_it_is_now(certified, declare, family, most, finding):
    _, path = certified
    replayed = replay(path, claim=declare(lambda x, _: leq((x * x).sum(-1).sqrt(), most), family))
    assert replayed.changed
    assert replayed.judgement.finding == finding
    assert finding != "outside" or "points()" in replayed.judgement.reason


# From the file alone.

MINE = '''
from rankcheck import conjecture, leq
from rankcheck.theory.instances.source import instances

@instances
def numbers(source):
    return source.tensor()

@conjecture("t.mine", instances=numbers())
def test_mine(x):
    """$x \\\\le 3$"""
    return leq(x, 0 * x + 3)
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The path of a claim of a user's own, in `claims/`, and that of its certificate."""
    (tmp_path / "claims").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "claims" / "mine.py"
    path.write_text(MINE)
    [claim] = load(read_file(path))
    certificate = write(tmp_path / "claims" / ".rankcheck", from_choices(claim, [4]))
    forget(path)
    yield path, certificate
    forget(path)


def forget(path):
    registry.forget("t.mine")
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]


HELPER = "def bound(x):\n    return {}\n\n"


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("0 * x + 3", None),
        ("0 * x + 6 / 2", None),  # the same at the instance
        ("0 * x + 2", r"says rhs .*, but its numbers give .*function that t\.mine calls"),
        ("0 * x + 5", r"does not refute t\.mine"),
    ],
)
def test_a_function_that_the_body_calls_is_replayed_and_not_hashed(mine, now, said, monkeypatch):
    """Also where the file has the size and the time of the one of which there is bytecode."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path, _ = mine
    text = MINE.replace("0 * x + 3", "bound(x)")
    path.write_text(HELPER.format("0 * x + 3") + text)
    [claim] = load(read_file(path))
    certificate = write(path.parent / ".rankcheck", from_choices(claim, [4]))
    forget(path)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text(HELPER.format(now) + text)
    os.utime(path, ns=times)
    if said is None:
        assert replay(certificate).refuted
    else:
        with pytest.raises(CertificateError, match=said):
            replay(certificate)


@pytest.mark.parametrize("place", ["claims/.rankcheck", "moved/.rankcheck", "a/b/c/d/e"])
def test_the_claim_is_found(mine, tmp_path, place):
    """Where it was; after a move of its folder; and after one of the certificate alone."""
    path, certificate = mine
    if place.startswith("moved"):
        path.parent.rename(tmp_path / "moved")
    elif place.startswith("a"):
        (tmp_path / place).mkdir(parents=True)
        certificate.rename(tmp_path / place / certificate.name)
    replayed = replay(tmp_path / place / certificate.name)
    assert replayed.refuted
    assert replayed.claim.id == "t.mine"
    forget(tmp_path / "moved" / "mine.py")


def test_a_file_outside_of_the_working_directory_is_not_run(mine, tmp_path, monkeypatch):
    """A certificate from a stranger cannot choose which code runs."""
    path, certificate = mine
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + MINE)
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(CertificateError, match=r"mine\.py, which lies outside of the working dir"):
        replay(certificate)
    (tmp_path / "elsewhere" / "mine.py").symlink_to(path)
    with pytest.raises(CertificateError, match=r"mine\.py, which lies outside of the working dir"):
        replay(certificate)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", CertificateError, r"is of t.mine in mine\.py, which was not found near it"),
        ("raise SystemExit('run')\n" + MINE.replace("t.mine", "t.other"), CertificateError, "near"),
        ("1 / 0\n" + MINE, InputError, "ZeroDivisionError"),
    ],
)
def test_a_file_without_the_claim_is_not_run(mine, text, error, message):
    path, certificate = mine
    path.write_text(text)
    with pytest.raises(error, match=message):
        replay(certificate)


def test_one_of_rankchecks_own_is_found_by_its_id(tmp_path):
    [entry] = [e for e in project() if e.id == "rank.cross-example-as-printed"]
    [claim] = load([entry])
    path = write(tmp_path / "x" / "y", from_choices(claim, [[1, 0.5], [1, -0.5]]))
    assert replay(path).refuted
    assert read(path)["path"] == ""


# Numbers as text.


def test_balls_keep_all_their_digits():
    for bits in (128, 512, 2048):
        with precision(bits):
            text = ball_text(BallArray.exact(2).sqrt(), bits)
            near = ball_text(BallArray.exact(2 + Fraction(1, 2 ** (bits - 20))).sqrt(), bits)
        assert overlap(text, text)
        assert not overlap(text, near)
    assert ball_text(BallArray.exact(7**10000), 128) == ball_text(BallArray.exact(7**10000), 256)


@pytest.mark.parametrize(
    ("stated", "now", "same"),
    [
        ("2/3", "2/3", True),
        ("2/3", "4/6", False),
        ("[1.50000000000000000000000000000000001 +/- 1e-30]", "[1.5 +/- 1e-30]", True),
        ("[1.5001 +/- 1e-30]", "[1.5 +/- 1e-30]", False),
        ("[1.5 +/- 1e30]", "[1.5 +/- 1e-30]", False),
        ("[1.5 +/- nan]", "[1.5 +/- 1e-30]", False),
        ("[1e9999999999 +/- 1]", "[1.5 +/- 1e-30]", False),
        ("1.5", "[1.5 +/- 1e-30]", False),
    ],
)
def test_texts_that_can_mean_the_same(stated, now, same):
    assert overlap(stated, now) == same


def test_an_excess_is_rounded_down():
    assert rounded_down(Fraction(2, 3)) == "0.66666666666666666"
    assert Fraction(rounded_down(Fraction(2, 3))) < Fraction(2, 3)
    assert rounded_down(Fraction(1, 4)) == "0.25"
    assert Fraction(rounded_down(Fraction(1, 3**9000))) < Fraction(1, 3**9000)


def test_another_engine_may_round_otherwise(certified):
    """Balls of another version are held to overlap, not to agree to the last digit."""
    claim, path = certified
    change(path, "versions", "python-flint", to="0.0.1")
    assert replay(path, claim=claim).refuted
    data = json.loads(path.read_text())
    mid, rad = data["smallest"]["lhs"][1:-1].split(" +/- ")
    change(path, "smallest", "lhs", to=f"[{mid[:-1]}1 +/- {rad}]")
    assert replay(path, claim=claim).refuted
    change(path, "smallest", "lhs", to="[3.1623 +/- 1e-30]")
    with pytest.raises(CertificateError, match=r"says lhs"):
        replay(path, claim=claim)
