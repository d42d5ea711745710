"""Good files to begin from: claims, a certificate, a ledger."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.counterexamples.certificate import write
from rankcheck.engine.counterexamples.given import from_choices
from rankcheck.engine.verification.ledger import Ledger
from rankcheck.engine.verification.one import verify_entry
from rankcheck.engine.verification.profiles import Profile, Settings

CLAIMS = Path(__file__).with_name("stored.txt")
#: Few instances: what is tried is the input, not the claim.
SMALL = Settings(Profile("small", drawn=3, batches=1, size=8, single=2, scope=2), shrink=0.0)


def forget():
    """Forget claims and the modules of files below the working directory."""
    for id_ in [*registry.declared(), *registry.malformed()]:
        if id_.startswith("t."):
            registry.forget(id_)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(Path.cwd()):
            del sys.modules[name]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A working directory with `mine.py`, deep enough that `..` holds nothing else."""
    folder = tmp_path_factory.mktemp("bad") / "a" / "b"
    folder.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "mine.py").write_text(CLAIMS.read_text(encoding="utf-8"), encoding="utf-8")
        yield folder
        forget()


@pytest.fixture(scope="module")
def stored(here):
    """The claims of `mine.py` by their name, and good files as JSON."""
    entries = select(["mine.py"])
    claims = {claim.id: claim for claim in load(entries)}
    norm = claims["t.norm"]
    smallest, worst = (from_choices(norm, c) for c in ([0, [3, 1], 0], [1, [6.5, 7], 0.125]))
    certificate = write(here / "good", smallest, worst)
    rows = [verify_entry(entry, claims[entry.id], SMALL) for entry in entries]
    ledger = here / "good" / "ledger.json"
    Ledger.of(rows, profile="quick", seed=0, seconds=1.5).write(ledger)
    return SimpleNamespace(
        claims=claims,
        certificate=json.loads(certificate.read_text(encoding="utf-8")),
        ledger=json.loads(ledger.read_text(encoding="utf-8")),
    )
