"""Hidden units of graphs rescaled: the function is kept, the cost is least, and nothing else is."""

import copy
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit import ModelError, audit, balanced_parameters
from rankcheck.audit.graph import balance as graph_balance
from rankcheck.audit.graph.balance import balance, balance_inside, imbalance, rescale
from rankcheck.audit.graph.blocks import blocks
from rankcheck.audit.graph.layers import measure_maps
from rankcheck.audit.graph.scalable import scalable
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.networks import Network, balance_neurons
from tests.audit.nets import normal


def drawn(module, seed=0):
    """The module in eval mode and float64, with random parameters and averages."""
    module = module.double().eval()
    for index, p in enumerate(module.parameters()):
        p.data = normal(*p.shape, seed=seed + index) / max(1, p[0].numel()) ** 0.5
    for one in module.modules():
        if isinstance(one, nn.BatchNorm2d):
            one.running_mean = normal(one.num_features, seed=seed + 50)
            one.running_var = normal(one.num_features, seed=seed + 51).abs() + 0.1
    return module


class Convolutional(nn.Module):
    """A residual block between convolutions, norms, pooling and linear layers."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.first, self.inside = nn.Conv2d(4, 6, 3, padding=1, groups=2), nn.BatchNorm2d(6)
        self.second = nn.Conv2d(6, 4, 3, padding=1, bias=False)
        self.one, self.two = nn.Conv2d(4, 6, 3), nn.Conv2d(6, 4, 1)
        self.pool = nn.MaxPool2d(2)
        self.wide, self.last = nn.Linear(16, 5), nn.Linear(5, 3)

    def forward(self, x):
        x = functional.relu(self.norm(self.stem(x)))
        x = x + self.second(functional.relu(self.inside(self.first(x))))
        x = functional.leaky_relu(self.one(x), 0.1)
        x = self.pool(functional.relu(self.two(x))).flatten(1)
        return self.last(functional.relu(self.wide(x)))


def convolutional():
    module = drawn(Convolutional())
    return module, graph_of(module, (1, 6, 6), "made up")


def test_channels_between_norms_convolutions_and_linear_layers_are_found():
    _, graph = convolutional()
    found = {one.source.name: one for one in scalable(graph)}
    # `stem`, `first` are read by norms; `norm`, `second` are added; `last` is the output.
    assert list(found) == ["inside", "one", "two", "wide"]
    assert [list(one.reading) for one in found.values()] == [
        *(["second"], ["two"], ["wide"], ["last"])
    ]
    _, _, read = found["two"].readers[0]
    assert read.tolist() == [channel for channel in range(4) for _ in range(4)]
    enter, leave = found["inside"].balance()
    module, _ = convolutional()
    expected = (module.second.weight.detach() ** 2).sum((0, 2, 3))
    torch.testing.assert_close(leave, expected)
    torch.testing.assert_close(
        enter, module.inside.weight.detach() ** 2 + module.inside.bias.detach() ** 2
    )


def test_the_rescaled_parameters_have_the_same_function_and_are_balanced():
    module, graph = convolutional()
    X = normal(7, 36)
    found = rescale(graph, scalable(graph))
    assert found.converged
    assert found.saved > 0.1 * graph.stored_cost
    changed = copy.deepcopy(module)
    changed.load_state_dict(dict(module.state_dict()) | found.parameters)
    after = graph_of(changed, (1, 6, 6), "made up")
    torch.testing.assert_close(after(X), graph(X), rtol=1e-11, atol=1e-11)
    assert max(map(imbalance, scalable(after))) < 1e-9
    assert after.stored_cost == pytest.approx(graph.stored_cost - found.saved)
    for name in ("stem.weight", "norm.weight", "first.weight"):
        assert torch.equal(found.parameters[name], graph.parameters[name])


def test_a_chain_is_balanced_as_networks_are():
    widths = (3, 7, 6, 5, 2)
    linear = [nn.Linear(m, n) for m, n in pairwise(widths)]
    steps = [step for layer in linear for step in (layer, nn.ReLU())]
    module = drawn(nn.Sequential(*steps[:-1]))
    graph = graph_of(module, (3,), "made up")
    net = Network([x.weight.detach() for x in linear], [x.bias.detach() for x in linear])
    expected = balance_neurons(net)
    found = rescale(graph, scalable(graph))
    assert graph.stored_cost - found.saved == pytest.approx(float(expected.cost()), rel=1e-10)
    for index, weight in enumerate(expected.weights):
        torch.testing.assert_close(found.parameters[f"{2 * index}.weight"], weight)


def test_the_facts_of_a_block_are_of_its_own_units():
    _, graph = convolutional()
    found = scalable(graph)
    first, residual, last = blocks(graph)
    assert balance_inside(first.graph, found) == (None, None)
    share, cost = balance_inside(residual.graph, found)
    [inside] = [one for one in found if one.source.name == "inside"]
    assert share == imbalance(inside)
    # channel by channel, in + out becomes twice the geometric mean
    enter, leave = inside.balance()
    assert residual.graph.stored_cost - cost == pytest.approx(
        float((enter + leave - 2 * (enter * leave).sqrt()).sum())
    )
    assert balance_inside(last.graph, found)[1] < last.graph.stored_cost


def test_an_audit_has_the_costs_after_balancing():
    module, graph = convolutional()
    result = audit(module, normal(5, 1, 6, 6))
    assert result.balanced.converged
    assert result.balanced == balance(graph, scalable(graph), normal(5, 36))
    assert result.balanced.cost < 0.9 * result.model.cost
    assert result.balanced.change < 1e-12
    assert [block.balanced is None for block in result.blocks] == [True, False, False]
    layers = {layer.name: layer.imbalance for layer in result.layers}
    assert layers["stem"] is layers["last"] is None
    assert 0 < layers["inside"] < 1


class Steps(nn.Module):
    """Two linear layers with something between."""

    def __init__(self, between, inner=4, outer=None):
        super().__init__()
        self.one, self.two = nn.Linear(3, inner), nn.Linear(outer or inner, 2)
        self.gate = nn.Linear(3, inner)
        self.between = between

    def forward(self, x):
        return self.two(self.between(self, x))


def twice(self, x):
    return functional.relu(self.one(functional.relu(self.one(x))[:, :3]))


BETWEEN = {
    "GELU": (lambda self, x: functional.gelu(self.one(x)), {}, False),
    "an activation that is broken elsewhere": (
        lambda self, x: functional.relu6(self.one(x)),
        {},
        False,
    ),
    "nothing": (lambda self, x: self.one(x), {}, True),
    "a multiple": (lambda self, x: functional.relu(self.one(x)) * 0.5, {}, True),
    "a gate": (lambda self, x: functional.silu(self.gate(x)) * self.one(x), {}, True),
    "its own gate": (lambda self, x: functional.relu(self.one(x)) * self.one(x), {}, None),
    "a square": (lambda self, x: self.one(x) ** 2, {}, None),
    "a sum": (lambda self, x: self.one(x) + self.gate(x), {}, None),
    "softmax": (lambda self, x: self.one(x).softmax(-1), {}, None),
    "a mean over neurons": (
        lambda self, x: self.one(x).unflatten(1, (2, 2)).mean(1),
        {"outer": 2},
        None,
    ),
    "a maximum over neurons": (
        lambda self, x: self.one(x).unflatten(1, (2, 2)).amax(1),
        {"outer": 2},
        None,
    ),
    "one layer used twice": (twice, {}, None),
}


@pytest.mark.parametrize(("between", "options", "homogeneous"), BETWEEN.values(), ids=BETWEEN)
def test_what_may_be_between_two_maps(between, options, homogeneous):
    module = drawn(Steps(between, **options))
    graph = graph_of(module, (3,), "made up")
    found = scalable(graph)
    assert [one.homogeneous for one in found] == ([] if homogeneous is None else [homogeneous])
    X = normal(6, 3)
    scaled = rescale(graph, found)
    assert (scaled.saved > 0) == bool(homogeneous)
    changed = torch.vmap(lambda x: graph.at(x, scaled.parameters))(X)
    torch.testing.assert_close(changed, graph(X), rtol=1e-11, atol=1e-11)
    assert [imbalance(one) > 0 for one in found] == [True] * len(found)


class Tied(nn.Module):
    """A layer whose weights are those of another one."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)
        self.two.weight = self.one.weight

    def forward(self, x):
        return self.two(functional.relu(self.one(x)))


class Products(nn.Module):
    """Tokens, in another order of axes, through matrices that stand on the right."""

    def __init__(self):
        super().__init__()
        self.A, self.B = nn.Parameter(normal(3, 5)), nn.Parameter(normal(5, 2, seed=1))

    def forward(self, x):
        return (functional.relu(x.transpose(0, 1) @ self.A) @ self.B).transpose(0, 1)


def test_shared_parameters_are_left_alone():
    module = Tied().double().eval()
    graph = graph_of(module, (3,), "made up")
    assert scalable(graph) == ()
    assert balance(graph, ()).cost == graph.stored_cost


def test_matrices_that_stand_on_the_right_are_rescaled_as_they_are_stored():
    graph = graph_of(Products().eval(), (4, 3), "made up")
    [one] = scalable(graph)
    X = normal(6, 12, seed=3)
    found = rescale(graph, [one])
    torch.testing.assert_close(
        torch.vmap(lambda x: graph.at(x, found.parameters))(X), graph(X), rtol=1e-11, atol=1e-11
    )
    columns, rows = found.parameters["A"].norm(dim=0), found.parameters["B"].norm(dim=1)
    torch.testing.assert_close(columns, rows)


def test_channels_go_through_transposed_convolutions_and_resizing():
    steps = nn.ConvTranspose2d(2, 4, 3, stride=2), nn.ReLU(), nn.Upsample(scale_factor=2)
    module = drawn(
        nn.Sequential(*steps, nn.ConvTranspose2d(4, 3, 2), nn.ReLU(), nn.Conv2d(3, 1, 3))
    )
    graph = graph_of(module, (2, 3, 3), "made up")
    found = scalable(graph)
    assert [(one.source.name, one.reading) for one in found] == [("0", ("_3",)), ("3", ("_5",))]
    X = normal(4, 18)
    scaled = rescale(graph, found)
    changed = torch.vmap(lambda x: graph.at(x, scaled.parameters))(X)
    torch.testing.assert_close(changed, graph(X), rtol=1e-11, atol=1e-11)
    p = scaled.parameters
    enter = (p["0.weight"] ** 2).sum((0, 2, 3)) + p["0.bias"] ** 2
    torch.testing.assert_close(enter, (p["3.weight"] ** 2).sum((1, 2, 3)))


def test_dead_units_are_set_to_zero():
    module = drawn(
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    )
    with torch.no_grad():
        module[2].weight[1], module[2].bias[1] = 0.0, 0.0  # nothing goes in
        module[2].weight[:, 3] = 0.0  # unit 3 before it is not read
    graph = graph_of(module, (3,), "made up")
    X = normal(6, 3)
    found = rescale(graph, scalable(graph))
    assert found.converged
    assert not found.parameters["4.weight"][:, 1].any()
    assert not found.parameters["0.weight"][3].any()
    assert float(found.parameters["0.bias"][3]) == 0
    changed = torch.vmap(lambda x: graph.at(x, found.parameters))(X)
    torch.testing.assert_close(changed, graph(X), rtol=1e-11, atol=1e-11)
    assert balance(graph, scalable(graph), X).change < 1e-12


def kept(graph, found, X):
    """Rescaled parameters, after a look at whether the function is the same."""
    scaled = rescale(graph, found)
    changed = torch.vmap(lambda x: graph.at(x, scaled.parameters))(X)
    torch.testing.assert_close(changed, graph(X), rtol=1e-10, atol=1e-10)
    return scaled.parameters


def test_norms_values_and_neurons_of_a_transformer_block_are_rescaled():
    """Queries, keys and values have one parameter together, and each a part of it."""
    module = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True, norm_first=True)
    graph = graph_of(drawn(module), (5, 8), "made up")
    found = scalable(graph)
    readers = [[one.name for _, one, _ in each.readers] for each in found]
    assert [each.source.name for each in found] == ["norm1", "self_attn.v", "norm2", "linear1"]
    assert list(map(sorted, readers)) == [
        ["self_attn.k", "self_attn.q", "self_attn.v"],
        *(["self_attn.out_proj"], ["linear1"], ["linear2"]),
    ]
    p = kept(graph, found, normal(4, 40))
    inside, outside = p["self_attn.in_proj_weight"], p["self_attn.out_proj.weight"]
    torch.testing.assert_close(p["norm1.weight"] ** 2 + p["norm1.bias"] ** 2, (inside**2).sum(0))
    values, bias = inside[16:], p["self_attn.in_proj_bias"][16:]
    torch.testing.assert_close((values**2).sum(1) + bias**2, (outside**2).sum(0))
    shares = {facts.name: facts.imbalance for facts in measure_maps(graph, hidden=found)}
    assert shares["self_attn.q"] is shares["self_attn.k"] is None
    assert shares["self_attn.v"] > 0


class Heads(nn.Module):
    """Attention by hand, with two heads."""

    def __init__(self, wide=False):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(6, 6) for _ in range(3))
        self.out, self.wide = nn.Linear(6, 2), wide

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (2, 3)).transpose(1, 2) for f in (self.q, self.k, self.v))
        weights = (q @ k.transpose(-2, -1)).softmax(-1)
        seen = v.transpose(-2, -1) if self.wide else v
        mixed = weights[..., :3, :3] @ seen if self.wide else weights @ v
        mixed = mixed.transpose(-2, -1) if self.wide else mixed
        return self.out(mixed.transpose(1, 2).flatten(2))


def test_the_values_of_attention_by_hand_are_rescaled_and_not_where_it_mixes_them():
    graph = graph_of(drawn(Heads()), (5, 6), "made up")
    [one] = scalable(graph)
    assert (one.source.name, one.reading) == ("v", ("out",))
    kept(graph, [one], normal(4, 30))
    assert scalable(graph_of(drawn(Heads(wide=True)), (5, 6), "made up")) == ()


class Fork(nn.Module):
    """A norm whose numbers two layers read."""

    def __init__(self):
        super().__init__()
        self.norm, self.one, self.two = nn.LayerNorm(4), nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        x = self.norm(x)
        return self.one(x) * self.two(x)


def test_all_readers_of_a_unit_are_rescaled():
    graph = graph_of(drawn(Fork()), (5, 4), "made up")
    [one] = scalable(graph)
    assert (one.source.kind, one.reading) == ("layer norm", ("one", "two"))
    found = rescale(graph, [one])
    X = normal(6, 20)
    changed = torch.vmap(lambda x: graph.at(x, found.parameters))(X)
    torch.testing.assert_close(changed, graph(X), rtol=1e-11, atol=1e-11)
    p = found.parameters
    out = (p["one.weight"] ** 2).sum(0) + (p["two.weight"] ** 2).sum(0)
    torch.testing.assert_close(p["norm.weight"] ** 2 + p["norm.bias"] ** 2, out)


def test_the_parameters_of_an_audit_are_loaded_into_the_module():
    module, _ = convolutional()
    X = normal(5, 1, 6, 6)
    changed = copy.deepcopy(module)
    found = balanced_parameters(module, X)
    missing = changed.load_state_dict(found, strict=False)
    assert not missing.unexpected_keys
    assert not set(missing.missing_keys) & dict(module.named_parameters()).keys()
    torch.testing.assert_close(changed(X), module(X), rtol=1e-11, atol=1e-11)
    cost = sum(float((p.detach() ** 2).sum()) for p in changed.parameters())
    assert cost == pytest.approx(audit(module, X).balanced.cost)


def test_the_balanced_parameters_of_a_chain_have_the_names_of_its_module():
    module = drawn(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    changed = copy.deepcopy(module)
    found = balanced_parameters(module)
    changed.load_state_dict(found)
    X = normal(6, 3)
    torch.testing.assert_close(changed(X), module(X), rtol=1e-11, atol=1e-11)
    enter = (found["0.weight"] ** 2).sum() + (found["0.bias"] ** 2).sum()
    assert float(enter) == pytest.approx(float((found["2.weight"] ** 2).sum()))


def test_an_iteration_that_does_not_end_leaves_all_as_it_is(monkeypatch):
    module, graph = convolutional()
    monkeypatch.setattr(graph_balance, "TOLERANCE", -1.0)
    found = rescale(graph, scalable(graph))
    assert (found.converged, found.saved, found.parameters) == (False, 0.0, graph.parameters)
    with pytest.raises(ModelError, match="did not end"):
        balanced_parameters(module, normal(5, 1, 6, 6))
