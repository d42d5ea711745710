"""The sub-commands of `rankcheck`, a module each.

A module has `HELP` (a line), `add_arguments(parser)` and `run(args) -> exit code`, and is named in
`rankcheck.cli.COMMANDS`. It imports torch, rich and the engine in `run` alone, so that `--help`
answers at once. What is wrong with the user's input is raised as an `InputError`.
"""
