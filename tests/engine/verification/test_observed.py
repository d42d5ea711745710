"""What a viewer of the observations of Hypothesis sees: ids of claims, instances, their status."""

import json
from dataclasses import replace
from fractions import Fraction

import hypothesis
import pytest
from flint import fmpq, fmpq_mat
from hypothesis.internal import observability

from rankcheck import leq
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.search import draw
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.source import instances


@instances
def plain_matrices(source):
    m, n = source.integer(1, 3), source.integer(1, 3)
    matrix = source.tensor(m, n, low=-2.0, high=2.0)
    source.require(matrix.abs().sum() > 0.5, "A is not small")
    return (matrix,)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Observe as HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY does; `written()` reads the file."""
    monkeypatch.setattr(observability, "OBSERVABILITY_COLLECT_COVERAGE", False)
    hypothesis.configuration.set_hypothesis_home_dir(tmp_path)
    deliver = observability._deliver_to_file
    observability.add_observability_callback(deliver, all_threads=True)

    def read():
        lines = [path.read_text("utf-8") for path in tmp_path.glob("observed/*_testcases.jsonl")]
        return [json.loads(line) for text in lines for line in text.splitlines()]

    yield read
    observability.remove_observability_callback(deliver)
    hypothesis.configuration.set_hypothesis_home_dir(None)
    observability._WROTE_TO.clear()  # the end of a run would name them


def test_a_claim_is_a_property_with_its_instances(declare, written):
    def body(A):
        largest = A.abs().amax((-2, -1))
        return leq(largest, A.abs().sum((-2, -1)), label="sum"), leq(largest, 3.0 + 0 * largest)

    claim = declare(body, plain_matrices(), id="t.largest-entry")
    assert draw(claim, claim.instances, 40, 0, Tally()) is None
    lines = written()
    assert {line["property"] for line in lines} == {"t.largest-entry"}
    passed = [line for line in lines if line["status"] == "passed"]
    assert len(passed) == 40
    for line in passed:
        m, n, entries = line["arguments"]["instance"]["choices"]
        exact = [[Fraction(entry) for entry in row] for row in entries]
        assert (len(exact), len(exact[0])) == (m, n)
        features, flat = line["features"], [abs(entry) for row in exact for entry in row]
        rational = fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in exact])
        assert features["rank of A"] == rational.rank()
        assert features["lhs / rhs of sum"] == pytest.approx(float(max(flat) / sum(flat)))
        assert features["lhs / rhs of relation 2"] == pytest.approx(float(max(flat)) / 3)
    left_out = [line for line in lines if line["status"] == "gave_up"]
    assert "A is not small" in {line["status_reason"] for line in left_out}


def test_a_violation_has_failed_and_was_judged(declare, scalars, written):
    claim = declare(lambda x: leq(x, 7.0), scalars(), id="t.at-most-seven")
    found = draw(claim, claim.instances, 300, 0, Tally())
    failed = [line for line in written() if line["status"] == "failed"]
    assert {line["property"] for line in failed} == {"t.at-most-seven"}
    assert {line["features"]["judged"] for line in failed} == {"refuted"}
    [number] = failed[-1]["arguments"]["instance"]["choices"]
    assert float(Fraction(number)) == float(found.record.tensors[0]) > 7


def test_who_looks_changes_nothing(declare, lists, request):
    def body(x):
        return leq(x.abs().amax(-1), 7.5 + 0 * x[..., 0], where=x[..., 0] < 0)

    claim = declare(body, lists(), kind="conjecture", reach=lambda x: {"half": x.shape[-1] // 2})
    rows, draws = [], []
    for _ in range(2):
        tally = Tally()
        found = draw(claim, claim.instances, 60, 3, tally)
        draws.append((tally.counts, tally.relations[0].ratio, found and found.record.to_json()))
        rows.append(replace(verify_claim(claim), seconds=0))
        request.getfixturevalue("written")
    assert draws[0] == draws[1]
    assert rows[0] == rows[1]
