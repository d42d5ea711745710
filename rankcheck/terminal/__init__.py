"""What a person sees on a terminal: tables, progress, the catalogue as text.

What lives here: text made from rows, hunts and entries. Nothing here computes a verdict.
May import: everything but `commands` and `pytest_plugin`.
"""
