"""One seed, one ledger: however many workers, in whatever order, beside whatever claims."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankcheck.catalogue.selection import select

pytestmark = pytest.mark.slow  # three processes and their workers

ROOT = Path(__file__).parents[2]

#: Quick claims of every kind of result, from LAPACK, sums and powers, rationals and certificates.
CLAIMS = (
    "linear.singular-value-decay",
    "bottleneck.amgm",
    "bottleneck.mirsky",
    "bottleneck.second-correction-nonnegative",
    "linear.nuclear-norm",
    "linear.one-dimensional-cost",
    "rank.layer-energy-as-printed",
    "rank.limit-exists",
    "rank.relu-from-leaky",
    "separation.density-step",
)
#: One process: all claims, all in another order, and the first alone after all that.
ONE_PROCESS = """
import json, sys
from rankcheck.commands.cli import main
for path, selectors in json.load(sys.stdin).items():
    main(["verify", *selectors, "--workers", "1", "--json", path])
"""


def rows(path):
    """The text of each row of a ledger without the time that it took, by id."""
    ledger = json.loads(path.read_text())
    return {
        row["id"]: json.dumps({name: value for name, value in row.items() if name != "seconds"})
        for row in ledger["claims"]
    }


def of_one_process(folder):
    """The rows of the runs of one process, see `ONE_PROCESS`."""
    paths = [folder / f"{number}.json" for number in range(3)]
    selections = dict(zip(map(str, paths), (CLAIMS, CLAIMS[::-1], CLAIMS[:1]), strict=True))
    environment = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    subprocess.run(
        [sys.executable, "-c", ONE_PROCESS],
        input=json.dumps(selections),
        cwd=ROOT,  # the path of a certificate is shown from here
        env=environment,
        text=True,
        check=True,
        capture_output=True,
    )
    return [rows(path) for path in paths]


def of_two_workers(folder):
    path = folder / "workers.json"
    selectors = ["linear.singular*", *CLAIMS[:0:-1], "separation.density-s*"]
    options = ["--workers", "2", "--json", str(path)]
    subprocess.run(
        [sys.executable, "-m", "rankcheck", "verify", *selectors, *options],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return rows(path)


def of_pytest(folder):
    path = folder / "pytest.json"
    nodes = [f"{entry.file}::{entry.name}" for entry in select(CLAIMS[::2])]
    options = ["-q", "-n", "2", "-p", "no:cacheprovider", "--rankcheck-ledger", str(path)]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *nodes],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name},
        check=True,
        capture_output=True,
    )
    return rows(path)


def test_neither_order_nor_workers_nor_pytest_matter(tmp_path):
    first, again, alone = of_one_process(tmp_path)
    assert sorted(first) == sorted(CLAIMS)
    assert again == first
    assert alone.items() <= first.items()
    assert of_two_workers(tmp_path) == first
    in_pytest = of_pytest(tmp_path)
    assert sorted(in_pytest) == sorted(CLAIMS[::2])
    assert in_pytest.items() <= first.items()
