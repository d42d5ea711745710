"""The methods of a claim at a prompt: each calls what the command calls, and shows how it goes on.

On a terminal the live part of the command is shown on standard error. In a notebook there is one
line, which is updated in place and gone at the end. Elsewhere nothing is shown.
"""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, cast

from rankcheck.claims.claim import Claim
from rankcheck.decide.prove import file as proofs
from rankcheck.decide.prove import run as proving_runs
from rankcheck.decide.prove.result import Result
from rankcheck.decide.prove.verifying import verify_claim
from rankcheck.engine.hunt import controls
from rankcheck.engine.hunt import run as hunting_runs
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.profiles import profile as chosen_profile
from rankcheck.errors import InputError
from rankcheck.faces.terminal.display import (
    Display,
    HuntDisplay,
    ProveDisplay,
    SharpenDisplay,
    redraws,
)
from rankcheck.faces.terminal.plain import say
from rankcheck.faces.terminal.table import count
from rankcheck.sharpen import keeping
from rankcheck.sharpen import run as sharpening_runs
from rankcheck.sharpen.result import Sharpened

if TYPE_CHECKING:
    from rankcheck.engine.hunt.result import Hunt

#: By the name of an option, what its numbers are, and the rule.
_WHOLE = ("seed", "workers", "scope", "rounds", "tasks", "entries")
_SECONDS = ("budget", "shrink", "seconds")


def asked(claim: Claim, what: str, **options: Any) -> Any:
    """What `claim.verify()`, `.hunt()`, `.sharpen()` and `.prove()` return.

    Raises:
        InputError: if an option is no number where it should be one, or out of range.
    """
    for name in _WHOLE:
        value = options.get(name)
        if not (value is None or isinstance(value, int)) or isinstance(value, bool):
            raise InputError(f"{name} is {value!r:.80}; it is a whole number")
    for name in _SECONDS:
        value = options.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= value < math.inf):
            raise InputError(f"{name} is {value!r:.80}; it is a finite number of seconds")
    for name in ("seed", "shrink", "seconds", "workers", "entries"):
        if name in options and options[name] is None:
            raise InputError(f"{name} is None; it is a number")
    return _ASKED[what](claim, **options)


def _verify(claim: Claim, *, profile: str, seed: int, shrink: float) -> Row:
    settings = Settings(chosen_profile(profile), seed, shrink=shrink)
    with _watched(VerifyDisplay) as watched:
        return verify_claim(claim, settings, **watched)


def _hunt(claim: Claim, *, control: str | None, **options: Any) -> Hunt:
    with _watched(HuntDisplay) as watched:
        if control is None:
            return hunting_runs.hunt(claim, **options, **watched)
        return controls.hunt_variant(claim, control, **options, **watched)


def _sharpen(claim: Claim, *, record: bool, **options: Any) -> Sharpened:
    with _watched(SharpenDisplay) as watched:
        result = sharpening_runs.sharpen(claim, **options, **watched)
    for line in keeping.record(result) if record else ():
        say(line)
    return result


def _prove(claim: Claim, *, keep: bool, shape: Any, **options: Any) -> Result:
    with _watched(ProveDisplay) as watched:
        result = proving_runs.prove(claim, shape=_shape(shape), **options, **watched)
    if keep:
        path = proofs.keep(claim, result)
        say("nothing to keep" if path is None else f"kept in {path}")
    return result


_ASKED: Mapping[str, Callable[..., Any]] = {
    "verify": _verify,
    "hunt": _hunt,
    "sharpen": _sharpen,
    "prove": _prove,
}


def _shape(shape: Any) -> Mapping[str, tuple[int, ...]] | None:
    """The shapes that are asked for; one number stands for itself."""
    if shape is None:
        return None
    rule = "it has whole numbers by the names of sizes, as {'depth': (1, 2), 'width': 1}"
    if not isinstance(shape, Mapping):
        raise InputError(f"shape is {shape!r:.80}; {rule}")
    chosen = {}
    for name, value in shape.items():
        values = (value,) if isinstance(value, int) else value
        if not isinstance(values, tuple | list | range | set) or not all(
            isinstance(one, int) for one in values
        ):
            raise InputError(f"shape has {name!r}: {value!r:.80}; {rule}")
        chosen[name] = tuple(values)
    return chosen


class VerifyDisplay(Display):
    """Shows how many instances of one claim were evaluated."""

    _instances = 0

    def progress(self, instances: int) -> None:
        """So many more instances."""
        self._instances += instances
        self.tell(f"{count(self._instances)} instances")


_Shown: TypeAlias = VerifyDisplay | HuntDisplay | SharpenDisplay | ProveDisplay


class NotebookLine(io.TextIOBase):
    """A stream whose latest line stands below a cell, in place of the one before."""

    #: Seconds between two lines.
    pause = 0.5

    def __init__(self) -> None:
        super().__init__()
        self._shown: Any = None

    def write(self, text: str) -> int:
        """Show a line in place of the one before; white space alone changes nothing."""
        if text.strip():
            self._show(text.strip())
        return len(text)

    def close(self) -> None:
        """Take the line away."""
        if self._shown is not None:
            self._show("")
            self._shown = None
        super().close()

    def _show(self, line: str) -> None:
        data = {"text/plain": line} | ({} if line else {"text/html": ""})
        if self._shown is None:
            from IPython.display import display

            self._shown = display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)


@contextmanager
def _watched(display: Callable[[TextIO], _Shown]) -> Iterator[dict[str, Any]]:
    """The argument `progress` of a run, while a display is entered that can be seen; else none."""
    if in_notebook():
        line = NotebookLine()
        try:
            yield {"progress": display(cast(TextIO, line)).progress}
        finally:
            line.close()
    elif redraws(sys.stderr):
        with display(sys.stderr) as shown:
            shown.doing = "begun"
            yield {"progress": shown.progress}
    else:
        yield {}


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
