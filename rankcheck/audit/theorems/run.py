"""What the theorems say about a network and its data: each one, with its hypotheses and both sides.

A theorem is a claim of the catalogue whose `audit=` says how it is evaluated (`table`); its body is
evaluated on the network itself, and the mathematics is that of the claim. Points at which a hidden
unit is at its kink are left out, and those where the theorems say most come first (`choice`). The
theorems share a budget of seconds: of what is left, each may take its part, and after that no
further batch of points is begun. For a small network both sides are computed in ball arithmetic as
well, at the point where the floats are closest to failing.

A theorem cannot fail on a network that meets its hypotheses. Where floats seem to say so, that
point is looked at again: a numerical rank that is not clear leaves it undecided, and so do sides
that overflow. What remains is a bug of rankcheck, or weights that are not those of the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.result import TheoremFacts
from rankcheck.audit.theorems.check import Certifier, Check
from rankcheck.audit.theorems.choice import choose_points
from rankcheck.audit.theorems.evaluate import sharp
from rankcheck.audit.theorems.table import Situation, theorems

#: Processor seconds for all theorems of an audit, without ball arithmetic.
SECONDS = 10.0
#: At most so many points for one theorem.
POINTS = 128


def check_theorems(
    model: Model,
    X: Tensor | None,
    *,
    device: torch.device | str = "cpu",
    points: int = POINTS,
    certify: bool = True,
    progress: Callable[[int], object] | None = None,
    seconds: float = SECONDS,
) -> tuple[TheoremFacts, ...]:
    """What each theorem that applies to networks says about this one.

    Args:
        X: the data, (N, n_0) in float64; None leaves the theorems about the network alone.
        device: where the bodies run. Ball arithmetic runs on the CPU.
        points: at most so many points for one theorem.
        certify: prove both sides in ball arithmetic, if the network is small enough.
        progress: called after each theorem with how many are done.
        seconds: processor time for all theorems together. What does not fit is not evaluated, or at
            fewer points; a body that runs is not interrupted.
    """
    net = sharp(model.net.detach().to(device))
    candidates = None
    if X is not None:
        with torch.no_grad():
            candidates = choose_points(net, X.to(device))
    at = Situation(model, net, candidates, 0 if X is None else len(X))
    checks = [
        Check(claim, theorem, at, points)
        for theorem, claim in theorems().items()
        if X is not None or theorem.on == "on the network"
    ]
    certifier = Certifier(model.net) if certify else None
    # What takes longer comes later, and so may have what the others leave.
    order = sorted(range(len(checks)), key=lambda index: len(checks[index].theorem.manner))
    facts: dict[int, TheoremFacts] = {}
    left = seconds
    for index in order:
        begin = time.process_time()
        evaluated = checks[index].evaluated(left / (len(order) - len(facts)))
        left -= time.process_time() - begin
        facts[index] = checks[index].facts(evaluated, certifier)
        if progress is not None:
            progress(len(facts))
    return tuple(facts[index] for index in range(len(checks)))


def number_of_theorems(data: bool) -> int:
    """How many theorems are looked at, with data or without."""
    return sum(data or theorem.on == "on the network" for theorem in theorems())
