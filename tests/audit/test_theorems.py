"""Theorems on trained networks: true of any network, with the sides that others compute."""

import functools
import json
import math
from dataclasses import asdict, replace
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch

from rankcheck.audit.theorems import check, check_theorems, evaluate, table
from rankcheck.audit.theorems import run as theorems
from rankcheck.audit.theorems.check import Certifier, exact_network
from rankcheck.audit.theorems.evaluate import Outcome, SharpNetwork, at_points, sharp
from rankcheck.audit.theorems.table import LEFT_OUT, theorem_of
from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.kinds import FALSE
from rankcheck.networks import Network
from rankcheck.theory.instances.balanced import balanced_networks_with_inputs
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.networks import balanced_linear_networks, networks_with_inputs
from rankcheck.theory.networks.balancing import balance_neurons
from tests.draws import batch_of

from . import nets

CLAIMS = {claim.id: claim for claim in table.theorems().values()}
THEOREMS = {theorem.claim: theorem for theorem in table.theorems()}


def some_network(widths, slope=0.0, seed=0, gain=1.4, single=False):
    draw = torch.Generator().manual_seed(seed)

    def entries(*shape):
        drawn = torch.randn(*shape, generator=draw, dtype=torch.float64)
        return drawn.float().double() if single else drawn

    pairs = list(pairwise(widths))
    weights = [gain / math.sqrt(m) * entries(n, m) for m, n in pairs]
    biases = [0.1 * entries(n) for _, n in pairs]
    return Network.unchecked_slope(weights, biases, slope)


def some_data(net, number):
    return nets.normal(number, net.widths[0], seed=1)


def found(net, X, **options):
    return {facts.claim: facts for facts in check_theorems(nets.model_of(net), X, **options)}


def one_of(net, X, claim, monkeypatch, **options):
    """What one theorem says."""
    theorem = THEOREMS[claim]
    only = {theorem: theorems.theorems().get(theorem, CLAIMS[claim])}
    monkeypatch.setattr(theorems, "theorems", lambda: only)
    (facts,) = check_theorems(nets.model_of(net), X, **options)
    return facts


def with_body(monkeypatch, claim, body=None, **parameters):
    """The claim alone, with another body, or with other parameters of its own."""
    body = body or functools.partial(CLAIMS[claim].body, **parameters)
    false = {THEOREMS[claim]: replace(CLAIMS[claim], body=body)}
    monkeypatch.setattr(theorems, "theorems", lambda: false)


def strict(facts):
    """The facts as JSON without NaN and Infinity."""
    return json.dumps([asdict(each) for each in facts], allow_nan=False)


# The table


def test_every_claim_about_a_network_says_what_audits_do_with_it():
    for claim in load(project()):
        true = claim.kind not in (*FALSE, "cited", "conjecture")
        about = true and claim.arguments[:1] == ("net",)
        assert about == (claim.audit is not None), claim.id
        if about and not claim.audit.startswith(LEFT_OUT):
            assert claim.id in THEOREMS
        elif about:
            assert len(claim.audit) > len(LEFT_OUT) + 10


@pytest.mark.parametrize("text", ["at point: |a| ≤ 1", "on data: slow", "on data; slow", ""])
def test_other_words_are_refused(text):
    with pytest.raises(ValueError, match="mine"):
        theorem_of("mine", text)


@pytest.mark.parametrize("claim", [n for n, each in THEOREMS.items() if each.on == "at points"])
@pytest.mark.parametrize("widths", [(3, 4, 4, 2), (2, 20, 18, 3)])
def test_many_points_at_once_give_what_each_point_gives(claim, widths):
    theorem, body = THEOREMS[claim], CLAIMS[claim]
    net = sharp(balance_neurons(some_network(widths, seed=3)))
    x = some_data(net, 7)
    more = (torch.eye(widths[0], dtype=torch.float64),) if "directions" in theorem.manner else ()
    together = at_points(body, net, x, *more, numbers=2**21)  # two
    for index, point in enumerate(x):
        alone = body.relations((net, point, *more))
        for outcome, relation in zip(together, alone, strict=True):
            lhs, rhs = relation.lhs.reshape(-1), relation.rhs.reshape(-1)
            torch.testing.assert_close(outcome.lhs[index], lhs, rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(outcome.rhs[index], rhs, rtol=1e-9, atol=1e-9)
            asserted = relation.asserted.reshape(-1)
            assert torch.equal(outcome.asserted[index], asserted)


# Truth

#: They want one input, one output, depth two or points of one rank, which is seldom drawn.
SELDOM = {
    "bottleneck.ntk-at-two-points",
    "bottleneck.ntk-on-a-segment-sharp",
    "bottleneck.two-slopes",
    "rank.bounded-domain",
    "rank.constant-cost",
}


@pytest.mark.slow
@pytest.mark.parametrize("family", [networks_with_inputs, balanced_networks_with_inputs])
def test_every_theorem_holds_on_the_networks_of_the_generators(family):
    (drawn, X), _ = batch_of(family(depth=(1, 4), points=(3, 3)), BatchSource(11, 4))
    held = set()
    for index in range(4):
        net = drawn[index]
        net = Network.unchecked_slope(net.weights, net.biases, float(net.slope))
        for facts in check_theorems(nets.model_of(net), X[index], certify=False):
            assert facts.finding in ("holds", "not applicable"), (index, facts)
            held |= {facts.claim} if facts.finding == "holds" else set()
            assert all(side.slack >= -side.tolerance for side in facts.sides)
    assert set(THEOREMS) - held <= SELDOM


@pytest.mark.parametrize(
    ("widths", "slope", "number"),
    [
        ((3, 2), 0.0, 4),
        ((1, 1, 1), 0.0, 1),
        ((2, 5, 5, 2), 1.0, 6),
        ((2, 5, 5, 2), -0.9, 6),
        ((4, 24, 18, 3), 0.0, 30),
    ],
    ids=["depth 1", "width 1, one point", "identity", "slope -0.9", "wide"],
)
def test_unusual_networks(widths, slope, number):
    net = some_network(widths, slope, single=True)
    X = some_data(net, number)
    by_claim = found(net, X, certify=False)
    strict(by_claim.values())
    assert {each.finding for each in by_claim.values()} <= {"holds", "not applicable"}
    nonnegative = by_claim["bottleneck.chained-projections"].finding
    assert (nonnegative == "not applicable") == (slope < 0)
    relu = by_claim["rank.bounded-domain"].hypotheses[0]
    assert (relu.met, relu.figure) == (slope == 0, f"a = {slope:g}")
    segment = by_claim["bottleneck.ntk-on-a-segment-sharp"].hypotheses[1]
    assert (segment.met, segment.figure) == (True, f"a = {slope:g}")
    assert by_claim["bottleneck.constant-cost"].finding == "holds"
    assert by_claim["rank.jacobian-bounds-cost"].checked == number
    if number > 1:
        assert by_claim["rank.one-dimensional-layers"].finding == "holds"


def test_a_dead_network_has_rank_zero_and_no_theorem_fails():
    net = some_network((3, 4, 2))
    net = net.with_parameters(net.weights, (net.biases[0] - 100, net.biases[1]))
    facts = found(net, some_data(net, 5), certify=False)
    strict(facts.values())
    assert {each.finding for each in facts.values()} == {"holds", "not applicable"}
    near = facts["bottleneck.singular-values-near-one"]
    assert near.finding == "not applicable"
    assert (near.hypotheses[-1].met, near.hypotheses[-1].figure) == (False, "at 0 of 5 points")
    assert facts["rank.one-dimensional-layers"].finding == "not applicable"


def test_points_at_a_kink_are_left_out_and_counted(monkeypatch):
    net = Network.of([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0]]])
    X = torch.tensor([[0.0, 1.0], [1.0, 1.0], [-1.0, 2.0]], dtype=torch.float64)
    facts = one_of(net, X, "rank.jacobian-bounds-cost", monkeypatch)
    assert facts.checked == 2
    assert facts.sides[0].point == 1  # ‖Jf‖ is √2 there, and 1 at the last point
    assert facts.hypotheses[0].met is True
    assert facts.hypotheses[0].figure.endswith("= 1, 1 of 3 points left out")
    only = one_of(net, X[:1], "rank.jacobian-bounds-cost", monkeypatch)
    assert (only.finding, only.hypotheses[0].met) == ("not applicable", False)


@pytest.mark.parametrize("size", [1e60, 1e200])
def test_sides_that_overflow_are_undecided_and_never_fail(size):
    net = some_network((3, 4, 4, 2))
    net = net.with_parameters([size * w for w in net.weights], net.biases)
    facts = check_theorems(nets.model_of(net), some_data(net, 4), certify=False)
    strict(facts)
    assert "fails" not in {each.finding for each in facts}
    assert "at 8 points" not in " ".join(each.message for each in facts)  # there are four
    if size > 1e110:
        undecided = [each for each in facts if each.finding == "undecided"]
        assert undecided
        assert all(each.message for each in undecided)


def test_without_data_only_the_network_itself_is_judged():
    net = some_network((3, 4, 1))
    facts = found(net, None, certify=False)
    assert set(facts) == {n for n, each in THEOREMS.items() if each.on == "on the network"}
    assert facts["rank.constant-cost"].finding == "holds"
    assert facts["rank.constant-cost"].checked is None
    assert facts["rank.bounded-domain"].finding == "not applicable"


def test_an_unbalanced_network_is_judged_by_its_balanced_form(monkeypatch):
    net = some_network((2, 3, 2))
    facts = one_of(net, None, "rank.balanced-layer-norms", monkeypatch)
    hypothesis = facts.hypotheses[0]
    inner = (net.weights[0] ** 2).sum(1) + net.biases[0] ** 2
    outer = (net.weights[1] ** 2).sum(0)
    worst = float(((inner - outer).abs() / (inner + outer)).max())
    assert (facts.finding, hypothesis.met) == ("holds", False)
    assert f"= {worst:.2g}" in hypothesis.figure
    # With c = Σ 2 √(in·out) over the neurons, and the last bias: the cheapest of depth two.
    cheapest = float((2 * (inner * outer).sqrt()).sum() + (net.biases[1] ** 2).sum())
    assert f"costs {cheapest:.6g} in place of {float(net.cost()):.6g}" in facts.message
    balanced = one_of(balance_neurons(net), None, "rank.balanced-layer-norms", monkeypatch)
    assert (balanced.hypotheses[0].met, balanced.message) == (True, "")


def test_points_of_the_most_frequent_rank_are_the_data(monkeypatch):
    net = Network.of([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]])
    X = torch.tensor([[1.0, 1.0], [2.0, 1.0], [1.0, -1.0], [-1.0, -1.0]], dtype=torch.float64)
    facts = one_of(net, X, "bottleneck.bounded-activations-of-data", monkeypatch)
    assert (facts.finding, facts.checked) == ("holds", 2)
    counted = facts.hypotheses[-1].figure
    assert (
        counted == "rank 2 at 2, rank 1 at 1, rank 0 at 1 of 4 points; evaluated on those of rank 2"
    )


# Numbers


def jacobians(net, X):
    """By autograd."""
    return torch.func.vmap(torch.func.jacrev(net))(X).numpy()


def cost_by_hand(net):
    return sum(float((np.asarray(a) ** 2).sum()) for a in (*net.weights, *net.biases))


@pytest.fixture(scope="module")
def numbers():
    net = some_network((4, 6, 6, 3), seed=5)
    X = some_data(net, 9)
    s = [np.linalg.svd(each, compute_uv=False) for each in jacobians(net, X)]
    # A ReLU Jacobian may lose rank exactly.
    return net, X, [each[each > 1e-10] for each in s], found(net, X, certify=False)


def assert_side(side, lhs, rhs):
    """A side is that of the point with the least slack relative to the larger side."""
    lhs, rhs = np.broadcast_arrays(lhs, rhs)
    worst = int(np.argmin((rhs - lhs) / np.maximum(abs(lhs), abs(rhs))))
    found = [side.lhs, side.rhs, side.slack]
    assert side.point == worst
    assert found == pytest.approx([lhs[worst], rhs[worst], (rhs - lhs)[worst]], rel=1e-9)


def test_the_cost_against_the_schatten_power_of_autograd(numbers):
    net, _, s, facts = numbers
    lhs = [(each ** (2 / 3)).sum() for each in s]
    (side,) = facts["rank.jacobian-bounds-cost"].sides
    assert_side(side, lhs, cost_by_hand(net) / 3)
    assert (side.asserted, side.kind, side.label, side.certified) == (9, "leq", "", None)


def test_the_regularity_bound_against_autograd(numbers):
    net, _, s, facts = numbers
    middle = np.array([3 * (each ** (2 / 3) - 1).sum() for each in s])
    excess = np.array([cost_by_hand(net) - 3 * len(each) for each in s])
    logs = np.array([2 * np.log(each).sum() for each in s])
    first, second = facts["bottleneck.regularity-bound"].sides
    assert_side(first, middle, excess)
    assert_side(second, logs, middle)
    assert (first.label, second.label) == ("the excess cost", "the log-determinant")


def test_pairs_are_those_where_the_bounds_are_largest(numbers):
    net, X, s, facts = numbers
    J, f = jacobians(net, X), net(X).numpy()
    norms = [each.max(initial=0.0) for each in s]
    sizes = {
        "bottleneck.two-jacobians": lambda i, j: np.linalg.norm(J[i] - J[j]),
        "bottleneck.ntk-linear-in-depth": lambda i, j: (
            min(norms[i], norms[j]) * np.linalg.norm(f[i] - f[j])
        ),
    }
    for claim, size in sizes.items():
        best = sorted(combinations(range(9), 2), key=lambda pair: -size(*pair))[:8]
        words = facts[claim].message.rstrip(".").split()
        assert facts[claim].checked == 8
        assert (int(words[-3]), int(words[-1])) in best


def test_segments_lie_in_one_region_and_the_longest_come_first(monkeypatch):
    net = Network.of([[[1.0], [-1.0]], [[1.0, 1.0]]])
    X = torch.tensor([[-1.0], *([[t / 8] for t in range(1, 13)])], dtype=torch.float64)
    facts = one_of(net, X, "bottleneck.ntk-on-a-segment-sharp", monkeypatch)
    assert facts.hypotheses[-1].figure == "12 of 13 points share theirs with another"
    assert facts.checked == 8
    i, j = (int(word) for word in facts.message.rstrip(".").split() if word.isdigit())
    longest = sorted(combinations(range(1, 13), 2), key=lambda pair: pair[0] - pair[1])[:8]
    assert (i, j) in longest


# Failures


@pytest.fixture
def cheapest():
    """A network of least cost for a linear map, where the bounds are nearly sharp."""
    net, x = balanced_linear_networks(depth=(2, 3), width=(2, 2), slopes="relu")(BatchSource(2))
    return Network(net.weights, net.biases, 0.0), x.unsqueeze(0)


def test_a_false_body_fails_with_a_proof(cheapest, monkeypatch):
    net, X = cheapest
    claim = "rank.jacobian-bounds-cost"
    assert one_of(net, X, claim, monkeypatch).finding == "holds"
    with_body(monkeypatch, claim, exponent=dial_beyond(net, X))
    facts = one_of(net, X, claim, monkeypatch)
    assert facts.finding == "fails"
    assert facts.message.startswith("It fails at point 0, by at least ")
    assert "proved in ball arithmetic with 128 bits" in facts.message
    assert check.A_BUG in facts.message
    (side,) = facts.sides
    assert (side.slack < 0, side.certified) == (True, False)
    unproved = one_of(net, X, claim, monkeypatch, certify=False)
    assert unproved.finding == "fails"
    assert "it was not looked at in ball arithmetic" in unproved.message
    assert unproved.sides[0].certified is None
    monkeypatch.setattr(check, "rank_gap", lambda J, noise: torch.tensor([2.5]))
    facts = one_of(net, X, claim, monkeypatch)
    assert facts.finding == "undecided"
    assert "not clear: it changes if the threshold moves by a factor of 2.5" in facts.message


def dial_beyond(net, X):
    """An exponent for which the bound is false: larger for singular values above one."""
    s = torch.linalg.svdvals(net.jacobian(X)[0])
    return 3 if float((s ** (3 / net.depth)).sum()) > float(net.cost()) / net.depth else 1


def test_a_false_body_of_a_statement_about_data_fails(monkeypatch):
    net = some_network((2, 3, 2))
    claim = "bottleneck.ntk-operator-norm"
    with_body(monkeypatch, claim, right=-9)
    facts = one_of(net, some_data(net, 3), claim, monkeypatch)
    assert (facts.finding, facts.checked) == ("fails", 3)
    assert "proved" in facts.message


@pytest.mark.parametrize("silent", [1, 2])
def test_a_relation_that_is_never_asserted_has_no_sides(cheapest, monkeypatch, silent):
    net, X = cheapest
    claim = "bottleneck.regularity-bound"
    true = CLAIMS[claim]

    def body(net, x, *, logs=2, exponent=2):
        both = true.body(net, x, logs=logs, exponent=exponent)
        never = torch.zeros((), dtype=torch.bool)
        return *both[: 2 - silent], *(replace(one, where=never) for one in both[2 - silent :])

    with_body(monkeypatch, claim, body)
    facts = one_of(net, X, claim, monkeypatch, certify=False)
    assert [side.label for side in facts.sides] == ["the excess cost"][: 2 - silent]
    assert facts.finding == ("holds" if silent == 1 else "not applicable")


def test_what_floats_exceed_is_settled_in_balls(cheapest, monkeypatch):
    net, X = cheapest
    claim = "rank.jacobian-bounds-cost"
    true = CLAIMS[claim]

    def wrong_in_floats(by):
        """The claim with a left side that is too large in floats alone."""

        def shifted(net, x, *, exponent=2):
            (relation,) = true.relations((net, x), exponent=exponent)
            factor = 1 + by if isinstance(relation.lhs, torch.Tensor) else 1
            return replace(relation, lhs=relation.lhs * factor)

        with_body(monkeypatch, claim, shifted)

    wrong_in_floats(1e-6)
    facts = one_of(net, X, claim, monkeypatch)
    assert facts.finding == "holds"
    assert "ball arithmetic proves that it holds there" in facts.message
    assert facts.sides[0].certified is True
    many = one_of(net, X.repeat(5, 1), claim, monkeypatch)
    assert many.finding == "undecided"
    assert many.message == "In floats it seems to fail at 2 more points."
    unproved = one_of(net, X, claim, monkeypatch, certify=False)
    assert unproved.finding == "fails"  # 10^7 times the rounding
    wrong_in_floats(1e-11)
    close = one_of(net, X, claim, monkeypatch, certify=False)
    assert close.finding == "undecided"
    assert "times the estimate of rounding" in close.message


def test_what_fails_comes_before_what_is_close():
    """Also where its sides are no larger than their tolerance."""
    lhs, rhs = torch.tensor([[1.0], [1e-9], [1e-9]]), torch.tensor([[1.1], [-1e-9], [1e-9]])
    tolerance = torch.full((3, 1), 1e-9)
    asserted = torch.ones(3, 1, dtype=torch.bool)
    outcome = Outcome("", "leq", lhs, rhs, tolerance, asserted, lhs - rhs > tolerance)
    assert outcome.worst == (1, 0)
    assert outcome.closeness[2] == 2  # two sides that are rounding are no close call


# Certificates, choices, costs


def test_small_networks_are_certified_at_their_tightest_points(monkeypatch):
    monkeypatch.setattr(Certifier, "late", False)  # however slow the machine is
    net = some_network((2, 4, 4, 1), slope=0.01, single=True)
    X = some_data(net, 6)
    for claim in (
        "bottleneck.regularity-bound",  # at points
        "bottleneck.two-jacobians",  # at pairs
        "bottleneck.low-dimensional-features",  # on data
        "bottleneck.constant-cost",  # on the network
    ):
        assert any(side.certified for side in one_of(net, X, claim, monkeypatch).sides), claim
    exact = exact_network(net)
    assert float(exact.slope.midpoints()) == net.slope
    assert all(
        torch.equal(a.midpoints(), b) for a, b in zip(exact.weights, net.weights, strict=True)
    )


def test_wide_networks_have_a_rank_although_absolute_values_hide_it(monkeypatch):
    net = some_network((8, *([96] * 19), 4), seed=2)
    X = some_data(net, 3)
    wide = sharp(net)
    assert isinstance(wide, SharpNetwork)
    s = torch.linalg.svdvals(net.jacobian(X))
    assert (net.jacobian_noise(X) > s[:, -1]).all()  # the four singular values count as zero
    assert (wide.jacobian_noise(X) < 1e-2 * s[:, -1]).all()
    claim = "bottleneck.singular-values-near-one"
    facts = one_of(net, X, claim, monkeypatch)
    assert (facts.finding, facts.checked) == ("holds", 3)


def test_seconds_decide_what_is_evaluated(monkeypatch):
    net, few = some_network((3, 12, 12, 2)), 4
    X = some_data(net, 40)
    claim = "bottleneck.preactivation-singular-values"
    facts = one_of(net, X, claim, monkeypatch, points=few, certify=False)
    assert facts.checked == few
    monkeypatch.undo()
    poor = found(net, X, seconds=0.0, certify=False)
    assert {each.finding for each in poor.values()} == {"not evaluated", "not applicable"}
    assert "all the time" in poor["rank.masked-weights"].message
    monkeypatch.setattr(evaluate, "BATCH", 1)  # a point a batch
    late = one_of(net, X, "rank.masked-weights", monkeypatch, seconds=1e-9)
    assert (late.finding, late.checked) == ("holds", 1)


def test_what_takes_minutes_at_a_point_is_not_evaluated():
    net = some_network((2, 1100, 2))
    facts = found(net, some_data(net, 2), certify=False)
    wide = {claim for claim, each in facts.items() if each.finding == "not evaluated"}
    heavy = {n for n, each in THEOREMS.items() if each.manner & {"heavy", "spectra"}}
    assert wide == heavy


def test_the_points_that_say_most_come_first(monkeypatch):
    steep = torch.tensor([[0.5, 0.5], [3.0, 1.0], [-1.0, 2.0], [-1.0, -1.0]], dtype=torch.float64)
    net = Network.of([[[1.0, 0.0], [0.0, 1.0]], [[5.0, 0.0], [0.0, 1.0]]])
    X = steep.repeat(6, 1)
    facts = one_of(net, X, "rank.jacobian-bounds-cost", monkeypatch, points=3)
    assert facts.checked == 3
    assert facts.sides[0].point == 0  # rank two, and the largest determinant
    assert facts.sides[0].lhs == pytest.approx(5.0 + 1.0, rel=1e-12)


def test_what_balls_do_not_decide_is_not_certified(monkeypatch):
    # The balanced network is irrational, and balls cannot prove a rank of it that is not full.
    net = some_network((3, 2, 3))
    facts = one_of(net, some_data(net, 2), "bottleneck.bounded-activations", monkeypatch)
    assert facts.finding == "holds"
    assert {side.certified for side in facts.sides} == {False}
