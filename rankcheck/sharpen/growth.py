"""A ratio without bound in sight: instances at which it is ever larger.

A supremum that is attained inside the ranges of the entries is one. If the largest ratio is large
and its instance lies at an end of some range, or has an entry near 0, the ratio may have no bound:
then there are instances on the way there, each with ten times the ratio of the one before.
"""

from __future__ import annotations

import math

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.records.ratio import NotCertifiedError, attained
from rankcheck.sharpen.gauge import Gauge
from rankcheck.sharpen.task import Finding
from rankcheck.theory.instances.record import Entries, Record

#: A ratio below this is no cause for suspicion, and fewer instances show no growth.
LARGE, RUNGS = 10.0, 3
#: An entry that is not 0 and this close to it is near 0.
NEAR = 2.0**-16
#: Instances among which the way is looked for, and where they run one at a time.
SIZE, SINGLES = 4096, 64


def growing(claim: Claim, best: Finding, seed: int) -> list[Finding]:
    """Instances of the shape of the best one with growing ratios; empty if a bound is in sight."""
    if best.attained.low <= LARGE or not _at_an_end(best.record):
        return []
    gauge = Gauge(claim, best.shape, chosen=[best.name])
    sample = gauge.sample(seed, SIZE if gauge.batched else SINGLES, magnitudes=True)
    rungs = _rungs(gauge, sample, best.height)
    found: list[Finding] = []
    for index in rungs:
        one = Finding(best.name, best.shape, best.key, sample.record.instance(index), best.attained)
        try:
            proved = attained(one.instance(claim))
        except NotCertifiedError:
            continue
        for each in proved:
            if each.name == best.name and (not found or each.low > 2 * found[-1].attained.low):
                found.append(Finding(best.name, best.shape, best.key, one.record, each))
    found = [one for one in found if 2 * one.attained.low < best.attained.low]
    return [*found, best] if len(found) + 1 >= RUNGS else []


def _rungs(gauge: Gauge, sample: Sample, top: float) -> list[int]:
    """The instances of a sample that are nearest to the ratio, a tenth of it, and so on."""
    heights = gauge.ratios(sample)[0]
    chosen = []
    for step in range(1, int(top / math.log(10)) + 2):
        away = (heights - (top - step * math.log(10))).abs()
        chosen.append(int(away.argmin()))
    return list(dict.fromkeys(reversed(chosen)))


def _at_an_end(record: Record) -> bool:
    """Whether some entry lies at an end of its range, or near 0."""
    for entry in record.choices:
        if isinstance(entry, Entries):
            values = entry.values
            near = (values != 0) & (values.abs() < NEAR)
            if bool((near | (values == entry.low) | (values == entry.high)).any()):
                return True
    return False
