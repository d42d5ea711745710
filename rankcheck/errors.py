"""The error for wrong input, which commands print as one line without a traceback."""

from __future__ import annotations


class InputError(ValueError):
    """Wrong input of a user. The message says what was received, then the rule."""
