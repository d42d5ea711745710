"""Errors that are shown as their message alone."""

from __future__ import annotations


class InputError(ValueError):
    """The rule, then what was received; the command prints it without a traceback."""


class ClaimFalse(AssertionError):
    """A claim is not as its kind says; the message is that of its row."""
