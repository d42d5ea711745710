"""What follows: the order of the sentences, and that every figure is the audit's own."""

from dataclasses import replace

import pytest
import torch

from rankcheck.audit import audit
from rankcheck.audit.result import Balanced, Quantiles
from rankcheck.audit.words import FREE, STEP, in_words, numbers
from rankcheck.faces.report.audit import audit_page
from rankcheck.faces.terminal.audit import brief, lines
from rankcheck.networks import Network
from tests.faces.report.audits import made_up, without_data

from .nets import model_of, normal


def facts(**changes):
    """An audit that asks for nothing, but for the changes."""
    whole = made_up(theorems=())
    layers = tuple(
        replace(one, dead=0, bent=one.shape[0], distance=None) for one in whole.layers[:-1]
    )
    whole = replace(whole, layers=(*layers, replace(whole.layers[-1], distance=None)))
    assert whole.data is not None
    whole = replace(whole, data=replace(whole.data, dead_cost=0.0))
    return replace(whole, **changes)


def step(data, gap=2 * STEP):
    """Data at most points of which the rank is not clear, where the singular values fall so."""
    return replace(data, undecided=200, gaps=Quantiles(1.1, gap, gap, gap, 30.0))


def asked(audit):
    """The sentences, of data without a bound of the cost."""
    return in_words(replace(audit, data=replace(audit.data, least_cost=None)))


def test_a_spectrum_that_falls_evenly_is_said_and_a_step_is_advice():
    whole = facts()
    assert asked(whole) == ("At 4 of 240 points s_k of Jf(x) is less than 10 times the next one: "
                            "there the rank is not clear.",)  # fmt: skip
    [said] = asked(replace(whole, data=step(whole.data, 1.2)))
    assert said.startswith("The rank 2? is undecided. At 200 of 240 points")
    assert said.endswith("without a step.")
    [said] = asked(replace(whole, data=step(whole.data)))
    assert said.endswith("more weight decay.")


def test_without_data_the_second_line_says_what_data_add():
    assert "--data FILE" in lines(without_data())[1]
    assert "--data" not in "\n".join(lines(facts()))
    assert "--data FILE" in audit_page(without_data())
    assert "--data FILE" not in audit_page(facts())
    assert not any("on the data" in one for one in in_words(without_data()))


def test_the_order_is_that_of_use():
    """A misread file, an undecided rank, what is free, what can be left out, what only carries."""
    whole = facts(theorems=made_up().theorems)
    layers = [replace(whole.layers[0], dead=3), *whole.layers[1:]]
    layers[2] = replace(layers[2], bent=0)
    layers[4] = replace(layers[4], distance=0.01)
    whole = replace(
        whole,
        layers=tuple(layers),
        balanced=Balanced(whole.model.cost * 0.84, None),
        data=replace(whole.data, dead_cost=1.5),
    )
    starts = ("1 theorem fails", "At 4", "16 % of the norm", "3 of ", "Behind layer 3", "Layer 5 ")
    for sentence, start in zip(asked(whole), starts, strict=True):
        assert sentence.startswith(start)
    assert "shallower" in asked(whole)[-1]
    assert "shallower" not in asked(replace(whole, data=step(whole.data)))[-1]


def test_a_rank_that_is_undecided_has_its_mark_wherever_it_is_named():
    whole = facts()
    whole = replace(whole, data=step(whole.data))
    whole = replace(whole, words=in_words(whole))
    assert "rank <b>2?</b>" in audit_page(whole)
    assert ">rank 2?<" in audit_page(whole)  # the line in the picture of costs
    for text in ("\n".join(lines(whole)), "\n".join(brief(whole, 30)), str(whole), repr(whole)):
        assert "\nrank 2?; cost" in text
        assert "\n* The rank 2? is undecided" in text
    assert (whole.to_json()["rank"], whole.to_json()["rank_text"]) == (2, "2?")


@pytest.mark.parametrize(("share", "said"), [(FREE / 2, False), (2 * FREE, True)])
def test_a_small_saving_is_no_advice(share, said):
    whole = facts()
    whole = replace(whole, balanced=Balanced(whole.model.cost * (1 - share), None))
    assert any("is free" in one for one in in_words(whole)) == said


def test_what_neurons_do_on_the_data():
    """Two of three neurons are dead; the third bends at 0, or not."""
    net = Network.of([[[1.0], [-1], [-1]], [[1.0, 2, 2]]], [[0, -1, -2], [0]])
    X = normal(30, 1).abs()
    found = audit(model_of(net), X, theorems=False)
    [dead] = [one for one in found.words if "never fire" in one]
    assert dead.startswith("2 of 3 hidden neurons never fire on the data (behind layer 1)")
    assert f"Without them the network costs {found.data.dead_cost:.4g} less" in dead
    assert any("single affine map" in one for one in found.words)
    both = audit(model_of(net), torch.cat((X, -0.5 * X)), theorems=False)
    assert not any("affine" in one for one in both.words)


@pytest.mark.parametrize(
    ("layers", "text"), [((2,), "layer 2"), ((1, 3, 4, 5, 9, 10), "layers 1, 3–5, 9–10")]
)
def test_ranges(layers, text):
    assert numbers(layers) == text
