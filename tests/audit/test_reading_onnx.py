"""ONNX: what is read computes what the reference evaluator of onnx computes, or is refused."""

import sys

import numpy as np
import pytest
import torch
from torch import nn

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import read_model

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
    "three": DRAW.normal(size=3),
    "g": DRAW.normal(size=5),
    "m": DRAW.normal(size=5),
    "v": DRAW.uniform(0.5, 2, size=5),
    "negative": -np.ones(5),
    "scalar": np.array(1.5),
    "rate": np.array(0.5),
    "on": np.array(True),
    "off": np.array(False),
    "to_rows": np.array([0, -1]),
    "to_three": np.array([-1, 3]),
    "to_six": np.array([-1, 6]),
    "half": np.ones((5, 3), dtype=np.float16),
    "whole": np.ones((5, 3), dtype=np.int64),
    "nan": np.full((5, 3), np.nan),
}


HALF = "they are read as the numbers that they are, and all is computed in double precision"


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs.split(), [output], name=f"{kind}_{output}", **attributes)


def model(*nodes, axes=("N", 3), opset=18, output="y", inputs=("x",)):
    used = {name for one in nodes for name in one.input}
    return helper.make_model(
        helper.make_graph(
            list(nodes),
            "network",
            [helper.make_tensor_value_info(name, TensorProto.DOUBLE, axes) for name in inputs],
            [helper.make_tensor_value_info(output, TensorProto.DOUBLE, ["N", "M"])],
            [numpy_helper.from_array(CONSTANTS[n], n) for n in sorted(used & CONSTANTS.keys())],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
    )


@pytest.fixture
def read(tmp_path):
    def reading(proto, **more):
        path = tmp_path / "m.onnx"
        path.write_bytes(proto.SerializeToString())
        return read_model(path, **more)

    return reading


FIRST = node("Gemm", "x W b", "h", transB=1)
RELU = node("Relu", "h", "r")
LAST = node("Gemm", "r V c", "y", transB=1)
CHAINS = {
    "gemm": [FIRST, RELU, LAST],
    "untransposed": [node("Gemm", "x Wt", "h"), RELU, node("Gemm", "r Vt", "y")],
    "factors": [node("Gemm", "x W b", "h", transB=1, alpha=0.5, beta=-2.0), RELU, LAST],
    "matmul": [
        node("MatMul", "x Wt", "p"), node("Add", "p b", "h"), RELU,
        node("MatMul", "r Vt", "q"), node("Add", "c q", "y"),
    ],
    "a row for a bias": [node("Gemm", "x W row", "h", transB=1), RELU, LAST],
    "leaky": [FIRST, node("LeakyRelu", "h", "r", alpha=0.25), LAST],
    "leaky by default": [FIRST, node("LeakyRelu", "h", "r"), LAST],
    "transposed constant": [
        node("Transpose", "W", "T", perm=[1, 0]), node("MatMul", "x T", "h"), RELU, LAST,
    ],
    "identities": [
        node("Identity", "W", "I"), node("Identity", "x", "z"),
        node("Gemm", "z I b", "h", transB=1),
        node("Dropout", "h", "d"), node("Relu", "d", "e"), node("Dropout", "e rate off", "r"), LAST,
    ],
    "norm before": [
        node("Gemm", "x W b", "a", transB=1),
        node("BatchNormalization", "a g b m v", "h", epsilon=0.1), RELU, LAST,
    ],
    "norm behind": [
        FIRST, node("Relu", "h", "a"), node("BatchNormalization", "a g b m v", "r"), LAST,
    ],
    "shift behind": [FIRST, node("Relu", "h", "a"), node("Add", "a b", "r"), LAST],
    "no activation": [FIRST, node("Gemm", "h V c", "y", transB=1)],
    "consecutive": [node("Gemm", "x W b", "a", transB=1), node("Gemm", "a U", "h"), RELU, LAST],
    "constant": [
        helper.make_node("Constant", [], ["K"], value=numpy_helper.from_array(CONSTANTS["W"])),
        node("Gemm", "x K b", "h", transB=1), RELU, LAST,
    ],
}  # fmt: skip


@pytest.mark.parametrize("nodes", CHAINS.values(), ids=CHAINS)
def test_the_network_computes_what_the_reference_evaluator_computes(read, nodes):
    proto = model(*nodes)
    onnx.checker.check_model(proto)
    found = read(proto)
    x = DRAW.normal(size=(20, 3))
    [expected] = ReferenceEvaluator(proto).run(None, {"x": x})
    np.testing.assert_allclose(found.net(torch.from_numpy(x)), expected, rtol=1e-12, atol=1e-12)
    used = [name for one in nodes for name in one.input if name in CONSTANTS]
    used += ["W"] * any(one.op_type == "Constant" for one in nodes)
    cost = sum((CONSTANTS[n] ** 2).sum() for n in set(used) if n not in ("m", "v", "rate", "off"))
    assert found.stored_cost == pytest.approx(cost)


IMAGES = {
    "flatten": [node("Flatten", "x", "f"), node("Gemm", "f M", "y")],
    "flatten before": [node("Flatten", "x", "f", axis=1), node("Gemm", "f M", "y")],
    "reshape to rows": [node("Reshape", "x to_rows", "f"), node("MatMul", "f M", "y")],
    "reshape to six": [node("Reshape", "x to_six", "f"), node("MatMul", "f M", "y")],
}


@pytest.mark.parametrize("nodes", IMAGES.values(), ids=IMAGES)
def test_images_are_flattened(read, monkeypatch, nodes):
    monkeypatch.setitem(CONSTANTS, "M", DRAW.normal(size=(6, 2)))
    proto = model(*nodes, axes=("N", 2, 3))
    found = read(proto)
    x = DRAW.normal(size=(7, 2, 3))
    [expected] = ReferenceEvaluator(proto).run(None, {"x": x})
    np.testing.assert_allclose(found.net(torch.from_numpy(x.reshape(7, 6))), expected, rtol=1e-12)
    assert "flattened to vectors" in found.assumed[0]


def test_the_mask_of_a_dropout_may_be_named_but_not_used(read):
    dropout = helper.make_node("Dropout", ["a"], ["h", "mask"])
    nodes = [node("Gemm", "x W b", "a", transB=1), dropout, RELU, LAST]
    assert read(model(*nodes)).net.widths == (3, 5, 2)
    beside = node("Identity", "mask", "other")  # nothing depends on it
    assert read(model(*nodes, beside)).net.widths == (3, 5, 2)
    with pytest.raises(ModelError, match="takes 'mask', which no node before it computes"):
        read(model(*nodes[:2], node("Add", "h mask", "r"), LAST))


def test_names_of_parameters_are_those_stored_as_they_are(read):
    found = read(model(*CHAINS["gemm"]))
    assert found.parameters == (("W", "b"), ("V", "c"))
    assert found.names == ("W", "V")
    assert read(model(*CHAINS["matmul"])).parameters == (None, None)
    assert read(model(*CHAINS["factors"])).parameters == (None, ("V", "c"))


def test_half_precision_is_said(read, monkeypatch):
    monkeypatch.setitem(CONSTANTS, "W", CONSTANTS["W"].astype(np.float16))
    found = read(model(*CHAINS["gemm"]))
    assert found.assumed == ("parameters are stored in half precision (float16): " + HALF,)
    assert np.array_equal(found.net.weights[0].numpy(), CONSTANTS["W"].astype(np.float64))


def test_a_chain_that_declares_no_width_is_read_by_its_matrices(read):
    found = read(model(*CHAINS["gemm"], axes=("N", "K")))
    assert found.net.widths == (3, 5, 2)


def test_single_precision_is_exact(read, monkeypatch):
    monkeypatch.setitem(CONSTANTS, "W", CONSTANTS["W"].astype(np.float32))
    found = read(model(*CHAINS["gemm"]))
    assert np.array_equal(found.net.weights[0].numpy(), CONSTANTS["W"].astype(np.float64))
    nodes = [FIRST, node("LeakyRelu", "h", "r", alpha=0.1), LAST]
    assert read(model(*nodes), slope=0.1).net.slope == float(np.float32(0.1))
    with pytest.raises(ModelError, match=r"slope is said to be 0.2"):
        read(model(*nodes), slope=0.2)


@pytest.mark.parametrize("nodes", [["Gemm"], ["Gemm", "Softmax"]])
def test_half_precision_is_read_as_the_numbers_that_it_is(read, nodes):
    last = [node("Softmax", "h", "y")] * (len(nodes) > 1)
    found = read(
        model(node("Gemm", "x half", "h" if last else "y", transB=1), *last), theorems=False
    )
    assert "stored in half precision (float16)" in " ".join(found.assumed)
    assert found.stored_cost == 15.0


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
    torch.onnx.export(module, (x,), path, dynamo=False, do_constant_folding=folding)
    found = read_model(path)
    np.testing.assert_allclose(found.net(x.reshape(9, 6)), module(x).detach(), rtol=1e-10)
    assert found.parameters[-1] == ("7.weight", "7.bias")


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


def sparse(proto):
    proto.graph.sparse_initializer.add()


RESHAPED = [node("Reshape", "x to_three", "f"), node("MatMul", "f Wt", "y")]
REFUSED = [
    ([FIRST, RELU], {"output": "r"}, None, "ends with the activation 'Relu_r'.*export the network"),
    ([FIRST, node("Sigmoid", "h", "r"), LAST], {}, None, "not homogeneous.*--no-theorems"),
    ([FIRST, node("Relu", "h", "r", domain="mine"), LAST], {}, None, r"mine.Relu\) is not known"),
    ([FIRST, RELU, LAST], {"output": "lost"}, None, "'lost' does not depend on the input"),
    ([FIRST, RELU, LAST], {"inputs": ("x", "z")}, None, "2 inputs and 1 outputs"),
    ([FIRST, RELU, LAST], {"opset": 7}, None, "opset 7; 9 is the oldest"),
    ([FIRST, RELU, LAST], {}, external, "'V' has its numbers in another file"),
    ([FIRST, RELU, LAST], {}, shorter, r"'V' cannot be read as an array of the shape \(2, 5\)"),
    ([FIRST, RELU, LAST], {}, announcing, "'V' has the shape .* at most"),
    ([FIRST, RELU, LAST], {}, twice, "two constants 'V'"),
    ([FIRST, RELU, LAST], {}, with_function, "defines functions of its own"),
    ([FIRST, RELU, LAST], {}, sparse, "sparse initializers"),
    ([node("Gemm", "x whole", "y", transB=1)], {}, None, "'whole' has the type 'int64'"),
    ([node("Gemm", "x nan", "y", transB=1)], {}, None, r"'nan' has the entry nan at \[0, 0\]"),
    ([node("Gemm", "x W b", "y", transA=1)], {}, None, "transposes the data"),
    ([node("Gemm", "W x", "y")], {}, None, "does not multiply points by a constant"),
    ([node("Gemm", "x x", "y")], {}, None, "does not multiply points by a constant"),
    ([node("Gemm", "x b", "y")], {}, None, "does not multiply points by a constant matrix"),
    ([FIRST, RELU, node("Gemm", "r W", "y", transB=1)], {}, None, r"'Gemm_y' .* shapes \(1, 5\)"),
    ([FIRST, node("Add", "h three", "r"), LAST], {}, None, r"'Add_r' .* \(3,\)"),
    ([FIRST, node("BatchNormalization", "h g b m negative", "r"), LAST], {}, None, "variance -1"),
    ([node("BatchNormalization", "x g b m v", "y", training_mode=1)], {}, None, "training mode"),
    ([FIRST, node("Dropout", "h rate on", "r"), LAST], {}, None, "is in training mode"),
    ([node("Flatten", "x", "f", axis=0), node("Gemm", "f W", "y")], {}, None, "from axis 0"),
    (RESHAPED, {"axes": ("N", 6)}, None, r"makes an output of shape \(2, 5\)"),
    (RESHAPED, {"axes": ("N", "K", "L")}, None, "does not declare the sizes of a point"),
    ([node("Transpose", "x", "f"), node("MatMul", "f Wt", "y")], {}, None, "'MatMul_y' .* shapes"),
    ([node("Relu", "x", "y", mode="fast")], {}, None, "attribute 'mode', which is not known"),
    ([FIRST, node("Loop", "h", "r"), LAST], {}, None, r"'Loop_r' \(Loop\) is not known"),
    ([FIRST, node("Sqrt", "h", "r"), LAST], {}, None, r"\(Sqrt\) is known for constants alone"),
    ([node("Relu", "h", "h")], {}, None, "'y' does not depend on the input"),
    ([node("Relu", "y", "y")], {}, None, "takes 'y', which no node before it computes"),
    ([], {}, None, "has no nodes"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "more", "change", "match"), REFUSED)
def test_what_is_no_chain_of_affine_maps_is_refused(read, nodes, more, change, match):
    proto = model(*nodes, **more)
    if change is not None:
        change(proto)
    with pytest.raises(ModelError, match=match) as caught:
        read(proto)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("raw", [b"\x08\x08\xff\xff", b"weights", b"\x08", bytes(100)])
def test_what_is_no_onnx_file(tmp_path, raw):
    path = tmp_path / "m.onnx"
    path.write_bytes(raw)
    with pytest.raises(ModelError, match=r"cannot be read as an ONNX model|has no nodes"):
        read_model(path)


def test_without_the_package_the_error_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "network"  # the name need not have a known ending
    path.write_bytes(model(*CHAINS["gemm"]).SerializeToString())
    assert read_model(path).source == "ONNX"
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelError, match=r"pip install 'rankcheck\[onnx\]'"):
        read_model(path)
