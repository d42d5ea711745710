"""rankcheck: a referee for theorems on representation cost, rank and depth of neural networks.

What a file of claims needs is here; it is imported on first use, so that `import rankcheck` and the
command's help do not wait for torch. Generators of instances are in `rankcheck.instances`, the
mathematics in `rankcheck.networks`, `rankcheck.linalg` and their neighbours.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rankcheck import notebook
from rankcheck._version import __version__
from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.audit.measure import measure
    from rankcheck.claims import tolerances as tolerances
    from rankcheck.claims.claim import Claim, ClaimError, Need
    from rankcheck.claims.declare import (
        bound,
        cited,
        conjecture,
        construction,
        identity,
        limit,
        refuted,
        statistical,
        step,
    )
    from rankcheck.claims.erratum import Erratum
    from rankcheck.claims.reference import Reference, paper
    from rankcheck.claims.relations import Relation, eq, leq, lt
    from rankcheck.claims.trials import mostly, recorded_runs
    from rankcheck.decide.prove.run import prove
    from rankcheck.decide.prove.verifying import verify_claim
    from rankcheck.errors import ClaimFalse
    from rankcheck.sharpen.run import sharpen
    from rankcheck.theory.networks.network import Network

__all__ = [
    "Claim",
    "ClaimError",
    "ClaimFalse",
    "Erratum",
    "Need",
    "Network",
    "Reference",
    "Relation",
    "__version__",
    "bound",
    "cited",
    "conjecture",
    "construction",
    "eq",
    "identity",
    "leq",
    "limit",
    "lt",
    "measure",
    "mostly",
    "paper",
    "prove",
    "recorded_runs",
    "refuted",
    "sharpen",
    "statistical",
    "step",
    "verify_claim",
]


def _html(shown: object) -> str:
    """What a notebook shows, written by the report, which is loaded when it is first asked."""
    html: str = importlib.import_module("rankcheck.faces.report.notebook").html(shown)
    return html


def _text(shown: object, *, whole: bool = False) -> str:
    """What a prompt shows, written where the commands write."""
    text: str = importlib.import_module("rankcheck.faces.terminal.prompt").text(shown, whole=whole)
    return text


notebook.register(_html, _text)

_load = door(
    __name__,
    {
        "rankcheck.audit.measure": ("measure",),
        "rankcheck.claims.claim": ("Claim", "ClaimError", "Need"),
        "rankcheck.claims.declare": (
            "bound",
            "cited",
            "conjecture",
            "construction",
            "identity",
            "limit",
            "refuted",
            "statistical",
            "step",
        ),
        "rankcheck.claims.erratum": ("Erratum",),
        "rankcheck.claims.reference": ("Reference", "paper"),
        "rankcheck.claims.relations": ("Relation", "eq", "leq", "lt"),
        "rankcheck.claims.tolerances": ("tolerances",),
        "rankcheck.claims.trials": ("mostly", "recorded_runs"),
        "rankcheck.errors": ("ClaimFalse",),
        "rankcheck.theory.networks.network": ("Network",),
        "rankcheck.decide.prove.run": ("prove",),
        "rankcheck.decide.prove.verifying": ("verify_claim",),
        "rankcheck.sharpen": ("sharpen",),
        "rankcheck.faces.terminal.asking": ("asked",),  # what the methods of a claim do
    },
)


def __getattr__(name: str) -> Any:
    if name in ("any_of", "there_is"):
        raise ImportError(
            f"rankcheck has no {name}: `a <= 0 or b <= 0` is leq(torch.minimum(a, b), 0), and of a "
            "stack of witnesses it is leq(amounts.amin(-1), 0)"
        )
    return _load(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
