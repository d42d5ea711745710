"""Modules that are no function of a point, or of what is not known: one line says so."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import model_of

from .nets import Two, forward


def depends(self, x):
    return self.a(x) if x.sum() > 0 else self.b(self.a(x))


def of_a_part(self, x):
    h = self.a(x)
    h[:, :2].relu_()
    return self.b(h)


def sets(self, x):
    h = self.a(x)
    h[:, 0] = 0
    return self.b(h)


def counts(self, x):
    self.calls = getattr(self, "calls", 0) + 1
    return self.b(self.act(self.a(x))) * self.calls


def fails(self, x):
    raise KeyError("a\nb")


REFUSED = {
    "control flow": (depends, None, "depends on the values of tensors"),
    "item": (lambda m, x: m.a(x) * x.max().item(), None, "'item' makes a float of numbers"),
    "float": (lambda m, x: m.a(x) * float(x.max()), None, "makes a number of 'max_1'"),
    "numpy": (lambda m, x: m.a(x) + m.a(x).detach().numpy(), None, "'numpy' makes a ndarray"),
    "batch": (lambda m, x: m.a(x - x.mean(0)), None, "the first axis, that of the points"),
    "batch by hand": (
        lambda m, x: m.b(m.act(m.a(x))) * x.shape[0],
        None,
        "mixes the points of a batch",
    ),
    "flat": (lambda m, x: m.b(m.act(m.a(x))).sum(), None, "axis|mixes|fails"),
    "random": (lambda m, x: m.a(x + torch.randn(4).double()), None, "random numbers or a state"),
    "random like": (lambda m, x: m.a(x + torch.randn_like(x)), None, "randn_like"),
    "state": (counts, None, "random numbers or a state that changes"),
    "dropout": (lambda m, x: m.a(functional.dropout(x)), None, "drops entries at random"),
    "two outputs": (lambda m, x: (m.a(x), x), None, "returns a tuple; it must return one tensor"),
    "dict": (lambda m, x: {"y": m.a(x)}, None, "returns a dict"),
    "part in place": (of_a_part, None, "'relu_' changes 'a' in place, or a part"),
    "set": (sets, None, "changes a part of a tensor in place"),
    "constant": (lambda m, x: m.b(torch.ones(1, 6).double()), None, "does not depend on its input"),
    "error": (fails, None, "cannot be traced: KeyError"),
    "floor": (
        lambda m, x: m.b(torch.div(m.a(x), 2, rounding_mode="floor")),
        None,
        r"'div' \(div\), .* not known",
    ),
    "unknown": (lambda m, x: m.b(torch.sort(m.a(x))[0]), None, r"'sort' \(sort\), .* not known"),
}


@pytest.mark.parametrize(("function", "shape", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_function_of_a_point_is_refused_in_one_line(function, shape, match):
    module = forward(function)
    with pytest.raises(ModelError, match=match) as caught:
        model_of(module, shape=shape)
    assert "\n" not in str(caught.value)


def test_two_inputs_are_refused():
    class Both(Two):
        def forward(self, x, y):
            return self.a(x + y)

    with pytest.raises(ModelError, match=r"takes 2 inputs \(x, y\)"):
        model_of(Both())


def test_a_forward_that_asks_for_training_is_refused_in_training():
    class Noisy(Two):
        def forward(self, x):
            return self.b(self.act(self.a(x + 1 if self.training else x)))

    with pytest.raises(ModelError, match="Noisy is in training mode, and computes something else"):
        model_of(Noisy())
    assert model_of(Noisy().eval()).net.depth == 2


def test_images_need_data():
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)).eval()
    with pytest.raises(ModelError, match=r"'0' \(Conv2d\) does not take .*; if .* give data"):
        model_of(module)
    with pytest.raises(ModelError, match=r"does not take a point of shape \(2, 4, 4\): '0'"):
        model_of(module, shape=(2, 4, 4))
    graph = model_of(module, shape=(1, 4, 4))
    x = torch.randn(3, 1, 4, 4)
    torch.testing.assert_close(graph(x.flatten(1).double()).float(), module(x).detach())


def test_indices_are_no_points():
    with pytest.raises(ModelError, match=r"'0' \(Embedding\) takes whole numbers"):
        model_of(nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 2)))
