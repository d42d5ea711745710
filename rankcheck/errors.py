"""What a face shows as one line: the user's input breaks a rule."""

from __future__ import annotations


class InputError(ValueError):
    """The rule, then what was received; the command prints it without a traceback."""
