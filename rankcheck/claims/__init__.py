"""What is said: a claim, its relations with their tolerances, its reference, the registry.

What lives here: what a file of claims needs to declare one. Nothing here runs a claim.
May import: `instances` and the mathematics.
"""
