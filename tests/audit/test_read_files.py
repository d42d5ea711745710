"""Files of models, data and outputs: the numbers as they are, or one line; nothing is run."""

import copy
import itertools
import math
import os
import pickle
import socket
import struct
import sys
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from rankcheck.audit import ModelError, audit
from rankcheck.audit import outputs as outputs_
from rankcheck.audit.files import _check_pickle, data_of
from rankcheck.audit.outputs import check_outputs
from rankcheck.audit.read import chain_of
from rankcheck.errors import InputError


def refused(value, match, read=chain_of):
    with pytest.raises(ModelError, match=match) as caught:
        read(value)
    assert "\n" not in str(caught.value)


def saved(path, content):
    torch.save(content, path)
    return path


# Archives of torch


class Ran(nn.Module):
    """A module that would say so if it was loaded."""

    def __setstate__(self, state):
        raise AssertionError


ONES = torch.ones
CONTENTS = [
    ([1, 2], "no state dict, tensors by name, but a list"),
    (ONES(2, 2), "but a Tensor"),
    ({1: ONES(2, 2)}, "name of a parameter is '1', no text"),
    ({"weight": 3}, "no state dict"),
    ({"a.weight": ONES(2, 2), "list": [ONES(2, 2)]}, "'list' is a list, and no tensor"),
    ({"weight": torch.eye(2).to_sparse()}, "'weight' is sparse"),
    ({"weight": ONES(2, 2, device="meta")}, "'weight' is sparse, meta"),
    (nn.Linear(2, 2), r"\(torch.nn.modules.linear.Linear\), as a whole .* torch.save\(module"),
    ({"weight": os.getcwd}, r"more than tensors and plain data \(\w+.getcwd\)"),
    ({"weight": ONES(2, 2), "more": Ran()}, "more than tensors"),
    ({"0.weight": ONES(1).expand(9000, 9000)}, r"bytes, and its tensors 324000000: strides"),
    ({"0.weight": torch.randn(900).as_strided((600, 300), (1, 1))}, "strides or names repeat"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "match"), CONTENTS)
def test_what_torch_files_hold_besides(tmp_path, content, match):
    refused(saved(tmp_path / "m.pt", content), match)


def test_many_views_of_one_tensor_are_refused_before_they_are_read(tmp_path, monkeypatch):
    whole = torch.ones(5000)
    content = {f"{i}.weight": whole[i:][:4900].view(70, 70) for i in range(65)}
    path = saved(tmp_path / "m.pt", content)
    assert path.stat().st_size < 60_000
    monkeypatch.setattr("rankcheck.audit.state.numbers", None)  # nothing is converted
    refused(path, "its tensors 1274000: strides or names repeat")


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """A zip archive with other entries: `change(name, content)`, None for none."""
    with zipfile.ZipFile(path) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries:
            changed = change(name, content)
            if changed is not None:
                archive.writestr(name, changed)
    return path


def part(name, change):
    return lambda entry, content: change(content) if entry.endswith(name) else content


NESTED = b"\x80\x02}K\x01\x85" + b"".join(
    b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(1, 60)
) + b"K\x01s."  # fmt: skip
LARGE = b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R."


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (part("data/0", lambda raw: raw[:100]), "a tensor has no record of its size"),
        (part("data/0", lambda raw: None), "cannot be read"),
        (part("data.pkl", lambda raw: raw.replace(b"K@", b"J\0\0\x10\0")), "no record of its size"),
        (part("data.pkl", lambda raw: raw.replace(b"K@", b"K\x3f")), "cannot be read"),
        (part("data.pkl", lambda raw: NESTED), "describes an object that holds its parts many"),
        (part("data.pkl", lambda raw: LARGE), "describes an object that holds its parts many"),
        (part("data.pkl", lambda raw: b"\x80\x02"), "cannot be read"),
        (part("data.pkl", lambda raw: None), "with 0 state dicts"),
        (part("data.pkl", lambda raw: raw + bytes(1 << 23)), "has a pickle of"),
    ],
)
def test_archives_that_lie(tmp_path, change, match):
    path = saved(tmp_path / "m.pt", {"weight": torch.arange(64.0).reshape(8, 8)})
    refused(rewritten(path, change), match)


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_tuple_that_shares_its_parts_again_and_again_is_refused(protocol):
    value: tuple = (1, 2)
    for _ in range(60):
        value = (value, value)
    with pytest.raises(ModelError, match="many times over"):
        _check_pickle(pickle.dumps(value, protocol))
    _check_pickle(pickle.dumps([(0.9, 0.999)] * 500, protocol))  # as optimisers share them


def test_mappings_that_share_their_parts_end(tmp_path):
    content: dict = {}
    for _ in range(40):
        content = {f"a{i}": content for i in range(9)}
    refused(saved(tmp_path / "m.pt", content), "holds no state dict")


def test_compressed_and_damaged_archives(tmp_path):
    good = {"weight": torch.arange(64.0).reshape(8, 8)}
    path = saved(tmp_path / "m.pt", good)
    refused(rewritten(path, lambda name, raw: raw, zipfile.ZIP_DEFLATED), "is compressed")
    raw = bytearray(saved(path, good).read_bytes())
    raw[raw.index(struct.pack("<f", 37.0))] ^= 1
    path.write_bytes(raw)
    refused(path, "checksum of 'm/data/0' is wrong")


@pytest.mark.filterwarnings("ignore")  # TorchScript is called old
def test_other_formats_say_how_a_state_dict_is_made(tmp_path):
    path = tmp_path / "m.pth"
    torch.save({"weight": torch.ones(2, 2)}, path, _use_new_zipfile_serialization=False)
    refused(path, r"before 1.6, .*state = torch.load\('.*m.pth', weights_only=True\); torch.save")
    torch.jit.script(nn.Linear(2, 2)).save(str(path))
    refused(path, r"TorchScript, a program. .*torch.jit.load\(.*\); torch.save\(module.state_dict")
    path.write_text("weights: 1, 2")
    refused(path, "it is text; models are safetensors")
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(99))
    refused(path, "is HDF5; models are")


# Safetensors


def entry(shape, dtype="F32", offsets=(0, 0)):
    return f'{{"dtype": "{dtype}", "shape": {list(shape)}, "data_offsets": {list(offsets)}}}'


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (f'{{"weight": {entry([40_000, 25_000])}}}', "invalid shape"),
        (f'{{"weight": {entry([3, 3], offsets=(0, 36))}}}', "cannot be read as a model"),
        (f'{{"weight": {entry([-1, -9])}}}', "integer `-1`"),
        (f'{{"w": {entry([1, 1])}, "w": {entry([1, 1])}}}', "invalid shape"),
        ('{"weight": 3}', "integer `3`"),
        ('{"weight": ', "EOF"),
        ('{"\udcff": 1}', "UTF-8"),
        ('{"a":' * 200, "recursion limit"),
        (f'{{"a\\nb<i>.weight": {entry([1, 1, 1, 1], offsets=(0, 4))}}}', r"'a\\nb<i>.weight'"),
    ],
)
def test_headers_that_lie(tmp_path, text, match):
    path, raw = tmp_path / "m.safetensors", text.encode("utf-8", "surrogateescape")
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + bytes(4))
    refused(path, match)


def test_a_header_or_a_file_that_is_too_long(tmp_path):
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", 1 << 27) + b"{")
        file.truncate(1 << 28)  # sparse: it takes no space
    refused(path, "header too large")
    with path.open("wb") as file:
        file.truncate((1 << 32) + 1)
    refused(path, "it has 4294967297 bytes; 1 to 4294967296")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
@pytest.mark.parametrize("read", [chain_of, data_of])
def test_what_is_no_regular_file(tmp_path, monkeypatch, read):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    os.mkfifo("pipe.pt")
    (tmp_path / "loop.pt").symlink_to("loop.pt")
    (tmp_path / "empty.pt").touch()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.pt")
        for name, match in {
            "pipe.pt": "it is no regular file",
            "socket.pt": "it is no regular file",
            "/dev/zero": "it is no regular file",
            "loop.pt": "Too many levels",
            "empty.pt": "it has 0 bytes",
            ".": "it is no regular file",
            "missing.pt": "No such file",
            "a\0b": "null byte",
            "a\nb.pt": r"cannot read 'a\\nb.pt': No such file",
            "x" * 5000: "File name too long",
        }.items():
            refused(name, match, read)


# Data

X = np.random.default_rng(0).normal(size=(6, 3))


def write(path, array):
    """A file of the format of its name, by numpy, safetensors or by hand."""
    match path.suffix:
        case ".npy":
            np.save(path, array)
        case ".npz":
            np.savez_compressed(path, array)
        case ".safetensors":
            save_file({"points": torch.from_numpy(np.array(array, order="C"))}, path)
        case _:
            np.savetxt(path, array, delimiter=",", fmt="%.17g", header="a,b2,c", comments="")
    return path


@pytest.mark.parametrize("name", ["d.npy", "d.npz", "d.safetensors", "d.csv", "d"])
def test_numbers_are_read_as_they_are(tmp_path, name):
    assert np.array_equal(data_of(write(tmp_path / name, X)).numpy(), X)
    for dtype in ("<f4", "<f2", "int8", "uint16", "int64", "bool"):
        if name.endswith(("y", "z", "s")):
            array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
            assert data_of(write(tmp_path / name, array)).tolist() == [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("name", ["d.npy", "d.npz", "d.safetensors", "array"])
@pytest.mark.parametrize(
    ("array", "match"),
    [
        (X.astype(np.complex64), "has the type torch.complex64"),
        (np.zeros((0, 3)), r"has the shape \(0, 3\)"),
        (np.array([[1, 2], [3, math.nan]]), r"entry nan at \[1, 1\]; all must be finite"),
        (np.array([[1, 2], [-math.inf, 0]]), r"entry -inf at \[1, 0\]"),
        (np.ones((4, 2)), "4 points that are all equal, so that ranks over them say nothing"),
        (np.float64(3), "a single number"),
    ],
)
def test_numbers_that_are_refused(tmp_path, name, array, match):
    value = np.array(array)
    refused(value if name == "array" else write(tmp_path / name, value), match, data_of)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([[1, 2], [3]], "cannot be read as an array of numbers"),
        ([["a", "b"]], "has the type 'str"),
        ([10**400], "has the type 'object'"),
        (3.5, "are a float"),
        (None, "are a NoneType"),
        (torch.ones(2, 2).to_sparse(), "sparse"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "has the type 'datetime64"),
        (np.zeros(3, dtype=[("a", "f8")]), "has the type"),
        (torch.zeros(1).expand(1 << 15, 1 << 15), "1 to 134217728 numbers"),
        (np.broadcast_to(np.zeros(1), (1 << 15, 1 << 15)), "1 to 134217728 numbers"),
    ],
)
def test_objects_that_are_no_data(data, match):
    refused(data, match, data_of)


def test_shapes_and_names(tmp_path):
    assert data_of([1.0, 2.0, 4.0]).shape == (3, 1)
    images = np.arange(24.0).reshape(4, 2, 3)
    assert np.array_equal(data_of(images).numpy(), images)
    assert data_of([torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]).tolist() == [
        [1, 2],
        [3, 4],
    ]
    path = tmp_path / "d.npz"
    np.savez(path, X=X, labels=np.arange(6))
    assert np.array_equal(data_of(path).numpy(), X)
    np.savez(path, a=X, b=X)
    refused(path, "has the arrays 'a', 'b'; one is to be called X, x", data_of)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1,2\n3,x\n", "cannot be read as a table of numbers.*'x'"),
        ("1,x\n3,4\n", "cannot be read as a table of numbers"),
        ("nan,1\n3,4\n", r"entry nan at \[0, 0\]"),
        ("1;2\n3;4\n", "cannot be read as a table"),
        ("1,2\n3\n", "cannot be read as a table"),
        ("a,b\n", "empty|has the shape"),
        ("a,b\nc,d\n", "cannot be read as a table"),
        ("# 1\n1,2\n3,#\n", "cannot be read as a table"),
    ],
)
def test_tables_that_are_refused(tmp_path, text, match):
    path = tmp_path / "d.csv"
    path.write_text(text)
    refused(path, match, data_of)


def test_an_archive_that_unpacks_to_too_much(tmp_path):
    path = tmp_path / "d.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w") as file,
    ):
        for _ in range(1100):
            file.write(bytes(1 << 20))
    refused(path, "announces 1153433600 bytes", data_of)


# Outputs


def mlp(*widths, act=nn.ReLU):
    torch.manual_seed(0)
    layers = [(nn.Linear(n, m), act()) for n, m in itertools.pairwise(widths)]
    return nn.Sequential(*itertools.chain.from_iterable(layers))[:-1].eval()


def points(count=200, width=5):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(1))


def told(module, X, Y, tmp_path):
    return audit(saved(tmp_path / "m.pt", module.state_dict()), X, outputs=Y, theorems=False).model


@pytest.mark.parametrize(
    ("dtype", "most"),
    [(torch.float64, 1e-13), (torch.float32, 1e-5)],
)
def test_outputs_lift_the_assumption(tmp_path, dtype, most):
    module, X = mlp(5, 64, 64, 64, 4), points()
    Y = copy.deepcopy(module).to(dtype)(X.to(dtype)).detach()
    for given in (Y, Y.double(), Y.double().numpy()):  # as it is, or converted
        found = told(module.to(dtype).float(), X.to(dtype).float(), given, tmp_path)
        assert (found.outputs.points, found.guess) == (200, "")
        assert 0 < found.outputs.difference < most * found.outputs.spread
    assert told(module, X, None, tmp_path).guess


def test_the_difference_and_the_spread_are_those_of_a_loop(tmp_path):
    module, X = mlp(5, 8, 3), points(7)
    Y = module(X).detach()
    found = told(module, X, Y, tmp_path).outputs
    exact = copy.deepcopy(module).double()(X.double()).detach()
    assert found.difference == pytest.approx(float((exact - Y).abs().max()), rel=1e-6)
    columns = [[(y - column.mean()) ** 2 for y in column] for column in Y.double().T]
    assert found.spread == pytest.approx(float(np.sqrt(np.mean(columns))))
    assert f"{found.difference / found.spread:.1e} of their spread" in found.sentence


@pytest.mark.parametrize("width", [1, 3, 300])
def test_rounding_is_no_disagreement_however_few_numbers_there_are(width):
    for seed, depth in itertools.product(range(5), (1, 2, 12)):
        module = mlp(2, *[width] * (depth - 1), 1)
        torch.manual_seed(seed)
        X = torch.randn(1, 2)
        check_outputs(chain_of(module), X.double(), module(X).detach())


def test_outputs_from_files_and_of_several_axes(tmp_path):
    module, X = mlp(5, 8, 6), points(9)
    model, Y = chain_of(module), module(X).detach()
    np.save(tmp_path / "y.npy", Y.numpy())
    np.savez(tmp_path / "y.npz", X=X.numpy(), outputs=Y.numpy())
    np.savetxt(tmp_path / "y.csv", Y.numpy(), delimiter=",", fmt="%.9g")
    save_file({"Y": Y, "X": X}, tmp_path / "y.safetensors")
    for end in ("npy", "npz", "csv", "safetensors"):
        check_outputs(model, X.double(), tmp_path / f"y.{end}")
    check_outputs(model, X.double(), Y.reshape(9, 2, 3))
    one = mlp(5, 8, 1)
    check_outputs(chain_of(one), X.double(), one(X).detach()[:, 0])


def skipping(module, X):
    return module[2](torch.relu(module[0](X))) + X[:, :3]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m, X: m[2](nn.functional.gelu(m[0](X))), "they differ at 200 of 200 points"),
        (lambda m, X: m[2](nn.functional.leaky_relu(m[0](X))), "not what the network as read"),
        (skipping, "a skip connection"),
        (lambda m, X: m(X).softmax(1), "a softmax at the end"),
        (lambda m, X: m(X).flip(0), "in another order"),
        (lambda m, X: m(X) * 1.001, "Likely reasons"),
        (lambda m, X: 0 * m(X), "differ at 200 of 200"),
        (lambda m, X: m(X)[:-1], r"has the shape \(199, 3\)"),
        (lambda m, X: m(X)[:, :2], r"the network puts out \(200, 3\)"),
        (lambda m, X: m(X).argmax(1), r"shape \(200, 1\), .*not the class"),
        (lambda m, X: m(X) / 0, r"has the entry -?inf at \[0, 0\]; all must be finite"),
        (lambda m, X: m(X).double().round(decimals=3), "of few decimals"),
        (lambda m, X: m(X).half(), "in half precision"),
        (lambda m, X: m(X)[0, 0], "is a single number"),
        (lambda m, X: 3, "are a int; they must be an array of numbers"),
    ],
)
def test_outputs_that_are_others(tmp_path, change, match):
    module, X = mlp(5, 16, 3), points()
    Y = change(module, X)
    Y = Y.detach() if isinstance(Y, torch.Tensor) else Y
    path = saved(tmp_path / "m.pt", module.state_dict())
    refused(path, match, lambda path: audit(path, X, outputs=Y))


def test_the_first_point_and_both_values_are_said(tmp_path):
    module, X = mlp(5, 8, 3), points()
    Y = module(X).detach()
    Y[[7, 150], 1] += 0.25
    exact = copy.deepcopy(module).double()(X.double())
    said = (
        f"at point 7 output 1 is {Y[7, 1]:.5g}, and of the network {exact[7, 1]:.5g}; they differ "
    )
    refused(module, f"{said}at 2 of 200".replace(".", r"\."), lambda m: audit(m, X, outputs=Y))


def test_outputs_need_data_and_nothing_is_measured_before_they_agree():
    with pytest.raises(InputError, match="there are outputs and no data"):
        audit(mlp(5, 3), outputs=np.ones((2, 3)))
    stages = []
    with pytest.raises(ModelError):
        audit(
            mlp(5, 16, 3), points(9), outputs=points(9, 3), progress=lambda *a: stages.append(a[0])
        )
    assert stages == ["reading", "outputs"]


def test_batches_change_nothing(monkeypatch):
    model, X = chain_of(mlp(5, 16, 3)), points(50).double()
    Y = model.net(X).float()
    whole = check_outputs(model, X, Y)
    monkeypatch.setattr(outputs_, "HELD", 100)
    assert check_outputs(model, X, Y).difference == pytest.approx(whole.difference, rel=1e-6)
