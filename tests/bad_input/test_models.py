"""Files of networks and of data that were torn, or that lie: what they hold, or one line."""

from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from safetensors.torch import save
from torch import nn

from rankcheck.audit.files import data_of
from rankcheck.audit.model import ModelError
from rankcheck.audit.read import chain_of

from .cases import cases, refused
from .strategies import ODD_TEXTS, STRANGE, WHOLE_TEXTS, arrays, mutated, torn

#: ONNX is read with an extra.
MODELS = ("m.safetensors", "m.pt", *(("m.onnx",) if find_spec("onnx") else ()))
DATA = ("d.npy", "d.npz", "d.csv", "d.safetensors")
POINTS = [[1.0, 2.0], [3.0, 4.5], [-1.0, 0.25]]


@cache
def content(name):
    """A small good file of the format of this name."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
    file = io.BytesIO()
    match name:
        case "m.safetensors":
            return save(module.state_dict())
        case "m.pt":
            torch.save({"epoch": 3, "state_dict": module.state_dict()}, file)
        case "m.onnx":
            return onnx_of(module)
        case "d.npy":
            np.save(file, np.array(POINTS))
        case "d.npz":
            np.savez_compressed(file, X=np.array(POINTS), labels=np.arange(3))
        case "d.csv":
            return b"x,y\n1,2\n3,4.5\n-1,0.25\n"
        case "d.safetensors":
            return save({"X": torch.tensor(POINTS), "labels": torch.arange(3)})
    return file.getvalue()


def onnx_of(module):
    from onnx import TensorProto, helper, numpy_helper

    arrays = {name: value.numpy() for name, value in module.state_dict().items() if value.ndim}
    norm = [f"1.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
    nodes = [
        helper.make_node("Gemm", ["x", "0.weight", "0.bias"], ["a"], transB=1),
        helper.make_node("BatchNormalization", ["a", *norm], ["b"], epsilon=1e-5),
        helper.make_node("LeakyRelu", ["b"], ["c"], alpha=0.25),
        helper.make_node("Gemm", ["c", "3.weight", "3.bias"], ["y"], transB=1),
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size])]
        for name, size in (("x", 2), ("y", 1))
    ]
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "network", *ends, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    return model.SerializeToString()


def repacked(raw, change):
    """A zip archive whose entries are changed, with checksums that fit."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                new.writestr(name, change(name, old.read(name)))
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def check(read, value):
    """What is read computes or has finite numbers, or one line says why it is not read."""
    made = []
    message = refused((ModelError,), lambda: made.append(read(value)))
    assert bool(message) != bool(made)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 1000
    for one in made:
        (a_network if read is chain_of else points)(one)


def a_network(model):
    net = model.net
    assert len(model.names) == len(model.biases) == net.depth
    assert all(bool(torch.isfinite(a).all()) for a in net.weights + net.biases)
    assert net(torch.zeros(1, net.widths[0], dtype=torch.float64)).shape == (1, net.widths[-1])
    assert model.stored_cost >= 0
    assert all(text.isprintable() for text in (*model.names, *model.folded, *model.assumed))


def points(array):
    assert array.dtype == torch.float64
    assert array.ndim >= 2
    assert array.numel() > 0
    assert bool(torch.isfinite(array).all())
    assert len(array) == 1 or bool((array != array[0]).any())


def check_file(path, raw):
    path.write_bytes(raw)
    check(chain_of if path.name in MODELS else data_of, path)


@pytest.mark.parametrize("name", [*MODELS, *DATA])
def test_a_file_is_read_whole_or_not_at_all(folder, name):
    path, raw = folder / name, content(name)
    path.write_bytes(raw)
    if name in MODELS:
        assert chain_of(path).net.widths == (2, 3, 1)
    else:
        assert data_of(path).tolist() == POINTS
    for part in range(10):
        check_file(path, raw[: len(raw) * part // 10])


@pytest.mark.parametrize("name", [*MODELS, *DATA])
def test_data_are_no_model_and_models_no_data(folder, name):
    path = folder / f"other.{name.rpartition('.')[2]}"
    for other in DATA if name in MODELS else MODELS:
        path.write_bytes(content(other))
        with pytest.raises(ModelError, match=rf"{path}"):
            (chain_of if name in MODELS else data_of)(path)


@pytest.mark.parametrize("name", [*MODELS, *DATA])
@cases(60, data=st.data())
def test_a_torn_file(folder, name, data):
    check_file(folder / name, data.draw(torn(content(name)) | WHOLE_TEXTS))


@cases(60, data=st.data())
def test_a_header_of_safetensors_that_lies(folder, data):
    raw = content("m.safetensors")
    length = struct.unpack("<Q", raw[:8])[0]
    changed = data.draw(mutated(json.loads(raw[8 : 8 + length])))
    text = json.dumps(changed).encode("utf-8", "surrogatepass")
    announced = data.draw(st.sampled_from([len(text)] * 5 + [0, 7, 2**24, 2**40, 2**63]))
    check_file(folder / "m.safetensors", struct.pack("<Q", announced) + text + raw[8 + length :])


@cases(60, data=st.data())
def test_an_archive_of_torch_that_lies(folder, data):
    """The pickle and the records are changed, and the checksums are right."""
    chosen = data.draw(st.sampled_from(["/data.pkl", "/data.pkl", "/data/0", "/byteorder", "e"]))

    def change(name, entry):
        return data.draw(torn(entry)) if name.endswith(chosen) else entry

    check_file(folder / "m.pt", repacked(content("m.pt"), change))


ODD_NAMES = st.sampled_from(
    ["net.0.weight", "10.bias", "weight", "a.b.c.weight", "4.running_mean", "4.weight_g"]
) | ODD_TEXTS.map(lambda text: f"{text}.weight")


@cases(40, name=ODD_NAMES, value=arrays(3, 2), index=st.integers(0, 8))
def test_a_state_dict_that_does_not_fit(folder, name, value, index):
    """One tensor has another name, shape or type."""
    good = torch.load(io.BytesIO(content("m.pt")))["state_dict"]
    del good[sorted(good)[index]]
    try:
        torch.save(good | {name: value}, folder / "m.pt")
    except (UnicodeError, RuntimeError):  # torch cannot write it: a lone surrogate
        return
    check(chain_of, folder / "m.pt")


SHAPES = st.sampled_from(
    ["(3, 2)", "(2, 3)", "(6,)", "()", "(-3, -2)", "(3, 2.0)", "(10**9,)", "(1 << 40, 0)", "None",
     "(3, '2')", "((3, 2),)", "[3, 2]", "(1, 1, 1, 1, 1, 1, 6)", "(6" + ", 1" * 70 + ")"]
)  # fmt: skip
TYPES = st.sampled_from(
    ["<f8", ">f8", "<f4", "<f2", "|O", "|S8", "<c16", "|V8", "<M8[s]", "", "x", "f8,f8", "(2,)<f8"]
)


@cases(60, shape=SHAPES, dtype=TYPES, order=st.sampled_from(["True", "False", "0", "__import__"]))
def test_a_header_of_numpy_that_lies(folder, shape, dtype, order):
    text = f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}}}".encode() + b"\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
    raw = start + np.arange(6.0).tobytes()
    check_file(folder / "d.npy", raw)
    archive = repacked(content("d.npz"), lambda name, entry: raw if name == "X.npy" else entry)
    check_file(folder / "d.npz", archive)


FIELDS = st.sampled_from(
    ["1", "-2.5", "1e3", " 4 ", '"5"', "", "x", "nan", "1e999", "1_0", "0x1", "1;2", '"', "1j",
     "é", "١", "\x1b[31m", "1 2", "1e", "\x85"]
)  # fmt: skip
ROWS = st.lists(st.lists(FIELDS, max_size=3), max_size=4)


@cases(60, rows=ROWS, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_table_of_odd_fields(folder, rows, end):
    check_file(folder / "d.csv", end.join(",".join(row) for row in rows).encode() or b"\n")


@cases(60, value=arrays(3, 2) | STRANGE)
def test_objects_that_are_no_data_and_no_model(value):
    check(data_of, value)
    check(chain_of, value)


class Of(nn.Module):
    """A module with this forward, around another one."""

    def __init__(self, forward, inner=None):
        super().__init__()
        self.inner, self.function = inner, forward

    def forward(self, x):
        return self.function(x) if self.inner is None else self.function(self.inner, x)


def put(x):
    x[:, :1] = 0
    return x


#: By name, what makes a layer. Some take no points of 3 numbers, some are no functions of a point.
LAYERS = {
    "linear": lambda: nn.Linear(3, 3),
    "narrow": lambda: nn.Linear(3, 2, bias=False),
    "wide": lambda: nn.Linear(2, 3),
    "relu": nn.ReLU,
    "in place": lambda: nn.ReLU(inplace=True),
    "leaky": lambda: nn.LeakyReLU(0.5),
    "tanh": nn.Tanh,
    "softmax": lambda: nn.Softmax(-1),
    "first axis": lambda: nn.Softmax(0),
    "norm": lambda: nn.BatchNorm1d(3),
    "layer norm": lambda: nn.LayerNorm(3),
    "convolution": lambda: nn.Conv1d(1, 2, 3, padding=1),
    "pooling": lambda: nn.MaxPool1d(2),
    "flat": nn.Flatten,
    "all flat": lambda: nn.Flatten(0),
    "dropout": nn.Dropout,
    "recurrent": lambda: nn.LSTM(3, 3),
    "embedding": lambda: nn.Embedding(3, 3),
    "parametrised": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)),
    "residual": lambda: Of(lambda inner, x: x + inner(x), nn.Linear(3, 3)),
    "added in place": lambda: Of(lambda inner, x: inner(x).add_(x).relu_(), nn.Linear(3, 3)),
    "input in place": lambda: Of(lambda x: x.mul_(2)),
    "sizes": lambda: Of(lambda x: x.reshape(x.shape[0], -1) * x.numel()),
    "transposed": lambda: Of(lambda x: x.T),
    "unsqueezed": lambda: Of(lambda x: x.unsqueeze(1)),
    "squeezed": lambda: Of(lambda x: x.squeeze()),
    "centred": lambda: Of(lambda x: x - x.mean(0)),
    "centred rows": lambda: Of(lambda x: x - x.mean(-1, keepdim=True)),
    "values": lambda: Of(lambda x: x if x.sum() > 0 else -x),
    "random": lambda: Of(lambda x: x + torch.rand(3)),
    "part": lambda: Of(lambda x: torch.cat([x[:, 1:], x[:, :1].relu()], 1)),
    "put": lambda: Of(put),
    "several": lambda: Of(lambda x: (x, x)),
    "rounded": lambda: Of(torch.round),
    "cast": lambda: Of(lambda x: x.float().double()),
    "fails": lambda: Of(lambda x: x.missing()),
    "no module": lambda: Of(None),
}


@pytest.mark.filterwarnings("ignore")
@cases(
    200,
    names=st.lists(st.sampled_from(sorted(LAYERS)), min_size=1, max_size=6),
    training=st.booleans(),
)
def test_a_stack_of_layers_is_read_as_it_computes_or_refused(names, training):
    torch.manual_seed(0)
    module = nn.Sequential(*(LAYERS[name]() for name in names)).train(training)
    read, message = None, ""
    try:
        read = chain_of(module)
    except ModelError as error:
        message = str(error)  # it may hold what Python says of such a forward
    assert module.training == training
    if read is None:
        assert 0 < len(message) < 1000
        assert message.isprintable()
        return
    a_network(read)
    X = torch.randn(4, read.net.widths[0]).double()
    there = module.double().eval()(X.clone()).detach()
    torch.testing.assert_close(read.net(X), there.reshape(4, -1), rtol=1e-6, atol=1e-6)
