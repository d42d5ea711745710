"""State dicts whose names speak of something else than a chain."""

import itertools

import pytest
import torch

from rankcheck.audit import audit
from rankcheck.audit.reading import read_model


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def saved(folder, parameters):
    torch.save(parameters, folder / "m.pt")
    return folder / "m.pt"


def named(names, widths):
    """A state dict of linear layers with these names."""
    pairs = zip(names.split(), itertools.pairwise(widths), strict=True)
    return {f"{name}.weight": torch.randn(m, n) for name, (n, m) in pairs}


@pytest.mark.parametrize(
    ("names", "widths", "said"),
    [
        ("stem blocks.0.fc1 blocks.0.fc2 head", (3, 8, 32, 8, 2), "'blocks.0.fc1' to 'blocks.0.fc"),
        ("a layers.0.0 layers.0.2 layers.1.0 layers.1.2", (3, 8, 8, 8, 8, 8),
         "'layers.0.0' to 'layers.0.2', 'layers.1.0' to 'layers.1.2'"),
        ("in blocks.0 blocks.1 blocks.2 out", (3, 8, 8, 8, 8, 2),
         "fit around 'blocks.0', 'blocks.1', 'blocks.2'"),
        ("in res1.linear out", (3, 8, 8, 2), "fit around 'res1.linear'"),
        ("in enc.0.attn enc.0.fc", (3, 8, 8, 8), "'enc.0.attn' to 'enc.0.fc', and of layers besid"),
        ("fc1 shortcut fc2", (8, 8, 8, 8), "layers beside others: 'shortcut'"),
        ("in mixer.0 mixer.1", (3, 8, 8, 8), "'mixer.0' to 'mixer.1'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("slope", [None, 0])
def test_names_that_speak_of_branches(tmp_path, names, widths, said, slope):
    path = saved(tmp_path, named(names, widths))
    assert said in read_model(path, slope=slope).branches
    found = audit(path, slope=slope, theorems=False)
    assert found.headline.startswith("A chain was assumed, and the names speak of ")
    assert said in found.headline
    assert "--outputs FILE" in found.headline


@pytest.mark.parametrize(
    ("names", "widths"),
    [
        ("0 2 4 6", (3, 8, 8, 8, 2)),
        ("net.0 net.2 net.4", (8, 3, 3, 8)),
        ("fc1 fc2 fc3 fc4", (8, 8, 8, 8, 8)),
        ("layers.0.linear layers.1.linear layers.2.linear", (8, 8, 8, 8)),
        ("encoder.0 encoder.2 decoder.0 decoder.2", (9, 8, 2, 8, 9)),
        ("features.0 features.2 classifier.0", (8, 8, 8, 8)),
        ("layer1.0 layer1.2 layer2.0", (3, 8, 4, 2)),
        ("block1.fc1 block1.fc2 block2.fc1", (3, 8, 4, 2)),
        ("block", (8, 8)),
    ],
)
def test_names_of_plain_chains_speak_of_nothing(tmp_path, names, widths):
    model = read_model(saved(tmp_path, named(names, widths)))
    assert model.branches == ""
    assert model.net.widths == widths


def test_outputs_that_agree_end_what_names_speak_of(tmp_path):
    parameters = named("in blocks.0.a blocks.0.b out", (3, 8, 8, 8, 2))
    path = saved(tmp_path, parameters)
    X = torch.randn(40, 3)
    Y = X
    for i, weight in enumerate(parameters.values()):
        Y = (torch.relu(Y) if i else Y) @ weight.T
    found = audit(path, X, outputs=Y, theorems=False)
    assert (found.headline, found.model.branches, found.model.guessed) == (None, "", False)
