"""Whether ledgers of several versions of Python and the packages have the same verdicts.

    rankcheck verify --json pinned.json            # in each environment, with the same code
    python benchmarks/versions.py pinned.json oldest.json [...] [--markdown FILE]

The others are compared with the first. The ids, the kinds and the verdicts have to be equal. The
numbers need not be: other versions of torch and numpy round otherwise, and another version of
Hypothesis draws other instances. The table shows by how much the best ratio of a claim differs at
most, and a deviation.

Exit code 0: all verdicts are equal. 1: some are not; each is named. 2: a file is no ledger, or the
ledgers are of different profiles or seeds.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rankcheck.engine.verification.ledger import Ledger, Row, read_ledger
from rankcheck.errors import InputError

#: What the table shows, by the names that a ledger uses; `rankcheck` itself is the same in all.
SHOWN = ("python", "torch", "numpy", "scipy", "hypothesis", "python-flint")


@dataclass(frozen=True)
class Apart:
    """How far two ledgers are apart in one number, and the claim where they are farthest.

    Infinite if only one of them has the number.
    """

    distance: float = 0.0
    claim: str = ""

    def __str__(self) -> str:
        return f"{self.distance:.2g} ({self.claim})" if self.claim else "0"


def differences(first: Ledger, other: Ledger) -> list[str]:
    """The claims that are in one ledger only, or whose kind or verdict differs, as sentences."""
    old, new = _by_id(first), _by_id(other)
    found = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            found.append(f"{name} is missing")
        elif name not in old:
            found.append(f"{name} is in this ledger only")
        else:
            for field in ("kind", "verdict"):
                a, b = getattr(old[name], field), getattr(new[name], field)
                if a != b:
                    reasons = "; ".join(new[name].messages or old[name].messages)
                    found.append(
                        f"{name}: {field} {a} became {b}" + f" ({reasons})" * bool(reasons)
                    )
    return found


def apart(first: Ledger, other: Ledger, field: str) -> Apart:
    """The largest difference of a number that a row has: `best_ratio` or `deviation`."""
    old, new = _by_id(first), _by_id(other)
    farthest = Apart()
    for name in sorted(old.keys() & new.keys()):
        a, b = getattr(old[name], field), getattr(new[name], field)
        if a == b:
            continue
        distance = math.inf if a is None or b is None else abs(a - b)
        if not distance <= farthest.distance:  # not a number is farther than any number
            farthest = Apart(distance, name)
    return farthest


def table(ledgers: dict[str, Ledger]) -> str:
    """A Markdown table, a line a ledger; the first is what the others are compared with."""
    [first, *_] = ledgers.values()
    columns = ("ledger", *SHOWN, "claims", "verdicts", "best ratio differs by", "deviation by")
    lines = [columns, ("---",) * len(columns)]
    for name, ledger in ledgers.items():
        wrong = len(differences(first, ledger))
        said = "equal" if not wrong else f"{wrong} differ"
        numbers = [str(apart(first, ledger, field)) for field in ("best_ratio", "deviation")]
        if ledger is first:
            said, numbers = "compared with", ["", ""]
        versions = [ledger.versions.get(package, "?") for package in SHOWN]
        lines.append((name, *versions, str(len(ledger.rows)), said, *numbers))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read(paths: Sequence[Path]) -> dict[str, Ledger]:
    """The ledgers by the name of their file, without `.json`; by the whole path if that is taken.

    A file that is named twice counts once.

    Raises:
        InputError: if a file is no ledger, there is one alone, or profile or seed are not the same
            in all.
    """
    ledgers: dict[str, Ledger] = {}
    once = dict.fromkeys(path.resolve() for path in paths)
    if len(once) < 2:
        raise InputError(f"{paths[0]} is the only ledger; name at least two")
    for path in once:
        ledgers[path.stem if path.stem not in ledgers else str(path)] = read_ledger(path)
    for what in ("profile", "seed"):
        values = {name: getattr(ledger, what) for name, ledger in ledgers.items()}
        if len(set(values.values())) > 1:
            listed = ", ".join(f"{name}: {value}" for name, value in values.items())
            raise InputError(
                f"the ledgers differ in their {what} ({listed}); write them with the same one"
            )
    return ledgers


def _by_id(ledger: Ledger) -> dict[str, Row]:
    return {row.id: row for row in ledger.rows}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, then each difference; the exit code is in the docstring of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("first", type=Path, help="the ledger that the others are compared with")
    parser.add_argument("others", type=Path, nargs="+", metavar="other")
    parser.add_argument("--markdown", type=Path, help="append the table to this file, too")
    args = parser.parse_args(arguments)
    try:
        ledgers = read([args.first, *args.others])
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    shown = table(ledgers)
    print(shown)
    if args.markdown:
        with args.markdown.open("a", encoding="utf-8") as file:
            file.write(shown + "\n")
    [first, *_] = ledgers.values()
    wrong = [
        f"{name}: {text}" for name, ledger in ledgers.items() for text in differences(first, ledger)
    ]
    print("", *wrong, sep="\n") if wrong else None
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
