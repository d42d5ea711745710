"""Records: how sharp a relation is, as far as anybody knows, and the instance that proves it.

What lives here: what balls prove of one instance (`ratio`), the `file` beside a claim that keeps
the best ones, and its `renewal`. Nothing here searches.
May import: `counterexamples`, and what is below it. The names below are imported on first use:
`file` does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.records.file import (
        Group,
        Held,
        RecordError,
        Records,
        RelationRecord,
        left_path,
        stored_path,
    )
    from rankcheck.records.ratio import Attained, NotCertifiedError, attained, measures
    from rankcheck.records.renewal import (
        Better,
        Candidate,
        Renewed,
        candidates,
        held,
        instance_of,
        keep,
        renewed,
    )

__all__ = [
    "Attained",
    "Better",
    "Candidate",
    "Group",
    "Held",
    "NotCertifiedError",
    "RecordError",
    "Records",
    "RelationRecord",
    "Renewed",
    "attained",
    "candidates",
    "held",
    "instance_of",
    "keep",
    "left_path",
    "measures",
    "renewed",
    "stored_path",
]

__getattr__ = door(
    __name__,
    {
        ".file": (
            "Group",
            "Held",
            "RecordError",
            "Records",
            "RelationRecord",
            "left_path",
            "stored_path",
        ),
        ".ratio": ("Attained", "NotCertifiedError", "attained", "measures"),
        ".renewal": (
            "Better",
            "Candidate",
            "Renewed",
            "candidates",
            "held",
            "instance_of",
            "keep",
            "renewed",
        ),
    },
)
