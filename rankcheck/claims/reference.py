"""The documents that the claims come from, and references to places in them."""

from __future__ import annotations

from dataclasses import dataclass

#: The key of statements that no document has.
OWN = "rankcheck"


@dataclass(frozen=True)
class Document:
    """A paper or a set of slides; `year` is that of the version that the claims quote."""

    key: str
    authors: str
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        return f"{self.authors}, {self.title}, {self.venue}"


DOCUMENTS: dict[str, Document] = {
    document.key: document
    for document in (
        Document(
            "rank",
            "A. Jacot",
            "Implicit bias of large depth networks: a notion of rank for nonlinear functions",
            "ICLR 2023",
            2023,
        ),
        Document(
            "bottleneck",
            "A. Jacot",
            "Bottleneck structure in learned features: low-dimension vs regularity tradeoff",
            "NeurIPS 2023",
            2023,
        ),
        Document(
            "linear",
            "S. Parkinson, G. Ongie, R. Willett",
            "Linear layers in ReLU networks promote learning single-/multi-index models "
            "(slides A: Finding low-rank functions using linear layers; slides B: SIAM MDS 2024)",
            "arXiv:2305.15598",
            2023,
        ),
        Document(
            "separation",
            "T. Kocák",
            "Depth separation for neural networks (slides)",
            "10 May 2019, after A. Daniely's paper of the same title, COLT 2017",
            2019,
        ),
        Document(
            OWN,
            "The rankcheck developers",
            "Statements first written down here",
            "this project",
            2026,
        ),
    )
}


@dataclass(frozen=True)
class Reference:
    """Where a statement stands: the key of a document, and the place in it."""

    key: str
    where: str

    def __post_init__(self) -> None:
        if not self.key or not self.where:
            raise ValueError(
                f"Reference({self.key!r}, {self.where!r}) has an empty part; "
                "a reference has a document and a place in it"
            )

    @property
    def document(self) -> Document | None:
        """The document, if it is one of those that rankcheck knows."""
        return DOCUMENTS.get(self.key)

    def __str__(self) -> str:
        return f"{self.key}, {self.where}"


def paper(key: str, where: str) -> Reference:
    """A place in one of the documents that rankcheck knows.

    Raises:
        ValueError: if the key is not that of a known document. For one of your own use
            `Reference("Me 2027", "Thm 4")`.
    """
    if key not in DOCUMENTS:
        raise ValueError(
            f"the key of a document is one of {', '.join(DOCUMENTS)}; received {key!r}"
        )
    return Reference(key, where)
