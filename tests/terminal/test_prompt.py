"""What a prompt shows: a few lines of everything that a user is handed."""

import pickle

import pytest
import torch

from rankcheck import Network, eq, leq
from rankcheck.balls import balls
from rankcheck.catalogue.selection import select
from rankcheck.claims.counterexample import Counterexample
from rankcheck.counterexamples.replay import replay
from rankcheck.hunt.result import Hunt
from rankcheck.instances.source import instances
from rankcheck.terminal.prompt import LINES, WIDTH
from rankcheck.verification.ledger import Ledger
from tests.report.audits import made_up


@instances
def networks_and_points(source, *, entries=2):
    W = source.tensor(1, entries)
    x = source.tensor(entries)
    return Network.linear([W]), x


@pytest.fixture
def claim(declare):
    return declare(
        lambda net, x: leq(net(x).sum(-1), net.cost()), networks_and_points(), kind="conjecture"
    )


@pytest.fixture
def row(claim, verify):
    return verify(claim)


def few(shown):
    """The lines that a prompt shows; they are few and short."""
    lines = repr(shown).splitlines()
    assert 1 <= len(lines) <= LINES
    assert all(len(line) <= WIDTH for line in lines)
    assert "tensor(" not in repr(shown)
    return lines


def test_a_claim_and_its_entry(claim):
    assert few(claim) == ["<conjecture t.made-up: A statement of the tests>"]
    [entry] = select(["rank.jacobian-bounds-cost"])
    assert few(entry) == [f"<bound rank.jacobian-bounds-cost: {entry.title}>"]


def test_a_row_is_what_verify_prints(row):
    first, second, *_ = few(row)
    assert first.startswith(
        "refuted    t.made-up  (conjecture, all 81 instances of up to 5 entries "
    )
    assert second == row.messages[0].splitlines()[0]
    assert str(row).splitlines()[1:] == row.messages[0].replace("$x$", "x").splitlines()


def test_a_counterexample_is_the_arguments_of_the_body(row, claim):
    found = row.counterexample
    assert found.net(found.x).shape == (1,)
    assert list(found.arguments) == ["net", "x"]
    assert found["x"] is found.x is found[1]
    assert {"net", "x", "relation", "certificate"} <= set(dir(found))
    assert bool(claim(*found).violated())
    assert bool(found.relation.violated())
    exact = found.exact
    assert str(balls(exact["net"](exact["x"])).sum(-1).describe()) == found.lhs
    head, instance, _, claimed, file = few(found)
    assert head.startswith("counterexample to t.made-up: lhs ")
    assert instance == f"  {found.description}"
    assert claimed.startswith("  claimed: A statement of the tests")
    assert file == f"  certificate: {row.certificate}"
    with pytest.raises(AttributeError, match="no 'y'; its arguments are net, x"):
        found.y  # noqa: B018
    with pytest.raises(KeyError):
        found["y"]


def test_what_leaves_the_process_is_its_text(row):
    """No tensor travels with a row, and none is written."""
    again = pickle.loads(pickle.dumps(row))
    assert type(again.counterexample) is Counterexample
    assert again == row
    assert again.counterexample == row.counterexample
    assert hash(again.counterexample) == hash(row.counterexample)
    assert row.counterexample.sentence in few(again.counterexample)[0]
    assert set(row.to_json()["counterexample"]) == set(Counterexample.__dataclass_fields__)


def test_a_certificate_that_is_proved_again(row, claim):
    again = replay(row.certificate, claim=claim)
    assert again.counterexample == row.counterexample
    assert again.counterexample.x.tolist() == row.counterexample.x.tolist()
    assert few(again)[0] == f"{row.certificate} is proved again: t.made-up is false"


def test_an_instance_and_its_judgement(row):
    instance = row.counterexample.instance
    [line] = few(instance)
    assert line.startswith("<instance of t.made-up: depth 1, slope 0, W_1 = ")
    [line] = few(instance.in_balls)
    assert line.startswith("<refuted (128-bit balls): ")


def test_a_hunt_that_has_not_begun(claim):
    hunt = Hunt(claim, "undecided", 3, message="t.made-up: as $x^2$\n" + "line\n" * 40)
    assert few(hunt)[:2] == [
        "undecided  t.made-up  (0.00 s, 0 instances, 0 rejected, 0 rounding, 0 shapes, 0 rounds)",
        "t.made-up: as x²",
    ]
    assert few(hunt)[-1] == "  … 28 more lines: print() shows all"
    assert str(hunt).count("line") == 40
    assert hunt.counterexample is None


def test_ledgers(row, claim):
    ledger = Ledger((row,), "quick", 0, 1.25, {})
    heading, line, total = few(ledger)
    assert heading.split()[0] == "claim"
    assert line.split()[:3] == ["t.made-up", "conjecture", "refuted"]
    assert total.startswith("1 claim: 1 REFUTED")
    many = Ledger((row,) * 99, "quick", 0, 1.25, {})
    assert len(few(many)) == LINES - 1
    assert str(many).count("t.made-up ") > 99


def test_audits():
    """The repr is what matters of an audit; printed, it is what the command prints."""
    audit = made_up()
    lines = few(audit)
    assert any(line.startswith("theorems: ") for line in lines)
    assert lines[-1] == "print() shows all of it: layers, data, theorems"
    assert len(str(audit).splitlines()) > 2 * LINES
    assert lines[0] in str(audit)


def test_networks():
    net = Network.of([[[1.0, 2.0]], [[0.1 + 0.2]]], [[0.0], [0.5]], slope=0.25)
    assert repr(net).splitlines() == [
        "Network: widths 2 → 1 → 1, slope 0.25",
        "  W_1 = [[1, 2]], b_1 = [0]",
        "  W_2 ≈ [[0.3]], b_2 = [0.5]",
    ]
    many = Network.linear([torch.zeros(3, 4, 1, 2).double()], torch.zeros(3, 4).double())
    assert repr(many) == "3 × 4 networks: widths 2 → 1, slopes of their own, 3 parameters each"
    assert repr(Network.linear([torch.zeros(8, 8).double()])) == (
        "Network: widths 8 → 8, slope 0, 72 parameters"
    )
    exact = net.map_arrays(balls)
    assert "W_1 = [[1, 2]]" in repr(exact)


def test_relations():
    one, three = torch.tensor(1.0).double(), torch.tensor([1.0, 2.0, 3.0]).double()
    assert repr(leq(one, 2, label="a")) == "<a: lhs 1 ≤ rhs 2, fails at 0 of 1 that are asserted>"
    assert repr(eq(one, 3)) == "<lhs 1 = rhs 3, fails at 1 of 1 that are asserted>"
    assert repr(leq(three, 1.5)) == "<≤ at 3 entries, fails at 2 of 3 that are asserted>"
    assert repr(leq(three, 1, where=three > 2)).endswith(", fails at 1 of 1 that are asserted>")
    assert repr(leq(balls(one), 2)) == "<lhs 1 ≤ rhs 2>"
    assert repr(leq(balls(torch.ones(99).double()), 2)) == "<≤ at 99 entries>"


def test_an_object_that_cannot_be_shown(claim):
    broken = Hunt(claim, "refuted", 0, stages=None)
    assert repr(broken).startswith("<Hunt, not shown: AttributeError")
