"""What is said of operations is true: affine, piecewise linear, of one slope, alike on rows."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.tracing import graph_of

from .nets import normal

SHAPE = (4, 6)
OPERATIONS = {
    "relu": functional.relu,
    "clamp": lambda x: x.clamp(min=0),
    "clamp_min": lambda x: torch.clamp_min(x, 0.0),
    "clamp between": lambda x: x.clamp(-0.1, 0.2),
    "clamp below": lambda x: x.clamp(max=0),
    "leaky": lambda x: functional.leaky_relu(x, 0.3),
    "softsign": functional.softsign,
    "hardswish": functional.hardswish,
    "softshrink": lambda x: functional.softshrink(x, 0.1),
    "sine": torch.sin,
    "absolute": abs,
    "square": lambda x: x**2,
    "exponential": lambda x: x.exp(),
    "root": lambda x: torch.sqrt(x * x + 1),
    "negative": lambda x: -x,
    "sum": lambda x: x + x,
    "difference": lambda x: 2 - x,
    "multiple": lambda x: 3 * x / 2,
    "product": lambda x: x * x,
    "quotient": lambda x: 1 / (x * x + 1),
    "larger": lambda x: torch.maximum(x, 0.2 * x),
    "cat": lambda x: torch.cat([x, 2 * x], -1),
    "stack": lambda x: torch.stack([x, -x], 1),
    "gate": functional.glu,
    "softmax": lambda x: x.softmax(-1),
    "log softmax": lambda x: torch.log_softmax(x, 1),
    "index": lambda x: x[:, ::2, None, 1:],
    "flip": lambda x: x.flip(-1),
    "roll": lambda x: torch.roll(x, 1, 2),
    "expand": lambda x: x[:, None].expand(-1, 3, -1, -1),
    "repeat": lambda x: x.repeat(1, 2, 1),
    "unbind": lambda x: x.unbind(1)[2],
    "split": lambda x: x.split(2, -1)[1],
    "select": lambda x: x.select(1, 0),
    "movedim": lambda x: x.movedim(1, 2),
    "pad": lambda x: functional.pad(x, (1, 2), value=0.5),
    "upsample": lambda x: functional.interpolate(x, scale_factor=2),
    "resized": lambda x: functional.interpolate(x, size=5, mode="linear"),
    "dropout": lambda x: functional.dropout(x, 0.5, training=False),
}


class Of(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize("function", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_is_what_is_said_of_it(function):
    graph = graph_of(Of(function), SHAPE, "torch module")
    x, y = normal(200, 24), normal(200, 24, seed=1)
    torch.testing.assert_close(graph(x), function(x.reshape(-1, *SHAPE)).flatten(1))
    layers = graph.layers.values()
    half = (graph(x) + graph(y)) / 2
    affine = torch.allclose(graph((x + y) / 2), half, rtol=1e-12, atol=1e-12)
    assert all(layer.affine for layer in layers) == affine
    h = 1e-4 * y
    bent = (graph(x + h) - 2 * graph(x) + graph(x - h)).abs() > 1e-12
    piecewise = bool(bent.double().mean() < 0.01)
    assert all(layer.piecewise for layer in layers) == piecewise
    for layer in layers:
        if layer.slope is not None:
            torch.testing.assert_close(graph(x), torch.where(x > 0, x, layer.slope * x))
    if all(layer.rowwise for layer in layers):
        rows = x.reshape(-1, *SHAPE).clone()
        rows[:, 0] = 7.0
        before = graph(x).reshape(200, SHAPE[0], -1)
        after = graph(rows.flatten(1)).reshape(200, SHAPE[0], -1)
        assert torch.equal(before[:, 1:], after[:, 1:])
