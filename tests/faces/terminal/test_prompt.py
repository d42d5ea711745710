"""What a prompt shows: a few lines of everything that a user is handed."""

import pickle

import pytest
import torch

from rankcheck import Network, eq, leq
from rankcheck.balls import balls
from rankcheck.claims.counterexample import Counterexample
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.engine.hunt.result import Hunt
from rankcheck.engine.verification.ledger import Ledger
from rankcheck.faces.terminal.prompt import LINES, WIDTH
from rankcheck.theory.instances.source import instances


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
    few(found)
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


def test_ledgers(row, claim):
    many = Ledger((row,) * 99, "quick", 0, 1.25, {})
    assert len(few(many)) == LINES - 1
    assert str(many).count("t.made-up ") > 99


def test_relations():
    one = torch.tensor(1.0).double()
    assert repr(leq(one, 2, label="a")) == "<a: lhs 1 ≤ rhs 2, fails at 0 of 1 that are asserted>"
    assert repr(eq(one, 3)) == "<lhs 1 = rhs 3, fails at 1 of 1 that are asserted>"


def test_an_object_that_cannot_be_shown(claim):
    broken = Hunt(claim, "refuted", 0, stages=None)
    assert repr(broken).startswith("<Hunt, not shown: AttributeError")
