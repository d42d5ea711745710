"""A violation proved in ball arithmetic, made small, described, kept in a certificate, replayed.

What lives here: all that happens to one instance of one claim. Nothing here searches.
May import: `catalogue`, `claims`, and what is below them.
"""
