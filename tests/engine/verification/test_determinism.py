"""One seed, one ledger: however many workers, in whatever order, beside whatever claims."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove.standing import standing
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.run import verify_claims

pytestmark = pytest.mark.slow  # two processes and their workers

ROOT = Path(__file__).parents[3]

#: Quick claims of several kinds of result, from LAPACK, sums and powers, and certificates.
CLAIMS = (
    "bottleneck.amgm",
    "bottleneck.mirsky",
    "linear.one-dimensional-cost",
    "rank.layer-energy-as-printed",
    "rank.limit-exists",
)


def rows(claims):
    """The text of each row, as JSON, without the time that it took, by id."""
    return {
        row["id"]: json.dumps({name: value for name, value in row.items() if name != "seconds"})
        for row in claims
    }


def of_process(folder, without, *command):
    """The rows that a process writes; it has all variables but those with these letters."""
    path = folder / "ledger.json"
    subprocess.run(
        [sys.executable, "-m", *command, path],
        cwd=ROOT,  # the path of a certificate is shown from here
        env={name: value for name, value in os.environ.items() if without not in name},
        check=True,
        capture_output=True,
    )
    return rows(json.loads(path.read_text())["claims"])


def test_neither_order_nor_workers_nor_pytest_matter(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    entries = select(CLAIMS)
    here = rows(row.to_json() for row in verify_claims(entries[::-1], Settings(prover=standing)))
    assert sorted(here) == sorted(CLAIMS)
    workers = of_process(
        tmp_path, "THREADS", "rankcheck", "verify", *CLAIMS, "--workers", "2", "--json"
    )
    assert workers == here
    nodes = [f"{entry.file}::{entry.name}" for entry in entries[::2]]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", *nodes, "--rankcheck-ledger"]
    in_pytest = of_process(tmp_path, "PYTEST", "pytest", *options)
    assert len(in_pytest) == len(nodes)
    assert in_pytest.items() <= here.items()
