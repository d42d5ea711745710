"""Records: how sharp a relation is, as far as anybody knows, and the instance that proves it.

What lives here: `ratio`, what balls prove of one instance.
May import: `counterexamples`, and what is below it.
"""

from rankcheck.records.ratio import Attained, NotCertifiedError, attained, measures

__all__ = ["Attained", "NotCertifiedError", "attained", "measures"]
