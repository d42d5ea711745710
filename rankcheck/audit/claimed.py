"""What is claimed of the blocks of a network, and of which ones nothing is, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rankcheck.audit.part_facts import BlockFacts

__all__ = ["Said", "claimed"]

#: Of a block with a bound, and what that says of a block of its kind.
_BOUND = (
    "every chain of affine maps with ReLU between them that has this depth and the same map costs "
    "at least what is given for a chain (rank.jacobian-bounds-cost); "
)
_OWN = {
    "chain": "weights that are shared by rows or by places of an image are counted once, so with "
    "them the block itself may cost less",
    "residual": "a shortcut that is the identity costs nothing, so the block itself may cost less",
    "branches": "the block itself is no such chain, and may cost less",
}


class Said(NamedTuple):
    """A sentence, the blocks that it is about, and whether it claims anything."""

    blocks: tuple[str, ...]
    sentence: str
    claims: bool


def claimed(blocks: Iterable[BlockFacts]) -> tuple[Said, ...]:
    """Each sentence once, in the order of the first block that it is about.

    What is claimed of a block is `rank.jacobian-bounds-cost` for every chain with the same map;
    that is said where its bound was computed.
    """
    names: dict[tuple[str, bool], list[str]] = {}
    for block in blocks:
        if block.unclaimed:
            said = (block.unclaimed, False)
        elif block.least_cost is None:
            said = (
                "no bound was computed: that takes weights, and Jacobians at points of data",
                False,
            )
        else:
            said = (_BOUND + _OWN[block.kind], True)
        names.setdefault(said, []).append(block.name)
    return tuple(Said(tuple(who), *said) for said, who in names.items())
