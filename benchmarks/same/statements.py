"""The statements of benchmarks/statements: the false ones are hunted, the true ones verified."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import PROFILES, Settings

STATEMENTS = Path(__file__).parents[1] / "statements"
FALSE = ("easy_false", "false", "false_counts", "false_kinds", "fresh_false")
TRUE = ("easy_true", "true", "fresh_true")
BUDGET = 20.0
SEEDS = 3
#: One that passes, one that is refuted, in a file that pytest collects.
FILES = ("examples/root_n.py", "examples/sup_norm.py")


def hunted(entry: Entry) -> dict[str, Any]:
    """Whether hunts of `BUDGET` seconds refute a false statement: one seed, two more if missed."""
    [claim] = load([entry])
    found = ""
    for seed in range(SEEDS):
        with tempfile.TemporaryDirectory() as folder:
            found = hunt(claim, BUDGET, seed, folder=folder, shrink=0.01).verdict
        if found == "refuted":
            break
    return {"verdict": found}


def verified(entry: Entry) -> dict[str, Any]:
    """What `verify` with the profile `quick` says of a true statement."""
    [claim] = load([entry])
    with tempfile.TemporaryDirectory() as folder:
        return {
            "verdict": verify_claim(claim, Settings(PROFILES["quick"], 0, Path(folder))).verdict
        }


def collected() -> dict[str, str]:
    """By test, what the pytest plugin says of two examples."""
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *FILES]
    root = STATEMENTS.parents[1]
    said = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False).stdout
    words = [line.split() for line in said.splitlines()]
    return {line[1]: line[0] for line in words if line and line[0] in {"PASSED", "FAILED", "ERROR"}}


def on_dask() -> dict[str, str]:
    """What a hunt on a cluster of two processes says of a false statement and of a true one."""
    from tests.clusters import cluster_of_two

    found: dict[str, str] = {}
    with cluster_of_two() as client, tempfile.TemporaryDirectory() as folder:
        for name in ("easy_false", "easy_true"):
            [claim, *_] = load(select([str(STATEMENTS / f"{name}.py")]))
            result = hunt(claim, 10.0, 0, folder=folder, executor=client, shrink=0.01)
            found[claim.id] = result.verdict
    return found
