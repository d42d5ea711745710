"""A proof at a shape as a file for the proof assistant Coq.

The file has a theorem for each face: on all its instances one of the cases holds, each of which has
the signs on a path through the body and the relations of the sides there. Each path has a lemma, in
which the certificate is gone through again, step by step: what is said of the sign of an expression
follows by one of a few rules, which are proved once at the top. Nothing is admitted.
"""

from __future__ import annotations

import textwrap

from rankcheck.claims.facts import Facts
from rankcheck.prove.coq.errors import NotWritten
from rankcheck.prove.coq.writer import ProofWriter
from rankcheck.prove.proof import Leaf, Open, Proof
from rankcheck.prove.sentences import counted, grouped, shape_text
from rankcheck.versions import versions

__all__ = ["LARGEST", "NotWritten", "coq"]

#: Characters of a file; coqc takes a minute for as many.
LARGEST = 600_000
#: Paths of a proof, which is not even begun if it has more.
PATHS = 1_000
_WIDTH = 96


def coq(claim: Facts, proof: Proof) -> str:
    """The file as text.

    Args:
        claim: what is proved; its text is quoted in a comment.

    Raises:
        NotWritten: if there is no such file of the proof, with the reason.
    """
    if proof.method == "range" or not proof.entries:
        raise NotWritten(
            f"{claim.id} is proved instance by instance, and its proof has no file for Coq; one "
            "that has entries may have one"
        )
    if proof.paths > PATHS:
        raise _too_large(claim, proof)
    try:
        text = "\n".join(ProofWriter(proof).lines(_heading(claim, proof))) + "\n"
    except NotWritten as error:
        raise NotWritten(f"the proof of {claim.id} has no file for Coq: {error}") from error
    if len(text) > LARGEST:
        raise _too_large(claim, proof)
    return text


def _too_large(claim: Facts, proof: Proof) -> NotWritten:
    return NotWritten(
        f"the proof of {claim.id} has {counted(proof.paths, 'path')}, and would make a file for "
        f"Coq of more than {grouped(LARGEST)} characters, for which coqc takes minutes; at a "
        "smaller shape there may be one"
    )


def _heading(claim: Facts, proof: Proof) -> str:
    """What the file says, and what it does not."""
    where = "" if claim.reference is None else f" ({claim.reference})"
    names = [entry.name for entry in proof.entries]
    entries = names[0] if len(names) == 1 else f"{names[0]}, ..., {names[-1]}"
    ranges = " in their ranges" if any(entry.bounded for entry in proof.entries) else ""
    shape = f"A proof of {claim.id}{where} for {shape_text(proof.sizes, proof.integers)}."
    says = (
        f"The theorem 'proved' says: for all real numbers {entries}{ranges}, which are the entries "
        "in the order in which the generator draws them, one of the cases of face_0 holds. A case "
        "is a path through the body: the signs that it has met, and the relations of the two sides "
        "that it ends with."
    )
    if len(proof.faces) > 1:
        says += (
            " Where a polynomial is zero, a case may go on with another face: an entry is a "
            "fraction of the others there, and the cases of that face are about these."
        )
    if proof.definitions:
        says += " The variables with other names are what the definition of 'given' says."
    nodes = [node for face in proof.faces for node in face.nodes]
    if any(isinstance(n, Leaf) and not n.goals and n.outcome != "empty" for n in nodes):
        says += " In a case without a relation nothing is asserted: the hypotheses fail there."
    if any(isinstance(node, Open) for node in nodes):
        zeros = " or ".join(f"{one} = 0" for one in proof.exceptions)
        says += f" In a case that is marked so nothing is proved; there {zeros}."
    trust = (
        "That the body has these sides on such a path is not in this file: 'rankcheck prove' "
        "compares them at points before it writes one. Nothing is said of other shapes. Written "
        f"by rankcheck {versions()['rankcheck']}."
    )
    text = claim.statement or claim.title
    parts = [shape, "The claim says:", "", *text.strip().splitlines(), "", says, "", trust]
    lines = (textwrap.wrap(part, _WIDTH, break_long_words=False) or [""] for part in parts)
    return "\n".join(line for part in lines for line in part)
