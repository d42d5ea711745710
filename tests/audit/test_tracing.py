"""Modules with a forward of their own: what is read computes what they compute, or says why not."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit import audit
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading import model_of

from .nets import Two, forward, normal


class Scaled(nn.Linear):
    """A linear layer with a forward of its own."""

    def forward(self, x):
        return -2 * functional.linear(x, self.weight, self.bias)


class Renamed(nn.Linear):
    """One without."""


class Inner(nn.Module):
    """A chain of subclasses, two folders down."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Scaled(4, 5), Renamed(5, 3)])

    def forward(self, x):
        for place, part in enumerate(self.parts):
            x = part(torch.relu(x)) if place else part(x)
        return x


class Hand(nn.Module):
    """Parameters without layers."""

    def __init__(self):
        super().__init__()
        self.w, self.c = nn.Parameter(normal(4, 5)), nn.Parameter(normal(5, seed=1))
        self.v = nn.Parameter(normal(3, 5, seed=2))

    def forward(self, x):
        return (x @ self.w + self.c).clamp(min=0) @ self.v.T


def in_place(self, x):
    h = self.a(x)
    functional.relu(h, inplace=True)
    return self.b(h)


def layer_in_place(self, x):
    h = self.a(x)
    self.act(h)
    return self.b(h)


def on_the_input(self, x):
    x.mul_(3)
    return self.b(torch.relu_(self.a(x)))


def with_sizes(self, x):
    number, *rest = x.shape
    if x.dim() != 3 or len(rest) != 2:
        raise ValueError
    x = x.reshape(number, x.size(1) * x.shape[2])
    for _ in range(x.shape[-1] - 3):
        x = self.b(self.act(self.a(x)))
    return x


class InPlace(Two):
    """With a layer that changes what it gets."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)


CHAINS = {
    "function": (forward(lambda m, x: m.b(functional.relu(m.a(x)))), (4,), 0.0),
    "leaky": (forward(lambda m, x: m.b(functional.leaky_relu(m.a(x), 0.2))), (4,), 0.2),
    "in place": (forward(in_place), (4,), 0.0),
    "layer in place": (forward(layer_in_place, InPlace), (4,), 0.0),
    "input in place": (forward(on_the_input), (4,), 0.0),
    "sizes": (forward(with_sizes), (2, 2), 0.0),
    "casts": (forward(lambda m, x: m.b(m.act(m.a(x.float())).to(torch.float32))), (4,), 0.0),
    "dropout": (
        forward(lambda m, x: m.b(functional.dropout(m.act(m.a(x)), 0.5, m.training))),
        (4,),
        0.0,
    ),
    "used twice": (forward(lambda m, x: m.b(m.act(m.a(m.act(m.b(m.act(m.a(x)))))))), (4,), 0.0),
    "squeezed": (forward(lambda m, x: m.b(m.act(m.a(x)))[:, None].squeeze()), (4,), 0.0),
    "scaled": (
        forward(lambda m, x: 1 - m.b(m.act(m.a((x - m.mean) / 3))), mean=normal(4)),
        (4,),
        0.0,
    ),
    "subclasses": (Inner().double().eval(), (4,), 0.0),
    "parameters": (Hand(), (4,), 0.0),
    "no activation": (forward(lambda m, x: m.b(m.a(x))), (4,), 1.0),
}


@pytest.mark.parametrize(("module", "shape", "slope"), CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("known", [True, False])
def test_a_chain_in_any_class_becomes_a_model(module, shape, slope, known):
    if not known and shape != (4,):
        pytest.skip("its forward takes points of two axes alone")
    model = model_of(module, shape=shape if known else None)
    assert isinstance(model, Model)
    assert model.net.slope == slope
    x = normal(7, *shape, seed=3)
    singles = module is CHAINS["casts"][0]
    expected = (module.float()(x.float()).double() if singles else module(x.clone())).detach()
    close = 1e-5 if singles else 1e-12
    torch.testing.assert_close(model.net(x.flatten(1)), expected, rtol=close, atol=close)
    stored = math.fsum(float((p.detach().double() ** 2).sum()) for p in module.parameters())
    assert model.stored_cost == pytest.approx(stored, rel=1e-14)
    module.double()


def test_names_are_those_of_named_modules():
    model = model_of(Inner().eval())
    assert model.names == ("parts.0+parts.0.mul", "parts.1")
    assert model.parameters == (None, ("parts.1.weight", "parts.1.bias"))
    assert model_of(Hand()).parameters == (None, ("v", None))


GRAPHS = {
    "residual": (lambda m, x: x + m.b(m.act(m.a(x))), (4,)),
    "in place behind a sum": (lambda m, x: m.b(m.a((m.b(m.act(m.a(x))).add_(x)).relu_())), (4,)),
    "argument": (lambda m, x: m.b(torch.cat([m.a(x)[:, 3:].abs(), m.a(x)[:, :3]], -1)), (4,)),
    "slopes": (
        lambda m, x: m.b(functional.relu(m.a(m.b(functional.leaky_relu(m.a(x), 0.1))))),
        (4,),
    ),
    "order": (lambda m, x: m.b(m.act(m.a(x.transpose(1, 2).flatten(1)))), (2, 2)),
    "tokens": (lambda m, x: m.b(m.act(m.a(x))), (3, 4)),
    "largest": (lambda m, x: torch.maximum(m.b(m.act(m.a(x))), x), (4,)),
}


@pytest.mark.parametrize(("function", "shape"), GRAPHS.values(), ids=GRAPHS)
def test_other_networks_become_graphs(function, shape):
    module = forward(function)
    graph = model_of(module, shape=shape)
    assert isinstance(graph, Graph)
    assert graph.shape == shape
    x = normal(7, *shape, seed=3)
    expected = module(x.clone()).detach().flatten(1)
    torch.testing.assert_close(graph(x.flatten(1)), expected, rtol=1e-12, atol=1e-12)
    assert graph.parameters.keys() == dict(module.named_parameters()).keys()
    stored = math.fsum(float((p.detach() ** 2).sum()) for p in module.parameters())
    assert graph.stored_cost == pytest.approx(stored, rel=1e-14)


def test_what_follows_an_activation_that_is_not_homogeneous():
    module = forward(lambda m, x: m.b(functional.gelu(m.a(x))))
    with pytest.raises(ModelError, match=r"'gelu' \(GELU\) is not homogeneous.*another network"):
        model_of(module)
    graph = model_of(module, theorems=False)
    x = normal(5, 4)
    torch.testing.assert_close(graph(x), module(x).detach(), rtol=1e-12, atol=1e-12)
    last = forward(lambda m, x: torch.log_softmax(m.b(m.act(m.a(x))), -1))
    with pytest.raises(ModelError, match=r"ends with 'log_softmax'.*leave it out"):
        model_of(last)
    assert isinstance(model_of(last, theorems=False), Graph)
    relu = forward(lambda m, x: m.act(m.b(m.act(m.a(x)))))
    with pytest.raises(ModelError, match="ends with the activation 'act'"):
        model_of(relu)
    assert isinstance(model_of(relu, theorems=False), Graph)


def test_a_shortcut_from_what_a_layer_changed_in_place_is_that_of_the_new_tensor():
    """Of x + b(a(relu_(x))), the x is relu(x)."""
    module = forward(lambda m, x: x + m.b(m.a(m.act(x))), InPlace)
    graph = model_of(module)
    x = normal(7, 4)
    expected = module(x.clone()).detach()
    torch.testing.assert_close(graph(x), expected, rtol=1e-12, atol=1e-12)
    plain = x + module.b(module.a(x.clamp(min=0))).detach()
    assert not torch.allclose(expected, plain)
    assert module.act.inplace


def test_slopes_that_are_said_must_agree_in_graphs():
    module = forward(lambda m, x: x + m.b(m.act(m.a(x))))
    assert isinstance(model_of(module, slope=0.0), Graph)
    with pytest.raises(ModelError, match=r"said to be 0.5, and that of 'act' is 0.0"):
        model_of(module, slope=0.5)


def test_parameters_that_are_shared_count_once_under_their_first_name():
    both = forward(lambda m, x: x + m.b(m.act(m.a(x))))
    both.a, both.b = nn.Linear(4, 4).double(), nn.Linear(4, 4).double()
    both.b.weight = both.a.weight
    graph = model_of(both)
    assert list(graph.parameters) == ["a.weight", "a.bias", "b.bias"]
    assert graph.layers["b"].maps[0].parameters == ("a.weight", "b.bias")
    twice = {name: 2 * p for name, p in graph.parameters.items()}
    x = normal(4)
    for p in both.parameters():
        p.data *= 2
    torch.testing.assert_close(graph.at(x, twice), both(x[None])[0].detach())


class Arguments(Two):
    """A forward with more arguments, which have defaults."""

    def forward(self, x, mask=None, *, scale=2.0, **others):
        y = self.b(self.act(self.a(x)))
        return scale * (y if mask is None else y * mask)


def test_arguments_with_defaults_have_them():
    module = Arguments().double().eval()
    model = model_of(module)
    x = normal(5, 4)
    torch.testing.assert_close(model.net(x), module(x).detach())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_read_as_it_is(dtype):
    module = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).to(dtype)
    model = model_of(module)
    assert torch.equal(model.net.weights[0], module[0].weight.detach().double())
    name = str(dtype).removeprefix("torch.")
    assert f"stored in half precision ({name})" in model.assumed[0]


def test_what_has_no_parameters_is_no_network():
    with pytest.raises(ModelError, match="no linear layer"):
        model_of(nn.MaxPool1d(2), shape=(4,))


def test_a_residual_network_whose_parameters_are_0_is_not_0():
    module = forward(lambda m, x: x + m.b(m.act(m.a(x))))
    for p in module.parameters():
        p.data.zero_()
    assert audit(module, normal(5, 4)).words[0] == "All parameters are 0."


def test_parts_of_a_graph_have_an_input_of_one_name():
    module = forward(lambda m, x: x + m.b(m.act(m.a(x))))
    graph = model_of(module)
    for part in (graph, graph.between("a", "b")):
        names = [node.name for node in part.module.graph.nodes if node.op == "placeholder"]
        assert names == ["input"]
        assert part.shapes["input"] == part.shape
    inner = graph.between("a", "b").between("input", "act")
    x = normal(3, 6)
    torch.testing.assert_close(inner(x), torch.relu(x))


def test_a_graph_that_was_traced_by_torch_is_read():
    module = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)))
    assert model_of(module).names == ("0", "2")


def test_what_a_forward_keeps_does_not_matter():
    def keeps(self, x):
        self.kept = self.act(self.a(x))
        return self.b(self.kept)

    module = forward(keeps)
    module(normal(2, 4))
    assert module.kept.grad_fn is not None
    assert model_of(module).names == ("a", "b")
    assert module.kept.shape == (2, 6)


def test_the_module_stays_as_it_was():
    module = forward(on_the_input).float()
    before = {name: p.clone() for name, p in module.state_dict().items()}
    attributes = set(vars(module))
    graph_of(module, (4,), "torch module")
    assert set(vars(module)) == attributes
    assert module.a.weight.dtype == torch.float32
    assert torch.get_default_dtype() == torch.float32
    for name, p in module.state_dict().items():
        assert torch.equal(p, before[name])
