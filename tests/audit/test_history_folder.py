"""The checkpoints of a folder, look by look. Times are set; nothing waits for a clock."""

import os

import pytest

from rankcheck.audit.history.folder import Folder, Looks
from rankcheck.audit.model import ModelError


def write(path, content=b"x", at=1000):
    """A file with a time of writing in seconds."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def names(entries):
    return [one.name for one in entries]


def test_checkpoints_are_the_files_that_are_called_so(tmp_path):
    for name in ("b.pt", "a.safetensors", "c.CKPT", "d.onnx", "e.bin", "f.pth"):
        write(tmp_path / name)
    data, page = write(tmp_path / "x.safetensors"), write(tmp_path / "a.html")
    write(tmp_path / "train.log")
    write(tmp_path / ".hidden.pt")
    write(tmp_path / "checkpoint-1" / "model.safetensors")
    write(tmp_path / "checkpoint-1" / "optimizer.pt")
    write(tmp_path / "checkpoint-2" / "only.pt")
    write(tmp_path / "two" / "a.pt")
    write(tmp_path / "two" / "b.pt")
    (tmp_path / "latest.pt").symlink_to(tmp_path / "b.pt")
    found, others = Folder(tmp_path, (data, page)).look()
    assert names(found) == [
        *("a.safetensors", "b.pt", "c.CKPT", "checkpoint-1/model.safetensors"),
        *("checkpoint-2/only.pt", "d.onnx", "e.bin", "f.pth"),
    ]
    assert others == {
        ".hidden.pt": "its name ends as that of no model",
        "latest.pt": "a link to b.pt",
        "train.log": "its name ends as that of no model",
        "two/": "a folder, and not of one model",
    }
    every, _ = Folder(tmp_path, (data, page), every=True).look()
    assert "train.log" in names(every)
    with pytest.raises(ModelError, match=r"cannot read the folder .*nothing: No such file"):
        Folder(tmp_path / "nothing").look()


def test_a_file_is_ready_when_it_is_as_at_the_look_before(tmp_path):
    looks = Looks(Folder(tmp_path))
    assert looks.ready() == []
    path = write(tmp_path / "a.pt", b"")
    assert looks.ready() == looks.ready() == []  # it is empty
    write(path, b"half")
    assert looks.ready() == []
    write(path, b"half", at=1001)  # of the same size, and written again
    assert looks.ready() == []
    write(path, b"the whole", at=1001)  # in the same second
    assert looks.ready() == []
    assert list(looks.waiting) == ["a.pt"]
    [entry] = looks.ready()
    assert (entry.name, entry.written, entry.changed) == ("a.pt", 1001.0, False)
    looks.tried(entry, read=True)
    assert list(looks.waiting) == []
    assert looks.ready() == looks.ready() == []


def test_a_file_is_read_once_also_when_it_is_written_again(tmp_path):
    looks = Looks(Folder(tmp_path))
    path = write(tmp_path / "last.pt")
    looks.ready()
    [entry] = looks.ready()
    looks.tried(entry, read=True)
    assert looks.again() == []
    write(path, b"newer")
    assert entry.changed
    assert looks.ready() == looks.ready() == []
    assert looks.again() == ["last.pt"]
    assert looks.again() == []
    path.unlink()
    assert looks.ready() == []
    assert looks.again() == []


def test_what_could_not_be_read_is_tried_again_when_it_has_changed(tmp_path):
    looks = Looks(Folder(tmp_path))
    path = write(tmp_path / "a.pt", b"half")
    looks.ready()
    [entry] = looks.ready()
    looks.tried(entry, read=False)
    assert looks.ready() == looks.ready() == []
    write(path, b"the whole")
    assert looks.ready() == []
    assert names(looks.ready()) == ["a.pt"]


def test_what_is_no_checkpoint_is_named_if_it_stays(tmp_path):
    looks = Looks(Folder(tmp_path))
    for name in ("train.log", "a.pt.tmp"):
        write(tmp_path / name)
    looks.ready()
    assert list(looks.others) == []
    (tmp_path / "a.pt.tmp").rename(tmp_path / "a.pt")
    looks.ready()
    assert list(looks.others) == ["train.log"]
    assert list(looks.waiting) == ["a.pt"]


def test_of_a_folder_that_is_complete_all_is_ready(tmp_path):
    write(tmp_path / "a.pt")
    write(tmp_path / "empty.pt", b"")
    assert names(Looks(Folder(tmp_path)).ready(final=True)) == ["a.pt", "empty.pt"]
