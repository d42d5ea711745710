"""The command `rankcheck`: a module for each sub-command.

What lives here: arguments, calls, what is printed; `cli` with the parser, `exits` with the exit
codes.
May import: everything but `pytest_plugin`. A module that needs torch imports it inside `run`, so
that the help, `list` and `show` do without.
"""
