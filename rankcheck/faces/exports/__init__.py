"""Refutations for readers without rankcheck: as a file for Coq, and as a short script of Python.

What lives here: numbers that keep how they were computed (`traced`, `trace`, `algebra`), a
counterexample evaluated on them (`evaluate`), and what is written of it: which numbers get names
(`plan`), their texts (`expressions`) and enclosures (`enclosures`), and the two languages (`coq`,
`script`); `export` goes from a certificate to a text.
May import: `counterexamples`, and what is below it.
"""

from rankcheck.faces.exports.evaluate import NotExportable
from rankcheck.faces.exports.export import LANGUAGES, export

__all__ = ["LANGUAGES", "NotExportable", "export"]
