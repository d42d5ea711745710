"""Files of trained networks that were torn, or that lie: a network that computes, or one line."""

import json
import struct

import pytest
import torch
from hypothesis import strategies as st

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import model_of, read_model

from .cases import cases, refused
from .strategies import ODD_TEXTS, STRANGE, WHOLE_TEXTS, mutated, torn
from .trained import DATA, MODELS, content, repacked


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def check(path, raw, slope=None):
    """Read a file: a network with finite parameters, or one line that says why not."""
    path.write_bytes(raw)
    made = []
    said = refused((ModelError,), lambda: made.append(read_model(path, slope=slope)))
    one_line(said, made)


def one_line(said, made):
    assert bool(said) != bool(made)
    assert "\n" not in said
    assert said.isprintable()
    assert len(said) < 1000
    for model in made:
        net = model.net
        assert len(model.names) == len(model.parameters) == net.depth
        assert all(bool(torch.isfinite(a).all()) for a in net.weights + net.biases)
        assert net(torch.zeros(1, net.widths[0], dtype=torch.float64)).shape == (1, net.widths[-1])
        assert model.stored_cost >= 0
        assert all(text.isprintable() for text in (*model.names, *model.folded, *model.assumed))


@pytest.mark.parametrize("name", MODELS)
def test_the_good_ones_are_read(folder, name):
    assert read_model(write(folder / name, content(name))).net.widths == (2, 3, 1)


def write(path, raw):
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("name", MODELS)
@cases(150, data=st.data())
def test_a_torn_file(folder, name, data):
    check(folder / name, data.draw(torn(content(name)) | WHOLE_TEXTS))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("other", [*MODELS, *DATA])
def test_another_format_under_the_name(folder, name, other):
    if other != name and (name, other) != ("m.safetensors", "d.safetensors"):
        path = write(folder / name, content(other))
        with pytest.raises(
            ModelError, match=r"not what its name says|cannot be read as an ONNX model"
        ):
            read_model(path)


@cases(150, data=st.data())
def test_a_header_of_safetensors_that_lies(folder, data):
    raw = content("m.safetensors")
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + length])
    changed = data.draw(mutated(header))
    text = json.dumps(changed).encode("utf-8", "surrogatepass")
    announced = data.draw(st.sampled_from([len(text)] * 5 + [0, 7, 2**24, 2**40, 2**63]))
    check(folder / "m.safetensors", struct.pack("<Q", announced) + text + raw[8 + length :])


@cases(150, data=st.data())
def test_an_archive_of_torch_that_lies(folder, data):
    """The pickle and the records are changed, and the checksums are right."""
    chosen = data.draw(st.sampled_from(["/data.pkl", "/data.pkl", "/data/0", "/byteorder", "e"]))

    def change(name, entry):
        return data.draw(torn(entry)) if name.endswith(chosen) else entry

    check(folder / "m.pt", repacked(content("m.pt"), change))


def state_dict():
    return {
        "0.weight": torch.ones(3, 2),
        "0.bias": torch.ones(3),
        "1.weight": torch.ones(3),
        "1.bias": torch.ones(3),
        "1.running_mean": torch.ones(3),
        "1.running_var": torch.ones(3),
        "1.num_batches_tracked": torch.tensor(5),
        "3.weight": torch.ones(1, 3),
        "3.bias": torch.ones(1),
    }


@cases(60, data=st.data())
def test_a_state_dict_that_does_not_fit(folder, data):
    """Tensors of other shapes, types and names, in another order."""
    good = state_dict()
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(good)))
        value = good.pop(name)
        if not value.is_floating_point() or value.is_meta or value.layout is not torch.strided:
            continue
        shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
        odd = [
            torch.ones(shape), value.double(), value.half(), value.bfloat16(), value.long(),
            value.bool(), value * torch.nan, value / 0, -value, value * 1e30, value.to_sparse(),
            value.to("meta"), torch.ones(shape, dtype=torch.complex64),
        ]  # fmt: skip
        kept = data.draw(st.sampled_from([*odd, value, value, value]))
        new = data.draw(
            st.sampled_from(
                [name, name, f"net.{name}", name.replace("0", "10"), name.replace("1", "2"),
                 "0.weight", "weight", "a.b.c.weight", "4.running_mean", "4.weight_g"]
            )
            | ODD_TEXTS
            | ODD_TEXTS.map(lambda text: f"{text}.weight")
        )  # fmt: skip
        good[new] = kept
    try:
        torch.save(good, folder / "m.pt")
    except (UnicodeError, RuntimeError):  # torch cannot write it: a lone surrogate
        return
    slope = data.draw(st.sampled_from([None, None, 0.5, 1]))
    check(folder / "m.pt", (folder / "m.pt").read_bytes(), slope)


@cases(30, value=STRANGE)
def test_what_is_no_model_at_all(value):
    assert refused((ModelError,), lambda: model_of(value))
