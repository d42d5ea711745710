"""Modules of torch: what is read computes what the module computes, and the rest is refused."""

import math

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import model_of
from rankcheck.networks import Network


def trained(*layers):
    """A Sequential in float64 and eval mode, with running averages and factors of batch norms."""
    module = nn.Sequential(*layers)
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm1d):
            nn.init.normal_(layer.running_mean)
            nn.init.uniform_(layer.running_var, 0.3, 2)
            if layer.affine:
                nn.init.normal_(layer.weight)
                nn.init.normal_(layer.bias)
    return module.double().eval()


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def stored(module):
    """The sum of squares of all that an optimiser would have changed."""
    return math.fsum(float((p.detach() ** 2).sum()) for p in module.parameters())


L, R, N = nn.Linear, nn.ReLU, nn.BatchNorm1d
MODULES = {
    "plain": lambda: [L(3, 5), R(), L(5, 2)],
    "slopes": lambda: [L(3, 5, bias=False), nn.LeakyReLU(-0.3), L(5, 2)],
    "nested": lambda: [
        nn.Flatten(),
        nn.Sequential(L(3, 5), nn.Sequential(R(), nn.Dropout(0.3))),
        nn.Identity(),
        L(5, 2),
    ],
    "norm before": lambda: [L(3, 5), N(5, eps=0.1), R(), L(5, 2), N(2)],
    "norm behind": lambda: [N(3), L(3, 5), R(), N(5, affine=False), nn.Dropout(), L(5, 2)],
    "norm alone": lambda: [L(3, 5), R(), N(5), N(5), R(), L(5, 2)],
    "linear": lambda: [L(3, 5), L(5, 4, bias=False), R(), L(4, 2)],
    "three": lambda: [L(3, 4, bias=False), L(4, 5), N(5), L(5, 6), R(), L(6, 2)],
    "no activation": lambda: [L(3, 5), N(5), L(5, 2)],
    "one layer": lambda: [L(3, 2)],
}


@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_the_network_computes_what_the_module_computes(make):
    module = trained(*make())
    x = torch.randn(40, 3, dtype=torch.float64)
    model = model_of(module)
    torch.testing.assert_close(model.net(x), module(x).detach(), rtol=1e-12, atol=1e-12)
    assert model.stored_cost == pytest.approx(stored(module), rel=1e-14)
    assert len(model.names) == len(model.parameters) == model.net.depth


def test_what_is_folded_is_said_and_costs_are_kept_apart():
    model = model_of(trained(*MODULES["norm before"]()))
    assert model.names == ("0+1", "3+4")
    assert model.parameters == (None, None)
    assert model.folded == (
        "the batch norm '1' was folded into '0'",
        "the batch norm '4' was folded into '3'",
    )
    assert model.stored_cost != pytest.approx(float(model.net.cost()))
    model = model_of(trained(*MODULES["linear"]()))
    assert model.folded == ("'0' and '1' have no activation between them: they are one affine map",)
    assert model.parameters == (None, ("3.weight", "3.bias"))
    model = model_of(trained(*MODULES["nested"]()))
    assert model.parameters == (("1.0.weight", "1.0.bias"), ("3.weight", "3.bias"))
    assert model.assumed == ("points are flattened to vectors, as '0' does",)


def test_without_activation_the_depth_is_kept_with_slope_1():
    model = model_of(trained(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4), nn.Linear(4, 2)))
    assert (model.net.depth, model.net.slope) == (3, 1.0)
    assert model.names == ("0+1", "2", "3")
    assert model_of(trained(nn.Linear(3, 2))).net.slope == 0
    assert model_of(nn.Linear(3, 2)).parameters == (("weight", "bias"),)


def test_shared_layers_are_stored_once():
    linear = nn.Linear(3, 3)
    module = trained(linear, nn.ReLU(), linear, nn.ReLU(), nn.Linear(3, 1))
    model = model_of(module)
    assert model.stored_cost == pytest.approx(stored(module), rel=1e-14)
    assert "'0' is used several times" in model.assumed[0]
    two = trained(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3, bias=False))
    two[2].weight = two[0].weight
    model = model_of(two)
    assert model.stored_cost == pytest.approx(stored(two), rel=1e-14)
    assert "'0' and '2' share their parameters" in model.assumed[0]


def test_single_precision_is_exact_and_the_module_stays():
    module = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    model = model_of(module)
    assert torch.equal(model.net.weights[0].float(), module[0].weight)
    before = model.net.weights[0].clone()
    with torch.no_grad():
        module[0].weight.zero_()
    assert torch.equal(model.net.weights[0], before)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)

    def forward(self, x):
        return -self.net(x)


class Negative(nn.Linear):
    def forward(self, x):
        return -super().forward(x)


def hooked():
    module = nn.Linear(2, 2)
    module.register_forward_hook(lambda module, x, y: -y)
    return module


def patched():
    module = nn.Linear(2, 2)
    vars(module)["forward"] = lambda x: x
    return module


def broken():
    module = nn.Linear(2, 2)
    with torch.no_grad():
        module.weight[1, 0] = math.nan
    return module


def test_a_sequential_of_another_name_is_one():
    class Renamed(nn.Sequential):
        pass

    assert model_of(Renamed(L(2, 2), R(), L(2, 1))).net.depth == 2


REFUSED = [
    (lambda: [L(2, 2), nn.ReLU()], r"ends with the activation '1'.*audit .* module\[:-1\]"),
    (lambda: [L(2, 2), nn.Tanh(), L(2, 2)], r"'1' \(Tanh\) is not homogeneous.*--no-theorems"),
    (lambda: [L(2, 2), nn.ReLU6(), L(2, 2)], r"'1' \(ReLU6\) is not homogeneous"),
    (lambda: [L(2, 2), nn.Tanh()], r"ends with '1' \(Tanh\); leave it out"),
    (lambda: [L(2, 2), nn.Softmax(-1)], r"ends with '1' \(softmax\); leave it out"),
    (lambda: [L(2, 2), nn.Hardshrink(), L(2, 2)], r"'1' \(Hardshrink\), which is not known; write"),
    (list, "no linear layer"),
    (lambda: [nn.ReLU()], "no linear layer"),
    (lambda: [nn.Flatten(), nn.ReLU()], "no linear layer"),
    (lambda: [hooked()], "'0': Linear has hooks"),
    (lambda: [patched()], "no linear layer"),
    (lambda: [parametrizations.weight_norm(L(2, 2))], "remove_parametrizations first"),
    (
        lambda: [L(2, 3), R(), L(2, 1)],
        r"'2' \(Linear\) does not take .* of shape \(3,\)",
    ),
    (lambda: [nn.Flatten(0), L(2, 2)], "fails at 3 points at once"),
    (lambda: [L(2, 2, device="meta")], "'0.weight' is a meta tensor"),
    (lambda: [broken()], r"'0.weight' has the entry nan at \[1, 0\]"),
    (lambda: [L(2, 2), nn.BatchNorm1d(2, track_running_stats=False)], "no running"),
]


@pytest.mark.parametrize(("make", "match"), REFUSED)
def test_what_is_no_such_network_is_refused_by_name_and_place(make, match):
    with pytest.raises(ModelError, match=match) as caught:
        model_of(nn.Sequential(*make()).eval())
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")  # TorchScript is called old
@pytest.mark.parametrize(
    ("wrap", "match"),
    [
        (torch.jit.script, "has RecursiveScriptModule; its forward, of torch.jit"),
        (lambda module: torch.jit.trace(module, torch.ones(1, 2)), "has TopLevelTracedModule;"),
        (
            lambda module: torch.ao.quantization.quantize_dynamic(module, {nn.Linear}),
            "has '0': Linear, which is quantised",
        ),
        (torch.compile, r"has OptimizedModule, which wraps another one; audit its \._orig_mod"),
        (nn.DataParallel, r"has DataParallel, which wraps another one; audit its \.module"),
    ],
)
def test_wrapped_modules_are_refused(wrap, match):
    module = nn.Sequential(L(2, 2), nn.ReLU(), L(2, 1)).eval()
    with pytest.raises(ModelError, match=match):
        model_of(wrap(module))


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.BatchNorm1d(2)])
def test_training_mode_is_refused(layer):
    module = nn.Sequential(L(2, 2), layer, nn.ReLU(), L(2, 1))
    with pytest.raises(ModelError, match=r"'1': \w+ is in training mode; call module.eval\(\)"):
        model_of(module)
    assert model_of(module.eval()).net.depth == 2


def test_overflow_is_an_error():
    module = nn.Sequential(L(2, 2), nn.ReLU(), L(2, 2)).double()
    with torch.no_grad():
        module[0].weight.fill_(1e200)
    with pytest.raises(ModelError, match="sum of squares of the parameters overflows"):
        model_of(module)


def test_the_slope_that_is_said_must_agree():
    module = nn.Sequential(L(2, 2), nn.LeakyReLU(0.25), L(2, 2))
    assert model_of(module, slope=0.25).net.slope == 0.25
    with pytest.raises(ModelError, match=r"slope is said to be 0.5, and that of '1' is 0.25"):
        model_of(module, slope=0.5)
    for slope in (2, -1, math.nan, "0", True):
        with pytest.raises(ModelError, match="the slope is"):
            model_of(module, slope=slope)


def test_networks_and_models_are_taken():
    net = Network.of([[[1, 2], [3, 4]], [[1, 1]]], [[1, 0], [2]], slope=0.5)
    model = model_of(net)
    assert (model.source, model.stored_cost) == ("network", 37.0)
    assert model.net.describe() == net.describe()
    assert model_of(model) is model
    identity = Network.unchecked_slope(net.weights, net.biases, 1)
    assert model_of(identity).net.slope == 1
    batch = Network.of([torch.ones(3, 2, 2), torch.ones(3, 1, 2)])
    with pytest.raises(ModelError, match=r"batch axes \(3,\)"):
        model_of(batch)
    with pytest.raises(ModelError, match="the model is a dict"):
        model_of({})
