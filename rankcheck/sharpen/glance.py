"""A first look at a claim: an instance, and the relations that its body returns for it."""

from __future__ import annotations

from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.errors import InputError
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.source import Rejected

#: An instance is drawn so often until one satisfies the hypotheses.
DRAWS = 200


def glance(claim: Claim) -> tuple[tuple[Any, ...], tuple[Relation, ...]]:
    """The first instance inside the hypotheses of a claim, and its relations.

    Raises:
        InputError: if none of `DRAWS` instances is.
        Exception: what the generator or the body raises.
    """
    assert claim.instances is not None
    for seed in range(DRAWS):
        try:
            instance = claim.instances(BatchSource(seed))
            return instance, claim.relations(instance)
        except Rejected as rejected:
            why = str(rejected)
    raise InputError(
        f"{claim.id}: none of {DRAWS} instances satisfied the hypotheses ({why}); a generator "
        "builds them in"
    )
