"""A value of a dial that has survived the search for large ratios is hunted as well.

Where a ratio is 1 on a whole part of the space, the search for larger ones has no slope there. A
hunt has: it moves instances at equality off, and descends on the difference of the sides.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rankcheck.claims.labels import relation_name
from rankcheck.engine.hunt.arena import Family, Shape
from rankcheck.engine.hunt.run import hunt
from rankcheck.engine.records.ratio import attained
from rankcheck.sharpen.search import Search
from rankcheck.sharpen.task import Broken, Finding, key_of


def doubt(search: Search, seconds: float) -> None:
    """Hunt the claim of a search; what proves it false is kept there.

    Raises:
        InputError: as `rankcheck.engine.hunt.hunt`.
    """
    claim, settings = search.at, search.settings
    with TemporaryDirectory(prefix="rankcheck-") as folder:
        result = hunt(
            claim,
            seconds,
            settings.seed,
            folder=Path(folder),
            shrink=0.0,
            limit=None,
        )
    search.counts += result.counts
    if result.scope is not None:
        search.counts += result.scope.counts
    violation = result.violation
    if result.verdict != "refuted" or violation is None:
        return
    number, label = violation.in_balls.relation, violation.in_balls.label
    family: Family = "tight" if violation.family is claim.tight else "instances"
    shape = Shape(family, violation.record.integers)
    for one in attained(violation):
        if one.number == number and one.refutes:
            key = key_of(claim, shape, search.by)
            search.keep(Finding(one.name, shape, key, violation.record, one))
            return
    name = relation_name(label, number)
    search.broken[name] = Broken(name, shape, violation.record)
