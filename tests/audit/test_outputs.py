"""Outputs of somebody's own model: they are those of the network as read, or nothing is audited."""

import copy
import itertools

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from rankcheck.audit import ModelError, audit
from rankcheck.audit import outputs as outputs_
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.audit.outputs import check_outputs, outputs_of
from rankcheck.audit.reading import model_of
from rankcheck.errors import InputError


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def mlp(*widths, act=nn.ReLU):
    layers = [(nn.Linear(n, m), act()) for n, m in itertools.pairwise(widths)]
    return nn.Sequential(*itertools.chain.from_iterable(layers))[:-1].eval()


class Residual(nn.Module):
    """Three blocks; the sums and the activations stand where `form` says."""

    def __init__(self, form="sum", act=torch.relu, stem=True, head=True):
        super().__init__()
        self.form, self.act, self.stemmed, self.headed = form, act, stem, head
        self.stem, self.head = nn.Linear(5, 12), nn.Linear(12, 3)
        for i in range(3):
            self.add_module(f"blocks{i}", nn.Sequential(nn.Linear(12, 12), nn.Linear(12, 12)))

    def forward(self, x):
        act = self.act
        x = act(self.stem(x)) if self.stemmed else self.stem(x)
        for block in (self.blocks0, self.blocks1, self.blocks2):
            h = block[1](act(block[0](act(x) if self.form == "before" else x)))
            x = x + (act(h) if self.form == "inside" else h)
            x = act(x) if self.form == "whole" else x
        return self.head(act(x) if self.headed else x)


def points(count=200, width=5):
    return torch.randn(count, width)


def state(tmp_path, module):
    path = tmp_path / "m.pt"
    torch.save(module.state_dict(), path)
    return path


def told(path, X, Y, **more):
    return audit(path, X, outputs=Y, theorems=False, **more).model


def refused(path, X, Y, match, **more):
    with pytest.raises(ModelError, match=match) as caught:
        audit(path, X, outputs=Y, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Agreement


@pytest.mark.parametrize(
    ("dtype", "explained", "most"),
    [
        (torch.float64, "double precision", 1e-13),
        (torch.float32, "single precision", 1e-5),
        (torch.float16, "half precision", 0.05),
        (torch.bfloat16, "half precision|bfloat16", 0.1),
    ],
)
def test_outputs_in_any_precision_lift_the_assumption(tmp_path, dtype, explained, most):
    module, X = mlp(5, 64, 64, 64, 4), points()
    Y = copy.deepcopy(module).to(dtype)(X.to(dtype)).detach()
    for given in (Y, Y.double(), Y.double().numpy()):  # as it is, or converted
        found = told(state(tmp_path, module.to(dtype).float()), X.to(dtype).float(), given)
        assert found.outputs.points == 200
        assert found.outputs.explained in explained.split("|")
        assert 0 < found.outputs.difference < most * found.outputs.spread
        assert found.guessed == bool(found.outputs.others)
    assert told(state(tmp_path, module), X, None).guessed
    if dtype in (torch.float64, torch.float32):
        assert not found.guessed


def test_the_difference_and_the_spread_are_those_of_a_loop(tmp_path):
    module, X = mlp(5, 8, 3), points(7)
    Y = module(X).detach()
    found = told(state(tmp_path, module), X, Y).outputs
    exact = module.double()(X.double()).detach()
    assert found.difference == pytest.approx(float((exact - Y).abs().max()), rel=1e-6)
    columns = [[(y - column.mean()) ** 2 for y in column] for column in Y.double().T]
    assert found.spread == pytest.approx(float(np.sqrt(np.mean(columns))))
    share = f"{found.difference / found.spread:.1e}"
    assert found.sentence == (
        f"they agree at all 7 points, to {share} of their spread (single precision explains it)"
    )


@pytest.mark.parametrize("width", [1, 3, 300])
def test_rounding_is_no_disagreement_however_few_numbers_there_are(tmp_path, width):
    for seed, depth in itertools.product(range(5), (1, 2, 12)):
        torch.manual_seed(seed)
        module = mlp(2, *[width] * (depth - 1), 1)
        X = points(1, 2)
        told(state(tmp_path, module), X, module(X).detach())


def test_files_of_all_formats(tmp_path):
    module, X = mlp(5, 8, 3), points(9)
    path, Y = state(tmp_path, module), module(X).detach()
    np.save(tmp_path / "y.npy", Y.half().numpy())
    np.savez(tmp_path / "y.npz", X=X.numpy(), outputs=Y.numpy())
    np.savetxt(tmp_path / "y.csv", Y.numpy(), delimiter=",", fmt="%.5f")
    save_file({"Y": Y.bfloat16(), "X": X}, tmp_path / "y.safetensors")
    said = [
        told(path, X, tmp_path / f"y.{end}").outputs.explained
        for end in ("npy", "npz", "csv", "safetensors")
    ]
    assert said == ["half precision", "single precision", "rounding to 1e-05", "half precision"]
    np.savez(tmp_path / "y.npz", a=Y.numpy(), b=Y.numpy())
    refused(path, X, tmp_path / "y.npz", "one that is called outputs, Y or y")


def test_further_axes_are_flattened_and_one_output_needs_none(tmp_path):
    module, X = mlp(5, 8, 6), points(9)
    told(state(tmp_path, module), X, module(X).detach().reshape(9, 2, 3))
    module = mlp(5, 8, 1)
    told(state(tmp_path, module), X, module(X).detach()[:, 0])


def test_a_network_that_is_no_chain():
    module, X = Residual().double(), points().double()
    graph = graph_of(module, (5,), "torch module")
    Y = module(X).detach()
    found = check_outputs(graph, X, outputs_of(Y.float()))
    assert (found.explained, found.others) == ("single precision", ())
    assert check_outputs(graph, X, outputs_of(Y)).difference < 1e-12
    assert check_outputs(graph, X, outputs_of(Y.argmax(1))).kind == "classes"
    with pytest.raises(ModelError, match="They agree at all points with a softmax at the end"):
        check_outputs(graph, X, outputs_of(Y.softmax(1)))
    with pytest.raises(ModelError, match="Likely reasons"):
        check_outputs(graph, X, outputs_of(Y + 0.1))


# Classes


def test_classes_that_tell_the_network_and_classes_that_do_not(tmp_path):
    module, X = mlp(5, 32, 32, 4), points(2000)
    path, classes = state(tmp_path, module), module(X).argmax(1)
    found = told(path, X, classes)
    assert found.outputs.kind == "classes"
    assert not found.guessed
    few = told(path, X[:5], classes[:5])  # a leaky ReLU gives the same ones
    assert few.guessed
    assert few.outputs.others
    assert "so this is left open" in few.outputs.sentence
    assert not told(path, X[:5], classes[:5], slope=0).guessed
    np.savetxt(tmp_path / "y.csv", classes.numpy(), fmt="%d")
    assert told(path, X, tmp_path / "y.csv").outputs.kind == "classes"
    assert told(path, X, classes.numpy().reshape(-1, 1)).outputs.kind == "classes"


@pytest.mark.parametrize("low", [0, -1])
def test_labels_of_one_output(tmp_path, low):
    module, X = mlp(5, 16, 1), points()
    path, positive = state(tmp_path, module), (module(X) > 0)[:, 0]
    assert told(path, X, torch.where(positive, 1, low)).outputs.kind == "classes"
    wrong = refused(path, X, torch.where(positive, low, 1), "at point 0 the label is")
    assert "they differ at 200 of 200 points" in wrong


def test_a_class_that_rounding_decides_is_no_disagreement(tmp_path):
    module = nn.Sequential(nn.Linear(1, 2, bias=False))
    with torch.no_grad():
        module[0].weight[:] = torch.tensor([[1.0], [1.0 + 2.0**-23]])
    path = state(tmp_path, module)
    for one in (0, 1):
        told(path, torch.tensor([[1.0], [2.0]]), torch.tensor([one, one]))
    with torch.no_grad():
        module[0].weight[1] = 1.01
    refused(state(tmp_path, module), torch.tensor([[1.0], [2.0]]), [0, 0], "the class is 0")


# Disagreement


@pytest.mark.parametrize("form", ["sum", "whole", "inside", "before"])
@pytest.mark.parametrize("act", [torch.relu, functional.gelu])
@pytest.mark.parametrize("stem", [True, False])
def test_a_residual_network_is_not_audited_as_a_chain(tmp_path, form, act, stem):
    module, X = Residual(form, act, stem, head=form != "whole"), points()
    path = state(tmp_path, module)
    blocks = ", ".join(f"'blocks{i}.0' to 'blocks{i}.1'" for i in range(3))
    name = "GELU and " if act is functional.gelu else ""
    match = f"They agree at all points with {name}skip connections around {blocks}: audit the mod"
    said = refused(path, X, module(X).detach(), match)
    assert "they differ at 200 of 200 points" in said
    refused(path, X, module(X).argmax(1), "skip connections around", slope=0)


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (nn.GELU, "with GELU as the activation: audit the module, or its ONNX file"),
        (nn.Tanh, "with tanh as the activation"),
        (nn.LeakyReLU, r"LeakyReLU of slope 0.01 as the activation: say --slope 0.01 \(Python: sl"),
        (nn.Identity, "with the identity as the activation: say --slope 1 "),
        (nn.Hardtanh, "Likely reasons: another activation, a skip connection"),
    ],
)
def test_another_activation(tmp_path, act, match):
    module, X = mlp(5, 16, 16, 3, act=act), 3 * points()
    refused(state(tmp_path, module), X, module(X).detach(), match)


def test_the_first_point_and_both_values_are_said(tmp_path):
    module, X = mlp(5, 8, 3), points()
    Y = module(X).detach()
    Y[[7, 150], 1] += 0.25
    said = refused(state(tmp_path, module), X, Y, "not what the network as read puts out: at point")
    exact = module.double()(X.double())
    assert f"at point 7 output 1 is {Y[7, 1]:.5g}, and of the network {exact[7, 1]:.5g};" in said
    assert "they differ at 2 of 200 points by more than rounding explains. Likely reasons" in said


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda Y: Y.softmax(1), "a softmax at the end: give the outputs before it"),
        (lambda Y: Y.log_softmax(1), "a log-softmax at the end"),
        (torch.tanh, "a tanh at the end"),
        (lambda Y: Y.flip(0), "in another order of the points"),
        (lambda Y: Y * (1 + 3e-5), "Products in TF32"),
        (lambda Y: Y * 1.02, "Likely reasons"),
        (lambda Y: 0 * Y, "differ at 200 of 200"),
        (lambda Y: Y[:-1], "outputs of 199 points, and the data have 200 points"),
        (lambda Y: Y[:, :2], "2 numbers for each point, and the network puts out 3"),
        (lambda Y: Y[:, :1], "puts out 3; one for each point would be a class"),
        (lambda Y: Y.argmax(1) + 1, "the class 3; .* classes are numbered from 0 to 2"),
        (lambda Y: -Y.argmax(1), "has the class -"),
        (lambda Y: Y.argmin(1), "they are the true classes, and not those that the model predicts"),
        (lambda Y: Y / 0, r"has the entry -?inf at \[0, 0\]; all must be finite"),
        (lambda Y: Y.double().round(decimals=1), "cannot tell .* rounding to 0.1 explains"),
        (lambda Y: Y.to(torch.complex64), "is complex"),
        (lambda Y: Y[0, 0], "is a single number"),
        (lambda Y: 3, "are a int; they must be an array of numbers"),
        (lambda Y: ["a", "b"], "has the type"),
    ],
)
def test_outputs_that_are_others(tmp_path, change, match):
    module, X = mlp(5, 16, 3), points()
    refused(state(tmp_path, module), X, change(module(X).detach()), match)


def test_outputs_need_data(tmp_path):
    with pytest.raises(InputError, match="there are outputs and no data"):
        audit(state(tmp_path, mlp(5, 3)), outputs=np.ones((2, 3)))


def test_nothing_is_measured_before_outputs_agree(tmp_path):
    module, X = mlp(5, 16, 3), points(10)
    stages = []
    with pytest.raises(ModelError):
        audit(module, X, outputs=X, progress=lambda stage, *rest: stages.append(stage))
    assert stages == ["reading", "outputs"]


def test_batches_change_nothing(monkeypatch):
    model, X = model_of(mlp(5, 16, 3)), points(50).double()
    Y = model.net(X)
    whole = check_outputs(model, X, outputs_of(Y.float()))
    monkeypatch.setattr(outputs_.rounding, "HELD", 100)
    parts = check_outputs(model, X, outputs_of(Y.float()))
    assert parts.difference == pytest.approx(whole.difference, rel=1e-6)
