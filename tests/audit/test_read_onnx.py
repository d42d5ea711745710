"""ONNX: what is read computes what the reference evaluator of onnx computes, or is refused."""

import sys

import numpy as np
import pytest
import torch
from torch import nn

from rankcheck.audit.model import ModelError
from rankcheck.audit.read import chain_of

onnx = pytest.importorskip("onnx", reason="reading ONNX needs the extra `onnx`")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

DRAW = np.random.default_rng(0)
#: Constants by name; float64 unless a test wants less.
CONSTANTS = {
    "W": DRAW.normal(size=(5, 3)),
    "Wt": DRAW.normal(size=(3, 5)),
    "b": DRAW.normal(size=5),
    "row": DRAW.normal(size=(1, 5)),
    "V": DRAW.normal(size=(2, 5)),
    "Vt": DRAW.normal(size=(5, 2)),
    "U": DRAW.normal(size=(5, 5)),
    "c": DRAW.normal(size=2),
    "mean": DRAW.normal(size=(1, 1, 1, 3)),
    "three": DRAW.normal(size=3),
    "column": DRAW.normal(size=(5, 1)),
    "g": DRAW.normal(size=5),
    "v": DRAW.uniform(0.5, 2, size=5),
    "negative": -np.ones(5),
    "zero": np.zeros(5),
    "rate": np.array(0.5),
    "fifty": np.array(50.0),
    "on": np.array(True),
    "off": np.array(False),
    "to_rows": np.array([0, -1]),
    "to_one": np.array([-1, 1]),
    "whole": np.ones((5, 3), dtype=np.int64),
    "large": np.ones(3000),
    "nan": np.full((5, 3), np.nan),
}


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs.split(), [output], name=f"{kind}_{output}", **attributes)


def model(*nodes, axes=("N", 3), opset=18, output="y", inputs=("x",), kind=TensorProto.DOUBLE):
    used = {name for one in nodes for name in one.input}
    return helper.make_model(
        helper.make_graph(
            list(nodes),
            "network",
            [helper.make_tensor_value_info(name, kind, axes) for name in inputs],
            [helper.make_tensor_value_info(output, kind, ["N", "M"])],
            [numpy_helper.from_array(CONSTANTS[n], n) for n in sorted(used & CONSTANTS.keys())],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
    )


@pytest.fixture
def read(tmp_path):
    def reading(proto, **more):
        path = tmp_path / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        return chain_of(path, **more)

    return reading


FIRST = node("Gemm", "x W b", "h", transB=1)
RELU = node("Relu", "h", "r")
LAST = node("Gemm", "r V c", "y", transB=1)
ACAS = [
    node("Sub", "x mean", "z"), node("Flatten", "z", "f"), node("MatMul", "f Wt", "p"),
    node("Add", "p b", "h"), RELU, node("MatMul", "r Vt", "q"), node("Add", "q c", "y"),
]  # fmt: skip
CONSTANT = helper.make_node("Constant", [], ["K"], value=numpy_helper.from_array(CONSTANTS["W"]))
CHAINS = {
    "gemm": ([FIRST, RELU, LAST], {}),
    "untransposed": ([node("Gemm", "x Wt", "h"), RELU, node("Gemm", "r Vt", "y")], {}),
    "factors": ([node("Gemm", "x W b", "h", transB=1, alpha=0.5, beta=-2.0), RELU, LAST], {}),
    "ACAS Xu": (ACAS, {"axes": (1, 1, 1, 3), "opset": 8}),
    "oldest": ([FIRST, RELU, LAST], {"opset": 7}),
    "a row for a bias": ([node("Gemm", "x W row", "h", transB=1), RELU, LAST], {}),
    "leaky": ([FIRST, node("LeakyRelu", "h", "r", alpha=0.25), LAST], {}),
    "ends with ReLU": ([FIRST, RELU, node("Gemm", "r Vt", "s"), node("Relu", "s", "y")], {}),
    "transposed": ([node("Transpose", "W", "T"), node("MatMul", "x T", "h"), RELU, LAST], {}),
    "identities": ([
        node("Identity", "W", "I"), node("Identity", "x", "z"),
        node("Gemm", "z I b", "h", transB=1),
        node("Dropout", "h", "d"), node("Relu", "d", "e"), node("Dropout", "e rate off", "r"), LAST,
    ], {}),
    "norms": ([
        node("Gemm", "x W b", "a", transB=1),
        node("BatchNormalization", "a g b g v", "h", epsilon=0.1), RELU, LAST,
    ], {}),
    "shifts": ([
        FIRST, node("Relu", "h", "a"), node("Sub", "b a", "d"), node("Mul", "d g", "e"),
        node("Div", "e v", "r"), LAST,
    ], {}),
    "constant": ([CONSTANT, node("Gemm", "x K b", "h", transB=1), RELU, LAST], {}),
    "no activation": ([FIRST, node("Gemm", "h V c", "y", transB=1)], {}),
    "consecutive": ([node("Gemm", "x Wt", "a"), node("Gemm", "a U", "h"), RELU, LAST], {}),
    "reshaped": ([node("Reshape", "x to_rows", "f"), node("Gemm", "f Wt", "h"), RELU, LAST],
                 {"axes": ("N", 1, 3)}),
    "no sizes": ([FIRST, RELU, LAST], {"axes": ("N", "K")}),
    "output in the middle": ([FIRST, RELU, LAST, node("Sigmoid", "y", "s")], {}),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "more"), CHAINS.values(), ids=CHAINS)
def test_the_network_computes_what_the_reference_evaluator_computes(read, nodes, more):
    proto = model(*nodes, **more)
    onnx.checker.check_model(proto)
    found = read(proto)
    X = DRAW.normal(size=(20, 3))
    shape = [1, *(n if isinstance(n, int) else 3 for n in more.get("axes", ("N", 3))[1:])]
    evaluator = ReferenceEvaluator(proto)
    expected = [evaluator.run(None, {"x": x.reshape(shape)})[0][0] for x in X]
    np.testing.assert_allclose(found.net(torch.from_numpy(X)), expected, rtol=1e-12, atol=1e-12)


def test_names_and_costs_are_those_of_the_constants(read):
    found = read(model(FIRST, RELU, LAST))
    assert (found.names, found.biases) == (("W", "V"), (True, True))
    assert found.stored_cost == pytest.approx(sum((CONSTANTS[n] ** 2).sum() for n in "WbVc"))
    assert float(found.net.cost()) == pytest.approx(found.stored_cost)


def test_lower_precision_is_read_as_the_numbers_that_it_is(read, monkeypatch):
    monkeypatch.setitem(CONSTANTS, "W", CONSTANTS["W"].astype(np.float32))
    nodes = [node("Gemm", "x W", "h", transB=1), node("LeakyRelu", "h", "y", alpha=0.1)]
    found = read(model(*nodes, kind=TensorProto.FLOAT), slope=0.1)
    assert np.array_equal(found.net.weights[0].numpy(), CONSTANTS["W"].astype(np.float64))
    assert found.net.slope == float(np.float32(0.1))


@pytest.mark.filterwarnings("ignore")  # the exporter is called the old one
@pytest.mark.parametrize("folding", [True, False])
def test_what_torch_exports_is_read(tmp_path, folding):
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Flatten(), nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(8, 4, bias=False), nn.ReLU(), nn.Linear(4, 2),
    ).double()  # fmt: skip
    x = torch.randn(9, 2, 3, dtype=torch.float64)
    module(x)
    module.eval()
    path = tmp_path / "m.onnx"
    torch.onnx.export(module, (x[:1],), path, dynamo=False, do_constant_folding=folding)
    found = chain_of(path)
    np.testing.assert_allclose(found.net(x.reshape(9, 6)), module(x).detach(), rtol=1e-10)
    assert found.names[-1] == "7"


def external(proto):
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def shorter(proto):
    tensor = proto.graph.initializer[0]
    tensor.raw_data = tensor.raw_data[:-8]


def announcing(proto):
    proto.graph.initializer[0].dims[:] = [1 << 20, 1 << 20]


def twice(proto):
    proto.graph.initializer.append(proto.graph.initializer[0])


def with_function(proto):
    proto.functions.add(name="Relu", domain="")


def huge(proto):
    """A node beside the chain that makes 2⁶⁰ numbers."""
    shape = numpy_helper.from_array(np.array([1 << 30, 1 << 30]), "huge")
    proto.graph.initializer.append(shape)
    proto.graph.node.append(helper.make_node("ConstantOfShape", ["huge"], ["other"]))


G, B = "Gemm", "BatchNormalization"
REFUSED = [
    ([FIRST, RELU, node("Add", "r h", "s"), node(G, "s V c", "y", transB=1)], {}, None,
     r"'Add_s' \(Add\) takes 2 computed tensors, .*rankcheck.measure"),
    ([FIRST, node("Sigmoid", "h", "r"), LAST], {}, None, r"\(Sigmoid\) is not read"),
    ([FIRST, node("Relu", "h", "r", domain="mine"), LAST], {}, None, r"mine.Relu\) is not read"),
    ([FIRST, RELU, LAST], {"output": "lost"}, None, "nothing computes 'lost'"),
    ([FIRST, RELU, LAST], {"inputs": ("x", "z")}, None, "2 inputs and 1 outputs"),
    ([FIRST, RELU, LAST], {"opset": 6}, None, "opset 6; 7 is the oldest"),
    ([FIRST, RELU, LAST], {}, external, "'[VWbc]' has its numbers in another file"),
    ([FIRST, RELU, LAST], {}, shorter, "cannot be read as an ONNX model"),
    ([FIRST, RELU, LAST], {}, announcing, "cannot be read as an ONNX model"),
    ([FIRST, RELU, LAST], {}, twice, "two constants"),
    ([FIRST, RELU, LAST], {}, with_function, "defines functions of its own"),
    ([node(G, "x whole", "y", transB=1)], {}, None, "'whole' has the type torch.int64"),
    ([node(G, "x nan", "y", transB=1)], {}, None, r"'nan' has the entry nan at \[0, 0\]"),
    ([node(G, "x W b", "y", transA=1)], {}, None, r"'Gemm_y' \(Gemm\) is not read"),
    ([node(G, "W x", "y")], {}, None, "is not read with what it is given"),
    ([node(G, "x x", "y")], {}, None, "takes 2 computed tensors"),
    ([node(G, "x b", "y")], {}, None, "'b' is no matrix"),
    ([node(G, "x U", "h"), RELU, node(G, "r U", "y")], {"axes": ("N", 5)}, None, "another layer"),
    ([FIRST, RELU, node(G, "r W", "y", transB=1)], {}, None, "'W' is no matrix, or one that"),
    ([FIRST, node("Add", "h three", "r"), LAST], {}, None, "'Add_r' takes 3 numbers; 5 come in"),
    ([FIRST, node("Add", "h column", "r"), LAST], {}, None, "'column' of shape .5, 1. is no row"),
    ([FIRST, node("Div", "h zero", "r"), LAST], {}, None, "is not read with"),
    ([FIRST, node(B, "h g b g negative", "r"), LAST], {}, None, "variance -1"),
    ([FIRST, node("Dropout", "h rate on", "r"), LAST], {}, None, "computes something else"),
    ([FIRST, node("Sub", "h fifty", "s"), node("Relu", "s", "u"), node("Dropout", "u rate on", "r"),
      LAST], {}, None, "computes something else"),
    ([node("Reshape", "x to_one", "f"), node(G, "f Wt", "y")], {}, None, "the graph fails"),
    ([node("MatMul", "x Wt", "y")], {"axes": ("N", 2, 3)}, None, "the graph fails"),
    ([node("Transpose", "x", "f"), node("MatMul", "f Wt", "y")], {}, None, "is not read"),
    ([node("Relu", "h", "h")], {"output": "h"}, None, "nothing computes 'h'"),
    ([], {}, None, "has 0 nodes"),
    ([node("Sub", f"x{i or ''} large", f"x{i + 1}") for i in range(200)], {"output": "x200"}, None,
     "'large' is used too often for a file of this size"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "more", "change", "match"), REFUSED)
def test_what_is_no_chain_is_refused(read, nodes, more, change, match):
    proto = model(*nodes, **more)
    if change is not None:
        change(proto)
    with pytest.raises(ModelError, match=match) as caught:
        read(proto)
    assert "\n" not in str(caught.value)


def test_what_leads_elsewhere_is_not_evaluated(read):
    proto = model(FIRST, RELU, LAST)
    huge(proto)
    assert read(proto).net.widths == (3, 5, 2)


@pytest.mark.parametrize("raw", [b"\x08\x08\xff\xff", b"weights", b"\x08", bytes(100)])
def test_what_is_no_onnx_file(tmp_path, raw):
    path = tmp_path / "m.onnx"
    path.write_bytes(raw)
    with pytest.raises(ModelError, match=r"cannot be read as an ONNX model|has 0 nodes"):
        chain_of(path)


def test_without_the_package_the_error_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "network"  # the name need not have a known ending
    path.write_bytes(model(FIRST, RELU, LAST).SerializeToString())
    assert chain_of(path).source == "ONNX"
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelError, match=r"pip install 'rankcheck\[onnx\]'"):
        chain_of(path)
