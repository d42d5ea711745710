"""A proof that is not written for Coq."""

from rankcheck.errors import InputError

__all__ = ["NotWritten"]


class NotWritten(InputError):
    """There is no Coq file of a proof, for a reason that is said."""
