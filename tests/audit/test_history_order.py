"""Which number of the names is the step, and in which order checkpoints come."""

import pytest

from rankcheck.audit.history.order import natural, ordered, steps_of

CASES = {
    ("step_10.pt", "step_9.pt", "step_100.pt"): ([9, 10, 100], "“step”"),
    ("epoch=1-step=20.ckpt", "epoch=0-step=10.ckpt"): ([10, 20], "“step”"),
    ("epoch_2_loss0.5.pt", "epoch_10_loss0.25.pt"): ([2, 10], "“epoch”"),
    ("v2_seed3_0100.pt", "v2_seed3_0020.pt"): ([20, 100], "their numbers"),
    ("checkpoint-500/model.pt", "checkpoint-1000/model.pt"): ([500, 1000], "“checkpoint”"),
    ("net.10.safetensors", "net.9.safetensors"): ([9, 10], "“net”"),
    ("iter3.pt",): ([3], "“iter”"),
}


@pytest.mark.parametrize("names", CASES)
def test_the_step_is_found_in_the_names(names):
    steps, said = CASES[names]
    order = ordered(names, [None] * len(names))
    assert list(order.steps) == steps
    assert said in order.said
    assert sorted(order.places) == list(range(len(names)))


def test_what_the_steps_are():
    assert ordered(["epoch1.pt", "epoch2.pt"], [0, 0]).unit == "epoch"
    assert ordered(["step1.pt", "step2.pt"], [0, 0]).unit == "step"
    assert ordered(["a1.pt", "a2.pt"], [0, 0]).unit == "step"


def test_two_numbers_that_could_be_the_step_are_none():
    names = ["run1_20.pt", "run2_3.pt", "run1_3.pt"]
    assert steps_of(names) == (None, [None] * 3)
    order = ordered(names, [3.0, 2.0, 1.0])
    assert order.said == "in the natural order of their names"
    assert [names[n] for n in order.places] == ["run1_3.pt", "run1_20.pt", "run2_3.pt"]


def test_a_name_without_a_number_leads_to_the_times():
    names, times = ["step_1.pt", "last.pt", "step_2.pt"], [1.0, 3.0, 2.0]
    order = ordered(names, times)
    assert [names[n] for n in order.places] == ["step_1.pt", "step_2.pt", "last.pt"]
    assert order.steps == (None, None, None)
    assert order.said == "by time of writing, since “last.pt” has no number"
    assert ordered(["b.pt", "a.pt"], [1.0, 2.0]).said == "by time of writing"


def test_the_order_can_be_asked_for():
    names, times = ["step_1.pt", "step_2.pt"], [2.0, 1.0]
    assert ordered(names, times, "time").places == (1, 0)
    assert ordered(names, times, "time").said == "by time of writing"
    assert ordered(names, times, "names").steps == (1, 2)
    assert ordered(["b.pt", "a.pt"], times, "names").places == (1, 0)
    given = ordered(["step_2.pt", "step_1.pt"], times, "given")
    assert (given.places, given.steps) == ((0, 1), (None, None))  # they do not rise
    assert ordered(names, times, "given").steps == (1, 2)
    assert ordered([], []).places == ()


def test_numbers_are_sorted_by_their_size():
    assert sorted(["a10b2", "a9", "a10b10", "a"], key=natural) == ["a", "a9", "a10b2", "a10b10"]
