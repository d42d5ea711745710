"""State dicts and safetensors files: they are read as trained, or refused."""

import itertools
import math
import os
import pickle
import random
import socket
import struct
import sys
import zipfile

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import arrays, model_of, read_model, torch_file, write_model
from rankcheck.audit.reading.order import ordered
from rankcheck.errors import InputError
from rankcheck.networks import Network


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def trained(*layers):
    module = nn.Sequential(*layers).double()
    fan_in = layers[0].in_features
    for _ in range(3):
        module(torch.randn(20, fan_in, dtype=torch.float64))
    return module.eval()


def mlp(*widths):
    layers = itertools.chain.from_iterable(
        (nn.Linear(n, m), nn.ReLU()) for n, m in itertools.pairwise(widths)
    )
    return trained(*list(layers)[:-1])


def close(model, module):
    x = torch.randn(30, model.net.widths[0], dtype=torch.float64)
    torch.testing.assert_close(model.net(x), module(x).detach(), rtol=1e-12, atol=1e-12)


def saved(path, parameters):
    """Write parameters in the format of the name."""
    if path.suffix == ".safetensors":
        save_file(parameters, path)
    else:
        torch.save(parameters, path)
    return path


def refused(path, match):
    """The file is refused in one line."""
    with pytest.raises(ModelError, match=match) as caught:
        read_model(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["model.pt", "model.safetensors", "anything.xyz"])
def test_a_file_computes_what_the_module_computes(tmp_path, name):
    module = mlp(3, 12, 7, 7, 2)
    model = read_model(saved(tmp_path / name, module.state_dict()))
    close(model, module)
    assert model.parameters == tuple((f"{i}.weight", f"{i}.bias") for i in (0, 2, 4, 6))
    assert model.names == ("0", "2", "4", "6")
    total = math.fsum(float((p.detach() ** 2).sum()) for p in module.parameters())
    assert model.stored_cost == pytest.approx(total, rel=1e-14)
    assert model.assumed[0] == "ReLU between the affine maps, which parameters alone do not tell"
    assert model.guessed
    assert not model_of(model, slope=0).guessed
    assert not model_of(module).guessed


@pytest.mark.parametrize("name", ["model.pt", "model.safetensors"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_read_as_the_numbers_that_it_is(tmp_path, name, dtype):
    module = mlp(3, 5, 2).to(dtype)
    model = read_model(saved(tmp_path / name, module.state_dict()))
    assert torch.equal(model.net.weights[0], module[0].weight.detach().double())
    text = str(dtype).removeprefix("torch.")
    assert f"stored in half precision ({text})" in " ".join(model.assumed)


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_batch_norms_whose_place_the_numbers_say(tmp_path, name):
    module = trained(
        nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(),
        nn.Linear(6, 5), nn.Dropout(0.0), nn.ReLU(), nn.BatchNorm1d(5),
        nn.Linear(5, 2), nn.BatchNorm1d(2),
    )  # fmt: skip
    nn.init.normal_(module[1].weight)
    model = read_model(saved(tmp_path / name, module.state_dict()))
    close(model, module)
    assert model.names == ("0+1", "3", "6+7+8")
    assert model.stored_cost == pytest.approx(model_of(module).stored_cost, rel=1e-14)
    assert "('1', '6', '8'): 1e-05" in model.assumed[-1]  # the eps


@pytest.mark.parametrize("slope", [-0.5, 1])
def test_a_slope_that_is_said(tmp_path, slope):
    module = trained(nn.Linear(3, 4), nn.LeakyReLU(slope), nn.Linear(4, 2))
    path = saved(tmp_path / "m.pt", module.state_dict())
    model = read_model(path, slope=slope)
    close(model, module)
    assert f"the slope {slope:g} between" in model.assumed[0]
    assert not model.guessed


@pytest.mark.parametrize("name", ["state_dict", "model_state_dict", "model"])
def test_checkpoints(tmp_path, name):
    module = mlp(3, 4, 2)
    groups = [{"params": layer.parameters()} for layer in module]  # they share a tuple
    optimizer = torch.optim.Adam(groups)
    checkpoint = {"epoch": 3, name: module.state_dict(), "optimizer": optimizer.state_dict()}
    checkpoint["best"] = checkpoint["last"] = torch.ones(2)  # parts may be shared
    model = read_model(saved(tmp_path / "last.ckpt", checkpoint))
    close(model, module)
    assert model.assumed[0] == f"of the checkpoint, '{name}' is the network"


# Order


def sequence(names, widths):
    shapes = [(m, n) for n, m in itertools.pairwise(widths)]
    return dict(zip(names, shapes, strict=True))


@pytest.mark.parametrize(
    ("names", "widths"),
    [
        (["fc1", "fc2", "fc10"], [4, 4, 4, 4]),
        (["layers.0.linear", "layers.1.linear", "layers.11.linear"], [4, 4, 4, 4]),
        (["encoder", "decoder"], [5, 2, 3]),
        (["inp", "hidden", "out"], [3, 8, 8, 1]),
        (["fc1", "fc2", "fc3", "out"], [3, 8, 8, 8, 1]),
    ],
)
def test_names_without_order_give_the_only_order_that_fits(names, widths):
    shapes = sequence(names, widths)
    for order in itertools.permutations(shapes):
        assert ordered({name: shapes[name] for name in order}, in_order=False) == tuple(names)


def test_orders_are_those_of_brute_force():
    """Names without numbers: one order that fits is found, and several are an error."""
    counts = set()
    for seed in range(40):
        draw = random.Random(seed)
        names = "edcba"[: draw.randint(2, 5)]
        shapes = {name: (draw.randint(1, 3), draw.randint(1, 3)) for name in names}
        if seed % 2:
            widths = [draw.randint(1, 9) for _ in range(5)]
            shapes = dict(sorted(sequence(draw.sample("vwxyz", 4), widths).items()))
        fitting = [
            order
            for order in itertools.permutations(shapes)
            if all(shapes[a][0] == shapes[b][1] for a, b in itertools.pairwise(order))
        ]
        counts.add(min(len(fitting), 2))
        if len(fitting) > 1:
            with pytest.raises(ModelError, match="do not say whether"):
                ordered(shapes, in_order=False)
        else:
            assert ordered(shapes, in_order=False) == (fitting or [tuple(sorted(shapes))])[0]
    assert counts == {0, 1, 2}


def test_an_order_that_is_not_certain():
    """Alphabetical order would read an autoencoder backwards; and a search ends."""
    shapes = {"decoder.0": (784, 32), "encoder.0": (32, 784)}
    with pytest.raises(ModelError, match=r"'decoder.0' or 'encoder.0'"):
        ordered(shapes, in_order=False)
    kept = dict(reversed(shapes.items()))
    assert ordered(kept, in_order=True) == ("encoder.0", "decoder.0")
    shapes = {f"{chr(97 + i // 26)}{chr(97 + i % 26)}": (3, 3) for i in range(26)}
    with pytest.raises(ModelError, match="order of the layers"):
        ordered(shapes | {"x": (5, 3), "y": (7, 5), "z": (9, 6)}, in_order=False)


# What is refused


def bn(n, **more):
    return {
        name: torch.ones(n) for name in ("weight", "bias", "running_mean", "running_var")
    } | more


def under(prefix, parts):
    return {f"{prefix}.{name}": value for name, value in parts.items()}


def linear(n, m):
    return {"weight": torch.ones(m, n), "bias": torch.ones(m)}


TWO = {**under("0", linear(3, 4)), **under("3", linear(4, 2))}
NAMED = {**under("fc1", linear(3, 4)), **under("fc2", linear(4, 2))}
ONES = torch.ones


def norm_in(place, size=4, **more):
    """The two layers, with a batch norm."""
    return {**TWO, **under(place, bn(size, **more))}


def weight(array):
    return {"a.weight": array}


REFUSED = [
    ({}, "there are no parameters"),
    (weight(ONES(2, 2, 3, 3)), r"'a.weight' has the shape \(2, 2, 3, 3\), .* convolution"),
    (weight(ONES(2, 2, 3)), "convolution"),
    (weight(ONES(3)) | {"a.bias": ONES(3)}, "a layer norm or a PReLU"),
    ({"embedding.weight": ONES(9, 3)}, "an embedding by its name"),
    ({"a.bias": ONES(3)}, "'a.bias' stands without a weight"),
    ({"a.weight_ih_l0": ONES(3, 3)}, "'a.weight_ih_l0' of shape .* is not understood"),
    ({"a.num_batches_tracked": torch.tensor(3)}, "stands without running averages"),
    ({**TWO, "4.num_batches_tracked": torch.tensor(3)}, "stands without running averages"),
    (weight(ONES(3, 2)) | {"a.bias": ONES(2)}, r"its bias \(2,\); it must be \(3,\)"),
    (under("0", linear(3, 4)) | under("2", linear(5, 2)), r"\(4, 3\) .* '2' of shape \(2, 5\)"),
    (weight(ONES(2, 2).to(torch.float8_e4m3fn)), "'a.weight' has half precision or less"),
    (weight(ONES(2, 2).to(torch.complex64)), "'a.weight' is complex"),
    (weight(ONES(2, 2).int()), "type '(int32|i32)'; it must be float32 or float64"),
    (weight(ONES(0, 2)), r"'a.weight' has the shape \(0, 2\): it is empty"),
    (weight(torch.tensor([[1, 2], [math.nan, 3]])), r"'a.weight' .* nan at \[1, 0\]"),
    (weight(ONES(1, 1) * 1e300 * 1e300), "entry inf"),
    (norm_in("1", running_var=-ONES(4)), "batch norm '1' has the variance -1.0"),
    (norm_in("1", weight=ONES(3)), r"batch norm '1' .* shapes .*\(3,\)"),
    ({**TWO, "1.running_mean": ONES(4)}, "'1.running_var' is missing"),
    (norm_in("1", 5), r"'0' of shape \(4, 3\) is followed by '1' of shape \(5,\)"),
    ({**NAMED, **under("bn1", bn(4))}, "not certain whether the batch norm 'bn1'"),
    (norm_in("bns.0"), "not certain whether the batch norm 'bns.0'"),
    ({**under("0", linear(3, 4)), **under("1", bn(4)), **under("2", linear(4, 2))}, "not certain"),
    ({**under("0", linear(3, 4)), **under("2", bn(4)), **under("4", linear(4, 2))}, "not certain"),
    (norm_in("1") | under("2", bn(4)), "not certain"),
    (under("0", bn(4)), "no linear layer"),
]


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
@pytest.mark.parametrize(("parameters", "match"), REFUSED)
def test_what_is_not_understood_is_refused_by_name(tmp_path, name, parameters, match):
    refused(saved(tmp_path / name, parameters), match)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ([1, 2], "of the type list"),
        (ONES(2, 2), "of the type Tensor"),
        ({1: ONES(2, 2)}, "name of a parameter is of the type int"),
        ({"weight": 3}, "'weight' is of the type int"),
        ({"weight": torch.eye(2).to_sparse()}, "'weight' is a sparse tensor"),
        ({"weight": ONES(2, 2, device="meta")}, "'weight' is a meta tensor"),
        ({"weight": ONES(1, 1).expand(90_000, 9_000)}, "4 bytes of 'weight', and strides"),
        ({"model": TWO, "state_dict": TWO}, "'state_dict' and 'model'; it must hold one"),
        (nn.Linear(2, 2), r"more than tensors .*\(torch.nn.modules.linear.Linear\)"),
        ({"weight": os.getcwd}, r"more than tensors and plain data \(\w+.getcwd\)"),
    ],
)
def test_what_torch_files_hold_besides(tmp_path, content, match):
    refused(saved(tmp_path / "m.pt", content), match)


def test_views_of_a_tensor_are_read(tmp_path):
    whole = torch.randn(6, 8)
    path = saved(tmp_path / "m.pt", {"0.weight": whole[::2, 1:4], "2.weight": whole[:2, 4:7]})
    model = read_model(path)
    assert torch.equal(model.net.weights[0].float(), whole[::2, 1:4])
    assert torch.equal(model.net.weights[1].float(), whole[:2, 4:7])


SHARED = torch.eye(8)


@pytest.mark.parametrize(
    "content",
    [
        {"0.weight": torch.ones(1).expand(9000, 9000)},
        {"0.weight": torch.randn(12).as_strided((6, 7), (1, 1))},
        {f"{i}.weight": SHARED.view(8, 8) for i in range(65)},
    ],
)
def test_what_expands_beyond_its_file_is_refused(tmp_path, monkeypatch, content):
    path = saved(tmp_path / "m.pt", content)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(arrays, "check_dtype", None)  # nothing is converted
    refused(path, r"has \d+ bytes of '\d+\.weight', and strides or other names repeat them")


def test_layers_that_share_their_numbers_are_read(tmp_path):
    path = saved(tmp_path / "m.pt", {f"{i}.weight": SHARED for i in range(12)})
    assert read_model(path).net.depth == 12


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


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (part("data/0", lambda raw: raw[:100]), "claims 256 bytes, and no record"),
        (part("data/0", lambda raw: None), "cannot be read"),
        (part("data.pkl", lambda raw: raw.replace(b"K@", b"J\0\0\x10\0")), "and no record"),
        (part("data.pkl", lambda raw: raw.replace(b"K@", b"K\x3f")), "cannot be read"),
        (part("data.pkl", lambda raw: NESTED), "describes an object that holds itself"),
        (part("data.pkl", lambda raw: b"\x80\x02"), "cannot be read"),
        (part("data.pkl", lambda raw: None), "it is zip archive"),
        (part("data.pkl", lambda raw: raw + bytes(1 << 23)), "has a pickle of"),
    ],
)
def test_archives_that_lie(tmp_path, change, match):
    path = saved(tmp_path / "m.pt", {"weight": torch.arange(64.0).reshape(8, 8)})
    refused(rewritten(path, change), match)


@pytest.mark.parametrize("wrap", [lambda x: (x, x), lambda x: [x, x], lambda x: {1: x, 2: x}])
@pytest.mark.parametrize("protocol", [2, 4])
def test_what_shares_its_parts_again_and_again_is_refused(wrap, protocol):
    value = (1, 2)
    for _ in range(60):
        value = wrap(value)
    later: list[list] = [[] for _ in range(60)]  # filled once the outer one is known
    for one, two in itertools.pairwise(later):
        one += [two, two]
    for each in (value, later):
        assert torch_file._largest(pickle.dumps(each, protocol)) > 2.0**50
    groups = [(0.9, 0.999)] * 500  # as optimisers share them
    assert torch_file._largest(pickle.dumps(groups, protocol)) < 2.0**12


def test_compressed_and_damaged_archives(tmp_path):
    good = {"weight": torch.arange(64.0).reshape(8, 8)}
    path = saved(tmp_path / "m.pt", good)
    refused(rewritten(path, lambda name, raw: raw, zipfile.ZIP_DEFLATED), "is compressed")
    raw = bytearray(saved(path, good).read_bytes())
    place = raw.index(struct.pack("<f", 37.0))
    raw[place] ^= 1
    path.write_bytes(raw)
    refused(path, "checksum of 'm/data/0' is wrong")


@pytest.mark.filterwarnings("ignore")  # TorchScript is called old
def test_other_formats_of_torch_are_refused(tmp_path):
    path = tmp_path / "m.pt"
    torch.save({"weight": torch.ones(2, 2)}, path, _use_new_zipfile_serialization=False)
    refused(path, r"it is pickle; .*run code")
    torch.jit.script(nn.Linear(2, 2)).save(str(path))
    refused(path, "TorchScript")


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("m.bin", "not what its name says: it is unknown"),
        ("m.txt", "m.txt is unknown; models are"),
    ],
)
def test_a_text_is_no_model(tmp_path, name, match):
    path = tmp_path / name
    path.write_text("weights: 1, 2")
    refused(path, match)


def announce(path, text, body=b""):
    raw = text.encode() if isinstance(text, str) else text
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + body)
    return path


def entry(shape, dtype="F32", offsets=(0, 0)):
    return f'{{"dtype": "{dtype}", "shape": {list(shape)}, "data_offsets": {list(offsets)}}}'


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (f'{{"weight": {entry([40_000, 25_000])}}}', "invalid shape"),
        (f'{{"weight": {entry([3, 3], offsets=(0, 36))}}}', "cannot be read as a safetensors file"),
        (f'{{"weight": {entry([-1, -9])}}}', "integer `-1`"),
        (f'{{"w": {entry([1, 1])}, "w": {entry([1, 1])}}}', "invalid shape"),
        ('{"weight": 3}', "integer `3`"),
        ('{"weight": {"dtype": "F32", "shape": [true]}}', "boolean `true`"),
        ('{"weight": ', "EOF"),
        (b'{"\xff": 1}', "UTF-8"),
        ('{"a":' * 200, "recursion limit"),
        (f'{{"a\\nb<i>.weight": {entry([1, 1, 1, 1], offsets=(0, 4))}}}', r"'a\\nb<i>.weight'"),
    ],
)
def test_headers_that_lie(tmp_path, text, match):
    refused(announce(tmp_path / "m.safetensors", text, bytes(4)), match)


def test_a_header_that_is_too_long(tmp_path):
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", 1 << 27) + b"{")
        file.truncate(1 << 28)  # sparse: it takes no space
    refused(path, "header too large")
    with path.open("wb") as file:
        file.truncate((1 << 32) + 1)
    refused(path, "it has 4294967297 bytes; at most 4294967296")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_is_no_regular_file(tmp_path, monkeypatch):
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
            "empty.pt": "it is empty",
            ".": "it is a folder",
            "missing.pt": "No such file",
            "a\0b": "null byte",
            "a\nb.pt": r"cannot read 'a\\nb.pt': No such file",
            "x" * 5000: "File name too long",
        }.items():
            refused(name, match)


# Writing


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_what_is_written_is_loaded_under_the_names_of_the_model(tmp_path, name):
    module = trained(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2, bias=False))
    model = read_model(saved(tmp_path / name, module.state_dict()))
    path = tmp_path / "half.safetensors"
    half = Network.of([w / 2 for w in model.net.weights], [b / 2 for b in model.net.biases])
    write_model(path, model, half)
    loaded = load_file(path)
    assert loaded.keys() == {"0.weight", "0.bias", "2.weight"}
    module.load_state_dict(loaded, strict=True)
    x = torch.randn(9, 3, dtype=torch.float64)
    torch.testing.assert_close(module(x).detach(), half(x), rtol=1e-12, atol=1e-12)
    folded = model_of(trained(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)))
    write_model(path, folded, folded.net)  # it has no names
    assert read_model(path).parameters[1] == ("layers.1.weight", "layers.1.bias")
    torch.testing.assert_close(read_model(path).net(x), folded.net(x))


def test_nothing_else_is_overwritten(tmp_path):
    model = model_of(mlp(3, 4, 2))
    other = tmp_path / "notes.txt"
    other.write_text("keep me")
    with pytest.raises(InputError, match="it exists and is not a safetensors file"):
        write_model(other, model, model.net)
    assert other.read_text() == "keep me"
    with pytest.raises(ModelError, match=r"one of the widths \(3, 4, 2\)"):
        write_model(tmp_path / "m", model, Network.of([[[1.0]]]))
    without = model_of(trained(nn.Linear(3, 2, bias=False)))
    with pytest.raises(ModelError, match=r"no bias beside 0.weight"):
        write_model(tmp_path / "m", without, Network.of(without.net.weights, [[1.0, 0.0]]))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.txt"]
    write_model(tmp_path / "m", model, model.net)
    write_model(tmp_path / "m", model, model.net)  # of the same kind
