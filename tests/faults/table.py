"""The table of faults: what may go wrong, in which commands, what is required then, and the test.

`python tests/faults/table.py` prints it, and how many bad inputs the profiles try. A new fault is a
`Fault` in `TABLE`, below the heading of its kind; `test_table.py` checks that its tests exist and that
no test of a fault is missing.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
#: The commands that run code of claims.
ALL = "verify hunt certify replay"


@dataclass(frozen=True)
class Fault:
    """A row: the fault, the commands, what is required, and the test as FILE::NAME below tests/."""

    fault: str
    commands: str
    required: str
    test: str


def _in(file: str, *rows: tuple[str, str, str, str]) -> list[Fault]:
    """The rows that one file tests."""
    return [
        Fault(fault, commands, rule, f"{file}::test_{name}") for fault, commands, rule, name in rows
    ]


TABLE: dict[str, list[Fault]] = {
    "Processes that die": [
        *_in(
            "faults/test_experiments.py",
            (
                "a command or its workers get SIGKILL, again and again, at random moments",
                "experiment",
                "the same command ends with the same numbers; no orphan, nothing half-written",
                "an_experiment_that_is_killed_again_and_again",
            ),
            (
                "Ctrl-C",
                "experiment",
                "exit code 130; every worker writes a checkpoint, a sentence says what is done",
                "ctrl_c_keeps_checkpoints",
            ),
        ),
        *_in(
            "experiments/test_run.py",
            (
                "two processes in one folder",
                "experiment",
                "the second is refused",
                "two_processes_cannot_work_in_one_folder",
            ),
            (
                "a worker dies",
                "experiment --workers",
                "another one goes on from its checkpoint, to the same numbers",
                "the_number_of_workers_changes_no_digit",
            ),
            (
                "a worker dies twice in one part",
                "experiment --workers",
                "one line, exit code 4; the other parts are kept",
                "a_part_whose_worker_dies_twice_is_named_and_the_others_are_kept",
            ),
            (
                "an interruption at any report of a training or of a part",
                "experiment",
                "the same numbers",
                "it_goes_on_to_the_same_result_wherever_it_was_interrupted",
            ),
            (
                "a training diverges, or a measured number is not finite",
                "experiment",
                "one line with the part, exit code 4; the other parts are kept",
                "a_part_that_cannot_be_finished_is_named_and_the_others_are_kept",
            ),
        ),
        *_in(
            "experiments/test_training.py",
            (
                "a process ends within a step",
                "experiment",
                "the training goes on from the checkpoint, to the same bits",
                "a_training_that_is_killed_goes_on_from_its_last_checkpoint",
            ),
        ),
        *_in(
            "faults/test_processes.py",
            (
                "a command or its workers get SIGKILL or SIGTERM",
                "verify hunt certify report",
                "no orphan, no half-written file, no wrong verdict, at most one line",
                "a_blow",
            ),
            (
                "a worker of xdist dies",
                "pytest",
                "the run fails; the ledger has no good row of the claim",
                "a_worker_of_xdist_that_is_killed",
            ),
        ),
        *_in(
            "verification/test_pool.py",
            (
                "a worker is killed",
                "verify hunt",
                "an event; another worker goes on",
                "a_death_is_an_event_and_another_worker_goes_on",
            ),
            (
                "a parent is killed",
                "verify hunt",
                "its workers end",
                "workers_end_with_a_parent_that_is_killed",
            ),
            (
                "a worker dies before it is prepared",
                "verify hunt",
                "it stops no other",
                "a_worker_that_dies_while_it_prepares_stops_no_other",
            ),
        ),
        *_in(
            "commands/test_cli.py",
            (
                "a claim kills its worker",
                "verify",
                "undecided, and the others have their rows",
                "the_number_of_workers_does_not_matter_and_a_death_leaves_a_row",
            ),
            (
                "Ctrl-C",
                "verify",
                "what is finished is shown; exit code 130",
                "ctrl_c_says_what_was_finished",
            ),
        ),
        *_in(
            "commands/test_audit.py",
            (
                "Ctrl-C",
                "audit",
                "what was done is said, nothing is written; exit code 130",
                "an_interruption_says_what_was_done",
            ),
        ),
        *_in(
            "hunt/test_command.py",
            (
                "Ctrl-C or SIGKILL",
                "hunt",
                "--resume goes on where it stopped",
                "a_hunt_that_is_stopped_goes_on_where_it_stopped",
            ),
        ),
        *_in(
            "hunt/test_executors.py",
            (
                "a worker is killed",
                "hunt --workers",
                "its shard runs again, and nothing is lost",
                "a_worker_that_is_killed_is_replaced_and_nothing_is_lost",
            ),
            (
                "a shard kills its workers, or hangs",
                "hunt --workers",
                "it is lost, the others are not, and the hunt is undecided",
                "a_shard_that_kills_its_workers_or_hangs_is_lost",
            ),
            (
                "a worker of Dask is killed",
                "hunt --executor",
                "nothing is lost",
                "a_cluster_worker_that_is_killed_loses_nothing",
            ),
            ("no scheduler of Dask", "hunt --executor", "wrong input", "no_scheduler_is_an_error"),
        ),
        *_in(
            "commands/test_interrupts.py",
            (
                "Ctrl-C is swallowed",
                "all",
                "it comes again; exit code 130",
                "an_interrupt_that_is_swallowed_comes_again",
            ),
            (
                "Ctrl-C comes again while a command ends",
                "all",
                "what is done at the end is done",
                "what_is_done_at_the_end_is_not_interrupted_again",
            ),
            (
                "a second Ctrl-C",
                "all",
                "the process ends at once",
                "a_second_interrupt_ends_at_once",
            ),
            (
                "Ctrl-C is ignored or handled by a host",
                "all",
                "it stays so",
                "the_handler_is_taken_back_and_an_ignored_signal_stays_ignored",
            ),
            (
                "Ctrl-C while workers start, import or run",
                "verify hunt",
                "one line, exit code 130, no process is left",
                "an_interrupt_ends_a_command_at_any_moment",
            ),
        ),
    ],
    "Code that does not end": [
        *_in(
            "commands/test_limits.py",
            (
                "a body or a generator does not end",
                "verify",
                "undecided with its line; the others go on",
                "a_claim_without_end_is_undecided_and_the_others_go_on",
            ),
            (
                "an import does not end",
                "verify hunt",
                "wrong input with its line",
                "an_import_without_end_is_wrong_input",
            ),
            (
                "a body does not end",
                "hunt",
                "undecided with its line; the others go on",
                "a_hunt_without_end_is_undecided_and_the_others_go_on",
            ),
            (
                "a body does not end while it is made small",
                "hunt",
                "the proved counterexample is reported",
                "a_counterexample_that_cannot_be_made_small_is_reported",
            ),
            (
                "a body does not end",
                "replay",
                "undecided; the others are replayed",
                "a_certificate_of_a_body_without_end_is_undecided",
            ),
            (
                "no answer within the limit",
                "certify doctor",
                "exit code 3, of doctor 4",
                "what_is_not_answered",
            ),
            (
                "a limit that is no number of seconds",
                f"{ALL} doctor",
                "wrong input",
                "a_limit_is_finite",
            ),
            ("a limit of 0 in Python", "verify", "an error", "a_limit_is_positive"),
            (
                "a profile without a limit",
                "verify certify",
                "there is none",
                "every_profile_has_a_limit",
            ),
            (
                "another arithmetic without a limit",
                "hunt",
                "the same result",
                "a_hunt_in_this_process_has_the_arithmetic_of_a_worker",
            ),
        ),
        *_in(
            "hunt/test_executors.py",
            (
                "shards hang when the budget ends",
                "hunt --workers",
                "they are lost; those that wait are cut",
                "the_end_of_the_budget_is_a_limit_of_shards",
            ),
            (
                "shards on a cluster hang",
                "hunt --executor",
                "the hunt ends, keeps the others, counts the lost",
                "a_hunt_on_a_cluster_ends_when_shards_hang",
            ),
            (
                "a shard on a cluster does not answer, or kills its workers",
                "hunt --executor",
                "it is lost, and the others go on",
                "a_cluster_gives_up_a_shard_that_does_not_answer",
            ),
        ),
        *_in(
            "hunt/test_run.py",
            (
                "shards were lost",
                "hunt --resume",
                "they run again, to the same end",
                "a_hunt_with_lost_shards_is_undecided_and_continued",
            ),
        ),
    ],
    "Memory that is short": [
        *_in(
            "commands/test_audit.py",
            (
                "a network or its data take too much",
                "audit",
                "one line, nothing is written",
                "memory_that_is_short_is_one_line",
            ),
        ),
        *_in(
            "faults/test_memory.py",
            (
                "a body asks for too much",
                "verify hunt certify",
                "undecided with its line; the others have their rows",
                "a_body_that_asks_for_too_much",
            ),
            (
                "a RuntimeError of another kind",
                "verify",
                "the claim has failed",
                "a_body_that_raises_something_else_has_failed",
            ),
            (
                "memory is short for some instances of a false claim",
                "verify",
                "it is refuted",
                "a_false_claim_stays_false",
            ),
            (
                "memory is short for the balls of a certificate",
                "replay",
                "an internal error; the certificate is not called wrong",
                "a_certificate_is_not_wrong_because_memory_is_short",
            ),
            (
                "the kernel kills a process",
                "hunt certify doctor",
                "exit code 3, of doctor 4; nothing half-written",
                "a_process_that_the_kernel_kills",
            ),
            (
                "an address space is full",
                "verify hunt certify",
                "undecided; memory is there for the next claim",
                "an_address_space_that_is_full",
            ),
            (
                "a worker cannot be prepared",
                ALL,
                "one line",
                "a_worker_that_cannot_be_prepared_says_why",
            ),
        ),
    ],
    "Disks and files": [
        *_in(
            "faults/test_writing.py",
            (
                "a disk is full, read-only, broken",
                "verify hunt certify report audit",
                "the error of the system; the old file is whole",
                "a_disk_that_fails",
            ),
            (
                "the same for a journal",
                "hunt",
                "its lines are read again",
                "a_journal_on_a_disk_that_fails",
            ),
            ("a full device", "verify hunt", "the error of the system", "devices_that_are_full"),
            (
                "two runs write one file",
                "verify certify",
                "one of the two, whole",
                "two_runs_write_one_file",
            ),
            (
                "a link in the place of a certificate",
                "certify hunt",
                "it is replaced",
                "a_certificate_replaces_a_link_and_does_not_follow_it",
            ),
        ),
        *_in(
            "test_files.py",
            (
                "a write fails in its middle",
                "all",
                "the old file is whole",
                "a_write_that_fails_leaves_the_old_file",
            ),
            (
                "pipes and devices",
                "--json",
                "written through",
                "pipes_and_devices_are_written_through",
            ),
            (
                "a file of another kind",
                "--json",
                "not replaced",
                "what_is_not_of_the_kind_is_not_replaced",
            ),
        ),
        *_in(
            "commands/test_experiment.py",
            (
                "a disk is full when a checkpoint is written",
                "experiment",
                "one line; the parts that are finished are kept",
                "a_disk_that_is_full_is_one_line_and_the_parts_are_kept",
            ),
            (
                "figures that cannot be drawn",
                "experiment",
                "one line; the result is kept, and no half of the figures",
                "figures_that_cannot_be_drawn_lose_nothing",
            ),
            (
                "an unknown name, a bad number or device, a folder that cannot be used",
                "experiment",
                "one line; nothing is written, and no other file is touched",
                "bad_input_is_one_line_and_loses_nothing",
            ),
            (
                "a folder that is read-only",
                "experiment",
                "one line; a finished result is shown",
                "a_folder_that_is_read_only",
            ),
        ),
        *_in(
            "experiments/test_training.py",
            (
                "a checkpoint of another training, or one that was changed",
                "experiment",
                "refused with what to do, and left alone",
                "a_checkpoint_that_is_not_of_this_training_is_refused",
            ),
            (
                "a bit of a checkpoint flips",
                "experiment",
                "refused with what to do",
                "a_bit_that_flips_is_noticed",
            ),
            (
                "a checkpoint is cut off",
                "experiment",
                "refused with what to do",
                "a_checkpoint_that_is_cut_off_is_refused",
            ),
        ),
        *_in(
            "experiments/test_run.py",
            (
                "a file of the folder is damaged",
                "experiment",
                "one line that names it, with what to do",
                "a_file_that_is_damaged_is_named_with_what_to_do",
            ),
            (
                "the folder of another seed or scale",
                "experiment",
                "refused with what to do, and left alone",
                "the_folder_of_another_run_is_refused",
            ),
            (
                "the folder of an older version",
                "experiment",
                "refused: no old checkpoint mixes with new numbers",
                "the_folder_of_other_code_is_refused",
            ),
            (
                "a folder with other files",
                "experiment",
                "refused, and left alone",
                "a_folder_of_something_else_is_left_alone",
            ),
            (
                "an interrupted write left part of a file",
                "experiment",
                "it is removed",
                "what_an_interrupted_write_left_is_removed",
            ),
        ),
        *_in(
            "hunt/test_journal.py",
            (
                "a journal is cut off",
                "hunt --resume",
                "the last line is dropped",
                "a_line_that_was_cut_off_is_dropped_and_written_over",
            ),
            (
                "a bit of a journal flips",
                "hunt --resume",
                "the line is left out and named",
                "a_bit_that_flips_is_noticed",
            ),
            (
                "two writers in one line of a journal",
                "hunt --resume",
                "the lines are left out and named",
                "two_writers_damage_lines_and_the_journal_goes_on",
            ),
            (
                "the first line of a journal is damaged",
                "hunt --resume",
                "refused, and left alone",
                "a_damaged_head_is_refused",
            ),
            (
                "a journal of an earlier version",
                "hunt --resume",
                "refused with what to do",
                "a_journal_of_an_earlier_version_is_refused_with_what_to_do",
            ),
            (
                "two hunts with one journal",
                "hunt",
                "the second is refused",
                "two_hunts_cannot_write_one_journal",
            ),
        ),
        *_in(
            "hunt/test_run.py",
            (
                "a line of a journal is damaged",
                "hunt --resume",
                "its shard runs again, to the same end",
                "a_damaged_line_of_a_journal_is_named_and_its_shard_runs_again",
            ),
        ),
    ],
    "Places, streams, arguments": [
        *_in(
            "terminal/test_github.py",
            (
                "line ends, colons, per cent signs and control characters in a message or a path",
                "verify, pytest",
                "an annotation is one line, and GitHub reads what was said",
                "github_reads_what_was_said",
            ),
            (
                "a summary that cannot be written",
                "verify, pytest",
                "a line; the verdicts and the exit code stay",
                "a_summary_that_cannot_be_written",
            ),
        ),
        *_in(
            "faults/test_places.py",
            (
                "no working directory, closed streams, locale C",
                "list show",
                "one line, the right exit code",
                "streams_and_places",
            ),
            ("empty selectors, very long names", "verify hunt list", "one line", "odd_arguments"),
            ("the value --", "all", "one line", "two_dashes_are_no_value"),
            (
                "control characters, 10 000 letters",
                "all",
                "escaped and shortened",
                "odd_letters_in_arguments",
            ),
            ("a byte-order mark", "list", "read", "a_byte_order_mark_is_read"),
            ("a lone surrogate", "verify --json", "written", "a_lone_surrogate_in_a_docstring"),
            (
                "pipes and loops of links in a folder",
                "list",
                "passed over",
                "a_folder_with_pipes_and_loops",
            ),
            ("an effort that is not positive", "verify", "the rule", "effort_is_positive"),
            (
                "a hunt that does not begin",
                "hunt",
                "no journal is left",
                "a_hunt_that_does_not_begin_leaves_no_journal",
            ),
            (
                "odd names of folders",
                "list certify replay",
                "the printed command runs",
                "odd_folders",
            ),
            (
                "canaries in a working directory",
                "verify doctor",
                "nothing is left",
                "the_canaries_leave_nothing_in_the_working_directory",
            ),
        ),
    ],
    "Pages": [
        *_in(
            "commands/test_report.py",
            (
                "a foreign ledger or hunt, a full disk, a file that is no page, a folder, a bad number",
                "report",
                "one line; nothing is written, and no other file is touched",
                "bad_input_is_one_line_and_loses_nothing",
            ),
            (
                "a file that is no badge, a name of another kind, one file for two outputs",
                "report --badge",
                "one line; nothing is written, and no other file is touched",
                "a_badge_replaces_no_other_file",
            ),
            (
                "a certificate that was changed, or does not exist",
                "export",
                "one line",
                "export",
            ),
        ),
        *_in(
            "commands/test_audit.py",
            (
                "a file that is no page or no audit, a full disk, a folder, a bad number, a model for output",
                "audit",
                "one line; nothing is written, and no other file is touched",
                "bad_arguments_are_one_line_and_lose_nothing",
            ),
        ),
        *_in(
            "report/test_audit.py",
            (
                "markup in the names of layers and in every other text of an audit",
                "audit",
                "it is text; no tag, no event, no request",
                "nothing_of_an_audit_is_markup_or_a_request",
            ),
            (
                "control characters there",
                "audit",
                "not written",
                "control_characters_are_not_written",
            ),
        ),
        *_in(
            "report/test_page.py",
            (
                "markup, images and scripts in every text of a ledger",
                "report show",
                "it is text; no tag, no event, no request",
                "nothing_of_a_ledger_is_markup_or_a_request",
            ),
        ),
        *_in(
            "report/test_browser.py",
            (
                "the same, in a browser",
                "report",
                "no dialog, no error, no request",
                "markup_in_a_ledger_is_text",
            ),
            (
                "the same in an audit, in a browser",
                "audit",
                "no dialog, no error, no request; no wider than the screen",
                "the_page_of_an_audit_fits_and_asks_for_nothing",
            ),
        ),
        *_in(
            "report/test_tex.py",
            (
                "commands of TeX in the statement of a certificate",
                "export",
                "they are text",
                "text_of_a_stranger_stays_text",
            ),
        ),
    ],
    "Files of a stranger": _in(
        "faults/test_security.py",
        ("data that could become code", "all", "none does", "no_data_becomes_code"),
        (
            "a pickle under any name",
            "replay show list certify",
            "not opened",
            "a_pickle_is_not_opened",
        ),
        (
            "a state dict that is more than weights",
            "audit",
            "torch reads it with weights_only",
            "torch_reads_weights_only",
        ),
        (
            "a pickle that calls something, as a model",
            "audit",
            "not opened",
            "a_model_that_would_run_code",
        ),
        ("an id that is a path", "all", "refused", "an_id_is_no_path"),
        (
            "a link in the place of a journal",
            "hunt",
            "set aside",
            "the_journal_of_a_hunt_does_not_follow_a_link",
        ),
        (
            "control characters in a file",
            "all",
            "written out",
            "the_text_of_a_file_does_not_reach_the_terminal_raw",
        ),
        (
            "links in the place of the folders and files of an experiment",
            "experiment",
            "not followed",
            "the_folder_of_an_experiment_does_not_follow_a_link",
        ),
        (
            "a command that docs/security.md does not name",
            "all",
            "there is none",
            "the_page_names_every_command",
        ),
    ),
}
#: Files of which every test is a row.
WHOLE = (
    *(
        "faults/test_experiments.py",
        "faults/test_memory.py",
        "faults/test_places.py",
        "faults/test_processes.py",
    ),
    *("faults/test_security.py", "faults/test_writing.py"),
    *("commands/test_limits.py", "commands/test_interrupts.py"),
)


def text() -> str:
    """The table, a paragraph a fault."""
    lines = []
    for kind, rows in TABLE.items():
        lines += [f"{kind} ({len(rows)})", "-" * (len(kind) + 5)]
        for row in rows:
            lines += textwrap.wrap(f"{row.fault} [{row.commands}]: {row.required}", 100)
            lines.append(f"    {row.test}")
        lines.append("")
    return "\n".join([*lines, f"{sum(map(len, TABLE.values()))} faults", ""])


def inputs() -> dict[str, tuple[int, int]]:
    """By kind of bad input: how many are drawn by `quick` and `ci`, and how many are written out."""
    found = {}
    for path in sorted((TESTS / "bad_input").glob("test_*.py")):
        module = importlib.import_module(f"tests.bad_input.{path.stem}")
        tests = [value for name, value in vars(module).items() if name.startswith("test_")]
        pairs = [_tried(test) for test in tests]
        kind = path.stem.removeprefix("test_").replace("_", " ")
        found[kind] = sum(drawn for drawn, _ in pairs), sum(written for _, written in pairs)
    return found


def _tried(test: Any) -> tuple[int, int]:
    """How many inputs a test draws by default, and how many it has written out."""
    from tests.bad_input.cases import TIMES

    rows = prod(
        len(list(mark.args[1]))
        for mark in getattr(test, "pytestmark", [])
        if mark.name == "parametrize"
    )
    settings = getattr(test, "_hypothesis_internal_use_settings", None)
    if settings is None:
        return 0, rows
    return settings.max_examples // TIMES * rows, 0


def counts() -> Iterator[str]:
    """Lines on the numbers of bad inputs, by kind and profile."""
    from tests.bad_input.cases import DEEP

    yield f"{'bad input':16}{'quick, ci':>12}{'deep':>12}"
    sums = [0, 0]
    for kind, (drawn, written) in inputs().items():
        both = drawn + written, drawn * DEEP + written
        yield f"{kind:16}{both[0]:>12}{both[1]:>12}"
        sums = [a + b for a, b in zip(sums, both, strict=True)]
    yield f"{'all':16}{sums[0]:>12}{sums[1]:>12}"


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS.parent))
    print(text())
    print("\n".join(counts()))
