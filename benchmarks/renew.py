"""Prove again what is kept beside claims whose text has changed, and keep it for the new text.

    python -m benchmarks.renew [ID ...]

Counterexamples, best instances and proofs carry a hash of the text of their claim. After a claim
was written anew, each of them is proved for it as it is now; what stands gets the new hash and the
place of the claim, and no number changes. What does not stand is named, and its file is left as it
is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rankcheck.engine.parallel.arithmetic import fix_arithmetic

fix_arithmetic()  # one thread, before torch is imported

from benchmarks.same.processes import each  # noqa: E402
from rankcheck.claims.catalogue.certificates import FORM as CERTIFICATES  # noqa: E402
from rankcheck.claims.catalogue.collect import project  # noqa: E402
from rankcheck.claims.catalogue.entry import Entry  # noqa: E402
from rankcheck.claims.catalogue.loader import load  # noqa: E402
from rankcheck.decide.prove import again as proofs  # noqa: E402
from rankcheck.decide.prove.file import FORM as PROOFS  # noqa: E402
from rankcheck.engine.counterexamples.replay import replay  # noqa: E402
from rankcheck.engine.records import again as records  # noqa: E402
from rankcheck.engine.records.file import FORM as RECORDS  # noqa: E402
from rankcheck.stored import read_json  # noqa: E402

HASH, CHECKSUM = "statement_sha256", "sha256"


def refuted_again(path: Path, claim: Any) -> list[bool]:
    """Replay a counterexample.

    Raises:
        ValueError: if it proves nothing of the claim any more.
    """
    if not replay(path, claim=claim).refuted:
        raise ValueError("its instance does not refute the claim")
    return [True]


KINDS: tuple[tuple[Any, Callable[[Path, Any], Any]], ...] = (
    (CERTIFICATES, refuted_again),
    (RECORDS, records.prove_again),
    (PROOFS, proofs.prove_again),
)


def renewed(entry: Entry) -> list[str]:
    """Renew what is kept beside a claim; a line for each file that was looked at."""
    lines: list[str] = []
    [claim] = load([entry])
    for form, again in KINDS:
        path = form.path(entry)
        if not path.is_file() or (data := read_json(path))[HASH] == claim.statement_hash:
            continue
        try:
            list(again(path, claim))
        except Exception as error:
            lines.append(f"{path} does not stand: {type(error).__name__}: {error}")
            continue
        data |= {HASH: claim.statement_hash, "file": form.whereabouts(path.parent, claim)[0]}
        form.write(path, {name: value for name, value in data.items() if name != CHECKSUM})
        lines.append(f"{path} is renewed")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Renew what is kept beside these claims, or beside all; 1 if anything does not stand."""
    chosen = [entry for entry in project() if not arguments or entry.id in arguments]
    found = each("renewed", {entry.id: (renewed, (entry,)) for entry in chosen})
    lines = [line for several in found.values() for line in several]
    print("\n".join(lines))
    return int(any("does not stand" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
