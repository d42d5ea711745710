"""`--limit SECONDS`: how long the code of a claim may run before it is stopped."""

from __future__ import annotations

import argparse
import math

from rankcheck.errors import InputError

__all__ = ["DEFAULTS", "add_limit", "limit"]

#: Seconds for a claim by profile, for a hunt after its budget, for a certificate, and for all
#: canaries. On one core of a shared machine, the slowest claims took 10 s (quick,
#: separation.oscillating-example), 16 s (ci, the same) and 209 s (deep,
#: separation.depth-three-network); certificates and canaries take less than 2 s. In deep,
#: experiments are made again, of which each takes up to six minutes of a core.
DEFAULTS: dict[str, float] = {
    "quick": 120.0,
    "ci": 600.0,
    "deep": 7200.0,
    "hunt": 30.0,
    "replay": 120.0,
    "doctor": 120.0,
}


def add_limit(parser: argparse.ArgumentParser, said: str) -> None:
    """Add `--limit`."""
    parser.add_argument("--limit", metavar="SECONDS", type=float, help=said)


def limit(args: argparse.Namespace, name: str) -> float | None:
    """The seconds of `--limit`, or the default of a profile or a command; None for no limit.

    Raises:
        InputError: if they are negative or not finite.
    """
    seconds: float = DEFAULTS[name] if args.limit is None else args.limit
    if not 0 <= seconds < math.inf:
        raise InputError(
            f"--limit is {seconds:g}; it is a finite number of seconds, or 0 for no limit"
        )
    return seconds or None
