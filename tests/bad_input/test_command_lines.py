"""Command lines with odd values: an answer in one line, and nothing written elsewhere.

The one claim that is selected is cited, so that nothing runs for long.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from .cases import cases, run

TEXTS = st.sampled_from(
    ["", " ", "a" * 300, "\x00", "a\tb", "\x1b[31m", "é", "\udc80", "../../x", "..",
     "/etc/passwd", "/dev/full", "/dev/null/x", "~", "-1", "--", "-", "0", "1", "2", "1e400", "nan",
     "inf", "-inf", "1_0", "٣", "0x1", "1.5", "99999999999999999999", "quick", "deep", "ci", "cuda",
     "cuda:99", "meta", "mine.py", "mine.py::", "mine.py::nothing", "mine.py::t.cited",
     "nothing.py", "good", "t.cited", "[1]", "[", "{}", "[[[", "dask://", "dask://x:y", "dask://127.0.0.1:1:1",
     "::", "a::b", "good/ledger.json", "new.json", "no/such/place.json"]
) | st.text(st.characters(exclude_categories=["Cc", "Zl", "Zp"]), max_size=6)  # fmt: skip
#: What takes a value, by command. Whatever runs for long is left out.
OPTIONS = {
    "verify": ["--profile", "--seed", "--shrink", "--json", "--nothing"],
    "hunt": ["--budget", "--seed", "--shrink", "--scope", "--device", "--json", "--executor",
             "--no"],
    "certify": ["--instance", "--profile", "--seed"],
    "list": ["--json", "--nothing"],
    "show": ["--ledger", "--json"],
    "new": ["--kind", "--nothing"],
    "audit": ["--data", "--outputs", "--json", "--html", "--slope", "--device", "--nothing"],
    "replay": ["--claims", "--again"],
}  # fmt: skip
SELECTORS = st.sampled_from(["mine.py::test_cited"] * 3 + ["mine.py::t.cited"]) | TEXTS.filter(
    lambda text: text not in ("mine.py", "..", "good") and not text.startswith("-")
)
MODELS = st.sampled_from(["trained.pt"] * 3) | SELECTORS


@st.composite
def command_lines(draw):
    command = draw(st.sampled_from(sorted(OPTIONS)))
    model = command == "audit"
    named = MODELS if model else SELECTORS
    known = OPTIONS[command]
    given_ = [
        f"{draw(st.sampled_from(known))}={draw(TEXTS)}" for _ in range(draw(st.integers(0, 3)))
    ]
    flags = draw(st.sampled_from([[], [], ["--no"], ["-x"], ["--help"]]))
    workers = ["--workers=1"] if command == "verify" else []
    if model:
        workers = draw(st.sampled_from([[], ["--data=points.npy"]]))
    return [command, draw(named), *given_, *flags, *workers]


@pytest.fixture
def place(here, stored):
    """A folder for the command alone; afterwards nothing has changed around it."""
    inner = here / "inner"
    inner.mkdir(exist_ok=True)
    return inner


@cases(40, line=command_lines())
def test_an_answer_in_one_line(place, line):
    inside = place / "place" / "x"
    inside.mkdir(parents=True, exist_ok=True)
    (inside / "mine.py").write_bytes((place.parent / "mine.py").read_bytes())
    shape = {"0.weight": (3, 2), "0.bias": (3,), "2.weight": (1, 3)}
    torch.save({name: torch.ones(size) for name, size in shape.items()}, inside / "trained.pt")
    np.save(inside / "points.npy", np.eye(2))
    before = around(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(inside)
        ended = run(*line)
    assert around(place) == before
    assert ended.code in (0, 2) or (ended.code, line[0]) == (3, "audit")
    if ended.code == 3:  # a network of more than one layer, without --slope
        assert "ReLU was assumed" in ended.out + ended.err


def around(place):
    inner = place / "place" / "x"
    return {p for p in place.parents[1].rglob("*") if not Path(p).is_relative_to(inner)}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_nothing_but_the_command(here, name):
    if name not in ("verify", "list"):  # these take all, or list them
        assert run(name).code == 2
