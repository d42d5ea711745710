"""Records: how sharp a relation is, as far as anybody knows, and the instance that proves it.

What lives here: what balls prove of one instance (`ratio`), `given` or on record; the `file` beside
a claim that keeps the best ones, and its `renewal`; its proof, once `again`. Nothing here searches.
May import: `counterexamples`, and what is below it. The names below are imported on first use:
`file` does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.records.again import Dropped, judged_again, prove_again
    from rankcheck.records.file import (
        Group,
        Held,
        RecordError,
        Records,
        RelationRecord,
        left_path,
        stored_path,
    )
    from rankcheck.records.given import instance_of
    from rankcheck.records.ratio import (
        Attained,
        NotCertifiedError,
        OutsideError,
        attained,
    )
    from rankcheck.records.renewal import (
        Better,
        Candidate,
        Renewed,
        candidates,
        held,
        keep,
        renewed,
    )

__all__ = [
    "Attained",
    "Better",
    "Candidate",
    "Dropped",
    "Group",
    "Held",
    "NotCertifiedError",
    "OutsideError",
    "RecordError",
    "Records",
    "RelationRecord",
    "Renewed",
    "attained",
    "candidates",
    "held",
    "instance_of",
    "judged_again",
    "keep",
    "left_path",
    "prove_again",
    "renewed",
    "stored_path",
]

__getattr__ = door(
    __name__,
    {
        ".again": ("Dropped", "judged_again", "prove_again"),
        ".file": (
            "Group",
            "Held",
            "RecordError",
            "Records",
            "RelationRecord",
            "left_path",
            "stored_path",
        ),
        ".given": ("instance_of",),
        ".ratio": ("Attained", "NotCertifiedError", "OutsideError", "attained"),
        ".renewal": (
            "Better",
            "Candidate",
            "Renewed",
            "candidates",
            "held",
            "keep",
            "renewed",
        ),
    },
)
