"""The command `rankcheck`: a module for each sub-command.

What lives here: arguments, calls, what is printed; `cli` with the parser, `gone` with what to do in
place of a verb that is no longer there. The exit codes are those of `terminal.exits`.
May import: everything but `pytest_plugin`. A module that needs torch imports it inside `run`, so
that the help, `list` and `show` do without.
"""
