"""What the records of a claim do for its verification, and what verification does for them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rankcheck import leq
from rankcheck.claims.catalogue.kept import digest
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.file import Records, left_path
from rankcheck.engine.records.renewal import Candidate, keep, renewed
from rankcheck.engine.verification.profiles import Profile
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import instances
from rankcheck.theory.networks.piecewise_linear import PiecewiseLinear

FEW = Profile("few", drawn=2, batches=2, size=8, single=4)


@instances
def numbers(source, *, low=0.0, high=8.0):
    return source.tensor(low=low, high=high)


@instances
def ones(source):
    return source.tensor() * 0 + 1


def bump(x, *, peak=1, label=""):
    """x exp(-x)-like: 2x / (peak + x²) is 1 at x = 1 alone, and small on most of [0, 8]."""
    return leq(2 * x, 2 * (peak + x * x), label=label)  # so the best ratio is 1/2


@pytest.fixture
def claim(declare, tmp_path):
    file = tmp_path / "mine" / "claims.py"
    file.parent.mkdir()
    file.write_text("")

    def make(body=bump, **attributes):
        return declare(body, numbers(), **{"file": file, "loose": "a factor of two"} | attributes)

    return make


def instance(claim, number):
    record = read_choices(claim.instances, [number], check_hypotheses=False)
    return Instance(claim, claim.instances, record)


def put(claim, *numbers):
    """Keep the records that these numbers hold."""
    found = [Candidate(instance(claim, number)) for number in numbers]
    return keep(claim, renewed(claim, Records.none(claim), found).records)


def rewrite(path, change):
    """Change a file, and make its checksum right again."""
    data = json.loads(path.read_text())
    del data["sha256"]
    change(data)
    path.write_text(json.dumps({**data, "sha256": digest(data)}))


def test_a_search_begins_with_what_is_on_record(claim, verify):
    """The largest ratio of this claim is at one point, which few instances do not meet."""
    sharp = claim(lambda x: leq((x - 5 / 3).abs().clamp(max=1), 1 + (x - 7.25) ** 2))
    assert verify(sharp, FEW).best_ratio < 0.9999
    put(sharp, 7.25)
    row = verify(sharp, FEW)
    assert (row.best_ratio, row.relations[0].record) == (1, "1")
    assert row.verdict == "failed"  # it is declared as loose
    assert verify(claim(sharp.body, loose=None), FEW).verdict == "holds"


def test_a_loose_bound_that_a_run_finds_a_little_sharper_says_so_and_holds(claim, verify):
    put(claim(), 1.5)  # 6 / 13
    row = verify(claim())
    assert (row.verdict, row.messages) == ("holds", ())
    assert row.relations[0].beaten


def test_a_loose_bound_that_a_run_attains_fails(claim, verify):
    attained = claim(lambda x: leq(2 * x, x * x + 1))
    put(attained, 1.5)  # 12 / 13
    assert verify(attained).verdict == "failed"


def test_a_loose_bound_that_a_run_finds_far_sharper_fails(claim, verify, tmp_path):
    put(claim(), 4)  # 8 / 34
    row = verify(claim())
    assert row.verdict == "failed"
    left = left_path(claim(), tmp_path)
    assert str(left) in row.messages[0]
    assert Records.of(claim(), left).best("relation 1").choices == [1]
    keep(claim(), Records.of(claim(), left))
    assert verify(claim()).verdict == "holds"


def test_a_float_artefact_beats_no_record(claim, verify):
    """Floats round the left side to fourths; x / (x + 1) is at most 8 / 9."""
    rounded = claim(lambda x: leq((x + 2.0**50) - 2.0**50, x + 1))
    put(rounded, 8)
    row = verify(rounded)
    assert row.best_ratio > 1.01 * 8 / 9
    assert row.relations[0].beaten is None
    assert row.messages == ()


def test_a_record_that_is_stale_fails(claim, verify):
    """Also where another version of the engine has written it, which may round otherwise."""
    path = put(claim(), 1)
    for _ in range(2):
        row = verify(claim(lambda x: bump(x, peak=3)))
        assert row.verdict == "failed"
        assert any(f"({path}) does not stand" in message for message in row.messages)
        rewrite(path, lambda data: data["versions"].update({"python-flint": "0.0.1"}))


def test_a_record_of_a_relation_that_is_gone_fails(claim, verify):
    put(claim(), 1)
    assert verify(claim(lambda x: bump(x, label="new"))).verdict == "failed"


def test_a_record_that_does_not_fit_fails(claim, verify, declare):
    path = put(claim(), 1)
    rewrite(path, lambda data: data["relations"][0]["best"].update(choices=[9]))
    assert any("the instance does not fit numbers()" in m for m in verify(claim()).messages)
    path.write_text("{}")
    [message] = verify(claim()).messages
    assert "is not a file of records" in message


def test_a_record_that_refutes_the_claim_now_refutes_it(claim, verify):
    true = claim(lambda x: leq((x - 5 / 3).abs().clamp(max=1), 2 + (x - 7.25) ** 2))
    put(true, 7.25)
    false = claim(lambda x: leq((x - 5 / 3).abs().clamp(max=1), 0.999 + (x - 7.25) ** 2))
    row = verify(false, FEW)
    assert row.verdict == "refuted"
    assert verify(claim(false.body, file=Path("gone")), FEW).verdict != "refuted"


def test_a_record_does_not_excuse_a_tight_family(claim, verify):
    """The tight family attains one of two bounds, and an instance on record the other one."""

    def body(x):
        return leq(2 * x, 1 + x * x, label="a"), leq(4 * x, 4 + x * x, label="b")

    both = claim(body, loose=None, tight=ones())
    put(both, 2)
    row = verify(both)
    assert (row.verdict, row.relations[1].record) == ("failed", "1")
    [message] = row.messages
    assert "b is not tight on ones()" in message
    assert verify(replace(both, loose={"b": "sharp at 2"})).verdict == "failed"  # it is sharp
    assert verify(replace(both, tight=numbers(low=1, high=2))).verdict == "holds"


def test_a_wrong_sign_in_a_tight_family_fails(verify):
    """Every second slope of the zigzags is turned; an instance on record attains the error."""
    [approximator] = load(select(["separation.lipschitz-approximator"]))

    @instances
    def straightened(source):
        f, *others = approximator.tight(source)
        slopes, first = f.slopes.abs(), f.values[..., 0]
        return PiecewiseLinear.from_slopes(f.breakpoints, slopes, first), *others

    assert verify(approximator, FEW).expected
    row = verify(replace(approximator, tight=straightened()), FEW)
    assert {one.label: one.record for one in row.relations}["the error"] == "1"
    assert row.verdict == "failed"


def test_a_declaration_that_is_stale_fails(claim, verify):
    sharp = claim(lambda x: leq(2 * x, 1 + x * x))
    put(sharp, 1)
    [message] = verify(sharp).messages
    assert "relation 1" in message
