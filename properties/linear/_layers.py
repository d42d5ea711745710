"""Linear layers: their product."""


def product(factors):
    """W_n ··· W_1 of (W_1, ..., W_n)."""
    result = factors[0]
    for factor in factors[1:]:
        result = factor @ result
    return result
