"""Data that are torn, or that lie: points as they are, or one line that says why not."""

import struct

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import data_of, read_data

from .cases import cases, refused
from .strategies import STRANGE, WHOLE_TEXTS, arrays, torn
from .trained import DATA, MODELS, content, repacked


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


def check(path, raw):
    path.write_bytes(raw)
    points_or_one_line(lambda: read_data(path))


def points_or_one_line(read):
    made = []
    message = refused((ModelError,), lambda: made.append(read()))
    assert bool(message) != bool(made)
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 1000
    for points in made:
        assert points.dtype == torch.float64
        assert points.ndim == 2
        assert points.numel() > 0
        assert bool(torch.isfinite(points).all())
        assert len(points) == 1 or bool((points != points[0]).any())


@pytest.mark.parametrize("name", DATA)
def test_a_file_is_read_whole_or_not_at_all(folder, name):
    path, raw = folder / name, content(name)
    path.write_bytes(raw)
    assert read_data(path).tolist() == [[1, 2], [3, 4.5], [-1, 0.25]]
    for part in range(20):
        check(path, raw[: len(raw) * part // 20])


@pytest.mark.parametrize("name", DATA)
def test_another_format_under_the_name(folder, name):
    for other in {*MODELS, *DATA} - {name, "m.safetensors" if name == "d.safetensors" else name}:
        (folder / name).write_bytes(content(other))
        with pytest.raises(ModelError, match=name.replace(".", r"\.")):
            read_data(folder / name)


@pytest.mark.parametrize("name", DATA)
@cases(120, data=st.data())
def test_a_torn_file(folder, name, data):
    check(folder / name, data.draw(torn(content(name)) | WHOLE_TEXTS))


SHAPES = st.sampled_from(
    ["(3, 2)", "(2, 3)", "(6,)", "()", "(-3, -2)", "(3, 2.0)", "(10**9,)", "(1 << 40, 0)", "None",
     "(3, '2')", "((3, 2),)", "[3, 2]", "(1, 1, 1, 1, 1, 1, 6)", "(6" + ", 1" * 70 + ")"]
)  # fmt: skip
TYPES = st.sampled_from(
    ["<f8", ">f8", "<f4", "<f2", "|O", "|S8", "<U2", "<c16", "|V8", "<i8", "<M8[s]", "|b1", "", "x",
     "<f16", "f8,f8", "(2,)<f8", "<i4"]
)  # fmt: skip
ORDERS = st.sampled_from(["True", "False", "0", "None", "__import__"])


@cases(120, shape=SHAPES, dtype=TYPES, order=ORDERS, packed=st.booleans())
def test_a_header_of_numpy_that_lies(folder, shape, dtype, order, packed):
    text = f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}}}".encode() + b"\n"
    points = np.arange(6.0).tobytes()
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + points
    if packed:
        raw = repacked(content("d.npz"), lambda name, entry: raw if name == "X.npy" else entry)
    check(folder / ("d.npz" if packed else "d.npy"), raw)


FIELDS = st.sampled_from(
    ["1", "-2.5", "1e3", " 4 ", '"5"', "", "x", "nan", "inf", "1e999", "1_0", "0x1", "1;2", '"',
     "#3", "1j", "--1", "é", "١", "\x1b[31m", "<b>", "1 2", "+", "True", "1e", ".", "\x85"]
)  # fmt: skip
ROWS = st.lists(st.lists(FIELDS, max_size=3), max_size=4)


@cases(150, rows=ROWS, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_table_of_odd_fields(folder, rows, end):
    check(folder / "d.csv", end.join(",".join(row) for row in rows).encode() or b"\n")


@cases(100, value=arrays(3, 2) | STRANGE)
def test_objects_that_are_no_data(value):
    points_or_one_line(lambda: data_of(value))
