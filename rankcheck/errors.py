"""Errors whose message is shown to the user without a traceback."""

from __future__ import annotations


class InputError(ValueError):
    """The input is wrong. The message says what happened first, and the rule second."""


class ClaimFalse(AssertionError):
    """The verdict of a claim is not the one that its kind expects; the message says why."""


class InstallationError(RuntimeError):
    """A check of the installation came out wrong: no verdict of it can be trusted."""
