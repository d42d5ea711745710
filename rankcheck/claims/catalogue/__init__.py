"""Where claims are found: read from files without running them, selected, and loaded.

What lives here: from a selector on the command line to `Entry`, and from there to `Claim`.
May import: `claims`, and what is below it.
"""
