"""Data from files and from Python: the numbers as they are, or an error with the place."""

import io
import math
import struct
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import check_width, data, data_of, model_of, read_data
from rankcheck.networks import Network

X = np.random.default_rng(0).normal(size=(6, 3))


def refused(value, match):
    """The file or the object is refused in one line."""
    with pytest.raises(ModelError, match=match) as caught:
        data_of(value)
    assert "\n" not in str(caught.value)


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
            np.savetxt(path, array, delimiter=",", fmt="%.17g", header="a,b,c", comments="")
    return path


@pytest.mark.parametrize("name", ["d.npy", "d.npz", "d.safetensors", "d.csv", "D.CSV", "d"])
def test_numbers_are_read_as_they_are(tmp_path, name):
    path = write(tmp_path / name, X)
    read = read_data(path)
    assert read.dtype == torch.float64
    assert np.array_equal(read.numpy(), X)
    assert torch.equal(data_of(path), read)


@pytest.mark.parametrize("name", ["d.npy", "d.npz", "d.safetensors", "array"])
def test_types(tmp_path, name):
    for dtype in (">f8", "<f4", "int8", "uint16", "int32", "int64", "uint64", "bool"):
        array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
        if name == "d.safetensors" and not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        read = data_of(array) if name == "array" else read_data(write(tmp_path / name, array))
        assert read.tolist() == [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("name", ["d.npy", "d.npz", "d.safetensors", "array"])
@pytest.mark.parametrize(
    ("array", "match"),
    [
        (X.astype(np.float16), "half precision or less"),
        (X.astype(np.complex64), "is complex"),
        (np.full((2, 2), 2**53 + 1), "integers up to 9007199254740993; beyond"),
        (np.zeros((0, 3)), r"\(0, 3\): it is empty"),
        (np.zeros((3, 0)), r"\(3, 0\): it is empty"),
        (np.array([[1, 2], [3, math.nan]]), r"entry nan at \[1, 1\]; all must be finite"),
        (np.array([[1, 2], [-math.inf, 0]]), r"entry -inf at \[1, 0\]"),
        (np.ones((4, 2)), "4 points that are all equal, so that ranks over the data say nothing"),
        (np.float64(3), "a single number"),
    ],
)
def test_numbers_that_are_refused(tmp_path, name, array, match):
    refused(array if name == "array" else write(tmp_path / name, np.array(array)), match)


def test_shapes():
    assert data_of([1.0, 2.0, 4.0]).shape == (3, 1)
    images = np.arange(24.0).reshape(4, 2, 3)
    assert np.array_equal(data_of(images).numpy(), images)
    assert data_of([[5.0, 5.0]]).shape == (1, 2)  # one point
    assert data_of([[1, 7], [1, 8]]).tolist() == [[1, 7], [1, 8]]  # a constant column
    rows = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]
    assert data_of(rows).tolist() == [[1, 2], [3, 4]]
    leaf = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    read = data_of(leaf)
    assert not read.requires_grad
    assert read.data_ptr() != leaf.data_ptr()


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([[1, 2], [3]], "cannot be read as an array of numbers"),
        ([["a", "b"]], "type 'str32'"),
        ([10**400], "type 'object'"),
        ([None], "type 'object'"),
        (3.5, "are a float"),
        (None, "are a NoneType"),
        (torch.ones(2, 2).to_sparse(), "sparse tensor"),
        (torch.ones(2, 2, device="meta"), "meta tensor"),
        (torch.tensor([[2**60, 1]]), "integers up to"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "type 'datetime64"),
        (np.zeros(3, dtype=[("a", "f8")]), "type"),
        (np.ones((2, 2), dtype=np.longdouble), "type 'float128'|type 'longdouble'"),
        (torch.zeros(1).expand(1 << 15, 1 << 15), "at most 134217728"),
        (np.broadcast_to(np.zeros(1), (1 << 15, 1 << 15)), "at most 134217728"),
    ],
)
def test_objects_that_are_no_data(data, match):
    refused(data, match)


def test_the_width_must_fit():
    model = model_of(Network.of([[[1, 2, 3]]]))
    check_width(model, torch.from_numpy(X))
    with pytest.raises(ModelError, match="the data have 6 numbers a point; the network takes 3"):
        check_width(model, torch.ones(2, 6, dtype=torch.float64))


# Archives


@pytest.mark.parametrize("name", ["X", "x", "data"])
@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_one_of_several_arrays(tmp_path, name, ending):
    path = tmp_path / f"d{ending}"
    arrays = {name: X, "labels": np.arange(6)}
    if ending == ".npz":
        np.savez(path, **arrays)
    else:
        save_file({key: torch.from_numpy(value) for key, value in arrays.items()}, path)
    assert np.array_equal(read_data(path).numpy(), X)


@pytest.mark.parametrize("arrays", [{"a": X, "b": X}, {"X": X, "x": X}, {}])
def test_several_arrays_without_a_name_that_says_which(tmp_path, arrays):
    path = tmp_path / "d.safetensors"
    save_file({key: torch.from_numpy(value.copy()) for key, value in arrays.items()}, path)
    listed = r" \('\w', '\w'\)" if arrays else ""
    refused(path, rf"has {len(arrays)} arrays{listed}; it must have one")
    if arrays:
        np.savez(tmp_path / "d.npz", **arrays)
        refused(tmp_path / "d.npz", rf"has 2 arrays{listed}")


def header(shape, dtype="<f8", order=False):
    text = f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def test_fortran_order_is_numpys(tmp_path):
    path = tmp_path / "d.npy"
    np.save(path, np.asfortranarray(X))
    assert np.array_equal(read_data(path).numpy(), X)
    path.write_bytes(header((2, 3)) + X[:2].tobytes())
    assert np.array_equal(read_data(path).numpy(), X[:2])


HEADERS = [
    (header((40_000, 25_000)), "at most 134217728 entries"),
    (header((3, 3)), "has 48 bytes of numbers; its header announces 72"),
    (header((2, 2)), "has 48 bytes of numbers; its header announces 32"),
    (header((2, 3), "|O"), "type 'object'"),
    (header((-1, 3)), "no size is negative"),
    (header((10**30, 0)), "it is empty"),
    (header((2, 3), "<f2"), "half precision"),
    (header("x"), "cannot be read as"),
    (b"\x93NUMPY\x01\x00\xff\xff{}", "header"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{}", "EOF"),
    (b"\x93NUMPY\x09\x09\x10\x00\x00\x00{}", "cannot be read as"),
    (b"\x93NUMPY", "cannot be read|is no numpy array|header"),
]


@pytest.mark.parametrize(("head", "match"), HEADERS)
def test_headers_that_lie(tmp_path, head, match):
    path = tmp_path / "d.npy"
    path.write_bytes(head + X[:2].tobytes())
    refused(path, match)
    path = tmp_path / "d.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", head + X[:2].tobytes())
    refused(path, match)


def test_archives_that_lie(tmp_path, monkeypatch):
    raw = io.BytesIO()
    np.save(raw, X)
    path = tmp_path / "d.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header((1 << 19, 1)) + bytes(1 << 22))
    assert path.stat().st_size < 10_000
    with monkeypatch.context() as patch:
        patch.setattr(data, "LARGEST_ENTRIES", 1 << 18)
        refused(path, "announces 4194432 bytes of content; at most 3145728")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", raw.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("X.npy", raw.getvalue())
    refused(path, r"two entries of one name")
    np.savez(path, X)  # not compressed
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(X[3].tobytes())] ^= 1
    path.write_bytes(damaged)
    refused(path, "Bad CRC-32")
    damaged = bytearray(write(path, X).read_bytes())
    damaged[60] ^= 0xFF
    path.write_bytes(damaged)
    refused(path, r"cannot be read as an archive|cannot be read as a zip")


@pytest.mark.parametrize(
    ("name", "raw", "match"),
    [
        ("d.csv", header((1, 1)) + bytes(8), "not what its name says: it is npy"),
        ("d.csv", b"\x80\x04\x95abc", "it is pickle; data are"),
        ("d.xlsx", b"PK\x05\x06" + bytes(18), "is zip archive; data are"),
        ("d.h5", b"\x89HDF\r\n\x1a\n", "is HDF5; data are"),
        ("d.npy", b"", "it is empty"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(tmp_path, name, raw, match):
    path = tmp_path / name
    path.write_bytes(raw)
    refused(path, match)


# Tables


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("x,y\n1,2\n3,4", [[1, 2], [3, 4]]),
        ('"x, in m","y"\r\n"1",2\r\n\r\n3,4\r\n', [[1, 2], [3, 4]]),
        ("\ufeff1e-3 , -2.5E+1\n+3,.5\n", [[1e-3, -25], [3, 0.5]]),
        ("\n\nx\n1\n2\n", [[1], [2]]),
        ("7,8,9\n", [[7, 8, 9]]),
        ("0.1,9007199254740993\n1,1\n", [[0.1, 9007199254740992], [1, 1]]),
    ],
)
def test_tables(tmp_path, text, rows):
    path = tmp_path / "d.csv"
    path.write_bytes(text.encode())
    assert read_data(path).tolist() == rows


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1,2\n3,x\n", "line 2, column 2: 'x' is no finite number$"),
        ("a,b\n1,2\n\n3,\n", "line 4, column 2: '' is no finite number"),
        ("a,2\n3,4\n", "line 1, column 1: 'a' is no finite number"),
        ("1,2\n3,4,5\n", "line 2: it has 3 fields, those before 2"),
        ("1,2\n3\n", "line 2: it has 1 fields, those before 2"),
        ("1;2\n3;4\n", r"line 2, column 1: '3;4' is no finite number \(the separator is a comma\)"),
        ("x\ty\n1\t2\n", r"line 2, column 1: '1\\t2' is no finite number \(the separator"),
        ("1,2\nnan,4\n", "line 2, column 1: 'nan' is no finite"),
        ("1,2\n3,1e999\n", "line 2, column 2: '1e999' is no finite"),
        ("x,y\n", "has no numbers; it is empty"),
        ("\n\n", "has no numbers; it is empty"),
        ("1,2\n1,2\n1,2\n", "3 points that are all equal"),
        ("1_0,2\n3,4\n", "line 1, column 1: '1_0' is no finite"),
        ("1+2j,2\n3,4\n", r"line 1, column 1: '1\+2j' is no finite"),
        ("1,2\n0x10,4\n", "line 2, column 1: '0x10' is no finite"),
        ("1,\0\n", "is no finite number"),
        ("1,2\n" + "y" * 200_000 + ",3\n", "field larger than field limit"),
        ("1,<b>\n3,4", "'<b>' is no finite number"),
    ],
)
def test_tables_with_a_fault_are_refused_with_its_place(tmp_path, text, match):
    path = tmp_path / "d.csv"
    path.write_bytes(text.encode())
    refused(path, match)


def test_a_table_in_another_encoding_or_too_large(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(b"1,2\n3,\xe9\n")
    refused(path, "'utf-8' codec can't decode byte 0xe9 in position 6")
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)
    refused(path, "at most 268435456 are read: store an .npy")
