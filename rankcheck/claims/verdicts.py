"""The verdicts on a claim: what each means, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "refuted", "guarded", "failed", "undecided", "cited"]


@dataclass(frozen=True)
class Words:
    """How a verdict is shown.

    Attributes:
        meaning: a clause without a full stop.
        plural: what follows the number of the claims of which it is expected.
        tone: its colour on a page.
        style: its colour on a terminal where it is expected; elsewhere it is bold.
        open: whether it decides nothing: a warning, where others are errors.
    """

    meaning: str
    plural: str
    tone: Literal["good", "open", "bad"]
    style: str = ""
    open: bool = False


#: In the order of totals. Which verdict is expected of a claim, its kind says (`kinds.KINDS`).
VERDICTS: Mapping[Verdict, Words] = {
    "holds": Words(
        "no instance broke the statement, and its controls were caught; this is no proof",
        plural="hold",
        tone="good",
        style="green",
    ),
    "refuted": Words(
        "a counterexample is proved in ball arithmetic",
        plural="refuted by certificate",
        tone="bad",
        style="cyan",
    ),
    "guarded": Words(
        "a conjecture that nothing has broken", plural="guarded", tone="open", style="cyan"
    ),
    "failed": Words(
        "a control was not caught, nothing was asserted, the body is no function of what is drawn, "
        "the check raised (on some instance inside the hypotheses, or on all), a stored "
        "certificate proves nothing, or the claim is malformed",
        plural="failed",
        tone="bad",
    ),
    "undecided": Words(
        "a violation is neither proved nor excluded, or the verification did not finish",
        plural="undecided",
        tone="open",
        open=True,
    ),
    "cited": Words("not checked here", plural="cited", tone="open", style="dim"),
}
