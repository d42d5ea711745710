"""Files of a stranger: ledgers and certificates run nothing and write nowhere else.

`docs/security.md` says which commands run the Python of a claim file, and which do not.
"""

import ast
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

import rankcheck
from rankcheck.claims.facts import is_id
from rankcheck.faces.commands.cli import main

PACKAGE = Path(rankcheck.__file__).parent
#: What makes code of data.
MAKES_CODE = {
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads"),
    *("torch.load", "torch.jit.load", "numpy.load", "np.load", "shelve.open", "yaml.load"),
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "subprocess.run"),
    *("subprocess.Popen", "importlib.import_module", "runpy.run_path", "pydoc.locate"),
}
#: Where it is allowed, and on what.
ALLOWED = {
    ("audit/files.py", "torch.load"): "with weights_only, which calls nothing",
    ("audit/files.py", "np.load"): "arrays of numbers, without pickles",
    ("faces/commands/cli.py", "importlib.import_module"): "sub-commands, by a fixed list of names",
    ("__init__.py", "importlib.import_module"): "the pages of notebooks",
    ("doors.py", "importlib.import_module"): "modules of rankcheck, named by its packages",
    (
        "faces/report/page.py",
        "pydoc.locate",
    ): "the witness of a claim, a name that begins with rankcheck.",
    ("engine/parallel/worker.py", "pickle.loads"): "what this process has sent to its own worker",
    ("engine/parallel/dask.py", "pickle.loads"): "what a client has sent to its own cluster",
    (
        "engine/parallel/executors.py",
        "pickle.loads",
    ): "an error of this process, to see if it can be sent",
    ("engine/parallel/executors.py", "importlib.import_module"): "a file of that room, by its name",
    ("decide/prove/sums/semidefinite.py", "importlib.import_module"): "the solver, by a fixed name",
}


def calls():
    """The calls of such functions in the package, by file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith("_properties"):
            continue
        text = path.read_text(encoding="utf-8")
        if not any(called in text for called in MAKES_CODE):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and (called := ast.unparse(node.func)) in MAKES_CODE:
                yield name, called


def test_no_data_becomes_code():
    found = set(calls()) - set(ALLOWED)
    lazy = {one for one in found if one[0].endswith("/__init__.py") and "import_module" in one[1]}
    assert found - lazy == set()


def test_torch_reads_weights_only():
    text = (PACKAGE / "audit" / "files.py").read_text(encoding="utf-8")
    loads = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load"
    ]
    options = [{one.arg: ast.unparse(one.value) for one in node.keywords} for node in loads]
    assert [one["weights_only"] for one in options] == ["True"]


class Bomb:
    """Writes a file when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch exploded",)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("protocol", [0, 5])
def test_a_pickle_is_not_opened(here, capsys, protocol):
    for name in ("x.json", "x.pkl", "x.pt", "x.py", "x.jsonl"):
        Path(name).write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        for line in (
            ["replay", name],
            ["show", "rank.sandwich", "--ledger", name],
            ["list", name],
            ["certify", "rank.sandwich", "--instance", name],
        ):
            assert main(line) == 2
    assert not Path("exploded").exists()


@pytest.mark.parametrize("protocol", [0, 5])
def test_a_model_that_would_run_code(here, capsys, protocol):
    """As a pickle under any name, as torch packs it, and inside arrays of numpy."""
    bomb = pickle.dumps(Bomb(), protocol=protocol)
    for name in ("x.safetensors", "x.pt", "x.onnx", "x.npy", "x.csv", "x"):
        Path(name).write_bytes(bomb)
        assert main(["audit", name]) == 2
    torch.save({"weight": Bomb()}, "x.pt", pickle_protocol=max(protocol, 2))
    assert main(["audit", "x.pt"]) == 2
    torch.save({"weight": torch.ones(1, 1)}, "good.pt")
    np.save("x.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez("x.npz", X=np.array([Bomb()], dtype=object))
    for name in ("x.npy", "x.npz", "x.csv", "x"):
        assert main(["audit", "good.pt", "--data", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert not Path("exploded").exists()


@pytest.mark.parametrize("id_", ["../x", "../../x", "/etc/x", "a/b", "..", "t..a", ".t.a", "t.a/",
                                 "t.a\n", "t.a\x00", "T.a", "t", "", "t." + "a" * 300])  # fmt: skip
def test_an_id_is_no_path(id_):
    assert not is_id(id_)


def test_the_text_of_a_file_does_not_reach_the_terminal_raw(here, capsys):
    data = {"schema": 2, "claim": "t.a\x1b[2J\nrankcheck: all is well"}
    Path("x.json").write_text(json.dumps(data))
    assert main(["replay", "x.json"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert err.count("\n") == 1


def test_the_page_names_every_command():
    from rankcheck.faces.commands.cli import COMMANDS

    page = (PACKAGE.parent / "docs" / "security.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"`{command}`" in page
