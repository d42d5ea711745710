"""A proved counterexample with all that explains it: the steps that lead to its two sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankcheck.claims.counterexample import Counterexample
from rankcheck.counterexamples.certificate import section
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.steps import steps

__all__ = ["explained"]


def explained(instance: Instance, stated: Mapping[str, Any] | None = None) -> Counterexample:
    """A proved counterexample, with the steps from the instance to its two sides.

    Args:
        stated: what a certificate says of it, if it comes from one.

    Raises:
        ValueError: if no violation is proved.
    """
    return Counterexample.of(section(instance) if stated is None else stated, steps(instance))
