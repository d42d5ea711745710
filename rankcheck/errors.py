"""Errors that are shown as their message alone."""

from __future__ import annotations


class InputError(ValueError):
    """Wrong input of a user. The message says what was received, then the rule."""


class ClaimFalse(AssertionError):
    """A claim is not as its kind says; the message is that of its row."""
