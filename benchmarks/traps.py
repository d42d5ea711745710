"""Whether `verify` and `hunt` fall into the traps of benchmarks/statements/traps.py.

    python benchmarks/traps.py [--budget 10] [--seed 0] [--only NAME]

Each line names a trap, how it ended and how it has to end. The exit code is 1 if one ended wrongly.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.errors import InputError
from rankcheck.hunt import hunt
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import PROFILES, Settings

STATEMENTS = Path(__file__).parent / "statements" / "traps.py"

#: How each trap has to end, under `verify` and under `hunt`.
EXPECTED = {
    "trap.norm-of-a-batch": ("failed", "wrong input"),
    "trap.mean-of-a-batch": ("failed", "wrong input"),
    "trap.scaled-by-a-batch": ("failed", "wrong input"),
    "trap.inverse": ("refuted", "refuted"),
    "trap.inverse-true": ("guarded", "survived"),
    "trap.eigenvalues": ("refuted", "refuted"),
    "trap.eigenvalues-true": ("guarded", "survived"),
    "trap.no-ball-form": ("undecided", "undecided"),
    "trap.no-ball-form-true": ("guarded", "survived"),
    "trap.wrong-floats": ("undecided", "undecided"),
    "trap.slightly-wrong-floats": ("undecided", "undecided"),
    "trap.equality-set": ("refuted", "refuted"),
}


def verified(claim: Claim, seed: int, folder: Path) -> str:
    """The verdict of `verify`."""
    return verify_claim(claim, Settings(PROFILES["quick"], seed, folder)).verdict


def hunted(claim: Claim, seed: int, folder: Path, budget: float) -> str:
    """The verdict of `hunt`, or that the input was refused."""
    try:
        return hunt(claim, budget, seed, folder=folder, shrink=0.01).verdict
    except InputError:
        return "wrong input"


def main() -> int:
    """Run the traps and print how they ended."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of a hunt (default 10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="traps whose id contains this")
    args = parser.parse_args()
    wrong = 0
    print(f"{'trap':28} {'verify':22} {'hunt':22}")
    with single_thread(), tempfile.TemporaryDirectory() as name:
        for claim in load(select([str(STATEMENTS)])):
            if args.only not in claim.id:
                continue
            folder = Path(name)
            ended = (
                verified(claim, args.seed, folder),
                hunted(claim, args.seed, folder, args.budget),
            )
            cells = []
            for was, wanted in zip(ended, EXPECTED[claim.id], strict=True):
                wrong += was != wanted
                cells.append(was if was == wanted else f"{was} (not {wanted})")
            print(f"{claim.id:28} {cells[0]:22} {cells[1]:22}", flush=True)
    print(f"{wrong} ended wrongly")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
