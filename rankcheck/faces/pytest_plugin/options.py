"""Options of the command line, and those of the ini file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankcheck import files
from rankcheck.decide.prove.standing import standing
from rankcheck.engine.hunt.controls import hunt_control
from rankcheck.engine.verification.profiles import PROFILES, Settings, profile
from rankcheck.errors import InputError

_VARIABLE = "RANKCHECK_PROFILE"


@dataclass(frozen=True)
class Options:
    """The options of a run.

    Attributes:
        settings: how each claim is verified.
        ledger: the file that the ledger is written to, or None.
        hunt: seconds of a hunt for each conjecture that passed, or None.
        least_asserted: the share of the instances on which each relation has to be asserted.
    """

    settings: Settings
    ledger: Path | None = None
    hunt: float | None = None
    least_asserted: float = 0.0


def add_options(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("rankcheck", "claims and their ledger")
    group.addoption(
        "--rankcheck-ledger", metavar="FILE", help="write the ledger of the claims, as JSON"
    )
    group.addoption(
        "--rankcheck-profile",
        metavar="|".join(PROFILES),
        help="how much is drawn and swept (default: RANKCHECK_PROFILE, or quick)",
    )
    group.addoption(
        "--rankcheck-seed", metavar="N", type=int, default=0, help="seed of the claims (default 0)"
    )
    group.addoption(
        "--rankcheck-hunt",
        metavar="SECONDS",
        type=float,
        help="after a conjecture was verified, hunt it for so long",
    )
    parser.addini(
        "rankcheck_claims",
        "folders in which every Python file without a leading underscore holds claims",
        type="paths",
        default=[],
    )
    parser.addini(
        "rankcheck_least_asserted",
        "a claim fails if one of its relations is asserted on a smaller share of the instances",
        default="0",
    )


def options_of(config: pytest.Config) -> Options:
    """The options as they were given.

    Raises:
        pytest.UsageError: if one is out of range, or the ledger cannot be written.
    """
    name = config.getoption("--rankcheck-profile")
    path = config.getoption("--rankcheck-ledger")
    seconds = config.getoption("--rankcheck-hunt")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise pytest.UsageError(
            f"rankcheck: --rankcheck-hunt was given {seconds}; it takes seconds > 0"
        )
    try:
        if name is None:  # see check_environment for one that does not exist
            chosen = PROFILES.get(os.environ.get(_VARIABLE, "quick"), PROFILES["quick"])
        else:
            chosen = profile(name)
        seed = config.getoption("--rankcheck-seed")
        settings = Settings(chosen, seed, hunter=hunt_control, prover=standing)
        if path is not None:
            files.check_writable(Path(path), "a ledger", ("schema", "claims"))
    except InputError as error:
        raise pytest.UsageError(f"rankcheck: {error}") from error
    least = _share(config.getini("rankcheck_least_asserted"))
    return Options(settings, None if path is None else Path(path), seconds, least)


def check_environment(config: pytest.Config) -> None:
    """Check the profile of the environment, unless one was given on the command line.

    Called where claims were collected: a variable of the environment stops no other run.

    Raises:
        pytest.UsageError: if RANKCHECK_PROFILE is no profile.
    """
    name = os.environ.get(_VARIABLE, "quick")
    if config.getoption("--rankcheck-profile") is None and name not in PROFILES:
        raise pytest.UsageError(
            f"rankcheck: {_VARIABLE} is {name!r}; a profile is one of {', '.join(PROFILES)}"
        )


def _share(text: str) -> float:
    """The number of an ini option that is a share.

    Raises:
        pytest.UsageError: if it is not a number from 0 to 1.
    """
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise pytest.UsageError(
            f"rankcheck: rankcheck_least_asserted is {text!r}; it is a share from 0 to 1"
        )
    return share
