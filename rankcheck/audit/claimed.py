"""What is claimed of the blocks of a network, and of which ones nothing is, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rankcheck.audit.part_facts import BlockFacts

__all__ = ["Said", "claimed"]

#: What is claimed of a block with a bound.
_BOUND = (
    "every chain of affine maps with ReLU between them that has this depth and the same map costs "
    "at least what is given for a chain (rank.jacobian-bounds-cost)"
)
#: What that does not say of the block itself, by its kind.
_ITSELF = {
    "chain": "it costs so much itself, where its weights are shared by rows or by places of an "
    "image and counted once",
    "residual": "it costs so much itself, as a shortcut that is the identity costs nothing",
    "branches": "it costs so much itself, as it is no such chain",
}
_NONE = "no bound was computed: it takes weights, and Jacobians at the data"


class Said(NamedTuple):
    """A sentence without its beginning, and the blocks that it is about.

    Attributes:
        verdict: `claimed`, `not claimed`, which begin it, or `nothing claimed`, with the reason.
    """

    verdict: Literal["claimed", "not claimed", "nothing claimed"]
    blocks: tuple[str, ...]
    sentence: str


def claimed(blocks: Sequence[BlockFacts]) -> tuple[Said, ...]:
    """What is claimed of which blocks, and what is not; each sentence once.

    What is claimed of a block is `rank.jacobian-bounds-cost` for every chain with the same map;
    that is said where its bound was computed.
    """
    bound = [block for block in blocks if block.least_cost is not None and not block.unclaimed]
    said = [Said("claimed", tuple(block.name for block in bound), _BOUND)] if bound else []
    for kind, sentence in _ITSELF.items():
        if names := tuple(block.name for block in bound if block.kind == kind):
            said.append(Said("not claimed", names, f"that {sentence}"))
    reasons: dict[str, list[str]] = {}
    for block in blocks:
        if block not in bound:
            reasons.setdefault(block.unclaimed or _NONE, []).append(block.name)
    nothing = (Said("nothing claimed", tuple(who), why) for why, who in reasons.items())
    return (*said, *nothing)
