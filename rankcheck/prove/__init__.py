"""Prove a claim at a shape: it is true of all entries, and not only of those that were tried.

What lives here: what is written down of a proof (`proof`), the ways to make one, and the second
checker, which shares no code with them.
May import: `verification` and what is below.
"""
