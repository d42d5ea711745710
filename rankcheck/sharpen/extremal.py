"""An instance that was found, with what balls prove of a relation there, and its JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rankcheck.engine.counterexamples.describe import describe_exact
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.ratio import Attained
from rankcheck.notebook import Readable
from rankcheck.theory.instances.choices import write_choices


@dataclass(frozen=True, eq=False, repr=False)
class Extremal(Readable):
    """An instance, and what balls prove of a relation there.

    Attributes:
        key: the sizes of its shape.
    """

    instance: Instance
    attained: Attained
    key: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; see `docs/sharpening.md`."""
        proved = self.attained
        lhs, rhs = proved.sides
        return {
            "ratio": proved.written,
            "high": proved.written_high,
            "value": proved.value if proved.value < math.inf else None,
            "family": self.instance.family.name,
            "choices": write_choices(self.instance.record),
            "description": describe_exact(self.instance),
            "lhs": lhs,
            "rhs": rhs,
            "relation": proved.number,
            "bits": proved.bits,
            "key": list(self.key),
        }
