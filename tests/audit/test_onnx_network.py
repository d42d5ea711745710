"""ONNX models that are no chain: what is read computes what the module computed, or is refused."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from rankcheck.audit import audit
from rankcheck.audit.graph.blocks import blocks
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading import read_model

onnx = pytest.importorskip("onnx", reason="reading ONNX needs the extra `onnx`")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(6, 8), nn.Linear(8, 3)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 8)) for _ in range(2)
        )

    def forward(self, x):
        x = functional.relu(self.stem(x))
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


class Convolutions(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.c1, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.c2 = nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(8, 8, 3, padding=1, groups=2, bias=False)
        self.fc, self.pool = nn.Linear(8, 5), pool

    def forward(self, x):
        x = self.pool(functional.relu(self.norm(self.c1(x))))
        x = functional.relu(self.c2(x))
        x = functional.relu(x + self.c3(x))
        return self.fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Transformer(nn.Module):
    """One block; the attention is `kind`."""

    def __init__(self, kind, approximate="none"):
        super().__init__()
        self.kind = kind
        self.n1, self.n2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.mlp = nn.Sequential(nn.Linear(8, 12), nn.GELU(approximate), nn.Linear(12, 8))
        self.head = nn.Linear(8, 3)
        if kind == "module":
            self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        else:
            self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        for norm in (self.n1, self.n2):  # the exporter stores equal arrays once
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)

    def attend(self, x):
        if self.kind == "module":
            return self.attn(x, x, x, need_weights=False)[0]
        N, T, d = x.shape
        q, k, v = (y.view(N, T, 2, d // 2).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        if self.kind == "by hand":
            y = (q @ k.transpose(-2, -1) / math.sqrt(d // 2)).softmax(-1) @ v
        else:
            causal = self.kind == "causal"
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(N, T, d))

    def forward(self, x):
        x = x + self.attend(self.n1(x))
        x = x + self.mlp(self.n2(x))
        return self.head(x.mean(1))


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(16, 4)
        self.scale = nn.Parameter(torch.randn(4))

    def forward(self, x):
        y = torch.cat((functional.relu(self.a(x)), functional.relu(self.b(x))), 1)
        y = self.c(y) * self.scale
        return torch.cat((y[:, :2] - y[:, 2:], y[:, [0]] * 2, -y[:, 1].unsqueeze(1)), 1)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.b(torch.relu(self.a(torch.relu(self.a(x) + x))))


class Between(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(6, 8), nn.Linear(8, 3), act

    def forward(self, x):
        return self.b(self.act(self.a(x)))


def exported(path, module, shape, batch=1, dynamic=True, opset=17, folding=True):
    """Write a module, in double precision, as the exporter does it."""
    x = torch.randn(batch, *shape, dtype=torch.float64)
    names = {"input_names": ["x"], "output_names": ["y"]}
    axes = {"x": {0: "N"}, "y": {0: "N"}} if dynamic else None
    torch.onnx.export(
        module, (x,), path, dynamo=False, opset_version=opset, do_constant_folding=folding,
        dynamic_axes=axes, **names,
    )  # fmt: skip
    return path


def trained(module, shape):
    module = module.double()
    module(torch.randn(9, *shape, dtype=torch.float64))  # batch norms have averages
    return module.eval()


def close(read, module, shape, atol=1e-10):
    X = torch.randn(7, *shape, dtype=torch.float64)
    found = read.net(X.flatten(1)) if isinstance(read, Model) else read(X.flatten(1))
    torch.testing.assert_close(found, module(X).detach().flatten(1), rtol=0, atol=atol)


MODULES = {
    "residual": (Residual, (6,), {"sum": 2, "ReLU": 3}),
    "maxima": (lambda: Convolutions(nn.MaxPool2d(2)), (1, 8, 8), {"max pooling": 1, "Conv2d": 3}),
    "means": (
        lambda: Convolutions(nn.AvgPool2d(3, 2, 1)), (1, 8, 8), {"mean pooling": 2, "sum": 1}
    ),
    "attention by hand": (lambda: Transformer("by hand"), (5, 8), {"GELU": 1, "layer norm": 2}),
    "fused attention": (lambda: Transformer("fused"), (5, 8), {"matrix product": 2, "softmax": 1}),
    "causal attention": (lambda: Transformer("causal", "tanh"), (5, 8), {"softmax": 1, "GELU": 1}),
    "module of attention": (lambda: Transformer("module"), (5, 8), {"softmax": 1, "Linear": 5}),
    "parts": (Parts, (6,), {"concatenation": 2, "difference": 1}),
    "shared": (Shared, (6,), {"Linear": 3, "sum": 1}),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # the exporter is called the old one
@pytest.mark.parametrize("how", [
    {}, {"opset": 14}, {"folding": False, "batch": 2}, {"dynamic": False},
], ids=["as is", "old operators", "not folded", "one point"])  # fmt: skip
@pytest.mark.parametrize("name", MODULES)
def test_the_graph_computes_what_the_module_computes(tmp_path, name, how):
    make, shape, titles = MODULES[name]
    module = trained(make(), shape)
    path = exported(tmp_path / "m.onnx", module, shape, **how)
    read = read_model(path, shape=shape, theorems=False)
    assert isinstance(read, Graph)
    close(read, module, shape)
    found = Counter(layer.title for layer in read.layers.values())
    assert {title: found[title] for title in titles} == titles
    if "Conv2d" in found and how != {"folding": False, "batch": 2}:
        return  # the exporter folds batch norms, which changes the parameters
    cost = sum(float((p.detach() ** 2).sum()) for p in module.parameters())
    assert read.stored_cost == pytest.approx(cost)


@pytest.mark.filterwarnings("ignore")
def test_layers_and_parameters_have_the_names_of_the_module(tmp_path):
    module = trained(Transformer("by hand"), (5, 8))
    read = read_model(exported(tmp_path / "m.onnx", module, (5, 8)), shape=(5, 8), theorems=False)
    assert set(read.parameters) == {name for name, _ in module.named_parameters()}
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(read.parameters[name], parameter.detach(), rtol=0, atol=0)
    named = [one.name for layer in read.layers.values() for one in layer.maps]
    assert named == ["n1", "qkv", "out", "n2", "mlp.0", "mlp.2", "head"]
    module = trained(Residual(), (6,))
    read = read_model(exported(tmp_path / "m.onnx", module, (6,)))
    assert [one.name for one in blocks(read)][1:3] == ["blocks.0", "blocks.1"]
    assert [one.kind for one in blocks(read)] == ["chain", "residual", "residual", "chain"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("act", "title"),
    [
        (nn.Tanh(), "Tanh"), (nn.Sigmoid(), "Sigmoid"), (nn.GELU(), "GELU"), (nn.SiLU(), "SiLU"),
        (nn.GELU("tanh"), "GELU"), (nn.ELU(), "ELU"), (nn.SELU(), "SELU"), (nn.Mish(), "Mish"),
        (nn.Softplus(), "Softplus"), (nn.ReLU6(), "ReLU6"), (nn.Hardtanh(), "Hardtanh"),
        (nn.Softmax(-1), "softmax"),
    ],
)  # fmt: skip
def test_other_activations_are_measured_without_theorems(tmp_path, act, title):
    module = trained(Between(act), (6,))
    path = exported(tmp_path / "m.onnx", module, (6,))
    read = read_model(path, theorems=False)
    assert [layer.title for layer in read.layers.values()] == ["Linear", title, "Linear"]
    close(read, module, (6,), atol=1e-7)  # the exporter has constants in single precision
    if title != "softmax":
        with pytest.raises(ModelError, match=rf"{title}\).*not homogeneous.*--no-theorems"):
            read_model(path)


@pytest.mark.filterwarnings("ignore")
def test_a_chain_in_another_form_is_a_model(tmp_path):
    class Scaled(nn.Sequential):
        def forward(self, x):
            return super().forward((x - 0.5) / 2.0)

    module = trained(Scaled(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), (6,))
    read = read_model(exported(tmp_path / "m.onnx", module, (6,)))
    assert isinstance(read, Model)
    assert read.net.widths == (6, 8, 3)
    close(read, module, (6,))


@pytest.mark.filterwarnings("ignore")
def test_an_audit_of_a_file_is_that_of_the_module(tmp_path):
    module = trained(Residual(), (6,))
    path = exported(tmp_path / "m.onnx", module, (6,))
    X = torch.randn(20, 6, dtype=torch.float64)
    file, here = audit(path, X, outputs=module(X).detach()), audit(module, X)
    assert file.model.outputs.explained == "double precision"
    assert file.model.cost == pytest.approx(here.model.cost)
    assert file.rank == here.rank
    for one, two in zip(file.data.singular_values, here.data.singular_values, strict=True):
        assert one.median == pytest.approx(two.median)
    assert [block.name for block in file.blocks] == [block.name for block in here.blocks]
    with pytest.raises(ModelError, match="not what the network as read puts out"):
        audit(path, X, outputs=module(2 * X).detach())


# Operators that the exporter does not write

DRAW = np.random.default_rng(0)
CONSTANTS = {
    "W": DRAW.normal(size=(4, 6)),
    "b": DRAW.normal(size=4),
    "K": DRAW.normal(size=(3, 2, 3)),
    "six": DRAW.normal(size=6),
    "g": DRAW.normal(size=6),
    "two": np.array(2.0),
    "zero": np.array([0.0]),
    "to_parts": np.array([2, 4]),
    "at": np.array([1]),
    "first": np.array([0, 2]),
    "second": np.array(1),
    "start": np.array([1]),
    "end": np.array([1 << 60]),
    "step": np.array([2]),
    "sides": np.array([0, 0, 1, 0, 0, 2]),
    "infinite": np.array([0.0, -np.inf, 0, 0, 0, -np.inf]),
    "chosen": np.array([True, False, True, True, False, True]),
    "minus": np.array([-1]),
    "last": np.array([2]),
    "g2": DRAW.normal(size=2),
    "b2": DRAW.normal(size=2),
}


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def written(path, nodes, axes=("N", 6), opset=21, constants=CONSTANTS):
    used = {name for one in nodes for name in one.input}
    proto = helper.make_model(
        helper.make_graph(
            nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.DOUBLE, axes)],
            [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
            [numpy_helper.from_array(constants[n], n) for n in sorted(used & constants.keys())],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
    )
    path.write_bytes(proto.SerializeToString())
    return path, proto


ROW, IMAGE = ("N", 6), ("N", 2, 3)
GRAPHS = {
    "parts of sizes": (ROW, [
        node("Split", "x to_parts", "p q", axis=1), node("Concat", "q p", "y", axis=1),
    ]),
    "equal parts": (ROW, [
        node("Split", "x", "p q r", axis=1, num_outputs=3), node("Sub", "p r", "s"),
        node("Mul", "s q", "y"),
    ]),
    "every other": (ROW, [node("Slice", "x start end at step", "y")]),
    "some": (ROW, [node("Gather", "x first", "y", axis=1)]),
    "one": (IMAGE, [node("Gather", "x second", "y", axis=1)]),
    "a mask": (ROW, [node("Add", "x infinite", "s"), node("Softmax", "s", "y")]),
    "chosen": (ROW, [node("Where", "chosen x two", "y")]),
    "one side": (IMAGE, [node("Pad", "x sides", "p"), node("Relu", "p", "y")]),
    "a convolution with another padding on each side": (IMAGE, [
        node("Conv", "x K", "y", pads=[2, 0]),
    ]),
    "by shape": (IMAGE, [
        node("Shape", "x", "s"), node("Gather", "s first", "t"),
        node("Concat", "t minus", "sizes", axis=0), node("Reshape", "x sizes", "r"),
        node("Mul", "r r", "y"),
    ]),
    "largest": (IMAGE, [node("ReduceMax", "x at", "y", keepdims=0)]),
    "total": (IMAGE, [node("ReduceSum", "x at", "y")]),
    "over all": (IMAGE, [node("GlobalAveragePool", "x", "y")]),
    "gelu": (ROW, [node("Gelu", "x", "h", approximate="tanh"), node("Gelu", "h", "y")]),
    "layer norm": (ROW, [node("LayerNormalization", "x six g", "y", axis=-1, epsilon=0.1)]),
    "group norm": (IMAGE, [node("GroupNormalization", "x g2 b2", "y", num_groups=2)]),
    "a product and a sum": (ROW, [
        node("Transpose", "W", "T", perm=[1, 0]), node("MatMul", "x T", "p"),
        node("Add", "b p", "h"), node("Tanh", "h", "r"), node("Mul", "r two", "y"),
    ]),
    "cut off": (ROW, [
        node("Clip", "x zero", "p"), node("Neg", "p", "q"), node("Mul", "x q", "y"),
    ]),
    "axes": (ROW, [
        node("Unsqueeze", "x at", "u"), node("Transpose", "u", "t", perm=[0, 2, 1]),
        node("Relu", "t", "r"), node("Add", "r t", "s"), node("Squeeze", "s last", "y"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_operators_compute_what_the_reference_evaluator_computes(tmp_path, name):
    axes, nodes = GRAPHS[name]
    path, proto = written(tmp_path / "m.onnx", nodes, axes)
    read = read_model(path, theorems=False)
    x = DRAW.normal(size=(5, *axes[1:]))
    one_by_one = [ReferenceEvaluator(proto).run(None, {"x": x[i : i + 1]})[0] for i in range(5)]
    found = read(torch.from_numpy(x.reshape(5, -1)))
    expected = np.concatenate(one_by_one).reshape(5, -1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-12)


# What is refused


RELU = node("Relu", "x", "r")
#: Each has twice as many numbers as the one before.
DOUBLED = [node("Concat", f"v{i} v{i}", f"v{i + 1}", axis=-1) for i in range(40)]
REFUSED = [
    ([RELU, node("Loop", "r", "y")], {}, r"the node 'y' \(Loop\) is not known; write the network"),
    ([RELU, node("Relu", "r", "y", domain="mine")], {}, r"\(mine.Relu\) is not known"),
    ([RELU, node("Erf", "r", "y")], {}, r"\(Erf\) is not known"),
    ([RELU, node("Conv", "r K", "y", mode=1)], {}, "attribute 'mode', which is not known"),
    ([node("Conv", "x K", "y", auto_pad="SAME_UPPER")], {"axes": IMAGE}, "pads by b'SAME_UPPER'"),
    ([RELU, node("Sub", "x b", "y")], {}, r"'y' \(Sub\) does not take what it gets.*6\), \(4,\)"),
    ([RELU, node("ReduceMean", "r", "y", axes=[0])], {"opset": 17}, "goes over the first axis"),
    ([RELU, node("ReduceMean", "r", "y")], {"opset": 17}, "goes over all axes, that of the points"),
    ([RELU, node("Softmax", "r", "y", axis=0)], {}, "mixes the points of a batch|first axis"),
    ([node("Slice", "x at to_parts second", "s"), node("Sub", "s x", "y")], {}, "'s' .Slice. does"),
    ([RELU, node("Add", "r x", "y")], {"axes": ("N", "K")}, "does not declare the sizes of a poin"),
    ([RELU, node("Add", "r x", "y")], {"shape": (5,)}, r"of shape \(5,\); the network takes"),
    ([RELU, node("Add", "r nan", "y")], {}, "'nan' has the entry nan"),
    ([node("Transpose", "x", "t"), node("Sub", "t t", "y")], {}, r"an output of shape \(6, 1\)"),
    ([node("ConstantOfShape", "huge", "c"), node("Add", "x c", "y")], {}, "at most"),
    ([node("Range", "second far two", "c"), node("Sub", "x c", "y")], {}, "at most"),
    ([node("Gather", "x many", "p"), node("Sub", "x p", "y")], {}, "takes parts in 2 axes"),
    ([*DOUBLED, node("Add", "x v40", "y")], {}, r"\(Concat\) has the shape .* at most"),
    ([node("Mul", "x x", "v0"), *DOUBLED, node("Tanh", "v40", "y")], {}, "the shape .* at most"),
    ([node("MatMul", "W x", "y")], {"axes": (6, 6)}, "a constant by points; the other order"),
    ([node("Gemm", "x x", "y")], {}, "does not multiply points by a constant matrix"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "more", "match"), REFUSED)
def test_what_is_not_understood_is_refused_by_the_name_of_the_node(tmp_path, nodes, more, match):
    more = dict(more)
    shape = more.pop("shape", None)
    odd = {
        "nan": np.full(6, np.nan),
        "huge": np.array([1 << 40]),
        "far": np.array(1 << 50),
        "many": np.zeros((2, 2), dtype=np.int64),
        **({} if nodes[0].output[0] == "v0" else {"v0": np.ones(6)}),
    }
    path, _ = written(tmp_path / "m.onnx", nodes, constants={**CONSTANTS, **odd}, **more)
    with pytest.raises(ModelError, match=match) as caught:
        read_model(path, shape=shape, theorems=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ['x"); raise SystemExit(3); ("', "forward", "training", "class", "a..b", ".", "w\n.x",
     "é.weight", "stored.weight", "_modules", "a.forward"],
)  # fmt: skip
def test_a_name_is_a_name_and_never_code(tmp_path, name):
    constants = {name: DRAW.normal(size=(6, 4)), f"{name}.more": DRAW.normal(size=4)}
    nodes = [
        helper.make_node("MatMul", ["x", name], ["h"], name=name),
        helper.make_node("Add", ["h", f"{name}.more"], ["t"], name=name),
        helper.make_node("Tanh", ["t"], ["y"], name=name),
    ]
    path, _ = written(tmp_path / "m.onnx", nodes, constants=constants)
    read = read_model(path, theorems=False)
    x = DRAW.normal(size=(3, 6))
    expected = np.tanh(x @ constants[name] + constants[f"{name}.more"])
    np.testing.assert_allclose(read(torch.from_numpy(x)), expected, rtol=1e-12)
    assert read.stored_cost == pytest.approx(sum((one**2).sum() for one in constants.values()))


@pytest.mark.filterwarnings("ignore")
def test_a_graph_for_several_points_is_read_where_it_can_be_taken_at_one(tmp_path):
    module = trained(Convolutions(nn.Identity()), (1, 8, 8))
    path = exported(tmp_path / "m.onnx", module, (1, 8, 8), batch=3, dynamic=False)
    close(read_model(path), module, (1, 8, 8))
    module = trained(Transformer("module"), (5, 8))
    path = exported(tmp_path / "m.onnx", module, (5, 8), batch=3, dynamic=False)
    with pytest.raises(ModelError, match="is written for 3 points at once: export it for one"):
        read_model(path, theorems=False)
