"""Records are kept beside a claim, renewed by larger certified ratios only, and read back."""

import json
from fractions import Fraction

import pytest
import torch

from rankcheck import eq, leq, lt
from rankcheck.claims.catalogue.kept import digest
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.file import FORM, SCHEMA, RecordError, Records
from rankcheck.engine.records.given import instance_of
from rankcheck.engine.records.ratio import NotCertifiedError, attained
from rankcheck.engine.records.renewal import Candidate, candidates, keep, renewed
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import instances


@instances
def vectors(source):
    n = source.integer(1, 40)
    x = source.tensor(n)
    source.require(x[..., 0] >= 0, "the first entry is not negative")
    return (x,)


def norms(x):
    return (
        leq((x * x).sum(-1).sqrt(), x.abs().sum(-1)),
        lt(x.abs().amax(-1), x.abs().sum(-1) + 1, label="strict"),
        eq(x.sum(-1), x.sum(-1)),
    )


@pytest.fixture
def claim(declare, tmp_path):
    file = tmp_path / "claims.py"
    file.write_text("")
    return declare(norms, vectors(), file=file)


def candidate(claim, *numbers, key=None):
    record = read_choices(claim.instances, [len(numbers), list(numbers)], check_hypotheses=False)
    return Candidate(Instance(claim, claim.instances, record), key)


def of(claim, *candidates, by=()):
    return renewed(claim, Records.none(claim), candidates, by)


def test_a_larger_ratio_renews_a_record(claim):
    first = of(claim, candidate(claim, 1, 1))
    assert [(b.name, b.old, b.new.ratio[:6]) for b in first.better] == [
        ("relation 1", None, "0.7071"),
        ("strict", None, "0.3333"),
    ]
    best = first.records.best("relation 1")
    assert (best.family, best.choices, best.description) == ("vectors()", [2, [1, 1]], "x = [1, 1]")
    assert (best.lhs, best.rhs, best.bits) == ("1.4142135623730950…", "2", 128)
    assert first.records.best("relation 3") is None  # an identity

    again = renewed(claim, first.records, [candidate(claim, 1, 1), candidate(claim, 1, 1, 1)])
    assert (again.better, again.records) == ((), first.records)

    second = renewed(claim, first.records, [candidate(claim, 3, 4), candidate(claim, 1, 0)])
    [bound, strict] = second.better
    assert (bound.old, bound.new.ratio, bound.new.choices) == (best.ratio, "1", [2, [1, 0]])
    assert strict.new.choices == [2, [3, 4]]
    assert bound.new.sharp
    assert not strict.new.sharp


def test_each_group_of_shapes_has_its_best_instance(claim):
    one = [candidate(claim, *[1] * n, key=(n,)) for n in (3, 2, 4)]
    found = of(claim, *one, by=("size",))
    record = found.records.relation("relation 1")
    assert (record.by, [group.key for group in record.groups]) == (("size",), [(2,), (3,), (4,)])
    assert record.best == record.groups[0].best
    assert {better.key for better in found.better if better.name == "relation 1"} == {
        None,
        (2,),
        (3,),
        (4,),
    }
    better = renewed(claim, found.records, [candidate(claim, 2, 1, 1, key=(3,))], ("size",))
    assert [(b.name, b.key) for b in better.better if b.name == "relation 1"] == [
        ("relation 1", (3,))
    ]
    other = renewed(claim, found.records, [candidate(claim, 2, 1, key=(2, 1))], ("size", "rank"))
    record = other.records.relation("relation 1")
    assert (record.by, [group.key for group in record.groups]) == (("size", "rank"), [(2, 1)])


@pytest.mark.parametrize("size", [3, 1e-5, 1e-6, 1e-9, 1e-300, -1e-5, 0])
def test_a_ratio_of_any_size_is_kept(declare, size):
    scaled = declare(lambda x: leq(x[..., 0] * size, x[..., 0] * 3, label="a"), vectors())
    found = of(scaled, candidate(scaled, 3)).records
    assert float(found.best("a").ratio) == pytest.approx(size / 3)


def test_what_refutes_holds_no_record(declare):
    false = declare(lambda x: leq(x.abs().amax(-1), 1.0), vectors())
    assert of(false, candidate(false, 2)).better == ()
    strict = declare(lambda x: lt(x.abs().amax(-1), 1.0), vectors())
    [proved] = attained(candidate(strict, 1).instance)
    assert proved.refutes
    assert of(strict, candidate(strict, 1)).better == ()


def test_only_certified_instances_enter(declare, claim):
    with pytest.raises(NotCertifiedError, match="the first entry is not negative"):
        of(claim, candidate(claim, -1))
    floats = declare(lambda x: leq(torch.special.i1e(x).amax(-1), 1.0), vectors())
    with pytest.raises(NotCertifiedError, match="nothing is certified"):
        of(floats, candidate(floats, 1))


def test_a_file_is_read_back(claim, tmp_path):
    found = of(claim, candidate(claim, 1, 1 / 3, key=(2,)), by=("size",)).records
    assert Records.of(claim) == Records.none(claim)
    path = keep(claim, found)
    assert path == FORM.path(claim) == tmp_path / "records" / "t.made-up.json"
    records = Records.of(claim)
    assert records.relations == found.relations
    assert (records.file, records.path) == ("../claims.py", "")
    assert (records.schema, records.statement_sha256) == (SCHEMA, claim.statement_hash)
    assert '"choices": [2, [1, "6004799503160661/18014398509481984"]]' in path.read_text()
    for relation in records.relations:
        for one in relation.held:
            proved = {each.name: each for each in attained(instance_of(claim, one))}
            assert Fraction(one.ratio) <= proved[relation.name].low
            assert proved[relation.name].written == one.ratio
    again = renewed(claim, Records.none(claim), candidates(claim, records, ("size",)), ("size",))
    assert again.records.relations == records.relations


@pytest.fixture
def stored(claim):
    path = keep(claim, of(claim, candidate(claim, 1, 1, key=(2,)), by=("size",)).records)
    return path, json.loads(path.read_text())


def rewrite(path, data):
    fields = {name: value for name, value in data.items() if name != "sha256"}
    path.write_text(json.dumps({**fields, "sha256": digest(fields)}))


def test_a_file_that_was_changed_is_refused(claim, stored):
    path, _ = stored
    path.write_text(path.read_text().replace("0.7071", "0.7072", 1))
    with pytest.raises(RecordError, match="has been changed since it was written"):
        Records.of(claim)


def relation(data):
    return data["relations"][0]


@pytest.mark.parametrize(
    ("break_", "said"),
    [
        (lambda d: d.update(schema=99), "of schema 99; this version reads schema 1"),
        (lambda d: d.pop("relations"), "relations is missing"),
        (lambda d: d.update(claim="../x"), "the id of a claim is lower-case words"),
        (lambda d: d.update(claim="t.other"), "has the records of t.other, not of t.made-up"),
        (lambda d: relation(d)["best"].update(ratio="1.5"), "one above 1 refutes a bound"),
        (lambda d: relation(d)["best"].update(ratio="nan"), "that is a decimal number"),
        (lambda d: relation(d)["best"].update(ratio=0.5), "relations.*ratio is 0.5; it is a text"),
        (lambda d: relation(d)["groups"][0].update(key=[2, 2]), "are not by size"),
        (lambda d: relation(d).update(kind="eq"), "bounds have records"),
        (lambda d: d["relations"].append(relation(d)), "a relation has two records"),
    ],
)
def test_a_file_that_is_none_is_refused(claim, stored, break_, said):
    path, data = stored
    break_(data)
    rewrite(path, data)
    with pytest.raises(RecordError, match=said):
        Records.of(claim)


def test_instances_that_do_not_fit_the_claim(claim, stored):
    path, data = stored
    relation(data)["best"]["family"] = "circles()"
    relation(data)["groups"][0]["best"]["choices"] = [3, [1, 1]]
    rewrite(path, data)
    one, other = Records.of(claim).relation("relation 1").held
    with pytest.raises(RecordError, match=r"is of 'circles\(\)'; those of t.made-up are from"):
        instance_of(claim, one)
    with pytest.raises(RecordError, match=r"does not fit vectors\(\)"):
        instance_of(claim, other)
