"""What is read computes what the file or the object computes, or is refused in one line."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from safetensors.torch import save_file, save_model
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from rankcheck.audit.model import ModelError
from rankcheck.audit.read import chain_of
from rankcheck.networks import Network

from .nets import Two, forward

L, R, N, S = nn.Linear, nn.ReLU, nn.BatchNorm1d, nn.Sequential


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


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


def same(model, function, width=None):
    X = torch.randn(40, width or model.net.widths[0], dtype=torch.float64)
    torch.testing.assert_close(model.net(X), function(X).detach(), rtol=1e-12, atol=1e-12)


def squares(parameters):
    return math.fsum(float((one.detach().double() ** 2).sum()) for one in parameters)


def refused(value, match, **more):
    with pytest.raises(ModelError, match=match) as caught:
        chain_of(value, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def saved(path, parameters):
    """Write parameters in the format of the name."""
    if path.suffix == ".safetensors":
        save_file(parameters, path)
    else:
        torch.save(parameters, path)
    return path


# Modules

CHAINS = {
    "plain": ([L(3, 5), R(), L(5, 2)], 2),
    "leaky": ([L(3, 5, bias=False), nn.LeakyReLU(-0.3), L(5, 2)], 2),
    "nested": ([nn.Flatten(), S(L(3, 5), S(R(), nn.Dropout(0.3))), L(5, 2)], 2),
    "norm before": ([L(3, 5), N(5, eps=0.1), R(), L(5, 2), N(2)], 2),
    "norm behind": ([N(3), L(3, 5), R(), N(5, affine=False), nn.Dropout(), L(5, 2)], 2),
    "norm alone": ([L(3, 5), R(), N(5), N(5), R(), L(5, 2)], 3),
    "linear": ([L(3, 5), L(5, 4, bias=False), R(), L(4, 2)], 2),
    "three": ([L(3, 4, bias=False), L(4, 5), N(5), L(5, 6), R(), L(6, 2)], 2),
    "no activation": ([L(3, 5), N(5), L(5, 2)], 2),
    "one layer": ([L(3, 2)], 1),
    "ends with ReLU": ([L(3, 5), R(), L(5, 2), R()], 3),
}  # fmt: skip


@pytest.mark.parametrize(("layers", "depth"), CHAINS.values(), ids=CHAINS)
def test_a_sequential_computes_what_was_read(layers, depth):
    module = trained(*layers)
    model = chain_of(module)
    same(model, module)
    assert model.net.depth == depth == len(model.names) == len(model.biases)
    assert model.stored_cost == pytest.approx(squares(module.parameters()), rel=1e-14)
    assert (model.guess, model.source) == ("", "torch module")


def test_what_is_folded_is_said_and_biases_that_are_none():
    model = chain_of(trained(*CHAINS["three"][0]))
    assert model.names == ("0+1+2+3", "5")
    assert "'0' and '1' and '2' and '3' have no activation" in model.folded[0]
    assert chain_of(trained(L(3, 2, bias=False), R(), L(2, 2))).biases == (False, True)
    assert chain_of(trained(L(3, 5), N(5), L(5, 2))).net.slope == 1.0
    ends = chain_of(trained(L(3, 2), R()))
    assert torch.equal(ends.net.weights[1], torch.eye(2).double())
    assert "the last layer is the identity, which costs 2" in ends.folded[0]
    assert float(ends.net.cost()) == pytest.approx(ends.stored_cost + 2)


def test_the_module_stays_as_it_is():
    module = nn.Sequential(L(3, 5), nn.Dropout(0.5), R(), L(5, 2))
    model = chain_of(module)
    assert module.training
    assert module[0].weight.dtype == torch.float32
    assert torch.equal(model.net.weights[0].float(), module[0].weight)
    assert "it was read in evaluation mode" in model.assumed[0]
    with torch.no_grad():
        module[0].weight.zero_()
    assert bool(model.net.weights[0].any())


FORWARDS = {
    "functions": lambda m, x: m.b(functional.relu(m.a(x.view(x.size(0), -1)))),
    "methods": lambda m, x: m.b(m.a(x).relu_()),
    "leaky": lambda m, x: m.b(functional.leaky_relu(m.a(x), 0.2)),
    "normalised": lambda m, x: m.b(torch.relu(m.a((x - m.mean) / 3))) * 2 + 1,
    "reflected": lambda m, x: 1 - m.b(functional.relu(m.a(0 - x))),
    "linear": lambda m, x: functional.linear(m.act(m.a(x)), m.b.weight, bias=m.b.bias),
    "sizes": lambda m, x: m.b(m.act(m.a(x.reshape(x.shape[0], x.shape[1])))),
}


@pytest.mark.parametrize("function", FORWARDS.values(), ids=FORWARDS)
def test_a_forward_of_your_own(function):
    module = forward(function, mean=torch.randn(4))
    same(chain_of(module), module)


def test_parameters_that_forward_never_uses_are_in_no_cost():
    module = forward(lambda m, x: m.b(m.act(functional.linear(x, m.a.weight))))
    model = chain_of(module)
    assert "never uses 'a.bias', so no cost counts it" in model.assumed[0]
    assert model.biases == (False, True)
    used = [module.a.weight, *module.b.parameters()]
    assert model.stored_cost == pytest.approx(squares(used))
    assert float(model.net.cost()) == pytest.approx(squares(used))


def tied():
    module = trained(L(3, 3), R(), L(3, 3, bias=False))
    module[2].weight = module[0].weight
    return module


def twice():
    layer = L(3, 3)
    return trained(layer, R(), layer)


class Counting(Two):
    def forward(self, x):
        self.calls = getattr(self, "calls", 0) + 1
        return self.b(self.act(self.a(x))) * float(self.calls)


def hooked():
    module = L(2, 2)
    module.register_forward_hook(lambda module, x, y: -y)
    return nn.Sequential(module)


def dropping(m, x):
    return m.b(functional.dropout(m.act(m.a(x) - 50)))


def in_place(m, x):
    hidden = m.a(x) + 50
    torch.relu_(hidden)  # a node that nothing uses
    return m.b(hidden)


def patched():
    module = L(2, 2)
    vars(module)["forward"] = lambda x: x
    return nn.Sequential(module)


def broken():
    module = nn.Sequential(L(2, 2))
    with torch.no_grad():
        module[0].weight[1, 0] = math.nan
    return module


def overflowing():
    module = nn.Sequential(L(2, 2), R(), L(2, 2)).double()
    with torch.no_grad():
        module[0].weight.fill_(1e200)
    return module


NO_MODULES = [
    (lambda: forward(lambda m, x: x + m.b(m.act(m.a(x)))), "joins or splits.*rankcheck.measure"),
    (lambda: forward(lambda m, x: m.b(m.act(m.a(x))) + m.b(x)), "joins or splits"),
    (lambda: forward(lambda m, x: m.b(m.act(m.a(x))) if x.sum() > 0 else x), "cannot be traced"),
    (lambda: forward(lambda m, x: m.b(m.act(m.a(x))) + torch.rand(4)), "computes something else"),
    (lambda: forward(dropping), "computes something else"),
    (lambda: forward(in_place), "computes something else"),
    (lambda: forward(lambda m, x: m.b(m.act(torch.sub(m.a(x), 50.0, alpha=2)))), "'sub' .sub. is"),
    (lambda: forward(lambda m, x: m.b(m.act(torch.add(m.a(x), 1e-9, alpha=9)))), "'add' .add. is"),
    (lambda: forward(lambda m, x: m.b(m.act(m.a(x - x.mean(0))))), "is not known|joins"),
    (lambda: forward(lambda m, x: m.b(m.act(m.a(x.float())))), "'float_1' .float. is not known"),
    (lambda: S(nn.Conv1d(1, 2, 3)), "'0' is a Conv1d, .*measures any module"),
    (lambda: S(L(2, 2), nn.Tanh(), L(2, 2)), "'1' is a Tanh"),
    (lambda: S(L(2, 2), nn.Softmax(-1)), "'1' is a Softmax"),
    (lambda: S(R(), L(2, 2)), "in front of the activation '0'"),
    (lambda: S(L(2, 2), R(), R(), L(2, 2)), "in front of the activation '2'"),
    (lambda: S(L(2, 2), R(), L(2, 2), nn.LeakyReLU(), L(2, 2)), "all must be equal"),
    (S, "no linear layer"),
    (lambda: S(R()), "no linear layer"),
    (lambda: S(L(2, 3), R(), L(2, 1)), "'2' takes 2 numbers; 3 come in"),
    (lambda: S(L(2, 2), N(2, track_running_stats=False)), "no running averages"),
    (lambda: S(parametrizations.weight_norm(L(2, 2))), "hooks or parametrisations"),
    (lambda: S(L(2, 2, device="meta")), "'0.weight' is sparse, meta"),
    (lambda: torch.jit.trace(S(L(2, 2)), torch.ones(1, 2)), "cannot be traced|is a "),
    (tied, "'2' uses a parameter of a layer before it, .*rankcheck.measure"),
    (twice, "'0' uses a parameter of a layer before it"),
    (hooked, "'0' has hooks"),
    (patched, "computes something else"),
    (broken, r"'0.weight' has the entry nan at \[1, 0\]"),
    (overflowing, "overflows"),
    (dict, "the model is a dict"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "match"), NO_MODULES)
def test_a_module_that_is_no_chain_is_refused(make, match):
    refused(make(), match)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrap", [torch.compile, nn.DataParallel])
def test_what_wraps_a_module_is_looked_through(wrap):
    module = trained(L(3, 4), R(), L(4, 2))
    same(chain_of(wrap(module)), module)


def test_the_slope_that_is_said_must_agree():
    module = S(L(2, 2), nn.LeakyReLU(0.25), L(2, 2))
    assert chain_of(module, slope=0.25).net.slope == 0.25
    refused(module, "slope is said to be 0.5, and it is 0.25", slope=0.5)
    refused(S(L(2, 2), L(2, 2)), "there is no activation between", slope=0.5)
    for slope in (2, -1, math.nan, "0", True):
        refused(module, "the slope is", slope=slope)


def test_networks_and_models_are_taken():
    net = Network.of([[[1, 2], [3, 4]], [[1, 1]]], [[1, 0], [2]], slope=0.5)
    model = chain_of(net)
    assert (model.source, model.stored_cost, model.biases) == ("network", 37.0, (True, True))
    assert model.net.describe() == net.describe()
    assert chain_of(model) is model
    identity = Network.unchecked_slope(net.weights, net.biases, 1)
    assert chain_of(identity).net.slope == 1
    refused(Network.of([torch.ones(3, 2, 2), torch.ones(3, 1, 2)]), r"batch axes \(3,\)")


# Parameters by name


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors", "anything.xyz"])
@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod.", "model.net."])
def test_parameters_compute_what_the_module_computes(tmp_path, name, prefix):
    module = trained(L(3, 6), N(6), R(), L(6, 5, bias=False), nn.Dropout(), R(), N(5), L(5, 2))
    state = {f"{prefix}{key}": one for key, one in module.state_dict().items()}
    model = chain_of(saved(tmp_path / name, state))
    same(model, module)
    assert model.stored_cost == pytest.approx(squares(module.parameters()))
    assert model.biases == (True, False, True)
    assert model.guess.startswith("ReLU was assumed; --slope 0 says")
    assert model.assumed[-1] == "the eps of the batch norms: 1e-05, the default of torch"
    assert chain_of(tmp_path / name, slope=0).guess == ""


@pytest.mark.parametrize("end", ["pt", "safetensors"])
def test_batch_norms_at_the_ends_and_two_in_a_row(tmp_path, end):
    module = trained(N(3), L(3, 4), N(4), N(4), R(), L(4, 2), N(2))
    same(chain_of(saved(tmp_path / f"m.{end}", module.state_dict())), module)


@pytest.mark.parametrize("slope", [-0.5, 1])
def test_a_slope_that_is_said(tmp_path, slope):
    module = trained(L(3, 4), nn.LeakyReLU(slope), L(4, 2))
    same(chain_of(saved(tmp_path / "m.pt", module.state_dict()), slope=slope), module)


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_read_as_the_numbers_that_it_is(tmp_path, name, dtype):
    module = S(L(3, 5), R(), L(5, 2)).to(dtype)
    model = chain_of(saved(tmp_path / name, module.state_dict()))
    assert torch.equal(model.net.weights[0], module[0].weight.detach().double())


def test_checkpoints(tmp_path):
    module = trained(L(3, 4), R(), L(4, 2))
    groups = [{"params": layer.parameters()} for layer in module]  # they share a tuple
    optimizer = torch.optim.Adam(groups)
    module(torch.randn(5, 3).double()).sum().backward()
    optimizer.step()
    more = {"epoch": 3, "optimizer": optimizer.state_dict(), "best": torch.ones(2), "note": "x"}
    path = tmp_path / "last.ckpt"
    for content in ({"state": module.state_dict()}, {"a": {"net": module.state_dict()}}):
        same(chain_of(saved(path, more | content)), module)
    same(
        chain_of(saved(path, {**module.state_dict(), "epoch": 3, "n_averaged": torch.tensor(2)})),
        module,
    )
    other = trained(L(3, 4), R(), L(4, 2))
    saved(path, more | {"model": module.state_dict(), "ema": other.state_dict()})
    refused(path, "holds 'ema' and 'model', several networks; --part")
    same(chain_of(path, part="ema"), other)
    same(chain_of(path, part="model"), module)
    refused(path, "no parameters under 'mod'; there are 'ema', 'model'", part="mod")


def linear(names, *widths):
    """A state dict of linear layers with these names."""
    pairs = zip(names.split(), itertools.pairwise(widths), strict=True)
    return {f"{name}.weight": torch.randn(m, n) for name, (n, m) in pairs}


TWO = linear("q.0 q.2", 3, 8, 1) | linear("target.0 target.2", 3, 8, 1)
SEVERAL = {
    "a model and its average": linear("net.0 net.2", 8, 4, 8) | linear("ema.0 ema.2", 8, 4, 8),
    "one and its target": TWO,
    "inside": {f"model.{name}": one for name, one in TWO.items()},
    "actor and critic": linear("actor.0 actor.2", 4, 8, 4) | linear("critic.0 critic.2", 4, 8, 1),
    "twins": linear("q1.0 q1.2", 5, 8, 1) | linear("q2.0 q2.2", 5, 8, 1),
}


@pytest.mark.parametrize("end", ["pt", "safetensors"])
@pytest.mark.parametrize("state", SEVERAL.values(), ids=SEVERAL)
def test_two_networks_in_one_file_are_named_and_one_is_chosen(tmp_path, state, end):
    path = saved(tmp_path / f"m.{end}", state)
    said = refused(path, "' are two networks, which take .*--part .* reads one", slope=0)
    part = said.split("--part '")[1].split("'")[0]
    model = chain_of(path, part=part, slope=0)
    assert (model.guess, model.net.depth) == ("", 2)
    first = state[f"{part}.0.weight"]
    assert torch.equal(model.net.weights[0], first.double())
    refused(path, "no parameters under 'nothing'; there are", part="nothing")


@pytest.mark.parametrize(
    ("names", "widths", "said"),
    [
        ("stem blocks.0.fc1 blocks.0.fc2 head", (3, 8, 32, 8, 2), "gone around: 'blocks.0.fc1'"),
        ("a layers.0.0 layers.0.2 layers.1.0 layers.1.2", (3, 8, 8, 8, 8, 8), "'layers.1'"),
        ("in res1.linear out", (3, 8, 8, 2), "gone around: 'res1.linear'"),
        ("fc1 shortcut fc2", (8, 8, 8, 8), "layers beside others, .*: 'shortcut'"),
        ("fc1 fc_mu fc_logvar", (3, 8, 8, 8), "layers beside others, .*: 'fc_mu', 'fc_logvar'"),
        ("encoder.0 encoder.2 decoder.0 decoder.2", (9, 8, 2, 8, 9), "beside others, .*'encoder"),
        ("0 2 4 6", (3, 8, 8, 8, 2), ""),
        ("net.0 net.2 net.4", (8, 3, 3, 8), ""),
        ("fc1 fc2 fc3 fc4", (8, 8, 8, 8, 8), ""),
        ("input hidden output", (3, 8, 8, 1), ""),
        ("layers.0.linear layers.1.linear layers.2.linear", (8, 8, 8, 8), ""),
        ("features.0 features.2 classifier.0", (8, 8, 8, 8), ""),
    ],
)  # fmt: skip
def test_names_that_speak_of_something_else_than_a_chain(tmp_path, names, widths, said):
    model = chain_of(saved(tmp_path / "m.pt", linear(names, *widths)), slope=0)
    assert model.net.widths == widths
    assert bool(model.guess) == bool(said)
    assert re.search(said, model.guess)


@pytest.mark.parametrize(
    ("names", "end", "order", "doubt"),
    [
        ("fc1 fc2 fc10", "safetensors", "fc1 fc2 fc10", ""),
        ("layers.0.a layers.1.a layers.11.a", "safetensors", "0 1 11", ""),
        ("second first", "pt", "second first", ""),
        ("second first", "safetensors", "first second", "no order between 'first' and 'second'"),
        ("encoder decoder", "safetensors", "decoder encoder", "no order between"),
    ],
)
def test_the_order_is_that_of_the_file_or_of_numbers(tmp_path, names, end, order, doubt):
    """Square layers chain in all orders; a safetensors file has none."""
    state = linear(names, *[4] * (len(names.split()) + 1))
    model = chain_of(saved(tmp_path / f"m.{end}", state), slope=0)
    wanted = [one for part in order.split() for one in state if f".{part}." in f".{one}"]
    for weight, name in zip(model.net.weights, wanted, strict=True):
        assert torch.equal(weight.float(), state[name])
    assert bool(model.guess) == bool(doubt)
    assert doubt in model.guess


def test_a_file_in_another_order_is_read_by_its_numbers_or_says_where_it_breaks(tmp_path):
    state = linear("0 2 4", 3, 4, 5, 2)
    path = saved(tmp_path / "m.pt", dict(reversed(state.items())))
    assert chain_of(path).net.widths == (3, 4, 5, 2)
    refused(saved(path, dict(reversed(linear("b a", 3, 4, 5).items()))), "'b' takes 3 numbers; 5 ")


def norm(place, size=4, **more):
    """Two layers, with a batch norm at this place."""
    parts = dict.fromkeys(("weight", "bias", "running_mean", "running_var"), None)
    found = {name: torch.ones(size) for name in parts} | more
    inner = {f"{place}.{name}": one for name, one in found.items()}
    return linear("0", 3, 4) | inner | linear("3", 4, 2)


ONES = torch.ones
REFUSED = [
    ({}, "no state dict|no parameters"),
    ({"a.weight": ONES(2, 2, 3, 3)}, r"'a.weight' of shape \(2, 2, 3, 3\).*rankcheck.measure"),
    (norm("1", **{"\0ias": ONES(4)}), r"'1.\\x00ias' of shape .4,. is of no"),
    ({"a.weight": ONES(3), "a.bias": ONES(3)}, "is of no linear layer"),
    ({"embedding.weight": ONES(9, 3)}, "is of no linear layer"),
    ({"a.bias": ONES(3)}, "the layer 'a' has bias and no more"),
    ({"a.weight_ih_l0": ONES(3, 3), "b.weight": ONES(3, 3)}, "'a.weight_ih_l0' of shape"),
    ({"a.weight": ONES(3, 2), "a.bias": ONES(2)}, "'a' has 3 rows and a bias of another length"),
    (linear("0 2", 3, 4, 5) | linear("4", 2, 2), "'4' takes 2 numbers; 5 come in"),
    ({"a.weight": ONES(2, 2).to(torch.complex64)}, "'a.weight' has the type torch.complex64"),
    ({"a.weight": ONES(2, 2).int()}, "'a.weight' has the type torch.int32"),
    ({"a.weight": ONES(0, 2)}, r"'a.weight' has the shape \(0, 2\)"),
    ({"a.weight": torch.tensor([[1, 2], [math.nan, 3]])}, r"'a.weight' .* nan at \[1, 0\]"),
    (norm("1", running_var=-ONES(4)), "batch norm '1' has the variance -1.0"),
    (norm("1", weight=ONES(3)), "batch norm '1' has the shapes"),
    (norm("1", 5), "'1' takes 5 numbers; 4 come in"),
    (norm("bn1"), "not certain whether the batch norm 'bn1'"),
    (norm("0a"), "not certain whether the batch norm '0a'"),
    ({"norm" + key[1:]: one for key, one in norm("1", 3).items() if key[0] == "1"}
     | linear("x", 3, 4), "not certain whether the batch norm 'norm'"),
    (trained(L(3, 4), R(), N(4), R(), L(4, 2)).state_dict(),
     "not certain whether the batch norm '2'"),
    ({f"1.{part}": ONES(4) for part in ("running_mean", "weight", "bias")}, "'1' has"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
@pytest.mark.parametrize(("parameters", "match"), REFUSED)
def test_what_is_not_understood_is_refused_by_name(tmp_path, name, parameters, match):
    refused(saved(tmp_path / name, parameters), match)


def test_layers_that_share_their_numbers_are_refused(tmp_path):
    refused(
        saved(tmp_path / "m.pt", tied().state_dict()), "'0.weight' and '2.weight' are one param"
    )
    path = tmp_path / "m.safetensors"
    save_model(tied(), path)  # it leaves one of the two out
    refused(path, "'2.weight' and '0.weight' are one param")
    W = torch.randn(3, 5)
    refused(saved(tmp_path / "m.pt", {"0.weight": W, "2.weight": W.t()}), "are one parameter")
    whole = torch.randn(6, 8)
    model = chain_of(
        saved(tmp_path / "m.pt", {"0.weight": whole[::2, 1:4], "2.weight": whole[:2, 4:7]})
    )
    assert torch.equal(model.net.weights[1].float(), whole[:2, 4:7])  # parts of a tensor are none


# scikit-learn

networks = pytest.importorskip("sklearn.neural_network", reason="compares with scikit-learn")
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 10, 100] + 5


def mlp(**options):
    options = {"hidden_layer_sizes": (5,), "max_iter": 3, "random_state": 0} | options
    return networks.MLPRegressor(**options)


FITTED = {
    "relu": lambda: mlp(hidden_layer_sizes=(6, 4)),
    "identity": lambda: mlp(activation="identity"),
    "one layer": lambda: mlp(hidden_layer_sizes=()),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # a few steps do not converge
@pytest.mark.parametrize("make", FITTED.values(), ids=FITTED)
def test_a_regressor(make):
    fitted = make().fit(X, X[:, :2] ** 2)
    model = chain_of(fitted)
    np.testing.assert_allclose(model.net(torch.from_numpy(X)), fitted.predict(X), rtol=1e-9)
    stored = sum((a**2).sum() for a in (*fitted.coefs_, *fitted.intercepts_))
    assert model.stored_cost == pytest.approx(stored)
    assert model.net.slope == (fitted.activation == "identity")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier_before_its_probabilities(classes):
    fitted = networks.MLPClassifier((5,), max_iter=5, random_state=0).fit(
        X, np.arange(30) % classes
    )
    out = chain_of(fitted).net(torch.from_numpy(X))
    p = torch.softmax(out, -1) if classes > 2 else torch.cat([1 - out.sigmoid(), out.sigmoid()], 1)
    np.testing.assert_allclose(p, fitted.predict_proba(X), rtol=1e-9)


class Other(networks.MLPRegressor):  # type: ignore[name-defined,misc]
    def predict(self, X):
        return -super().predict(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("fitted", "match"),
    [
        (lambda: mlp(activation="tanh").fit(X, X[:, 0]), "has the activation tanh"),
        (lambda: mlp(), "is not fitted; call fit first"),
        (lambda: make_pipeline(StandardScaler(), mlp()).fit(X, X[:, 0]), r"pipeline\[-1\] on"),
        (lambda: Other(max_iter=2).fit(X, X[:, 0]), "computes something else"),
    ],
)  # fmt: skip
def test_what_else_scikit_learn_has_is_refused(fitted, match):
    refused(fitted(), match)
