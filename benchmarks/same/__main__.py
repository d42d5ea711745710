"""Records what must not change, and says what differs from the recording that is kept.

    python -m benchmarks.same [--quick] [--record] [--to FILE] [--from FILE] [--only PART ...]

Recorded are, of the ledger at seeds 0 to 2 with the profile `quick`, verdicts, instances, ratios
and by which stage and distance each control is broken; which false statements hunts refute and
which true ones stand; what is proved again of all that is kept beside claims, with its drawings and
exports; what twelve audits measure; the errata; what the pytest plugin and hunts on Dask say. The
quick run takes some minutes: one seed of a third of the ledger, and neither statements nor proofs.

Without `--record` a difference is printed and the exit code is 1. With it the recording is
renewed, and the commit says why: `benchmarks/same/recorded.json`, whose changes are lines of a
diff. On another commit, the recording of that commit is made with `--record --to FILE`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankcheck.engine.parallel.arithmetic import fix_arithmetic

fix_arithmetic()  # one thread, before torch is imported

from benchmarks.same import audits, kept, ledger, statements  # noqa: E402
from benchmarks.same.comparing import differences  # noqa: E402
from benchmarks.same.processes import Tasks, each  # noqa: E402

RECORDED = Path(__file__).with_name("recorded.json")
DOCS = Path(__file__).parents[2] / "docs"
PARTS = ("ledger", "kept", "audits", "errata", "statements", "faces")


def recorded(parts: list[str], quick: bool) -> Iterator[tuple[str, Any]]:
    """The parts with what is recorded of each."""
    if "ledger" in parts:
        for seed in range(1 if quick else 3):
            chosen = ledger.entries([], quick)
            tasks: Tasks = {entry.id: (ledger.verified, (entry, seed)) for entry in chosen}
            rows = each(f"ledger, seed {seed}", tasks)
            yield (
                f"ledger {seed}",
                {name: row for found in rows.values() for name, row in found.items()},
            )
    if "kept" in parts:
        chosen = ledger.entries([], quick=False)
        tasks = {entry.id: (kept.replayed, (entry, quick)) for entry in chosen}
        yield "kept", {name: found for name, found in each("kept", tasks).items() if found}
    if "audits" in parts:
        with tempfile.TemporaryDirectory() as folder:
            yield "audits", dict(audits.measured(Path(folder)))
    if "errata" in parts:
        pages = [DOCS / "errata.md", *sorted((DOCS / "errata").iterdir())]
        yield "errata", {page.name: kept.digest(page.read_bytes()) for page in pages}
    if "statements" in parts and not quick:
        for name, files, ask in (
            ("false", statements.FALSE, statements.hunted),
            ("true", statements.TRUE, statements.verified),
        ):
            given = [str(statements.STATEMENTS / f"{file}.py") for file in files]
            tasks = {entry.id: (ask, (entry,)) for entry in ledger.entries(given, quick=False)}
            yield name, each(name, tasks)
    if "faces" in parts:
        yield "pytest", statements.collected()
        if not quick:
            yield "dask", statements.on_dask()


def main() -> int:
    """Record or compare; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some minutes in place of an hour")
    parser.add_argument("--record", action="store_true", help="write the recording anew")
    parser.add_argument("--to", type=Path, default=RECORDED, help="what --record writes")
    parser.add_argument("--from", type=Path, default=RECORDED, dest="before", help="compared with")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    file = args.to if args.record else args.before
    if not (args.record or file.is_file()):
        parser.error(f"there is no recording {file}; --record writes one")
    before = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    count = 0
    for name, found in recorded(args.only, args.quick):
        after = json.loads(json.dumps(found))
        if args.record:  # what is recorded is not lost when a later part fails
            before[name] = after
            file.write_text(_written(before), encoding="utf-8")
        else:
            for line in differences(_asked(name, before.get(name, {}), args.quick), after, (name,)):
                count += 1
                print(line, flush=True)
    if args.record:
        return 0
    print(f"{count} differences" if count else "nothing differs")
    return 1 if count else 0


def _asked(part: str, before: Mapping[str, Any], quick: bool) -> Any:
    """Of a recorded part, what this run asks as well."""
    if not quick:
        return before
    if part == "kept":
        asked = {name: kept.without_slow(found) for name, found in before.items()}
        return {claim: found for claim, found in asked.items() if found}
    if part != "ledger 0":
        return before
    return {claim: row for claim, row in before.items() if ledger.is_quick(claim)}


def _written(found: Mapping[str, Any]) -> str:
    """JSON with a claim on a line, so that a change of one is a line of a diff."""
    parts = []
    for name, part in found.items():
        rows = [f"  {json.dumps(key)}: {_dense(row)}" for key, row in part.items()]
        parts.append(f"{json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dense(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
