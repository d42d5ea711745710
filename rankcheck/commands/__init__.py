"""The command `rankcheck`: one module a sub-command, and `cli` with the parser.

What lives here: arguments, calls, exit codes.
May import: everything.
"""
