"""What the relations of a claim are called."""

__all__ = ["relation_name"]


def relation_name(label: str, number: int) -> str:
    """What a relation is called: its label, or `relation 1` for the first without one."""
    return label or f"relation {number + 1}"
